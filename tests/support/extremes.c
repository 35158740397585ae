#include "tests/support/extremes.h"

#include <math.h>
#include <stdbool.h>

/* a < b in IEEE 754-2019's order of numbers. */
static bool below(double a, double b)
{
    return a < b || (a == 0 && b == 0 && signbit(a) && !signbit(b));
}

/* Must the result be x rather than y, where they are all there is? */
static bool surpasses(enum exact_value of, double x, double y)
{
    bool number = of == EXACT_MINIMUM_NUMBER || of == EXACT_MAXIMUM_NUMBER;
    bool least = of == EXACT_MINIMUM || of == EXACT_MINIMUM_NUMBER || of == EXACT_ARGMIN;
    if (isnan(x) && isnan(y))
        return false;
    if (isnan(x) || isnan(y))
        return number ? isnan(y) : isnan(x);
    return least ? below(x, y) : below(y, x);
}

/* One that surpasses most. */
static size_t likely(enum exact_value of, const struct array *a)
{
    size_t best = 0;
    for (size_t i = 1; i < a->n; i++)
        if (surpasses(of, array_get(a, i), array_get(a, best)))
            best = i;
    return best;
}

double extreme_due(enum exact_value of, const struct array *a)
{
    bool index = of == EXACT_ARGMIN || of == EXACT_ARGMAX;
    double first = a->n ? array_get(a, likely(of, a)) : 0;
    for (size_t i = 0; i < a->n; i++) {
        bool surpassed = surpasses(of, first, array_get(a, i));
        for (size_t j = 0; j < a->n && !surpassed; j++)
            surpassed = surpasses(of, array_get(a, j), array_get(a, i));
        if (!surpassed)
            return index ? (double)i : array_get(a, i);
    }
    if (index)
        return -1;
    return of == EXACT_MINIMUM || of == EXACT_MINIMUM_NUMBER ? INFINITY : -INFINITY;
}
