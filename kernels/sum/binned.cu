/* sum/binned, sum/binned2, sum/binned4: one pass over memory.
 *
 * Warps claim runs of pieces of 2 KiB, a piece on its way while the one before is cut (binned.cuh).
 * A block adds what it found to the workspace, which has a place for every bin there is, and takes
 * a ticket; the block that draws the last one picks the bins of the final window, rounds their sum,
 * and leaves the workspace empty. Only integers are added, so that neither the launch shape nor
 * timing affects the result. */
#include "kernels/sum/binned.cuh"
#include "kernels/sum/binned.h"

namespace
{

/* What the kernel knows of the case. */
struct binned_case {
    size_t n;
    unsigned run; /* pieces that a warp claims at once */
    binned_bins bins;
    enum format accumulator;
    binned_rounding rounding; /* to it */
};

struct binned_workspace {
    binned_tally tally;
    unsigned long long claims; /* runs that were claimed, beyond one for each warp */
    unsigned ticket;
};

__device__ void clear(binned_tally *tally)
{
    for (unsigned i = threadIdx.x; i < binned_room; i += blockDim.x)
        tally->low[i] = tally->high[i] = 0;
    if (threadIdx.x == 0)
        tally->window = tally->flags = 0;
}

/* An array in pieces of a warp: the full ones, from the first 16-byte boundary on, then what comes
 * before it and what is left behind them. */
template <typename S> struct pieces_of {
    static constexpr unsigned elements = lane_piece<S>::width * warp_lanes;
    const S *x;
    size_t n, head, full;

    __device__ pieces_of(const S *x, size_t n) : x(x), n(n), head(0)
    {
        constexpr unsigned vector = sizeof(uint4) / sizeof(S);
        unsigned beyond = (unsigned)((uintptr_t)x / sizeof(S) % vector);
        if (beyond)
            head = min((size_t)(vector - beyond), n);
        full = (n - head) / elements;
    }

    __device__ size_t count() const { return full + 2; }

    __device__ void load(lane_piece<S> &piece, size_t p) const
    {
        size_t begin = head + p * elements;
        if (p < full)
            piece.load((const uint4 *)(x + begin) + threadIdx.x % warp_lanes);
        else if (p == full)
            piece.load_some(x, (unsigned)head);
        else
            piece.load_some(x + begin - elements, (unsigned)(n - (begin - elements)));
    }
};

/* Adds the pieces that this warp gets hold of. Of which ones they are nothing shows, so that who is
 * early may take more: the first run of each warp is its own, others are claimed, one ahead, and
 * each piece is on its way while the one before is cut. */
template <typename S, typename T, unsigned B>
__device__ __forceinline__ void take(cutter<S, T, B> &c, const pieces_of<S> &pieces, unsigned run,
                                     unsigned long long *claims)
{
    unsigned warps = blockDim.x / warp_lanes, lane = threadIdx.x % warp_lanes, left = run;
    size_t owned = (size_t)gridDim.x * warps, claimed = 0;
    size_t p = run * ((size_t)blockIdx.x * warps + threadIdx.x / warp_lanes);
    lane_piece<S> piece, next;
    if (p < pieces.count())
        pieces.load(next, p);
    while (p < pieces.count()) {
        if (left == run && lane == 0)
            claimed = atomicAdd(claims, 1ull);
        piece = next;
        p++;
        if (--left == 0) {
            p = run * (owned + __shfl_sync(whole_warp, claimed, 0));
            left = run;
        }
        if (p < pieces.count())
            pieces.load(next, p);
        c.add(piece);
    }
}

template <typename A> __device__ void write(void *out, double value)
{
    *(A *)out = rounded<A>(value);
}

/* By one thread, from the tally of all blocks. */
__device__ void finish(const binned_tally &tally, const binned_case &task, void *out)
{
    double result = task.n > 0 && !(tally.flags & BINNED_PLAIN) ? -0.0 : 0.0;
    unsigned infinite = tally.flags & (BINNED_INF | BINNED_NEGATIVE_INF);
    if ((tally.flags & BINNED_NAN) || infinite == (BINNED_INF | BINNED_NEGATIVE_INF)) {
        result = NAN;
    } else if (infinite) {
        result = infinite == BINNED_INF ? INFINITY : -INFINITY;
    } else if (tally.window > 0) {
        int window = tally.window - 1;
        __int128 bin[BINNED_KEPT_MOST];
        for (int k = 0; k < task.bins.kept; k++) {
            int place = window + k - task.bins.lowest;
            bin[k] = (__int128)(long long)tally.high[place] * (1ll << 32) + tally.low[place];
        }
        result = binned_total(bin, task.bins.kept, task.bins.width, binned_unit(&task.bins, window),
                              task.rounding);
    }
    switch ((enum accumulator)task.accumulator) {
    case IN_FP16:
        return write<__half>(out, result);
    case IN_BF16:
        return write<__nv_bfloat16>(out, result);
    case IN_FP32:
        return write<float>(out, result);
    case IN_FP64:
        return write<double>(out, result);
    }
}

template <typename S, typename T, unsigned B>
__global__ __launch_bounds__(BINNED_THREADS, 3) void sum_in_bins(const S *x, binned_case task,
                                                                 binned_workspace *w, void *out)
{
    __shared__ binned_tally shared;
    __shared__ bool last;
    clear(&shared);
    __syncthreads();
    cutter<S, T, B> c(task.bins, &shared);
    take(c, pieces_of<S>(x, task.n), task.run, &w->claims);
    c.flush();
    atomicOr(&shared.flags, c.flags | (c.window < 0 ? 0 : BINNED_PLAIN));
    if (threadIdx.x % warp_lanes == 0)
        atomicMax(&shared.window, c.window + 1);
    __syncthreads();

    for (unsigned i = threadIdx.x; i < binned_room; i += blockDim.x) {
        if (shared.low[i])
            atomicAdd(&w->tally.low[i], shared.low[i]);
        if (shared.high[i])
            atomicAdd(&w->tally.high[i], shared.high[i]);
    }
    if (threadIdx.x == 0) {
        atomicMax(&w->tally.window, shared.window);
        atomicOr(&w->tally.flags, shared.flags);
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicInc(&w->ticket, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    for (unsigned i = threadIdx.x; i < binned_room; i += blockDim.x) {
        shared.low[i] = __ldcg(&w->tally.low[i]);
        shared.high[i] = __ldcg(&w->tally.high[i]);
    }
    if (threadIdx.x == 0) {
        shared.window = __ldcg(&w->tally.window);
        shared.flags = __ldcg(&w->tally.flags);
    }
    __syncthreads();
    clear(&w->tally);
    if (threadIdx.x == 0) {
        w->claims = 0;
        finish(shared, task, out);
    }
}

/* A warp waits for each claim, and 2^28 fp32 elements take an H200 0.73, 0.87 and 0.92 of the raw
 * read's rate in runs of 4, 8 and 16 pieces; a warp has four runs or more to claim, where it can.
 */
template <typename S, typename T, unsigned B> int run(const struct cuda_task *t, binned_case task)
{
    size_t warps = (size_t)t->blocks * lanes_for(t->threads) / warp_lanes;
    size_t share = t->of->in.n / pieces_of<S>::elements / warps / 4;
    task.run = share < 1 ? 1 : share > 16 ? 16 : (unsigned)share;
    sum_in_bins<S, T, B><<<t->blocks, lanes_for(t->threads), 0, (cudaStream_t)t->stream>>>(
        (const S *)t->of->in.data, task, (binned_workspace *)t->workspace, t->out);
    return cudaGetLastError();
}

/* The numbers of bins that there are: of fp16, whose range is small, two or one; else 2 to 6 of 21
 * bits, 4 to 6 of 50. */
template <typename S> int run_kept(const struct cuda_task *t, const binned_case &task, double)
{
    switch (task.bins.kept) {
    case 4:
        return run<S, double, 4>(t, task);
    case 5:
        return run<S, double, 5>(t, task);
    case 6:
        return run<S, double, 6>(t, task);
    default:
        return cudaErrorInvalidValue;
    }
}

template <typename S> int run_kept(const struct cuda_task *t, const binned_case &task, float)
{
    switch (task.bins.kept) {
    case 2:
        return run<S, float, 2>(t, task);
    case 3:
        return run<S, float, 3>(t, task);
    case 4:
        return run<S, float, 4>(t, task);
    case 5:
        return run<S, float, 5>(t, task);
    case 6:
        return run<S, float, 6>(t, task);
    default:
        return cudaErrorInvalidValue;
    }
}

int run_storage(const struct cuda_task *t, const binned_case &task)
{
    bool wide = t->accumulator == FP64;
    switch (t->of->in.format) {
    case FP16:
        return wide ? run<__half, double, 1>(t, task) : run<__half, float, 2>(t, task);
    case BF16:
        return wide ? run_kept<__nv_bfloat16>(t, task, 0.0)
                    : run_kept<__nv_bfloat16>(t, task, 0.0f);
    case FP32:
        return wide ? run_kept<float>(t, task, 0.0) : run_kept<float>(t, task, 0.0f);
    case FP64:
        return run_kept<double>(t, task, 0.0);
    case E4M3:
    case E5M2:
        break;
    }
    return cudaErrorInvalidValue;
}

template <unsigned folds> int enqueue(const struct cuda_task *t)
{
    const struct format_facts *f = &format_facts[t->accumulator];
    binned_case task = {t->of->in.n,
                        1,
                        binned_bins_of(t->of->in.format, t->accumulator, folds),
                        t->accumulator,
                        {f->precision, f->emin, f->emax}};
    return run_storage(t, task);
}

size_t workspace(const struct cuda_task *)
{
    return sizeof(binned_workspace);
}

} // namespace

extern "C" const struct cuda_method sum_binned_cuda = {workspace, no_workspace, enqueue<3>};
extern "C" const struct cuda_method sum_binned2_cuda = {workspace, no_workspace, enqueue<2>};
extern "C" const struct cuda_method sum_binned4_cuda = {workspace, no_workspace, enqueue<4>};
