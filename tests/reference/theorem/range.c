/* Where nothing can overflow: by rationals, by trying orders, and by hand. */
#include <criterion/criterion.h>

#include <math.h>

#include "tests/support/due_bound.h"
#include "tests/support/samples.h"

static double largest_of(enum format f)
{
    return format_facts[f].largest;
}

/* n numbers whose magnitudes add up to about `share` of the largest number of f. */
static void fill_up(const struct array *a, enum format f, double share, uint64_t *seed)
{
    for (size_t i = 0; i < a->n; i++) {
        double x = largest_of(f) * (share / (double)a->n);
        x *= 1 + ldexp((double)(sample_next(seed) % 64) - 32, -(int)(sample_next(seed) % 16) - 5);
        x = format_round(a->format, sample_next(seed) % 4 ? x : -x);
        array_encode(a, i, 1, &(double){isfinite(x) ? x : largest_of(a->format)});
    }
}

/* A and the larger of the bounds of any order and of the method; or what is exact, and its own. */
static rational reach_of(const struct theorem *t, const struct reference *r, enum format storage,
                         enum format f)
{
    struct theorem any = {
        .kind = THEOREM_ANY_ORDER, .flushing = t->flushing, .product = t->product};
    rational own = due_bound(t, r, storage, f);
    if (t->kind == THEOREM_CORRECTLY_ROUNDED || t->kind == THEOREM_BINNED)
        return plus(size_of(from_mpfr(r->sum)), own);
    return plus(from_mpfr(r->sum_abs), greater(own, due_bound(&any, r, storage, f)));
}

Test(range, sums_by_rationals)
{
    static const enum theorem_kind kinds[] = {
        THEOREM_ANY_ORDER, THEOREM_TREE,    THEOREM_COMPENSATED,      THEOREM_KAHAN,
        THEOREM_K_FOLD,    THEOREM_BLOCKED, THEOREM_WIDENED,          THEOREM_DOUBLE_WORD,
        THEOREM_SPLIT,     THEOREM_BINNED,  THEOREM_CORRECTLY_ROUNDED};
    static const double shares[] = {0.3, 0.5, 0.9, 0.99, 0.999, 1};
    const size_t all = sizeof kinds / sizeof *kinds;
    uint64_t seed = 5;
    size_t in_range[THEOREMS] = {0}, not_in_range[THEOREMS] = {0};
    for (size_t k = 0; k < all * 16 * 40; k++) {
        enum format storage = k / all % 4, f = k / all / 4 % 4, other = sample_next(&seed) % 4;
        double data[8];
        struct array a = {storage, 1 + sample_next(&seed) % 8, data};
        struct theorem t = {.kind = kinds[k % all],
                            .height = a.n - 1,
                            .plain_height = a.n / 2,
                            .folds = 2 + k % 2,
                            .flushing = k % 3 ? 0 : a.n};
        struct reference r;
        double most = fmin(largest_of(f), k % 5 ? INFINITY : largest_of(other));
        if (t.kind == THEOREM_WIDENED && f == FP64)
            continue;
        fill_up(&a, most < largest_of(f) ? other : f, shares[sample_next(&seed) % 6], &seed);
        cr_assert(reference_compute(&r, &a, REFERENCE_FAST, NULL) == STATUS_OK);
        rational room = from_double(most), reach = reach_of(&t, &r, storage, f);
        if (t.kind == THEOREM_SPLIT)
            room = lesser(room, from_double(largest_of(storage)));
        bool due = mpq_cmp(reach, room) <= 0;
        cr_assert(theorem_in_range(&t, &r, storage, f, most) == due, "%zu: %s, n = %zu, %d", k,
                  theorem_words(t.kind), a.n, due);
        ++*(due ? &in_range[t.kind] : &not_in_range[t.kind]);
        rational_forget();
        reference_free(&r);
    }
    for (size_t i = 0; i < all; i++)
        cr_expect(in_range[kinds[i]] > 20 && not_in_range[kinds[i]] > 20, "%s: %zu, %zu",
                  theorem_words(kinds[i]), in_range[kinds[i]], not_in_range[kinds[i]]);
}

/* Does the sum of the numbers that are left overflow when they join `sum` in some order? */
static bool some_order_overflows(enum format f, double sum, const double *x, unsigned left)
{
    if (!isfinite(sum))
        return true;
    for (unsigned i = 0; i < 5; i++)
        if (left & 1U << i &&
            some_order_overflows(f, format_add(f, sum, x[i]), x, left & ~(1U << i)))
            return true;
    return false;
}

Test(range, no_order_overflows_in_range)
{
    uint64_t seed = 9;
    size_t in_range = 0, overflow = 0;
    for (size_t k = 0; k < 20000; k++) {
        enum format f = k % 3;
        double data[5], x[5];
        struct array a = {f, 5, data};
        struct theorem t = {.kind = THEOREM_ANY_ORDER};
        struct reference r;
        fill_up(&a, f, 1 - (double)(k % 40) / 1000, &seed);
        array_decode(&a, 0, 5, x);
        cr_assert(reference_compute(&r, &a, REFERENCE_FAST, NULL) == STATUS_OK);
        bool safe = theorem_in_range(&t, &r, f, f, largest_of(f)),
             overflows = some_order_overflows(f, 0, x, 31);
        cr_assert(!(safe && overflows), "%zu: an order overflows", k);
        in_range += safe;
        overflow += overflows;
        reference_free(&r);
    }
    cr_expect(in_range > 1000 && overflow > 1000, "%zu, %zu", in_range, overflow);
}

static bool fits(enum theorem_kind kind, enum exact_value of, enum format f, size_t n,
                 const double *x)
{
    double data[4];
    struct array a = {f, n, data};
    struct theorem t = {.kind = kind, .height = n - 1};
    struct reference r;
    array_encode(&a, 0, n, x);
    cr_assert(reference_compute_of(&r, of, &a, NULL, REFERENCE_FAST, NULL) == STATUS_OK);
    bool in_range = theorem_in_range(&t, &r, f, f, largest_of(f));
    reference_free(&r);
    return in_range;
}

/* The largest number of fp16 is 65504, the squares of 200 and 300 are 40000 and 90000. */
Test(range, by_hand)
{
    static const double top[] = {65504, -65504, 0x1p-24}, half[] = {30000, -30000},
                        more[] = {40000, 40000}, few[] = {200, 10}, many[] = {300, 10},
                        odd[] = {1, INFINITY}, nan[] = {NAN, 1};
    const struct {
        enum theorem_kind kind;
        enum exact_value of;
        size_t n;
        const double *x;
        bool fits;
    } rows[] = {
        {THEOREM_ANY_ORDER, EXACT_SUM, 1, top, true},
        {THEOREM_ANY_ORDER, EXACT_SUM, 2, top, false},
        {THEOREM_ANY_ORDER, EXACT_SUM, 2, half, true},
        {THEOREM_ANY_ORDER, EXACT_SUM, 2, odd, false},
        {THEOREM_ANY_ORDER, EXACT_SUM, 2, nan, false},
        {THEOREM_NONE, EXACT_SUM, 2, half, false},
        {THEOREM_CORRECTLY_ROUNDED, EXACT_SUM, 3, top, true},
        {THEOREM_CORRECTLY_ROUNDED, EXACT_SUM, 2, more, false},
        {THEOREM_EXTREMUM, EXACT_MAXIMUM, 2, top, true},
        {THEOREM_EXTREMUM, EXACT_MINIMUM, 2, odd, false},
        {THEOREM_EXTREMUM, EXACT_MINIMUM_NUMBER, 2, nan, false},
        {THEOREM_NORM, EXACT_NORM, 2, few, true},
        {THEOREM_NORM, EXACT_NORM, 2, many, false},
        {THEOREM_SCALED_NORM, EXACT_NORM, 2, many, true},
        {THEOREM_MEAN, EXACT_MEAN, 2, half, true},
        {THEOREM_MEAN, EXACT_MEAN, 2, more, false},
        {THEOREM_RUNNING_MEAN, EXACT_MEAN, 2, half, false},
        {THEOREM_PRODUCT, EXACT_PRODUCT, 2, few, true},
        {THEOREM_PRODUCT, EXACT_PRODUCT, 2, more, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(fits(rows[i].kind, rows[i].of, FP16, rows[i].n, rows[i].x), rows[i].fits,
                     "row %zu", i);
}

/* n exponentials of 0, each of which is 1. n (1 + nu) is at most 65504 up to n = 10603, and the
 * logarithm of n is far below it. */
Test(range, exponentials_by_hand)
{
    static uint16_t zeros[20000];
    static const enum exact_value of[] = {EXACT_SUMEXP, EXACT_LOGSUMEXP};
    for (size_t k = 0; k < 2; k++)
        for (size_t n = 10603; n <= 10604; n++) {
            struct array a = {FP16, n, zeros};
            struct theorem t = {.kind = THEOREM_EXPONENTIALS, .height = 20};
            struct reference r;
            cr_assert(reference_compute_of(&r, of[k], &a, NULL, REFERENCE_FAST, NULL) == STATUS_OK);
            cr_expect_eq(theorem_in_range(&t, &r, FP16, FP16, 65504), n == 10603, "%zu", n);
            reference_free(&r);
        }
}

/* n = 8, u = 2^-11: A (1 + 7u) is 65504 but for less than 2^-24. What additions flush is more. */
Test(range, what_is_flushed_counts)
{
    static const double x[8] = {32768, 32512, 0x1.be4p-1, 0x1.ca8p-12, 0x1p-23};
    double data[8];
    struct array a = {FP16, 8, data};
    struct theorem t = {.kind = THEOREM_TREE, .height = 1};
    struct reference r;
    array_encode(&a, 0, 8, x);
    cr_assert(reference_compute(&r, &a, REFERENCE_FAST, NULL) == STATUS_OK);
    cr_expect(theorem_in_range(&t, &r, FP16, FP16, 65504));
    t.flushing = 1;
    cr_expect(!theorem_in_range(&t, &r, FP16, FP16, 65504));
    reference_free(&r);
}
