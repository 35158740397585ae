/* scan/tiled: the order of n alone, in one pass over memory.
 *
 * The order is kernels/scan/tiled.c's; how a GPU goes about it stands in tiled.cuh. */
#include "kernels/scan/tiled.cuh"

namespace
{

size_t workspace(const struct cuda_task *t)
{
    return scan_pass::workspace(t, 1);
}

int enqueue(const struct cuda_task *t)
{
    return with_scan_types(t, [t](auto s, auto a, auto o) {
        return scan_pass::run<plain_piece<decltype(a)>, decltype(s), decltype(o)>(t);
    });
}

} // namespace

extern "C" const struct cuda_method scan_tiled_cuda = {workspace, no_workspace, enqueue};
