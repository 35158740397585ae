/* Sums in passes: consecutive elements are taken in groups, each group is folded to one value,
 * and the same is done to the results until one value is left. */
#pragma once

#include "kernels/method/method.h"

enum { PASS_ROWS_MAX = 8 };

/* A group is `rows` <= PASS_ROWS_MAX times T consecutive elements, T threads to a block: thread t
 * adds its elements t, t + T, ... serially, as far as they are present. The threads that have any
 * fold what they have, said twice: on values and as an order, of the height and with the longest
 * path of order_balanced_height. */
struct pass {
    unsigned rows;
    unsigned threads_least; /* so that a pass leaves fewer values */
    double (*fold)(enum format f, double *v, size_t count);
    uint32_t (*order)(struct order *o, uint32_t *node, size_t count);
};

/* These fit `resolve`, `cpu`, `height` and `order` of a method once the pass is given: threads are
 * 256 unless asked for. The first pass reads the input block by block; only its results are kept.
 */
struct shape passes_shape(const struct pass *pass, struct shape asked);
enum status passes_sum(const struct pass *pass, const struct task *t, struct problem *p);
size_t passes_height(const struct pass *pass, size_t n, struct shape shape);
void passes_order(const struct pass *pass, struct order *o, struct shape shape);
