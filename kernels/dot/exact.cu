/* dot/exact: the exact sum of whole products, rounded once (kernels/dot/exact.c says what is
 * returned).
 *
 * As sum/exact: enclose_products reads the elements once and finds an enclosure of the sum, a
 * product of doubles being two doubles; where that does not tell, or a product is so small that two
 * doubles do not hold it, sum_exactly reads them again, into fixed point. It is launched each time,
 * since only the device knows, and ends at once where there is a result. */
#include "kernels/dot/exact.cuh"

namespace
{

/* Zeros, but for the partial enclosures, before and after each launch. */
struct state {
    unsigned finished; /* blocks */
    bool unknown;      /* no result yet; set anew by every launch */
    total<product_words> exact;
    enclosure part[blocks_most];
};

template <typename S, typename A>
__global__ __launch_bounds__(enclose_threads) void enclose_products(const S *x, const S *y,
                                                                    size_t n, state *s, A *out)
{
    size_t grid = (size_t)gridDim.x * blockDim.x;
    enclosure e = enclose_nothing();
#pragma unroll 8
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += grid)
        enclose_product(e, __ldcs(x + i), __ldcs(y + i));
    e = enclose_block(e);
    if (threadIdx.x == 0)
        s->part[blockIdx.x] = e;
    if (!last_block(&s->finished))
        return;
    enclose_grid(e, s->part);
    if (threadIdx.x == 0) {
        /* Through a lane, two for each product. */
        size_t additions = 2 * groups_of(n, grid) + 2 + additions_in_grid;
        A result;
        s->unknown = !round_enclosure(e, additions, &result);
        if (!s->unknown)
            *out = sum_of(n, result);
    }
}

template <typename S, typename A>
__global__ __launch_bounds__(product_words::threads) void sum_exactly(const S *x, const S *y,
                                                                      size_t n, state *s, A *out)
{
    if (!s->unknown)
        return;
    sum_in_words(
        &s->exact, &s->finished, out,
        [&](long long *word) {
            unsigned specials = 0;
            size_t grid = (size_t)gridDim.x * blockDim.x;
            for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += grid)
                specials |= product_words::add(word, blockDim.x, convert<double>(x[i]),
                                               convert<double>(y[i]));
            return specials;
        },
        [](const settled<product_words> &sum) { return round_sum<A>(sum); });
}

/* What the device at hand has room for: processors, and the threads and bytes of the blocks that
 * sum exactly. */
struct room {
    int device, processors;
    unsigned threads, bytes;
};

/* A cudaError_t. */
template <typename S, typename A> int room_on_device(room *r)
{
    static room known = {-1, 0, 0, 0}; /* on the device asked last */
    room now = {};
    cudaError_t error = cudaGetDevice(&now.device);
    *r = known;
    if (error != cudaSuccess || now.device == known.device)
        return error;
    error = cudaDeviceGetAttribute(&now.processors, cudaDevAttrMultiProcessorCount, now.device);
    if (error == cudaSuccess)
        error =
            room_for_words<product_words>(sum_exactly<S, A>, now.device, &now.threads, &now.bytes);
    if (error == cudaSuccess && now.threads == 0)
        error = cudaErrorInvalidConfiguration;
    if (error == cudaSuccess)
        *r = known = now;
    return error;
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    room r;
    int error = room_on_device<S, A>(&r);
    if (error != cudaSuccess)
        return error;
    auto blocks = [&](unsigned threads, unsigned most) {
        size_t groups = groups_of(t->of->in.n, threads);
        return groups == 0 ? 1 : (unsigned)min(groups, (size_t)min(most, blocks_most));
    };
    state *s = (state *)t->workspace;
    const S *x = (const S *)t->of->in.data, *y = (const S *)t->of->in2.data;
    cudaStream_t stream = (cudaStream_t)t->stream;
    enclose_products<<<blocks(enclose_threads, 8 * r.processors), enclose_threads, 0, stream>>>(
        x, y, t->of->in.n, s, (A *)t->out);
    sum_exactly<<<blocks(r.threads, r.processors), r.threads, r.bytes, stream>>>(x, y, t->of->in.n,
                                                                                 s, (A *)t->out);
    return cudaGetLastError();
}

size_t workspace(const struct cuda_task *)
{
    return sizeof(state);
}

} // namespace

extern "C" const struct cuda_method dot_exact_cuda = {workspace, no_workspace, BY_TYPES(run)};
