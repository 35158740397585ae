/* Tiles of D, each of a block of 16 x 16 threads: a step takes 16 columns of A and 16 rows of B
 * into shared memory, while those of the step before are multiplied, and each thread keeps 4 x 4
 * elements in registers, or, in fp32, 8 x 8.
 *
 * Factors are converted, exactly, to the type T that they are multiplied in; that is double where
 * the accumulator A has no multiplication of its own that is right for them (blocks/product.cuh).
 * Beyond the end of a slice A is -0 and B +0: their product is -0, which changes no sum. */
#include "kernels/gemm/products.cuh"
#include "kernels/gemm/tile.cuh"

namespace gemm
{

template <typename T, typename A>
__device__ inline void step(A (&sum)[each<T>][each<T>], const struct tile<T> &a,
                            const struct tile<T> &b, int row, int column)
{
#pragma unroll(sizeof(T) == sizeof(double) && sizeof(A) < sizeof(double) ? 1 : 8)
    for (int depth = 0; depth < DEPTH; depth++) {
        T x[each<T>], y[each<T>];
        take(x, a.of[depth], row);
        take(y, b.of[depth], column);
#pragma unroll
        for (int i = 0; i < each<T>; i++)
#pragma unroll
            for (int j = 0; j < each<T>; j++)
                sum[i][j] = fused(sum[i][j], x[i], y[j]);
    }
}

/* What chains' sums are added up in: where scales change from one chain to the next, in what scales
 * are multiplied in. */
template <typename A, bool blocks> struct sums_of {
    typedef A type;
};
template <typename A> struct sums_of<A, true> {
    typedef epilogue<A> type;
};

/* blocks: each chain's sum is multiplied by its scales, and ADD_C is what follows. */
template <typename T, typename A, bool blocks>
__global__ static void __launch_bounds__(THREADS)
    multiply(const __grid_constant__ struct product p, enum finish finish, size_t length,
             size_t chain, void *sums)
{
    typedef typename sums_of<A, blocks>::type B;
    constexpr int E = each<T>;
    __shared__ alignas(16) tile<T> a[2], b[2];
    const size_t across = (p.b.many + side<T> - 1) / side<T>;
    const size_t first_row = blockIdx.x / across * side<T>,
                 first_column = blockIdx.x % across * side<T>;
    const size_t begin = blockIdx.y * length, end = p.k - begin < length ? p.k : begin + length;
    const int row = threadIdx.x / SIDE_THREADS, column = threadIdx.x % SIDE_THREADS;
    A sum[E][E];
    B all[E][E];
#pragma unroll
    for (int i = 0; i < E; i++)
#pragma unroll
        for (int j = 0; j < E; j++) {
            const size_t at_row = first_row + own(i, row), at = first_column + own(j, column);
            sum[i][j] = minus_zero<A>();
            all[i][j] = minus_zero<B>();
            if (finish == START_WITH_C && at_row < p.a.many && at < p.b.many)
                sum[i][j] = load_c<A>(p, at_row * p.b.many + at);
        }
    const size_t steps = (end - begin + DEPTH - 1) / DEPTH;
    for (size_t s = 0; s <= steps; s++) { /* fetches step s, multiplies the one before */
        T from_a[E], from_b[E];
        const size_t k = begin + s * DEPTH;
        if (s < steps) {
            fetch<T>(from_a, p.a, first_row, k, end, rounded<T>(-0.0f));
            fetch<T>(from_b, p.b, first_column, k, end, rounded<T>(0.0f));
        }
        if (s > 0)
            step<T, A>(sum, a[(s - 1) % 2], b[(s - 1) % 2], row, column);
        if (s > 0 && (s == steps || s * DEPTH % chain == 0)) {
#pragma unroll
            for (int i = 0; i < E; i++)
#pragma unroll
                for (int j = 0; j < E; j++) {
                    if constexpr (blocks) {
                        const size_t at_row = first_row + own(i, row),
                                     at = first_column + own(j, column);
                        if (at_row < p.a.many && at < p.b.many)
                            all[i][j] = multiply_add(
                                scale_of<B>(p, at_row, at, begin + (s - 1) * DEPTH / chain * chain),
                                convert<B>(sum[i][j]), all[i][j]);
                    } else {
                        all[i][j] = add(all[i][j], sum[i][j]);
                    }
                    sum[i][j] = minus_zero<A>();
                }
        }
        if (s < steps) {
            keep(a[s % 2], from_a, p.a);
            keep(b[s % 2], from_b, p.b);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < E; i++)
#pragma unroll
        for (int j = 0; j < E; j++) {
            const size_t at_row = first_row + own(i, row),
                         column_at = first_column + own(j, column);
            const size_t at = at_row * p.b.many + column_at;
            if (at_row >= p.a.many || column_at >= p.b.many)
                continue;
            if constexpr (blocks) {
                store_d(p, at, add(all[i][j], load_c<B>(p, at)));
            } else {
                switch (finish) {
                case START_WITH_C:
                    store_d(p, at, steps == 0 ? sum[i][j] : all[i][j]);
                    break;
                case ADD_C:
                    finish_d(p, at, all[i][j]);
                    break;
                case WRITE_SLICES:
                    ((A *)sums)[blockIdx.y * (p.a.many * p.b.many) + at] = all[i][j];
                    break;
                case ADD_TO_CELLS:
                    add_atomically((A *)((typename running_sum<A>::cell *)sums + at), all[i][j]);
                    break;
                }
            }
        }
}

template <typename T, typename A, bool blocks>
static int launch(const struct cuda_task *t, enum finish finish, size_t slices, size_t length,
                  size_t chain, void *sums)
{
    const struct product p = product_of(t);
    const size_t tiles = groups_of(p.a.many, side<T>) * groups_of(p.b.many, side<T>);
    if (tiles == 0 || slices == 0)
        return cudaSuccess;
    if (tiles > 0x7fffffff)
        return cudaErrorInvalidValue;
    multiply<T, A, blocks>
        <<<dim3((unsigned)tiles, (unsigned)slices), THREADS, 0, (cudaStream_t)t->stream>>>(
            p, finish, length, chain, sums);
    return cudaGetLastError();
}

/* Has A a fused multiply-add of its own for the storage format, whose values it holds? */
static bool native_for(enum format storage, enum format accumulator)
{
    return storage == accumulator || format_facts[storage].bytes == 1 ||
           (accumulator >= FP32 && format_facts[storage].bytes <= format_facts[accumulator].bytes);
}

int enqueue_products(const struct cuda_task *t, enum finish finish, size_t slices, size_t length,
                     size_t chain, void *sums)
{
    const bool own = native_for(t->of->in.format, t->accumulator);
    return with_type(t->accumulator, [&](auto of) -> int {
        typedef decltype(of) A;
        if (product_of(t).scaling == GEMM_SCALED_BLOCKS) /* matrices of 8 bits */
            return own && finish == ADD_C
                       ? launch<A, A, true>(t, finish, slices, length, chain, sums)
                       : cudaErrorInvalidValue;
        return own ? launch<A, A, false>(t, finish, slices, length, chain, sums)
                   : launch<double, A, false>(t, finish, slices, length, chain, sums);
    });
}

} // namespace gemm
