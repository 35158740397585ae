/* gemm/tiled: each element's products in blocks of 128.
 *
 * Order: products 0 .. 127, 128 .. 255, and so on, the last block possibly short, are each summed
 * one after the other: the first one rounded, each other one fused into its addition. The blocks'
 * sums are added one after the other, s[0] + s[1] + ..., and C last. Scales of blocks multiply each
 * block's sum before that (gemm_with_part), in fp32, or fp64 where that is added in; others all of
 * it behind (gemm_finished). It depends on k alone: neither
 * other elements, nor how many there are, nor how A and B lie shows in an element. On a GPU it
 * takes one register an element more than a plain loop. Threads are a schedule. */
#include "kernels/gemm/elements.h"
#include "kernels/scatter/bins.h"

enum { TILE_K = 128 };
_Static_assert((int)TILE_K == (int)GEMM_SCALE_BLOCK, "a block of products has one pair of scales");

static double element(const struct task *t, const struct matrices_packed *p, size_t output)
{
    struct gemm_terms terms = gemm_terms_of(p, output);
    double sum = 0;
    for (size_t k = 0; k < terms.k; k += TILE_K) {
        double tile = gemm_products(t, &terms, k, terms.k - k < TILE_K ? terms.k : k + TILE_K);
        sum = gemm_with_part(t, p, output, k, sum, tile);
    }
    return terms.k == 0 ? format_round(t->accumulator, terms.c) : gemm_finished(t, p, output, sum);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return gemm_each(t, element, p);
}

/* The first block has the most products, and is added to the most often. */
static size_t height_of(size_t terms)
{
    size_t k = terms - 1, tile = k < TILE_K ? k : TILE_K;
    return k == 0 ? 0 : tile - 1 + (k - 1) / TILE_K + 1;
}

static size_t height(size_t n, struct shape shape)
{
    (void)shape;
    return height_of(n);
}

static size_t bin_height(const size_t *indices, size_t terms, size_t n, size_t bins)
{
    (void)indices, (void)n, (void)bins;
    return height_of(terms);
}

static double given(const struct operands *of, enum format f, struct shape shape,
                    const struct matrices_packed *p, size_t output)
{
    struct gemm_scaled bound = {0};
    (void)shape;
    if (of->gemm.scaling != GEMM_SCALED_BLOCKS)
        return gemm_scaled_tree(of, f, p, output, height_of(p->k + 1));
    for (size_t k = 0; k < p->k; k += TILE_K) {
        const size_t end = p->k - k < TILE_K ? p->k : k + TILE_K;
        const struct gemm_terms tile = gemm_terms_part(p, output, k, end);
        gemm_scaled_add(&bound, f, p, output, k, end, gemm_sum_bound(of, f, &tile, tile.k));
    }
    return gemm_scaled_end(&bound, f, array_get(&p->c, output));
}

const struct method gemm_tiled = {
    .name = "gemm/tiled",
    .summary = "blocks of 128 products, then their sums: order from k alone",
    .operation = &operation_gemm,
    .promise = PROMISE_GPU_TO_GPU,
    .beside = 1u << PROMISE_BATCH_INVARIANT,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .product = PRODUCT_FUSED,
    .parts = true,
    .shape_read = {SHAPE_THREADS},
    .resolve = scatter_each_shape,
    .bound = THEOREM_TREE,
    .height = height,
    .bin_height = bin_height,
    .given = given,
    .cpu = cpu,
};
