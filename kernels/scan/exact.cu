/* scan/exact: every prefix exact, rounded once (kernels/scan/exact.c says what is returned).
 *
 * Order: none. The pass of scan/tiled (tiled.cuh) adds sums that no rounding changes, or that know
 * how far off they may be. A prefix is found in the first of these ways that tells it for certain:
 *
 *   1. Elements of at most 32 bits, in arrays of many tiles: a row is summed in fp64, without
 *      rounding or, where its elements lie in too many binades for that, in several doubles; and
 *      each prefix is an addition or two to what lies before (exact_start.cuh, exact_row.cuh).
 *   2. Sums of three doubles, with TwoSum (exact_piece.cuh).
 *   3. Where that leaves a doubt, the tile is marked, and its outputs are written again from exact
 *      sums in fixed point (exact_tiles.cuh).
 *
 * The schedule is made for the first way, of which an H200 is kept by waiting more than by
 * arithmetic: a block alone on its multiprocessor has few warps. The second way takes several times
 * as many instructions, and fp64 has no other; accumulators but fp32 leave the first one where
 * elements lie in many binades. */
#include "kernels/scan/exact_piece.cuh"
#include "kernels/scan/exact_tiles.cuh"
#include "kernels/scan/tiled.cuh"

namespace
{

using namespace scan_pass;

/* Where things lie in the workspace, each aligned to 256 bytes. */
struct layout {
    size_t flags, tiles, sums, end;
    explicit layout(const struct cuda_task *t)
    {
        size_t count = tiles_of(t);
        size_t sum = t->of->in.format == FP64 ? sizeof(exact_sum<wide_words>)
                                              : sizeof(exact_sum<narrow_words>);
        flags = groups_of(scan_pass::workspace(t, 3), 256) * 256;
        tiles = flags + 256;
        sums = tiles + groups_of(count, 256) * 256;
        end = sums + count * sum;
    }
};

template <typename S, typename Words> int run_again(const struct cuda_task *t, const doubts &d)
{
    typedef exact_pass<S, Words> pass;
    layout at(t);
    char *workspace = (char *)t->workspace;
    cudaStream_t stream = (cudaStream_t)t->stream;
    pass p = {(const S *)t->of->in.data,
              t->out,
              t->of->in.n,
              tiles_of(t),
              t->of->exclusive,
              t->accumulator,
              t->output,
              d,
              (exact_sum<Words> *)(workspace + at.sums),
              d.any + 1};
    int error = cudaFuncSetAttribute(sum_tiles<S, Words>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, pass::bytes);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(scan_doubtful_tiles<S, Words>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, pass::bytes);
    if (error != cudaSuccess)
        return error;
    unsigned blocks = min(p.tiles, 1024u);
    sum_tiles<<<blocks, exact_threads, pass::bytes, stream>>>(p);
    sum_before_tiles<<<Words::digits + 1, block_lanes, 0, stream>>>(p);
    scan_doubtful_tiles<<<blocks, exact_threads, pass::bytes, stream>>>(p);
    return cudaGetLastError();
}

size_t workspace(const struct cuda_task *t)
{
    return layout(t).end;
}

int enqueue(const struct cuda_task *t)
{
    layout at(t);
    char *workspace = (char *)t->workspace;
    doubts d = {(unsigned *)(workspace + at.flags), (uint8_t *)workspace + at.tiles};
    if (t->of->in.n == 0)
        return cudaSuccess;
    int error = with_scan_types(t, [&](auto s, auto a, auto o) {
        typedef exact_piece<decltype(a), sizeof(s) <= 4> piece;
        return scan_pass::run<piece, decltype(s), decltype(o)>(t, d);
    });
    if (error != cudaSuccess)
        return error;
    return with_type(t->of->in.format, [&](auto s) {
        return run_again<decltype(s), typename words_for<decltype(s)>::type>(t, d);
    });
}

} // namespace

extern "C" const struct cuda_method scan_exact_cuda = {workspace, no_workspace, enqueue};
