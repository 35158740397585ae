#include <stdlib.h>

#include "kernels/scan/tiled.h"
#include "tests/support/holds_scan.h"
#include "tests/support/samples.h"

/* Each leaf weighs a random number. A node that has the weight of a range of leaves has each of
 * them exactly once: else the weights of 64 bits would agree by chance. */
struct node {
    uint64_t weight;
    uint32_t height;
};

static const char *weigh(const struct order *o, struct node *node)
{
    if (o->failed || !node)
        return "memory ran out";
    uint64_t seed = o->leaves;
    for (size_t i = 0; i < o->leaves; i++)
        node[i] = (struct node){sample_next(&seed), 0};
    for (size_t k = 0; k < o->additions; k++) {
        const uint32_t *operand = o->operand[k];
        if (operand[0] >= o->leaves + k || operand[1] >= o->leaves + k)
            return "an operand is not an earlier node";
        struct node a = node[operand[0]], b = node[operand[1]];
        node[o->leaves + k] =
            (struct node){a.weight + b.weight, 1 + (a.height > b.height ? a.height : b.height)};
    }
    return NULL;
}

/* Every output is a tree over its segment's elements up to it, of the declared height. */
static const char *not_prefixes(const struct method *m, const struct order *o,
                                const struct node *node, struct shape shape)
{
    uint64_t weight = 0;
    static uint16_t cut[SCAN_TILE * SCAN_GROUP + 1];
    if (o->heads && m->segment_heights(cut, o->leaves, o->exclusive, o->heads, NULL) != STATUS_OK)
        return "heights could not be made";
    for (size_t i = 0; i < o->leaves; i++) {
        if (o->heads && o->heads[i])
            weight = 0;
        bool first = i == 0 || (o->heads && o->heads[i]);
        uint64_t want = o->exclusive ? weight : weight + node[i].weight;
        weight += node[i].weight;
        if (first && o->exclusive) {
            if (o->output[i] != ORDER_NOTHING)
                return "the sum of nothing is something";
            continue;
        }
        if (o->output[i] >= o->leaves + o->additions)
            return "an output is not a node";
        if (node[o->output[i]].weight != want)
            return "an output's leaves are not its elements";
        size_t height = node[o->output[i]].height,
               declared = o->heads ? cut[i] : m->prefix_height(i, o->leaves, shape, o->exclusive);
        if (height != declared)
            return "an output's height is not the declared one";
    }
    return NULL;
}

static bool check_one(const struct method *m, const struct scan_case *c, char why[WHY])
{
    struct order o;
    order_init(&o, c->in.n, c->in.n);
    o.exclusive = c->exclusive;
    o.heads = c->heads;
    m->order(&o, c->shape);
    struct node *node = malloc((o.leaves + o.additions) * sizeof *node);
    const char *fault = weigh(&o, node);
    if (!fault)
        fault = not_prefixes(m, &o, node, c->shape);
    if (!fault && !c->exclusive && !c->heads && order_height(&o) != m->height(c->in.n, c->shape))
        fault = "the greatest height is not the declared one";
    free(node);
    order_free(&o);
    return fault ? scan_failed(why, m, c, "%s", fault) : true;
}

bool holds_scan_order(const struct method *m, char why[WHY])
{
    enum { GROUP = SCAN_TILE * SCAN_GROUP };
    static const size_t edges[] = {1023,      1024,          1025,
                                   4096,      4097,          SCAN_TILE - 1,
                                   SCAN_TILE, SCAN_TILE + 1, 3 * SCAN_TILE + SCAN_ROW + 17,
                                   GROUP + 1};
    static uint8_t heads[GROUP + 1];
    size_t count = sizeof edges / sizeof *edges;
    for (size_t i = 1; i <= 600 + count; i++) {
        struct shape shape[SHAPES_TRIED];
        struct scan_variant variant[SCAN_VARIANTS];
        size_t n = i <= 600 ? i : edges[i - 601], shapes = shapes_tried(m, n, shape);
        size_t variants = scan_variants(m, variant);
        for (size_t k = 0; k < shapes * variants; k++) {
            const struct scan_variant *v = &variant[k % variants];
            struct scan_case c = {.in = {FP64, n, NULL},
                                  .accumulator = FP64,
                                  .output = FP64,
                                  .shape = shape[k / variants],
                                  .exclusive = v->exclusive,
                                  .heads = scan_heads(v, heads, n, n)};
            if (!check_one(m, &c, why))
                return false;
        }
    }
    return true;
}
