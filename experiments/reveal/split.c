#include <stdlib.h>

#include "experiments/reveal/split_nodes.h"

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
        return problem(p, STATUS_DEVICE, "reveal: out of memory for %zu elements", n);
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
        status = problem(p, STATUS_DEVICE, "reveal: out of memory for %zu elements", leaves);
    if (status == STATUS_OK && !a->contradiction)
        status = sum_tree_make(t, leaves, s.nodes, s.parent, p);
    while (s.height > 0)
        split_free(&s.stack[--s.height]);
    free(s.stack);
    free(s.leaf);
    free(s.outside);
    return status;
}
