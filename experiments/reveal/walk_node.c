#include "experiments/reveal/walk_node.h"

#include <math.h>

#include "kernels/blocks/tiled.h"

static unsigned words_of(const struct method *m)
{
    if (theorem_additions(m->bound) != ADDS_CARRIED)
        return 1;
    return m->folds ? m->folds : 2;
}

static enum format added_in(const struct method *m, enum format f)
{
    return m->bound != THEOREM_WIDENED ? f : f == FP32 ? FP64 : FP32;
}

struct walk_node walk_leaf(const struct method *m, enum format f, size_t leaf, double x)
{
    double rest = m->bound == THEOREM_KAHAN ? -0.0 : 0.0;
    if (m->product == PRODUCT_EXACT)
        rest = format_round(f, x - format_round(f, x));
    return (struct walk_node){{format_round(added_in(m, f), x), rest}, leaf, true};
}

/* Adds x to *sum; returns what that loses, by Dekker's way: from the larger operand. */
static double put(enum format f, double *sum, double x)
{
    double large = fabs(*sum) < fabs(x) ? x : *sum, small = fabs(*sum) < fabs(x) ? *sum : x;
    *sum = format_add(f, *sum, x);
    return format_add(f, small, -format_add(f, *sum, -large));
}

/* Word by word, each with its own partner and the losses of the word above; the last word gets all
 * of them as one value. For two words: e1 + (e2 + d). */
static void join_words(unsigned words, enum format f, double *a, const double *b)
{
    double loss[5] = {0};
    for (unsigned k = 0; k + 1 < words; k++) {
        double next[5] = {put(f, &a[k], b[k])};
        for (unsigned i = 0; i < k; i++)
            next[i + 1] = put(f, &a[k], loss[i]);
        memcpy(loss, next, sizeof loss);
    }
    double last = loss[0];
    for (unsigned i = 1; i + 1 < words; i++)
        last = format_add(f, last, loss[i]);
    a[words - 1] = format_add(f, a[words - 1], format_add(f, b[words - 1], last));
}

static void kahan_step(enum format f, double *a, double x)
{
    double old = a[0], y = format_add(f, a[1], x);
    a[0] = format_add(f, y, old);
    a[1] = format_add(f, -format_add(f, a[0], -old), y);
    if (a[1] - a[1] != 0)
        a[1] = 0;
}

void walk_kahan(enum format f, struct walk_node *a, double x)
{
    kahan_step(f, a->word, x);
}

/* Algorithm 6 of Joldes, Muller and Popescu; with a single word on the right, algorithm 4. */
static void double_word_join(enum format f, double *a, const double *b)
{
    double high = a[0], low = a[1], c = put(f, &high, b[0]), sum = high;
    double e = put(f, &low, b[1]);
    c = format_add(f, c, low);
    double g = high, v = put(f, &g, c);
    v = format_add(f, e, v);
    low = put(f, &g, v);
    bool renewed = g != 0 && low - low == 0;
    a[0] = renewed ? g : sum;
    a[1] = renewed ? low : 0;
}

struct walk_node walk_add(const struct method *m, enum format f, const struct walk_node *a,
                          const struct walk_node *b)
{
    struct walk_node to = *a;
    to.single = false;
    bool same_tile = a->leaf / TILE == b->leaf / TILE;
    unsigned words = words_of(m);
    if (words == 1 || (m->bound == THEOREM_BLOCKED && same_tile))
        to.word[0] = format_add(added_in(m, f), a->word[0], b->word[0]);
    else if (m->bound == THEOREM_KAHAN && b->single && b->leaf % TILE >= TILE_COLUMNS)
        kahan_step(f, to.word, b->word[0]);
    else if (m->bound == THEOREM_DOUBLE_WORD)
        double_word_join(f, to.word, b->word);
    else
        join_words(words, f, to.word, b->word);
    return to;
}

double walk_value(const struct method *m, enum format f, const struct walk_node *root)
{
    unsigned words = words_of(m);
    double w[5];
    bool zero = true, finite = true;
    for (unsigned k = 0; k < words; k++) {
        w[k] = root->word[k];
        zero &= k == 0 || w[k] == 0;
        finite &= k == 0 || isfinite(w[k]);
    }
    if (zero || !finite || m->bound == THEOREM_DOUBLE_WORD)
        return w[0];
    for (unsigned sweep = 1; sweep < words; sweep++) {
        double up = w[words - 1];
        for (unsigned k = words - 1; k-- > 0;)
            w[k + 1] = put(f, &up, w[k]);
        w[0] = up;
    }
    double value = w[words - 1];
    for (unsigned k = words - 1; k-- > 0;)
        value = format_add(f, value, w[k]);
    return value;
}
