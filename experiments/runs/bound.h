/* When a result breaks its error bound, where bits and tolerances are judged. How a subject from
 * elsewhere adds is not known, and `run` says how its errors compare with the bound of any order;
 * but what is not finite where nothing can overflow is wrong in every order. */
#pragma once

#include <math.h>

#include "kernels/method/method.h"
#include "reference/measure/measure.h"
#include "reference/measure/scan.h"

static inline bool bound_breaks(const struct method *m, const struct measure *is, double result)
{
    return is->broken && (!m->foreign || !isfinite(result));
}

/* The same of an array: does an element? */
static inline bool bound_breaks_in(const struct method *m, const struct scan_measure *is)
{
    return (m->foreign ? is->not_finite : is->broken) > 0;
}
