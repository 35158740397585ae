#include "tests/support/trees.h"

#include <math.h>
#include <stdlib.h>

#include "tests/support/samples.h"

const char *const tree_shape_name[TREE_SHAPES] = {
    "sequential", "backwards", "shuffled", "adjacent", "halving",
    "strided",    "chunked",   "random",   "fused",
};

/* Nodes are made from the leaves up and numbered from the root down. */
struct making {
    uint32_t *parent, *at; /* at[]: what is still to be added up */
    size_t leaves, left, made;
};

/* at[i[0]], at[i[1]], ... become one, in the first one's place; the others are NONE. */
static void add(struct making *m, const size_t *i, size_t count)
{
    uint32_t node = (uint32_t)(2 * m->leaves - ++m->made);
    for (size_t k = 0; k < count; k++) {
        m->parent[m->at[i[k]]] = node;
        m->at[i[k]] = SUM_TREE_NO_PARENT;
    }
    m->at[i[0]] = node;
    m->left -= count - 1;
}

static void add_two(struct making *m, size_t i, size_t j)
{
    add(m, (size_t[]){i, j}, 2);
}

static void serial(struct making *m, size_t begin, size_t end, size_t step)
{
    for (size_t i = begin + step; i < end; i += step)
        add_two(m, begin, i);
}

static void halving(struct making *m, size_t count)
{
    size_t stride = 1;
    while (stride < count)
        stride *= 2;
    for (; stride > 0; stride /= 2)
        for (size_t i = 0; i < stride && i + stride < count; i++)
            add_two(m, i, i + stride);
}

static void adjacent(struct making *m)
{
    for (size_t stride = 1; stride < m->leaves; stride *= 2)
        for (size_t i = 0; i + stride < m->leaves; i += 2 * stride)
            add_two(m, i, i + stride);
}

static void chunked(struct making *m, size_t chunk)
{
    for (size_t begin = 0; begin < m->leaves; begin += chunk)
        serial(m, begin, begin + chunk < m->leaves ? begin + chunk : m->leaves, 1);
    serial(m, 0, m->leaves, chunk);
}

static void strided(struct making *m, size_t columns)
{
    for (size_t c = 0; c < columns; c++)
        serial(m, c, m->leaves, columns);
    halving(m, columns < m->leaves ? columns : m->leaves);
}

static void shuffle(struct making *m, uint64_t *state)
{
    for (size_t i = m->leaves; i > 1; i--) {
        size_t j = sample_next(state) % i;
        uint32_t leaf = m->at[i - 1];
        m->at[i - 1] = m->at[j];
        m->at[j] = leaf;
    }
}

static void random_nodes(struct making *m, size_t most, uint64_t *state)
{
    while (m->left > 1) {
        size_t pick[9], count = 2 + sample_next(state) % (most - 1);
        if (count > m->left)
            count = m->left;
        for (size_t k = 0; k < count; k++) {
            size_t j;
            do {
                pick[k] = sample_next(state) % m->leaves;
                for (j = 0; j < k && pick[j] != pick[k]; j++)
                    ;
            } while (m->at[pick[k]] == SUM_TREE_NO_PARENT || j < k);
        }
        add(m, pick, count);
    }
}

static void build(struct making *m, enum tree_shape shape, uint64_t *state)
{
    size_t some = 2 + sample_next(state) % 15;
    switch (shape) {
    case TREE_SHUFFLED:
        shuffle(m, state);
        serial(m, 0, m->leaves, 1);
        break;
    case TREE_BACKWARDS:
        for (size_t i = m->leaves - 1; i-- > 0;)
            add_two(m, i, i + 1);
        break;
    case TREE_ADJACENT:
        adjacent(m);
        break;
    case TREE_HALVING:
        halving(m, m->leaves);
        break;
    case TREE_STRIDED:
        strided(m, some);
        break;
    case TREE_CHUNKED:
        chunked(m, some);
        break;
    case TREE_RANDOM:
        random_nodes(m, 2, state);
        break;
    case TREE_FUSED:
        random_nodes(m, 9, state);
        break;
    case TREE_SEQUENTIAL:
    case TREE_SHAPES:
        serial(m, 0, m->leaves, 1);
        break;
    }
}

void tree_make(struct sum_tree *t, enum tree_shape shape, size_t leaves, uint64_t seed)
{
    uint32_t *room = calloc(3 * leaves, sizeof *room);
    struct making m = {room, room + 2 * leaves, leaves, leaves, 0};
    for (size_t i = 0; i < leaves; i++)
        m.at[i] = (uint32_t)i;
    build(&m, shape, &seed);
    /* The nodes made last have the lowest numbers: close the gap below them. */
    uint32_t gap = (uint32_t)(leaves - m.made);
    for (size_t i = 0; i < 2 * leaves; i++)
        if (i < leaves || i >= leaves + gap)
            m.parent[i] -= gap;
    memmove(m.parent + leaves, m.parent + leaves + gap, m.made * sizeof *m.parent);
    m.parent[leaves] = SUM_TREE_NO_PARENT;
    if (leaves == 1)
        m.parent[0] = SUM_TREE_NO_PARENT;
    if (sum_tree_make(t, leaves, leaves + m.made, m.parent, NULL) != STATUS_OK)
        abort();
    free(room);
}

static double fused(enum format f, const double *node, const uint32_t *child, size_t count)
{
    double largest = 0, sum = 0;
    for (size_t k = 0; k < count; k++)
        largest = fmax(largest, fabs(node[child[k]]));
    double ulp = format_ulp(f, largest);
    for (size_t k = 0; k < count; k++)
        sum += trunc(node[child[k]] / ulp) * ulp;
    return format_round(f, sum);
}

enum status tree_sum_evaluate(void *context, double *result, struct problem *p)
{
    struct tree_sum *s = context;
    const struct sum_tree *t = s->tree;
    (void)p;
    array_decode(&s->in, s->first, t->leaves, s->node);
    for (size_t i = 0; i < t->leaves; i++)
        s->node[i] = format_round(s->accumulator, s->node[i]);
    for (size_t k = 0; k < t->additions; k++) {
        const uint32_t *child = t->child + t->begin[k];
        size_t count = t->begin[k + 1] - t->begin[k];
        s->node[t->leaves + k] =
            count == 2 ? format_add(s->accumulator, s->node[child[0]], s->node[child[1]])
                       : fused(s->accumulator, s->node, child, count);
    }
    *result = s->node[t->leaves + t->additions - 1];
    s->calls++;
    return STATUS_OK;
}
