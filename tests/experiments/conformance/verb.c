/* `check METHOD --special` as a person runs it: what it is asked for, prints and refuses. */
#include <criterion/criterion.h>
#include <jansson.h>

#include "experiments/data/data.h"
#include "experiments/conformance/special.h"
#include "experiments/subjects/foreign.h"
#include "kernels/method/method.h"
#include "tests/support/program.h"

static void holds(const char *text, const char *what)
{
    cr_expect(text && find_words(text, what), "'%s' is not in: %s", what, text);
}

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
    enum status status = conformance_check(a, &p);
    fflush(stdout);
    cr_expect(status == want && strstr(p.text, said), "status %d: %s", (int)status, p.text);
    return words_in(in_folder("printed"));
}

Test(special_verb, runs_what_is_asked_for, .init = make_folder, .fini = remove_folder)
{
    struct arguments a = {.operands = 1, .operand = {"sum/exact"}};
    give(&a, "device", "cpu");
    give(&a, "storage", "fp16");
    give(&a, "accumulator", "fp32");
    give(&a, "out", in_folder("out"));
    struct bytes b = printed(&a, STATUS_OK, "");
    holds((char *)b.data, "sum/exact on cpu, 1 pair of formats: every result on ");
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

Test(special_verb, runs_one_input_of_the_users, .init = make_folder, .fini = remove_folder)
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

Test(special_verb, takes_one_file_as_it_is, .init = make_folder, .fini = remove_folder)
{
    struct problem p = {0};
    double of[] = {1, 2};
    struct arguments a = {.operands = 1, .operand = {"sum/serial"}};
    struct array x = {FP64, 2, of};
    char path[300];
    snprintf(path, sizeof path, "%s", in_folder("two.npy"));
    cr_assert(data_write_npy(path, &x, &p) == STATUS_OK, "%s", p.text);
    give(&a, "device", "cpu");
    give(&a, "data", path);
    struct bytes b = printed(&a, STATUS_OK, "");
    holds((char *)b.data,
          "sum/serial on cpu, 4 pairs of formats: every result on 4 special inputs is "
          "possible\n");
    clear_bytes(&b);
    struct arguments other = a;
    give(&other, "storage", "fp32");
    b = printed(&other, STATUS_USAGE,
                "two.npy: holds fp64, expected fp32: check --special rounds no data, ask for "
                "--storage fp64");
    clear_bytes(&b);
    give(&a, "data", "other.npy");
    b = printed(&a, STATUS_USAGE, "option --data: found 2 files, expected one");
    clear_bytes(&b);
}

Test(special_verb, refuses_what_it_cannot_do, .init = make_folder, .fini = remove_folder)
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
Test(special_verb, shows_it_again, .init = make_folder, .fini = remove_folder)
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
Test(special_verb, leaves_out_what_a_program_does_not_answer)
{
    struct arguments a = {.operands = 1, .operand = {"exec:" FLAWED_PROGRAM}};
    give(&a, "device", "cpu");
    give(&a, "accumulator", "fp64");
    struct arguments b = a, c;
    give(&b, "storage", "fp64,fp32");
    struct bytes some = printed(&b, STATUS_OK, "");
    holds((char *)some.data, " on cpu, 1 pair of formats: every result on ");
    holds((char *)some.data, "\nnot answered: fp32/fp64\n");
    cr_expect(!strstr((char *)some.data, "failed"), "%s", some.data);
    clear_bytes(&some);
    give(&a, "storage", "fp32");
    struct bytes none = printed(&a, STATUS_DATA, "exec:");
    holds((char *)none.data, " on cpu, 0 pairs of formats: failed on the first special");
    holds((char *)none.data, "\na run failed: exec:");
    clear_bytes(&none);
    c = a;
    give(&c, "json", "");
    none = printed(&c, STATUS_DATA, "exec:");
    holds((char *)none.data, "\"verdict\": \"failed\"");
    holds((char *)none.data, "\"not_answered\": \"fp32/fp64\"");
    clear_bytes(&none);
}

/* Of a subject of the user's nobody knows how it computes a mean or a norm: its numbers are held to
 * no bound, and the report says so, as 3 of whatever numbers would pass. Squares that overflow are
 * noted, as those of our own norms are. */
Test(special_verb, says_where_numbers_are_held_to_no_bound, .init = make_folder,
     .fini = remove_folder)
{
    static const char
        held[] = "every result on ",
        special[] = "NaN, infinities and signs of all ",
        warns[] = "no bound: NaN, infinities and signs were checked, other numbers were not";
    static const struct {
        const char *function;
        const char *head, *also;
    } of[] = {
        {"three@array@mean", special, warns},
        {"norm@array@norm", special, "overflow on the way to a norm that is in range"},
        {"total@array@sum", held, "cases"},
    };
    struct bytes b = {0};
    add_string(&b, "import math\n"
                   "def three(x):\n"
                   "    if not len(x): return math.nan\n"
                   "    return 3.0 if all(math.isfinite(v) for v in x) else sum(x)\n"
                   "def norm(x): return math.sqrt(sum(v * v for v in x))\n"
                   "def total(x): return sum(x)\n");
    put_file("f.py", &b);
    clear_bytes(&b);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char line[300];
        snprintf(line, sizeof line,
                 "python:f.py:%s --special --storage fp64 --accumulator fp64 --device cpu "
                 "--seconds 3",
                 of[i].function);
        cr_expect_eq(run_program("check", line), 0, "%s", of[i].function);
        char *out = content("out");
        holds(out, of[i].head);
        holds(out, of[i].also);
        cr_expect_eq(strstr(out, warns) != NULL, of[i].head == special, "%s", of[i].function);
        cr_expect_eq(strstr(out, "  conforms\n") != NULL, of[i].head != special, "%s", out);
        free(out);
        snprintf(line + strlen(line), sizeof line - strlen(line), " --json");
        cr_expect_eq(run_program("check", line), 0, "%s", of[i].function);
        out = content("out");
        holds(out,
              of[i].head == special ? "\"numbers_bounded\": false" : "\"numbers_bounded\": true");
        holds(out,
              of[i].head == special ? "\"verdict\": \"no bound\"" : "\"verdict\": \"conforms\"");
        free(out);
    }
}

/* --- several subjects --- */

Test(special_verb, takes_many_methods, .init = make_folder, .fini = remove_folder)
{
    struct arguments a = {.operands = 2, .operand = {"sum/serial", ZERO}};
    give(&a, "device", "cpu");
    give(&a, "storage", "fp32");
    give(&a, "accumulator", "fp32");
    give(&a, "seconds", "5e-1");
    give(&a, "out", in_folder("out"));
    struct bytes b =
        printed(&a, STATUS_FAILED, "1 of 2 subjects give results that cannot be, first exec:");
    holds((char *)b.data, "sum/serial on cpu, 1 pair of formats: every result on ");
    holds((char *)b.data, "out/subject2-");
    clear_bytes(&b);
    give(&a, "json", NULL);
    b = printed(&a, STATUS_FAILED, "1 of 2 subjects");
    json_t *json = json_loadb((char *)b.data, b.size, 0, NULL);
    cr_expect_eq(json_array_size(json), 2);
    json_decref(json);
    clear_bytes(&b);
}

Test(special_verb, takes_the_registry, .init = make_folder, .fini = remove_folder)
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
    for (size_t i = 0; i < method_count; i++) {
        const struct operation *o = method_registry[i]->operation;
        enum exact_form form = exact_facts[o->of].form;
        const bool rows = o->matrix && (o->of_rows || operation_adds_elements(o));
        due += (operation_plain(o) || operation_reads_c(o) || rows) && form != FORM_INDEX &&
               method_supports(method_registry[i], DEVICE_CPU, FP64, FP16);
    }
    cr_expect(due > 0 && json_array_size(json) == due, "%zu of %zu", json_array_size(json), due);
    json_decref(json);
    clear_bytes(&b);
}

/* The sum of no elements is tried in every pair of formats. To refuse is no crash. */
Test(special_verb, no_elements_are_tried, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *name, *said;
        enum status due;
    } of[] = {{"refuses", "short: 1 noted, first: no elements are refused", STATUS_OK},
              {"one_of_none", "  input     n = 0\n  result    0x1p+0\n", STATUS_FAILED},
              {"crash_of_none", "killed by signal 6", STATUS_DATA}};
    foreign_server(ULPSCOPE_PROGRAM);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char name[1000];
        snprintf(name, sizeof name, FLAWED_OBJECT ":%s", of[i].name);
        struct arguments a = {.operands = 1, .operand = {name}};
        give(&a, "device", "cpu");
        struct bytes b = printed(&a, of[i].due, "");
        holds((char *)b.data, of[i].said);
        clear_bytes(&b);
    }
}

/* A length that a subject refuses, whatever the elements, is left out, and all others are tried. To
 * refuse all of them, or an input for its values, is a failure. */
Test(special_verb, refused_lengths, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *name, *said, *refused;
        enum status due;
    } of[] = {{"needs_100", "it refused n = 1, 2, 3, 31, 32, 33, not tried there: ",
               "it refused n = 1, 2, 3, 31, 32, 33, not tried there: ", STATUS_OK},
              {"needs_more", "failed on 0 of 1 special inputs", "it refused n = 1, 2, 3, 31, ",
               STATUS_DATA},
              {"one_pair", "; 21 lengths refused", "it refused n = 1, 2, 3, 31, ", STATUS_DATA},
              {"refuses_nan", "failed on 2 of ", NULL, STATUS_DATA},
              {"refuses_zeros", "failed on 2 of ", NULL, STATUS_DATA}};
    foreign_server(ULPSCOPE_PROGRAM);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char name[1000];
        snprintf(name, sizeof name, FLAWED_OBJECT ":%s", of[i].name);
        struct arguments a = {.operands = 1, .operand = {name}};
        give(&a, "device", "cpu");
        struct bytes b = printed(&a, of[i].due, "");
        holds((char *)b.data, of[i].said);
        if (i == 0)
            holds((char *)b.data, "every result on ");
        if (i < 2)
            holds((char *)b.data, i == 0 ? "; 6 lengths refused" : "; 21 lengths refused");
        clear_bytes(&b);
        give(&a, "json", NULL);
        b = printed(&a, of[i].due, "");
        json_t *json = json_loadb((char *)b.data, b.size, 0, NULL);
        const char *refused = json_string_value(json_object_get(json, "refused"));
        if (of[i].refused)
            cr_expect(refused && strncmp(refused, of[i].refused, strlen(of[i].refused)) == 0, "%s",
                      refused);
        else
            cr_expect(!refused, "%s", refused);
        json_decref(json);
        clear_bytes(&b);
    }
}
