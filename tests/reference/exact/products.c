/* Exact dot products against MPFR: no rounding, no overflow, no underflow, any order. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "experiments/inputs/input.h"
#include "reference/exact/products.h"
#include "reference/exact/reference.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

enum { MOST = 70001 };

static double data[2][MOST];

/* The exact sum, of products or of their magnitudes, one MPFR operation after the other. */
static void due_sum(mpfr_t to, const struct array *a, const struct array *b, bool magnitudes)
{
    MPFR_DECL_INIT(x, 53);
    MPFR_DECL_INIT(y, 53);
    MPFR_DECL_INIT(product, 106);
    mpfr_set_prec(to, 4400);
    mpfr_set_zero(to, 1);
    for (size_t i = 0; i < a->n; i++) {
        mpfr_set_d(x, array_get(a, i), MPFR_RNDN);
        mpfr_set_d(y, array_get(b, i), MPFR_RNDN);
        cr_assert(mpfr_mul(product, x, y, MPFR_RNDN) == 0);
        if (magnitudes)
            mpfr_abs(product, product, MPFR_RNDN);
        cr_assert((i == 0 ? mpfr_set(to, product, MPFR_RNDN)
                          : mpfr_add(to, to, product, MPFR_RNDN)) == 0);
    }
}

static void expect_products(const struct products *s, const struct array *a, const struct array *b,
                            const char *what)
{
    const char *name = format_facts[a->format].name;
    mpfr_t due, got;
    mpfr_inits2(53, due, got, (mpfr_ptr)0);
    due_sum(due, a, b, true);
    products_get_abs(got, s);
    cr_assert(same_mpfr(got, due), "%s, %s, n = %zu: sum of magnitudes", what, name, a->n);
    due_sum(due, a, b, false);
    products_get(got, s);
    cr_assert(same_mpfr(got, due), "%s, %s, n = %zu: sum", what, name, a->n);
    for (enum format f = 0; f < FORMATS; f++) {
        double rounded = products_round(s, f), rounded_due = oracle_round(f, due);
        cr_assert(same_double(rounded, rounded_due), "%s, %s, n = %zu: to %s %a, MPFR says %a",
                  what, name, a->n, format_facts[f].name, rounded, rounded_due);
    }
    mpfr_clears(due, got, (mpfr_ptr)0);
}

static void expect_arrays(const struct array *a, const struct array *b, const char *what)
{
    struct products s, rest;
    size_t cut = a->n / 3;
    products_init(&s);
    products_init(&rest);
    cr_assert(products_add(&rest, a, b, cut, a->n - cut) && products_add(&s, a, b, 0, cut));
    products_merge(&s, &rest);
    expect_products(&s, a, b, what);
    products_init(&s);
    for (size_t i = 0; i < a->n && i < 100; i++)
        products_add_one(&s, array_get(a, i), array_get(b, i));
    if (a->n <= 100)
        expect_products(&s, a, b, what);
}

static void two_samples(struct array *a, struct array *b, enum format f, size_t n, enum sample k,
                        enum sample l, uint64_t seed)
{
    *a = (struct array){f, n, data[0]};
    *b = (struct array){f, n, data[1]};
    sample_fill(a, k, f, seed);
    sample_fill(b, l, f, ~seed);
}

Test(products, samples_of_every_kind)
{
    static const size_t lengths[] = {0, 1, 2, 5, 40, 600, 3000};
    uint64_t seed = 11;
    struct array a, b;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (enum format f = 0; f < FORMATS; f++)
            for (enum sample k = 0; k < SAMPLES; k++)
                for (enum sample l = 0; l < SAMPLES; l++) {
                    if (lengths[i] > 100 && (k + l + f) % 3 != 0)
                        continue;
                    two_samples(&a, &b, f, lengths[i], k, l, sample_next(&seed));
                    expect_arrays(&a, &b, sample_name[k]);
                }
}

/* Doubles of any exponent: products from 2^-2148 to 2^2048. */
Test(products, every_exponent)
{
    uint64_t seed = 5;
    for (int round = 0; round < 300; round++) {
        struct array a = {FP64, 50, data[0]}, b = {FP64, 50, data[1]};
        for (size_t i = 0; i < 50; i++)
            for (int side = 0; side < 2; side++) {
                uint64_t bits = sample_next(&seed), field = sample_next(&seed) % 2047;
                if (round % 3 == 1) /* of one size: near an end of a scale */
                    field = (uint64_t)(1023 + 50 * (round % 41 - 20) / 2);
                if (round % 3 == 2)
                    field = bits % 3 ? 0 : 2046;
                array_set_bits(side ? &b : &a, i, (bits & ~(UINT64_C(0x7ff) << 52)) | field << 52);
            }
        expect_arrays(&a, &b, "exponents");
    }
}

/* The ends of the range, powers of two and their neighbours, where a rounded product is a power of
 * two; the borders between scales. */
Test(products, corners)
{
    static double corner[200];
    static const double base[] = {0,         -0.0,      0x1p-1074, 0x1p-1022, 0x1p-537, 0x1p-450,
                                  0x1p-449,  0x1p-451,  0x1p-53,   1,         3,        0x1p53,
                                  0x1p499,   0x1p500,   0x1p501,   0x1p1023,  INFINITY, NAN,
                                  0x1p-1000, 0x1.8p512, 0x1p-1021};
    size_t count = 0;
    for (size_t i = 0; i < sizeof base / sizeof *base; i++)
        for (int side = -1; side <= 1; side++)
            for (int sign = 0; sign < 2; sign++) {
                double x = side < 0   ? nextafter(base[i], 0)
                           : side > 0 ? nextafter(base[i], INFINITY)
                                      : base[i];
                corner[count++] = sign ? -x : x;
            }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            double x[2] = {corner[i], corner[(i * 7 + k) % count]};
            double y[2] = {corner[k], corner[(k * 5 + i) % count]};
            struct array a = {FP64, 1 + (i + k) % 2, x}, b = {FP64, 1 + (i + k) % 2, y};
            expect_arrays(&a, &b, "corners");
        }
}

/* Each variant of the loop takes products apart alike. */
Test(products, variants_agree)
{
    static double hi[2][MOST], lo[2][MOST];
    uint64_t seed = 3;
    size_t last = products_variants - 1;
    for (size_t v = 0; v < products_variants; v++)
        for (enum sample k = 0; products_variant[v].available() && k < SAMPLES; k++) {
            struct array a, b;
            two_samples(&a, &b, FP64, 1003, k, SAMPLE_NEAR, sample_next(&seed));
            size_t n = products_variant[v].split(data[0], data[1], 1003, hi[0], lo[0]);
            size_t due = products_variant[last].split(data[0], data[1], 1003, hi[1], lo[1]);
            cr_assert_eq(n, due, "%s: %zu, %zu", products_variant[v].name, n, due);
            for (size_t i = 0; i < 1003; i++)
                cr_assert(same_double(hi[0][i], hi[1][i]) && same_double(lo[0][i], lo[1][i]),
                          "%s: %a %a", products_variant[v].name, data[0][i], data[1][i]);
        }
}

/* Both references of a dot product, on every input family, as studies read them. */
Test(products, references_agree_on_every_input)
{
    static const size_t lengths[] = {0, 1, 3, 1000, 5000, 35000};
    static double both[MOST];
    size_t generated = 0;
    for (size_t i = 0; i < input_family_count + pair_family_count; i++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            for (enum format f = 0; f < FORMATS; f++) {
                const struct input_family *family = i < input_family_count
                                                        ? input_families[i]
                                                        : pair_families[i - input_family_count];
                struct array whole = {f, 2 * lengths[k], both}, a = {f, lengths[k], both};
                struct array b = {f, lengths[k], (char *)both + array_bytes(f, lengths[k])};
                struct input in;
                struct reference fast, slow;
                if (k == 5 && (i + f) % 4 != 0)
                    continue;
                cr_assert(input_parse(&in, family->name, NULL) == STATUS_OK, "%s", family->name);
                if (input_generate_pair(&in, &whole, k + 1, 0, NULL) != STATUS_OK)
                    continue;
                generated++;
                cr_assert(reference_compute_of(&fast, EXACT_DOT, &a, &b, REFERENCE_FAST, NULL) ==
                          STATUS_OK);
                cr_assert(reference_compute_of(&slow, EXACT_DOT, &a, &b, REFERENCE_MPFR, NULL) ==
                          STATUS_OK);
                cr_expect(reference_equal(&fast, &slow), "%s, %s, n = %zu", family->name,
                          format_facts[f].name, lengths[k]);
                reference_free(&fast);
                reference_free(&slow);
            }
    cr_expect(generated > 500, "%zu", generated);
}
