/* sum/interleaved: the divergent textbook kernel.
 *
 * A block of T threads puts T elements into shared memory. In the first step every second thread
 * adds its right neighbour's value to its own, in the next every fourth thread the value two
 * places on, then every eighth the value four places on, until thread 0 holds the block's sum.
 * The threads that still work are scattered over all warps, so that nearly every warp is kept
 * busy for a few of its lanes: this is the kernel that every course begins with and none ends
 * with. The block sums are summed by the same kernel, until one is left. */
#include "kernels/blocks/passes.cuh"

namespace
{

struct interleaved {
    template <typename A> static __device__ void fold(A *shared, unsigned t, unsigned present)
    {
        for (unsigned stride = 1; stride < present; stride *= 2) {
            if (t % (2 * stride) == 0 && t + stride < present)
                shared[t] = add(shared[t], shared[t + stride]);
            __syncthreads();
        }
    }
};
typedef pass_in_shared<interleaved> pass;

} // namespace

extern "C" {
extern const struct cuda_method sum_interleaved_cuda;
const struct cuda_method sum_interleaved_cuda = {passes_workspace<pass>, no_workspace,
                                                 passes_enqueue<pass>};
}
