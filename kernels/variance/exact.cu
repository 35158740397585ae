/* variance/exact: n times the exact sum of squares less the square of the exact sum, over n^2,
 * rounded once (kernels/variance/exact.c says what is returned).
 *
 * As sum/exact: enclose_both reads the elements once, and finds enclosures of both sums; where
 * these do not tell, sum_both reads them again and adds up both in fixed point
 * (kernels/blocks/superaccumulator.cuh), and the block that finishes last does the rest in whole
 * numbers.
 */
#include "kernels/norm/exact.cuh"
#include "kernels/blocks/certified.cuh"
#include "kernels/variance/certify.cuh"

namespace
{

constexpr unsigned loads = 4;

/* The words of a lane: those of the sum, then those of the squares. */
template <typename S> struct both_words {
    typedef typename words_for<S>::type sum;
    typedef typename words_for_squares<S>::type squares;
    static constexpr unsigned count = sum::count + squares::count;
    static constexpr unsigned threads = sizeof(S) == 8 ? 128 : 512;
};

/* Zeros, but for the partial enclosures, before and after each launch. */
template <typename S> struct state {
    unsigned finished; /* blocks */
    unsigned claims;   /* as `each` of vectors.cuh has it */
    unsigned most;     /* batches that a block took */
    bool unknown;      /* no result yet; set anew by every launch */
    enclosure part_of_sum[blocks_most], part_of_squares[blocks_most];
    total<typename both_words<S>::sum> sum;
    total<typename both_words<S>::squares> squares;
};

/* n times squares less sum^2, which is not negative, in units of the squares: digits to `to`, of
 * which there are `count`. One thread's. */
template <typename Sum, typename Squares>
__device__ inline void scatter_times_n(unsigned *to, int count, const Sum &sum,
                                       const Squares &squares, size_t n)
{
    fixed_magnitude s = sum.magnitude(), q = squares.magnitude();
    int up = 2 * s.unit - q.unit, shift = up % 32; /* of a product of digits of the sum */
    int first = 0, last = (s.length() + 31) / 32 - 1;
    while (first < last && s.digit[first] == 0)
        first++;
    __int128 carry = 0;
    for (int k = 0; k < count; k++) {
        int together = k - up / 32; /* of the numbers of two digits */
        if (k < q.digits)
            carry += (__int128)q.digit[k] * (__int128)n;
        for (int i = max(first, together - last); i <= min(last, together - first); i++)
            carry -= (__int128)((unsigned long long)s.digit[i] * s.digit[together - i]) << shift;
        to[k] = (unsigned)carry;
        carry >>= 32;
    }
}

/* The variance, rounded once; on the thread that has both sums. */
template <typename Sum, typename Squares>
__device__ inline double round_variance(unsigned *digit, int digits, const Sum &sum,
                                        const Squares &squares, size_t n, precision p)
{
    if (n == 0 || sum.is_special())
        return NAN;
    scatter_times_n(digit, digits, sum, squares, n);
    fixed_magnitude scatter = {digit, digits, squares.magnitude().unit};
    if (scatter.length() == 0)
        return 0;
    leading_digits once = divide(scatter, n);
    return round_magnitude(divide(once.magnitude(), n).magnitude(), false, p);
}

template <typename S, typename A>
__global__ __launch_bounds__(enclose_threads) void enclose_both(vectors<S, loads> x, state<S> *s,
                                                                A *out)
{
    typename value_of_sum<S, A>::enclosing sum;
    enclosed_squares<S> squares;
    unsigned taken = x.each(
        &s->claims,
        [&](S element) {
            sum.add(element);
            squares.add(element);
        },
        [&] { sum.end_of_batch(); });
    enclosure e = enclose_block(sum.e), q = enclose_block(squares.e);
    if (threadIdx.x == 0) {
        s->part_of_sum[blockIdx.x] = e;
        s->part_of_squares[blockIdx.x] = q;
        atomicMax(&s->most, taken);
    }
    if (!last_block(&s->finished))
        return;
    enclose_grid(e, s->part_of_sum);
    enclose_grid(q, s->part_of_squares);
    if (threadIdx.x > 0)
        return;
    size_t elements = x.elements_in(__ldcg(&s->most));
    size_t additions = max(elements + additions_in_grid, certified_value::additions_least);
    size_t of_squares = enclosed_squares<S>::additions * elements + additions_in_grid;
    A result = rounded<A>(NAN); /* of nothing */
    s->unknown =
        x.n > 0 && !certify_variance(enclosed(e, additions), enclosed(q, of_squares), x.n, &result);
    s->claims = s->most = 0;
    if (!s->unknown)
        *out = result;
}

template <typename S, typename A>
__global__ __launch_bounds__(both_words<S>::threads) void sum_both(vectors<S, loads> x, state<S> *s,
                                                                   A *out)
{
    typedef typename both_words<S>::sum of_sum;
    typedef typename both_words<S>::squares of_squares;
    if (!s->unknown)
        return;
    extern __shared__ long long word[];
    __shared__ settled<of_sum> sum;
    __shared__ settled<of_squares> squares;
    __shared__ unsigned scatter[of_squares::digits + 4];
    for (unsigned i = threadIdx.x; i < both_words<S>::count * blockDim.x; i += blockDim.x)
        word[i] = 0;
    __syncthreads();
    unsigned specials = 0, second = of_sum::count * blockDim.x;
    long long *own = word + threadIdx.x;
    x.each(
        NULL,
        [&](S element) {
            specials |= of_sum::add(own, blockDim.x, convert<typename of_sum::element>(element));
            words_for_squares<S>::add(own + second, blockDim.x, element);
        },
        [] {});
    __syncthreads();
    add_words(&s->sum, word, specials);
    add_words(&s->squares, word + second, specials);
    if (!last_block(&s->finished))
        return;
    settle_total(&s->sum, &sum);
    settle_total(&s->squares, &squares);
    if (threadIdx.x == 0)
        *out = rounded<A>(
            round_variance(scatter, of_squares::digits + 4, sum, squares, x.n, precision_of<A>()));
}

/* What the device at hand has room for. */
struct room {
    int device;
    unsigned enclosing, exact, threads, bytes; /* blocks at a time; those of the second */
};

/* A cudaError_t. */
template <typename S, typename A> int room_on_device(room *r)
{
    static room known = {-1, 0, 0, 0, 0}; /* on the device asked last */
    room now = {};
    int processors = 0, enclosing = 0, exact = 0;
    cudaError_t error = cudaGetDevice(&now.device);
    *r = known;
    if (error != cudaSuccess || now.device == known.device)
        return error;
    auto enclose = enclose_both<S, A>;
    auto sum = sum_both<S, A>;
    auto check = [&](cudaError_t e) { error = error == cudaSuccess ? e : error; };
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, now.device));
    check(room_for_words<both_words<S>>(sum, now.device, &now.threads, &now.bytes));
    if (error != cudaSuccess)
        return error;
    check(cudaFuncSetAttribute(enclose, cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutMaxShared)); /* as the other has it */
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&enclosing, enclose, enclose_threads, 0));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&exact, sum, (int)now.threads, now.bytes));
    now.enclosing = (unsigned)(enclosing * processors);
    now.exact = (unsigned)(exact * processors);
    if (error == cudaSuccess && (now.enclosing == 0 || now.exact == 0))
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
    vectors<S, loads> x(t->of->in.data, t->of->in.n);
    auto blocks = [&](unsigned threads, unsigned most) {
        return (unsigned)min(max(x.batches(threads), (size_t)1), (size_t)min(most, blocks_most));
    };
    state<S> *s = (state<S> *)t->workspace;
    cudaStream_t stream = (cudaStream_t)t->stream;
    enclose_both<<<blocks(enclose_threads, r.enclosing), enclose_threads, 0, stream>>>(x, s,
                                                                                       (A *)t->out);
    sum_both<<<blocks(r.threads, r.exact), r.threads, r.bytes, stream>>>(x, s, (A *)t->out);
    return cudaGetLastError();
}

size_t workspace(const struct cuda_task *)
{
    return max(sizeof(state<double>), sizeof(state<float>));
}

} // namespace

extern "C" const struct cuda_method variance_exact_cuda = {workspace, no_workspace, BY_TYPES(run)};
