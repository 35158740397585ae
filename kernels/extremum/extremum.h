/* Minima, maxima and their indices: comparisons of whole numbers.
 *
 * Each element has a rank, which grows with its value, or falls where the largest is sought: -0
 * stands below +0, and a NaN has the least rank of all where it wins, the greatest where it loses.
 * The result is the element of the least rank, the first of several. Any order of comparisons finds
 * the same element, so the order does not affect the bits of any form of these methods. */
#pragma once

#include "kernels/blocks/reduction.h"

/* The methods of a form, METHOD(operation, promise, accumulators): an element found is rounded once
 * and so the same for any order of the elements; an index moves with its element. */
#define EXTREMA(METHOD)                                                                            \
    METHOD(minimum, PROMISE_CORRECTLY_ROUNDED, IN_ALL)                                             \
    METHOD(maximum, PROMISE_CORRECTLY_ROUNDED, IN_ALL)                                             \
    METHOD(minimum_number, PROMISE_CORRECTLY_ROUNDED, IN_ALL)                                      \
    METHOD(maximum_number, PROMISE_CORRECTLY_ROUNDED, IN_ALL)                                      \
    METHOD(argmin, PROMISE_GPU_TO_GPU, IN(FP64))                                                   \
    METHOD(argmax, PROMISE_GPU_TO_GPU, IN(FP64))

/* The rank of x for a value of EXACT_MINIMUM .. EXACT_ARGMAX, and an element of that rank. */
int64_t extremum_rank(enum exact_value of, double x);
double extremum_ranked(enum exact_value of, int64_t rank);

/* Writes the result; NULL: that of nothing. */
void extremum_finish(enum exact_value of, const struct task *t, const struct partial *found);

/* One method of a form. `run`: what its CPU side returns; last come the members for launch shapes.
 */
#define EXTREMUM_METHOD(sought, form, promised, accumulators, run, says, ...)                      \
    static enum status sought##_cpu(const struct task *t, struct problem *p)                       \
    {                                                                                              \
        return run;                                                                                \
    }                                                                                              \
    const struct method sought##_##form = {                                                        \
        .name = #sought "/" #form,                                                                 \
        .summary = says,                                                                           \
        .operation = &operation_##sought,                                                          \
        .promise = promised,                                                                       \
        .pairs = {FORMAT_PAIRS_FROM_ALL(accumulators), FORMAT_PAIRS_FROM_16(accumulators)},        \
        .addition = ADDITION_NONE,                                                                 \
        .bound = THEOREM_EXTREMUM,                                                                 \
        .cpu = sought##_cpu,                                                                       \
        __VA_ARGS__};

#define DECLARE_REDUCTION(operation, promise, accumulators)                                        \
    extern const struct reduction operation##_reduction;
EXTREMA(DECLARE_REDUCTION)
