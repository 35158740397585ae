/* product/tree: the tree of sum/tiled over factors, exponents kept apart.
 *
 * The order is kernels/product/tree.c's; how a GPU goes about it stands in
 * kernels/blocks/tiled.cuh. Down a column of a tile significands are multiplied as they come,
 * without being brought back to [1, 2): eight of them stay far from overflow, in fp16 too. */
#include "kernels/product/scaled.cuh"
#include "kernels/blocks/tiled.cuh"

namespace
{

/* A significand, and the exponent: so many numbers of the format above 2, below for negative ones.
 * The exponent of 2048 factors is still a plain number, whose bits stay as they are. */
template <typename A> struct tile_product : words_of<wide<A>, 2> {
    using words_of<wide<A>, 2>::w;
    typedef layout<wide<A>> l;
    static constexpr bool commutes = true;
    static constexpr float none = 1, rest = 2;

    __device__ int exponent() const { return (int)(l::of(w[1]) - l::of((wide<A>)2)); }
    __device__ void set(wide<A> m, int exponent)
    {
        w[0] = m;
        w[1] = l::value(l::of((wide<A>)2) + (typename l::bits)(long long)exponent);
    }
    __device__ void append(const tile_product &b)
    {
        set(multiply_in<A>(w[0], b.w[0]), exponent() + b.exponent());
    }
    __device__ void settle()
    {
        int above = take_exponent(&w[0]);
        set(w[0], exponent() + above);
    }
    __device__ void join(tile_product b)
    {
        settle();
        b.settle();
        append(b);
    }
};

/* Above the tiles: a significand in [1, 2), and the exponent as a double, which holds 2^53. */
template <typename A> struct product_of_tiles : words_of<double, 2> {
    typedef tile_product<A> tile;
    typedef A result;
    static constexpr float none = 1;

    static __device__ product_of_tiles raise(tile t)
    {
        product_of_tiles piece;
        t.settle();
        piece.w[0] = t.w[0];
        piece.w[1] = t.exponent();
        return piece;
    }
    __device__ void join(const product_of_tiles &b)
    {
        double m = multiply_exactly(w[0], b.w[0]);
        m = convert<double>(rounded<A>(m));
        int above = take_exponent(&m);
        w[0] = m;
        w[1] = __dadd_rn(__dadd_rn(w[1], b.w[1]), above);
    }
    __device__ A value() const { return scaled_value<A>(w[0], (long long)w[1]); }
};

/* The leaves. The product of nothing is what nothing is. */
template <typename A> struct factors {
    __device__ void begin() {}
    template <typename S> __device__ tile_product<A> leaf_of(S x) const
    {
        tile_product<A> alone;
        factor<A> f = factor_of<A>(x);
        alone.set(f.m, f.exponent);
        return alone;
    }
    __device__ A result(size_t, const product_of_tiles<A> &root) const { return root.value(); }
};

size_t workspace(const struct cuda_task *t)
{
    return sum_tree::workspace(t, 2);
}

int enqueue(const struct cuda_task *t)
{
    return with_types(t, [t](auto s, auto a) {
        typedef decltype(a) A;
        return sum_tree::run<product_of_tiles<A>, decltype(s)>(t, factors<A>());
    });
}

} // namespace

extern "C" const struct cuda_method product_tree_cuda = {workspace, no_workspace, enqueue};
