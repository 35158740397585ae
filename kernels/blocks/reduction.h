/* Reductions whose partial results are two words: the orders of sum/serial, sum/tiled and
 * sum/two_kernel, for any such reduction. */
#pragma once

#include "kernels/method/method.h"

/* The state of a reduction after some elements: of a product (kernels/product/scaled.h) or of
 * extrema (kernels/extremum/extremum.h). */
struct partial {
    union {
        double significand;
        int64_t rank;
    };
    union {
        int64_t exponent;
        uint64_t index;
    };
};

struct reduction {
    /* to[i] = element begin + i, i < count <= ARRAY_BLOCK. */
    void (*load)(struct partial *to, const struct task *t, size_t begin, size_t count);
    struct partial (*join)(enum format accumulator, struct partial a, struct partial b);
    /* Writes the result; NULL: that of nothing. */
    void (*finish)(const struct task *t, const struct partial *whole);
};

/* Run it in the order of the sum of that name; STATUS_MEMORY when memory is short. */
enum status reduce_serial(const struct reduction *r, const struct task *t, struct problem *p);
enum status reduce_tiled(const struct reduction *r, const struct task *t, struct problem *p);
enum status reduce_two_kernel(const struct reduction *r, const struct task *t, struct problem *p);
