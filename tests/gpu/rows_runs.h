/* Cases of tests/support/matrices.h on a GPU. What does not hold fails the test. */
#pragma once

#include "tests/support/matrices.h"

/* A case with room for so many elements, to be freed. */
struct matrix_case *gpu_rows_new(const struct method *m, size_t room);
void gpu_rows_free(struct matrix_case *c);

/* Runs it there, the array `offset` elements beyond what is aligned; the last run's output is
 * copied. All runs are alike where that is promised. */
void gpu_rows_run(const struct matrix_case *c, size_t offset, const struct array *out);

/* Every output is what it must be; and, where there is an order or none is needed, the CPU twin's,
 * bit by bit. */
void gpu_rows_hold(struct matrix_case *c, size_t offset, struct shape asked);
