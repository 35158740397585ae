/* Programs that misbehave cost a run and a line that says what they did; the next run is right. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "experiments/system/clock.h"
#include "experiments/subjects/foreign.h"
#include "experiments/subjects/subject.h"
#include "tests/support/processes.h"

enum { N = 1 << 18 }; /* more than a pipe holds */

static const struct method *program(const char *flaw, const struct operation *operation)
{
    char name[400];
    struct problem p = {0};
    const struct method *m;
    snprintf(name, sizeof name, "exec:exec %s %s", FLAWED_PROGRAM, flaw);
    cr_assert(subject_named(&m, "test", name, operation, &p) == STATUS_OK, "%s", p.text);
    return m;
}

static double x[N], out[N];

/* One run; the results are in `out`. */
static enum status run(const struct method *m, size_t n, struct problem *p)
{
    *p = (struct problem){0};
    struct task t = {.of = &(struct operands){.in = {FP64, n, x}},
                     .out = {FP64, m->operation->outputs(n, 0), out},
                     .accumulator = FP64,
                     .method = m,
                     .device = -1};
    memset(out, 0x55, sizeof out);
    return m->cpu(&t, p);
}

static void expect_sum(const struct method *m, size_t n)
{
    struct problem p;
    double due = n ? x[0] : 0;
    for (size_t i = 1; i < n; i++)
        due += x[i];
    cr_expect(run(m, n, &p) == STATUS_OK, "%s, n = %zu: %s", m->name, n, p.text);
    cr_expect(memcmp(out, &due, sizeof due) == 0, "%s, n = %zu: found %a, expected %a", m->name, n,
              out[0], due);
}

static void fill(void)
{
    for (size_t i = 0; i < N; i++)
        x[i] = 1 / (1.0 + (double)i);
    foreign_timeout(20);
}

Test(process, answers_again_and_again, .init = fill)
{
    const struct method *m = program("none", NULL);
    cr_expect(m == program("none", NULL) && m != program("none", &operation_scan));
    cr_expect(m->promise == PROMISE_NONE && m->foreign && m->bound == THEOREM_ANY_ORDER);
    for (size_t n = 0; n < N; n = 3 * n + 1)
        expect_sum(m, n);
}

Test(process, answers_while_it_is_asked, .init = fill)
{
    struct problem p;
    double due = 0;
    const struct method *m = program("none", &operation_scan);
    cr_assert(run(m, N, &p) == STATUS_OK, "%s", p.text);
    for (size_t i = 0; i < N; i++) {
        due = i ? due + x[i] : x[0];
        cr_assert(out[i] == due, "index %zu", i);
    }
}

/* What a flaw shows at n = 13, within a limit of time, is told, and the run before and behind it
 * are right. */
static void expect_flaw(const char *flaw, const struct operation *operation, double limit_s,
                        const char *said)
{
    struct problem p;
    const struct method *m = program(flaw, operation);
    if (!operation)
        expect_sum(m, 10);
    foreign_timeout(limit_s);
    enum status status = run(m, 13, &p);
    foreign_timeout(20);
    cr_expect(status == STATUS_DATA, "%s: status %d", flaw, (int)status);
    cr_expect(strstr(p.text, said) && strstr(p.text, m->name), "%s: found '%s', expected '%s'",
              flaw, p.text, said);
    if (!operation)
        expect_sum(m, 10);
}

Test(process, flaws_are_told, .init = fill)
{
    expect_flaw("crash", NULL, 20, "killed by signal 9 (Killed): found 0 of 8 bytes of its answer");
    expect_flaw("abort", NULL, 20,
                "killed by signal 6 (Aborted): found 0 of 8 bytes of its answer; its last words: "
                "the last line");
    expect_flaw("exit", NULL, 20, "ended with exit status 3: found 0 of 8 bytes of its answer");
    expect_flaw("short", NULL, 20, "ended with exit status 0: found 3 of 8 bytes of its answer");
    expect_flaw("long", NULL, 20, "answered with 3 bytes ('abc') beyond the 8 expected");
    expect_flaw("fork", NULL, 20, "ended with exit status 4: found 0 of 8 bytes of its answer");
    expect_flaw("shut", NULL, 20, "closed its standard output: found 0 of 8 bytes of its answer");
}

Test(process, hangs_are_ended, .init = fill)
{
    uint64_t begin = clock_ns();
    expect_flaw("hang", NULL, 0.3, "no answer within 0.3 s (--timeout): found 0 of 8 bytes");
    expect_flaw("mute", &operation_scan, 0.3, "no answer within 0.3 s (--timeout): found 0 of 104");
    double seconds = (double)(clock_ns() - begin) * 1e-9;
    cr_expect(seconds > 0.6 && seconds < 15, "%g s", seconds);
}

/* It reads nothing of more than a pipe holds. */
Test(process, closed_input_is_told, .init = fill)
{
    struct problem p;
    char name[400];
    const struct method *m;
    snprintf(name, sizeof name, "exec:exec <&-; sleep 1000 & wait; exit 0");
    foreign_timeout(0.5);
    cr_assert(subject_named(&m, "test", name, NULL, &p) == STATUS_OK, "%s", p.text);
    struct task t = {.of = &(struct operands){.in = {FP64, N, x}},
                     .out = {FP64, 1, out},
                     .accumulator = FP64,
                     .method = m,
                     .device = -1};
    p = (struct problem){0};
    cr_expect(m->cpu(&t, &p) == STATUS_DATA && strstr(p.text, "closed its standard input: read at"),
              "%s", p.text);
}

Test(process, says_more_than_it_is_asked, .init = fill)
{
    struct problem p;
    char folder[] = "/tmp/ulpscope-test-XXXXXX", pipe[sizeof folder + 5];
    cr_assert(mkdtemp(folder));
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    cr_assert(mkfifo(pipe, 0600) == 0);
    setenv("FLAWED_PIPE", pipe, 1);
    const struct method *greeting = program("greet", NULL), *chatting = program("chatter", NULL);
    cr_expect(run(greeting, 10, &p) == STATUS_DATA, "%s", p.text);
    cr_expect(strstr(p.text, "beyond the 8 expected") || strstr(p.text, "before it was asked"),
              "%s", p.text);
    expect_sum(chatting, 12);
    close(open(pipe, O_WRONLY)); /* now it may go on; */
    close(open(pipe, O_RDONLY)); /* it has */
    cr_expect(run(chatting, 10, &p) == STATUS_DATA, "%s", p.text);
    cr_expect(strstr(p.text, "wrote 10 bytes before it was asked ('by the way')"), "%s", p.text);
    expect_sum(chatting, 10);
    unlink(pipe);
    rmdir(folder);
}

/* One question a process is fine, as long as each ends well. An ended one leaves its guard. */
Test(process, may_end_between_questions, .init = fill)
{
    struct problem p;
    char entry[64];
    snprintf(entry, sizeof entry, "ULPSCOPE_TEST=%ld", (long)getpid());
    putenv(entry);
    const struct method *once = program("once", NULL), *leaving = program("leave", NULL);
    for (size_t n = 0; n < 10; n++)
        expect_sum(once, n);
    expect_processes(entry, 1);
    expect_sum(once, 20);
    foreign_end(once);
    expect_sum(leaving, 12);
    expect_processes(entry, 1);
    cr_expect(run(leaving, 10, &p) == STATUS_DATA && strstr(p.text, "ended with exit status 5") &&
                  strstr(p.text, "its last words: leaving"),
              "%s", p.text);
    expect_sum(leaving, 10);
}

Test(process, slow_and_noisy_ones_are_heard_out, .init = fill)
{
    expect_sum(program("slow", NULL), 10);
    expect_sum(program("noise", NULL), 10);
    expect_sum(program("noise", NULL), 1000);
}

/* The whole group is ended, also what a program left behind. The guard has it in its environment as
 * well. */
Test(process, leaves_nobody_behind, .init = fill)
{
    struct problem p;
    char entry[64];
    snprintf(entry, sizeof entry, "ULPSCOPE_TEST=%ld", (long)getpid());
    putenv(entry);
    const struct method *good = program("none", NULL);
    expect_sum(good, 10);
    expect_processes(entry, 2);
    foreign_timeout(0.3);
    static const char *const flaw[] = {"hang", "fork", "crash", "long"};
    for (size_t i = 0; i < sizeof flaw / sizeof *flaw; i++)
        cr_expect(run(program(flaw[i], NULL), 13, &p) == STATUS_DATA, "%s", flaw[i]);
    foreign_timeout(20);
    expect_processes(entry, 2);
    foreign_end(good);
    expect_processes(entry, 0);
    expect_sum(good, 10);
}

/* Whoever waits for the end of a pipe that a program would break is not ended by it. */
Test(process, broken_pipes_stay_ours, .init = fill)
{
    struct problem p;
    sigset_t pending;
    const struct method *m;
    p = (struct problem){0};
    cr_assert(subject_named(&m, "test", "exec:true", NULL, &p) == STATUS_OK);
    for (int i = 0; i < 10; i++)
        cr_expect(run(m, N, &p) == STATUS_DATA && strstr(p.text, "exit status 0: found 0 of 8"),
                  "%s", p.text);
    sigpending(&pending);
    cr_expect(!sigismember(&pending, SIGPIPE));
}

static volatile sig_atomic_t stop;

Test(process, is_interrupted, .init = fill)
{
    struct problem p;
    uint64_t begin = clock_ns();
    foreign_interrupt(&stop);
    stop = 1;
    cr_expect(run(program("hang", NULL), 13, &p) == STATUS_INTERRUPTED);
    cr_expect(clock_ns() - begin < 10000000000u);
    stop = 0;
    expect_sum(program("hang", NULL), 10);
}

/* Each device has a process that was told of it. */
Test(process, is_told_its_device, .init = fill)
{
    static const char *const due[] = {"cpu.....", "cuda:1..", "cuda:0..", "cpu....."};
    static const int device[] = {-1, 1, 0, -1};
    struct problem p = {0};
    const struct method *m;
    cr_assert(subject_named(&m, "test",
                            "exec:while read line; do printf '%.8s' $ULPSCOPE_DEVICE.....; done",
                            NULL, &p) == STATUS_OK);
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) {
        struct task t = {.of = &(struct operands){.in = {FP64, 0, x}},
                         .out = {FP64, 1, out},
                         .accumulator = FP64,
                         .method = m,
                         .device = device[i]};
        cr_assert(m->cpu(&t, &p) == STATUS_OK, "%s", p.text);
        cr_expect(memcmp(out, due[i], 8) == 0, "%d: %.8s", device[i], (char *)out);
    }
}

/* Many subjects, one after the other, do not have a process each for ever; one that is asked again
 * and again keeps its own. */
Test(process, are_not_too_many, .init = fill)
{
    struct problem p = {0};
    const struct method *counting;
    char entry[64], name[16];
    snprintf(entry, sizeof entry, "ULPSCOPE_TEST=%ld", (long)getpid());
    putenv(entry);
    cr_assert(subject_named(&counting, "test",
                            "exec:i=0; while read line; do i=$((i + 1)); printf %08d $i; done",
                            NULL, &p) == STATUS_OK);
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "none %d", i);
        expect_sum(program(name, NULL), 10);
        cr_expect(run(counting, 0, &p) == STATUS_OK, "%s", p.text);
    }
    cr_expect(memcmp(out, "00000050", 8) == 0, "%.8s", (char *)out);
    expect_processes(entry, 64);
    expect_sum(program("none 0", NULL), 10);
    expect_processes(entry, 64);
    foreign_end(NULL);
    expect_processes(entry, 0);
}
