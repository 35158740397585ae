/* What an exact value is of. */
#pragma once

enum exact_value {
    EXACT_SUM,  /* of the elements x of an array; beside it A = sum|x| */
    EXACT_DOT,  /* of the products x y of the elements of two arrays, whole; A = sum|x y| */
    EXACT_NORM, /* sqrt(sum x^2), of nothing 0; A is the norm itself */
    EXACT_MEAN, /* (sum x) / n, of nothing NaN; A = (sum|x|) / n */
    /* (sum x^2)/n - ((sum x)/n)^2, of the whole population: divided by n; of nothing NaN.
     * A = (sum x^2)/n, so that A / variance is the square of the condition number of Chan, Golub
     * and LeVeque 1983. */
    EXACT_VARIANCE,
    EXACT_PRODUCT, /* of all elements, of nothing 1; A = |product| */
    /* The smallest and the largest element as IEEE 754-2019 orders them, 9.6: -0 below +0; of
     * nothing inf and -inf. minimum, maximum: a NaN wins. minimumNumber, maximumNumber: it loses;
     * only of NaNs it is NaN. Then their indices: the lowest of those that equal the minimum or the
     * maximum, where a NaN equals a NaN; of nothing -1. A is the magnitude of the value. */
    EXACT_MINIMUM,
    EXACT_MAXIMUM,
    EXACT_MINIMUM_NUMBER,
    EXACT_MAXIMUM_NUMBER,
    EXACT_ARGMIN,
    EXACT_ARGMAX,
    EXACT_VALUES
};
/* "sum of elements": what it is, for messages. */
extern const char *const exact_value_name[EXACT_VALUES];
