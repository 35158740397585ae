/* Exact elements of matrix products: two ways of ours, and MPFR's. */
#include <criterion/criterion.h>
#include <math.h>

#include "tests/support/oracle.h"
#include "tests/support/products.h"

static struct product_case a_case;

/* Every sample in every format, wide ones included, whose products need more than doubles hold. */
Test(exact_matrices, agree_with_mpfr)
{
    struct gemm_shape shape;
    size_t turn = 0, lost = 0;
    for (size_t i = 0; product_shape(&shape, i); i++)
        for (enum format s = 0; s < FORMATS; s++)
            for (enum sample kind = 0; kind < SAMPLES; kind++) {
                struct matrices_packed packed;
                struct problem p = {0};
                struct exact sum;
                if (++turn % 3 && shape.k > 20)
                    continue;
                product_fill(&a_case, &shape, s, s < ACCUMULATORS ? s : FP16, kind, turn);
                struct matrices of = gemm_matrices(&a_case.of);
                cr_assert(matrices_pack(&packed, &of, &p) == STATUS_OK);
                cr_expect(matrices_check(&packed, "a case", &p) == STATUS_OK, "%s: %s, %s", p.text,
                          format_facts[s].name, sample_name[kind]);
                for (size_t o = 0; o < matrices_outputs(&packed); o++)
                    lost += !matrices_sum(&packed, o, &sum);
                matrices_free(&packed);
            }
    cr_expect(lost > 10, "%zu elements needed more than doubles hold", lost);
}

/* Of the rows and columns that the layout says: whole numbers tell. */
Test(exact_matrices, whole_numbers)
{
    for (size_t layout = 0; layout < 4; layout++) {
        struct gemm_shape shape = {
            .m = 3, .n = 4, .k = 5, .a_column = layout & 1, .b_column = layout & 2, .pad = 2};
        struct matrices_packed packed;
        product_fill(&a_case, &shape, FP32, FP32, SAMPLE_NEAR, 1);
        for (size_t k = 0; k < 5; k++) {
            for (size_t i = 0; i < 3; i++)
                array_encode(&a_case.of.in, gemm_a_at(&shape, i, k), 1, &(double){10.0 * i + k});
            for (size_t j = 0; j < 4; j++)
                array_encode(&a_case.of.in, gemm_b_at(&shape, k, j), 1,
                             &(double){7.0 * j - 2.0 * k});
        }
        for (size_t i = 0; i < 12; i++)
            array_encode(&a_case.of.c, i, 1, &(double){1000.0 * i});
        struct matrices of = gemm_matrices(&a_case.of);
        cr_assert(matrices_pack(&packed, &of, NULL) == STATUS_OK);
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 4; j++) {
                double due = 1000.0 * (i * 4 + j);
                for (size_t k = 0; k < 5; k++)
                    due += (10.0 * i + k) * (7.0 * j - 2.0 * k);
                cr_expect(matrices_round(&packed, i * 4 + j, FP64) == due, "%zu, %zu", i, j);
            }
        matrices_free(&packed);
    }
}
