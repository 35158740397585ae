/* Times and medians. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdbool.h>

#include "experiments/system/clock.h"
#include "experiments/runs/timing.h"

Test(timing, median_by_hand)
{
    static const struct {
        size_t n;
        double time[5], median;
    } row[] = {{1, {3}, 3},
               {2, {5, 1}, 3},
               {3, {9, 1, 2}, 2},
               {4, {4, 1, 3, 2}, 2.5},
               {5, {5, 5, 1, 1, 4}, 4}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        double time[5];
        memcpy(time, row[i].time, sizeof time);
        double median = clock_median(time, row[i].n);
        cr_expect(median == row[i].median, "row %zu: %g, expected %g", i, median, row[i].median);
    }
    cr_expect(isnan(clock_median(NULL, 0)));
}

Test(timing, clock_does_not_go_back)
{
    uint64_t last = clock_ns(), begin = last;
    while (last - begin < 2000000) {
        uint64_t now = clock_ns();
        cr_assert(now >= last, "%llu after %llu", (unsigned long long)now,
                  (unsigned long long)last);
        last = now;
    }
}

/* A deadline however far lies ahead. */
Test(timing, spans_do_not_overflow)
{
    static const double seconds[] = {0, 1e-9, 0.5, 1, 1e9, 1e10, 1e18, 1e300, INFINITY};
    uint64_t last = 0;
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        uint64_t span = clock_span(seconds[i]), now = clock_ns();
        cr_expect(span >= last && now + 2 * span >= now, "%g s: %llu ns", seconds[i],
                  (unsigned long long)span);
        last = span;
    }
    cr_expect_eq(clock_span(0.5), 500000000);
    cr_expect_eq(clock_span(1e9), UINT64_C(1000000000000000000));
}

/* Something that claims to take so long. Its first call takes as long as a warm-up, which therefore
 * has just one. */
struct fake {
    double run_ns;
    size_t calls, runs, fail_at;
};

static enum status fake_runs(void *context, size_t runs, double *time_ns, struct problem *p)
{
    struct fake *f = context;
    uint64_t begin = clock_ns();
    while (f->calls == 0 && clock_ns() - begin < 21000000)
        ;
    f->runs += runs;
    if (++f->calls == f->fail_at)
        return problem(p, STATUS_DEVICE, "gone");
    *time_ns = f->run_ns + (double)(f->calls % 3);
    return STATUS_OK;
}

static struct timing_subject subject_of(struct fake *f, size_t most_runs)
{
    return (struct timing_subject){.batch = fake_runs, .context = f, .most_runs = most_runs};
}

/* Short runs are gathered to a millisecond, long ones repeated less often, and both are said. */
Test(timing, repetitions_and_runs)
{
    static const struct {
        double run_ns;
        size_t most_runs, repeats, runs, repetitions;
    } row[] = {
        {1e7, 4096, 15, 1, 15}, {1e5, 4096, 15, 10, 15}, {100, 4096, 15, 4096, 15},
        {100, 64, 20, 64, 20},  {1e9, 4096, 15, 1, 3},   {1e11, 4096, 15, 1, 2},
        {1e7, 4096, 99, 1, 99}, {2e8, 4096, 100, 1, 15},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct fake f = {.run_ns = row[i].run_ns - 1};
        struct timing_subject s = subject_of(&f, row[i].most_runs);
        cr_expect(timing_measure(&s, 1, row[i].repeats, NULL) == STATUS_OK);
        struct timing t = s.time;
        /* The time wavers by 1 ns, and with it the last digit of both. */
        cr_expect(fabs((double)t.runs - (double)row[i].runs) <= 0.02 * (double)row[i].runs,
                  "row %zu: %zu runs, expected %zu", i, t.runs, row[i].runs);
        cr_expect(t.repetitions == row[i].repetitions || t.repetitions == row[i].repetitions - 1,
                  "row %zu: %zu repetitions, expected %zu", i, t.repetitions, row[i].repetitions);
        cr_expect(fabs(t.median_ns - row[i].run_ns) <= 1 && t.least_ns <= t.median_ns &&
                      t.least_ns >= row[i].run_ns - 1,
                  "row %zu: median %g, least %g", i, t.median_ns, t.least_ns);
    }
}

/* Says that a run takes nothing, and takes 5 ms to answer. */
static enum status idle_runs(void *context, size_t runs, double *time_ns, struct problem *p)
{
    size_t *asked = context;
    (void)p;
    *asked += runs;
    for (size_t i = 0; i < runs; i++) {
        uint64_t begin = clock_ns();
        cr_assert(*asked < 4096, "%zu runs", *asked);
        while (clock_ns() - begin < 5000000)
            ;
    }
    *time_ns = 1;
    return STATUS_OK;
}

/* `recommend` waited for hours for a subject that returned at once. */
Test(timing, asks_for_no_more_runs_than_there_is_time_for)
{
    size_t asked = 0;
    struct timing_subject s = {.batch = idle_runs, .context = &asked, .most_runs = 4096};
    uint64_t begin = clock_ns();
    cr_assert(timing_measure(&s, 1, 15, NULL) == STATUS_OK);
    cr_expect(s.time.repetitions == 15 && s.time.runs > 1 && clock_ns() - begin < 15000000000,
              "%zu repetitions of %zu runs", s.time.repetitions, s.time.runs);
}

/* A machine that all share, and that becomes slower with each call: what takes its turn. */
static struct {
    char log[400];
    size_t calls;
} machine;

struct shared {
    char name;
    double run_ns;
    bool warm;
};

static enum status shared_runs(void *context, size_t runs, double *time_ns, struct problem *p)
{
    struct shared *s = context;
    uint64_t begin = clock_ns();
    (void)p;
    while (!s->warm && clock_ns() - begin < 21000000)
        ;
    s->warm = true;
    cr_assert(machine.calls < sizeof machine.log - 1);
    machine.log[machine.calls++] = (char)(runs > 1 ? s->name - 'a' + 'A' : s->name);
    *time_ns = s->run_ns * (1 + (double)machine.calls / 40);
    return STATUS_OK;
}

/* Of those that share a machine each has its turn before any has the next, what takes long less
 * often. A short run is preceded by one that is not timed. */
Test(timing, all_in_turn)
{
    struct shared a = {'a', 1e5, false}, b = {'b', 4e6, false}, c = {'c', 9e8, false};
    /* Of `a` few runs are a repetition, lest a machine that stalls in its warm-up makes them too
     * long. */
    struct timing_subject s[] = {{.batch = shared_runs, .context = &a, .most_runs = 4},
                                 {.batch = shared_runs, .context = &b, .most_runs = 100},
                                 {.batch = shared_runs, .context = &c, .most_runs = 100}};
    cr_assert(timing_measure(s, 3, 15, NULL) == STATUS_OK);
    cr_expect_str_eq(machine.log, "abc"
                                  "aAbbaAbbaAbbaAbbaAbbc"
                                  "aAbbaAbbaAbbaAbbaAbbc"
                                  "aAbbaAbbaAbbaAbbaAbbc");
    cr_expect(s[0].time.repetitions == 15 && s[1].time.repetitions == 15 &&
              s[2].time.repetitions == 3);
    /* Medians grow with the drift, their ratio does not. */
    double ratio = s[1].time.median_ns / s[0].time.median_ns;
    cr_expect(s[0].time.median_ns > 1.5e5 && fabs(ratio - 40) < 2, "%g, ratio %g",
              s[0].time.median_ns, ratio);
}

/* What fails in its warm-up or later has no figure; the others lose nothing. */
Test(timing, failures_leave_the_others)
{
    for (size_t fail_at = 1; fail_at < 40; fail_at += 9) {
        struct fake f[] = {{.run_ns = 5e6}, {.run_ns = 5e7, .fail_at = fail_at}, {.run_ns = 5e5}};
        struct timing_subject s[] = {subject_of(&f[0], 9), subject_of(&f[1], 9),
                                     subject_of(&f[2], 9)};
        cr_expect(timing_measure(s, 3, 15, NULL) == STATUS_OK);
        bool failed = fail_at <= 16; /* one call warms up, 15 are repetitions */
        cr_expect(s[1].problem.status == (failed ? STATUS_DEVICE : STATUS_OK) &&
                      s[1].time.repetitions == (failed ? 0 : 15),
                  "at %zu: %d, %zu repetitions", fail_at, (int)s[1].problem.status,
                  s[1].time.repetitions);
        cr_expect(f[1].calls == (failed ? fail_at : 16), "at %zu: %zu calls", fail_at, f[1].calls);
        for (size_t i = 0; i < 3; i += 2)
            cr_expect(s[i].problem.status == STATUS_OK && s[i].time.repetitions == 15,
                      "at %zu: subject %zu: %zu repetitions", fail_at, i, s[i].time.repetitions);
    }
}

/* The tail of the binomial distribution, by adding it up: at most 2.5% on either side, and more one
 * further in. */
Test(timing, bounds_of_the_median)
{
    static const size_t known[][2] = {{6, 0}, {8, 0}, {9, 1}, {15, 3}, {20, 5}, {100, 39}};
    size_t i;
    for (size_t count = 0; count < 6; count++)
        cr_expect(!timing_bounds(&i, count), "%zu", count);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        cr_expect(timing_bounds(&i, known[k][0]));
        cr_expect_eq(i, known[k][1], "of %zu values %zu, not %zu", known[k][0], i, known[k][1]);
    }
    for (size_t count = 6; count < 60; count++) {
        double chosen = 1, tail = 0;
        cr_assert(timing_bounds(&i, count));
        for (size_t k = 0; k <= i + 1; k++) {
            if (k == i + 1)
                cr_expect(tail <= 0.025, "%zu of %zu: %g", i, count, tail);
            tail += ldexp(chosen, -(int)count);
            chosen = chosen * (double)(count - k) / (double)(k + 1);
        }
        cr_expect(tail > 0.025, "%zu of %zu: %g", i, count, tail);
    }
}
