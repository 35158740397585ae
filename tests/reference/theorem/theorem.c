/* Bounds against rational arithmetic: exact where the theorem is a product, else just above. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "reference/theorem/theorem.h"
#include "tests/support/rational.h"
#include "tests/support/samples.h"

/* Is every value of storage one of the accumulator? By name, not by arithmetic. */
static bool holds(enum format accumulator, enum format storage)
{
    return accumulator == storage || accumulator == FP64 ||
           (accumulator == FP32 && storage <= BF16);
}

/* May rounding an element of storage to the accumulator lose digits, and may it underflow? */
static bool loses_digits(enum format accumulator, enum format storage)
{
    return !holds(accumulator, storage) && !(storage == BF16 && accumulator == FP16);
}

static bool underflows(enum format accumulator, enum format storage)
{
    return !holds(accumulator, storage) && !(storage == FP16 && accumulator == BF16);
}

/* ku/(1-ku), or NULL where ku >= 1. */
static rational gamma_of(size_t k, rational u)
{
    rational ku = times(whole(k), u), below = minus(whole(1), ku);
    return mpq_sgn(below) > 0 ? over(ku, below) : NULL;
}

static rational one_and(rational x)
{
    return plus(whole(1), x);
}

/* (1+v)^k - 1 */
static rational growth(size_t k, rational v)
{
    return minus(to_power(one_and(v), k), whole(1));
}

static rational any_order(size_t n, rational u)
{
    return times(whole(n ? n - 1 : 0), u);
}

static rational tree(size_t n, size_t h, rational u)
{
    rational gamma = gamma_of(h, u);
    return gamma ? lesser(any_order(n, u), gamma) : any_order(n, u);
}

/* (1+u) gamma_2h gamma_h */
static rational compensated(size_t h, rational u)
{
    return times(one_and(u), times(gamma_of(2 * h, u), gamma_of(h, u)));
}

/* (1+u) (2u + 4u^2) (1 + u (1+5u)^h h(h+5)/2) */
static rational kahan(size_t h, rational u)
{
    rational carried = times(to_power(one_and(times(whole(5), u)), h), whole(h * (h + 5) / 2));
    rational step = times(times(whole(2), u), one_and(times(whole(2), u)));
    return times(one_and(u), times(step, one_and(times(u, carried))));
}

/* (1+u) ((1 + 3u^2 + 13u^3)^h - 1) */
static rational double_word(size_t h, rational u)
{
    rational v = times(to_power(u, 2), plus(whole(3), times(whole(13), u)));
    return times(one_and(u), growth(h, v));
}

/* (1+u) gamma_b + (1 + gamma_b) (1+u) gamma_2(h-b) gamma_(h-b) */
static rational blocked(size_t h, size_t b, rational u)
{
    b = b < h ? b : h;
    rational gamma = gamma_of(b, u);
    return plus(times(one_and(u), gamma), times(one_and(gamma), compensated(h - b, u)));
}

/* Of |S|: q = u (1 + gamma_K). */
static rational k_fold_own(unsigned folds, rational u)
{
    return times(u, one_and(gamma_of(folds, u)));
}

/* (1+q) g_1 .. g_K + gamma_K^K sum of (1+g_k) g_1 .. g_(k-1) for k = 2 .. K, g_k = (1+u)^kh - 1 */
static rational k_fold(size_t h, unsigned folds, rational u)
{
    rational product = growth(h, u), words = whole(0);
    for (unsigned k = 2; k <= folds; k++) {
        words = plus(words, times(one_and(growth(k * h, u)), product));
        product = times(product, growth(k * h, u));
    }
    return plus(times(one_and(k_fold_own(folds, u)), product),
                times(to_power(gamma_of(folds, u), folds), words));
}

static rational of_abs(const struct theorem *t, size_t n, rational u)
{
    switch (t->kind) {
    case THEOREM_TREE:
    case THEOREM_WIDENED:
        return tree(n, t->height, u);
    case THEOREM_COMPENSATED:
        return compensated(t->height, u);
    case THEOREM_KAHAN:
        return kahan(t->height, u);
    case THEOREM_DOUBLE_WORD:
        return double_word(t->height, u);
    case THEOREM_BLOCKED:
        return blocked(t->height, t->plain_height, u);
    case THEOREM_K_FOLD:
        return k_fold(t->height, t->folds, u);
    default:
        return any_order(n, u);
    }
}

static rational of_sum(const struct theorem *t, rational u)
{
    if (t->kind == THEOREM_ANY_ORDER || t->kind == THEOREM_TREE || t->kind == THEOREM_WIDENED)
        return whole(0);
    return t->kind == THEOREM_K_FOLD ? k_fold_own(t->folds, u) : u;
}

/* 5hu/(1-5hu), or (1+5u)^h - 1 where that has no value, where additions next to the largest number
 * may lose their errors: 2A reaches it, or (1+u)^(Kh+1) > 2. */
static rational lost(rational by, const struct theorem *t, rational sum_abs, enum format f)
{
    if (t->kind < THEOREM_COMPENSATED || t->kind > THEOREM_BLOCKED)
        return by;
    rational u = from_double(format_facts[f].unit_roundoff), five = times(whole(5), u);
    size_t adds = (t->kind == THEOREM_K_FOLD ? t->folds : 1) * t->height + 1;
    rational twice = times(whole(2), sum_abs), largest = from_double(format_facts[f].largest);
    if (mpq_cmp(twice, largest) < 0 && mpq_cmp(growth(adds, u), whole(1)) <= 0)
        return by;
    rational gamma = gamma_of(t->height, five);
    return greater(by, gamma ? gamma : growth(t->height, five));
}

/* (n-1) max|x| / 2^D, D = K p, or the storage's p. */
static rational cut(const struct theorem *t, const struct reference *r, enum format storage,
                    enum format accumulator)
{
    int digits = format_facts[accumulator].precision * (int)t->folds;
    if (format_facts[storage].precision > digits)
        digits = format_facts[storage].precision;
    rational others = whole(r->n > 0 ? r->n - 1 : 0);
    return over(times(others, from_double(r->largest)), to_power(whole(2), (unsigned)digits));
}

/* The bound, written out: c = n eta/2 + u A if elements are rounded, F = 3 normal for each addition
 * that flushes, and c + F + of_sum (|S| + c + F) + of_abs (A + c + F). That, when widened, in the
 * wider format; then u |S + that| or eta/2, the larger, is added where it is not 0: as to F alone,
 * when exact, and to F and what cutting changes, when binned. */
static rational due_bound(const struct theorem *t, const struct reference *r, enum format storage,
                          enum format accumulator)
{
    bool widened = t->kind == THEOREM_WIDENED, binned = t->kind == THEOREM_BINNED;
    bool exact = t->kind == THEOREM_CORRECTLY_ROUNDED || binned;
    enum format f = !widened ? accumulator : accumulator == FP32 ? FP64 : FP32;
    const struct format_facts *facts = &format_facts[f], *last = &format_facts[accumulator];
    rational u = from_double(facts->unit_roundoff), c = whole(0);
    rational sum = size_of(from_mpfr(r->sum)), sum_abs = from_mpfr(r->sum_abs);
    if (underflows(f, storage) && !exact)
        c = over(times(whole(r->n), from_double(facts->smallest)), whole(2));
    if (loses_digits(f, storage) && !exact)
        c = plus(c, times(u, sum_abs));
    c = plus(c, times(whole(t->flushing), from_double(3 * facts->smallest_normal)));
    rational error = c;
    if (binned)
        error = plus(c, cut(t, r, storage, accumulator));
    if (!exact)
        error = plus(
            c, plus(times(of_sum(t, u), plus(sum, c)),
                    times(lost(of_abs(t, r->n, u), t, plus(sum_abs, c), f), plus(sum_abs, c))));
    if (!widened && !exact)
        return error;
    rational rounding = times(from_double(last->unit_roundoff), plus(sum, error));
    rational half = over(from_double(last->smallest), whole(2));
    return mpq_sgn(rounding) == 0 ? error : plus(error, greater(rounding, half));
}

/* The bound at a precision is the due one rounded up to it; quotients may be rounded up before, at
 * 2^-2500 or less. */
static void expect_bound(const struct theorem *t, const struct reference *r, enum format storage,
                         enum format accumulator, mpfr_prec_t precision)
{
    const char *pair[] = {format_facts[storage].name, format_facts[accumulator].name};
    mpfr_t bound, up, above;
    mpfr_inits2(precision, bound, up, above, (mpfr_ptr)0);
    cr_assert(theorem_bound(bound, t, r, storage, accumulator));
    cr_assert(mpfr_get_prec(bound) == precision);
    rational due = due_bound(t, r, storage, accumulator), little = to_power(whole(2), 2500);
    mpfr_set_q(up, due, MPFR_RNDU);
    mpfr_set_q(above, plus(due, over(due, little)), MPFR_RNDU);
    cr_assert(mpfr_lessequal_p(up, bound) && mpfr_lessequal_p(bound, above),
              "%s: %s in %s, n = %zu, h = %zu, of them plain %zu, K = %u, %zu flushing, %ld bits",
              theorem_words(t->kind), pair[0], pair[1], r->n, t->height, t->plain_height, t->folds,
              t->flushing, (long)precision);
    rational_forget();
    mpfr_clears(bound, up, above, (mpfr_ptr)0);
}

Test(theorem, bounds_in_every_format_pair)
{
    uint64_t seed = 61;
    for (enum format storage = 0; storage < FORMATS; storage++)
        for (enum format accumulator = 0; accumulator < FORMATS; accumulator++)
            for (int round = 0; round < 96; round++) {
                size_t n = sample_next(&seed) % 20;
                enum theorem_kind kind = (enum theorem_kind)(round % THEOREMS);
                if (kind == THEOREM_NONE || (kind == THEOREM_WIDENED && accumulator == FP64))
                    continue;
                if (kind >= THEOREM_NORM) /* of what is no sum, which this reference has not */
                    continue;
                struct array a = {storage, n, malloc(n ? array_bytes(storage, n) : 1)};
                sample_fill(&a, round % SAMPLE_BITS, accumulator, sample_next(&seed));
                struct reference r;
                cr_assert(reference_compute(&r, &a, REFERENCE_FAST, NULL) == STATUS_OK);
                struct theorem t = {.kind = kind,
                                    .height = sample_next(&seed) % (n + 1),
                                    .plain_height = sample_next(&seed) % 16,
                                    .folds = (unsigned)round / THEOREMS % 4 + 2,
                                    .flushing = round % 5 == 0 ? n : 0};
                expect_bound(&t, &r, storage, accumulator, 53);
                expect_bound(&t, &r, storage, accumulator, 200);
                if (t.kind == THEOREM_ANY_ORDER) /* all bits */
                    expect_bound(&t, &r, storage, accumulator, 4096);
                reference_free(&r);
                free(a.data);
            }
}

/* Sizes at which hu reaches 1: gamma has nothing to say, any order has. */
Test(theorem, bounds_of_long_sums)
{
    static const size_t sizes[] = {255,
                                   256,
                                   257,
                                   2048,
                                   2049,
                                   (size_t)1 << 24,
                                   ((size_t)1 << 24) + 1,
                                   (size_t)1 << 40,
                                   (size_t)1 << 53,
                                   (size_t)1 << 62};
    double one = 1;
    struct array a = {FP64, 1, &one};
    struct reference r;
    cr_assert(reference_compute(&r, &a, REFERENCE_FAST, NULL) == STATUS_OK);
    for (enum format f = 0; f < FORMATS; f++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (size_t h = 0; h < 5; h++) {
                const size_t heights[] = {sizes[i] - 1, sizes[i], 40, 256, 2048};
                r.n = sizes[i];
                struct theorem t = {.kind = THEOREM_TREE, .height = heights[h]};
                expect_bound(&t, &r, f, f, 53);
                t.kind = THEOREM_ANY_ORDER;
                expect_bound(&t, &r, f, f, 4096);
            }
    reference_free(&r);
}

/* By hand: one addition of the largest number and 0, or of half of it, may lose its error,
 * 5u/(1-5u) of all; one of a quarter of it loses nothing. */
Test(theorem, errors_lost_at_the_largest_number)
{
    static const enum theorem_kind kinds[] = {THEOREM_COMPENSATED, THEOREM_KAHAN,
                                              THEOREM_DOUBLE_WORD, THEOREM_BLOCKED, THEOREM_K_FOLD};
    mpfr_t bound;
    mpfr_init2(bound, 200);
    for (enum format f = 0; f < FORMATS; f++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            for (int part = 1; part <= 4; part *= 2) {
                double data[2], largest = format_facts[f].largest,
                                u = format_facts[f].unit_roundoff;
                const double x[] = {largest / part, 0};
                struct array a = {f, 2, data};
                struct theorem t = {.kind = kinds[i], .height = 1, .folds = 2};
                struct reference r;
                array_encode(&a, 0, 2, x);
                cr_assert(reference_compute(&r, &a, REFERENCE_FAST, NULL) == STATUS_OK);
                cr_assert(theorem_bound(bound, &t, &r, f, f));
                mpfr_div_d(bound, bound, u * largest / part, MPFR_RNDU);
                double due = 1 + 5 / (1 - 5 * u);
                due += t.kind == THEOREM_K_FOLD ? 2 * u / (1 - 2 * u) : 0;
                bool lost = fabs(mpfr_get_d(bound, MPFR_RNDN) - due) < 0x1p-50;
                cr_expect(lost == (part < 4), "%s in %s, %g", theorem_words(t.kind),
                          format_facts[f].name, mpfr_get_d(bound, MPFR_RNDN));
                reference_free(&r);
            }
    mpfr_clear(bound);
}

/* By hand, three elements of fp32 in bf16: cut to 24 digits, the storage's, with K = 2, since twice
 * 8 is has fewer; to 32 with K = 4. */
Test(theorem, binned_sums_by_hand)
{
    float x[] = {1024, 1, -1025};
    struct reference r;
    struct array a = {FP32, 3, x};
    mpfr_t bound;
    mpfr_init2(bound, 300);
    cr_assert(reference_compute(&r, &a, REFERENCE_FAST, NULL) == STATUS_OK);
    for (unsigned folds = 2; folds <= 4; folds += 2) {
        struct theorem t = {.kind = THEOREM_BINNED, .folds = folds};
        double cut = 2 * 1025 * (folds == 2 ? 0x1p-24 : 0x1p-32); /* S is 0 */
        cr_expect(theorem_bound(bound, &t, &r, FP32, BF16));
        cr_expect(mpfr_cmp_d(bound, cut + 0x1p-8 * cut) == 0, "K = %u", folds);
    }
    reference_free(&r);
    mpfr_clear(bound);
}

/* Where 2hu reaches 1, nothing bounds a compensated sum. */
Test(theorem, compensated_sums_of_great_height)
{
    double x[] = {1, -1};
    struct array a = {FP64, 2, x};
    struct reference r;
    mpfr_t bound;
    mpfr_init2(bound, 53);
    cr_assert(reference_compute(&r, &a, REFERENCE_FAST, NULL) == STATUS_OK);
    struct theorem t = {.kind = THEOREM_COMPENSATED, .height = 127};
    cr_expect(theorem_bound(bound, &t, &r, BF16, BF16));
    t.height = 128;
    cr_expect(!theorem_bound(bound, &t, &r, BF16, BF16));
    t.height = (size_t)1 << 52;
    cr_expect(!theorem_bound(bound, &t, &r, FP64, FP64));
    reference_free(&r);
    mpfr_clear(bound);
}

/* By hand: 3 ones in fp16, u = 2^-11; 4 elements of 2^-24 in bf16, which it holds. */
Test(theorem, bounds_by_hand)
{
    double x[] = {1, 1, 1};
    struct array a = {FP64, 3, x};
    struct reference r;
    mpfr_t bound;
    mpfr_init2(bound, 300);
    reference_compute(&r, &a, REFERENCE_FAST, NULL);
    struct theorem any = {.kind = THEOREM_ANY_ORDER}, tree = {.kind = THEOREM_TREE, .height = 2};
    theorem_bound(bound, &any, &r, FP16, FP16); /* 2 u 3 */
    cr_expect(mpfr_cmp_d(bound, 6 * 0x1p-11) == 0);
    theorem_bound(bound, &tree, &r, FP16, FP16); /* 2u/(1-2u) 3 is more */
    cr_expect(mpfr_cmp_d(bound, 6 * 0x1p-11) == 0);
    theorem_bound(bound, &any, &r, FP64, FP16); /* c = 3u + 3 2^-25; c + 2u (3 + c) */
    double c = 3 * 0x1p-11 + 3 * 0x1p-25;
    cr_expect(mpfr_cmp_d(bound, c + 0x1p-10 * (3 + c)) == 0);
    theorem_bound(bound, &any, &r, BF16, FP16); /* as many digits, but not as low: c = 3 2^-25 */
    cr_expect(mpfr_cmp_d(bound, 3 * 0x1p-25 + 0x1p-10 * (3 + 3 * 0x1p-25)) == 0);
    theorem_bound(bound, &any, &r, FP16, BF16); /* as low, but not as many digits: c = 3u */
    cr_expect(mpfr_cmp_d(bound, 3 * 0x1p-8 + 0x1p-7 * (3 + 3 * 0x1p-8)) == 0);
    theorem_bound(bound, &any, &r, FP64, FP64);
    cr_expect(mpfr_cmp_d(bound, 6 * 0x1p-53) == 0);
    any.flushing = 1;
    theorem_bound(bound, &any, &r, FP32, FP32); /* F = 3 2^-126; F + 2u (3 + F) */
    mpfr_sub_d(bound, bound, 3 * 0x1p-126, MPFR_RNDN);
    mpfr_sub_d(bound, bound, 6 * 0x1p-24, MPFR_RNDN);
    cr_expect(mpfr_cmp_d(bound, 0x1p-23 * 3 * 0x1p-126) == 0);
    reference_free(&r);
    a.n = 1; /* one element that the accumulator holds: no error at all */
    reference_compute(&r, &a, REFERENCE_FAST, NULL);
    any.flushing = 0;
    theorem_bound(bound, &any, &r, FP16, FP16);
    cr_expect(mpfr_zero_p(bound));
    reference_free(&r);
    mpfr_clear(bound);
}

Test(theorem, no_bound_for_what_is_not_finite)
{
    const double odd[] = {__builtin_nan(""), __builtin_inf(), -__builtin_inf()};
    mpfr_t bound;
    mpfr_init2(bound, 53);
    for (int k = 0; k < 3; k++) {
        double x[] = {1, odd[k]};
        struct array a = {FP64, 2, x};
        struct reference r;
        reference_compute(&r, &a, REFERENCE_FAST, NULL);
        struct theorem t = {.kind = THEOREM_ANY_ORDER};
        cr_expect(!theorem_bound(bound, &t, &r, FP64, FP64), "%a", odd[k]);
        reference_free(&r);
    }
    mpfr_clear(bound);
}

/* By hand, of 1 and 3 in fp32, u = 2^-24, with a tree of height 1. A mean: d = u 4, which is
 * halved, and u (2 + d/2). As it runs: (2u + u^2) (2 + 3) + 3/2 (3u + eta/2). A variance in two
 * passes: the mean errs by e = 4u + 2u^2 at most, the sum of squares is no more than 2 (1 + e^2)
 * (1+u)^2. */
Test(theorem, means_and_variances_by_hand)
{
    float x[] = {1, 3};
    struct reference r;
    struct array a = {FP32, 2, x};
    mpfr_t bound;
    mpfr_init2(bound, 400);
    const double u = 0x1p-24, e = 4 * u + 2 * u * u;
    struct theorem t = {.kind = THEOREM_MEAN, .height = 1};
    cr_assert(reference_compute_of(&r, EXACT_MEAN, &a, NULL, REFERENCE_FAST, NULL) == STATUS_OK);
    cr_expect(theorem_bound(bound, &t, &r, FP32, FP32) && mpfr_cmp_d(bound, e) == 0);
    t.kind = THEOREM_RUNNING_MEAN;
    cr_expect(theorem_bound(bound, &t, &r, FP32, FP32));
    mpfr_sub_d(bound, bound, 14.5 * u + 5 * u * u, MPFR_RNDN);
    cr_expect(mpfr_cmp_d(bound, 1.5 * 0x1p-150) == 0);
    reference_free(&r);
    cr_assert(reference_compute_of(&r, EXACT_VARIANCE, &a, NULL, REFERENCE_FAST, NULL) ==
              STATUS_OK);
    t.kind = THEOREM_TWO_PASS;
    cr_expect(theorem_bound(bound, &t, &r, FP32, FP32));
    /* e^2 + (2u + u^2) v, then u and u for squares and their sum, and u for the quotient. */
    cr_expect(mpfr_cmp_d(bound, 5 * u) > 0 && mpfr_cmp_d(bound, 5 * u + 40 * u * u) < 0);
    t.kind = THEOREM_WELFORD;
    cr_expect(theorem_bound(bound, &t, &r, FP32, FP32));
    /* e = 12 u + 4.5 u, (1 + sqrt 2) e; three roundings, one addition, the quotient. */
    double welford = (16.5 * 2.4142135623730951 + 5) * u;
    cr_expect(mpfr_cmp_d(bound, welford) > 0 && mpfr_cmp_d(bound, welford * (1 + 1000 * u)) < 0);
    t.kind = THEOREM_CHAN;
    cr_expect(theorem_bound(bound, &t, &r, FP32, FP32));
    /* e = 4 u 3, v = sqrt(2) e, 2 v; six roundings, two additions, the quotient. */
    double chan = (24 * 1.4142135623730951 + 9) * u;
    cr_expect(mpfr_cmp_d(bound, chan) > 0 && mpfr_cmp_d(bound, chan * (1 + 1000 * u)) < 0);
    t.kind = THEOREM_TEXTBOOK;
    cr_expect(theorem_bound(bound, &t, &r, FP32, FP32));
    /* 2 mean e and u mean^2; of squares u 5 each for squares, sum and quotient; u for the last. */
    double textbook = (4 * 4 + 4 + 15 + 1) * u;
    cr_expect(mpfr_cmp_d(bound, textbook) > 0 && mpfr_cmp_d(bound, textbook * (1 + 1000 * u)) < 0);
    reference_free(&r);
    mpfr_clear(bound);
}

/* Of a method that nobody says enough of, nothing is said: not 0, nor the bound for any order. */
Test(theorem, none_has_no_bound)
{
    double x[] = {1, -1, 0x1p-40};
    struct array a = {FP64, 3, x};
    struct reference r;
    struct theorem t = {.kind = THEOREM_NONE};
    mpfr_t bound;
    mpfr_init2(bound, 53);
    cr_assert(reference_compute(&r, &a, REFERENCE_FAST, NULL) == STATUS_OK);
    for (enum format f = 0; f < FORMATS; f++)
        cr_expect(!theorem_bound(bound, &t, &r, FP64, f), "%s", format_facts[f].name);
    cr_expect(!theorem_has_height(THEOREM_NONE));
    reference_free(&r);
    mpfr_clear(bound);
}

/* n squares of scaled elements, each below 2^(exponent + k) with 2^exponent above the largest, stay
 * in range; scaled by 4 more they would not. */
Test(theorem, scale_of_a_norm)
{
    for (enum format f = 0; f < FORMATS; f++)
        for (size_t n = 1; n <= 1 << 20; n *= 2) {
            int k = theorem_scale(f, n, 0.75), bits = 2 * k + (int)log2((double)n);
            cr_expect(bits <= format_facts[f].emax && bits + 4 > format_facts[f].emax,
                      "%s, n = %zu: %d", format_facts[f].name, n, k);
        }
}
