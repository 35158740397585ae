/* The tree of a matrix product, whose nodes may have many children: two leaves are masks, +M and
 * -M, all others units that M swamps. The units that are left in D are those outside the smallest
 * node that has both masks (FPRev, arXiv 2411.00442). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/inputs/philox.h"
#include "experiments/reveal/matrix_ask.h"

#define NONE SUM_TREE_NO_PARENT

struct builder {
    struct matrix_asker *a;
    size_t leaves, nodes;
    uint32_t *parent; /* of leaves, then of nodes in the order in which they were made */
    bool *unit;       /* leaves that are units now; the others are zero */
    bool bad;
};

static size_t below(uint64_t seed, uint64_t i, size_t bound)
{
    return random_below(random_draw(seed, RANDOM_PLACING, i).word[0], bound);
}

static void contradiction(struct builder *b, enum reveal_matrix_verdict verdict, const char *why,
                          size_t i, size_t j, double answer)
{
    struct reveal_matrix *r = b->a->found;
    if (!b->bad && !b->a->broken) {
        r->verdict = verdict;
        snprintf(r->words, sizeof r->words, "with masks at %zu and %zu of %zu, D is %g units: %s",
                 i, j, b->leaves - 1, answer, why);
    }
    b->bad = true;
}

/* The number of unit leaves below the lowest common ancestor of leaves i and j. */
static size_t size_of(struct builder *b, size_t i, size_t j)
{
    struct matrix_asker *a = b->a;
    size_t units = 0;
    matrix_clear(a);
    for (size_t l = 0; l < b->leaves; l++)
        if (l != i && l != j && b->unit[l]) {
            matrix_set(a, l, 1, a->low);
            units++;
        }
    matrix_set(a, i, 1, a->top);
    matrix_set(a, j, -1, a->top);
    double left = ldexp(matrix_ask(a, NULL), -a->low);
    if (a->status != STATUS_OK || a->broken) {
        b->bad = true;
        return 2;
    }
    if (!(left >= 0 && left <= (double)units && left == floor(left))) {
        contradiction(b, REVEAL_MATRIX_NO_TREE, "no count of units", i, j, left);
        return 2;
    }
    return units - (size_t)left + 2;
}

static uint32_t node(struct builder *b)
{
    b->parent[b->nodes] = NONE;
    return (uint32_t)b->nodes++;
}

struct member {
    size_t leaf, size; /* of the smallest node with the leaf it is compared to */
};

static int by_size(const void *x, const void *y)
{
    const struct member *a = x, *b = y;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return a->leaf < b->leaf ? -1 : a->leaf > b->leaf;
}

/* The tree of leaf i and of the members, whose sizes are known and which are sorted by them. */
static uint32_t grow(struct builder *b, size_t i, struct member *m, size_t count)
{
    uint32_t path = (uint32_t)i;
    for (size_t at = 0; at < count && !b->bad;) {
        size_t same = at, size = m[at].size;
        while (same < count && m[same].size == size)
            same++;
        uint32_t here = node(b);
        b->parent[path] = here;
        /* Other children of the node: those that are in a smaller one with a leaf are of its child.
         */
        while (at < same && !b->bad) {
            size_t child = at + 1, other = same;
            while (child < other) {
                m[child].size = size_of(b, m[at].leaf, m[child].leaf);
                if (m[child].size < size) {
                    child++;
                } else { /* to the others, behind */
                    struct member moved = m[child];
                    m[child] = m[--other];
                    m[other] = moved;
                }
                if (b->bad)
                    return here;
            }
            qsort(m + at + 1, child - at - 1, sizeof *m, by_size);
            b->parent[grow(b, m[at].leaf, m + at + 1, child - at - 1)] = here;
            at = child;
        }
        path = here;
    }
    return path;
}

/* Nodes get numbers from the root down, as sum_tree_make asks. */
static bool numbered(struct builder *b)
{
    size_t inner = b->nodes - b->leaves, next = 0;
    uint32_t *number = malloc(inner * sizeof *number), *parent = malloc(b->nodes * sizeof *parent);
    bool fine = number && parent;
    for (size_t i = 0; fine && i < inner; i++)
        number[i] = NONE;
    for (size_t pass = 0; fine && next < inner && pass <= inner; pass++)
        for (size_t i = inner; i-- > 0;) {
            uint32_t above = b->parent[b->leaves + i];
            if (number[i] == NONE && (above == NONE || number[above - b->leaves] != NONE))
                number[i] = (uint32_t)(b->leaves + next++);
        }
    for (size_t i = 0; fine && i < b->nodes; i++)
        parent[i < b->leaves ? i : number[i - b->leaves]] =
            b->parent[i] == NONE ? NONE : number[b->parent[i] - b->leaves];
    if (fine)
        memcpy(b->parent, parent, b->nodes * sizeof *parent);
    free(number);
    free(parent);
    return fine;
}

/* Asks the finished tree for the sizes of nodes, where half of the leaves are zero. */
static void verify(struct builder *b, const struct sum_tree *t, uint64_t seed)
{
    struct sum_tree_nodes nodes;
    enum { QUESTIONS = 200 };
    b->a->status = sum_tree_nodes_make(&nodes, t, b->a->p);
    if (b->a->status != STATUS_OK) {
        b->bad = true;
        return;
    }
    for (uint64_t q = 0; q < QUESTIONS && !b->bad; q++) {
        size_t i = below(seed, 4 * q, b->leaves), j = below(seed, 4 * q + 1, b->leaves - 1);
        j += j >= i;
        uint32_t x = nodes.parent[i], y = nodes.parent[j];
        while (x != y) { /* the smallest node that has both */
            if (nodes.depth[x] >= nodes.depth[y])
                x = nodes.parent[x];
            else
                y = nodes.parent[y];
        }
        size_t expected = 0;
        for (size_t l = 0; l < b->leaves; l++) {
            b->unit[l] = l == i || l == j || below(seed ^ q, l + 4 * QUESTIONS, 2) == 0;
            uint32_t above = (uint32_t)l;
            while (above != x && above != NONE)
                above = nodes.parent[above];
            expected += b->unit[l] && above == x;
        }
        size_t found = size_of(b, i, j), again = b->bad ? found : size_of(b, i, j);
        if (!b->bad && found != again)
            contradiction(b, REVEAL_MATRIX_CHANGES, "and another number the next time", i, j,
                          (double)found);
        else if (!b->bad && found != expected)
            contradiction(b, REVEAL_MATRIX_NO_TREE, "another number than other questions ask for",
                          i, j, (double)found);
    }
    free(nodes.parent);
}

bool matrix_tree(struct matrix_asker *a, uint64_t seed)
{
    struct builder b = {.a = a, .leaves = a->leaves};
    b.nodes = b.leaves;
    b.parent = malloc(2 * b.leaves * sizeof *b.parent);
    b.unit = malloc(b.leaves * sizeof *b.unit);
    struct member *m = malloc(b.leaves * sizeof *m);
    bool fine = b.parent && b.unit && m, lost = false;
    if (!fine) {
        a->status = problem(a->p, STATUS_MEMORY, "no memory for a tree of %zu leaves", b.leaves);
    } else {
        memset(b.unit, true, b.leaves * sizeof *b.unit);
        for (size_t i = 0; i < b.leaves; i++)
            b.parent[i] = NONE;
        for (size_t i = 1; i < b.leaves && !b.bad; i++) {
            m[i - 1] = (struct member){i, size_of(&b, 0, i)};
            lost |= m[i - 1].size > 2;
        }
        if (!b.bad && !lost) {
            a->found->verdict = REVEAL_MATRIX_EXACT;
            b.bad = true;
        }
        if (!b.bad) {
            qsort(m, b.leaves - 1, sizeof *m, by_size);
            grow(&b, 0, m, b.leaves - 1);
        }
        if (!b.bad && !numbered(&b)) {
            a->status =
                problem(a->p, STATUS_MEMORY, "no memory for a tree of %zu leaves", b.leaves);
            b.bad = true;
        }
        if (!b.bad) {
            a->found->verdict = REVEAL_MATRIX_TREE;
            a->status = sum_tree_make(&a->found->tree, b.leaves, b.nodes, b.parent, a->p);
            b.bad = a->status != STATUS_OK;
        }
        if (!b.bad)
            verify(&b, &a->found->tree, seed);
    }
    free(b.parent);
    free(b.unit);
    free(m);
    return fine && !b.bad;
}
