/* cub/scan_run_to_run: cub::DeviceScan::InclusiveScan and ExclusiveScan, required to be
 * deterministic from run to run. As in cub/scan an exclusive scan begins from +0. */
#include <cub/device/device_scan.cuh>

#include "kernels/cub/required.cuh"

namespace required
{

template <typename S, typename A, typename O> int scan(one_block memory, const struct cuda_task *t)
{
    typedef cuda::execution::determinism::run_to_run_t level;
    const S *in = (const S *)t->of->in.data;
    cuda::std::plus<A> plus;
    if (t->of->exclusive)
        return cub::DeviceScan::ExclusiveScan(in, (O *)t->out, plus, A(0.0f), t->of->in.n,
                                              environment<level>(t, memory));
    return cub::DeviceScan::InclusiveScan(in, (O *)t->out, plus, t->of->in.n,
                                          environment<level>(t, memory));
}

template <typename S, typename A> int scan_to(one_block memory, const struct cuda_task *t)
{
    if (t->output == t->accumulator)
        return scan<S, A, A>(memory, t);
    return t->output == t->of->in.format ? scan<S, A, S>(memory, t) : (int)cudaErrorInvalidValue;
}

inline int scan_pair(one_block memory, const struct cuda_task *t)
{
    return with_wide_pair(
        t, [&](auto s, auto a) { return scan_to<decltype(s), decltype(a)>(memory, t); });
}

} // namespace required

extern "C" const struct cuda_method cub_scan_run_to_run_cuda = {
    required::workspace<required::scan_pair>, no_workspace,
    required::enqueue_scan<required::scan_pair>};
