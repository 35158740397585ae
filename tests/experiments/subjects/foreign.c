/* Foreign subjects in studies: from the command line to the rows, interrupted, resumed, repeated.
 */
#include <stdarg.h>
#include <sys/wait.h>

#include "experiments/system/clock.h"
#include "experiments/subjects/foreign_state.h"
#include "tests/support/processes.h"
#include "tests/support/study.h"

static char said[1 << 16];

/* Runs a line of shell in the test's folder; what it prints is in `said`. Returns its status. */
static int shell(const char *format, ...)
{
    char line[2000];
    size_t length = (size_t)snprintf(line, sizeof line, "cd '%s' && exec 2>&1; ", folder);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + length, sizeof line - length, format, arguments);
    va_end(arguments);
    FILE *pipe = popen(line, "r");
    cr_assert(pipe);
    said[fread(said, 1, sizeof said - 1, pipe)] = 0;
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define RUN   ULPSCOPE_PROGRAM " run "
#define BENCH ULPSCOPE_PROGRAM " bench --n 1000" WIDE
#define WIDE  " --device cpu --storage fp64 --accumulator fp64 "

Test(foreign, names_stand_in_csv_as_they_are, .init = make_folder, .fini = remove_folder)
{
    static const char name[] = "exec:exec " FLAWED_PROGRAM " none \"a, b\" 'c,d'";
    study_words words = {{"method", name},
                         {"storage", "fp64"},
                         {"accumulator", "fp64"},
                         {"input", "uniform"},
                         {"n", "5,100"},
                         {"device", "cpu"},
                         {NULL}};
    struct sweep_outcome outcome = study_run("accuracy", words, in_folder("out"));
    cr_expect(outcome.finished == 2 && outcome.failed == 0);
    char *digest = study_digest(in_folder("out"));
    outcome = study_run("accuracy", words, in_folder("out"));
    cr_expect(outcome.finished == 2 && outcome.runs == 0, "nothing is run twice");
    char *again = study_digest(in_folder("out"));
    cr_expect_str_eq(digest, again);
    free(digest);
    free(again);
    for (int summary = 0; summary < 2; summary++) {
        struct rows rows = rows_read(in_folder("out"), summary);
        cr_expect_eq(rows.count, 2);
        for (size_t i = 0; i < rows.count; i++) {
            const char *method =
                field_of(&rows, i, summary ? (size_t)CASE_METHOD : (size_t)RESULTS_METHOD);
            cr_expect_str_eq(method, name);
            cr_expect_str_empty(
                field_of(&rows, i,
                         summary ? (size_t)SUMMARY_TIME_NS_MEDIAN : (size_t)RESULTS_TIME_NS),
                "the way to a program and back is no time of its own");
        }
        rows_free(&rows);
    }
}

/* Runs without a time are counted when they are read back, too. */
Test(foreign, resumes_within_a_case, .init = make_folder, .fini = remove_folder)
{
    cr_assert_eq(
        shell(RUN "variance --method 'exec:%s none' --input ones --n 10 --runs 30 --out a" WIDE,
              FLAWED_PROGRAM),
        0, "%s", said);
    cr_assert_eq(shell("cp -r a b && head -n 12 a/results.csv >b/results.csv && rm b/summary.csv"),
                 0);
    cr_assert_eq(
        shell(RUN "variance --method 'exec:%s none' --input ones --n 10 --runs 30 --out b" WIDE,
              FLAWED_PROGRAM),
        0, "%s", said);
    cr_expect_eq(shell("cmp a/results.csv b/results.csv && cmp a/summary.csv b/summary.csv"), 0,
                 "%s", said);
}

/* Asked for the time of its runs a program that knows how has one; one that does not is not timed,
 * and is asked no more than it can bear; one that fails does so. */
Test(foreign, programs_time_themselves, .init = make_folder, .fini = remove_folder)
{
    int status =
        shell(BENCH "--method 'exec:%s none' --method 'exec:$(dirname %s)/example_program' "
                    "--method 'exec:%s serve sum/serial' --out b.csv",
              FLAWED_PROGRAM, FLAWED_PROGRAM, ULPSCOPE_PROGRAM);
    cr_expect_eq(status, 0, "%s", said);
    cr_expect(strstr(said, "it does not answer `time`"), "%s", said);
    cr_expect_eq(shell("awk -F, 'NR > 1 && $2 != \"raw read\" { print ($9 > 0), ($12 > 0) }'"
                       " b.csv"),
                 0);
    cr_expect_str_eq(said, "0 0\n1 1\n1 1\n", "%s", said);
    status = shell(BENCH "--method 'exec:exit 7' --method sum/serial");
    cr_expect_eq(status, 3, "%d: %s", status, said);
    cr_expect(strstr(said, "bench: exec:exit 7: failed: exec:exit 7: ended with exit status 7"),
              "%s", said);
}

/* Answers 0, and, asked for the time of its runs, with these eight bytes. */
static void write_program(const char *time)
{
    cr_assert_eq(shell("cat >told <<'END'\n"
                       "while read -r a b c d rest; do if [ $a = time ]; then b=$d; fi; "
                       "head -c $((8 * b)) >/dev/null; printf '\\0\\0\\0\\0\\0\\0\\0\\0'; "
                       "if [ $a = time ]; then printf '%s'; fi; done\nEND",
                       time),
                 0, "%s", said);
}

/* No run takes longer than the wait for its answer, and none takes no time: whoever says so has no
 * time. */
Test(foreign, impossible_times_are_none, .init = make_folder, .fini = remove_folder)
{
    static const char has_time[] =
        "awk -F, 'NR > 1 && $2 != \"raw read\" && ($9 != \"\" || $12 != \"\")' b.csv";
    write_program("\\377\\377\\377\\377\\377\\377\\377\\377");
    int status = shell(BENCH "--method 'exec:sh told' --out b.csv");
    cr_expect_eq(status, 3, "%d: %s", status, said);
    cr_expect(strstr(said, "says that 1 run took 1.8e+10 s, but its answer came after "), "%s",
              said);
    cr_expect_eq(shell(has_time), 0);
    cr_expect_str_eq(said, "", "%s", said);
    write_program("\\0\\0\\0\\0\\0\\0\\0\\0");
    status = shell(BENCH "--method 'exec:sh told' --out b.csv");
    cr_expect_eq(status, 0, "%d: %s", status, said);
    cr_expect(strstr(said, "not timed: a run seems to take no time"), "%s", said);
    cr_expect_eq(shell(has_time), 0);
    cr_expect_str_eq(said, "", "%s", said);
}

/* What does not answer has failed: no error, no result, a reason, status 3; what answers is ranked,
 * and stands in the table whether it can be timed or not. */
/* What its first run there takes is no measure of other runs. */
Test(foreign, another_device_has_another_process)
{
    struct problem p = {0};
    const struct method *m;
    double in = 1, out;
    struct operands of = {.in = {FP64, 1, &in}};
    static const struct {
        int device;
        bool starts;
    } turn[] = {{-1, true}, {-1, false}, {0, true}, {0, false}, {-1, true}};
    cr_assert(foreign_named(&m, "test", "exec:exec " FLAWED_PROGRAM " none", NULL, &p) == STATUS_OK,
              "%s", p.text);
    for (size_t i = 0; i < sizeof turn / sizeof *turn; i++) {
        struct task t = {.of = &of,
                         .out = {FP64, 1, &out},
                         .accumulator = FP64,
                         .method = m,
                         .device = turn[i].device};
        cr_assert(m->cpu(&t, &p) == STATUS_OK && out == 1, "%s", p.text);
        cr_expect(((const struct foreign *)m)->started == turn[i].starts, "turn %zu", i);
    }
    foreign_end(m);
}

Test(foreign, recommend_tells_what_failed, .init = make_folder, .fini = remove_folder)
{
    int status = shell(ULPSCOPE_PROGRAM " recommend --input uniform --n 50 --storage fp64 "
                                        "--accumulator fp64 --device cpu --seconds 1 --method "
                                        "'exec:exit 7' --method sum/serial --method 'exec:%s none' "
                                        "--out out",
                       FLAWED_PROGRAM);
    cr_expect_eq(status, 3, "%d: %s", status, said);
    cr_expect(strstr(said, "recommend: exec:exit 7 in fp64: failed: exec:exit 7: ended with exit "
                           "status 7"),
              "%s", said);
    cr_expect(strstr(said, "1 of 3 candidates failed (status `error`)"), "%s", said);
    cr_expect(strstr(said, "enough: ") && strstr(said, "not timed") && !strstr(said, "nan"), "%s",
              said);
    cr_expect_eq(shell("awk -F, '/exit 7/ { print $8, \"<\" $13 $15 $16 \">\" }' "
                       "out/recommend.csv"),
                 0);
    cr_expect_str_eq(said, "failed <>\n", "%s", said);
}

Test(foreign, failures_cost_a_case_each, .init = make_folder, .fini = remove_folder)
{
    int status = shell(RUN "accuracy --method 'exec:exec %s abort' --method sum/serial --input "
                           "uniform --n 12,13,14 --out out" WIDE,
                       FLAWED_PROGRAM);
    cr_expect_eq(status, 3, "found %d: %s", status, said);
    cr_expect(strstr(said, "n = 13), run 1: exec:exec " FLAWED_PROGRAM " abort: killed by signal 6 "
                           "(Aborted): found 0 of 8 bytes of its answer; its last words: the last "
                           "line\n"),
              "%s", said);
    cr_expect(strstr(said, "1 of 6 cases failed (status `error`)"), "%s", said);
    cr_expect_eq(shell("grep -c ',ok,' out/results.csv; grep -c ',error,' out/results.csv"), 0);
    cr_expect_str_eq(said, "5\n1\n");
    status = shell(RUN "accuracy --method 'exec:exec %s abort' --method sum/serial --input "
                       "uniform --n 12,13,14 --out out" WIDE,
                   FLAWED_PROGRAM);
    cr_expect_eq(status, 3, "it is tried again: %s", said);
}

Test(foreign, studies_are_repeated, .init = make_folder, .fini = remove_folder)
{
    cr_assert_eq(shell(RUN "accuracy --method sum/serial,%s:sum --method 'exec:%s none, \"x\"' "
                           "--input uniform --n 100 --out a" WIDE,
                       FLAWED_OBJECT, FLAWED_PROGRAM),
                 0, "%s", said);
    cr_assert_eq(shell(RUN "--from a/study.json --out b"), 0, "%s", said);
    cr_expect_eq(shell("for i in a b; do cut -d, -f1-3,7-16,18- $i/results.csv | "
                       "sed 's/,[0-9]*,ok,/,/' >$i.csv; done; cmp a.csv b.csv && wc -l <b.csv"),
                 0, "%s", said);
    cr_expect_str_eq(said, "4\n");
    cr_assert_eq(shell(RUN "--from a/study.json --dry-run"), 0, "%s", said);
    cr_expect(strstr(said, "accuracy: cases: 3, inputs: 1, runs: 3") &&
                  strstr(said, "exec:" FLAWED_PROGRAM " none, \"x\""),
              "%s", said);
    cr_assert_eq(shell("awk -F, 'NR == 3 && $5 == \"gpu_to_gpu\" && $(NF-3) > 0' a/results.csv"),
                 0);
    cr_expect(strstr(said, FLAWED_OBJECT ":sum"), "the promise claimed, and a time: %s", said);
}

/* A shared object that was built anew is another subject, whatever its name. */
Test(foreign, objects_have_fingerprints, .init = make_folder, .fini = remove_folder)
{
    const char *run = RUN "accuracy --method ./a.so:sum --input ones --n 10 --out out" WIDE;
    cr_assert_eq(shell("cp %s a.so && %s && %s", FLAWED_OBJECT, run, run), 0, "%s", said);
    cr_expect(strstr(said, "all there before"), "%s", said);
    cr_expect_eq(shell("printf x >>a.so && %s", run), 2, "%s", said);
    cr_expect(strstr(said, "its shared objects is {\"./a.so:sum\":\""), "%s", said);
    cr_expect_eq(shell("%s --force && %s", run, run), 0, "%s", said);
}

Test(foreign, every_experiment_takes_them, .init = make_folder, .fini = remove_folder)
{
    static const char *const run[] = {
        "accuracy --input uniform --n 100 --method %s:sum --method 'exec:%s none'",
        "variance --input uniform --n 100 --runs 5 --method %s:sum --method 'exec:%s none'",
        "cond --n 100 --cond 1,1e6 --method %s:sum --method 'exec:%s none'",
        "ladder --n 100 --timed 2^12 --method %s:sum --method 'exec:%s none'",
        "drift --input uniform --n 100 --method %s:scan --method 'exec:%s none'",
        "scan-variance --input uniform --n 100 --runs 5 --method %s:scan --method 'exec:%s none'"};
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        char line[800];
        snprintf(line, sizeof line, run[i], FLAWED_OBJECT, FLAWED_PROGRAM);
        int status = shell(RUN "%s --out out%zu" WIDE, line, i);
        cr_expect_eq(status, 0, "%s: %d: %s", line, status, said);
        cr_expect(strstr(said, ":s") && strstr(said, "flawed_program none"), "%s", said);
    }
    cr_expect_eq(shell(RUN "--from out3/study.json --out out3 | "
                           "grep -E '^gpu_to_gpu  .*:sum +[0-9.]+ +[0-9.]+ '"),
                 0, "the table has its times: %s", said);
    cr_expect_eq(shell("cut -d, -f2,9,17 out3/times.csv"), 0);
    cr_expect(strstr(said, FLAWED_OBJECT ":sum,") && !strstr(said, ":sum,,"), "%s", said);
    cr_expect(strstr(said, "exec:" FLAWED_PROGRAM " none,,not timed: the way"), "%s", said);
    cr_expect_eq(shell(RUN "drift --method %s:sum", FLAWED_OBJECT), 2);
    cr_expect(strstr(said, FLAWED_OBJECT ":sum, a sum (see run accuracy"), "%s", said);
}

/* What has no words on the wire is refused before anything runs. */
Test(foreign, sums_over_ranks_take_no_programs, .init = make_folder, .fini = remove_folder)
{
    static const char *const operation[] = {"allreduce", "reduce_scatter"}, *const subject[] = {
                                                                                "exec:true",
                                                                                "python:math.fsum"};
    for (size_t i = 0; i < 4; i++) {
        cr_expect_eq(shell(RUN "%s --method %s --device cpu", operation[i / 2], subject[i % 2]), 2);
        char expected[250];
        snprintf(
            expected, sizeof expected,
            "option --method: found %s, expected a method of `ulpscope list`: no request tells "
            "a program how many ranks the data of %s are of",
            subject[i % 2], operation[i / 2]);
        cr_expect(strstr(said, expected), "%s", said);
    }
    cr_expect_eq(shell(RUN "reduce_scatter --method allreduce/ring --device cpu"), 2);
    cr_expect(strstr(said, "allreduce/ring, an allreduce (see run allreduce); reduce_scatter takes "
                           "a reduce_scatter: expected"),
              "%s", said);
}

Test(foreign, bench_tells_calls_from_the_way_there, .init = make_folder, .fini = remove_folder)
{
    int status = shell(ULPSCOPE_PROGRAM " bench --method %s:sum --method 'exec:%s none' --n 2^12 "
                                        "--repeats 15 --out out.csv" WIDE,
                       FLAWED_OBJECT, FLAWED_PROGRAM);
    cr_expect_eq(status, 0, "%s", said);
    cr_expect(strstr(said, "not timed: the way to its process and back would be in it"), "%s",
              said);
    cr_expect_eq(shell("grep -c ':sum,fp64,fp64,uniform,4096,,,[0-9.]*,[0-9.]*,[0-9.]*' out.csv"),
                 0, "%s", said);
}

/* Once it has begun. */
#define INTERRUPTED(folder)                                                                        \
    ULPSCOPE_PROGRAM " %s & ours=$!; until [ -e " folder                                           \
                     "/study.json ] || ! kill -0 $ours; do sleep 0.1; done; "                      \
                     "sleep 0.5; kill -INT $ours; wait $ours"

/* Ctrl-C is heard while a subject hangs, and the same command goes on. */
Test(foreign, interrupted_and_resumed, .init = make_folder, .fini = remove_folder)
{
    char command[1000];
    snprintf(
        command, sizeof command,
        "run variance --method 'exec:exec %s slow' --input ones --n 10 --runs 30 --out out" WIDE,
        FLAWED_PROGRAM);
    uint64_t begin = clock_ns();
    int status = shell(INTERRUPTED("out"), command);
    cr_expect_eq(status, 130, "%d: %s", status, said);
    cr_expect(clock_ns() - begin < UINT64_C(60000000000) &&
              strstr(said, "the same command goes on"));
    cr_expect_eq(shell(ULPSCOPE_PROGRAM " %s", command), 0, "%s", said);
    cr_expect_eq(shell("grep -c ',ok,' out/results.csv"), 0);
    cr_expect_str_eq(said, "30\n");
    snprintf(command, sizeof command,
             "run accuracy --method 'exec:exec %s hang' --input ones --n 13 --timeout 900 --out "
             "hang" WIDE,
             FLAWED_PROGRAM);
    begin = clock_ns();
    status = shell(INTERRUPTED("hang"), command);
    cr_expect(status == 130 && clock_ns() - begin < UINT64_C(60000000000), "%d: %s", status, said);
}

/* Killed outright, we leave no process behind: neither the subject nor what it has started. */
Test(foreign, dies_with_us, .init = make_folder, .fini = remove_folder)
{
    char entry[64];
    snprintf(entry, sizeof entry, "ULPSCOPE_TEST=%ld", (long)getpid());
    int status =
        shell("export %s; " RUN "accuracy --method 'exec:(sleep 1000); true' "
              "--input ones --n 13 --timeout 900 --out out" WIDE "& ours=$!; "
              "for i in $(seq 600); do for p in /proc/[0-9]*; do "
              "grep -qz '^1000$' $p/cmdline && grep -qz '^%s$' $p/environ && echo found && "
              "break 2; done 2>/dev/null; sleep 0.1; done; kill -KILL $ours; wait $ours",
              entry, entry);
    cr_expect(status == 137 && strstr(said, "found"), "what the subject started: %d: %s", status,
              said);
    expect_processes(entry, 0);
}
