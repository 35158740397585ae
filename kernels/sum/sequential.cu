/* sum/sequential: stride halving in shared memory.
 *
 * A block of T threads puts T elements into shared memory. The first half of the threads add the
 * values of the second half to their own, thread t the one s places on, where s is the largest
 * power of two below the number of elements; then the first quarter, and so on, until thread 0
 * holds the block's sum. The threads that work stay side by side, so that whole warps fall idle
 * and shared memory is read without bank conflicts: the one change that sum/interleaved asks for.
 * The block sums are summed by the same kernel, until one is left. */
#include "kernels/blocks/passes.cuh"

namespace
{

struct sequential {
    template <typename A> static __device__ void fold(A *shared, unsigned t, unsigned present)
    {
        for (unsigned stride = block_lanes / 2; stride > 0; stride /= 2) {
            if (stride >= present)
                continue;
            if (t < stride && t + stride < present)
                shared[t] = add(shared[t], shared[t + stride]);
            __syncthreads();
        }
    }
};
typedef pass_in_shared<sequential> pass;

} // namespace

extern "C" {
extern const struct cuda_method sum_sequential_cuda;
const struct cuda_method sum_sequential_cuda = {passes_workspace<pass>, no_workspace,
                                                passes_enqueue<pass>};
}
