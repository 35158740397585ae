#include "experiments/system/clock.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_span(double seconds)
{
    double ns = seconds * 1e9;
    return ns < 0x1p60 ? (uint64_t)ns : UINT64_C(1) << 60;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double clock_median(double *time_ns, size_t n)
{
    if (n == 0)
        return NAN;
    qsort(time_ns, n, sizeof *time_ns, ascending);
    return n % 2 ? time_ns[n / 2] : time_ns[n / 2 - 1] / 2 + time_ns[n / 2] / 2;
}
