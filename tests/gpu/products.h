/* Matrix products on a GPU, held to the CPU twin. What does not hold fails the test. */
#pragma once

#include <criterion/criterion.h>

#include "kernels/gpu/gpu.h"
#include "tests/support/products.h"

/* Operands of their own size, on the host. */
struct gpu_product {
    const struct method *method;
    const struct method *twin; /* what is run on the CPU; NULL: the same */
    struct operands of;
    enum format accumulator;
    const char *what;
};

struct gpu_product gpu_product_new(const struct gemm_shape *shape, enum format storage,
                                   enum format accumulator, enum format output);
void gpu_product_free(struct gpu_product *s);

/* A and B of samples, and C; that stays zeros where there is none. Or of -1, 0 and 1, whose sums
 * are exact in any order up to 256 of them. */
void gpu_product_fill(struct gpu_product *s, enum sample kind, uint64_t seed);
void gpu_product_units(struct gpu_product *s, uint64_t seed);

/* D of the last of several runs, A `offset` elements beyond what is aligned. False, and nothing is
 * written, where a library says that it does not support this. */
bool gpu_product_run(const struct gpu_product *s, size_t offset, struct shape asked,
                     const struct array *out);

/* Every element is the CPU's, NaNs alike; false: not supported. */
bool gpu_product_hold(const struct gpu_product *s, size_t offset, unsigned blocks);
