/* Split-K with the slices' sums kept in the storage format: every bit against a walk of the order
 * that the file states, by MPFR; no error is beyond its bound, and some come near it. */
#include <criterion/criterion.h>
#include <math.h>

#include "tests/support/oracle.h"
#include "tests/support/products.h"

static struct product_case a_case;
static double out[PRODUCT_ROOM], x[PRODUCT_ROOM], y[PRODUCT_ROOM];

/* The sum of products begin .. end-1 in fp32, one after the other, each fused. */
static double chain(size_t begin, size_t end)
{
    double sum = -0.0;
    mpfr_t a, b, c;
    mpfr_inits2(53, a, b, (mpfr_ptr)0);
    mpfr_init2(c, PRODUCTS_PRECISION);
    for (size_t k = begin; k < end; k++) {
        mpfr_set_d(a, x[k], MPFR_RNDN);
        mpfr_set_d(b, y[k], MPFR_RNDN);
        mpfr_set_d(c, sum, MPFR_RNDN);
        mpfr_fma(c, a, b, c, MPFR_RNDN);
        sum = oracle_round(FP32, c);
    }
    mpfr_clears(a, b, c, (mpfr_ptr)0);
    return sum;
}

static double in_bf16(double value)
{
    return oracle_add(BF16, value, -0.0);
}

static double due(bool stored, size_t k, double c, unsigned blocks)
{
    const size_t length = (k + blocks - 1) / blocks;
    double sum = stored ? in_bf16(c) : 0;
    for (size_t begin = 0; begin < k; begin += length) {
        const double one = chain(begin, begin + length < k ? begin + length : k);
        if (stored)
            sum = in_bf16(oracle_add(FP32, sum, one));
        else
            sum = begin == 0 ? in_bf16(one) : oracle_add(FP32, sum, in_bf16(one));
    }
    return stored ? sum : k == 0 ? c : oracle_add(FP32, sum, c);
}

static double terms(size_t output)
{
    const struct gemm_shape *s = &a_case.of.gemm;
    const size_t i = output / s->n, j = output % s->n;
    for (size_t k = 0; k < s->k; k++) {
        x[k] = array_get(&a_case.of.in, gemm_a_at(s, i, k));
        y[k] = array_get(&a_case.of.in, gemm_b_at(s, k, j));
    }
    return format_round(FP32, array_get(&a_case.of.c, output));
}

Test(gemm_split_k_rounded, bits_and_bounds)
{
    static const char *const names[] = {"gemm/split_k_rounded", "gemm/split_k_stored"};
    struct gemm_shape shape;
    double most[2] = {0};
    mpfr_t sum, size;
    mpfr_inits2(PRODUCTS_PRECISION, sum, size, (mpfr_ptr)0);
    size_t turn = 0;
    for (size_t i = 0; product_shape(&shape, i); i++)
        for (unsigned blocks = 1; blocks <= 64; blocks = 3 * blocks + 1)
            for (size_t m = 0; m < 2; m++) {
                const struct method *method = method_named(names[m]);
                const struct shape launch = {1 + (unsigned)++turn % 3, blocks};
                struct matrices_packed packed;
                product_fill(&a_case, &shape, BF16, FP32, (enum sample)(turn % SAMPLES), turn);
                struct matrices of = gemm_matrices(&a_case.of);
                cr_assert(product_run(method, &a_case, FP32, FP32, launch, out) == STATUS_OK);
                cr_assert(matrices_pack(&packed, &of, NULL) == STATUS_OK);
                for (size_t o = 0; o < a_case.of.bins; o++) {
                    const double want = due(m == 1, shape.k, terms(o), blocks);
                    cr_assert(same_double(out[o], want), "%s, k = %zu, %u blocks: %a, due %a",
                              names[m], shape.k, blocks, out[o], want);
                    const double bound = method->given(&a_case.of, FP32, launch, &packed, o);
                    matrices_mpfr(&packed, o, sum, size);
                    if (!mpfr_number_p(sum) || !isfinite(out[o]) || !isfinite(bound))
                        continue;
                    mpfr_sub_d(sum, sum, out[o], MPFR_RNDA);
                    const double error = fabs(mpfr_get_d(sum, MPFR_RNDA));
                    cr_assert(error <= bound, "%s, k = %zu, %u blocks: off by %g, bound %g",
                              names[m], shape.k, blocks, error, bound);
                    most[m] = bound > 0 ? fmax(most[m], error / bound) : most[m];
                }
                matrices_free(&packed);
            }
    mpfr_clears(sum, size, (mpfr_ptr)0);
    cr_expect(most[0] > 0.25 && most[1] > 0.25, "no error is near its bound: %g, %g", most[0],
              most[1]);
}
