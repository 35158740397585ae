/* The fold of a block by warp shuffles: warps of 32 consecutive elements, the last one possibly
 * short, each folded by halving; then the warps' results, at most 32, by halving. Its height is
 * that of halving alone. Shared by sum/shuffle and sum/block_atomic. */
#pragma once

#include "kernels/method/fold.h"
#include "kernels/method/order.h"

enum { WARP = 32 };

/* Overwrites v[]; 1 <= count <= 1024. Warp w's result replaces v[w], which warps 0 .. w have
 * already consumed. */
static inline double fold_warps(enum format f, double *v, size_t count)
{
    size_t warps = (count + WARP - 1) / WARP;
    for (size_t w = 0; w < warps; w++)
        v[w] = fold_halving(f, v + w * WARP, count - w * WARP < WARP ? count - w * WARP : WARP);
    return fold_halving(f, v, warps);
}

static inline uint32_t order_warps(struct order *o, uint32_t *node, size_t count)
{
    size_t warps = (count + WARP - 1) / WARP;
    for (size_t w = 0; w < warps; w++)
        node[w] =
            order_halving(o, node + w * WARP, count - w * WARP < WARP ? count - w * WARP : WARP);
    return order_halving(o, node, warps);
}
