#include "experiments/reveal/split.h"

#include <stdlib.h>

/* --- Nodes that are being split: leaves that find their child, children that become nodes --- */

/* A child of a node that is split, as far as known: nested nodes that hold its leaf `rep`, each the
 * one in which `rep` meets by[g]. */
struct child {
    uint32_t rep, grown;
    uint32_t *by; /* by[1] .. by[grown] */
    uint32_t room;
};

/* A node that is being split, all of whose leaves are leaf[begin] .. leaf[end - 1]. Those from
 * `open` on belong to no child yet; the first of them is tried, with child `with`. Asked for are
 * first the leaf of another child, if there is one, then the open ones but for the first. */
struct split {
    uint32_t node;
    uint32_t begin, open, end;
    struct child *child;
    uint32_t children, room;
    uint32_t with, tried; /* children that were tried */
    uint32_t answers;
};

enum { NO_NODE = 0 }; /* not a node's number, since there are leaves: the least node is not known */

struct splitting {
    struct reveal_asker *asker;
    uint32_t *leaf;           /* all leaves, each node's together */
    uint32_t *child, *grown;  /* of each leaf: its child, and the node in it that first had it */
    unsigned char *outside;   /* of each leaf: the answer */
    uint32_t *parent, nodes;  /* as sum_tree_make takes them */
    uint32_t *sorted, *count; /* room */
    struct split *stack;
    size_t height, room, placed;
    bool failed; /* memory ran out */
};

static void *grow(struct splitting *s, void *array, uint32_t *room, uint32_t need, size_t size)
{
    if (need <= *room)
        return array;
    void *larger = realloc(array, 2 * (size_t)need * size);
    s->failed |= !larger;
    *room = larger ? 2 * need : *room;
    return larger ? larger : array;
}

/* Puts a node on the stack: what it holds is the stack's. Where memory runs out, s->failed is set.
 */
static void split_push(struct splitting *s, const struct split *x)
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

static void split_free(struct split *x)
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

/* Tries any open leaf next, first with the child whose leaf is nearest. A child with a single leaf
 * comes last: in a sequential order it never gets a second one. */
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
    /* Move `last` to the end of the closed leaves, where it becomes the second child. */
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

/* No leaf is open: its children are placed, or are nodes on the stack. */
static void split_finish(struct splitting *s, struct split *x)
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

/* All is answered, or the leaf of another child lies inside: the open leaves that are not outside
 * join the child, or another one is tried. */
static void split_advance(struct splitting *s, struct split *x, bool elsewhere)
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
static void split_start(struct splitting *s, size_t leaves)
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

/* How many leaves are still to be asked for. */
static unsigned open_questions(const struct split *x)
{
    unsigned all = (x->children > 1) + (x->end - x->open - 1);
    return x->open < x->end ? all - x->answers : 0;
}

static uint32_t question(const struct splitting *s, const struct split *x, uint32_t k)
{
    if (x->children > 1 && k == 0)
        return x->child[x->with == 0].rep;
    return s->leaf[x->open + 1 + k - (x->children > 1)];
}

/* One call, for as many nodes as it has room for. Asked for are also leaves that the child tried
 * with has already: they are inside, or there is no tree. */
struct batch {
    struct split split[REVEAL_BITS];
    unsigned asked[REVEAL_BITS], sure[REVEAL_BITS];
    unsigned splits;
};

/* Asks for up to `most` of the leaves that the child has. */
static unsigned ask_sure(struct splitting *s, const struct split *x, unsigned most)
{
    struct reveal_asker *a = s->asker;
    unsigned asked = 0;
    for (unsigned k = 0; k < 4 * most && asked < most; k++) {
        uint32_t leaf = s->leaf[x->begin + reveal_random(a, x->open - x->begin)];
        bool fits = s->child[leaf] == x->with && leaf != x->child[x->with].rep;
        for (unsigned i = a->units - asked; i < a->units; i++)
            fits &= a->unit[i] != leaf;
        if (fits) {
            reveal_unit(a, leaf);
            asked++;
        }
    }
    return asked;
}

static void fill(struct splitting *s, struct batch *b)
{
    struct reveal_asker *a = s->asker;
    unsigned room = a->window.bits;
    b->splits = 0;
    while (s->height > 0 && room > 0 && !s->failed) {
        struct split x = s->stack[--s->height];
        if (x.open == x.end) {
            split_finish(s, &x);
            split_free(&x);
            continue;
        }
        unsigned ask = open_questions(&x) < room ? open_questions(&x) : room;
        unsigned sure = room - ask < 1 ? 0 : s->height > 0 ? 1 : room - ask < 8 ? room - ask : 8;
        if (ask == 0 && x.child[0].grown == 0) { /* a node of two */
            split_advance(s, &x, false);
            split_push(s, &x);
            continue;
        }
        reveal_mask(a, x.child[x.with].rep, s->leaf[x.open]);
        for (unsigned k = 0; k < ask; k++)
            reveal_unit(a, question(s, &x, x.answers + k));
        b->asked[b->splits] = ask;
        b->sure[b->splits] = ask_sure(s, &x, sure);
        room -= ask + b->sure[b->splits];
        b->split[b->splits++] = x;
    }
}

/* A leaf of a child lies outside of a node that holds all of the child. */
static void suspect(struct reveal_asker *a, const uint32_t pair[2], uint32_t leaf)
{
    if (a->contradiction)
        return;
    reveal_contradict(a, "element %zu is and is not under one node", a->subject->first + leaf);
    a->suspected = true;
    a->suspect[0] = pair[0];
    a->suspect[1] = pair[1];
    a->suspect[2] = leaf;
}

static void take(struct splitting *s, struct batch *b)
{
    struct reveal_asker *a = s->asker;
    unsigned unit = 0;
    for (unsigned i = 0; i < b->splits; i++) {
        struct split x = b->split[i];
        bool elsewhere = x.children > 1 && x.answers == 0 && !(a->outside >> unit & 1);
        for (unsigned k = 0; k < b->asked[i]; k++, unit++)
            s->outside[question(s, &x, x.answers + k)] = a->outside >> unit & 1;
        for (unsigned k = 0; k < b->sure[i]; k++, unit++)
            if (a->outside >> unit & 1)
                suspect(a, a->pair[i], a->unit[unit]);
        x.answers += b->asked[i];
        if (elsewhere || open_questions(&x) == 0)
            split_advance(s, &x, elsewhere);
        split_push(s, &x);
    }
}

static enum status open_splitting(struct splitting *s, struct reveal_asker *a, struct problem *p)
{
    size_t n = a->subject->leaves;
    *s = (struct splitting){.asker = a};
    s->leaf = calloc(8 * n + 8, sizeof *s->leaf);
    s->outside = calloc(n, 1);
    s->failed = !s->leaf || !s->outside;
    if (s->failed)
        return problem(p, STATUS_MEMORY, "reveal: out of memory for %zu elements", n);
    s->child = s->leaf + n;
    s->grown = s->child + n;
    s->sorted = s->grown + n;
    s->parent = s->sorted + n;
    s->count = s->parent + 2 * n;
    return STATUS_OK;
}

enum status reveal_split(struct reveal_asker *a, struct sum_tree *t, struct problem *p)
{
    struct splitting s;
    struct batch batch;
    size_t leaves = a->subject->leaves;
    enum status status = open_splitting(&s, a, p);
    if (status == STATUS_OK)
        split_start(&s, leaves);
    while (status == STATUS_OK && !s.failed && !a->contradiction && s.height > 0) {
        fill(&s, &batch);
        if (batch.splits > 0)
            status = reveal_call(a, p);
        take(&s, &batch);
        if (a->subject->progress)
            a->subject->progress(a->subject->context, s.placed);
    }
    if (s.failed && status == STATUS_OK)
        status = problem(p, STATUS_MEMORY, "reveal: out of memory for %zu elements", leaves);
    if (status == STATUS_OK && !a->contradiction)
        status = sum_tree_make(t, leaves, s.nodes, s.parent, p);
    while (s.height > 0)
        split_free(&s.stack[--s.height]);
    free(s.stack);
    free(s.leaf);
    free(s.outside);
    return status;
}
