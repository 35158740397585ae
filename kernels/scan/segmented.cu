/* scan/segmented: a scan that begins anew at every head.
 *
 * The order is kernels/scan/segmented.c's, the tree of scan/tiled over pairs of head and value; how
 * a GPU goes about it stands in tiled.cuh. */
#include "kernels/scan/tiled.cuh"

namespace
{

size_t workspace(const struct cuda_task *t)
{
    return scan_pass::workspace(t, 2);
}

int enqueue(const struct cuda_task *t)
{
    return with_scan_types(t, [t](auto s, auto a, auto o) {
        return scan_pass::run<segmented_piece<decltype(a)>, decltype(s), decltype(o)>(t);
    });
}

} // namespace

extern "C" const struct cuda_method scan_segmented_cuda = {workspace, no_workspace, enqueue};
