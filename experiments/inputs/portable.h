/* Elementary functions with the same bits on every machine.
 *
 * A libm picks code by processor and version, and its last bits with it. These use IEEE 754 +, -,
 * *, / alone, in a fixed order, without contraction. Their errors are below the bounds given here
 * (in units in the last place of the exact value; tested against MPFR). */
#pragma once

#include <stdint.h>

/* log(x), 1 ulp; -inf for 0, inf for inf, NaN for x < 0 and NaN. */
double portable_log(double x);

/* exp(x), 1 ulp (subnormal results too); inf and 0 beyond a double's range; NaN for NaN. */
double portable_exp(double x);

/* sin(2 pi i / n), 1 ulp, exact where it is 0 or +-1; 1 <= n <= 2^53. The reduction is exact, in
 * integers, so that the symmetries of the sine hold exactly. */
double portable_sin_turns(uint64_t i, uint64_t n);

/* 2^e, -1022 <= e <= 1023. */
double portable_power_of_two(int e);
