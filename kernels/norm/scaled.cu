/* norm/scaled: the root of the sum of squares, scaled by a power of two.
 *
 * The first pass finds the largest magnitude, in no order that matters; the block that finishes
 * last finds the power of two. The second goes as kernels/blocks/tiled.cuh says, its order being
 * kernels/norm/scaled.c's. Magnitudes are compared as their encodings, which have the same order, a
 * NaN above all. */
#include "kernels/norm/root.cuh"
#include "kernels/blocks/tiled.cuh"
#include "kernels/blocks/vectors.cuh"
#include "kernels/blocks/superaccumulator.cuh"

namespace
{

constexpr unsigned largest_threads = 256, largest_loads = 4, blocks_most = 1024;

/* What the first pass finds. All but `largest` and `power` is zeros before and after each launch.
 */
struct state {
    unsigned long long bits; /* of the largest magnitude so far */
    unsigned finished;       /* blocks */
    unsigned claims;         /* as `each` of vectors.cuh has it */
    double largest;          /* NaN with a NaN */
    int power;               /* elements are multiplied by 2^power */
};
constexpr size_t state_bytes = 256; /* what follows is as round an address */
static_assert(sizeof(state) <= state_bytes, "");

template <typename S> using bits_of = typename place_of_bytes<sizeof(S)>::type;

/* room: the exponent that the largest is scaled to. */
template <typename S>
__global__ __launch_bounds__(largest_threads) void find_largest(vectors<S, largest_loads> x,
                                                                int room, state *s)
{
    bits_of<S> most = 0;
    x.each(
        &s->claims,
        [&](S element) {
            bits_of<S> bits;
            memcpy(&bits, &element, sizeof bits);
            most = max(most, (bits_of<S>)((bits_of<S>)(bits << 1) >> 1));
        },
        [] {});
    unsigned long long all = most;
    for (unsigned d = warp_lanes / 2; d > 0; d /= 2)
        all = max(all, __shfl_xor_sync(whole_warp, all, d));
    if (threadIdx.x % warp_lanes == 0)
        atomicMax(&s->bits, all);
    if (!last_block(&s->finished) || threadIdx.x > 0)
        return;
    most = (bits_of<S>)atomicExch(&s->bits, 0);
    S largest;
    memcpy(&largest, &most, sizeof largest);
    int exponent = 0;
    s->largest = convert<double>(largest);
    bool plain = s->largest > 0 && s->largest < INFINITY;
    if (plain)
        frexp(s->largest, &exponent);
    s->power = plain ? room - exponent : 0;
    s->claims = 0;
}

/* 2^k x, in two steps, as no format may hold 2^k. Rounds where the result is subnormal, once. */
template <typename W> __device__ inline W times(W x, W one, W other)
{
    return multiply(multiply(x, one), other);
}

/* Elements are scaled as doubles or floats. Where neither storage nor accumulator is fp64, floats
 * will do: where they are subnormal, the square is 0 in any case. */
template <typename W, typename A> struct scaled_squares {
    const state *found;
    W one, other;
    __device__ void begin()
    {
        int k = found->power;
        one = (W)scalbn(1.0, k / 2);
        other = (W)scalbn(1.0, k - k / 2);
    }
    template <typename S> __device__ A leaf_of(S x) const
    {
        W scaled = times(convert<W>(x), one, other);
        return product<A>(scaled, scaled);
    }
    template <typename P> __device__ A result(size_t, const P &root) const
    {
        double largest = found->largest, norm = convert<double>(square_root(root.value()));
        int k = found->power;
        if (!(largest > 0 && largest < INFINITY))
            return rounded<A>(largest);
        return rounded<A>(times(norm, scalbn(1.0, -(k / 2)), scalbn(1.0, -(k - k / 2))));
    }
};

size_t workspace(const struct cuda_task *t)
{
    return state_bytes + sum_tree::workspace(t, 1);
}

template <typename S, typename A> int run(const struct cuda_task *t)
{
    typedef typename std::conditional<sizeof(S) == 8 || sizeof(A) == 8, double, float>::type W;
    vectors<S, largest_loads> x(t->of->in.data, t->of->in.n);
    size_t batches = x.batches(largest_threads);
    unsigned blocks = batches < 1 ? 1 : batches < blocks_most ? (unsigned)batches : blocks_most;
    int room = theorem_scale(t->accumulator, t->of->in.n, 0.5); /* 0.5 has the exponent 0 */
    state *s = (state *)t->workspace;
    find_largest<<<blocks, largest_threads, 0, (cudaStream_t)t->stream>>>(x, room, s);
    cudaError_t error = cudaGetLastError();
    struct cuda_task second = *t;
    second.workspace = (char *)t->workspace + state_bytes;
    scaled_squares<W, A> squares = {s, W(), W()};
    return error == cudaSuccess ? sum_tree::run<plain_sum<A>, S>(&second, squares) : (int)error;
}

} // namespace

extern "C" const struct cuda_method norm_scaled_cuda = {workspace, no_workspace, BY_TYPES(run)};
