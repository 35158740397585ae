/* `check`: every kind of attempt refutes a method that lies about it; methods that keep what they
 * promise are found to. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "experiments/check/attempts.h"
#include "experiments/check/recorded.h"
#include "experiments/subjects/foreign.h"
#include "experiments/system/machine.h"
#include "experiments/subjects/subject.h"
#include "tests/support/check_found.h"

/* --- methods that are not what they say --- */

static double element(const struct task *t, size_t i)
{
    return format_round(t->out.format, array_get(&t->of->in, i));
}

/* From left to right, `ahead` elements apart first. */
static double sum_from(const struct task *t, size_t ahead)
{
    enum format f = t->out.format;
    double head = -0.0, sum = -0.0;
    for (size_t i = 0; i < t->of->in.n; i++) {
        double *to = i < ahead ? &head : &sum;
        *to = format_add(f, *to, element(t, i));
    }
    return ahead ? format_add(f, head, sum) : sum;
}

static enum status give(const struct task *t, double sum)
{
    array_encode(&t->out, 0, 1, &sum);
    return STATUS_OK;
}

/* Every 50th time something else. */
static enum status forgets(const struct task *t, struct problem *p)
{
    static unsigned runs;
    (void)p;
    return give(t, sum_from(t, ++runs % 50 == 0 ? t->of->in.n / 2 : 0));
}

static enum status minds_company(const struct task *t, struct problem *p)
{
    static int alone;
    struct dirent **thread;
    int threads = scandir("/proc/self/task", &thread, NULL, NULL);
    for (int i = 0; i < threads; i++)
        free(thread[i]);
    free(thread);
    (void)p;
    alone = alone ? alone : threads;
    return give(t, sum_from(t, threads > alone ? t->of->in.n / 2 : 0));
}

/* As whoever reads vectors does who first goes to where they begin. */
static enum status peels(const struct task *t, struct problem *p)
{
    size_t width = (size_t)format_facts[t->of->in.format].bytes;
    size_t ahead = (32 - (uintptr_t)t->of->in.data % 32) % 32 / width;
    (void)p;
    return give(t, sum_from(t, ahead < t->of->in.n ? ahead : 0));
}

/* Four at a time, whatever there is behind the last. */
static enum status reads_on(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task more = *t;
    more.of = &of;
    of.in.n = (t->of->in.n + 3) / 4 * 4;
    (void)p;
    return give(t, sum_from(&more, 0));
}

/* Its first element, or the one before. */
static enum status reads_before(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task more = *t;
    more.of = &of;
    (void)p;
    of.in.data = (char *)t->of->in.data - format_facts[t->of->in.format].bytes;
    of.in.n++;
    return give(t, sum_from(&more, 0));
}

static enum status honest(const struct task *t, struct problem *p)
{
    (void)p;
    return give(t, sum_from(t, 0));
}

static const struct method base = {.name = "sum/liar",
                                   .summary = "says what is not so",
                                   .operation = &operation_sum,
                                   .promise = PROMISE_GPU_TO_GPU,
                                   .pairs = {[DEVICE_CPU] = FORMAT_PAIRS_ALL},
                                   .bound = THEOREM_ANY_ORDER,
                                   .cpu = honest};

static struct method liar(enum status (*cpu)(const struct task *t, struct problem *p))
{
    struct method m = base;
    m.cpu = cpu;
    return m;
}

Test(check, refutes_run_to_run)
{
    tick_ns = 100000; /* what is rare takes many cases */
    struct method forgetful = liar(forgets), social = liar(minds_company);
    struct check_request r = request_for(&forgetful, 0.5);
    struct check_report report = checked(&r);
    cr_expect(report.tried[CHECK_REPEAT].broken && report.kept == PROMISE_NONE);
    expect_witness(&report, CHECK_REPEAT, 2049);
    expect_found(&social, CHECK_LOAD, 16);
}

Test(check, refutes_gpu_to_gpu)
{
    struct method peeling = liar(peels), greedy = liar(reads_on), backward = liar(reads_before),
                  shaped = claims("sum/two_kernel", PROMISE_GPU_TO_GPU),
                  scan = claims("scan/three_kernel", PROMISE_GPU_TO_GPU),
                  dot = claims("dot/two_kernel", PROMISE_GPU_TO_GPU);
    expect_found(&shaped, CHECK_SHAPE, 16);
    expect_found(&scan, CHECK_SHAPE, 2049);
    expect_found(&dot, CHECK_SHAPE, 16);
    expect_found(&peeling, CHECK_OFFSET, 16);
    expect_found(&greedy, CHECK_NEIGHBOUR, 3);
    expect_found(&backward, CHECK_NEIGHBOUR, 3);
}

Test(check, refutes_order_invariant)
{
    static const char *const names[] = {"sum/serial",  "sum/tiled",  "sum/sum2",
                                        "scan/serial", "scan/tiled", "dot/tiled"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct method m = claims(names[i], PROMISE_ORDER_INVARIANT);
        expect_found(&m, CHECK_PERMUTATION, i == 2 ? 2049 : 64);
    }
}

Test(check, refutes_correctly_rounded)
{
    static const char *const names[] = {"sum/sumk5",       "sum/binned4",      "sum/widened",
                                        "sum/double_word", "scan/compensated", "dot/compensated"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct method m = claims(names[i], PROMISE_CORRECTLY_ROUNDED);
        struct check_request r = request_for(&m, 1);
        for (size_t kind = 0; kind < CHECK_EXACT; kind++)
            r.tried[kind] = false;
        struct check_report report = checked(&r);
        cr_expect(report.tried[CHECK_EXACT].broken > 0, "%s", names[i]);
        cr_expect(check_broken(&report), "%s", names[i]);
        expect_witness(&report, CHECK_EXACT, 2049);
    }
}

/* What is no promise is no lie. */
Test(check, a_rung_above_the_promise_may_break)
{
    struct method m = base;
    struct check_request r = request_for(&m, 0.5);
    struct check_report report = checked(&r);
    cr_expect(report.kept == PROMISE_GPU_TO_GPU, "%s", promise_name[report.kept]);
    cr_expect(report.tried[CHECK_PERMUTATION].broken && report.tried[CHECK_EXACT].broken);
    cr_expect(!check_broken(&report));
    r.promise = PROMISE_ORDER_INVARIANT;
    report = checked(&r);
    cr_expect(check_broken(&report));
}

/* Of the methods that are asked for, the same rows as where all are read. */
Test(check, reads_what_was_recorded_of_some_methods)
{
    struct problem p = {0};
    struct check_recorded *all, *some;
    const struct method *const asked[] = {method_named("sum/tiled"), method_named("scan/tiled")};
    cr_assert(check_recorded_read(&all, build_recorded, NULL, 0, &p) == STATUS_OK, "%s", p.text);
    cr_assert(check_recorded_read(&some, build_recorded, asked, 2, &p) == STATUS_OK, "%s", p.text);
    size_t at = 0, others = 0;
    for (size_t i = 0; i < all->rows; i++) {
        const struct check_recorded_row *row = &all->row[i];
        if (strcmp(row->method, asked[0]->name) != 0 && strcmp(row->method, asked[1]->name) != 0) {
            others++;
            continue;
        }
        cr_assert(at < some->rows, "only %zu rows", at);
        const struct check_recorded_row *same = &some->row[at++];
        cr_assert(strcmp(row->method, same->method) == 0 && row->at.n == same->at.n &&
                      strcmp(row->folder, same->folder) == 0 &&
                      memcmp(&row->digest, &same->digest, sizeof row->digest) == 0,
                  "row %zu of %s", at, row->folder);
    }
    cr_expect(at == some->rows && at > 100 && others > 100, "%zu of %zu rows, %zu others", at,
              some->rows, others);
    check_recorded_free(all);
    check_recorded_free(some);
}

/* A method whose order is another one than when it was recorded. */
Test(check, holds_methods_to_what_was_recorded)
{
    struct problem p = {0};
    struct check_recorded *recorded;
    cr_assert(check_recorded_read(&recorded, build_recorded, NULL, 0, &p) == STATUS_OK, "%s",
              p.text);
    static const char *const names[][2] = {{"sum/tiled", "sum/tiled"},
                                           {"sum/two_kernel", "sum/two_kernel"},
                                           {"scan/tiled", "scan/tiled"},
                                           {"sum/tiled", "sum/pairwise"},
                                           {"scan/tiled", "scan/blelloch"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct method m = *method_named(names[i][1]);
        m.name = names[i][0];
        struct check_request r = request_for(&m, 0.1);
        for (size_t kind = 0; kind < CHECK_KINDS; kind++)
            r.tried[kind] = kind == CHECK_RECORDED;
        r.n.count = 0;
        r.recorded = recorded;
        struct check_report report = checked(&r);
        cr_expect(report.tried[CHECK_RECORDED].attempts > 20, "%s: %llu rows", names[i][1],
                  (unsigned long long)report.tried[CHECK_RECORDED].attempts);
        cr_expect((report.tried[CHECK_RECORDED].broken > 0) == (names[i][0] != names[i][1]),
                  "%s as %s", names[i][1], names[i][0]);
    }
    check_recorded_free(recorded);
    cr_expect(check_recorded_read(&recorded, "/nowhere", NULL, 0, &p) == STATUS_DATA);
}

/* --- those that are what they say --- */

/* Is there more than one launch shape for arrays as short as these? The same again is no attempt.
 */
static bool has_shapes(const struct method *m)
{
    bool has = false;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct shape own = method_shape(m, DEVICE_CPU, lengths[i], (struct shape){0, 0});
        for (unsigned count = 1; count < 9; count++) {
            struct shape other = method_shape(m, DEVICE_CPU, lengths[i], (struct shape){count, 0});
            has |= other.threads != own.threads || m->shape_read[DEVICE_CPU] & SHAPE_BLOCKS;
        }
    }
    return has;
}

/* Rows are what CHECK_BATCH is of; what moves elements has neither order nor sum; `serve` has no
 * words for masks. */
static bool has_sense(const struct method *m, enum check_kind kind)
{
    const struct operation *o = m->operation;
    bool moves = (o->matrix || o->mask) && o != &operation_rows && !o->of_rows;
    switch (kind) {
    case CHECK_BATCH:
        return o == &operation_rows || o->of_rows || o->matrices || o->ranks;
    case CHECK_PLACE:
    case CHECK_OTHERS:
    case CHECK_LAYOUT:
        return o == &operation_rows || o->of_rows || o->matrices;
    case CHECK_PERMUTATION:
    case CHECK_EXACT:
        return !moves;
    case CHECK_PROCESS:
        return !o->mask && !o->ranks;
    case CHECK_ENVIRONMENT: /* of subjects that are not ours */
        return false;
    case CHECK_REPEAT:
    case CHECK_LOAD:
    case CHECK_AFTER:
    case CHECK_SHAPE:
    case CHECK_OFFSET:
    case CHECK_NEIGHBOUR:
    case CHECK_DEVICE:
    case CHECK_RECORDED:
    case CHECK_KINDS:
        break;
    }
    return true;
}

Test(check, finds_promises_of_the_registry_kept)
{
    tick_ns = 1000000; /* fewer cases of each */
    foreign_server(ULPSCOPE_PROGRAM);
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (!m->cpu)
            continue;
        struct check_request r = request_for(m, 0.2);
        static uint64_t one[] = {2049};
        r.n = (struct numbers){1, one}; /* there is no time for more, which would be missed */
        r.runs = 11;                    /* ten repetitions, and as many processes */
        struct check_report report = checked(&r);
        cr_expect(!check_broken(&report) && report.kept >= m->promise, "%s keeps %s", m->name,
                  promise_name[report.kept]);
        for (size_t kind = 0; kind < CHECK_KINDS; kind++) {
            /* Other chips are devices of a model. */
            bool none = (kind == CHECK_DEVICE && !m->of_chip) || kind == CHECK_RECORDED ||
                        !has_sense(m, kind) || (kind == CHECK_SHAPE && !has_shapes(m));
            cr_expect((report.tried[kind].attempts == 0) == none || gpu_count(false) > 0,
                      "%s: %s: %llu attempts", m->name, check_kinds[kind].name,
                      (unsigned long long)report.tried[kind].attempts);
        }
    }
    foreign_end(NULL);
}

/* A program that adds its process' number in: the same in one process. */
Test(check, asks_fresh_processes)
{
    const struct method *m;
    struct problem p = {0};
    const char *const flaws[] = {"", "process"};
    for (size_t i = 0; i < 2; i++) {
        char name[400];
        snprintf(name, sizeof name, "exec:%s %s", FLAWED_PROGRAM, flaws[i]);
        cr_assert(subject_named(&m, "test", name, NULL, &p) == STATUS_OK, "%s", p.text);
        struct check_request r = request_for(m, 1);
        struct check_report report = checked(&r);
        cr_expect((report.tried[CHECK_PROCESS].broken > 0) == (i == 1), "%s", name);
        cr_expect(report.tried[CHECK_REPEAT].attempts > 0 && !report.tried[CHECK_REPEAT].broken);
        cr_expect(report.left_out.count == FORMATS * ACCUMULATORS - 1, "%zu pairs left out",
                  report.left_out.count);
        cr_expect(report.tried[CHECK_OFFSET].attempts == 0);
        cr_expect(report.kept == (i == 1 ? PROMISE_NONE : PROMISE_RUN_TO_RUN), "%s keeps %s", name,
                  promise_name[report.kept]);
    }
    foreign_end(NULL);
}

/* A program that has other results once it was asked for two lengths; that other lengths are asked
 * for where one is named; and of ours, that the case at hand is the same again after them. */
Test(check, runs_other_lengths_in_between)
{
    static uint64_t one[] = {1000};
    const struct method *m;
    struct problem p = {0};
    char name[400];
    foreign_server(ULPSCOPE_PROGRAM);
    snprintf(name, sizeof name, "exec:%s lengths", FLAWED_PROGRAM);
    cr_assert(subject_named(&m, "test", name, NULL, &p) == STATUS_OK, "%s", p.text);
    for (size_t i = 0; i < 2; i++) {
        struct check_request r = request_for(i ? method_named("sum/tiled") : m, 1);
        r.n = (struct numbers){1, one};
        struct check_report report = checked(&r);
        const struct check_tried *after = &report.tried[CHECK_AFTER];
        cr_expect(after->attempts > 0 && (after->broken > 0) == (i == 0),
                  "%llu attempts, %zu broken", (unsigned long long)after->attempts, after->broken);
        cr_expect(report.tried[CHECK_REPEAT].attempts > 0 && !report.tried[CHECK_REPEAT].broken &&
                  !report.tried[CHECK_PROCESS].broken);
        if (i > 0)
            continue;
        const struct check_break *b = &after->witness;
        cr_expect(b->at.n <= 1000 && strcmp(b->is[0], "first in a process") == 0 &&
                      strncmp(b->is[1], "after a run on ", 15) == 0,
                  "%zu elements: %s, %s", b->at.n, b->is[0], b->is[1]);
        cr_expect_eq(report.kept, PROMISE_NONE);
    }
    foreign_end(NULL);
}

/* A program that adds in how many threads its environment asks for, or how many processors it may
 * use: the same in each process. */
Test(check, asks_other_environments)
{
    const struct method *m;
    struct problem p = {0};
    const char *const flaws[] = {"", "environment", "processors"}, *const told[] = {
                                                                       "", "OMP_NUM_THREADS=",
                                                                       "held to one processor"};
    for (size_t i = 0; i < (machine_processors() > 1 ? 3 : 2); i++) {
        char name[400];
        snprintf(name, sizeof name, "exec:%s %s", FLAWED_PROGRAM, flaws[i]);
        cr_assert(subject_named(&m, "test", name, NULL, &p) == STATUS_OK, "%s", p.text);
        struct check_request r = request_for(m, 2);
        r.pairs = (struct pairs){{{FP64, FP64}}, 1};
        struct check_report report = checked(&r);
        const struct check_tried *is = &report.tried[CHECK_ENVIRONMENT];
        cr_expect_geq(is->attempts, 4, "%zu attempts", (size_t)is->attempts);
        cr_expect((is->broken > 0) == (i > 0), "%s", name);
        cr_expect_eq(report.tried[CHECK_PROCESS].broken, 0);
        cr_expect_geq(check_rung(&report, PROMISE_GPU_TO_GPU).shapes, 4);
        if (i > 0)
            cr_expect(strstr(is->witness.is[1], told[i]), "%s", is->witness.is[1]);
    }
    foreign_end(NULL);
}

/* What cannot run on one processor is not asked for that: its environment is another. */
Test(check, needs_no_subject_that_runs_on_one_processor)
{
    const struct method *m;
    struct problem p = {0};
    cr_assert(subject_named(&m, "test", "exec:" FLAWED_PROGRAM " 'never alone'", NULL, &p) ==
                  STATUS_OK,
              "%s", p.text);
    struct check_request r = request_for(m, 2);
    r.pairs = (struct pairs){{{FP64, FP64}}, 1};
    struct check_report report = checked(&r);
    cr_expect(report.failure.status == STATUS_OK, "%s", report.failure.text);
    cr_expect_geq(report.tried[CHECK_ENVIRONMENT].attempts, 4);
    cr_expect_eq(report.tried[CHECK_ENVIRONMENT].broken, 0);
    foreign_end(NULL);
}

/* What a subject fails with ends its check, and stands there. */
Test(check, says_what_a_subject_fails_with)
{
    char name[400];
    const struct method *m;
    struct problem p = {0};
    struct check_report report;
    snprintf(name, sizeof name, "exec:%s exit", FLAWED_PROGRAM);
    cr_assert(subject_named(&m, "test", name, NULL, &p) == STATUS_OK, "%s", p.text);
    struct check_request r = request_for(m, 1);
    lengths[1] = 13; /* where it comes out */
    cr_assert(check_subject(&report, &r, &p) == STATUS_OK, "%s", p.text);
    cr_expect(report.failure.status == STATUS_DATA, "%s", report.failure.text);
    cr_expect(report.failed == CHECK_REPEAT && report.kept == PROMISE_NONE);
    cr_expect(strstr(report.failure.text, "exit status 3"), "%s", report.failure.text);
    foreign_end(NULL);
}

Test(check, refuses_what_the_device_does_not_run)
{
    struct problem p = {0};
    struct check_report report;
    struct check_request r = request_for(method_named("cub/sum"), 1);
    cr_expect(check_subject(&report, &r, &p) == STATUS_DEVICE);
    cr_expect(strstr(p.text, "cub/sum does not run on cpu"), "%s", p.text);
}

Test(check, knows_what_attempts_are_worth)
{
    struct check_report r = {.request.method = method_named("sum/tiled")};
    r.tried[CHECK_REPEAT].attempts = 50;
    r.tried[CHECK_LOAD].attempts = 49;
    double p = check_rung(&r, PROMISE_RUN_TO_RUN).unseen_p95;
    cr_expect(fabs(pow(1 - p, 99) - 0.05) < 1e-12, "%g", p);
    cr_expect(check_rung(&r, PROMISE_GPU_TO_GPU).unseen_p95 == 1);
}
