/* Promises that a study's results refute: exit status 1, a mark in the table, a line; whatever the
 * experiment. And no verb contradicts another. */
#include <jansson.h>

#include "experiments/sweep/breaks.h"
#include "tests/support/program.h"

#define QUICK " --device cpu --n 1000 --storage fp64 --accumulator fp64 --out o "

/* Runs an experiment with a subject of the object; returns its exit status. */
static int run_flawed(const char *experiment, const char *subject, const char *more)
{
    char arguments[1500];
    snprintf(arguments, sizeof arguments, "%s --force --method %s:%s" QUICK "%s", experiment,
             FLAWED_OBJECT, subject, more);
    return run_program("run", arguments);
}

static void expect_broken(const char *experiment, const char *subject, const char *more,
                          const char *seen)
{
    char words[600];
    cr_expect(run_flawed(experiment, subject, more) == 1, "%s %s", experiment, subject);
    snprintf(words, sizeof words, "\n! %s:%s breaks its promise, %s", FLAWED_OBJECT, subject, seen);
    expect_said("out", words);
    snprintf(words, sizeof words, ":%s! ", subject); /* a long name shows its end */
    expect_told("out", words);                       /* the mark */
    snprintf(words, sizeof words,
             "ulpscope: o/results.csv: 1 method breaks what it promises, the "
             "first: %s:%s, %s",
             FLAWED_OBJECT, subject, seen);
    expect_said("err", words);
}

static const struct {
    const char *experiment, *subject, *more, *seen;
} broken[] = {
    {"variance", "fickle", "--runs 20", "run_to_run: 2 results in 20 runs"},
    {"accuracy", "fickle", "--runs 2", "run_to_run: 2 results in 2 runs"},
    {"cond", "fickle", "--runs 2 --cond 1024", "run_to_run: 2 results in 2 runs"},
    {"ladder", "fickle", "--runs 3 --timed 1000", "run_to_run: 2 results in 3 runs"},
    {"atomics", "fickle", "--runs 3", "run_to_run: 2 results in 3 runs"},
    {"dot", "fickle_dot", "--runs 2 --input normal", "run_to_run: 2 results in 2 runs"},
    {"drift", "fickle_scan", "--runs 2", "run_to_run: 2 results in 2 runs"},
    {"scan-variance", "fickle_scan", "--runs 3", "run_to_run: 2 results in 3 runs"},
    {"variance", "shares", "--runs 2 --threads 1,4",
     "gpu_to_gpu: other bits (cpu, threads 4) than in another case (cpu, threads 1)"},
    {"accuracy", "shares", "--threads 1,4 --input symmetric", "gpu_to_gpu: other bits"},
    {"variance", "any_order", "--runs 2 --input symmetric,symmetric:order=ascending",
     "order_invariant: other bits than on symmetric"},
    {"variance", "rounded", "--runs 2 --input symmetric", "correctly_rounded: an error of "},
    {"accuracy", "rounded", "--input symmetric", "correctly_rounded: an error of "},
};

Test(breaks, has_exit_status_a_mark_and_a_line, .init = make_folder, .fini = remove_folder)
{
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        expect_broken(broken[i].experiment, broken[i].subject, broken[i].more, broken[i].seen);
}

/* bench times what alternates from call to call, whether a repetition has one or many of them. */
Test(breaks, bench_too, .init = make_folder, .fini = remove_folder)
{
    static const char *const subject[] = {"fickle", "fickle_scan"}, *const n[] = {"1000",
                                                                                  "2000003"};
    char arguments[1000], words[600];
    for (size_t i = 0; i < 4; i++) {
        snprintf(arguments, sizeof arguments,
                 "--device cpu --storage fp64 --accumulator fp64 --n %s --method %s:%s,sum/tiled",
                 n[i / 2], FLAWED_OBJECT, subject[i % 2]);
        cr_expect(run_program("bench", arguments) == 1);
        snprintf(words, sizeof words, ":%s! ", subject[i % 2]);
        expect_told("out", words);
        snprintf(words, sizeof words, "\n! %s:%s breaks its promise, run_to_run: ", FLAWED_OBJECT,
                 subject[i % 2]);
        expect_said("out", words);
        expect_said("err", "breaks what it promises, run_to_run: ");
    }
    strcat(arguments, " --json");
    cr_expect(run_program("bench", arguments) == 1);
    json_error_t error;
    json_t *said = json_load_file(in_folder("out"), 0, &error), *row;
    cr_assert(said, "%s", error.text);
    size_t i, broken = 0, compared = 0;
    json_array_foreach (said, i, row) {
        broken += json_is_string(json_object_get(row, "promise_broken"));
        compared += json_integer_value(json_object_get(row, "results_compared")) > 0;
    }
    cr_expect(broken == 1 && compared == 2, "%zu rows broken, %zu compared", broken, compared);
    json_decref(said);
    cr_expect(run_program("bench", "--device cpu --storage fp32 --accumulator fp32 --n 4096 "
                                   "--method sum/atomic,sum/tiled,scan/tiled,scatter/sort") == 0);
}

/* What the rows of an earlier process refute is broken still; and for programs. */
Test(breaks, resumed_and_json, .init = make_folder, .fini = remove_folder)
{
    char again[1000];
    snprintf(again, sizeof again, "variance --method %s:fickle,sum/tiled --runs 4" QUICK,
             FLAWED_OBJECT);
    for (int time = 0; time < 3; time++) {
        cr_expect(run_program("run", again) == 1, "time %d", time);
        expect_said("out", ":fickle! ");
        if (time == 1)
            remove(in_folder("o/summary.csv"));
    }
    strcat(again, " --json");
    cr_expect(run_program("run", again) == 1);
    json_error_t error;
    json_t *said = json_load_file(in_folder("out"), 0, &error);
    cr_assert(said, "%s", error.text);
    const json_t *all = json_object_get(said, "promises_broken"), *first = json_array_get(all, 0);
    cr_expect(json_array_size(all) == 2, "a row for each case, with its inputs");
    cr_expect_str_eq(json_string_value(json_object_get(first, "broken")), "run_to_run");
    cr_expect_str_eq(json_string_value(json_object_get(first, "seen")), "2 results in 4 runs");
    json_decref(said);
}

/* Where a promise allows it, other results are none of its business. */
Test(breaks, no_false_alarm, .init = make_folder, .fini = remove_folder)
{
    static const char *const kept[] = {
        ("variance --method sum/atomic,sum/two_kernel,sum/tiled,sum/binned,sum/exact --threads 1,3 "
         "--input symmetric,symmetric:order=shuffled,near_overflow,infs,nans --runs 5"),
        "drift --method scan/tiled,scan/exact --threads 1,3 --output storage,accumulator",
        "norm --method norm/exact,mean/exact,variance/exact",
        "extrema",
        "scatter --method scatter/sort,scatter/exact,scatter/atomic --runs 3",
        "rows --method rows/tiled,rows/exact --runs 2"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        char arguments[1000];
        snprintf(arguments, sizeof arguments, "%s --device cpu --n 1000 --out o --force", kept[i]);
        int status = run_program("run", arguments);
        char *said = content("out"), *wrong = content("err");
        cr_expect(status == 0, "%s: %s", kept[i], wrong);
        cr_expect(!strchr(said, '!'), "%s: %s", kept[i], said);
        free(said);
        free(wrong);
    }
}

/* Each method once, by its first case, with how many more there are; of 100,000 cases, too. */
Test(breaks, many_cases, .timeout = 20)
{
    enum { CASES = 100000 };
    static const char *const name[] = {"sum/tiled", "sum/serial", "sum/exact"};
    struct study_case *cases = calloc(CASES, sizeof *cases);
    struct source source = {.array = {FP32, 7, NULL}};
    struct plan plan = {.cases = cases, .case_count = CASES, .source = &source, .sources = 1};
    struct problem p = {0};
    struct text text = {0};
    cr_assert(cases);
    for (size_t i = 0; i < CASES; i++) {
        cases[i].method = method_named(name[i % 10 == 0]);
        cases[i].broken = i < 5 || i % 10 == 3 ? PROMISE_NONE : PROMISE_RUN_TO_RUN;
    }
    cases[4].method = method_named(name[2]);
    breaks_lines(&text, &plan);
    const char *said = text_string(&text), *second;
    cr_assert(said && strncmp(said, "! sum/tiled breaks", 18) == 0, "%s", said);
    cr_assert((second = strstr(said, "\n! sum/serial breaks")), "%s", said);
    cr_expect(strstr(said, "; 79996 more cases break it\n") < second, "%s", said);
    cr_expect(strstr(second, "; 9998 more cases break it\n"), "%s", said);
    cr_expect(breaks_status(&plan, "o", &p) == STATUS_FAILED);
    cr_expect(strstr(p.text, "2 methods break what they promise, the first: sum/tiled"), "%s",
              p.text);
    cr_expect(*breaks_mark_method(&plan, method_named(name[0])));
    cr_expect(!*breaks_mark_method(&plan, method_named(name[2])));
    text_free(&text);
    free(cases);
}

/* `told` gives a number that is no sum, and so loses every digit. */
Test(breaks, says_once_that_a_bound_is_broken, .init = make_folder, .fini = remove_folder)
{
    cr_expect(run_program("run accuracy", "--device cpu --method " FLAWED_OBJECT
                                          ":told --n 1000 --input ones --seed 1 --storage fp64 "
                                          "--accumulator fp64 --out o") == 1);
    expect_said("out", "! 1 result breaks an error bound\n\nCorrect decimal digits");
}
