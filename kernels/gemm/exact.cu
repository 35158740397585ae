/* gemm/exact: each element exactly, rounded once (kernels/gemm/exact.c says what is returned).
 *
 * The result does not depend on who adds what to what; so everything here is a schedule. A block
 * has a tile of D, of which each thread encloses 4 x 4 elements (kernels/blocks/enclosure.cuh): a
 * product of two numbers of 32 bits or less is one double, one of doubles, or of scaled numbers,
 * two. Where all that is
 * enclosed rounds to one value, that is the element. The others are put on a list, and summed in
 * fixed point (kernels/dot/exact.cuh), each by a block. */
#include "kernels/dot/exact.cuh"
#include "kernels/gemm/tile.cuh"

namespace gemm
{

typedef undecided<size_t> undecided_elements;

/* Of factors of `wide` format, doubles, a product is two numbers; not where the second would be cut
 * off. */
/* Of scaled elements, which are doubles, too. */
template <bool wide> __device__ inline void enclose_terms(enclosure &e, double x, double y)
{
    if constexpr (wide)
        enclose_product(e, x, y);
    else
        enclose(e, __dmul_rn(x, y));
}

template <bool wide>
__device__ inline void enclose_step(enclosure (&e)[4][4], const struct tile<double> &a,
                                    const struct tile<double> &b, int row, int column)
{
#pragma unroll 2
    for (int depth = 0; depth < DEPTH; depth++) {
        double x[4], y[4];
        take(x, a.of[depth], row);
        take(y, b.of[depth], column);
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                enclose_terms<wide>(e[i][j], x[i], y[j]);
    }
}

/* The element rounded once to A's encoding, if the enclosure tells it. */
template <typename A>
__device__ inline bool decided(const struct product &p, size_t i, const enclosure &e, double off)
{
    A result;
    if (!round_certified(e.sum, e.error, off, &result))
        return false;
    ((A *)p.d)[i] = result;
    return true;
}

/* The same in 8 bits: two doubles that enclose the sum tell, where both have one encoding. */
__device__ inline bool decided_8(const struct product &p, size_t i, const enclosure &e, double off)
{
    double low = __dadd_rd(e.sum, __dsub_rd(e.error, off)),
           high = __dadd_ru(e.sum, __dadd_ru(e.error, off));
    if (!is_number(low) || !is_number(high))
        return false;
    if (off == 0 && __dadd_rn(e.sum, e.error) == 0)
        low = high = e.sum == 0 ? e.sum : 0.0;
    const unsigned char result = encode_8(p.results, low);
    ((unsigned char *)p.d)[i] = result;
    return result == encode_8(p.results, high);
}

__device__ inline bool decided_in(const struct product &p, size_t i, const enclosure &e, double off)
{
    switch (p.results) {
    case FP16:
        return decided<__half>(p, i, e, off);
    case BF16:
        return decided<__nv_bfloat16>(p, i, e, off);
    case FP32:
        return decided<float>(p, i, e, off);
    case FP64:
        return decided<double>(p, i, e, off);
    case E4M3:
    case E5M2:
        return decided_8(p, i, e, off);
    }
    return false;
}

/* Times the scales of what a thread fetched. */
__device__ inline void scale_fetched(double (&x)[each<double>], const struct factor &f,
                                     size_t first, size_t k, size_t end)
{
#pragma unroll
    for (int r = 0; r < each<double>; r++) {
        int depth;
        const size_t i = first + place<double>(f, r, &depth), at = k + depth;
        if (i < f.many && at < end)
            x[r] = __dmul_rn(x[r], matrices_scale(&f.scale, i, at));
    }
}

template <bool wide>
__global__ static void __launch_bounds__(THREADS)
    enclose_elements(const __grid_constant__ struct product p, undecided_elements *rest)
{
    constexpr int E = each<double>, SIDE = side<double>;
    static_assert(E == 4, "");
    __shared__ alignas(16) tile<double> a[2], b[2];
    const size_t across = (p.b.many + SIDE - 1) / SIDE;
    const size_t first_row = blockIdx.x / across * SIDE, first_column = blockIdx.x % across * SIDE;
    const int row = threadIdx.x / SIDE_THREADS, column = threadIdx.x % SIDE_THREADS;
    const size_t steps = (p.k + DEPTH - 1) / DEPTH;
    enclosure e[E][E];
#pragma unroll
    for (int i = 0; i < E; i++)
#pragma unroll
        for (int j = 0; j < E; j++)
            e[i][j] = enclose_nothing();
    for (size_t s = 0; s <= steps; s++) { /* fetches step s, encloses the one before */
        double from_a[E], from_b[E];
        if (s < steps) {
            fetch<double>(from_a, p.a, first_row, s * DEPTH, p.k, -0.0);
            fetch<double>(from_b, p.b, first_column, s * DEPTH, p.k, 0.0);
            if (wide && p.scaling != GEMM_UNSCALED) {
                scale_fetched(from_a, p.a, first_row, s * DEPTH, p.k);
                scale_fetched(from_b, p.b, first_column, s * DEPTH, p.k);
            }
        }
        if (s > 0)
            enclose_step<wide>(e, a[(s - 1) % 2], b[(s - 1) % 2], row, column);
        if (s < steps) {
            keep(a[s % 2], from_a, p.a);
            keep(b[s % 2], from_b, p.b);
        }
        __syncthreads();
    }
    /* An error goes through two for each product, and C's; places beyond the end lose nothing. */
    const double additions = __dmul_ru((double)(2 * p.k + 2), 0x1p-52);
#pragma unroll
    for (int i = 0; i < E; i++)
#pragma unroll
        for (int j = 0; j < E; j++) {
            const size_t at_row = first_row + own(i, row),
                         at_column = first_column + own(j, column),
                         at = at_row * p.b.many + at_column;
            if (at_row >= p.a.many || at_column >= p.b.many)
                continue;
            enclose(e[i][j], load_c<double>(p, at));
            if (!decided_in(p, at, e[i][j], __dmul_ru(e[i][j].magnitude, additions)))
                rest->which[atomicAdd(&rest->count, 1ull)] = at;
        }
}

__device__ inline double stored_at(const struct factor &f, size_t i, size_t k)
{
    const size_t at = i * f.step + k * f.next;
    switch (f.format) {
    case FP16:
        return convert<double>(((const __half *)f.data)[at]);
    case BF16:
        return convert<double>(((const __nv_bfloat16 *)f.data)[at]);
    case FP32:
        return convert<double>(((const float *)f.data)[at]);
    case FP64:
        return ((const double *)f.data)[at];
    case E4M3:
        return convert<double>(((const __nv_fp8_e4m3 *)f.data)[at]);
    case E5M2:
        return convert<double>(((const __nv_fp8_e5m2 *)f.data)[at]);
    }
    return 0;
}

__device__ inline double element_of(const struct factor &f, size_t i, size_t k)
{
    return __dmul_rn(stored_at(f, i, k), matrices_scale(&f.scale, i, k));
}

__device__ inline precision precision_of_results(enum format f)
{
    return f == E4M3 ? precision{4, -9} : f == E5M2 ? precision{3, -16} : precision_in(f);
}

/* The list is empty before and after each launch, and so is `finished`, in which blocks are
 * counted. */
__global__ static void __launch_bounds__(product_words::threads)
    sum_exactly(const __grid_constant__ struct product p, undecided_elements *rest,
                unsigned *finished)
{
    __shared__ total<product_words> exact;
    __shared__ settled<product_words> sum;
    const size_t all = rest->count;
    for (unsigned k = threadIdx.x; k < product_words::digits; k += blockDim.x)
        exact.digit[k] = 0;
    if (threadIdx.x == 0)
        exact.specials = 0;
    for (size_t l = blockIdx.x; l < all; l += gridDim.x) {
        const size_t at = rest->which[l], i = at / p.b.many, j = at % p.b.many;
        add_in_words(&exact, [&](long long *word) {
            unsigned specials = 0;
            if (threadIdx.x == 0)
                specials = product_words::add(word, blockDim.x, load_c<double>(p, at), 1.0);
            for (size_t k = threadIdx.x; k < p.k; k += blockDim.x)
                specials |= product_words::add(word, blockDim.x, element_of(p.a, i, k),
                                               element_of(p.b, j, k));
            return specials;
        });
        __syncthreads();
        settle_total(&exact, &sum);
        if (threadIdx.x == 0)
            store_d(p, at,
                    round_settled(sum.digit, product_words::digits, product_words::unit,
                                  sum.negative, sum.specials, precision_of_results(p.results)));
        __syncthreads();
    }
    if (threadIdx.x == 0 && atomicInc(finished, gridDim.x - 1) == gridDim.x - 1)
        rest->count = 0; /* every block has read it */
}

/* The workspace: what blocks are counted in, and the list. */
constexpr size_t counted = 256; /* bytes */

static size_t exact_workspace(const struct cuda_task *t)
{
    return counted + undecided_bytes<size_t>(t->of->gemm.m * t->of->gemm.n);
}

static int run_exact(const struct cuda_task *t)
{
    const struct product p = product_of(t);
    const size_t tiles = groups_of(p.a.many, side<double>) * groups_of(p.b.many, side<double>);
    cudaStream_t stream = (cudaStream_t)t->stream;
    unsigned *finished = (unsigned *)t->workspace;
    undecided_elements *rest = (undecided_elements *)((char *)t->workspace + counted);
    unsigned threads, bytes;
    int device, processors;
    if (tiles == 0)
        return cudaSuccess;
    if (tiles > 0x7fffffff)
        return cudaErrorInvalidValue;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = room_for_words<product_words>(sum_exactly, device, &threads, &bytes);
    if (error == cudaSuccess && threads == 0)
        error = cudaErrorInvalidConfiguration;
    if (error != cudaSuccess)
        return error;
    const bool wide = p.a.format == FP64 || p.scaling != GEMM_UNSCALED;
    auto *enclose_all = wide ? enclose_elements<true> : enclose_elements<false>;
    enclose_all<<<(unsigned)tiles, THREADS, 0, stream>>>(p, rest);
    sum_exactly<<<(unsigned)processors, threads, bytes, stream>>>(p, rest, finished);
    return cudaGetLastError();
}

} // namespace gemm

extern "C" const struct cuda_method gemm_exact_cuda = {gemm::exact_workspace, no_workspace,
                                                       gemm::run_exact};
