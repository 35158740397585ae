/* What a launch is given. */
#ifndef ULPSCOPE_SCAN_PASS_CUH
#define ULPSCOPE_SCAN_PASS_CUH

#include "kernels/scan/look_back.cuh"

namespace scan_pass
{

template <typename S, typename O> struct pass {
    const S *x;
    const uint8_t *heads;
    O *out;
    size_t n;
    unsigned tiles;
    unsigned stages; /* tiles that a block has in shared memory, 2 .. stages_most */
    bool exclusive, x_aligned, heads_aligned, out_aligned; /* to 16 bytes */
    state *shared;
};

} // namespace scan_pass

#endif
