/* scatter/ordered: an order from n, the bins and the keys alone; no sort while bins are few.
 *
 * Order: up to 4096 bins, a row is 32 consecutive elements. Those of one bin in a row are folded,
 * neighbours first
 * ((0 + 1) + (2 + 3)) + ..., by their rank among each other. A piece is 32 consecutive rows, or the
 * least multiple of that by a power of two with which there are at most 4096 pieces. The row sums
 * of a bin in a piece are added one after the other. The piece sums of a bin are folded, neighbours
 * first, by the number of the piece. What has no element of the bin is skipped, everywhere.
 * Of more bins each has the order of scatter/sort.
 *
 * It is made for GPUs: a row is what a warp reads at once, in which lanes of one key find each
 * other and fold by shuffles, so that one lane a bin remains and no two of them meet at one
 * address; a piece is a warp's, with bins of its own in shared memory, and no atomic is needed.
 * More bins than that do not fit there. Threads and blocks are a schedule. The CPU finds the
 * elements of a bin by a sort instead, which leaves them in the order of the array. */
#include "kernels/scatter/ordered.h"

#include "kernels/method/fold.h"
#include "kernels/scatter/bins.h"
#include "kernels/blocks/tiled.h"

enum { DEEPEST = 64 };

size_t ordered_piece(size_t n)
{
    size_t size = ORDERED_ROW * ORDERED_ROWS;
    while (n / size >= ORDERED_PIECES && n > size * ORDERED_PIECES)
        size *= 2;
    return size;
}

/* Pieces' sums that wait for the neighbours that they join: their numbers ascend, and the ones next
 * to each other join on ever higher levels downwards. */
struct waiting {
    enum format format;
    size_t count;
    size_t piece[DEEPEST + 1]; /* one that the sum is of */
    double sum[DEEPEST + 1];
};

/* The level on which the trees of two pieces join. */
static int level(size_t a, size_t b)
{
    return a == b ? 0 : 64 - __builtin_clzll(a ^ b);
}

static void join_last(struct waiting *w)
{
    w->count--;
    w->sum[w->count - 1] = format_add(w->format, w->sum[w->count - 1], w->sum[w->count]);
}

static void push(struct waiting *w, size_t piece, double sum)
{
    while (w->count >= 2 && level(w->piece[w->count - 2], w->piece[w->count - 1]) <
                                level(w->piece[w->count - 1], piece))
        join_last(w);
    w->piece[w->count] = piece;
    w->sum[w->count++] = sum;
}

/* The elements from `at` on that are consecutive with it, and their sum. */
static size_t sum_row(enum format f, const double *x, const size_t *element, size_t at, size_t n,
                      double *sum)
{
    double row[ORDERED_ROW] = {format_round(f, x[at])};
    size_t count = 1, number = element[at] / ORDERED_ROW;
    for (; at + count < n && element[at + count] / ORDERED_ROW == number; count++)
        row[count] = format_round(f, x[at + count]);
    *sum = fold_adjacent(f, row, count);
    return count;
}

static enum status sum_bin(const struct task *t, const struct array *x, const size_t *element,
                           double *sum, struct problem *p)
{
    enum format f = t->accumulator;
    struct waiting w = {.format = f};
    const double *value = x->data;
    size_t piece = ordered_piece(t->of->in.n);
    (void)p;
    for (size_t i = 0; i < x->n;) {
        size_t number = element[i] / piece;
        double of_piece = -0.0, of_row;
        while (i < x->n && element[i] / piece == number) {
            i += sum_row(f, value, element, i, x->n, &of_row);
            of_piece = format_add(f, of_piece, of_row);
        }
        push(&w, number, of_piece);
    }
    while (w.count >= 2)
        join_last(&w);
    *sum = w.sum[0];
    return STATUS_OK;
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return scatter_each(t, t->of->bins > ORDERED_BINS ? scatter_sum_tiled : sum_bin, p);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* As the sum is made, heights for values. */
struct heights {
    size_t count;
    size_t piece[DEEPEST + 1], height[DEEPEST + 1];
};

static void join_heights(struct heights *w)
{
    w->count--;
    w->height[w->count - 1] = 1 + most(w->height[w->count - 1], w->height[w->count]);
}

static void push_height(struct heights *w, size_t piece, size_t height)
{
    while (w->count >= 2 && level(w->piece[w->count - 2], w->piece[w->count - 1]) <
                                level(w->piece[w->count - 1], piece))
        join_heights(w);
    w->piece[w->count] = piece;
    w->height[w->count++] = height;
}

static size_t bin_height(const size_t *element, size_t terms, size_t n, size_t bins)
{
    struct heights w = {0};
    size_t piece = ordered_piece(n), i = 0;
    if (bins > ORDERED_BINS)
        return tiled_height(terms, (struct shape){0});
    while (i < terms) {
        size_t number = element[i] / piece, height = 0;
        for (bool first = true; i < terms && element[i] / piece == number; first = false) {
            size_t row = element[i] / ORDERED_ROW, count = 0;
            for (; i < terms && element[i] / ORDERED_ROW == row; i++)
                count++;
            height = most(height, order_balanced_height(count)) + !first;
        }
        push_height(&w, number, height);
    }
    while (w.count >= 2)
        join_heights(&w);
    return w.height[0];
}

/* All elements in one bin: the first row of the first piece is on a longest path. */
static size_t height(size_t n, struct shape shape)
{
    size_t piece = ordered_piece(n), rows = (least(n, piece) - 1) / ORDERED_ROW;
    (void)shape;
    return order_balanced_height(least(n, ORDERED_ROW)) + rows +
           order_balanced_height((n - 1) / piece + 1);
}

static uint32_t order_piece(struct order *o, size_t first, size_t end)
{
    uint32_t node[ORDERED_ROW], sum = ORDER_NOTHING;
    for (size_t i = first; i < end; i += ORDERED_ROW) {
        size_t count = least(end - i, ORDERED_ROW);
        for (size_t k = 0; k < count; k++)
            node[k] = (uint32_t)(i + k);
        sum = order_join(o, sum, order_adjacent(o, node, count));
    }
    return sum;
}

static void order(struct order *o, struct shape shape)
{
    uint32_t node[ORDERED_PIECES + 1];
    size_t piece = ordered_piece(o->leaves), pieces = 0;
    (void)shape;
    for (size_t i = 0; i < o->leaves; i += piece)
        node[pieces++] = order_piece(o, i, least(o->leaves, i + piece));
    o->output[0] = order_adjacent(o, node, pieces);
}

const struct method scatter_ordered = {
    .name = "scatter/ordered",
    .summary = "rows of 32 folded, rows of a piece one after the other, pieces folded: no sort, "
               "no atomics; above 4096 bins scatter/sort's order",
    .operation = &operation_scatter,
    .promise = PROMISE_GPU_TO_GPU,
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = scatter_each_shape,
    .bound = THEOREM_TREE,
    .height = height,
    .bin_height = bin_height,
    .order = order,
    .cpu = cpu,
};
