/* Times and medians. */
#include <criterion/criterion.h>

#include <math.h>

#include "experiments/clock.h"
#include "experiments/timing.h"

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

/* Something that claims to take so long. */
struct fake {
    double run_ns;
    size_t calls, runs, fail_at;
};

static enum status fake_runs(void *context, size_t runs, double *time_ns, struct problem *p)
{
    struct fake *f = context;
    f->runs += runs;
    if (++f->calls == f->fail_at)
        return problem(p, STATUS_DEVICE, "gone");
    *time_ns = f->run_ns + (double)(f->calls % 3);
    return STATUS_OK;
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
        struct timing t;
        struct fake f = {.run_ns = row[i].run_ns - 1};
        enum status status =
            timing_measure(&t, fake_runs, &f, row[i].most_runs, row[i].repeats, NULL);
        cr_expect(status == STATUS_OK);
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

Test(timing, failures_are_passed_on)
{
    for (size_t fail_at = 1; fail_at < 20; fail_at += 9) {
        struct timing t;
        struct problem p = {0};
        struct fake f = {.run_ns = 5e7, .fail_at = fail_at};
        timing_measure(&t, fake_runs, &f, 1, 15, &p);
        enum status expected = fail_at <= f.calls ? STATUS_DEVICE : STATUS_OK;
        cr_expect(p.status == expected && (t.repetitions == 0) == (expected != STATUS_OK),
                  "at %zu of %zu: %d, %zu repetitions", fail_at, f.calls, (int)p.status,
                  t.repetitions);
    }
}
