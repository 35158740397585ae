/* Sums in passes: consecutive elements are taken in groups, each group is folded to one value,
 * and the same is done to the results until one value is left. */
#ifndef ULPSCOPE_PASSES_H
#define ULPSCOPE_PASSES_H

#include "kernels/method.h"

enum { PASS_GROUP_MAX = 8 * THREADS_MAX };

/* How a group of 1 <= count <= `group` elements is folded, thrice: on values, as an order, and
 * that order's height. `threads` is the launch shape's. The first element's path must be a
 * longest one. */
struct pass {
    double (*fold)(enum format f, double *v, size_t count, unsigned threads);
    uint32_t (*order)(struct order *o, uint32_t *node, size_t count, unsigned threads);
    size_t (*height)(size_t count, unsigned threads);
};

/* Fits `cpu`, `height` and `order` of a method once group (2 .. PASS_GROUP_MAX) and pass are given.
 * The first pass reads the input block by block; only its results are kept. */
enum status passes_sum(const struct pass *pass, size_t group, const struct task *t,
                       struct problem *p);
size_t passes_height(const struct pass *pass, size_t group, size_t n, unsigned threads);
void passes_order(const struct pass *pass, size_t group, struct order *o, unsigned threads);

/* threads: 256 unless asked for, and at least `least`, so that a pass leaves fewer values. */
struct shape passes_shape(struct shape asked, unsigned least);

#endif
