#include "kernels/blocks/ranks.h"

#include <stdlib.h>

#include "kernels/blocks/binned_state.h"
#include "kernels/method/matrix.h"
#include "reference/exact/rounded.h"

static double add_up(const struct task *t, const struct hop *hop, size_t ranks, size_t i,
                     double *sum)
{
    enum format f = t->out.format;
    for (size_t r = 0; r < ranks; r++)
        sum[r] = format_round(f, array_get(&t->of->in, r * t->of->bins + i));
    for (size_t h = 0; h + 1 < ranks; h++)
        sum[hop[h].to] = format_add(f, sum[hop[h].to], sum[hop[h].from]);
    return sum[ranks > 1 ? hop[ranks - 2].to : 0];
}

enum status ranks_adding_begin(struct ranks_adding *to, const struct task *t, struct problem *p)
{
    size_t ranks = matrix_length(t->of->in.n, t->of->bins);
    *to = (struct ranks_adding){.task = t, .ranks = ranks};
    to->hop = malloc((ranks + 1) * sizeof *to->hop);
    to->sum = malloc((ranks + 1) * sizeof *to->sum);
    if (to->hop && to->sum)
        return STATUS_OK;
    ranks_adding_end(to);
    return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu ranks", ranks);
}

void ranks_adding_piece(struct ranks_adding *to, hops_of_block *hops, size_t block, size_t begin,
                        size_t end)
{
    double result = 0;
    if (to->ranks > 1 && begin < end)
        hops(to->hop, to->ranks, block);
    for (size_t i = begin; i < end; i++) {
        if (to->ranks > 0)
            result = add_up(to->task, to->hop, to->ranks, i, to->sum);
        array_encode(&to->task->out, i, 1, &result);
    }
}

void ranks_adding_end(struct ranks_adding *to)
{
    free(to->hop);
    free(to->sum);
}

enum status ranks_add(const struct task *t, const struct algorithm *a, struct problem *p)
{
    struct ranks_adding to;
    enum status status = ranks_adding_begin(&to, t, p);
    if (status != STATUS_OK)
        return status;
    size_t outputs = t->of->bins, blocks = a->blocks && to.ranks > 0 ? a->blocks(to.ranks) : 1;
    begin_of_block *begin = a->begin ? a->begin : ranks_begin;
    for (size_t b = 0; b < blocks; b++)
        ranks_adding_piece(&to, a->hops, b, begin(outputs, blocks, b),
                           begin(outputs, blocks, b + 1));
    ranks_adding_end(&to);
    return STATUS_OK;
}

size_t ranks_height(const struct algorithm *a, size_t ranks)
{
    struct hop *hop = malloc((ranks + 1) * sizeof *hop);
    size_t *height = calloc(ranks + 1, sizeof *height), result = ranks;
    if (hop && height && ranks > 1) {
        a->hops(hop, ranks, 0);
        for (size_t h = 0; h + 1 < ranks; h++) {
            size_t *to = &height[hop[h].to], from = height[hop[h].from];
            *to = (*to > from ? *to : from) + 1;
        }
        result = height[hop[ranks - 2].to];
    }
    free(hop);
    free(height);
    return ranks > 1 ? result : 0;
}

void ranks_order(struct order *o, const struct algorithm *a)
{
    size_t ranks = o->leaves;
    struct hop *hop = malloc((ranks + 1) * sizeof *hop);
    uint32_t *sum = malloc((ranks + 1) * sizeof *sum);
    o->failed |= !hop || !sum;
    if (hop && sum) {
        for (size_t r = 0; r < ranks; r++)
            sum[r] = (uint32_t)r;
        if (ranks > 1)
            a->hops(hop, ranks, 0);
        for (size_t h = 0; h + 1 < ranks; h++)
            sum[hop[h].to] = order_add(o, sum[hop[h].to], sum[hop[h].from]);
        o->output[0] = sum[ranks > 1 ? hop[ranks - 2].to : 0];
    }
    free(hop);
    free(sum);
}

/* --- the hops --- */

void hops_from_first(struct hop *hop, size_t ranks, size_t block)
{
    (void)block;
    for (size_t r = 1; r < ranks; r++)
        hop[r - 1] = (struct hop){0, (uint32_t)r};
}

void hops_from_last(struct hop *hop, size_t ranks, size_t block)
{
    (void)block;
    for (size_t r = ranks - 1; r > 0; r--)
        hop[ranks - 1 - r] = (struct hop){(uint32_t)ranks - 1, (uint32_t)r - 1};
}

size_t hops_a_block_a_rank(size_t ranks)
{
    return ranks;
}

void hops_round(struct hop *hop, size_t ranks, size_t first)
{
    uint32_t from = (uint32_t)(first % ranks);
    for (size_t k = 0; k + 1 < ranks; k++) {
        uint32_t to = from + 1 < ranks ? from + 1 : 0;
        hop[k] = (struct hop){to, from};
        from = to;
    }
}

void hops_to_owner(struct hop *hop, size_t ranks, size_t block)
{
    hops_round(hop, ranks, block + 1);
}

/* The ranks of a power of two, into which the first extra pairs are folded. */
struct folded {
    size_t power, extra;
};

static struct folded fold(struct hop *hop, size_t ranks)
{
    struct folded is = {1, 0};
    while (is.power <= ranks / 2)
        is.power *= 2;
    is.extra = ranks - is.power;
    for (size_t r = 0; r < is.extra; r++)
        hop[r] = (struct hop){(uint32_t)(2 * r), (uint32_t)(2 * r + 1)};
    return is;
}

/* Adds number j of the power of two to number i. */
static struct hop hop_between(size_t i, size_t j, size_t extra)
{
    return (struct hop){(uint32_t)(i < extra ? 2 * i : i + extra),
                        (uint32_t)(j < extra ? 2 * j : j + extra)};
}

void hops_pairs(struct hop *hop, size_t ranks, size_t block)
{
    struct folded is = fold(hop, ranks);
    (void)block;
    hop += is.extra;
    for (size_t apart = 1; apart < is.power; apart *= 2)
        for (size_t i = 0; i < is.power; i += 2 * apart)
            *hop++ = hop_between(i, i + apart, is.extra);
}

void hops_cut_off(struct hop *hop, size_t ranks, size_t block)
{
    (void)block;
    for (size_t apart = 1; apart < ranks; apart *= 2)
        for (size_t i = 0; i + apart < ranks; i += 2 * apart)
            *hop++ = (struct hop){(uint32_t)i, (uint32_t)(i + apart)};
}

/* From the last rank on, so that a rank's sum is whole before the one above adds it. */
void hops_levels(struct hop *hop, size_t ranks, size_t block)
{
    (void)block;
    for (size_t r = ranks; r-- > 0;) {
        size_t level = 1; /* 2^l */
        while (2 * level <= r + 1)
            level *= 2;
        for (size_t k = 1; k <= 2 && r + k * level < ranks; k++)
            *hop++ = (struct hop){(uint32_t)r, (uint32_t)(r + k * level)};
    }
}

void hops_halves(struct hop *hop, size_t ranks, size_t block)
{
    struct folded is = fold(hop, ranks);
    (void)block;
    hop += is.extra;
    for (size_t apart = is.power / 2; apart > 0; apart /= 2)
        for (size_t i = 0; i < apart; i++)
            *hop++ = hop_between(i, i + apart, is.extra);
}

/* --- without hops --- */

/* Calls sum(elements of output i over the ranks). */
typedef double sum_of(const struct array *x, enum format f);

static enum status each(const struct task *t, sum_of *sum, struct problem *p)
{
    size_t outputs = t->of->bins, ranks = matrix_length(t->of->in.n, outputs);
    double *copy = malloc((ranks + 1) * sizeof *copy), result = 0;
    if (!copy)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu ranks", ranks);
    for (size_t i = 0; i < outputs; i++) {
        for (size_t r = 0; r < ranks; r++)
            copy[r] = array_get(&t->of->in, r * outputs + i);
        if (ranks > 0)
            result = sum(&(struct array){FP64, ranks, copy}, t->out.format);
        array_encode(&t->out, i, 1, &result);
    }
    free(copy);
    return STATUS_OK;
}

static double exactly(const struct array *x, enum format f)
{
    return rounded_sum(x, f, 1);
}

enum status ranks_exact(const struct task *t, struct problem *p)
{
    return each(t, exactly, p);
}

static double in_bins(const struct array *x, enum format f)
{
    struct binned_state s;
    binned_state_init(&s, x->format, f, RANKS_FOLDS, NULL);
    binned_state_add(&s, x, 0, x->n);
    return binned_state_finish(&s);
}

enum status ranks_binned(const struct task *t, struct problem *p)
{
    return each(t, in_bins, p);
}
