/* asum/exact: the exact sum of magnitudes, rounded once (kernels/asum/exact.c says what is
 * returned; kernels/blocks/certified.cuh how a GPU goes about it). */
#include "kernels/blocks/certified.cuh"

namespace
{

template <typename S, typename A> struct whole_sum : value_of_sum<S, A> {
    struct enclosing : certified_value::enclosing_of<S, A> {
        __device__ void add(S x) { certified_value::enclosing_of<S, A>::add(magnitude(x)); }
    };
    static __device__ unsigned add(long long *word, unsigned stride, S x)
    {
        return value_of_sum<S, A>::add(word, stride, magnitude(x));
    }
    static __device__ bool certified(const enclosure &e, size_t additions, size_t n, A *result)
    {
        if (!round_enclosure(e, additions, result))
            return false;
        *result = sum_of(n, *result);
        return true;
    }
    template <typename Sum> static __device__ double rounded_once(const Sum &sum, size_t n)
    {
        return sum_of(n, round_sum<A>(sum));
    }
};

typedef certified_value::method<whole_sum> side;

} // namespace

extern "C" const struct cuda_method asum_exact_cuda = {side::workspace, no_workspace,
                                                       side::enqueue};
