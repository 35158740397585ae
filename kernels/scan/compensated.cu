/* scan/compensated: each prefix carries the errors of its additions.
 *
 * The order is kernels/scan/compensated.c's, the tree of scan/tiled over pairs; how a GPU goes
 * about it stands in tiled.cuh. */
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
        return scan_pass::run<compensated_piece<decltype(a)>, decltype(s), decltype(o)>(t);
    });
}

} // namespace

extern "C" const struct cuda_method scan_compensated_cuda = {workspace, no_workspace, enqueue};
