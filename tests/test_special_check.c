/* What `check METHOD --special` says: text, JSON, CSV, files, and commands that show it again. */
#include <criterion/criterion.h>
#include <math.h>
#include <time.h>

#include "experiments/data.h"
#include "experiments/special.h"
#include "experiments/special_report.h"
#include "tests/files.h"

/* Flushes what is subnormal; a name that a shell must not see unquoted. */
static enum status flushes(const struct task *t, struct problem *p)
{
    double sum;
    enum status status = method_named("sum/serial")->cpu(t, p);
    sum = array_get(&t->out, 0);
    if (fabs(sum) < format_facts[t->accumulator].smallest_normal)
        array_encode(&t->out, 0, 1, &(double){copysign(0, sum)});
    return status;
}

static struct special_report *report_of_liar(void)
{
    static struct method m;
    struct special_report *r = malloc(sizeof *r);
    struct problem p = {0};
    m = *method_named("sum/serial");
    m.name = "exec:it's a liar";
    m.cpu = flushes;
    struct special_request request = {.method = &m,
                                      .pairs = {{{FP32, FP32}, {FP16, FP32}}, 2},
                                      .shape = {0, 0},
                                      .seed = 1,
                                      .every = 4};
    cr_assert(r && special_run(r, &request, &p) == STATUS_OK, "%s", p.text);
    return r;
}

static void end(struct special_report *r)
{
    special_report_free(r);
    free(r);
}

static size_t class_named(const char *name)
{
    size_t k = 0;
    while (k < SPECIAL_CLASSES && strcmp(special_class[k]->name, name) != 0)
        k++;
    cr_assert(k < SPECIAL_CLASSES);
    return k;
}

static void holds(const char *text, const char *what)
{
    cr_expect(text && strstr(text, what), "'%s' is not in: %s", what, text);
}

Test(special_check, says_what_is_impossible)
{
    struct special_report *r = report_of_liar();
    struct text text = {0};
    special_report_text(&text, r, NULL);
    const char *said = text_string(&text);
    holds(said, "exec:it's a liar on cpu, 2 pairs of formats\n");
    holds(said, "class       cases  conforming  noted  impossible  verdict\n");
    holds(said, "subnormal, fp32/fp32: a number that no order gives\n"
                "  input     n = 1: 0x1p-149\n"
                "  result    0x0p+0\n"
                "  possible  0x1p-149\n"
                "  again     printf '%s\\n' 0x1p-149 | ulpscope check 'exec:it'\\''s a liar' "
                "--special --data /dev/stdin --device cpu --storage fp32 --accumulator fp32\n"
                "  also in   cancelling\n");
    text_free(&text);
    end(r);
}

Test(special_check, keeps_inputs_rows_and_json, .init = make_folder, .fini = remove_folder)
{
    struct special_report *r = report_of_liar();
    struct problem p = {0};
    size_t k = class_named("subnormal");
    struct text rows = {0}, command = {0};
    cr_assert(special_report_write(r, folder, &p) == STATUS_OK, "%s", p.text);
    struct data_set set = expect_data(in_folder("subnormal-fp32-fp32.npy"), FP32, false, "input");
    cr_expect(set.count == 1 && set.item[0].array.n == 1 &&
              array_get(&set.item[0].array, 0) == 0x1p-149);
    data_free(&set);

    special_report_csv(&rows, r, folder);
    holds(text_string(&rows), "exec:it's a liar,cpu,subnormal,fp32,fp32,,,");
    holds(text_string(&rows),
          ",a number that no order gives,1,,0,0x0p+0,0x1p-149,n = 1: 0x1p-149,");
    holds(text_string(&rows), in_folder("subnormal-fp32-fp32.npy"));
    special_command(&command, r, k, folder);
    holds(text_string(&command), "ulpscope check 'exec:it'\\''s a liar' --special --data ");

    json_t *json = special_report_json(r, folder), *row;
    size_t i, impossible = 0;
    cr_assert(json);
    json_array_foreach(json_object_get(json, "rows"), i, row) impossible +=
        (size_t)json_integer_value(json_object_get(row, "impossible"));
    cr_expect(impossible > 0 && impossible == special_report_impossible(r));
    cr_expect_str_eq(json_string_value(json_object_get(json, "verdict")), "impossible");
    json_decref(json);
    text_free(&rows);
    text_free(&command);
    end(r);
}

/* --- commands --- */

static struct special_finding *finding_of(struct special_report *r, const struct method *m,
                                          size_t n, size_t place, double x)
{
    static double data[3000];
    static struct special_finding f;
    *r = (struct special_report){.request = {.method = m, .seed = 7}};
    memset(data, 0, sizeof data);
    f = (struct special_finding){.subject = {.method = m,
                                             .storage = FP64,
                                             .accumulator = BF16,
                                             .shape = {64, 2},
                                             .exclusive = true,
                                             .segment = 3},
                                 .in = {.x = {FP64, n, data}}};
    if (place < n)
        array_encode(&f.in.x, place, 1, &x);
    r->all[0].first = &f;
    return &f;
}

static void command_is(struct special_report *r, const char *want)
{
    struct text text = {0};
    special_command(&text, r, 0, NULL);
    cr_expect_str_eq(text_string(&text), want, "%s", text_string(&text));
    text_free(&text);
}

#define REST                                                                                       \
    "--device cpu --storage fp64 --accumulator bf16 --threads 64 --blocks 2 --scan exclusive "     \
    "--segment 3"

Test(special_check, prints_an_input_in_few_words)
{
    static struct special_report r;
    const struct method *m = method_named("scan/segmented");
    finding_of(&r, m, 3, 1, -INFINITY);
    command_is(&r, "printf '%s\\n' 0x0p+0 -inf 0x0p+0 | ulpscope check scan/segmented --special "
                   "--data /dev/stdin " REST);
    finding_of(&r, m, 3000, 2048, 0x1.8p+0);
    command_is(&r,
               "awk 'BEGIN { for (i = 0; i < 3000; i++) print i == 2048 ? \"0x1.8p+0\" : "
               "\"0x0p+0\" }' | ulpscope check scan/segmented --special --data /dev/stdin " REST);
    finding_of(&r, m, 0, 0, 0);
    command_is(&r, "ulpscope check scan/segmented --special " REST " --seed 7");
    struct special_finding *f = finding_of(&r, m, 3000, 0, 1);
    for (size_t i = 0; i < 3000; i++)
        array_encode(&f->in.x, i, 1, &(double){(double)i});
    command_is(&r, "ulpscope check scan/segmented --special " REST " --seed 7");
}

/* --- the verb's part --- */

static void give(struct arguments *a, const char *name, const char *value)
{
    const struct option_spec *spec = option_specs;
    while (spec->name && strcmp(spec->name, name) != 0)
        spec++;
    cr_assert(spec->name, "%s", name);
    a->option[a->options].spec = spec;
    a->option[a->options++].value = value;
}

/* A file as a string; the caller frees it. */
static struct bytes words_in(const char *path)
{
    struct bytes b = get_file(path);
    add_number(&b, 0, 1);
    b.size--;
    return b;
}

/* What it prints; the caller frees it. */
static struct bytes printed(const struct arguments *a, enum status want, const char *said)
{
    struct problem p = {0};
    cr_assert(freopen(in_folder("printed"), "w", stdout));
    enum status status = special_check(a, &p);
    fflush(stdout);
    cr_expect(status == want && strstr(p.text, said), "status %d: %s", (int)status, p.text);
    return words_in(in_folder("printed"));
}

Test(special_check, runs_what_is_asked_for, .init = make_folder, .fini = remove_folder)
{
    struct arguments a = {.operands = 1, .operand = {"sum/exact"}};
    give(&a, "device", "cpu");
    give(&a, "storage", "fp16");
    give(&a, "accumulator", "fp32");
    give(&a, "out", in_folder("out"));
    struct bytes b = printed(&a, STATUS_OK, "");
    holds((char *)b.data, "sum/exact on cpu, 1 pair of formats\n");
    holds((char *)b.data, "zeros ");
    cr_expect(!strstr((char *)b.data, "first:"), "%s", b.data);
    clear_bytes(&b);
    b = words_in(in_folder("out/special.csv"));
    holds((char *)b.data, "method,device,class,storage,accumulator,threads,blocks,cases,");
    holds((char *)b.data, "\nsum/exact,cpu,edges,fp16,fp32,,,");
    clear_bytes(&b);
    give(&a, "json", NULL);
    b = printed(&a, STATUS_OK, "");
    holds((char *)b.data, "\"verdict\": \"conforms\"");
    clear_bytes(&b);
}

Test(special_check, runs_one_input_of_the_users, .init = make_folder, .fini = remove_folder)
{
    struct bytes lines = {0};
    add_string(&lines, "0x1.ffcp+15\n16\n-16\n");
    struct arguments a = {.operands = 1, .operand = {"sum/serial"}};
    give(&a, "device", "cpu");
    give(&a, "storage", "fp16");
    give(&a, "data", put_file("three.txt", &lines));
    struct bytes b = printed(&a, STATUS_OK, "");
    holds((char *)b.data, "data       4           4      1           0  noted\n");
    holds((char *)b.data, "data: 1 noted, first: overflow on the way to a sum that is in range");
    clear_bytes(&b);
    clear_bytes(&lines);
}

Test(special_check, refuses_what_it_cannot_do, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *method, *option, *value;
        enum status status;
        const char *said;
    } wrong[] = {
        {"sum/none", "device", "cpu", STATUS_USAGE, "check: found 'sum/none'"},
        {"sum/tiled", "device", "abacus", STATUS_USAGE, "abacus"},
        {"sum/tiled", "storage", "fp8", STATUS_USAGE, "fp8"},
        {"scan/tiled", "scan", "both", STATUS_USAGE, "option --scan: found 'both'"},
        {"sum/tiled", "threads", "0", STATUS_USAGE, "threads"},
        {"sum/tiled", "data", "/nowhere", STATUS_DATA, "/nowhere"},
        {"sum/tiled", "seconds", "1e", STATUS_USAGE, "option --seconds: found '1e'"},
        {"sum/tiled", "seconds", "0", STATUS_USAGE, "option --seconds: found '0'"},
        {"cub/sum", "device", "cpu", STATUS_DEVICE,
         "cub/sum does not support these formats on cpu"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct arguments a = {.operands = 1, .operand = {wrong[i].method}};
        give(&a, wrong[i].option, wrong[i].value);
        struct bytes b = printed(&a, wrong[i].status, wrong[i].said);
        cr_expect(b.size == 0, "%s", b.data);
        clear_bytes(&b);
    }
}

/* A program that answers 0, whatever it is asked. */
#define ZERO                                                                                       \
    "exec:while read -r sum n rest; do head -c $((4 * n)) >/dev/null; printf '\\0\\0\\0\\0'; done"

/* What is printed to show a finding again does. */
Test(special_check, shows_it_again, .init = make_folder, .fini = remove_folder)
{
    struct arguments a = {.operands = 1, .operand = {ZERO}};
    give(&a, "device", "cpu");
    give(&a, "storage", "fp32");
    give(&a, "accumulator", "fp32");
    struct bytes first = printed(&a, STATUS_FAILED, "results that cannot be");
    char *at = strstr((char *)first.data, "subnormal, fp32/fp32:"), *pipe, command[1024];
    cr_assert(at && (at = strstr(at, "  again     ")) && (pipe = strstr(at, " | ")), "%s",
              first.data);
    snprintf(command, sizeof command, "%.*s > %s", (int)(pipe - at - 12), at + 12,
             in_folder("elements"));
    cr_assert(system(command) == 0, "%s", command);
    holds(pipe, " --special --data /dev/stdin --device cpu --storage fp32 --accumulator fp32\n");
    cr_assert(freopen(in_folder("elements"), "r", stdin));
    give(&a, "data", "/dev/stdin");
    struct bytes again = printed(&a, STATUS_FAILED, "1 results that cannot be");
    holds((char *)again.data, "data, fp32/fp32: a number that no order gives\n"
                              "  input     n = 1: 0x1p+0\n");
    clear_bytes(&first);
    clear_bytes(&again);
}

/* What a program does not answer is no failure of what it does. */
Test(special_check, leaves_out_what_a_program_does_not_answer)
{
    struct arguments a = {.operands = 1, .operand = {"exec:" FLAWED_PROGRAM}};
    give(&a, "device", "cpu");
    give(&a, "accumulator", "fp64");
    struct arguments b = a, c;
    give(&b, "storage", "fp64,fp32");
    struct bytes some = printed(&b, STATUS_OK, "");
    holds((char *)some.data, " on cpu, 1 pair of formats\n");
    holds((char *)some.data, "\nnot answered: fp32/fp64\n");
    cr_expect(!strstr((char *)some.data, "failed"), "%s", some.data);
    clear_bytes(&some);
    give(&a, "storage", "fp32");
    struct bytes none = printed(&a, STATUS_DATA, "exec:");
    holds((char *)none.data, " on cpu, 0 pairs of formats\n");
    holds((char *)none.data, "\na run failed: exec:");
    clear_bytes(&none);
    c = a;
    give(&c, "json", "");
    none = printed(&c, STATUS_DATA, "exec:");
    holds((char *)none.data, "\"verdict\": \"failed\"");
    holds((char *)none.data, "\"not_answered\": \"fp32/fp64\"");
    clear_bytes(&none);
}

/* --- time --- */

/* 10 ms an answer: all inputs would take minutes. */
static enum status dawdles(const struct task *t, struct problem *p)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return flushes(t, p);
}

static void run_slowly(struct special_report *r, double seconds, const volatile sig_atomic_t *stop,
                       enum status due)
{
    static struct method m;
    struct problem p = {0};
    m = *method_named("sum/serial");
    m.cpu = dawdles;
    struct special_request request = {.method = &m,
                                      .pairs = {{{FP32, FP32}, {FP16, FP32}, {FP16, FP16}}, 3},
                                      .every = 1,
                                      .seconds = seconds,
                                      .stop = stop};
    cr_expect(special_run(r, &request, &p) == due, "%s", p.text);
}

/* What is tried and what is not are all inputs, whatever the time. */
Test(special_check, counts_what_there_was_no_time_for)
{
    static struct special_report r;
    size_t all = 0, tried = 0;
    for (size_t k = 0; k < SPECIAL_CLASSES; k++)
        for (size_t pair = 0; pair < 3; pair++)
            for (size_t i = 0; i < SPECIAL_LENGTHS; i++) {
                static const struct format_pair pairs[] = {
                    {FP32, FP32}, {FP16, FP32}, {FP16, FP16}};
                struct special_setting s = {pairs[pair].storage, pairs[pair].accumulator,
                                            special_length[i], 0, false};
                all += special_class[k]->cases(&s);
            }
    run_slowly(&r, 0.5, NULL, STATUS_OK);
    for (size_t k = 0; k < SPECIAL_CLASSES; k++)
        tried += r.all[k].cases;
    cr_expect(tried > 0 && special_report_left(&r) > 0 && tried + special_report_left(&r) == all,
              "%zu and %zu of %zu", tried, special_report_left(&r), all);
    struct text text = {0};
    special_report_text(&text, &r, NULL);
    char line[80];
    snprintf(line, sizeof line, "\nnot tried, for lack of time: %zu inputs\n",
             special_report_left(&r));
    holds(text_string(&text), line);
    text_free(&text);
    json_t *json = special_report_json(&r, NULL);
    cr_expect_eq(json_integer_value(json_object_get(json, "not_tried")), special_report_left(&r));
    json_decref(json);
    special_report_free(&r);
}

Test(special_check, an_interrupt_leaves_the_rest)
{
    static struct special_report r;
    static volatile sig_atomic_t stopped = 1;
    run_slowly(&r, 0, &stopped, STATUS_INTERRUPTED);
    cr_expect(!r.tried);
    special_report_free(&r);
}

/* --- several subjects --- */

Test(special_check, takes_many_methods, .init = make_folder, .fini = remove_folder)
{
    struct arguments a = {.operands = 2, .operand = {"sum/serial", ZERO}};
    give(&a, "device", "cpu");
    give(&a, "storage", "fp32");
    give(&a, "accumulator", "fp32");
    give(&a, "seconds", "5e-1");
    give(&a, "out", in_folder("out"));
    struct bytes b =
        printed(&a, STATUS_FAILED, "1 of 2 subjects give results that cannot be, first exec:");
    holds((char *)b.data, "sum/serial on cpu, 1 pair of formats\n");
    holds((char *)b.data, "out/subject2-");
    clear_bytes(&b);
    give(&a, "json", NULL);
    b = printed(&a, STATUS_FAILED, "1 of 2 subjects");
    json_t *json = json_loadb((char *)b.data, b.size, 0, NULL);
    cr_expect_eq(json_array_size(json), 2);
    json_decref(json);
    clear_bytes(&b);
}

Test(special_check, takes_the_registry, .init = make_folder, .fini = remove_folder)
{
    struct arguments a = {.operands = 0};
    give(&a, "all", NULL);
    give(&a, "device", "cpu");
    give(&a, "storage", "fp64");
    give(&a, "accumulator", "fp16");
    give(&a, "seconds", "1e-3");
    give(&a, "json", NULL);
    struct bytes b = printed(&a, STATUS_OK, "");
    json_t *json = json_loadb((char *)b.data, b.size, 0, NULL);
    size_t due = 0;
    for (size_t i = 0; i < method_count; i++)
        due += (method_registry[i]->operation == &operation_sum ||
                method_registry[i]->operation == &operation_scan ||
                method_registry[i]->operation == &operation_dot) &&
               method_supports(method_registry[i], DEVICE_CPU, FP64, FP16);
    cr_expect(due > 0 && json_array_size(json) == due, "%zu of %zu", json_array_size(json), due);
    json_decref(json);
    clear_bytes(&b);
}
