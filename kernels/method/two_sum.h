/* Additions with what their rounding lost, exactly, in values that carry the format f. */
#pragma once

#include "reference/format/format.h"

struct two_sum {
    double sum, error; /* sum + error = a + b exactly */
};

/* Knuth's TwoSum (The Art of Computer Programming, volume 2, 4.2.2), for any a and b. Where sum is
 * not finite, error is NaN; so it may be where b is the largest finite number. */
static inline struct two_sum two_sum(enum format f, double a, double b)
{
    double sum = format_add(f, a, b);
    double of_b = format_add(f, sum, -a), of_a = format_add(f, sum, -of_b);
    double error = format_add(f, format_add(f, a, -of_a), format_add(f, b, -of_b));
    return (struct two_sum){sum, error};
}

/* Dekker's Fast2Sum, for |a| >= |b|. */
static inline struct two_sum fast_two_sum(enum format f, double a, double b)
{
    double sum = format_add(f, a, b);
    return (struct two_sum){sum, format_add(f, b, -format_add(f, sum, -a))};
}
