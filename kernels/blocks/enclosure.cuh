/* An exact sum, enclosed: what sum/exact finds out at the speed of memory.
 *
 * TwoSum splits each addition in fp64 into its rounded sum and its error, without loss. So the
 * exact sum is `sum` + all the errors. These are added up in `error`, in any order, which errs by
 * at most gamma_L times the sum of their magnitudes, L the most additions that one of them goes
 * through (Higham 1993); the magnitudes are added up in `magnitude`, whose own roundings change it
 * by a factor of at most 1 + gamma_L. Additions that underflow are exact. Where anything overflows,
 * or an element is no number, something here is none either. */
#pragma once

#include "kernels/blocks/certificate.cuh"

struct enclosure {
    double sum, error, magnitude;

    /* Of the lane whose number differs by the bits d. */
    __device__ enclosure across(unsigned d) const
    {
        return {__shfl_xor_sync(whole_warp, sum, d), __shfl_xor_sync(whole_warp, error, d),
                __shfl_xor_sync(whole_warp, magnitude, d)};
    }
};

__device__ inline enclosure enclose_nothing()
{
    return {-0.0, 0, 0};
}

/* An error goes through one addition here for each element after its own. */
__device__ inline void enclose(enclosure &e, double x)
{
    double sum = __dadd_rn(e.sum, x), d = lost(e.sum, x, sum);
    e = {sum, __dadd_rn(e.error, d), __dadd_rn(e.magnitude, fabs(d))};
}

/* Two additions. */
__device__ inline enclosure join(enclosure a, enclosure b)
{
    double sum = __dadd_rn(a.sum, b.sum), d = lost(a.sum, b.sum, sum);
    return {sum, __dadd_rn(a.error, __dadd_rn(b.error, d)),
            __dadd_rn(a.magnitude, __dadd_rn(b.magnitude, fabs(d)))};
}

/* The enclosures of `lanes` neighbouring lanes, a power of 2; each of them gets it. All lanes of
 * the warp are here. An error goes through 2 additions for each doubling of 1. */
__device__ inline enclosure enclose_lanes(enclosure e, unsigned lanes)
{
    for (unsigned d = 1; d < lanes; d *= 2)
        e = join(e, e.across(d));
    return e;
}

/* What sum + error is off by at most, where an error has gone through at most `additions` = L. 2 L
 * u exceeds gamma_L (1 + gamma_L) while L < 2^42. */
__device__ inline double most_off(const enclosure &e, size_t additions)
{
    return __dmul_ru(e.magnitude, __dmul_ru((double)additions, 0x1p-52));
}

/* The sum rounded once. */
template <typename A>
__device__ inline bool round_enclosure(const enclosure &e, size_t additions, A *result)
{
    return round_certified(e.sum, e.error, most_off(e, additions), result);
}

/* What is enclosed, for what follows from the sum: between two doubles, and as sum + error, |error|
 * at most half an ulp of the sum, off by at most `off`. */
struct enclosed {
    double sum, error, off, low, high;
    bool zero; /* it is 0, with the sign of `sum` */

    __device__ enclosed(double a, double b, double by) : off(by)
    {
        low = __dadd_rd(a, __dsub_rd(b, off));
        high = __dadd_ru(a, __dadd_ru(b, off));
        sum = __dadd_rn(a, b);
        error = lost(a, b, sum);
        zero = off == 0 && sum == 0;
        if (zero)
            sum = a == 0 ? a : 0.0;
    }
    __device__ enclosed(const enclosure &e, size_t additions)
        : enclosed(e.sum, e.error, most_off(e, additions))
    {
    }

    /* Is |rest + error| + off less than `room`? */
    __device__ bool within(double rest, double room) const
    {
        double most = fmax(fabs(__dadd_rd(rest, error)), fabs(__dadd_ru(rest, error)));
        return __dadd_ru(most, off) < room;
    }
};

/* The distance of x > 0 from the double below it, which is at most that from the one above. */
__device__ inline double gap_below(double x)
{
    return __dsub_rn(x, __longlong_as_double(__double_as_longlong(x) - 1));
}
