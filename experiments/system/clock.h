/* Time, and the middle of many times. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Nanoseconds of a clock that never goes back. */
uint64_t clock_ns(void);

/* Nanoseconds in so many seconds, >= 0; of more than 36 years as many as in these, so that two such
 * times can be added to the clock. */
uint64_t clock_span(double seconds);

/* The median of n times, which are sorted in place; the mean of the middle two where n is even;
 * NaN where n is 0. No time may be NaN. */
double clock_median(double *time_ns, size_t n);
