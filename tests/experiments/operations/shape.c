/* Shapes of matrix products: what is read, what is refused, and what fits. */
#include <criterion/criterion.h>

#include "experiments/operations/shape.h"
#include "reference/base/problem.h"

Test(shape, words_are_read_and_said)
{
    static const char *const good[] = {"64x64x256",     "1x1x0",
                                       "0x3x4",         "5x6x7:nt",
                                       "5x6x7:tn",      "5x6x7:tt:pad=3",
                                       "12x1x1:pad=64", "1024x1024x1048576",
                                       "4x4x4:c=0",     "5x6x7:tt:pad=3:c=0"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct gemm_shape s, again;
        struct problem p = {0};
        char name[SHAPE_NAME];
        cr_expect(shape_parse(&s, good[i], &p) == STATUS_OK, "%s: %s", good[i], p.text);
        shape_name(name, &s);
        cr_expect_str_eq(name, good[i]);
        cr_expect(shape_parse(&again, name, NULL) == STATUS_OK && shape_equal(&s, &again));
    }
    struct gemm_shape s;
    cr_expect(shape_parse(&s, "2^5x1e2x7:pad=1:nn", NULL) == STATUS_OK);
    cr_expect(s.m == 32 && s.n == 100 && s.k == 7 && s.pad == 1 && !s.a_column && !s.b_column);
}

Test(shape, others_are_refused)
{
    static const char *const bad[] = {
        "",          "64",         "64x64",       "64x64x",      "x64x64",      "64x64x64x4",
        "64x64x64:", "64x64x64:n", "4x4x4:xx",    "4x4x4:nt:n",  "4x4x4:nt:tn", "4x4x4:pad=",
        "4x4x4 ",    "-1x4x4",     "2097152x1x1", "4x4x4:pad=x", "4x4x4nt",     "4x4x4:nt4",
        "4x4x4:c=1", "4x4x4:c",    "1..4x4x4",    "4,4x4x4"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gemm_shape s;
        struct problem p = {0};
        cr_expect(shape_parse(&s, bad[i], &p) == STATUS_USAGE && strstr(p.text, "--shape"),
                  "%s: %s", bad[i], p.text);
    }
}

Test(shape, what_fits_fits)
{
    for (size_t n = 0; n < 3000; n++)
        for (size_t u = 0; u < 48; u++) {
            struct gemm_shape s = shape_fitting(n, u, (u ^ u / 8) % 2);
            cr_expect(gemm_elements(&s) <= n, "n = %zu, %zu: %zu elements", n, u,
                      gemm_elements(&s));
            cr_expect(n < 100 || (s.k > 0 && s.m > 0 && s.n > 0 && 2 * gemm_elements(&s) > n),
                      "n = %zu, %zu: %zu x %zu x %zu", n, u, s.m, s.n, s.k);
            cr_expect(!s.no_c || n < 2 || s.k > 0, "n = %zu, %zu: no products", n, u);
        }
}

/* Each element of A, B and C has a place of its own. */
Test(shape, layouts_are_one_to_one)
{
    for (size_t u = 0; u < 24; u++) {
        struct gemm_shape s = {.m = 1 + u % 3,
                               .n = 1 + u % 4,
                               .k = 1 + u % 5,
                               .a_column = u & 1,
                               .b_column = u & 2,
                               .pad = u % 3};
        size_t seen[200] = {0};
        cr_assert(gemm_elements(&s) <= 200);
        for (size_t k = 0; k < s.k; k++) {
            for (size_t i = 0; i < s.m; i++)
                cr_expect(gemm_a_at(&s, i, k) < gemm_b_begins(&s) &&
                          seen[gemm_a_at(&s, i, k)]++ == 0);
            for (size_t j = 0; j < s.n; j++)
                cr_expect(gemm_b_at(&s, k, j) < gemm_c_begins(&s) &&
                          seen[gemm_b_at(&s, k, j)]++ == 0);
        }
    }
}
