/* mean/exact: the exact sum divided by n, rounded once (kernels/mean/exact.c says what is returned;
 * kernels/blocks/certified.cuh how a GPU goes about it). */
#include "kernels/mean/quotient.cuh"
#include "kernels/blocks/certified.cuh"

namespace
{

/* x / n in fp64, where all that is enclosed has that nearest double: |x - q n|, which a fused
 * multiply-add gives exactly, is less than n times half the distance between doubles. */
__device__ inline bool certify(const enclosed &x, size_t n, double *result)
{
    double by = (double)n, q = __ddiv_rn(x.sum, by), rest = __fma_rn(-q, by, x.sum);
    double room = q == 0 ? 0 : __dmul_rd(by, gap_below(fabs(q)));
    *result = q;
    return is_number(q) && x.within(rest, room / 2);
}

template <typename A> __device__ inline bool certify(const enclosed &x, size_t n, A *result)
{
    double by = (double)n;
    *result = rounded<A>(__ddiv_rd(x.low, by));
    return is_number(x.low) && is_number(x.high) &&
           same(*result, rounded<A>(__ddiv_ru(x.high, by)));
}

template <typename S, typename A> struct divided_sum : value_of_sum<S, A> {
    static __device__ bool certified(const enclosure &e, size_t additions, size_t n, A *result)
    {
        enclosed x(e, additions);
        if (n > 0 && !x.zero)
            return certify(x, n, result);
        *result = rounded<A>(n > 0 ? x.sum : NAN);
        return true;
    }
    template <typename Sum> static __device__ double rounded_once(const Sum &sum, size_t n)
    {
        fixed_magnitude m = sum.magnitude();
        if (sum.is_special() || m.length() == 0)
            return round_special(sum.specials);
        return round_magnitude(divide(m, n).magnitude(), sum.negative, precision_of<A>());
    }
};

typedef certified_value::method<divided_sum> side;

} // namespace

extern "C" const struct cuda_method mean_exact_cuda = {side::workspace, no_workspace,
                                                       side::enqueue};
