/* product/atomic: an atomic multiplication per factor, exponents kept apart.
 *
 * There is no atomic multiplication: a significand is read, multiplied, and exchanged for what was
 * read if that is still there, else all is done again. Where all threads of a grid contend for one
 * number, one of them gets through in the time that memory takes to answer. So each block has a
 * number of its own, in shared memory, for a factor each; a block's product is then multiplied to
 * that of all in the same manner. Exponents are added by atomic additions. */
#include "kernels/product/scaled.cuh"

namespace
{

constexpr unsigned blocks_most = 2048;

template <size_t bytes> struct word_of_bytes;
template <> struct word_of_bytes<4> {
    typedef unsigned type;
};
template <> struct word_of_bytes<8> {
    typedef unsigned long long type;
};

template <typename A> struct shared_product {
    typedef layout<wide<A>> l;
    typedef typename word_of_bytes<sizeof(wide<A>)>::type word;
    unsigned long long exponent; /* two's complement */
    word significand;

    __device__ void begin()
    {
        exponent = 0;
        significand = l::of((wide<A>)1);
    }
    __device__ void multiply(wide<A> m, long long of_factor)
    {
        word seen = l::of((wide<A>)1), before; /* a guess: the exchange tells */
        int above;
        do {
            before = seen;
            wide<A> next = multiply_in<A>(l::value(before), m);
            above = take_exponent(&next);
            seen = atomicCAS(&significand, before, l::of(next));
        } while (seen != before);
        atomicAdd(&exponent, (unsigned long long)(of_factor + above));
    }
};

template <typename A> __global__ void start(shared_product<A> *all)
{
    all->begin();
}

template <typename S, typename A>
__global__ void multiply_factors(const S *x, size_t n, shared_product<A> *all)
{
    __shared__ shared_product<A> own;
    if (threadIdx.x == 0)
        own.begin();
    __syncthreads();
    size_t grid = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += grid) {
        factor<A> f = factor_of<A>(x[i]);
        own.multiply(f.m, f.exponent);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        all->multiply(shared_product<A>::l::value(own.significand), (long long)own.exponent);
}

template <typename A> __global__ void finish(const shared_product<A> *all, A *out)
{
    *out = scaled_value<A>(shared_product<A>::l::value(all->significand), (long long)all->exponent);
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    shared_product<A> *all = (shared_product<A> *)t->workspace;
    cudaStream_t stream = (cudaStream_t)t->stream;
    size_t blocks = groups_of(t->of->in.n, t->threads);
    start<<<1, 1, 0, stream>>>(all);
    if (t->of->in.n > 0)
        multiply_factors<<<(unsigned)min(blocks, (size_t)blocks_most), t->threads, 0, stream>>>(
            (const S *)t->of->in.data, t->of->in.n, all);
    finish<<<1, 1, 0, stream>>>(all, (A *)t->out);
    return cudaGetLastError();
}

size_t workspace(const struct cuda_task *)
{
    return sizeof(shared_product<double>);
}

} // namespace

extern "C" const struct cuda_method product_atomic_cuda = {workspace, no_workspace, BY_TYPES(run)};
