/* Bounds against rational arithmetic: exact where the theorem is a product, else just above. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "reference/theorem/factors.h"
#include "reference/theorem/theorem.h"
#include "tests/support/due_bound.h"
#include "tests/support/samples.h"

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
    for (enum format storage = 0; storage < ACCUMULATORS; storage++)
        for (enum format accumulator = 0; accumulator < ACCUMULATORS; accumulator++)
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

/* How much more than what is due a theorem may say: 2^-this of it. Welford's has a constant that is
 * a double, and what is divided by a root a variance of 640 digits. */
static unsigned long within(enum theorem_kind kind)
{
    return kind == THEOREM_WELFORD || kind == THEOREM_LAYERNORM_WELFORD ? 46
           : kind >= THEOREM_RMSNORM && kind <= THEOREM_LAYERNORM_CHAN  ? 600
                                                                        : 2000;
}

/* The same of what is no sum, roots and variances to their digits. Returns whether it says
 * anything. */
static bool expect_value_bound(const struct theorem *t, const struct reference *r,
                               enum format storage, enum format accumulator)
{
    const char *pair[] = {format_facts[storage].name, format_facts[accumulator].name};
    mpfr_t bound, rounded;
    mpfr_init2(bound, 2600);
    mpfr_init2(rounded, 53);
    bool says = theorem_bound(bound, t, r, storage, accumulator);
    rational due = due_bound(t, r, storage, accumulator),
             above = to_power(whole(2), within(t->kind));
    rational little = to_power(whole(2), within(t->kind) > 600 ? 2000 : 600);
    cr_assert(says == (due != NULL), "%s: %s in %s, n = %zu, h = %zu: it says %s",
              theorem_words(t->kind), pair[0], pair[1], r->n, t->height,
              says ? "something" : "nothing");
    if (!says) {
        rational_forget();
        mpfr_clears(bound, rounded, (mpfr_ptr)0);
        return false;
    }
    cr_assert(mpfr_cmp_q(bound, minus(due, over(due, little))) >= 0 &&
                  mpfr_cmp_q(bound, plus(due, over(due, above))) <= 0,
              "%s: %s in %s, n = %zu, h = %zu: %g of what is due", theorem_words(t->kind), pair[0],
              pair[1], r->n, t->height, mpfr_get_d(bound, MPFR_RNDN) / mpq_get_d(due));
    cr_assert(theorem_bound(rounded, t, r, storage, accumulator) &&
              mpfr_greaterequal_p(rounded, bound));
    rational_forget();
    mpfr_clears(bound, rounded, (mpfr_ptr)0);
    return true;
}

Test(theorem, bounds_of_values)
{
    static const struct {
        enum theorem_kind kind;
        enum exact_value of;
    } values[] = {{THEOREM_NORM, EXACT_NORM},
                  {THEOREM_SCALED_NORM, EXACT_NORM},
                  {THEOREM_MEAN, EXACT_MEAN},
                  {THEOREM_RUNNING_MEAN, EXACT_MEAN},
                  {THEOREM_TEXTBOOK, EXACT_VARIANCE},
                  {THEOREM_TWO_PASS, EXACT_VARIANCE},
                  {THEOREM_WELFORD, EXACT_VARIANCE},
                  {THEOREM_CHAN, EXACT_VARIANCE},
                  {THEOREM_PRODUCT, EXACT_PRODUCT},
                  {THEOREM_EXTREMUM, EXACT_MINIMUM},
                  {THEOREM_EXTREMUM, EXACT_ARGMIN},
                  {THEOREM_EXTREMUM, EXACT_ARGMAX},
                  {THEOREM_RMSNORM, EXACT_RMSNORM},
                  {THEOREM_LAYERNORM_TEXTBOOK, EXACT_LAYERNORM},
                  {THEOREM_LAYERNORM_TWO_PASS, EXACT_LAYERNORM},
                  {THEOREM_LAYERNORM_WELFORD, EXACT_LAYERNORM},
                  {THEOREM_LAYERNORM_CHAN, EXACT_LAYERNORM}};
    enum { VALUES = sizeof values / sizeof *values, KINDS = SAMPLE_BITS };
    uint64_t seed = 62;
    size_t said[VALUES] = {0};
    for (size_t round = 0; round < ACCUMULATORS * ACCUMULATORS * VALUES * KINDS; round++) {
        enum format storage = round % ACCUMULATORS,
                    accumulator = round / ACCUMULATORS % ACCUMULATORS;
        size_t v = round / (ACCUMULATORS * ACCUMULATORS) % VALUES, n = 1 + sample_next(&seed) % 12;
        struct array a = {storage, n, malloc(array_bytes(storage, n))};
        struct reference r;
        sample_fill(&a, round / (ACCUMULATORS * ACCUMULATORS * VALUES), accumulator,
                    sample_next(&seed));
        size_t index = exact_facts[values[v].of].each ? n / 2 : 0;
        cr_assert(reference_compute_at(&r, values[v].of, &a, index, REFERENCE_FAST, NULL) ==
                  STATUS_OK);
        struct theorem t = {.kind = values[v].kind, .height = sample_next(&seed) % (n + 1)};
        said[v] += expect_value_bound(&t, &r, storage, accumulator);
        if (t.kind == THEOREM_CHAN && accumulator == FP16) { /* n 2^emin > 1 */
            r.n = 20000;
            expect_value_bound(&t, &r, storage, accumulator);
        }
        reference_free(&r);
        free(a.data);
    }
    for (size_t v = 0; v < VALUES; v++)
        cr_expect(said[v] >= 25, "%s said something %zu times", theorem_words(values[v].kind),
                  said[v]);
}

Test(theorem, bounds_of_dot_products)
{
    static const struct {
        enum theorem_kind kind;
        enum product_kind product;
    } dots[] = {{THEOREM_ANY_ORDER, PRODUCT_UNKNOWN},
                {THEOREM_TREE, PRODUCT_ROUNDED},
                {THEOREM_TREE, PRODUCT_EXACT},
                {THEOREM_COMPENSATED, PRODUCT_ROUNDED},
                {THEOREM_COMPENSATED, PRODUCT_EXACT},
                {THEOREM_KAHAN, PRODUCT_FUSED},
                {THEOREM_CORRECTLY_ROUNDED, PRODUCT_EXACT},
                {THEOREM_WIDENED, PRODUCT_FUSED}};
    enum { DOTS = sizeof dots / sizeof *dots };
    uint64_t seed = 63;
    for (size_t round = 0; round < ACCUMULATORS * ACCUMULATORS * DOTS * SAMPLE_BITS; round++) {
        enum format storage = round % ACCUMULATORS,
                    accumulator = round / ACCUMULATORS % ACCUMULATORS;
        size_t d = round / (ACCUMULATORS * ACCUMULATORS) % DOTS, n = sample_next(&seed) % 12;
        enum sample kind = round / (ACCUMULATORS * ACCUMULATORS * DOTS);
        struct array a = {storage, n, malloc(array_bytes(storage, n) + 1)}, b = a;
        struct reference r;
        if (dots[d].kind == THEOREM_WIDENED && accumulator == FP64)
            continue;
        b.data = malloc(array_bytes(storage, n) + 1);
        sample_fill(&a, kind, accumulator, sample_next(&seed));
        sample_fill(&b, SAMPLE_NEAR, accumulator, sample_next(&seed));
        cr_assert(reference_compute_of(&r, EXACT_DOT, &a, &b, REFERENCE_FAST, NULL) == STATUS_OK);
        struct theorem t = {.kind = dots[d].kind,
                            .product = dots[d].product,
                            .height = sample_next(&seed) % (n + 1)};
        expect_bound(&t, &r, storage, accumulator, 200);
        reference_free(&r);
        free(a.data);
        free(b.data);
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
    for (enum format f = 0; f < ACCUMULATORS; f++)
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
    for (enum format f = 0; f < ACCUMULATORS; f++)
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

/* Of bf16 trees so high that a sum may be twice its magnitudes, and just not: errors may be lost
 * next to a largest number that the elements do not come near. */
Test(theorem, errors_lost_in_high_trees)
{
    double x[] = {1, 1};
    struct array a = {FP64, 2, x};
    struct reference r;
    cr_assert(reference_compute(&r, &a, REFERENCE_FAST, NULL) == STATUS_OK);
    for (size_t adds = 177; adds <= 180; adds++) { /* (1 + 2^-8)^179 > 2 */
        struct theorem words = {.kind = THEOREM_DOUBLE_WORD, .height = adds - 1};
        struct theorem folds = {.kind = THEOREM_K_FOLD, .height = (adds - 1) / 2, .folds = 2};
        expect_bound(&words, &r, BF16, BF16, 200);
        expect_bound(&folds, &r, BF16, BF16, 200);
    }
    reference_free(&r);
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
    for (enum format f = 0; f < ACCUMULATORS; f++)
        cr_expect(!theorem_bound(bound, &t, &r, FP64, f), "%s", format_facts[f].name);
    cr_expect(!theorem_has_height(THEOREM_NONE));
    reference_free(&r);
    mpfr_clear(bound);
}

/* n squares of scaled elements, each below 2^(exponent + k) with 2^exponent above the largest, stay
 * in range; scaled by 4 more they would not. */
Test(theorem, scale_of_a_norm)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t n = 1; n <= 1 << 20; n *= 2) {
            int k = theorem_scale(f, n, 0.75), bits = 2 * k + (int)log2((double)n);
            cr_expect(bits <= format_facts[f].emax && bits + 4 > format_facts[f].emax,
                      "%s, n = %zu: %d", format_facts[f].name, n, k);
        }
}

/* What is kept of rows that take turns changes no bound, whether there is room for all of them or a
 * row comes back after others had its room; every third row is longer, some are alike but for their
 * number of elements. */
Test(theorem, what_a_memo_keeps_changes_no_bound)
{
    enum { ROWS = THEOREM_MEMO_ROWS + 6, LONGEST = 4 };
    static const struct {
        enum theorem_kind kind;
        enum exact_value of;
    } due[] = {{THEOREM_RMSNORM, EXACT_RMSNORM},
               {THEOREM_LAYERNORM_TEXTBOOK, EXACT_LAYERNORM},
               {THEOREM_LAYERNORM_TWO_PASS, EXACT_LAYERNORM},
               {THEOREM_LAYERNORM_WELFORD, EXACT_LAYERNORM},
               {THEOREM_LAYERNORM_CHAN, EXACT_LAYERNORM},
               {THEOREM_EXPONENTIALS, EXACT_SOFTMAX},
               {THEOREM_RESCALED, EXACT_SOFTMAX}};
    static struct reference r[ROWS][LONGEST];
    static const size_t turns[] = {3, THEOREM_MEMO_ROWS, ROWS};
    mpfr_t with, without;
    mpfr_inits2(THEOREM_PRECISION, with, without, (mpfr_ptr)0);
    for (size_t k = 0; k < sizeof due / sizeof *due; k++) {
        memset(r, 0, sizeof r);
        for (size_t row = 0; row < ROWS; row++) {
            double x[LONGEST] = {1 + (double)(row / 2), -2, 0.75, row % 3 == 0 ? -2 : 0};
            struct array a = {FP64, LONGEST - (row % 3 != 0), x};
            cr_assert(reference_compute_each(r[row], due[k].of, &a, NULL) == STATUS_OK);
        }
        struct theorem t = {.kind = due[k].kind, .height = 5}, kept = t;
        kept.memo = theorem_memo_new();
        for (size_t i = 0; i < 3 * 3 * ROWS * LONGEST; i++) {
            size_t rows = turns[i / (3 * ROWS * LONGEST)], row = i % rows;
            const struct reference *at = &r[row][i / rows % r[row]->n];
            enum format f = i / (ROWS * LONGEST) % 2 ? FP32 : FP64;
            bool says = theorem_bound(with, &kept, at, FP64, f);
            cr_assert_eq(says, theorem_bound(without, &t, at, FP64, f));
            cr_expect(!says || mpfr_equal_p(with, without), "%zu rows, row %zu", rows, row);
        }
        theorem_memo_free(kept.memo);
        for (size_t row = 0; row < ROWS; row++)
            for (size_t i = 0, n = r[row]->n; i < n; i++)
                reference_free(&r[row][i]);
    }
    mpfr_clears(with, without, (mpfr_ptr)0);
}
