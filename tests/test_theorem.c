/* Bounds against rational arithmetic: exact where the theorem is a product, else just above. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "reference/theorem.h"
#include "tests/samples.h"

static void set_double(mpq_t to, double x)
{
    mpq_set_d(to, x);
}

/* a + b * c */
static void add_product(mpq_t to, const mpq_t a, const mpq_t b, const mpq_t c)
{
    mpq_t product;
    mpq_init(product);
    mpq_mul(product, b, c);
    mpq_add(to, a, product);
    mpq_clear(product);
}

/* Is every value of storage one of the accumulator? By name, not by arithmetic. */
static bool holds(enum format accumulator, enum format storage)
{
    return accumulator == storage || accumulator == FP64 ||
           (accumulator == FP32 && storage <= BF16);
}

/* ku/(1-ku), where ku < 1. */
static bool gamma_of(mpq_t to, size_t k, const mpq_t u)
{
    mpq_t below;
    mpq_init(below);
    mpq_set_ui(to, k, 1);
    mpq_mul(to, to, u);
    mpq_set_ui(below, 1, 1);
    mpq_sub(below, below, to);
    bool says = mpq_sgn(below) > 0;
    if (says)
        mpq_div(to, to, below);
    mpq_clear(below);
    return says;
}

/* The bound, written out: c = n eta/2 + u A if elements are rounded, F = 3 normal for each addition
 * that flushes, and c + F + min((n-1) u, hu/(1-hu)) (A + c + F); when compensated, c + F +
 * u (|S| + c + F) + (1+u) gamma_2h gamma_h (A + c + F). */
static void due_bound(mpq_t bound, const struct theorem *t, const struct reference *r,
                      enum format storage, enum format accumulator)
{
    const struct format_facts *facts = &format_facts[accumulator];
    mpq_t n, u, part, size, factor, gamma;
    mpq_inits(n, u, part, size, factor, gamma, NULL);
    mpfr_get_q(size, r->sum_abs);
    mpq_set_ui(n, r->n, 1);
    set_double(u, facts->unit_roundoff);
    mpq_set_ui(bound, 0, 1);
    if (!holds(accumulator, storage)) {
        set_double(part, facts->smallest);
        mpq_div_2exp(part, part, 1);
        add_product(bound, bound, n, part);
        add_product(bound, bound, u, size);
    }
    set_double(part, 3 * facts->smallest_normal);
    mpq_set_ui(factor, t->flushing, 1);
    add_product(bound, bound, part, factor);
    mpq_add(size, size, bound);
    mpq_set_ui(factor, r->n ? r->n - 1 : 0, 1);
    mpq_mul(factor, factor, u);
    if (t->kind == THEOREM_TREE && gamma_of(gamma, t->height, u) && mpq_cmp(gamma, factor) < 0)
        mpq_set(factor, gamma);
    if (t->kind == THEOREM_COMPENSATED) {
        mpfr_get_q(part, r->sum);
        mpq_abs(part, part);
        mpq_add(part, part, bound);
        gamma_of(factor, 2 * t->height, u);
        gamma_of(gamma, t->height, u);
        mpq_mul(factor, factor, gamma);
        add_product(factor, factor, factor, u);
        add_product(bound, bound, part, u);
    }
    add_product(bound, bound, factor, size);
    mpq_clears(n, u, part, size, factor, gamma, NULL);
}

/* The bound at a precision is the due one rounded up to it. */
static void expect_bound(const struct theorem *t, const struct reference *r, enum format storage,
                         enum format accumulator, mpfr_prec_t precision)
{
    const char *pair[] = {format_facts[storage].name, format_facts[accumulator].name};
    mpq_t due;
    mpfr_t bound, up;
    mpq_init(due);
    mpfr_init2(bound, precision);
    mpfr_init2(up, precision);
    due_bound(due, t, r, storage, accumulator);
    cr_assert(theorem_bound(bound, t, r, storage, accumulator));
    cr_assert(mpfr_get_prec(bound) == precision);
    mpfr_set_q(up, due, MPFR_RNDU);
    cr_assert(mpfr_equal_p(bound, up), "%s in %s, n = %zu, h = %zu, %zu flushing, %ld bits",
              pair[0], pair[1], r->n, t->height, t->flushing, (long)precision);
    mpq_clear(due);
    mpfr_clears(bound, up, (mpfr_ptr)0);
}

Test(theorem, bounds_in_every_format_pair)
{
    uint64_t seed = 61;
    for (enum format storage = 0; storage < FORMATS; storage++)
        for (enum format accumulator = 0; accumulator < FORMATS; accumulator++)
            for (int round = 0; round < 60; round++) {
                size_t n = (size_t)round % 20;
                struct array a = {storage, n, malloc(n ? array_bytes(storage, n) : 1)};
                sample_fill(&a, round % SAMPLE_BITS, accumulator, sample_next(&seed));
                struct reference r;
                cr_assert(reference_compute(&r, &a, REFERENCE_FAST, NULL) == STATUS_OK);
                struct theorem t = {.kind = round % 4 == 3 ? THEOREM_COMPENSATED
                                            : round % 3    ? THEOREM_TREE
                                                           : THEOREM_ANY_ORDER,
                                    .height = sample_next(&seed) % (n + 1),
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
