#include "kernels/blocks/pieces.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/method/team.h"
#include "kernels/method/two_sum.h"

typedef struct piece join(const struct piece_rule *rule, enum format f, struct piece a,
                          struct piece b);

/* As fold_halving (kernels/method/fold.h). Overwrites v[]; count <= TILE_COLUMNS. */
static struct piece fold_halving(const struct piece_rule *rule, enum format f, join *fold,
                                 struct piece *v, size_t count)
{
    for (size_t stride = TILE_COLUMNS / 2; stride > 0; stride /= 2)
        for (size_t i = 0; i < stride && i + stride < count; i++)
            v[i] = fold(rule, f, v[i], v[i + stride]);
    return v[0];
}

static struct piece single(const struct piece_rule *rule, double x)
{
    struct piece piece = {{x}};
    for (unsigned k = 1; k < rule->words; k++)
        piece.word[k] = rule->rest;
    return piece;
}

/* The elements must be values of f. */
static struct piece sum_elements(const struct piece_rule *rule, enum format f, const double *x,
                                 size_t count)
{
    struct piece column[TILE_COLUMNS];
    size_t columns = count < TILE_COLUMNS ? count : TILE_COLUMNS;
    for (size_t c = 0; c < columns; c++)
        column[c] = single(rule, x[c]);
    for (size_t i = TILE_COLUMNS; i < count; i++)
        column[i % TILE_COLUMNS] = rule->add(rule, f, column[i % TILE_COLUMNS], x[i]);
    return fold_halving(rule, f, rule->fold ? rule->fold : rule->join, column, columns);
}

void pieces_plain(const struct piece_rule *rule, const struct array *in, enum format f,
                  size_t first, size_t count, struct piece *piece)
{
    double x[TILE];
    for (size_t i = 0; i < count; i++) {
        size_t begin = (first + i) * TILE, present = in->n - begin < TILE ? in->n - begin : TILE;
        array_decode(in, begin, present, x);
        for (size_t j = 0; j < present; j++)
            x[j] = format_round(f, x[j]);
        piece[i] = sum_elements(rule, f, x, present);
    }
}

struct piece pieces_fold(const struct piece_rule *rule, enum format f, struct piece *v,
                         size_t count)
{
    for (size_t i = TILE_COLUMNS; i < count; i++)
        v[i % TILE_COLUMNS] = rule->join(rule, f, v[i % TILE_COLUMNS], v[i]);
    return fold_halving(rule, f, rule->join, v, count < TILE_COLUMNS ? count : TILE_COLUMNS);
}

static piece_tiles *fastest(void)
{
    size_t i = 0;
    while (!piece_variant[i].available())
        i++;
    return piece_variant[i].tiles;
}

/* A block's sum is found as sum/tiled finds it. */
static void sum_blocks(const struct piece_rule *rule, const struct array *in, enum format f,
                       size_t first, size_t count, struct piece *piece)
{
    double sum[64];
    for (size_t done = 0, some; done < count; done += some) {
        some = count - done < 64 ? count - done : 64;
        tiled_fastest()(in, f, first + done, some, sum);
        for (size_t i = 0; i < some; i++)
            piece[done + i] = single(rule, sum[i]);
    }
}

struct work {
    const struct piece_rule *rule;
    const struct task *task;
    struct piece *piece;
};

/* One thread's share of the full tiles. */
static void sum_share(void *context, unsigned thread)
{
    const struct work *w = context;
    const struct task *t = w->task;
    enum piece_kind kind = w->rule->kind;
    piece_tiles *sum = kind == PIECE_PLAIN     ? pieces_plain
                       : kind == PIECE_BLOCKED ? sum_blocks
                                               : fastest();
    struct tiled_share share = tiled_share(t->of->in.n / TILE, thread, t->shape.threads);
    sum(w->rule, &t->of->in, t->accumulator, share.first, share.count, w->piece + share.first);
}

enum status pieces_sum(const struct piece_rule *rule, const struct task *t, struct problem *p)
{
    enum format f = t->accumulator;
    size_t count = tiled_tiles(t->of->in.n);
    struct piece *v = malloc((count + (count == 0)) * sizeof *v);
    if (!v)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu tile sums", count);
    v[0] = single(rule, 0); /* the sum of nothing */

    enum status status = team_run(t->shape.threads, sum_share, &(struct work){rule, t, v}, p);
    if (status == STATUS_OK) {
        if (t->of->in.n % TILE)
            pieces_plain(rule, &t->of->in, f, t->of->in.n / TILE, 1, &v[t->of->in.n / TILE]);
        for (size_t n = count; n > 1; n = count) {
            count = tiled_tiles(n);
            for (size_t i = 0; i < count; i++)
                v[i] =
                    pieces_fold(rule, f, v + i * TILE, n - i * TILE < TILE ? n - i * TILE : TILE);
        }
        array_encode(&t->out, 0, 1, &(double){rule->value(rule, f, v[0])});
    }
    free(v);
    return status;
}

struct piece pair_join(const struct piece_rule *rule, enum format f, struct piece a, struct piece b)
{
    (void)rule;
    struct two_sum s = two_sum(f, a.word[0], b.word[0]);
    return (struct piece){{s.sum, format_add(f, a.word[1], format_add(f, b.word[1], s.error))}};
}

double pair_value(const struct piece_rule *rule, enum format f, struct piece sum)
{
    (void)rule;
    if (sum.word[1] == 0 || !isfinite(sum.word[1]))
        return sum.word[0];
    return format_add(f, sum.word[0], sum.word[1]);
}
