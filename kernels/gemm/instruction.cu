/* gemm/mma, gemm/wgmma and gemm/promoted on Hopper, by the instructions themselves.
 *
 * The factors are packed as instructions want them (pack.cuh); C and D are of the accumulator's
 * format on the way, and D is rounded at the end where another was asked for. Each element is the
 * chain of instructions that the model computes: as many, in this order, the last one with zeros.
 * Of scaled products C is zeros for instructions, and added where D is rounded, behind the scaling;
 * scales of blocks are gemm/promoted's, in its kernel. */
#include "kernels/gemm/promoted.cuh"

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
    size_t elements; /* of C and D as instructions have them */
    bool copies;     /* these are in the workspace */
    struct places at;
};

/* Of tiles of `down` x `across`, `row` bytes an instruction, `step` instructions a step. */
static struct plan plan_of(const struct cuda_task *t, unsigned down, unsigned across, unsigned row,
                           unsigned step, size_t promote, bool whole_tiles)
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
    const size_t rows = whole_tiles ? (size_t)tiles_down * down : p->a.many,
                 wide = whole_tiles ? (size_t)tiles_across * across : p->b.many;
    const bool rounds = whole_tiles && t->accumulator == FP32 && format_facts[t->output].bytes == 2;
    plan.copies = (t->output != t->accumulator && !rounds) || rows != p->a.many ||
                  wide != p->b.many || p->scaling != GEMM_UNSCALED;
    const size_t own = plan.copies ? rows * wide * (size_t)format_facts[t->accumulator].bytes : 0;
    plan.elements = rows * wide;
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
                  wide,
                  tiles_down,
                  tiles_across,
                  plan.copies ? memory + plan.at.c : p->c,
                  plan.copies ? memory + plan.at.d : p->d,
                  plan.copies ? t->accumulator : t->output,
                  {p->a.scale, p->b.scale}};
    return plan;
}

/* Where instructions begin, of a product with scales: at +0; at -0 where products are scaled chain
 * by chain, which changes no sum. */
template <typename A> __device__ inline A zero_of(const struct product &p)
{
    return p.scaling == GEMM_SCALED_BLOCKS ? minus_zero<A>() : rounded<A>(0.0f);
}

/* Between C or D and the copies of them, whose rows are longer; zeros beyond C. */
template <typename A>
__global__ static void copy_c(const __grid_constant__ struct product p, A *to, size_t wide,
                              size_t elements)
{
    const size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += grid) {
        const size_t row = i / wide, column = i % wide;
        to[i] = p.scaling == GEMM_UNSCALED && row < p.a.many && column < p.b.many
                    ? load_c<A>(p, row * p.b.many + column)
                    : zero_of<A>(p);
    }
}

template <typename A>
__global__ static void copy_d(const __grid_constant__ struct product p, const A *from, size_t wide,
                              size_t outputs)
{
    const size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < outputs; i += grid) {
        const A d = from[i / p.b.many * wide + i % p.b.many];
        if (p.scaling == GEMM_UNSCALED)
            store_d(p, i, d);
        else if (p.scaling == GEMM_SCALED_BLOCKS) /* in fp32 */
            store_d(p, i, add(convert<float>(d), load_c<float>(p, i)));
        else
            finish_d(p, i, d);
    }
}

/* Packs, copies, multiplies by `launch` and copies. */
template <enum layout layout, typename Launch>
static int run_plan(const struct cuda_task *t, const struct plan &plan, Launch launch)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    const size_t outputs = outputs_of(plan.product),
                 tiles = (size_t)plan.given.down * plan.given.across;
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
        const struct instructed &g = plan.given;
        if (plan.copies)
            copy_c<A><<<grid_for(groups_of(plan.elements, 256)), 256, 0, stream>>>(
                plan.product, (A *)g.c, g.wide, plan.elements);
        const int launched = launch((unsigned)tiles, stream);
        if (plan.copies && launched == cudaSuccess)
            copy_d<A><<<grid_for(groups_of(outputs, 256)), 256, 0, stream>>>(
                plan.product, (const A *)g.d, g.wide, outputs);
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
    return plan_of(t, T::DOWN, T::ACROSS, T::ROW, T::STEP, 0, false);
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

/* --- wgmma --- */

template <bool promotes> static struct plan group_plan(const struct cuda_task *t)
{
    typedef group_tile<promotes> T;
    const size_t every = t->of->promote ? t->of->promote : (size_t)GEMM_PROMOTE;
    return plan_of(t, T::DOWN, T::ACROSS, CORE_ROW, CORE_STEP, promotes ? every : 0, true);
}

template <bool promotes, enum promotion how> static int run_group(const struct cuda_task *t)
{
    return with_pair(t, [&](auto pair) -> int {
        typedef decltype(pair) P;
        typedef group_tile<promotes> T;
        constexpr bool eight = P::element == MMA_E4M3 || P::element == MMA_E5M2;
        if constexpr (P::element == MMA_FP64 || (promotes && P::result == FP16) ||
                      (how == SCALED && !eight)) {
            return cudaErrorNotSupported;
        } else {
            const struct plan plan = group_plan<promotes>(t);
            const int error =
                allow(multiply_by_group<P::element, P::result, promotes, how>, T::BYTES);
            return error != cudaSuccess
                       ? error
                       : run_plan<CORES>(t, plan, [&](unsigned, cudaStream_t stream) -> int {
                             return launch_group<P::element, P::result, promotes, how>(plan.given,
                                                                                       stream);
                         });
        }
    });
}

static int run_promoted(const struct cuda_task *t)
{
    return product_of(t).scaling == GEMM_SCALED_BLOCKS ? run_group<true, SCALED>(t)
                                                       : run_group<true, TURNS>(t);
}

template <bool promotes> static size_t group_workspace(const struct cuda_task *t)
{
    return group_plan<promotes>(t).at.end;
}

} // namespace gemm

extern "C" const struct cuda_method gemm_mma_cuda = {gemm::sync_workspace, no_workspace,
                                                     gemm::run_sync};
extern "C" const struct cuda_method gemm_wgmma_cuda = {gemm::group_workspace<false>, no_workspace,
                                                       gemm::run_group<false, gemm::TURNS>};
extern "C" const struct cuda_method gemm_promoted_cuda = {gemm::group_workspace<true>, no_workspace,
                                                          gemm::run_promoted};
