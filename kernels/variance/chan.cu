/* variance/chan: means and scatters of parts, merged in the tree of sum/tiled (the steps are
 * kernels/variance/chan.c's).
 *
 * A launch for each level: a block merges a tile, each thread a column of it, then the columns by
 * halving. A tile of the first level that is full knows its counts beforehand, and so what they are
 * divided by. */
#include "kernels/mean/quotient.cuh"
#include "kernels/sum/tiled.h"
#include "kernels/two_sum.cuh"

namespace
{

template <typename A> struct part {
    unsigned long long count;
    A mean, scatter;
};

/* Merges the second into the first: `share` is its part of both counts, rounded; many(x) is x times
 * the first one's count, rounded. */
template <typename A, typename Many>
__device__ inline void merge(part<A> &a, const part<A> &b, A share, const Many &many)
{
    A d = subtract(b.mean, a.mean), q = multiply(d, share);
    A between = many(multiply(d, q));
    a.mean = add(a.mean, q);
    a.scatter = add(add(a.scatter, b.scatter), between);
    a.count += b.count;
}

template <typename A> __device__ inline void merge(part<A> &a, const part<A> &b)
{
    double count = (double)a.count;
    merge(a, b, quotient_of<A>((double)b.count, a.count + b.count),
          [=](A x) { return product<A>(convert<double>(x), count); });
}

/* With a count that A holds, as it does small powers of two, and numbers below 8. */
template <typename A>
__device__ inline void merge_known(part<A> &a, const part<A> &b, A share, unsigned count)
{
    A known = rounded<A>((float)count);
    merge(a, b, share, [=](A x) { return multiply(x, known); });
}

/* The leaves of the first level, and of those above. */
template <typename A, typename S> __device__ inline part<A> part_of(const S *x)
{
    A element = convert<A>(__ldcs(x));
    return {1, element, subtract(element, element)};
}
template <typename A> __device__ inline part<A> part_of(const part<A> *x)
{
    return *x;
}

/* Column c of a tile of `present` leaves. */
template <typename A, typename L>
__device__ inline part<A> column(const L *tile, unsigned present, unsigned c)
{
    part<A> sum = {};
    for (unsigned i = c; i < present; i += TILE_COLUMNS)
        if (i == c)
            sum = part_of<A>(tile + i);
        else
            merge(sum, part_of<A>(tile + i));
    return sum;
}

/* Of a full tile of elements. Quotients of 1 by 2 to 8 have no digits that look like a tie: rounded
 * to double first, they round as they would at once. */
template <typename A, typename S> __device__ inline part<A> known_column(const S *tile, unsigned c)
{
    part<A> leaf[TILE_ROWS];
#pragma unroll
    for (unsigned row = 0; row < TILE_ROWS; row++)
        leaf[row] = part_of<A>(tile + row * TILE_COLUMNS + c);
#pragma unroll
    for (unsigned row = 1; row < TILE_ROWS; row++)
        merge_known(leaf[0], leaf[row], rounded<A>(1.0 / (row + 1)), row);
    return leaf[0];
}

/* All columns of a tile, by halving; the first thread gets it. */
template <typename A>
__device__ inline void fold(part<A> *shared, unsigned columns, bool known, part<A> sum)
{
    unsigned c = threadIdx.x;
    A half = rounded<A>(0.5f);
    shared[c] = sum;
    __syncthreads();
    for (unsigned stride = TILE_COLUMNS / 2; stride > 0; stride /= 2) {
        if (c < stride && c + stride < columns) {
            if (known)
                merge_known(shared[c], shared[c + stride], half,
                            TILE_ROWS * (TILE_COLUMNS / 2 / stride));
            else
                merge(shared[c], shared[c + stride]);
        }
        __syncthreads();
    }
}

/* n elements in all; `count` leaves of this level. */
template <typename A, typename L>
__global__ __launch_bounds__(TILE_COLUMNS) void merge_tiles(const L *leaf, size_t count, size_t n,
                                                            part<A> *to, A *out)
{
    __shared__ part<A> shared[TILE_COLUMNS];
    size_t tiles = groups_of(count, TILE);
    for (size_t tile = blockIdx.x; tile == 0 || tile < tiles; tile += gridDim.x) {
        const L *from = leaf + tile * TILE;
        unsigned present = (unsigned)min((size_t)TILE, count - tile * TILE);
        bool known = !same_type<L, part<A>> && present == TILE;
        part<A> sum;
        if constexpr (!same_type<L, part<A>>)
            if (known)
                sum = known_column<A>(from, threadIdx.x);
        if (!known)
            sum = column<A>(from, present, threadIdx.x);
        fold(shared, min(present, (unsigned)TILE_COLUMNS), known, sum);
        if (threadIdx.x == 0 && tiles <= 1)
            *out = quotient(shared[0].scatter, n);
        else if (threadIdx.x == 0)
            to[tile] = shared[0];
        __syncthreads();
    }
}

template <typename A, typename L>
int merge_level(const struct cuda_task *t, const L *leaf, size_t count, part<A> *to)
{
    merge_tiles<A><<<grid_for(groups_of(count, TILE)), TILE_COLUMNS, 0, (cudaStream_t)t->stream>>>(
        leaf, count, t->n, to, (A *)t->out);
    return cudaGetLastError();
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    part<A> *from = (part<A> *)t->workspace, *to = from;
    int error = merge_level(t, (const S *)t->in, t->n, to);
    for (size_t count = groups_of(t->n, TILE); count > 1 && error == cudaSuccess; from = to) {
        to = from + count;
        error = merge_level(t, from, count, to);
        count = groups_of(count, TILE);
    }
    return error;
}

/* The parts of all levels, one after the other. */
size_t workspace(const struct cuda_task *t)
{
    size_t parts = 0;
    for (size_t count = t->n; count > 1; parts += count)
        count = groups_of(count, TILE);
    return parts * sizeof(part<double>);
}

int enqueue(const struct cuda_task *t)
{
    return with_types(t, [t](auto s, auto a) { return run<decltype(s), decltype(a)>(t); });
}

} // namespace

extern "C" {
extern const struct cuda_method variance_chan_cuda;
const struct cuda_method variance_chan_cuda = {workspace, no_workspace, enqueue};
}
