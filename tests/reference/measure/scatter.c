/* Scatter-adds measured: every figure is that of measure(), bin by bin, from MPFR's exact sums. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/measure/by_bin_check.h"
#include "reference/measure/scan.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"
#include "tests/support/scatters.h"

enum { N = 900, BINS = 5000 };

struct fixture {
    double x[N], out[BINS], twin[BINS];
    uint32_t key[N];
    struct array in, result, beside;
    enum format accumulator;
    size_t bins;
    struct by_bin by;
    struct scan_output output;
};

static size_t height(const void *context, size_t bin)
{
    const struct fixture *f = context;
    cr_assert(by_bin_count(&f->by, bin) > 0, "the height of nothing");
    return by_bin_count(&f->by, bin) - 1;
}

/* Left to right, with some results that are off, and a twin that differs in others. */
static void make(struct fixture *f, size_t k)
{
    static const size_t bins[] = {1, 3, 1024, BINS};
    static const enum theorem_kind bounds[] = {
        THEOREM_TREE, THEOREM_ANY_ORDER, THEOREM_CORRECTLY_ROUNDED, THEOREM_BINNED, THEOREM_NONE};
    uint64_t seed = k;
    size_t bound = (k + k / 12) % 5;
    f->bins = bins[k % 4];
    f->in = (struct array){(enum format)(k / 4 % 4), k % 7 ? N : 0, f->x};
    f->accumulator = (enum format)(k % 3 + 1);
    f->result = (struct array){f->accumulator, f->bins, f->out};
    f->beside = (struct array){f->accumulator, f->bins, f->twin};
    sample_fill(&f->in, (enum sample)(k % SAMPLES), f->accumulator, k);
    scatter_keys_fill(f->key, f->in.n, f->bins, (enum scatter_keys)(k / 3 % SCATTER_KEYS), k);
    cr_assert(by_bin_make(&f->by, f->key, f->in.n, f->bins, NULL) == STATUS_OK);
    for (size_t b = 0; b < f->bins; b++) {
        double sum = 0;
        for (size_t i = f->by.start[b]; i < f->by.start[b + 1]; i++)
            sum = format_add(f->accumulator, sum,
                             format_round(f->accumulator, array_get(&f->in, f->by.element[i])));
        array_encode(&f->beside, b, 1, &sum);
        if (sample_next(&seed) % 8 == 0)
            sum = format_next_up(f->accumulator, sum * (1 + 0x1p-6));
        array_encode(&f->result, b, 1, &sum);
    }
    f->output = (struct scan_output){.out = f->result,
                                     .accumulator = f->accumulator,
                                     .bound = bounds[bound],
                                     .folds = 1 + k % 2,
                                     .height = height,
                                     .context = f,
                                     .twin = {&f->beside, NULL},
                                     .flushes = bound < 2 && k % 5 == 1};
}

struct due {
    struct figure abs, rel, ulp, backward, over;
    size_t worst, broken, first_broken, differing, first_diff;
    bool overflow, nan;
};

static bool raise(struct figure *most, struct figure f)
{
    bool more = f.known &&
                (!most->known || f.value > most->value || (isnan(f.value) && !isnan(most->value)));
    if (more)
        *most = f;
    return more;
}

static void take_bin(struct due *d, const struct fixture *f, size_t bin)
{
    struct reference r = {.n = by_bin_count(&f->by, bin)};
    struct theorem t = {.kind = f->output.bound,
                        .height = r.n ? r.n - 1 : 0,
                        .folds = f->output.folds,
                        .flushing = f->output.flushes ? r.n : 0};
    double x[N];
    struct measure m;
    struct array own = {FP64, r.n, x};
    for (size_t i = 0; i < r.n; i++)
        x[i] = array_get(&f->in, f->by.element[f->by.start[bin] + i]);
    for (size_t i = 0; i < r.n; i++)
        r.largest = isfinite(x[i]) ? fmax(r.largest, fabs(x[i])) : r.largest;
    mpfr_inits2(53, r.sum, r.sum_abs, (mpfr_ptr)0);
    oracle_sum(r.sum, &own, false);
    oracle_sum(r.sum_abs, &own, true);
    measure(&m, &r, f->in.format, f->accumulator, array_get(&f->result, bin), &t);
    mpfr_clears(r.sum, r.sum_abs, (mpfr_ptr)0);
    raise(&d->abs, m.err_abs);
    raise(&d->rel, m.err_rel);
    raise(&d->backward, m.err_backward);
    raise(&d->over, m.err_over_bound);
    if (raise(&d->ulp, m.err_ulp))
        d->worst = bin;
    if (m.broken && d->broken++ == 0)
        d->first_broken = bin;
    if (format_canonical(f->accumulator, array_bits(&f->result, bin)) !=
            format_canonical(f->accumulator, array_bits(&f->beside, bin)) &&
        d->differing++ == 0)
        d->first_diff = bin;
    d->overflow |= m.outcome == OUTCOME_OVERFLOW;
    d->nan |= m.outcome == OUTCOME_NAN;
}

static void expect(struct figure got, struct figure due, size_t k, const char *what)
{
    cr_assert(got.known == due.known && (!due.known || same_double(got.value, due.value)),
              "case %zu: %s is %a, expected %a", k, what, got.known ? got.value : -1,
              due.known ? due.value : -1);
}

static void hold_measure(const struct scan_measure *m, const struct due *d, size_t bins, size_t k)
{
    expect(m->err_abs, d->abs, k, "err_abs");
    expect(m->err_rel, d->rel, k, "err_rel");
    expect(m->err_ulp, d->ulp, k, "err_ulp");
    expect(m->err_backward, d->backward, k, "err_backward");
    expect(m->err_over_bound, d->over, k, "err_over_bound");
    cr_assert(m->worst_index == d->worst, "case %zu: worst %zu, %zu", k, m->worst_index, d->worst);
    cr_assert(m->broken == d->broken && m->first_broken == d->first_broken, "case %zu: %zu broken",
              k, m->broken);
    cr_assert(m->outcome == (d->overflow ? OUTCOME_OVERFLOW
                             : d->nan    ? OUTCOME_NAN
                                         : OUTCOME_OK),
              "case %zu: outcome %d", k, (int)m->outcome);
    cr_assert(m->difference[0].first_diff == d->first_diff &&
                  m->difference[0].differing.value == (double)d->differing / (double)bins,
              "case %zu: %zu differ", k, d->differing);
    cr_assert(!m->decreases.known && m->points == 0 && !m->difference[1].differing.known);
}

/* By one thread and by three. */
static void hold(const struct fixture *f, size_t k)
{
    static struct scan_measure m, again;
    struct due d = {.worst = f->bins, .first_broken = f->bins, .first_diff = f->bins};
    const struct scan scan = {.in = f->in, .by_bin = &f->by};
    cr_assert(measure_scatter(&m, &f->output, 1, &scan, 1, NULL) == STATUS_OK);
    cr_assert(measure_scatter(&again, &f->output, 1, &scan, 3, NULL) == STATUS_OK);
    for (size_t b = 0; b < f->bins; b++)
        take_bin(&d, f, b);
    hold_measure(&m, &d, f->bins, k);
    hold_measure(&again, &d, f->bins, k);
    expect(again.err_ulp_rms, m.err_ulp_rms, k, "err_ulp_rms of three threads");
    expect(again.difference[0].mean_rel_diff, m.difference[0].mean_rel_diff, k,
           "mean_rel_diff of three threads");
}

Test(measure_scatter, every_figure_is_the_worst_bins)
{
    struct fixture *f = malloc(sizeof *f);
    size_t broken = 0;
    for (size_t k = 0; k < 84; k++) {
        struct scan_measure *m = malloc(sizeof *m);
        make(f, k);
        hold(f, k);
        measure_scatter(m, &f->output, 1, &(struct scan){.in = f->in, .by_bin = &f->by}, 1, NULL);
        broken += m->broken > 0;
        by_bin_free(&f->by);
        free(m);
    }
    cr_expect(broken > 20, "only %zu break their bound", broken);
    free(f);
}

/* The sum 1 + 2^-53 + 2^-120 lies beside a tie: its first two doubles, which leave the last bit
 * out, are one. The error of a result of 0 is rounded from all of it. */
Test(measure_scatter, errors_are_those_of_sums_that_two_doubles_do_not_hold)
{
    static const double part[] = {1, 0x1p-53, 0x1p-120};
    struct fixture *f = calloc(1, sizeof *f);
    f->accumulator = FP64;
    f->bins = 2;
    f->in = (struct array){FP64, 6, f->x};
    f->result = (struct array){FP64, f->bins, f->out};
    f->beside = (struct array){FP64, f->bins, f->twin};
    for (size_t i = 0; i < 6; i++) {
        f->key[i] = (uint32_t)(i % 2);
        f->x[i] = i % 2 ? -part[i / 2] : part[i / 2];
    }
    cr_assert(by_bin_make(&f->by, f->key, f->in.n, f->bins, NULL) == STATUS_OK);
    f->output = (struct scan_output){.out = f->result,
                                     .accumulator = FP64,
                                     .bound = THEOREM_ANY_ORDER,
                                     .twin = {&f->beside, NULL}};
    hold(f, 0);
    by_bin_free(&f->by);
    free(f);
}

Test(measure_scatter, lengths_are_checked)
{
    struct fixture *f = malloc(sizeof *f);
    struct scan_measure *m = malloc(sizeof *m);
    struct problem p = {0};
    make(f, 1);
    struct scan scan = {.in = f->in, .by_bin = &f->by};
    f->output.out.n--;
    cr_expect(measure_scatter(m, &f->output, 1, &scan, 1, &p) == STATUS_USAGE);
    cr_expect_str_eq(p.text, "scan: an output of 2 elements; expected 3");
    f->output.out.n++;
    f->beside.n++;
    cr_expect(measure_scatter(m, &f->output, 1, &scan, 1, NULL) == STATUS_USAGE, "a twin");
    by_bin_free(&f->by);
    free(m);
    free(f);
}

/* What one kind gets wrong, the other one says: an element in another's bin, one that is lost. */
Test(measure_scatter, kinds_of_references_agree_or_say_so)
{
    struct fixture *f = malloc(sizeof *f);
    for (size_t k = 1; k < 60; k++) {
        struct problem p = {0};
        make(f, k);
        cr_assert(by_bin_check(&f->by, &f->in, f->key, "input", &p) == STATUS_OK, "%zu: %s", k,
                  p.text);
        if (k % 4 == 3 && f->in.n > 0 && k % SAMPLES != SAMPLE_ZERO && k % SAMPLES != SAMPLE_BITS) {
            f->key[N / 2] ^= 1;
            cr_expect(by_bin_check(&f->by, &f->in, f->key, "input", &p) == STATUS_FAILED,
                      "%zu: another bin", k);
            f->key[N / 2] ^= 1;
            size_t bin = f->key[N - 1], last = f->by.start[bin + 1] - 1;
            double kept = array_get(&f->in, f->by.element[last]);
            f->by.element[last] = f->by.element[0] == N / 3 ? N / 3 + 1 : N / 3;
            bool same = array_get(&f->in, f->by.element[last]) == kept;
            p = (struct problem){0};
            cr_expect(same || by_bin_check(&f->by, &f->in, f->key, "input", &p) == STATUS_FAILED,
                      "%zu: another element", k);
        }
        by_bin_free(&f->by);
    }
    free(f);
}
