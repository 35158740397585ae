/* gemm/tiled: chains of 128 products, whose sums a second register an element adds up. */
#include "kernels/gemm/products.cuh"

namespace
{

enum { TILE_K = 128 }; /* tiled.c's */

int run(const struct cuda_task *t)
{
    return gemm::enqueue_products(t, gemm::ADD_C, 1, t->of->gemm.k, TILE_K, nullptr);
}

} // namespace

extern "C" const struct cuda_method gemm_tiled_cuda = {no_workspace, no_workspace, run};
