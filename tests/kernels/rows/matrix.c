/* Sums of rows, transpositions and compactions. What every method is held to, holds.h holds them
 * to as well, output by output. */
#include <criterion/criterion.h>

#include "kernels/method/matrix.h"
#include "tests/support/matrices.h"
#include "tests/mutants/caught.h"

Test(matrix, bits_output_by_output)
{
    char why[WHY] = "";
    size_t checked = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (!matrix_takes(m) || !m->cpu)
            continue;
        cr_expect(holds_matrix_bits(m, why), "%s", why);
        checked++;
    }
    cr_expect(checked >= 8);
}

Test(matrix, every_mutant_is_caught)
{
    mutants_expect_caught(matrix_mutants, matrix_mutant_count);
}

/* Every element is in one row, at one place of it. */
Test(matrix, layouts_are_one_to_one)
{
    for (size_t rows = 1; rows <= 12; rows++)
        for (size_t stride = 1; stride <= rows; stride++)
            for (size_t length = 1; length < 5 && rows % stride == 0; length++) {
                size_t seen[60] = {0}, n = rows * length;
                cr_assert_eq(matrix_length(n, rows), length);
                for (size_t r = 0; r < rows; r++)
                    for (size_t k = 0; k < length; k++) {
                        size_t i = matrix_at(r, k, length, stride);
                        cr_assert(i < n && seen[i]++ == 0, "%zu x %zu, stride %zu: %zu", rows,
                                  length, stride, i);
                        cr_expect_eq(matrix_row(i, length, stride), r);
                        cr_expect(stride > 1 || i == r * length + k);
                        cr_expect(stride < rows || i == k * rows + r);
                    }
            }
}
