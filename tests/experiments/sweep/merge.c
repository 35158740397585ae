/* Shards of a study, and what joins them: the rows of one process but for order and times. */
#include <stdarg.h>

#include "tests/support/program.h"

static int tell(const char *verb, const char *format, ...)
{
    char arguments[1500];
    va_list list;
    va_start(list, format);
    vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    return run_program(verb, arguments);
}

/* The lines of a CSV file without the columns of times, sorted. */
static char *sorted(const char *path)
{
    char command[600];
    snprintf(
        command, sizeof command,
        "cd '%s' && at=$(head -n 1 '%s' | tr , '\\n' | grep -n time | cut -d: -f1 | paste -sd,) && "
        "if [ -n \"$at\" ]; then cut -d, -f \"$at\" --complement '%s'; else cat '%s'; fi | "
        "sort >sorted",
        folder, path, path, path);
    cr_assert_eq(system(command), 0);
    return content("sorted");
}

static void expect_same(const char *a, const char *b, const char *name)
{
    char path[2][200];
    snprintf(path[0], sizeof path[0], "%s/%s", a, name);
    snprintf(path[1], sizeof path[1], "%s/%s", b, name);
    char *x = sorted(path[0]), *y = sorted(path[1]);
    cr_expect(strlen(x) > 100 && strcmp(x, y) == 0, "%s: %s and %s differ", name, a, b);
    free(x);
    free(y);
}

static const struct {
    const char *arguments, *files[4];
} studies[] = {
    {"accuracy --method sum/serial,sum/tiled,sum/exact --n 10,3000 --input uniform,cond",
     {"results.csv", "summary.csv"}},
    {"drift --method scan/serial,scan/tiled --n 500 --input uniform,symmetric",
     {"results.csv", "summary.csv", "profile.csv"}},
    {"scatter --method scatter/ordered,scatter/exact --n 500 --bins 7 --input uniform,ones",
     {"results.csv", "summary.csv"}},
    {"variance --method sum/tiled,sum/binned --n 300 --runs 5 --input uniform,symmetric",
     {"results.csv", "summary.csv"}},
};

Test(merge, gives_the_rows_of_one_process, .init = make_folder, .fini = remove_folder)
{
    enum { SHARDS = 3 };
    for (size_t i = 0; i < sizeof studies / sizeof *studies; i++) {
        const char *a = studies[i].arguments;
        cr_assert_eq(tell("run", "%s --device cpu --storage fp32 --out whole --force", a), 0);
        for (int k = 1; k <= SHARDS; k++) {
            cr_assert_eq(tell("run",
                              "%s --device cpu --storage fp32 --shard %d/%d --out s%d --force", a,
                              k, SHARDS, k),
                         0);
            expect_said("out", "of the study's");
        }
        cr_assert_eq(tell("merge", "s2 s3 s1 --out joined --force"), 0, "%s", a);
        expect_said("out", "merged from 3 shards");
        for (const char *const *file = studies[i].files; *file; file++)
            expect_same("whole", "joined", *file);
        expect_said("joined/study.json", "\"shard\": \"2/3\"");
        cr_expect_eq(tell("compare", "whole joined"), 0);
    }
}

/* Each times what it has: of an input that two have timed the rows of one are taken. */
Test(merge, takes_the_times_of_an_input_once, .init = make_folder, .fini = remove_folder)
{
    for (int k = 1; k <= 2; k++)
        cr_assert_eq(tell("run",
                          "ladder --device cpu --method sum/serial,sum/tiled --storage fp32 "
                          "--accumulator fp32 --n 1000 --timed 1000 --shard %d/2 --out s%d",
                          k, k),
                     0);
    cr_assert_eq(tell("merge", "s1 s2 --out joined"), 0);
    char *one = content("s1/times.csv"), *joined = content("joined/times.csv");
    cr_expect_str_eq(one, joined);
    free(one);
    free(joined);
}

Test(merge, joins_trials, .init = make_folder, .fini = remove_folder)
{
    const char *trial = "trial --device cpu --method sum/serial,sum/tiled,sum/exact --n 100 "
                        "--storage fp32 --accumulator fp32 --seconds 0.05";
    for (int k = 1; k <= 2; k++)
        cr_assert_eq(tell("run", "%s --shard %d/2 --out s%d", trial, k, k), 0);
    cr_assert_eq(tell("merge", "s1 s2 --out joined"), 0);
    expect_said("out", "sum/serial");
    expect_said("out", "sum/tiled");
    expect_said("out", "sum/exact");
    char *rows = content("joined/trial.csv");
    size_t lines = 0;
    for (const char *at = rows; (at = strchr(at, '\n')); at++)
        lines++;
    cr_expect_eq(lines, 1 + 3 * 4, "%zu lines", lines);
    free(rows);
}

/* Shards of a machine that has what this one has not: nothing is run again. */
Test(merge, needs_neither_their_gpu_nor_their_python, .init = make_folder, .fini = remove_folder)
{
    char command[700];
    for (int k = 1; k <= 2; k++)
        cr_assert_eq(tell("run",
                          "trial --device cpu --method "
                          "python:" ULPSCOPE_SOURCE "/tests/support/subjects.py:fsum@array,"
                          "python:" ULPSCOPE_SOURCE "/tests/support/subjects.py:cumsum@array "
                          "--n 50 --storage fp64 --accumulator fp64 --seconds 0.3 --shard %d/2 "
                          "--out s%d",
                          k, k),
                     0);
    snprintf(command, sizeof command,
             "cd '%s' && sed -i 's/\"cpu\"/\"cuda:7\"/' s?/study.json && "
             "sed -i 's/,cpu,/,cuda:7,/' s?/trial.csv",
             folder);
    cr_assert_eq(system(command), 0);
    setenv("ULPSCOPE_PYTHON", "/nonexistent", 1);
    int status = tell("merge", "s1 s2 --out joined");
    unsetenv("ULPSCOPE_PYTHON");
    cr_expect_eq(status, 0, "%d", status);
    expect_said("out", "subjects.py:fsum@array");
    expect_said("out", "subjects.py:cumsum@array");
    expect_said("out", "on cuda:7");
}

/* No shard sees that launch shapes give other bits: each has one of the two cases. */
Test(merge, sees_a_promise_that_two_shards_break_together, .init = make_folder,
     .fini = remove_folder)
{
    for (int k = 1; k <= 2; k++)
        cr_expect_eq(
            tell("run",
                 "accuracy --device cpu --method %s:shares --threads 1,4 --n 1000 --storage "
                 "fp64 --accumulator fp64 --input symmetric --shard %d/2 --out s%d",
                 FLAWED_OBJECT, k, k),
            0);
    cr_expect_eq(tell("merge", "s1 s2 --out joined"), 1);
    expect_said("err", "breaks what it promises");
}

#define SMALL "accuracy --device cpu --method sum/serial --n 10 --storage fp32"

Test(merge, refuses_what_are_not_the_shards_of_one_study, .init = make_folder,
     .fini = remove_folder)
{
    const struct {
        const char *arguments, *said;
        int status;
    } bad[] = {
        {"s1 s2 --out j", "found 2 of 3 shards, expected 3/3 too", 2},
        {"s1 s2 s3 s2 --out j", "found shard 2/3, which s2/study.json is too", 2},
        {"s1 s2 s3 other --out j", "found shard 1/2, expected one of 3", 2},
        {"s1 s2 elsewhere --out j", "elsewhere/study.json: describes another study: its n is", 2},
        {"whole --out j", "found a whole study, expected a shard", 2},
        {"s1 s2 s3 --out s2", "found s2, a shard, expected another directory", 2},
        {"s1 s2 nowhere --out j", "nowhere/study.json: No such file", 3},
        {"s1 lied s3 --out j", "found other elements than an earlier shard has recorded", 3},
        {"s1 torn s3 --out j", "are missing, the first sum/serial on", 3},
        {"s1 torn s3 --out k", "of shard 2/3: run that shard again", 3},
        {"s1 s2 s3 --out whole", "whole: found this study, merged before", 3},
        {"s1 s2 s3 --out k", "", 0},
    };
    for (int k = 1; k <= 3; k++)
        cr_assert_eq(tell("run", SMALL " --shard %d/3 --out s%d", k, k), 0);
    cr_assert_eq(tell("run", SMALL " --shard 1/2 --out other"), 0);
    cr_assert_eq(
        tell("run",
             "accuracy --device cpu --method sum/serial --n 11 --storage fp32 --shard 3/3 --out "
             "elsewhere"),
        0);
    cr_assert_eq(tell("run", SMALL " --out whole"), 0);
    char command[900];
    snprintf(command, sizeof command,
             "cd '%s' && cp -r s2 torn && head -c -40 s2/results.csv >torn/results.csv && cp -r s2 "
             "lied && key=$(grep -o '\"[a-z]* fp32 n=10[^\"]*\"' s1/study.json | head -n 1) && sed "
             "\"s/\\\"inputs\\\": {/&$key: \\\"00\\\",/\" s2/study.json >lied/study.json",
             folder);
    cr_assert_eq(system(command), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_expect_eq(tell("merge", "%s", bad[i].arguments), bad[i].status, "%s", bad[i].arguments);
        expect_said("err", bad[i].said);
    }
}

/* Interrupted and run again it is the same shard; another shard may not have its directory. */
/* Rows that were copied from shard to shard would say twice what was measured once. */
Test(merge, names_the_shard_that_has_cases_of_another, .init = make_folder, .fini = remove_folder)
{
    for (int k = 1; k <= 2; k++)
        cr_assert_eq(tell("run",
                          "accuracy --method sum/serial,sum/tiled --n 10,1000 --device cpu "
                          "--storage fp32 --shard %d/2 --out s%d",
                          k, k),
                     0);
    char command[300];
    snprintf(command, sizeof command, "cd '%s' && sed 1d s1/results.csv >>s2/results.csv", folder);
    cr_assert_eq(system(command), 0);
    cr_expect_eq(tell("merge", "s1 s2 --out joined"), 3);
    expect_said("err", "s2/results.csv: line ");
    expect_said("err", "which s1 has, too: ");
    cr_assert_eq(tell("run", "accuracy --method sum/serial --n 10,1000 --device cpu --storage fp32 "
                             "--shard 2/2 --out other"),
                 0);
    cr_expect_eq(tell("merge", "s1 other --out joined --force"), 2);
    expect_said("err", "name the shards of one study");
}

/* The rows are read where they were joined, but it is a shard that was edited: another --out, or
 * --force, would find the same again. */
Test(merge, says_that_a_shard_was_edited, .init = make_folder, .fini = remove_folder)
{
    static const char *const edits[] = {"5p", "5s/,ok/,error/"};
    char command[300];
    for (int k = 1; k <= 2; k++)
        cr_assert_eq(tell("run",
                          "accuracy --method sum/serial,sum/tiled --n 10,1000 --device cpu "
                          "--storage fp32 --shard %d/2 --out s%d",
                          k, k),
                     0);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        snprintf(command, sizeof command, "cd '%s' && rm -rf x && cp -r s1 x && sed -i '%s' %s",
                 folder, edits[i], "x/results.csv");
        cr_assert_eq(system(command), 0);
        cr_expect_eq(tell("merge", "x s2 --out joined --force"), 3, "%s", edits[i]);
        expect_said("err", "joined/results.csv: line ");
        expect_said("err", ": edited in a shard: run that shard again with --force, then merge");
        char *err = content("err");
        cr_expect(!strstr(err, "another --out"), "%s: %s", edits[i], err);
        free(err);
    }
}

/* Rows of two programs may differ for the programs' sake. */
Test(merge, says_that_shards_are_of_two_programs, .init = make_folder, .fini = remove_folder)
{
    char command[400];
    for (int k = 1; k <= 2; k++)
        cr_assert_eq(tell("run",
                          "accuracy --method sum/serial,sum/tiled --n 10,1000 --device cpu "
                          "--storage fp32 --shard %d/2 --out s%d",
                          k, k),
                     0);
    cr_expect_eq(tell("merge", "s1 s2 --out joined"), 0);
    char *err = content("err");
    cr_expect(!strstr(err, "two programs"), "%s", err);
    free(err);
    snprintf(command, sizeof command,
             "cd '%s' && sed -i 's/^\\( *\"commit\": \"\\).*\",/\\10123456789\",/' "
             "s2/study.json && grep -q 0123456789 s2/study.json",
             folder);
    cr_assert_eq(system(command), 0);
    cr_expect_eq(tell("merge", "s1 s2 --out joined --force"), 0);
    expect_said("err", "s2 is of another program than s1 (commits 0123456789 and ");
    expect_said("err", "): rows of two programs may differ\n");
}

/* The file grows to a limit that all rows do not fit below, as on a full disk. */
Test(merge, begins_anew_where_it_was_interrupted, .init = make_folder, .fini = remove_folder)
{
    char command[900];
    for (int k = 1; k <= 2; k++)
        cr_assert_eq(tell("run",
                          "accuracy --device cpu --method sum/serial,sum/tiled --n 10,20,30,40 "
                          "--shard %d/2 --out s%d",
                          k, k),
                     0);
    snprintf(command, sizeof command,
             "cd '%s' && trap '' XFSZ && ulimit -f 40 && '%s' merge s1 s2 --out joined >out 2>err",
             folder, ULPSCOPE_PROGRAM);
    cr_assert_neq(system(command), 0);
    expect_said("err", "could not be written: File too large; the same command merges anew");
    cr_expect_eq(tell("report", "joined --out page"), 3);
    expect_said("err", "found a merge that was interrupted: run the same `ulpscope merge` again");
    cr_expect_eq(tell("compare", "joined s1"), 3);
    cr_expect_eq(tell("merge", "s1 s2 --out joined"), 0);
    cr_expect_eq(tell("report", "joined --out page"), 0);
    cr_expect_eq(tell("merge", "s1 s2 --out joined"), 3);
    expect_said("err", "merged before");
    cr_expect_eq(tell("merge", "s1 s2 --out other"), 0);
    expect_same("joined", "other", "results.csv");
    expect_same("joined", "other", "summary.csv");
}

Test(merge, shards_resume, .init = make_folder, .fini = remove_folder)
{
    cr_assert_eq(tell("run", SMALL " --shard 1/2 --out s"), 0);
    cr_assert_eq(tell("run", SMALL " --shard 1/2 --out s"), 0);
    expect_said("out", "all there before");
    cr_expect_eq(tell("run", SMALL " --shard 2/2 --out s"), 2);
    expect_said("err", "its shard is \"1/2\", asked for is \"2/2\"");
    cr_expect_eq(tell("run", SMALL " --out s"), 2);
    cr_expect_eq(tell("run", "--from s/study.json --out again"), 0);
    cr_expect_eq(tell("compare", "s again"), 0);
    expect_same("s", "again", "results.csv");
}

Test(merge, shards_may_be_empty, .init = make_folder, .fini = remove_folder)
{
    for (int k = 1; k <= 4; k++)
        cr_assert_eq(tell("run",
                          "accuracy --device cpu --method sum/tiled --n 10 --storage fp32 "
                          "--accumulator fp32,fp64 --input ones --shard %d/4 --out s%d",
                          k, k),
                     0);
    cr_assert_eq(tell("merge", "s1 s2 s3 s4 --json --out joined"), 0);
    expect_said("out", "\"cases\": 2");
}
