/* gemm/mma on Hopper, by the instruction itself.
 *
 * The factors are packed as instructions want them (pack.cuh); C and D are of the accumulator's
 * format on the way, and D is rounded at the end where another was asked for. Each element is the
 * chain of instructions that the model computes: as many, in this order, the last one with zeros.
 */
#include "kernels/gemm/sync.cuh"

namespace gemm
{

/* The parts of the workspace, in bytes from its begin. */
struct places {
    size_t a, b, c, d, end;
};

static size_t rounded_up(size_t bytes)
{
    return groups_of(bytes, 256) * 256;
}

struct plan {
    struct product product;
    struct packing a, b;
    struct instructed given;
    struct places at;
};

/* Of tiles of `down` x `across`, `row` bytes an instruction, `step` instructions a step. */
static struct plan plan_of(const struct cuda_task *t, unsigned down, unsigned across, unsigned row,
                           unsigned step, size_t promote)
{
    struct plan plan;
    struct product *p = &plan.product;
    *p = product_of(t);
    const unsigned each = row / (unsigned)format_facts[p->a.format].bytes;
    const struct chains k = chains_of(p->k, promote, each, step);
    const unsigned tiles_down = (unsigned)groups_of(p->a.many, down),
                   tiles_across = (unsigned)groups_of(p->b.many, across);
    plan.a = {p->a, k, row, down, tiles_down, NULL};
    plan.b = {p->b, k, row, across, tiles_across, NULL};
    const size_t own = t->output == t->accumulator
                           ? 0
                           : outputs_of(*p) * (size_t)format_facts[t->accumulator].bytes;
    plan.at.a = 0;
    plan.at.b = rounded_up(packing_units(plan.a) * 16);
    plan.at.c = plan.at.b + rounded_up(packing_units(plan.b) * 16);
    plan.at.d = plan.at.c + rounded_up(own);
    plan.at.end = plan.at.d + rounded_up(own);
    char *memory = (char *)t->workspace;
    plan.a.to = (uint4 *)(memory + plan.at.a);
    plan.b.to = (uint4 *)(memory + plan.at.b);
    plan.given = {plan.a.to,
                  plan.b.to,
                  k,
                  p->a.many,
                  p->b.many,
                  tiles_down,
                  tiles_across,
                  own ? memory + plan.at.c : p->c,
                  own ? memory + plan.at.d : p->d};
    return plan;
}

template <typename A>
__global__ static void widen_c(const __grid_constant__ struct product p, A *to, size_t outputs)
{
    const size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < outputs; i += grid)
        to[i] = load_c<A>(p, i);
}

template <typename A>
__global__ static void round_d(const __grid_constant__ struct product p, const A *from,
                               size_t outputs)
{
    const size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < outputs; i += grid)
        store_d(p, i, from[i]);
}

/* Packs, widens, multiplies by `launch` and rounds. */
template <enum layout layout, typename Launch>
static int run_plan(const struct cuda_task *t, const struct plan &plan, Launch launch)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    const size_t outputs = outputs_of(plan.product),
                 tiles = (size_t)plan.given.down * plan.given.across;
    const unsigned grid = grid_for(groups_of(outputs, 256));
    const bool own = t->output != t->accumulator;
    if (outputs == 0)
        return cudaSuccess;
    if (tiles > 0x7fffffff)
        return cudaErrorInvalidValue;
    int error = pack<layout>(plan.a, stream);
    if (error == cudaSuccess)
        error = pack<layout>(plan.b, stream);
    if (error != cudaSuccess)
        return error;
    return with_type(t->accumulator, [&](auto a) -> int {
        typedef decltype(a) A;
        if (own)
            widen_c<A><<<grid, 256, 0, stream>>>(plan.product, (A *)plan.given.c, outputs);
        const int launched = launch((unsigned)tiles, stream);
        if (own && launched == cudaSuccess)
            round_d<A><<<grid, 256, 0, stream>>>(plan.product, (const A *)plan.given.d, outputs);
        return launched == cudaSuccess ? (int)cudaGetLastError() : launched;
    });
}

/* Calls use(element, result) with constants of those of a task. */
template <enum mma_element E, enum format R>
struct pair_of {
    static constexpr enum mma_element element = E; static constexpr enum format result = R;
};
template <typename Use> static int with_pair(const struct cuda_task *t, Use use)
{
    switch (FORMATS * t->of->in.format + t->accumulator) {
    case FORMATS *FP16 + FP16:
        return use(pair_of<MMA_FP16, FP16>());
    case FORMATS *FP16 + FP32:
        return use(pair_of<MMA_FP16, FP32>());
    case FORMATS *BF16 + FP32:
        return use(pair_of<MMA_BF16, FP32>());
    case FORMATS *FP32 + FP32:
        return use(pair_of<MMA_TF32, FP32>());
    case FORMATS *E4M3 + FP16:
        return use(pair_of<MMA_E4M3, FP16>());
    case FORMATS *E4M3 + FP32:
        return use(pair_of<MMA_E4M3, FP32>());
    case FORMATS *E5M2 + FP16:
        return use(pair_of<MMA_E5M2, FP16>());
    case FORMATS *E5M2 + FP32:
        return use(pair_of<MMA_E5M2, FP32>());
    case FORMATS *FP64 + FP64:
        return use(pair_of<MMA_FP64, FP64>());
    default:
        return cudaErrorNotSupported;
    }
}

/* Shared memory beyond 48 KiB is to be asked for. */
template <typename Kernel> static int allow(Kernel kernel, unsigned bytes)
{
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

/* --- mma.sync --- */

template <typename T> static struct plan sync_plan(const struct cuda_task *t)
{
    return plan_of(t, T::DOWN, T::ACROSS, T::ROW, T::STEP, 0);
}

static int run_sync(const struct cuda_task *t)
{
    return with_pair(t, [&](auto pair) -> int {
        typedef decltype(pair) P;
        typedef sync_tile<P::element> T;
        const struct plan plan = sync_plan<T>(t);
        auto *kernel = multiply_by_sync<P::element, P::result>;
        const int error = allow(kernel, T::BYTES);
        return error != cudaSuccess
                   ? error
                   : run_plan<FRAGMENTS>(t, plan, [&](unsigned tiles, cudaStream_t stream) -> int {
                         kernel<<<tiles, T::THREADS, T::BYTES, stream>>>(plan.given);
                         return cudaGetLastError();
                     });
    });
}

static size_t sync_workspace(const struct cuda_task *t)
{
    return t->of->in.format == FP64 ? sync_plan<sync_tile<MMA_FP64>>(t).at.end
                                    : sync_plan<sync_tile<MMA_FP16>>(t).at.end;
}

} // namespace gemm

extern "C" const struct cuda_method gemm_mma_cuda = {gemm::sync_workspace, no_workspace,
                                                     gemm::run_sync};
