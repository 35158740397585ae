#include "reports/tree/tree.h"

#include <stdlib.h>
#include <string.h>

#include "reports/tree/text.h"

#define NONE SUM_TREE_NO_PARENT

static enum status no_memory(struct problem *p)
{
    return problem(p, STATUS_MEMORY, "reveal: out of memory for a tree");
}

void sum_tree_free(struct sum_tree *t)
{
    free(t->begin);
    free(t->child);
    *t = (struct sum_tree){0};
}

/* A tree of given parents in which the children of a node are linked, the least leaf first. */
struct links {
    size_t leaves, nodes;
    const uint32_t *parent;
    uint32_t *least, *child, *next, *number; /* of each node */
};

/* From the leaf of the highest number down, each chain of nodes whose least leaf it is. */
static uint32_t link_children(struct links *l)
{
    uint32_t root = 0;
    for (size_t i = 0; i < l->nodes; i++) {
        l->least[i] = i < l->leaves ? (uint32_t)i : NONE;
        l->child[i] = l->next[i] = NONE;
    }
    for (size_t k = 0; k < l->nodes; k++) {
        size_t i = k < l->leaves ? k : l->nodes - 1 - (k - l->leaves); /* children first */
        uint32_t up = l->parent[i];
        if (up == NONE)
            root = (uint32_t)i;
        else if (l->least[i] < l->least[up])
            l->least[up] = l->least[i];
    }
    for (size_t leaf = l->leaves; leaf-- > 0;)
        for (uint32_t i = (uint32_t)leaf; i != NONE && l->least[i] == leaf; i = l->parent[i])
            if (l->parent[i] != NONE) {
                l->next[i] = l->child[l->parent[i]];
                l->child[l->parent[i]] = i;
            }
    return root;
}

/* Additions in the order in which they are done: all of a node's children before it. */
static void number_nodes(struct sum_tree *t, struct links *l, uint32_t root)
{
    uint32_t at = root, children = 0;
    for (;;) {
        while (l->child[at] != NONE)
            at = l->child[at];
        l->number[at] = at;
        while (at != root && l->next[at] == NONE) {
            at = l->parent[at];
            t->begin[t->additions] = children;
            for (uint32_t i = l->child[at]; i != NONE; i = l->next[i])
                t->child[children++] = l->number[i];
            l->number[at] = (uint32_t)(t->leaves + t->additions++);
        }
        if (at == root)
            break;
        at = l->next[at];
    }
    t->begin[t->additions] = children;
}

enum status sum_tree_make(struct sum_tree *t, size_t leaves, size_t nodes, const uint32_t *parent,
                          struct problem *p)
{
    uint32_t *room = calloc(4 * nodes, sizeof *room);
    *t = (struct sum_tree){.leaves = leaves};
    t->begin = calloc(nodes - leaves + 1, sizeof *t->begin);
    t->child = calloc(nodes, sizeof *t->child);
    if (!room || !t->begin || !t->child) {
        free(room);
        return no_memory(p);
    }
    struct links l = {leaves,           nodes,           parent, room, room + nodes,
                      room + 2 * nodes, room + 3 * nodes};
    uint32_t root = link_children(&l);
    number_nodes(t, &l, root);
    free(room);
    return STATUS_OK;
}

/* Numbers the nodes under `root` from the top down. Returns how many, or 0 where a leaf is another
 * element or is there twice. */
static size_t walk_order(const struct order *o, uint32_t root, size_t first, size_t leaves,
                         uint32_t *parent, uint32_t *stack)
{
    size_t nodes = leaves, depth = 0;
    memset(parent, 0, leaves * sizeof *parent);
    stack[depth++] = root;
    stack[depth++] = NONE;
    while (depth > 0) {
        uint32_t up = stack[--depth], node = stack[--depth], me = node - (uint32_t)first;
        if (node < o->leaves) {
            if (node < first || me >= leaves || parent[me])
                return 0;
            parent[me] = up + 1; /* 0: not yet seen; the root's is 0 too, but is not looked at */
            continue;
        }
        if (nodes == 2 * leaves)
            return 0;
        me = (uint32_t)nodes++;
        parent[me] = up;
        for (int side = 0; side < 2; side++) {
            stack[depth++] = o->operand[node - o->leaves][side];
            stack[depth++] = me;
        }
    }
    for (size_t i = 0; i < leaves; i++)
        parent[i]--;
    return nodes == 2 * leaves - 1 ? nodes : 0;
}

enum status sum_tree_of(struct sum_tree *t, const struct order *o, size_t output, size_t first,
                        size_t leaves, struct problem *p)
{
    *t = (struct sum_tree){0};
    uint32_t *parent = calloc(2 * leaves, sizeof *parent);
    uint32_t *stack = calloc(4 * leaves + 4, sizeof *stack);
    enum status status = STATUS_OK;
    if (!parent || !stack || o->failed)
        status = no_memory(p);
    size_t nodes = status == STATUS_OK && o->output[output] != ORDER_NOTHING
                       ? walk_order(o, o->output[output], first, leaves, parent, stack)
                       : 0;
    if (status == STATUS_OK && nodes == 0)
        status = problem(p, STATUS_FAILED,
                         "reveal: the declared order of output %zu is no tree over elements %zu to "
                         "%zu",
                         output, first, first + leaves - 1);
    if (status == STATUS_OK)
        status = sum_tree_make(t, leaves, nodes, parent, p);
    free(parent);
    free(stack);
    return status;
}

enum status sum_tree_nodes_make(struct sum_tree_nodes *nodes, const struct sum_tree *t,
                                struct problem *p)
{
    size_t count = t->leaves + t->additions;
    uint32_t *room = calloc(4 * count, sizeof *room);
    if (!room)
        return no_memory(p);
    *nodes = (struct sum_tree_nodes){room, room + count, room + 2 * count, room + 3 * count};
    nodes->parent[count - 1] = NONE;
    for (uint32_t i = 0; i < t->leaves; i++) {
        nodes->least[i] = i;
        nodes->size[i] = 1;
    }
    for (size_t k = 0; k < t->additions; k++) {
        size_t me = t->leaves + k;
        nodes->least[me] = nodes->least[t->child[t->begin[k]]];
        for (uint32_t c = t->begin[k]; c < t->begin[k + 1]; c++) {
            nodes->parent[t->child[c]] = (uint32_t)me;
            nodes->size[me] += nodes->size[t->child[c]];
        }
    }
    for (size_t i = count - 1; i-- > 0;)
        nodes->depth[i] = nodes->depth[nodes->parent[i]] + 1;
    return STATUS_OK;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

size_t sum_tree_leaves(const struct sum_tree *t, uint32_t node, uint32_t *leaf)
{
    size_t count = 0;
    if (node < t->leaves) {
        leaf[0] = node;
        return 1;
    }
    /* The additions under a node stand right before it; `open` of them are still to come. */
    size_t open = 1;
    for (size_t k = node - t->leaves; open > 0; k--) {
        open--;
        for (uint32_t c = t->begin[k]; c < t->begin[k + 1]; c++)
            if (t->child[c] < t->leaves)
                leaf[count++] = t->child[c];
            else
                open++;
    }
    qsort(leaf, count, sizeof *leaf, ascending);
    return count;
}

bool sum_tree_equal(const struct sum_tree *a, const struct sum_tree *b)
{
    return a->leaves == b->leaves && a->additions == b->additions &&
           memcmp(a->begin, b->begin, (a->additions + 1) * sizeof *a->begin) == 0 &&
           memcmp(a->child, b->child, a->begin[a->additions] * sizeof *a->child) == 0;
}

/* leaf[0] .. leaf[count - 1] ascend by `step` as far as `length` of them. */
static size_t run_length(const uint32_t *leaf, size_t count, uint32_t *step)
{
    size_t length = 1;
    *step = count > 1 ? leaf[1] - leaf[0] : 1;
    while (length < count && leaf[length] - leaf[length - 1] == *step)
        length++;
    return length;
}

/* Runs of one length and one step, one distance apart. */
struct runs {
    size_t length;
    uint32_t step, apart;
};

static bool are_runs(struct runs *r, const uint32_t *leaf, size_t count)
{
    *r = (struct runs){.step = 1};
    r->length = run_length(leaf, count, &r->step);
    if (r->length == 2 && r->step > 1) /* two that lie apart are no run */
        return false;
    if (count % r->length != 0)
        return false;
    r->apart = count > r->length ? leaf[r->length] - leaf[0] : 0;
    for (size_t i = r->length; i < count; i++)
        if (leaf[i] - leaf[i - r->length] != r->apart)
            return false;
    return true;
}

static void print_run(char *text, size_t size, const uint32_t *leaf, const struct runs *r,
                      size_t first)
{
    size_t used = strlen(text);
    text += used;
    size -= used;
    if (r->length == 1)
        snprintf(text, size, "%zu", first + leaf[0]);
    else if (r->step == 1)
        snprintf(text, size, "%zu..%zu", first + leaf[0], first + leaf[r->length - 1]);
    else
        snprintf(text, size, "%zu..%zu by %u", first + leaf[0], first + leaf[r->length - 1],
                 r->step);
}

/* Runs of one length and step, or else whatever runs of three and more there are. */
static size_t next_run(struct runs *r, bool regular, const uint32_t *leaf, size_t count)
{
    if (regular)
        return r->length;
    r->length = run_length(leaf, count, &r->step);
    if (r->length < 3)
        *r = (struct runs){.length = 1, .step = 1};
    return r->length;
}

/* The first ones, and the last. */
static void print_set(char text[SUM_TREE_SET], const uint32_t *leaf, size_t count, size_t first)
{
    enum { SHOWN = 4 };
    struct runs r;
    bool regular = are_runs(&r, leaf, count);
    size_t shown = 0, skipped = 0;
    *text = 0;
    for (size_t at = 0, length; at < count; at += length) {
        length = next_run(&r, regular, leaf + at, count - at);
        shown += length > 1 ? 2 : 1;
        if (shown > SHOWN && at + length < count) {
            skipped++;
            continue;
        }
        size_t used = strlen(text);
        snprintf(text + used, SUM_TREE_SET - used, "%s%s", at == 0 ? "" : ", ",
                 skipped ? "... " : "");
        print_run(text, SUM_TREE_SET, leaf + at, &r, first);
    }
}

enum status sum_tree_set_text(char text[SUM_TREE_SET], const struct sum_tree *t, uint32_t node,
                              size_t first, struct problem *p)
{
    uint32_t *leaf = calloc(t->leaves, sizeof *leaf);
    if (!leaf)
        return problem(p, STATUS_MEMORY, "reveal: out of memory for a tree");
    size_t count = sum_tree_leaves(t, node, leaf);
    print_set(text, leaf, count, first);
    free(leaf);
    return STATUS_OK;
}
