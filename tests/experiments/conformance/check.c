/* What `check METHOD --special` says: text, JSON, CSV, files, and commands that show it again. */
#include <criterion/criterion.h>
#include <math.h>
#include <time.h>

#include "experiments/data/data.h"
#include "experiments/conformance/special.h"
#include "experiments/conformance/report.h"
#include "tests/support/files.h"

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

static enum status answers_0(const struct task *t, struct problem *p)
{
    (void)p;
    array_encode(&t->out, 0, 1, &(double){0});
    return STATUS_OK;
}

static struct conformance_report *report_of(enum status (*cpu)(const struct task *t,
                                                               struct problem *p))
{
    static struct method m;
    struct conformance_report *r = malloc(sizeof *r);
    struct problem p = {0};
    m = *method_named("sum/serial");
    m.name = "exec:it's a liar";
    m.cpu = cpu;
    struct conformance_request request = {.method = &m,
                                          .pairs = {{{FP32, FP32}, {FP16, FP32}}, 2},
                                          .shape = {0, 0},
                                          .seed = 1,
                                          .every = 4};
    cr_assert(r && conformance_run(r, &request, &p) == STATUS_OK, "%s", p.text);
    return r;
}

static void end(struct conformance_report *r)
{
    conformance_report_free(r);
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
    struct conformance_report *r = report_of(flushes);
    struct text text = {0};
    conformance_report_text(&text, r, NULL);
    const char *said = text_string(&text);
    holds(said, "exec:it's a liar on cpu, 2 pairs of formats: 76 of 2305 special inputs give an "
                "impossible result:\n  subnormal, power, cancelling, short\n");
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

/* Also where the input of a class is the smallest as it is, and nothing is shrunk: 1 of edges. */
Test(special_check, says_once_what_several_classes_show)
{
    static const char one[] =
        ", fp32/fp32: a number that no order gives\n  input     n = 1: 0x1p+0";
    struct conformance_report *r = report_of(answers_0);
    struct text text = {0};
    conformance_report_text(&text, r, NULL);
    const char *first = strstr(text_string(&text), one);
    cr_assert(first, "%s is not in: %s", one, text_string(&text));
    cr_expect(!strstr(first + 1, one), "twice: %s", first);
    holds(strstr(first, "\n  also in   "), ", edges");
    text_free(&text);
    end(r);
}

Test(special_check, keeps_inputs_rows_and_json, .init = make_folder, .fini = remove_folder)
{
    struct conformance_report *r = report_of(flushes);
    struct problem p = {0};
    size_t k = class_named("subnormal");
    struct text rows = {0}, command = {0};
    cr_assert(conformance_report_write(r, folder, &p) == STATUS_OK, "%s", p.text);
    struct data_set set = expect_data(in_folder("subnormal-fp32-fp32.npy"), FP32, false, "input");
    cr_expect(set.count == 1 && set.item[0].array.n == 1 &&
              array_get(&set.item[0].array, 0) == 0x1p-149);
    data_free(&set);

    conformance_report_csv(&rows, r, folder);
    holds(text_string(&rows), "exec:it's a liar,cpu,subnormal,fp32,fp32,,,");
    holds(text_string(&rows),
          ",a number that no order gives,1,,0,0x0p+0,0x1p-149,n = 1: 0x1p-149,");
    holds(text_string(&rows), in_folder("subnormal-fp32-fp32.npy"));
    conformance_command(&command, r, k, folder);
    holds(text_string(&command), "ulpscope check 'exec:it'\\''s a liar' --special --data ");

    json_t *json = conformance_report_json(r, folder), *row;
    size_t i, impossible = 0;
    cr_assert(json);
    json_array_foreach (json_object_get(json, "rows"), i, row)
        impossible += (size_t)json_integer_value(json_object_get(row, "impossible"));
    cr_expect(impossible > 0 && impossible == conformance_report_total(r).impossible);
    cr_expect_str_eq(json_string_value(json_object_get(json, "verdict")), "impossible");
    json_decref(json);
    text_free(&rows);
    text_free(&command);
    end(r);
}

/* --- commands --- */

static struct conformance_finding *finding_of(struct conformance_report *r, const struct method *m,
                                              size_t n, size_t place, double x)
{
    static double data[3000];
    static struct conformance_finding f;
    *r = (struct conformance_report){.request = {.method = m, .seed = 7}};
    memset(data, 0, sizeof data);
    f = (struct conformance_finding){.subject = {.method = m,
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

static void command_is(struct conformance_report *r, const char *want)
{
    struct text text = {0};
    conformance_command(&text, r, 0, NULL);
    cr_expect_str_eq(text_string(&text), want, "%s", text_string(&text));
    text_free(&text);
}

#define REST                                                                                       \
    "--device cpu --storage fp64 --accumulator bf16 --threads 64 --blocks 2 --scan exclusive "     \
    "--segment 3"

Test(special_check, prints_an_input_in_few_words)
{
    static struct conformance_report r;
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
    struct conformance_finding *f = finding_of(&r, m, 3000, 0, 1);
    for (size_t i = 0; i < 3000; i++)
        array_encode(&f->in.x, i, 1, &(double){(double)i});
    command_is(&r, "ulpscope check scan/segmented --special " REST " --seed 7");
}

/* --- time --- */

/* 10 ms an answer: all inputs would take minutes. */
static enum status dawdles(const struct task *t, struct problem *p)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return flushes(t, p);
}

static void run_slowly(struct conformance_report *r, double seconds,
                       const volatile sig_atomic_t *stop, enum status due)
{
    static struct method m;
    struct problem p = {0};
    m = *method_named("sum/serial");
    m.cpu = dawdles;
    struct conformance_request request = {.method = &m,
                                          .pairs = {{{FP32, FP32}, {FP16, FP32}, {FP16, FP16}}, 3},
                                          .every = 1,
                                          .seconds = seconds,
                                          .stop = stop};
    cr_expect(conformance_run(r, &request, &p) == due, "%s", p.text);
}

/* What is tried and what is not are all inputs, whatever the time. */
Test(special_check, counts_what_there_was_no_time_for)
{
    static struct conformance_report r;
    size_t all = 0, tried = 0;
    for (size_t k = 0; k < SPECIAL_CLASSES; k++)
        for (size_t pair = 0; pair < 3; pair++)
            for (size_t i = 0; i < SPECIAL_LENGTHS; i++) {
                static const struct format_pair pairs[] = {
                    {FP32, FP32}, {FP16, FP32}, {FP16, FP16}};
                struct conformance_setting s = {.storage = pairs[pair].storage,
                                                .accumulator = pairs[pair].accumulator,
                                                .n = special_length[i]};
                all += special_class[k]->cases(&s);
            }
    run_slowly(&r, 0.5, NULL, STATUS_OK);
    for (size_t k = 0; k < SPECIAL_CLASSES; k++)
        tried += r.all[k].cases;
    cr_expect(tried > 0 && conformance_report_total(&r).left > 0 &&
                  tried + conformance_report_total(&r).left == all,
              "%zu and %zu of %zu", tried, conformance_report_total(&r).left, all);
    struct text text = {0};
    conformance_report_text(&text, &r, NULL);
    char line[80];
    snprintf(line, sizeof line, "\nnot tried, for lack of time: %zu inputs\n",
             conformance_report_total(&r).left);
    holds(text_string(&text), line);
    text_free(&text);
    json_t *json = conformance_report_json(&r, NULL);
    cr_expect_eq((size_t)json_integer_value(json_object_get(json, "not_tried")),
                 conformance_report_total(&r).left);
    json_decref(json);
    conformance_report_free(&r);
}

/* A finding costs what comes after it no time but the last part, which shrinking gets: with time
 * for ten times all inputs, one was tried, "for lack of time". */
Test(special_check, what_is_found_leaves_time_for_the_rest)
{
    static struct conformance_report r;
    static struct method m;
    struct problem p = {0};
    m = *method_named("sum/serial");
    m.cpu = flushes;
    struct conformance_request request = {
        .method = &m, .pairs = {{{FP32, FP32}}, 1}, .every = 1, .seconds = 300};
    cr_assert(conformance_run(&r, &request, &p) == STATUS_OK, "%s", p.text);
    cr_expect(r.found && conformance_report_total(&r).left == 0, "%zu inputs not tried",
              conformance_report_total(&r).left);
    conformance_report_free(&r);
}

Test(special_check, an_interrupt_leaves_the_rest)
{
    static struct conformance_report r;
    static volatile sig_atomic_t stopped = 1;
    run_slowly(&r, 0, &stopped, STATUS_INTERRUPTED);
    cr_expect(!r.tried);
    conformance_report_free(&r);
}
