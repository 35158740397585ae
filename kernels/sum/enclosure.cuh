/* An exact sum, enclosed: what sum/exact finds out at the speed of memory.
 *
 * TwoSum splits each addition in fp64 into its rounded sum and its error, without loss. So the
 * exact sum is `sum` + all the errors. These are added up in `error`, in any order, which errs by
 * at most gamma_L times the sum of their magnitudes, L the most additions that one of them goes
 * through (Higham 1993); the magnitudes are added up in `magnitude`, whose own roundings change it
 * by a factor of at most 1 + gamma_L. Additions that underflow are exact. Where anything overflows,
 * or an element is no number, something here is none either. */
#ifndef ULPSCOPE_SUM_ENCLOSURE_CUH
#define ULPSCOPE_SUM_ENCLOSURE_CUH

#include "kernels/certificate.cuh"

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

/* The sum rounded once, where an error has gone through at most `additions` = L. 2 L u exceeds
 * gamma_L (1 + gamma_L) while L < 2^42. */
template <typename A>
__device__ inline bool round_enclosure(const enclosure &e, size_t additions, A *result)
{
    double off = __dmul_ru(e.magnitude, __dmul_ru((double)additions, 0x1p-52));
    return round_certified(e.sum, e.error, off, result);
}

#endif
