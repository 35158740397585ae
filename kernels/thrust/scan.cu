/* thrust/scan: thrust::inclusive_scan and exclusive_scan by thrust::plus, for which Thrust's
 * kernels are tuned: a plain +, which the build's flags keep from being contracted. Prefixes are
 * rounded once to the outputs' type as they are stored. As in cub/scan an exclusive scan begins
 * from +0. */
#include <thrust/scan.h>

#include "kernels/cub/elements.cuh"
#include "kernels/thrust/policy.cuh"

namespace
{

template <typename S, typename A, typename O> int scan(one_block *memory, const struct cuda_task *t)
{
    auto policy = thrust::cuda::par_nosync(*memory).on((cudaStream_t)t->stream);
    O *out = (O *)t->out;
    thrust::plus<A> plus;
    return with_elements<S, A>(t, [&](auto in) -> int {
        return caught([&]() -> int {
            if (t->of->exclusive)
                thrust::exclusive_scan(policy, in, in + t->of->in.n, out, A(0.0f), plus);
            else
                thrust::inclusive_scan(policy, in, in + t->of->in.n, out, plus);
            return cudaSuccess;
        });
    });
}

int scan_pair(one_block *memory, const struct cuda_task *t)
{
    return with_pair(t, [&](auto s, auto a) -> int {
        typedef decltype(s) S;
        typedef decltype(a) A;
        if (t->output == t->accumulator)
            return scan<S, A, A>(memory, t);
        return t->output == t->of->in.format ? scan<S, A, S>(memory, t)
                                             : (int)cudaErrorInvalidValue;
    });
}

size_t workspace(const struct cuda_task *t)
{
    one_block none = {NULL, 0};
    if (t->of->in.n > 0)
        (void)scan_pair(&none, t);
    return none.asked;
}

int enqueue(const struct cuda_task *t)
{
    one_block memory = {t->workspace, 0};
    return t->of->in.n == 0 ? (int)cudaSuccess : scan_pair(&memory, t);
}

} // namespace

extern "C" const struct cuda_method thrust_scan_cuda = {workspace, no_workspace, enqueue};
