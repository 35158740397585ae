/* sum/binned, binned2 and binned4 against MPFR: what kernels/blocks/binned.h says in words,
 * computed with the maximum known beforehand, without bins. */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/blocks/binned_state.h"
#include "reference/theorem/name.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

enum { MOST = 5000 };

/* log2 U, or INT_MIN-like where there is no finite element but zeros. */
static int unit_of(const struct array *a, enum format f, unsigned folds)
{
    double most = 0;
    for (size_t i = 0; i < a->n; i++) {
        double size = fabs(array_get(a, i));
        most = isfinite(size) && size > most ? size : most;
    }
    if (most == 0)
        return -1074;
    int width = f == FP64 ? 50 : 21, digits = (int)folds * format_facts[f].precision, e;
    if (digits < format_facts[a->format].precision)
        digits = format_facts[a->format].precision;
    frexp(most, &e); /* most = fraction 2^e, the fraction in [1/2, 1) */
    int window = -1;
    while (width * (window + 1) - 1074 <= e - 1 - digits + 1)
        window++;
    return width * (window < 0 ? 0 : window) - 1074;
}

static double due_sum(const struct array *a, enum format f, unsigned folds)
{
    int unit = unit_of(a, f, folds);
    bool nan = false, inf = false, negative_inf = false, plain = a->n == 0;
    mpfr_t sum, part;
    mpfr_init2(sum, 2300);
    mpfr_init2(part, 2300);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < a->n; i++) {
        oracle_decode(part, a->format, array_bits(a, i));
        nan |= mpfr_nan_p(part);
        inf |= mpfr_inf_p(part) && !mpfr_signbit(part);
        negative_inf |= mpfr_inf_p(part) && mpfr_signbit(part);
        plain |= !mpfr_zero_p(part) || !mpfr_signbit(part);
        if (!mpfr_number_p(part))
            continue;
        mpfr_div_2si(part, part, unit, MPFR_RNDN);
        mpfr_roundeven(part, part);
        mpfr_mul_2si(part, part, unit, MPFR_RNDN);
        mpfr_add(sum, sum, part, MPFR_RNDN);
    }
    double due = oracle_round(f, sum);
    if (mpfr_zero_p(sum))
        due = plain ? 0.0 : -0.0;
    if (nan || (inf && negative_inf))
        due = NAN;
    else if (inf || negative_inf)
        due = inf ? INFINITY : -INFINITY;
    mpfr_clears(sum, part, (mpfr_ptr)0);
    return due;
}

static double sum_by(binned_adder *add, const struct array *a, enum format f, unsigned folds)
{
    struct binned_state s;
    cr_assert(binned_state_init(&s, a->format, f, folds, NULL) == STATUS_OK);
    add(&s, a, 0, a->n);
    return binned_state_finish(&s);
}

static void expect_due(const struct array *a, enum format f, unsigned folds, const char *what,
                       uint64_t seed)
{
    double due = due_sum(a, f, folds);
    double plain = sum_by(binned_plain, a, f, folds), any = sum_by(binned_state_add, a, f, folds);
    cr_assert(same_double(plain, due) && same_double(any, due),
              "%s, seed %" PRIu64 ", %s to %s, n = %zu, K = %u: %a, fast %a, MPFR says %a", what,
              seed, format_facts[a->format].name, format_facts[f].name, a->n, folds, plain, any,
              due);
}

/* Of random bits, what is not finite becomes finite. */
static void make_finite(const struct array *a)
{
    for (size_t i = 0; i < a->n; i++)
        if (!isfinite(array_get(a, i)))
            array_set_bits(
                a, i, array_bits(a, i) & ~(UINT64_C(1) << (format_facts[a->format].precision - 1)));
}

typedef void fill(const struct array *a, enum format f, unsigned folds, uint64_t *seed);

static void expect_due_everywhere(fill *fill_array, size_t n_most, int rounds, const char *what,
                                  uint64_t seed)
{
    static double data[MOST];
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (unsigned folds = 2; folds <= 4; folds++)
                for (int round = 0; round < rounds; round++) {
                    uint64_t own = seed = sample_next(&seed);
                    struct array a = {s, sample_next(&seed) % (n_most + 1), data};
                    fill_array(&a, f, folds, &seed);
                    expect_due(&a, f, folds, what, own);
                }
}

static void samples(const struct array *a, enum format f, unsigned folds, uint64_t *seed)
{
    (void)folds;
    sample_fill(a, sample_next(seed) % SAMPLES, f, sample_next(seed));
}

static void finite_bits(const struct array *a, enum format f, unsigned folds, uint64_t *seed)
{
    (void)folds;
    sample_fill(a, SAMPLE_BITS, f, sample_next(seed));
    make_finite(a);
}

/* Magnitudes that rise from the smallest to the largest, or fall: windows move all the way. */
static void stairs(const struct array *a, enum format f, unsigned folds, uint64_t *seed)
{
    (void)f, (void)folds;
    const struct format_facts *facts = &format_facts[a->format];
    int range = facts->emax - facts->emin + facts->precision;
    bool rising = sample_next(seed) & 1;
    for (size_t i = 0; i < a->n; i++) {
        uint64_t bits = sample_next(seed);
        int step = (int)((rising ? i : a->n - 1 - i) * (size_t)range / a->n);
        double x = ldexp(1 + (double)(bits >> 12) * 0x1p-52, facts->emin - facts->precision + step);
        array_encode(a, i, 1, &(double){bits & 1 ? -x : x});
    }
}

/* An element and others halfway between multiples of U, and next to that; in a window at random. */
static void ties(const struct array *a, enum format f, unsigned folds, uint64_t *seed)
{
    const struct format_facts *facts = &format_facts[a->format];
    int e = facts->emin + (int)(sample_next(seed) % (uint64_t)(facts->emax - facts->emin + 1));
    for (size_t i = 0; i < a->n; i++) {
        array_encode(a, i, 1, &(double){ldexp(1, e)});
        int unit = i == 0 ? 0 : unit_of(&(struct array){a->format, 1, a->data}, f, folds);
        int64_t halves = (int64_t)(sample_next(seed) % 64) - 32;
        double x = ldexp((double)halves, unit - 1);
        if (i > 0 && sample_next(seed) % 3 == 0)
            x = nextafter(x, sample_next(seed) & 1 ? INFINITY : -INFINITY);
        if (i > 0)
            array_encode(a, i, 1, &x);
    }
}

/* Sums next to overflow, intermediate sums far beyond it, elements beyond the accumulator. */
static void huge(const struct array *a, enum format f, unsigned folds, uint64_t *seed)
{
    (void)folds;
    const double largest[] = {format_facts[a->format].largest, format_facts[f].largest};
    for (size_t i = 0; i < a->n; i++) {
        double x = largest[sample_next(seed) % 2];
        x = ldexp(x, sample_next(seed) % 4 ? 0 : -(int)(sample_next(seed) % 60));
        x = i % 2 && sample_next(seed) % 8 ? -array_get(a, i - 1) : x;
        array_encode(a, i, 1, &x);
    }
    make_finite(a);
}

Test(binned, samples_of_every_kind)
{
    expect_due_everywhere(samples, 40, 200, "samples", 3);
    expect_due_everywhere(samples, MOST, 2, "samples", 5);
}

Test(binned, random_finite_bits)
{
    expect_due_everywhere(finite_bits, 20, 200, "bits", 7);
    expect_due_everywhere(finite_bits, MOST, 2, "bits", 9);
}

Test(binned, windows_that_move)
{
    expect_due_everywhere(stairs, 30, 100, "stairs", 11);
    expect_due_everywhere(stairs, MOST, 2, "stairs", 13);
}

Test(binned, ties_between_multiples_of_the_unit)
{
    expect_due_everywhere(ties, 30, 200, "ties", 15);
}

/* Zeros, NaN and infinities, alone and among others. */
static void specials(const struct array *a, enum format f, unsigned folds, uint64_t *seed)
{
    (void)f, (void)folds;
    const double special[] = {-0.0, -0.0, -0.0, 0.0, INFINITY, -INFINITY, NAN, 1};
    uint64_t kinds = 1 + sample_next(seed) % 8, first = sample_next(seed) % 8;
    for (size_t i = 0; i < a->n; i++)
        array_encode(a, i, 1, &special[(first + sample_next(seed) % kinds) % 8]);
}

Test(binned, zeros_nan_and_infinities)
{
    expect_due_everywhere(specials, 6, 200, "specials", 23);
    expect_due_everywhere(specials, MOST, 4, "specials", 25);
}

Test(binned, next_to_overflow_and_beyond)
{
    expect_due_everywhere(huge, 30, 200, "huge", 17);
    expect_due_everywhere(huge, MOST, 2, "huge", 19);
}

/* Below 2^100, K folds of fp64 keep 53 K digits: down to 2^-5, 2^-58, 2^-111, and as far as the
 * unit below lies, 2^-24, 2^-74, 2^-124. */
Test(binned, digits_by_hand)
{
    const double small[] = {0x1p-24, 0x1p-58, 0x1p-100};
    for (unsigned folds = 2; folds <= 4; folds++)
        for (unsigned k = 0; k < 3; k++) {
            double x[] = {0x1p100, small[k], -0x1p100};
            double due = k + 2 <= folds ? small[k] : 0;
            double sum = sum_by(binned_plain, &(struct array){FP64, 3, x}, FP64, folds);
            cr_expect_eq(sum, due, "K = %u: %a, expected %a", folds, sum, due);
        }
}

/* Each variant of the fast path has the bytes of the specification's state. */
Test(binned, fast_states_are_plain_states)
{
    static double data[MOST];
    static fill *const fills[] = {samples, finite_bits, stairs, huge};
    size_t tried = 0;
    uint64_t seed = 21;
    for (size_t v = 0; v < binned_variants; v++) {
        if (!binned_variant[v].available())
            continue;
        tried++;
        for (enum format s = 0; s < ACCUMULATORS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++)
                for (unsigned k = 0; k < 24; k++) {
                    unsigned char plain[BINNED_STATE_BYTES], fast[BINNED_STATE_BYTES];
                    struct binned_state by[2];
                    uint64_t own = seed = sample_next(&seed);
                    struct array a = {s, sample_next(&seed) % (MOST + 1), data};
                    fills[k % 4](&a, f, 2 + k / 4 % 3, &seed);
                    size_t begin = a.n ? sample_next(&seed) % a.n : 0;
                    for (int i = 0; i < 2; i++)
                        binned_state_init(&by[i], s, f, 2 + k / 4 % 3, NULL);
                    binned_plain(&by[0], &a, begin, a.n - begin);
                    binned_variant[v].add(&by[1], &a, begin, a.n - begin);
                    binned_state_write(&by[0], plain);
                    binned_state_write(&by[1], fast);
                    cr_assert(memcmp(plain, fast, sizeof plain) == 0,
                              "%s, %s to %s, K = %u, seed %" PRIu64, binned_variant[v].name,
                              format_facts[s].name, format_facts[f].name, 2 + k / 4 % 3, own);
                }
    }
    cr_assert(tried > 0);
}

/* The sums of lanes are widest where all parts are as large as they get: half a unit of the next
 * bin, and of one sign. */
Test(binned, lanes_have_room)
{
    enum { N = 1 << 16 };
    static double data[N];
    for (size_t v = 0; v < binned_variants; v++)
        for (enum format s = BF16; binned_variant[v].available() && s < ACCUMULATORS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++)
                for (int window = 1; window < 90; window += window < 4 ? 1 : 9) {
                    struct binned_state by[2];
                    struct array a = {s, N, data};
                    for (int i = 0; i < 2; i++)
                        binned_state_init(&by[i], s, f, 3, NULL);
                    int e = binned_limit(&by[0].bins, by[0].bins.lowest + window) - 1;
                    if (e > format_facts[s].emax)
                        continue;
                    /* 2^(width-1) - 1 units in as many bins as the precision reaches. */
                    double x = ldexp(1 - format_facts[s].unit_roundoff, e + 1);
                    for (size_t i = 0; i < a.n; i++)
                        array_encode(&a, i, 1, &x);
                    binned_plain(&by[0], &a, 0, a.n);
                    binned_variant[v].add(&by[1], &a, 0, a.n);
                    cr_assert(memcmp(by[0].bin, by[1].bin, sizeof by[0].bin) == 0,
                              "%s, %s to %s, all elements %a", binned_variant[v].name,
                              format_facts[s].name, format_facts[f].name, x);
                }
}
