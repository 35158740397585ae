/* rows/exact: the exact sum of each row, rounded once (kernels/rows/exact.c says what is returned).
 *
 * The result does not depend on who adds what to what; so everything here is a schedule. The sums
 * of all rows are enclosed (enclose.cuh); where all that is enclosed rounds to one value, that is
 * the row's. The other rows are put on a list, and summed in fixed point
 * (kernels/blocks/superaccumulator.cuh), a piece of a row by a block. */
#include "kernels/rows/enclose.cuh"

namespace
{

using namespace rows_exact_sum;

constexpr size_t exact_piece = (size_t)1 << 16; /* elements */

/* Zeros before and after each launch. */
template <typename Words> struct row_total {
    total<Words> sum;
    unsigned finished; /* pieces */
};

/* `whole` has a place for each row, where a row has several pieces. */
template <typename S, typename A, typename Words>
__global__ __launch_bounds__(Words::threads) void sum_exactly(plan p, unsigned pieces, const S *x,
                                                              undecided_rows *rest,
                                                              unsigned *finished,
                                                              row_total<Words> *whole, A *out)
{
    wait_for_previous();
    __shared__ total<Words> alone;
    for (unsigned k = threadIdx.x; k < Words::digits; k += blockDim.x)
        alone.digit[k] = 0;
    if (threadIdx.x == 0)
        alone.specials = 0;
    size_t all = rest->count * pieces;
    for (size_t i = blockIdx.x; i < all; i += gridDim.x) {
        size_t which = i / pieces, row = rest->which[which];
        size_t begin = i % pieces * exact_piece, end = min(p.length, begin + exact_piece);
        total<Words> *exact = pieces > 1 ? &whole[which].sum : &alone;
        add_in_words(exact, [&](long long *word) {
            unsigned specials = 0;
#pragma unroll 4
            for (size_t k = begin + threadIdx.x; k < end; k += blockDim.x)
                specials |= Words::add(
                    word, blockDim.x,
                    convert<typename Words::element>(x[matrix_at(row, k, p.length, p.stride)]));
            return specials;
        });
        __syncthreads();
        if (pieces > 1 && !last_of(pieces, &whole[which].finished))
            continue;
        double result = round_total(exact, precision_of<A>());
        if (threadIdx.x == 0)
            out[row] = rounded<A>(result);
        __syncthreads();
    }
    if (threadIdx.x == 0 && atomicInc(finished, gridDim.x - 1) == gridDim.x - 1)
        rest->count = 0; /* every block has read it */
}

/* Rows of one element: that element. */
constexpr unsigned elements_each = 8;
template <typename S, typename A>
__global__ __launch_bounds__(threads) void round_elements(const S *x, size_t rows, A *out)
{
#pragma unroll 4
    for (size_t r = (size_t)blockIdx.x * threads + threadIdx.x; r < rows;
         r += (size_t)gridDim.x * threads)
        out[r] = convert<A>(x[r]);
}

size_t part_bytes(const plan &p)
{
    return p.parts > 1 ? groups_of(p.rows * p.parts * sizeof(grained), 256) * 256 : 0;
}

/* A cudaError_t. Blocks of short rows are small, and more of them run at once; those that find no
 * row end at once. */
template <typename S, typename A>
int sum_undecided(const plan &p, const S *x, undecided_rows *rest, unsigned *finished, void *whole,
                  A *out, cudaStream_t stream)
{
    typedef typename words_for<S>::type Words;
    constexpr unsigned blocks = 128;
    unsigned most, bytes, device_threads;
    int device;
    int error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = room_for_words<Words>(sum_exactly<S, A, Words>, device, &most, &bytes);
    if (error != cudaSuccess)
        return error;
    size_t pieces = groups_of(p.length, exact_piece);
    device_threads = (unsigned)min((size_t)most, groups_of(p.length, warp_lanes) * warp_lanes);
    return launch_early(sum_exactly<S, A, Words>, blocks * (most / device_threads), device_threads,
                        bytes / most * device_threads, stream, p, (unsigned)pieces, x, rest,
                        finished, (row_total<Words> *)whole, out);
}

/* The workspace: the parts' enclosures, the list, which is empty before and after each launch, what
 * blocks are counted in, likewise 0, the totals of rows of several pieces. */
constexpr size_t counted = 256; /* bytes */

template <typename S, typename A> int run(const struct cuda_task *t)
{
    cudaStream_t stream = (cudaStream_t)t->stream;
    plan p = plan_of(t);
    const S *x = (const S *)t->of->in.data;
    A *out = (A *)t->out;
    grained *part = (grained *)t->workspace;
    undecided_rows *rest = (undecided_rows *)((char *)part + part_bytes(p));
    if (p.length == 1) {
        round_elements<<<grid_for(groups_of(p.rows, threads * elements_each)), threads, 0,
                         stream>>>(x, p.rows, out);
        return cudaGetLastError();
    }
    int error = enclose_rows(p, x, part, out, rest, stream);
    if (error != cudaSuccess)
        return error;
    char *finished = (char *)rest + undecided_bytes<size_t>(p.rows);
    return sum_undecided(p, x, rest, (unsigned *)finished, finished + counted, out, stream);
}

size_t workspace(const struct cuda_task *t)
{
    if (t->of->in.n <= t->of->bins)
        return 0;
    plan p = plan_of(t);
    size_t totals = p.length > exact_piece ? p.rows : 0;
    return part_bytes(p) + undecided_bytes<size_t>(p.rows) + counted +
           totals * sizeof(row_total<wide_words>);
}

int enqueue(const struct cuda_task *t)
{
    if (t->of->in.n == 0)
        return enqueue_zeros(t);
    return with_types(t, [t](auto s, auto a) { return run<decltype(s), decltype(a)>(t); });
}

} // namespace

extern "C" const struct cuda_method rows_exact_cuda = {workspace, no_workspace, enqueue};
