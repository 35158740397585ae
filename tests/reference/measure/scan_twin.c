/* What measure_scan says of an output beside others, and values worked out by hand. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "tests/support/flawed_scans.h"
#include "tests/support/generated.h"

static void same_measures(const struct scan_measure *a, const struct scan_measure *b)
{
    same_figure(a->err_abs, b->err_abs, "beside", "err_abs");
    same_figure(a->err_rel, b->err_rel, "beside", "err_rel");
    same_figure(a->err_ulp, b->err_ulp, "beside", "err_ulp");
    same_figure(a->err_backward, b->err_backward, "beside", "err_backward");
    same_figure(a->err_over_bound, b->err_over_bound, "beside", "err_over_bound");
    same_figure(a->err_ulp_rms, b->err_ulp_rms, "beside", "err_ulp_rms");
    same_figure(a->decreases, b->decreases, "beside", "decreases");
    for (int t = 0; t < SCAN_TWINS; t++) {
        const struct scan_difference *x = &a->difference[t], *y = &b->difference[t];
        same_figure(x->differing, y->differing, "beside", "differing");
        same_figure(x->mean_rel_diff, y->mean_rel_diff, "beside", "mean_rel_diff");
        cr_assert(x->first_diff == y->first_diff);
    }
    cr_assert(a->outcome == b->outcome && a->worst_index == b->worst_index &&
              a->broken == b->broken && a->first_broken == b->first_broken &&
              a->points == b->points);
    for (size_t k = 0; k < a->points; k++) {
        cr_assert(a->point[k].index == b->point[k].index);
        same_figure(a->point[k].err_abs, b->point[k].err_abs, "beside", "a point's err_abs");
    }
}

/* Neither threads nor outputs measured along with it change a bit. */
Test(scan_twin, alone_or_with_others)
{
    enum { N = 3 * LINE_MOST + 1000, OUTPUTS = 3 };
    static struct scan_measure alone, together[OUTPUTS];
    uint64_t seed = 551;
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        struct scan scan = {.in = generated(f % 2 ? "wide" : "uniform", f, N, 1, 0)};
        struct scan_output out[OUTPUTS];
        struct array twin = {FP32, N, malloc(N * sizeof(float))};
        scan_serially(&scan, FP32, FLAWLESS, &seed, &twin);
        for (int k = 0; k < OUTPUTS; k++) {
            out[k] = (struct scan_output){.out = {FP32, N, malloc(N * sizeof(float))},
                                          .accumulator = FP32,
                                          .bound = THEOREM_ANY_ORDER,
                                          .twin = {&twin, k ? &out[0].out : NULL}};
            scan_serially(&scan, FP32, (enum flaw)k, &seed, &out[k].out);
        }
        for (unsigned threads = 1; threads < 6; threads += 2) {
            cr_assert(measure_scan(together, out, OUTPUTS, &scan, threads, NULL) == STATUS_OK);
            for (int k = 0; k < OUTPUTS; k++) {
                cr_assert(measure_scan(&alone, &out[k], 1, &scan, 1, NULL) == STATUS_OK);
                same_measures(&alone, &together[k]);
            }
        }
        for (int k = 0; k < OUTPUTS; k++)
            free(out[k].out.data);
        free(twin.data);
        free(scan.in.data);
    }
}

/* Against rational means. */
static void expect_difference(const struct scan_difference *d, const struct array *out,
                              const struct array *twin, int round)
{
    enum format f = out->format;
    size_t n = out->n, differing = 0, compared = 0, first = n;
    bool beyond = false;
    mpfr_t sum, x;
    mpfr_inits2(3000, sum, x, (mpfr_ptr)0);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = format_canonical(f, array_bits(out, i));
        bool same = bits == format_canonical(f, array_bits(twin, i));
        double due = array_get(twin, i);
        first = !same && differing == 0 ? i : first;
        differing += !same;
        compared += same || (isfinite(due) && due != 0);
        if (same || !isfinite(due) || due == 0)
            continue;
        mpfr_set_d(x, array_get(out, i), MPFR_RNDN);
        mpfr_sub_d(x, x, due, MPFR_RNDN);
        mpfr_div_d(x, x, due, MPFR_RNDN);
        mpfr_abs(x, x, MPFR_RNDN);
        beyond |= isinf(mpfr_get_d(x, MPFR_RNDN));
        mpfr_add(sum, sum, x, MPFR_RNDN);
    }
    cr_assert(d->differing.known && d->differing.value == (double)differing / (double)n);
    cr_assert(d->first_diff == first, "round %d: %zu, not %zu", round, d->first_diff, first);
    cr_assert(d->mean_rel_diff.known == (compared > 0), "round %d", round);
    mpfr_div_ui(sum, sum, compared, MPFR_RNDN);
    double due = beyond && !mpfr_nan_p(sum) ? INFINITY : mpfr_get_d(sum, MPFR_RNDN),
           got = d->mean_rel_diff.value;
    cr_assert(!compared || same_double(got, due) || fabs(got - due) <= due * 0x1p-50,
              "round %d: mean %a, not %a", round, got, due);
    mpfr_clears(sum, x, (mpfr_ptr)0);
}

/* Twins of random likeness. */
Test(scan_twin, twins)
{
    static struct scan_measure m;
    uint64_t seed = 561;
    for (int round = 0; round < 120; round++) {
        enum format f = (enum format)(round % ACCUMULATORS);
        size_t n = 1 + sample_next(&seed) % 2500;
        struct array in = {f, n, malloc(8 * n)}, out = in, twin[SCAN_TWINS];
        out.data = malloc(8 * n);
        sample_fill(&in, SAMPLE_NEAR, f, sample_next(&seed));
        sample_fill(&out, round % SAMPLES, f, sample_next(&seed));
        struct scan_output o = {.out = out, .accumulator = f, .bound = THEOREM_ANY_ORDER};
        for (int t = 0; t < SCAN_TWINS; t++) {
            twin[t] = (struct array){f, n, malloc(8 * n)};
            for (size_t i = 0; i < n; i++) {
                uint64_t bits = array_bits(&out, i), draw = sample_next(&seed);
                bits = draw % 3 ? bits : draw % 5 ? bits ^ 3 : sample_next(&seed);
                array_set_bits(&twin[t], i, bits);
            }
            o.twin[t] = &twin[t];
        }
        struct scan scan = {.in = in};
        cr_assert(measure_scan(&m, &o, 1, &scan, 1, NULL) == STATUS_OK);
        for (int t = 0; t < SCAN_TWINS; t++) {
            expect_difference(&m.difference[t], &out, &twin[t], round);
            free(twin[t].data);
        }
        free(in.data);
        free(out.data);
    }
}

Test(scan_twin, by_hand)
{
    static struct scan_measure m;
    double in[] = {1, 2, 0, 3}, out[] = {1, 3, 2.5, NAN}, twin[] = {1, -0.0, 5, -NAN};
    uint8_t heads[] = {0, 0, 1, 0};
    struct array t = {FP64, 4, twin};
    struct scan s = {.in = {FP64, 4, in}};
    struct scan_output o = {
        .out = {FP64, 4, out}, .accumulator = FP64, .bound = THEOREM_ANY_ORDER, .twin = {&t}};
    cr_assert(measure_scan(&m, &o, 1, &s, 1, NULL) == STATUS_OK);
    cr_expect(m.outcome == OUTCOME_OVERFLOW, "a NaN where 6 is due");
    cr_expect(isnan(m.err_abs.value) && m.worst_index == 3 && isnan(m.err_ulp_rms.value));
    cr_expect(m.decreases.known && m.decreases.value == 2, "%g", m.decreases.value);
    cr_expect(m.difference[0].differing.value == 0.5 && m.difference[0].first_diff == 1);
    cr_expect(m.difference[0].mean_rel_diff.value == 0.5 / 3, "%a",
              m.difference[0].mean_rel_diff.value);
    cr_expect(m.broken == 2 && m.first_broken == 2 && m.points == 4, "2.5, and the NaN");
    cr_expect(m.err_over_bound.value == INFINITY && m.point[3].bound.value == 18 * 0x1p-53);
    s.heads = heads; /* 1, 3 | 0, 3 */
    out[3] = 3;
    cr_assert(measure_scan(&m, &o, 1, &s, 1, NULL) == STATUS_OK);
    cr_expect(m.decreases.value == 0 && m.worst_index == 2 && m.err_abs.value == 2.5);
    cr_expect(m.err_ulp.value == INFINITY, "in units of 2^-1074");
    cr_expect(m.err_rel.known && m.err_rel.value == 0, "the prefix 0 has none");
    in[3] = -3;
    cr_assert(measure_scan(&m, &o, 1, &s, 1, NULL) == STATUS_OK);
    cr_expect(!m.decreases.known && m.err_rel.value == 2 && m.err_backward.value == 2);
    o.twin[1] = o.twin[0];
    o.twin[0] = NULL;
    cr_assert(measure_scan(&m, &o, 1, &s, 1, NULL) == STATUS_OK);
    const struct scan_difference *d = m.difference;
    cr_expect(!d[0].differing.known && !d[0].mean_rel_diff.known && d[0].first_diff == 4);
    cr_expect(d[1].differing.value == 0.75 && d[1].first_diff == 1);
    s.in.n = o.out.n = 0;
    o.twin[1] = NULL;
    cr_assert(measure_scan(&m, &o, 1, &s, 1, NULL) == STATUS_OK);
    cr_expect(m.outcome == OUTCOME_OK && !m.err_abs.known && !m.err_ulp_rms.known);
    cr_expect(m.worst_index == 0 && m.points == 0 && m.broken == 0);
}

/* The difference of a largest number and its opposite is no double. */
Test(scan_twin, differences_beyond_the_range)
{
    static struct scan_measure m;
    const double most = format_facts[FP64].largest;
    double in[] = {1, 1, 1}, out[] = {1, most, -most}, twin[] = {1, -most, most};
    struct array t = {FP64, 3, twin};
    struct scan s = {.in = {FP64, 3, in}};
    struct scan_output o = {
        .out = {FP64, 3, out}, .accumulator = FP64, .bound = THEOREM_ANY_ORDER, .twin = {&t}};
    cr_assert(measure_scan(&m, &o, 1, &s, 1, NULL) == STATUS_OK);
    cr_expect(m.difference[0].mean_rel_diff.value == 4.0 / 3, "%a",
              m.difference[0].mean_rel_diff.value);
    out[1] = INFINITY;
    cr_assert(measure_scan(&m, &o, 1, &s, 1, NULL) == STATUS_OK);
    cr_expect(m.difference[0].mean_rel_diff.value == INFINITY, "%a",
              m.difference[0].mean_rel_diff.value);
}

Test(scan_twin, lengths_and_formats_must_agree)
{
    static struct scan_measure m;
    double x[4] = {0};
    struct array twin = {FP64, 3, x};
    struct scan s = {.in = {FP64, 4, x}};
    struct scan_output o = {.out = {FP64, 3, x}, .accumulator = FP64, .bound = THEOREM_ANY_ORDER};
    struct problem p = {0};
    cr_expect(measure_scan(&m, &o, 1, &s, 1, &p) == STATUS_USAGE && p.text[0]);
    o.out.n = 4;
    o.twin[0] = &twin;
    cr_expect(measure_scan(&m, &o, 1, &s, 1, NULL) == STATUS_USAGE);
    twin = (struct array){FP32, 4, x};
    cr_expect(measure_scan(&m, &o, 1, &s, 1, NULL) == STATUS_USAGE);
    o.twin[1] = o.twin[0];
    o.twin[0] = NULL;
    cr_expect(measure_scan(&m, &o, 1, &s, 1, NULL) == STATUS_USAGE, "the second, too");
    twin.format = FP64;
    cr_expect(measure_scan(&m, &o, 1, &s, 1, NULL) == STATUS_OK);
}
