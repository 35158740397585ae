/* Matrix products for tests: operands of every layout, filled with samples. */
#pragma once

#include "kernels/gemm/elements.h"
#include "tests/support/samples.h"

enum { PRODUCT_ROOM = 4096 };

struct product_case {
    struct operands of; /* its arrays are the case's own: not to be copied */
    double in[PRODUCT_ROOM], c[PRODUCT_ROOM];
};

/* A, B and C of samples: A and B of `storage`, C of `output`. What no method may read is NaN. */
void product_fill(struct product_case *p, const struct gemm_shape *shape, enum format storage,
                  enum format output, enum sample kind, uint64_t seed);

/* The i-th of the shapes that tests go over, in all layouts; false behind the last. */
bool product_shape(struct gemm_shape *shape, size_t i);

/* One run on the CPU: m n elements of `output` in out[]. */
enum status product_run(const struct method *m, const struct product_case *p,
                        enum format accumulator, enum format output, struct shape asked,
                        double out[PRODUCT_ROOM]);
