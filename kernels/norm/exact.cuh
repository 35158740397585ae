/* Exact sums of squares: dot/exact's products, of elements with themselves. */
#pragma once

#include "kernels/dot/exact.cuh"

/* Squares of floats, and of what they hold, have no error as doubles. Such doubles from 2^-298 to
 * 2^256, with 52 digits below the first, reach words 22 to 41 of wide_words. */
struct square_words {
    static constexpr unsigned below = 22, count = 20, digits = 24, threads = 512;
    static constexpr int unit = wide_words::unit + 32 * (int)below, bits_per_word = 32;

    static __device__ unsigned add(long long *word, unsigned stride, double x)
    {
        double square = __dmul_rn(x, x);
        if (square == 0)
            return SPECIAL_PLAIN;
        return wide_words::add(word - (size_t)below * stride, stride, square);
    }
};

/* The words for squares of a storage format. */
template <typename S> struct words_for_squares {
    typedef square_words type;
    static __device__ unsigned add(long long *word, unsigned stride, S x)
    {
        return square_words::add(word, stride, convert<double>(x));
    }
};
template <> struct words_for_squares<double> {
    typedef product_words type;
    static __device__ unsigned add(long long *word, unsigned stride, double x)
    {
        return product_words::add(word, stride, x, x);
    }
};

/* What a lane adds the squares of its elements to (kernels/blocks/certified.cuh). */
template <typename S> struct enclosed_squares {
    static constexpr unsigned additions = same_type<S, double> ? 2 : 1; /* for each element */
    enclosure e = enclose_nothing();
    __device__ void add(S x) { enclose_product(e, x, x); }
    __device__ void end_of_batch() {}
};
