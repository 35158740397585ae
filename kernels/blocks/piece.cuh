/* What some consecutive elements add up to: what the tree of sum/tiled is walked for on a GPU.
 *
 * A piece is a few words of one format, in which all its additions are rounded; the first is the
 * sum, the others what the sum lacks. P has
 *   word, words      the format of the words, and how many they are
 *   none             the first word of nothing: -0, unless it is no sum
 *   rest             what the other words of nothing and of an element are, of sums a zero
 *   result, value()  the format of the method's result, and the result that the piece gives
 *   append(x)        adds the next element
 *   join(b)          adds the next piece
 *   tile             the pieces that the elements of a tile are added to: P, or for a method that
 *                    adds the sums of tiles otherwise than elements, pieces of one word; of more
 *                    if P::raise(tile) makes a P of them
 *   commutes         is a.join(b) always b.join(a)?
 *
 * Nothing is a value that changes none that it is joined to, and that no element changes that is
 * appended to it: of sums the element -0. (Where a sum is not finite, the other words may become
 * NaNs; they do not count then. The signs of their zeros do not count either.) */
#pragma once

#include <type_traits>

#include "kernels/device/device.cuh"

template <typename A, unsigned count> struct words_of {
    typedef A word;
    typedef A result;
    static constexpr unsigned words = count;
    static constexpr bool commutes = false;
    static constexpr float rest = 0, none = -0.0f;
    A w[count];
};

template <typename P> __device__ inline P leaf(typename P::word x)
{
    P piece;
    piece.w[0] = x;
#pragma unroll
    for (unsigned k = 1; k < P::words; k++)
        piece.w[k] = rounded<typename P::word>(P::rest);
    return piece;
}

template <typename P> __device__ inline P leaf(const P &piece)
{
    return piece;
}

template <typename P> __device__ inline P nothing()
{
    return leaf<P>(rounded<typename P::word>(P::none));
}

/* A tile's piece as the levels above it are made of. */
template <typename P> __device__ inline P raised(const typename P::tile &tile)
{
    if constexpr (std::is_same<P, typename P::tile>::value)
        return tile;
    else if constexpr (P::tile::words > 1)
        return P::raise(tile);
    else
        return leaf<P>(tile.w[0]);
}

template <typename P> __device__ inline P joined(P a, const P &b)
{
    a.join(b);
    return a;
}

template <typename P> __device__ inline P chosen(bool first, P a, P b)
{
#pragma unroll
    for (unsigned k = 0; k < P::words; k++) {
        typename P::word x = a.w[k], y = b.w[k];
        a.w[k] = first ? x : y;
    }
    return a;
}

/* What the lane sends whose number differs by the bits of `stride`. */
template <typename P> __device__ inline P across(const P &sent, unsigned stride)
{
    P piece = sent; /* of what is no word, lanes have the same */
#pragma unroll
    for (unsigned k = 0; k < P::words; k++)
        piece.w[k] = __shfl_xor_sync(whole_warp, sent.w[k], stride);
    return piece;
}

/* What the leaves of a tree are, and what becomes of its root: here the elements, rounded to A, and
 * the piece's own result, +0 of nothing. Others give other leaves, which P::append takes, and
 * leaf<P>; begin() is called once, in the kernel, before any leaf is asked for. */
template <typename A> struct elements {
    __device__ void begin() {}
    template <typename S> __device__ A leaf_of(S x) const { return convert<A>(x); }
    template <typename P> __device__ typename P::result result(size_t n, const P &root) const
    {
        return sum_of(n, root.value());
    }
};

/* A sum alone. */
template <typename A> struct plain_sum : words_of<A, 1> {
    typedef plain_sum tile;
    static constexpr bool commutes = true;
    __device__ void append(A x) { this->w[0] = add(this->w[0], x); }
    __device__ void join(const plain_sum &b) { append(b.w[0]); }
    __device__ A value() const { return this->w[0]; }
};
