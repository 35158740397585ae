/* What measure_scan picks items by: estimates against figures, and figures from doubles against
 * those from exact numbers. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "reference/exact/mpfr.h"
#include "reference/measure/scan_part.h"
#include "tests/support/flawed_scans.h"

enum { N = SCAN_BLOCK };

struct items {
    struct scan scan;
    struct scan_output out;
    struct scan_block block;
    struct prefix_pairs pairs;
    double terms[N], words[4][N], x[N], y[N];
};

static void make_items(struct items *s, size_t n, uint64_t *seed)
{
    uint64_t draw = sample_next(seed);
    enum format accumulator = draw % ACCUMULATORS;
    s->scan = (struct scan){.in = {(draw >> 8) % ACCUMULATORS, n, s->x}};
    s->out = (struct scan_output){.out = {(draw >> 16) % ACCUMULATORS, n, s->y},
                                  .accumulator = accumulator,
                                  .bound = scan_bound[(draw >> 24) % SCAN_BOUNDS]};
    sample_fill(&s->scan.in, (enum sample)((draw >> 32) % SAMPLE_BITS), accumulator,
                sample_next(seed));
    scan_serially(&s->scan, accumulator, (enum flaw)((draw >> 40) % FLAWS), seed, &s->out.out);
    s->pairs = (struct prefix_pairs){s->words[0], s->words[1], s->words[2], s->words[3]};
    struct exact none;
    struct prefix stream;
    struct scan_block *b = &s->block;
    exact_init(&none);
    prefix_begin(&stream, &none);
    b->count = n;
    b->exact = prefix_next(&stream, &s->scan.in, NULL, 0, n, &s->pairs);
    b->hi = s->words[0];
    b->lo = s->words[1];
    b->abs_hi = s->words[2];
    b->abs_lo = s->words[3];
    b->terms = s->terms;
    array_decode(&s->out.out, 0, n, b->result);
    for (size_t i = 0; i < n; i++) {
        s->terms[i] = (double)(i + 1);
        b->height[i] = (double)(sample_next(seed) % (i + 1));
    }
}

static void measure_one(struct measure *m, const struct items *s, struct exact *sum, size_t i)
{
    struct reference r = {.n = i + 1};
    struct theorem t = {.kind = s->out.bound, .height = (size_t)s->block.height[i]};
    mpfr_inits2(53, r.sum, r.sum_abs, (mpfr_ptr)0);
    exact_add(sum, array_get(&s->scan.in, i));
    exact_get(r.sum, sum);
    exact_get_abs(r.sum_abs, sum);
    measure_output(m, &r, s->scan.in.format, s->out.accumulator, s->out.out.format,
                   s->block.result[i], &t);
    mpfr_clears(r.sum, r.sum_abs, (mpfr_ptr)0);
}

/* Within 2^-48, relatively, or 2^-1073. */
static void expect_near(double estimate, struct figure due, int k, size_t i)
{
    if (!due.known) {
        cr_assert(isnan(estimate), "figure %d of item %zu: %a, not known", k, i, estimate);
        return;
    }
    double off = fabs(estimate - due.value);
    cr_assert(estimate == due.value || off <= due.value * 0x1p-48 || off <= 0x1p-1073,
              "figure %d of item %zu: %a, not %a", k, i, estimate, due.value);
}

static struct scan_rules rules_of(const struct items *s)
{
    struct scan_part part;
    struct prefix_share share = {0};
    scan_part_begin(&part, &s->scan, &s->out, &share, 0);
    scan_part_free(&part);
    return part.rules;
}

Test(scan_estimate, estimates_and_figures_of_items)
{
    static struct items s;
    uint64_t seed = 571;
    size_t found = 0, all = 0;
    for (int round = 0; round < 4000; round++) {
        make_items(&s, 1 + sample_next(&seed) % (round % 8 ? 60 : 500), &seed);
        struct scan_rules rules = rules_of(&s);
        struct scan_block *b = &s.block;
        double most[SCAN_FIGURES] = {-1, -1, -1, -1, -1};
        struct exact sum;
        exact_init(&sum);
        scan_block_estimate(b, &rules);
        for (size_t i = 0; i < b->count; i++) {
            struct measure m;
            struct scan_figures f;
            struct scan_item item = {b->result[i],
                                     b->hi[i],
                                     b->lo[i],
                                     0,
                                     b->exact ? 0 : fabs(b->lo[i]) * 0x1p-52,
                                     b->abs_hi[i],
                                     b->abs_lo[i],
                                     b->terms[i],
                                     b->height[i]};
            measure_one(&m, &s, &sum, i);
            cr_assert(isnan(b->estimate[SCAN_ABS][i]) == !isfinite(b->result[i]), "odd");
            if (!isfinite(b->result[i]))
                continue;
            const struct figure due[] = {m.err_abs, m.err_rel, m.err_ulp, m.err_backward,
                                         m.err_over_bound};
            bool sure = scan_figures_find(&f, &rules, &item);
            for (int k = 0; k < SCAN_FIGURES; k++) {
                if (k == SCAN_OVER_BOUND && b->loose && !sure)
                    cr_assert(!(b->estimate[k][i] < value_of(due[k]) * (1 - 0x1p-48)));
                else
                    expect_near(b->estimate[k][i], due[k], k, i);
                most[k] = fmax(most[k], b->estimate[k][i]);
                cr_assert(!sure || same_double(f.value[k], value_of(due[k])),
                          "round %d: figure %d of item %zu is %a, not %a", round, k, i, f.value[k],
                          value_of(due[k]));
            }
            cr_assert(!sure || f.broken == m.broken);
            found += sure;
            all++;
        }
        for (int k = 0; k < SCAN_FIGURES; k++)
            cr_assert(same_double(most[k], b->most[k]));
    }
    cr_assert(found > all / 2, "%zu of %zu found from doubles", found, all);
}
