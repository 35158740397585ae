/* Shared by the norms that are roots of sums of squares, on the CPU. */
#pragma once

#include <math.h>

#include "kernels/method/method.h"

/* The root of what a method of dot products makes of the array with itself. A root in double has
 * more than twice the digits of the narrower formats, and two more: rounded again to one of them,
 * it is the exact root rounded once. */
static inline enum status norm_root_of(const struct method *dot, const struct task *t,
                                       struct problem *p)
{
    struct operands with_itself = {.in = t->of->in, .in2 = t->of->in, .product = dot->product};
    struct task squares = *t;
    squares.method = dot;
    squares.of = &with_itself;
    enum status status = dot->cpu(&squares, p);
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1,
                     &(double){format_round(t->accumulator, sqrt(array_get(&t->out, 0)))});
    return status;
}
