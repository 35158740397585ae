/* Nodes that are being split: leaves that find their child, children that become nodes. */
#include <stdlib.h>

#include "experiments/reveal/split_nodes.h"

static void *grow(struct splitting *s, void *array, uint32_t *room, uint32_t need, size_t size)
{
    if (need <= *room)
        return array;
    void *larger = realloc(array, 2 * (size_t)need * size);
    s->failed |= !larger;
    *room = larger ? 2 * need : *room;
    return larger ? larger : array;
}

void split_push(struct splitting *s, const struct split *x)
{
    if (s->height == s->room) {
        size_t room = 2 * s->room + 16;
        struct split *larger = realloc(s->stack, room * sizeof *larger);
        s->failed |= !larger;
        if (!larger)
            return;
        s->stack = larger;
        s->room = room;
    }
    s->stack[s->height++] = *x;
}

void split_free(struct split *x)
{
    for (uint32_t c = 0; c < x->children; c++)
        free(x->child[c].by);
    free(x->child);
}

/* The first open leaf becomes that of a new child. */
static void add_child(struct splitting *s, struct split *x)
{
    x->child = grow(s, x->child, &x->room, x->children + 1, sizeof *x->child);
    if (s->failed)
        return;
    uint32_t leaf = s->leaf[x->open++];
    x->child[x->children] = (struct child){.rep = leaf};
    s->child[leaf] = x->children++;
    s->grown[leaf] = 0;
}

/* Any open leaf is tried next, first with the child whose leaf is nearest; last with one that has
 * no other leaf so far, as that of a sequential order never gets one. */
static void choose(struct splitting *s, struct split *x)
{
    uint32_t pick = x->open + reveal_random(s->asker, x->end - x->open);
    uint32_t k = s->leaf[pick], nearest = UINT32_MAX;
    s->leaf[pick] = s->leaf[x->open];
    s->leaf[x->open] = k;
    for (uint32_t c = 0; c < x->children; c++) {
        uint32_t rep = x->child[c].rep, distance = rep > k ? rep - k : k - rep;
        if (c > 0 && x->child[c].grown == 0 && x->child[0].grown > 0)
            distance += UINT32_MAX / 2;
        if (distance < nearest) {
            nearest = distance;
            x->with = c;
        }
    }
    x->tried = x->answers = 0;
}

/* The open leaves that are not outside join the child. */
static void join(struct splitting *s, struct split *x)
{
    struct child *c = &x->child[x->with];
    uint32_t k = s->leaf[x->open];
    c->by = grow(s, c->by, &c->room, c->grown + 2, sizeof *c->by);
    if (s->failed)
        return;
    c->by[++c->grown] = k;
    s->outside[k] = 0;
    for (uint32_t i = x->open; i < x->end; i++) {
        uint32_t leaf = s->leaf[i];
        if (s->outside[leaf])
            continue;
        s->leaf[i] = s->leaf[x->open];
        s->leaf[x->open++] = leaf;
        s->child[leaf] = x->with;
        s->grown[leaf] = c->grown;
    }
}

/* Sorts the leaves of a split node by child; begin[c] and begin[c + 1] are where child c's lie. */
static uint32_t *sort_by_child(struct splitting *s, const struct split *x)
{
    uint32_t *begin = s->count;
    for (uint32_t c = 0; c <= x->children; c++)
        begin[c] = 0;
    for (uint32_t i = x->begin; i < x->end; i++)
        begin[s->child[s->leaf[i]] + 1]++;
    begin[0] = x->begin;
    for (uint32_t c = 0; c < x->children; c++)
        begin[c + 1] += begin[c];
    for (uint32_t i = x->begin; i < x->end; i++)
        s->sorted[begin[s->child[s->leaf[i]]]++] = s->leaf[i];
    for (uint32_t c = x->children; c > 0; c--)
        begin[c] = begin[c - 1];
    begin[0] = x->begin;
    memcpy(s->leaf + x->begin, s->sorted + x->begin, (x->end - x->begin) * sizeof *s->leaf);
    return begin;
}

/* A child becomes a node to be split: in the last of its nested nodes its leaf meets by[grown]. */
static void push_child(struct splitting *s, uint32_t parent, struct child *c, uint32_t begin,
                       uint32_t end)
{
    struct split x = {.node = s->nodes, .begin = begin, .open = begin, .end = end};
    s->parent[s->nodes++] = parent;
    x.child = grow(s, NULL, &x.room, 2, sizeof *x.child);
    if (s->failed)
        return;
    uint32_t last = c->by[c->grown];
    x.children = 1;
    x.child[0] = *c;
    x.child[0].grown--;
    *c = (struct child){0};
    for (uint32_t i = begin; i < end; i++) {
        uint32_t leaf = s->leaf[i];
        bool inner = s->grown[leaf] <= x.child[0].grown;
        s->child[leaf] = 0;
        if (inner || leaf == last) {
            s->leaf[i] = s->leaf[x.open];
            s->leaf[x.open++] = leaf;
        }
    }
    /* `last` to the end of those that are not open, where it becomes the second child. */
    for (uint32_t i = begin; i < x.open; i++)
        if (s->leaf[i] == last) {
            s->leaf[i] = s->leaf[--x.open];
            s->leaf[x.open] = last;
        }
    add_child(s, &x);
    if (x.open < x.end)
        choose(s, &x);
    split_push(s, &x);
}

void split_finish(struct splitting *s, struct split *x)
{
    uint32_t *begin = sort_by_child(s, x), children = x->children;
    for (uint32_t c = 0; c < children && !s->failed; c++) {
        uint32_t from = begin[c], to = begin[c + 1];
        s->placed += to - from == 1;
        if (to - from == 1)
            s->parent[s->leaf[from]] = x->node;
        else
            push_child(s, x->node, &x->child[c], from, to);
    }
}

void split_advance(struct splitting *s, struct split *x, bool elsewhere)
{
    if (!elsewhere) {
        join(s, x);
    } else if (++x->tried < x->children) {
        x->with = (x->with + 1) % x->children;
        x->answers = 0;
        return;
    } else {
        add_child(s, x);
    }
    if (x->open < x->end && !s->failed)
        choose(s, x);
}

/* The first node: nested ones that hold any leaf, until one has all. */
void split_start(struct splitting *s, size_t leaves)
{
    struct split x = {.node = SUM_TREE_NO_PARENT, .end = (uint32_t)leaves};
    uint32_t pick = reveal_random(s->asker, leaves);
    for (uint32_t i = 0; i < leaves; i++)
        s->leaf[i] = i;
    s->leaf[pick] = 0;
    s->leaf[0] = pick;
    s->nodes = (uint32_t)leaves;
    add_child(s, &x);
    if (s->failed)
        return;
    choose(s, &x);
    split_push(s, &x);
}
