/* A of one 8-bit format and B of the other: what is made of an array, what methods compute of it,
 * and who refuses it. */
#include <criterion/criterion.h>
#include <math.h>

#include "experiments/operations/operation.h"
#include "experiments/operations/shape.h"
#include "kernels/mma/mma.h"
#include "tests/support/oracle.h"
#include "tests/support/products.h"

static struct product_case a_case;
static double out[PRODUCT_ROOM];

static const enum format eight[] = {E4M3, E5M2};

/* Elements of B are those of the array, rounded to the other format; A and the caller's array stay.
 */
Test(gemm_mixed, b_is_rounded_to_the_other_format)
{
    for (size_t f = 0; f < 2; f++) {
        struct setting_operands made;
        struct problem p = {0};
        struct setting s = {
            .shape = {.m = 3, .n = 5, .k = 7, .pad = 2, .mixed = true}, .output = FP32, .bins = 15};
        const size_t begins = gemm_b_begins(&s.shape), ends = gemm_c_begins(&s.shape),
                     n = gemm_elements(&s.shape);
        unsigned char data[512], before[512];
        const struct array in = {eight[f], n, data};
        size_t rounded = 0;
        cr_assert(n < sizeof data);
        for (size_t i = 0; i < n; i++)
            data[i] = (unsigned char)(i * 7 % 119); /* no NaN, no infinity, in either format */
        memcpy(before, data, sizeof data);
        made.of = (struct operands){.in = in};
        cr_assert(setting_make(&made, &operation_gemm, &s, 1, &p) == STATUS_OK, "%s", p.text);
        cr_expect(memcmp(before, data, n) == 0);
        const struct array mixed = {eight[!f], n, made.of.in.data};
        for (size_t i = 0; i < n; i++) {
            const bool of_b = i >= begins && i < ends;
            const double due =
                of_b ? format_round(eight[!f], array_get(&in, i)) : array_get(&in, i);
            const double found = of_b ? array_get(&mixed, i) : array_get(&made.of.in, i);
            cr_expect(same_double(found, due), "%zu: %g, due %g", i, found, due);
            rounded += of_b && found != array_get(&in, i);
        }
        cr_expect(f == 1 || rounded > 0, "e5m2 keeps a bit less");
        cr_expect(setting_can(method_named("gemm/wgmma"), &s, eight[f], FP32));
        cr_expect(!setting_can(method_named("gemm/wgmma"), &s, FP16, FP32));
        setting_free(&made);
    }
}

/* The operands of element `output`, told from the shape's own words: B in the other format. */
static void element(unsigned char *a, unsigned char *b, size_t output)
{
    const struct gemm_shape *s = &a_case.of.gemm;
    const unsigned char *in = a_case.of.in.data;
    for (size_t k = 0; k < s->k; k++) {
        a[k] = in[gemm_a_at(s, output / s->n, k)];
        b[k] = in[gemm_b_at(s, k, output % s->n)];
    }
}

/* Exact products are MPFR's; models give the bits of instructions with operands of two formats,
 * which vectors of an H100 hold (mma_vectors), and keep to their bounds. */
Test(gemm_mixed, methods_read_both_formats)
{
    static const char *const names[] = {"gemm/exact", "gemm/serial", "gemm/mma", "gemm/wgmma",
                                        "gemm/promoted"};
    struct gemm_shape shape;
    size_t turn = 0, unlike = 0, near = 0;
    mpfr_t sum, term, factor;
    enum { ROUNDS = 16 }; /* of other numbers */
    mpfr_inits2(PRODUCTS_PRECISION, sum, term, factor, (mpfr_ptr)0);
    for (size_t i = 0; product_shape(&shape, i); i++)
        for (size_t f = 0; f < 2 * ROUNDS; f++) {
            const enum format of_a = eight[f % 2], of_b = eight[!(f % 2)];
            turn++;
            unsigned char a[PRODUCT_ROOM], b[PRODUCT_ROOM];
            product_fill(&a_case, &shape, of_a, FP32, (enum sample)(turn % SAMPLES), turn);
            a_case.of.gemm.mixed = true;
            struct matrices_packed packed;
            struct matrices of = gemm_matrices(&a_case.of);
            cr_assert(matrices_pack(&packed, &of, NULL) == STATUS_OK);
            for (size_t m = 0; m < 5; m++) {
                const struct method *method = method_named(names[m]);
                cr_assert(product_run(method, &a_case, FP32, FP32, (struct shape){2, 0}, out) ==
                          STATUS_OK);
                for (size_t o = 0; o < a_case.of.bins; o++) {
                    const double c = array_get(&a_case.of.c, o);
                    double due = c;
                    element(a, b, o);
                    mpfr_set_d(sum, c, MPFR_RNDN);
                    for (size_t k = 0; k < shape.k; k++) {
                        const double x = format_decode(of_a, a[k]), y = format_decode(of_b, b[k]);
                        due = format_round(FP32, fma(x, y, due));
                        mpfr_set_d(term, x, MPFR_RNDN);
                        mpfr_mul_d(term, term, y, MPFR_RNDN);
                        mpfr_add(sum, sum, term, MPFR_RNDN);
                    }
                    if (m == 0)
                        due = oracle_round(FP32, sum);
                    if (m >= 2) {
                        const struct mma_instruction *is = mma_find(
                            MMA_CHIP, m == 2 ? MMA_SYNC : MMA_WGMMA, mma_element_of(of_a), FP32);
                        const uint64_t from = m == 4 ? 0 : format_encode(FP32, c);
                        if (m == 4 && shape.k > GEMM_PROMOTE)
                            continue;
                        due = format_decode(FP32, mma_dot_mixed(&is->rule, mma_element_of(of_b),
                                                                shape.k, a, b, from));
                        due = m == 4 && shape.k > 0 ? format_add(FP32, c, due) : m == 4 ? c : due;
                        unlike += !same_double(
                            due, format_decode(FP32, mma_dot(&is->rule, shape.k, a, b, from)));
                        const double bound =
                            method->given(&a_case.of, FP32, (struct shape){2, 0}, &packed, o);
                        if (mpfr_number_p(sum) && isfinite(out[o]) && isfinite(bound)) {
                            mpfr_sub_d(term, sum, out[o], MPFR_RNDA);
                            const double error = fabs(mpfr_get_d(term, MPFR_RNDA));
                            cr_assert(error <= bound, "%s: %g, bound %g", names[m], error, bound);
                            near += bound > 0 && error > 0.02 * bound;
                        }
                    }
                    cr_assert(same_double(out[o], due) || (isnan(out[o]) && isnan(due)),
                              "%s, %s x %s, k = %zu: %a, due %a", names[m], format_facts[of_a].name,
                              format_facts[of_b].name, shape.k, out[o], due);
                }
            }
            matrices_free(&packed);
        }
    mpfr_clears(sum, term, factor, (mpfr_ptr)0);
    cr_expect(unlike > 100 && near > 0, "%zu unlike those of one format, %zu near a bound", unlike,
              near);
}

Test(gemm_mixed, shapes)
{
    struct gemm_shape s, same;
    struct problem p = {0};
    char text[SHAPE_NAME];
    cr_assert(shape_parse_all(&s, "4x8x32:nt:mixed", &p) == STATUS_OK, "%s", p.text);
    cr_expect(s.mixed && s.b_column && s.k == 32);
    shape_name(text, &s);
    cr_expect_str_eq(text, "4x8x32:nt:mixed");
    same = s;
    same.mixed = false;
    cr_expect(!shape_equal(&s, &same));
    cr_expect(shape_parse(&s, "4x8x32:nt:mixed", &p) == STATUS_USAGE);
    cr_expect(strstr(p.text, "run gemm alone multiplies mixed ones"), "%s", p.text);
}
