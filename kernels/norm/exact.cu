/* norm/exact: the root of the exact sum of squares, rounded once (kernels/norm/exact.c says what is
 * returned; kernels/blocks/certified.cuh how a GPU goes about it). */
#include "kernels/norm/exact.cuh"
#include "kernels/blocks/certified.cuh"

namespace
{

/* The root in fp64, where all that is enclosed has that nearest double: |x - r^2|, which a fused
 * multiply-add gives exactly in this range, is less than (r + g/2)^2 - r^2 and r^2 - (r - g/2)^2, g
 * the distance between doubles. */
__device__ inline bool certify(const enclosed &x, double *result)
{
    double r = __dsqrt_rn(x.sum), rest = __fma_rn(-r, r, x.sum);
    double room = __dmul_rd(__dmul_rd(r, gap_below(r)), 1 - 0x1p-50);
    *result = r;
    return x.sum > 0x1p-900 && x.sum < 0x1p1020 && x.within(rest, room);
}

template <typename A> __device__ inline bool certify(const enclosed &x, A *result)
{
    *result = rounded<A>(__dsqrt_rd(x.low));
    return x.low > 0 && x.high < INFINITY && same(*result, rounded<A>(__dsqrt_ru(x.high)));
}

/* The root of a magnitude: of as many of its leading bits as give 64 bits, cut. */
__device__ inline double round_root(const fixed_magnitude &m, precision p)
{
    int low = m.length() - 128;
    low += (low + m.unit) % 2 != 0; /* the unit of what is left has an even exponent */
    unsigned __int128 rest = 0, part = 0;
    for (int k = 0; k < 2; k++) {
        int at = low + 64 * k, cut = at < 0 ? min(-at, 64) : 0;
        unsigned long long bits = cut < 64 ? m.bits(at + cut, 64 - cut) << cut : 0;
        part |= (unsigned __int128)bits << 64 * k;
    }
    unsigned long long root = 0;
    for (int bit = 63; bit >= 0; bit--) {
        unsigned long long more = root | 1ull << bit;
        if ((unsigned __int128)more * more <= part)
            root = more;
    }
    rest = part - (unsigned __int128)root * root;
    unsigned digit[3] = {rest != 0 || (low > 0 && m.any_below(low)), (unsigned)root,
                         (unsigned)(root >> 32)};
    return round_magnitude({digit, 3, (low + m.unit) / 2 - 32}, false, p);
}

template <typename S, typename A> struct root_of_squares {
    typedef typename words_for_squares<S>::type words;
    typedef enclosed_squares<S> enclosing;
    static constexpr unsigned additions = enclosing::additions;

    static __device__ unsigned add(long long *word, unsigned stride, S x)
    {
        return words_for_squares<S>::add(word, stride, x);
    }
    static __device__ bool certified(const enclosure &e, size_t additions, size_t, A *result)
    {
        enclosed x(e, additions);
        if (!x.zero)
            return certify(x, result);
        *result = rounded<A>(0.0f);
        return true;
    }
    template <typename Sum> static __device__ double rounded_once(const Sum &sum, size_t)
    {
        fixed_magnitude m = sum.magnitude();
        if (sum.is_special() || m.length() == 0)
            return fabs(round_special(sum.specials));
        return round_root(m, precision_of<A>());
    }
};

typedef certified_value::method<root_of_squares> side;

} // namespace

extern "C" const struct cuda_method norm_exact_cuda = {side::workspace, no_workspace,
                                                       side::enqueue};
