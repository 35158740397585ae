/* gemm/serial: one chain an element, from C on, by the tiles of products.cu; of scaled products
 * from the first product on. */
#include "kernels/gemm/products.cuh"

namespace
{

int run(const struct cuda_task *t)
{
    const size_t k = t->of->gemm.k;
    const bool scaled = gemm::product_of(t).scaling != GEMM_UNSCALED;
    return gemm::enqueue_products(t, scaled ? gemm::ADD_C : gemm::START_WITH_C, 1, k, k, nullptr);
}

} // namespace

extern "C" const struct cuda_method gemm_serial_cuda = {no_workspace, no_workspace, run};
