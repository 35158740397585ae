/* Promises that a study's results refute: exit status 1, a mark in the table, a line; whatever the
 * experiment. And no verb contradicts another. */
#include <jansson.h>

#include "kernels/method.h"

#include "tests/program.h"

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
    snprintf(words, sizeof words, "%s:%s! ", FLAWED_OBJECT, subject);
    expect_said("out", words); /* the mark */
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
        "variance --method sum/atomic,sum/two_kernel,sum/tiled,sum/binned,sum/exact --threads 1,3 "
        "--input symmetric,symmetric:order=shuffled,near_overflow,infs,nans --runs 5",
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

/* --- no verb contradicts another --- */

static const struct {
    const char *name;
    bool liar;
} subjects[] = {
    {"fickle", true}, {"shares", true}, {"rounded", true}, {"sum", false}, {NULL, false}};
static const char *const ours[] = {"sum/two_kernel"};

/* The verdict of `check --json` on a rung of its file. */
static const char *check_says(const json_t *report, enum promise rung)
{
    const json_t *rungs = json_object_get(report, "rungs");
    return json_string_value(json_object_get(json_array_get(rungs, rung - 1), "verdict"));
}

static json_t *said_json(const char *method)
{
    json_error_t error;
    json_t *said = json_load_file(in_folder("out"), 0, &error);
    cr_assert(said, "%s: %s", method, error.text);
    return said;
}

/* What the experiments see of a method: the least rung that its results break; none has a word for
 * what is kept. */
static enum promise seen_broken(const char *method)
{
    static const char *const experiment[] = {
        "variance --threads 1,4 --runs 20 --input symmetric,symmetric:order=shuffled",
        "ladder --timed 1000 --runs 5"};
    enum promise least = PROMISES;
    for (size_t i = 0; i < 2; i++) {
        char arguments[1000];
        snprintf(arguments, sizeof arguments, "%s --method %s --force" QUICK, experiment[i],
                 method);
        int status = run_program("run", arguments);
        char *text = content("out");
        cr_expect(!strstr(text, "kept") && !strstr(text, "keeps"), "%s", text);
        free(text);
        strcat(arguments, " --json");
        cr_expect(run_program("run", arguments) == status);
        json_t *said = said_json(method), *broken = json_object_get(said, "promises_broken");
        cr_expect((json_array_size(broken) > 0) == (status == 1), "%s: exit status %d", method,
                  status);
        for (size_t k = 0; k < json_array_size(broken); k++) {
            const char *word =
                json_string_value(json_object_get(json_array_get(broken, k), "broken"));
            for (enum promise p = PROMISE_RUN_TO_RUN; p < least; p++)
                least = strcmp(word, promise_name[p]) == 0 ? p : least;
        }
        json_decref(said);
    }
    return least;
}

static void expect_agreement(const char *method, enum promise promise, bool liar)
{
    char arguments[1000], *text;
    snprintf(arguments, sizeof arguments,
             "%s --json --device cpu --seconds 0.5 --storage fp64 --accumulator fp64", method);
    int status = run_program("check", arguments);
    cr_expect(status == liar, "check %s: %d", method, status);
    json_t *all = said_json(method);
    const json_t *report = json_is_array(all) ? json_array_get(all, 0) : all;
    for (enum promise rung = PROMISE_RUN_TO_RUN; rung <= promise && !liar; rung++)
        cr_expect(strcmp(check_says(report, rung), "broken") != 0, "%s: %s", method,
                  promise_name[rung]);
    /* What results broke is not kept, on that rung or above. */
    enum promise seen = seen_broken(method);
    cr_expect(liar || seen == PROMISES, "%s is honest, but %s was seen broken", method,
              promise_name[seen]);
    for (enum promise rung = seen; rung < PROMISES; rung++)
        cr_expect(strcmp(check_says(report, rung), "kept") != 0, "%s: %s is broken, not kept",
                  method, promise_name[rung]);
    /* The same engine. */
    snprintf(arguments, sizeof arguments,
             "trial --method %s --force --device cpu --seconds 0.5 --storage fp64 --accumulator "
             "fp64 --out t",
             method);
    cr_expect(run_program("run", arguments) == liar, "trial of %s", method);
    text = content("out");
    cr_expect((strchr(text, '!') != NULL) == liar, "%s", text);
    free(text);
    /* Nothing is enough that breaks what is asked of it. */
    snprintf(arguments, sizeof arguments,
             "--method %s --input uniform --n 1000 --storage fp64 --accumulator fp64 --device cpu "
             "--promise %s --seconds 1 --confidence 0.5 --out r --force",
             method, promise_name[promise]);
    status = run_program("recommend", arguments);
    text = content("out");
    cr_expect((status == 0) == !liar && (strstr(text, "\nenough: ") != NULL) == !liar, "%s: %d: %s",
              method, status, text);
    free(text);
    json_decref(all);
}

Test(breaks, no_verb_contradicts_another, .init = make_folder, .fini = remove_folder)
{
    static const enum promise claims[] = {PROMISE_RUN_TO_RUN, PROMISE_GPU_TO_GPU,
                                          PROMISE_CORRECTLY_ROUNDED, PROMISE_GPU_TO_GPU};
    for (size_t i = 0; subjects[i].name; i++) {
        char name[600];
        snprintf(name, sizeof name, "%s:%s", FLAWED_OBJECT, subjects[i].name);
        expect_agreement(name, claims[i], subjects[i].liar);
    }
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        expect_agreement(ours[i], method_named(ours[i])->promise, false);
}
