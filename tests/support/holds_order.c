#include <stdlib.h>

#include "kernels/blocks/tiled.h"
#include "tests/support/holds_scan.h"

/* Every node but the root is an operand exactly once, the root never, and operands come first:
 * then every leaf hangs under the root exactly once. */
static const char *not_a_tree(const struct order *o)
{
    size_t nodes = o->leaves + o->additions;
    const char *fault = NULL;
    unsigned char *used = calloc(nodes, 1);
    if (!used || o->failed)
        fault = "memory ran out";
    for (size_t k = 0; !fault && k < o->additions; k++)
        for (int side = 0; side < 2 && !fault; side++) {
            uint32_t node = o->operand[k][side];
            if (node >= o->leaves + k)
                fault = "an operand is not an earlier node";
            else if (used[node]++)
                fault = "a node is added twice";
        }
    for (size_t i = 0; !fault && i < nodes; i++)
        if ((i == o->output[0]) == used[i])
            fault = used[i] ? "the root is an operand" : "a node is left out";
    free(used);
    return fault;
}

static bool check_one(const struct method *m, size_t n, struct shape shape, char why[WHY])
{
    struct order o;
    order_init(&o, n, m->operation->outputs(n, 1));
    m->order(&o, shape);
    const char *fault = not_a_tree(&o);
    size_t height = fault ? 0 : order_height(&o);
    size_t declared = m->height ? m->height(n, shape) : height;
    order_free(&o);
    if (fault)
        return not_held(why, m, FORMATS, FORMATS, n, shape, "%s", fault);
    if (height != declared)
        return not_held(why, m, FORMATS, FORMATS, n, shape, "height %zu, but %zu is declared",
                        height, declared);
    return true;
}

bool holds_order(const struct method *m, char why[WHY])
{
    if (m->operation == &operation_scan)
        return holds_scan_order(m, why);
    static const size_t edges[] = {1023,         1024,     1025,           TILE - 1,
                                   TILE,         TILE + 1, 2 * TILE + 255, 8 * 1024,
                                   8 * 1024 + 1, TILE * 9, TILE * 256 + 1, TILE * 300};
    struct shape shape[SHAPES_TRIED];
    size_t count = sizeof edges / sizeof *edges;
    for (size_t i = 1; i <= 600 + count; i++) {
        size_t n = i <= 600 ? i : edges[i - 601], shapes = shapes_tried(m, n, shape);
        for (size_t s = 0; s < shapes; s++)
            if (!check_one(m, n, shape[s], why))
                return false;
    }
    return true;
}
