#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/reveal/check.h"

enum {
    TIMES = 3,
    CHECKS = 50 * TIMES,
    PAIRS = 3,
    WIDES = 3 * PAIRS,
    EARLY = 6,
    WORDS = REVEAL_WORDS
};

struct checking {
    const struct sum_tree *tree;
    struct sum_tree_nodes nodes;
    unsigned char *taken; /* of each leaf: it is part of the question */
    uint32_t low, early;  /* the next node of the longest chain; those asked for there */
    uint32_t wide, wides; /* additions looked at for more than two children; questions there, */
    uint32_t turn;        /* each of other two of the children */
    uint64_t walked;      /* nodes asked for otherwise, from here on: */
    double begin;
};

static uint32_t meeting(const struct sum_tree_nodes *nodes, uint32_t i, uint32_t j)
{
    while (i != j)
        if (i < j)
            i = nodes->parent[i];
        else
            j = nodes->parent[j];
    return i;
}

/* Nodes above have higher numbers. */
static bool is_under(const struct sum_tree_nodes *nodes, uint32_t leaf, uint32_t node)
{
    while (leaf < node)
        leaf = nodes->parent[leaf];
    return leaf == node;
}

static void ask_for(struct reveal_asker *a, struct checking *c, uint32_t leaf)
{
    if (c->taken[leaf] || a->units == a->window.bits)
        return;
    c->taken[leaf] = 1;
    reveal_unit(a, leaf);
}

/* The least leaf of a child of `node`, any but `not`. */
static uint32_t child_leaf(struct reveal_asker *a, const struct checking *c, uint32_t node,
                           uint32_t not )
{
    const struct sum_tree *t = c->tree;
    const uint32_t *begin = &t->begin[node - t->leaves];
    uint32_t child = not ;
    while (child == not )
        child = t->child[begin[0] + reveal_random(a, begin[1] - begin[0])];
    return c->nodes.least[child];
}

/* Other children of a node of more than two. */
static void ask_beside(struct reveal_asker *a, struct checking *c, uint32_t node)
{
    const uint32_t *begin = &c->tree->begin[node - c->tree->leaves];
    for (uint32_t k = begin[0]; k < begin[1] && a->units < (a->window.bits + 3) / 4; k++)
        ask_for(a, c, c->nodes.least[c->tree->child[k]]);
}

static uint32_t deepest(const struct checking *c)
{
    uint32_t at = (uint32_t)c->tree->leaves, node = at;
    for (size_t k = 0; k < c->tree->additions; k++, node++)
        at = c->nodes.depth[node] > c->nodes.depth[at] ? node : at;
    return at;
}

/* The next node of a walk that soon has been everywhere. First come the additions that are early in
 * the longest chain, where fewest questions led, and those of more than two children: an order that
 * changes may look like one. */
static uint32_t next_node(struct checking *c)
{
    const struct sum_tree *t = c->tree;
    if (c->early++ < EARLY && c->low != SUM_TREE_NO_PARENT) {
        uint32_t node = c->low;
        c->low = c->nodes.parent[node];
        return node;
    }
    for (; c->wide < t->additions && c->wides < WIDES; c->wide++)
        if (t->begin[c->wide + 1] - t->begin[c->wide] > 2) {
            uint32_t k = c->wide;
            c->wide += ++c->wides % PAIRS == 0;
            return (uint32_t)t->leaves + k;
        }
    double share = fmod((double)c->walked++ * 0.6180339887498949 + c->begin, 1);
    return (uint32_t)t->leaves + (uint32_t)(share * (double)t->additions);
}

/* Any pair, or one that meets in a node; units near that, and anywhere. */
static uint32_t prepare(struct reveal_asker *a, struct checking *c, bool anywhere)
{
    const struct sum_tree *t = c->tree;
    size_t leaves = t->leaves;
    uint32_t i, j, node;
    if (anywhere) {
        i = reveal_random(a, leaves);
        j = (i + 1 + reveal_random(a, leaves - 1)) % (uint32_t)leaves;
        node = meeting(&c->nodes, i, j);
    } else {
        node = next_node(c);
        const uint32_t *begin = &t->begin[node - leaves];
        uint32_t children = begin[1] - begin[0], turn = c->turn++;
        i = c->nodes.least[t->child[begin[0] + turn % children]];
        j = c->nodes.least[t->child[begin[0] + (turn + 1) % children]];
    }
    reveal_mask(a, i, j);
    c->taken[i] = c->taken[j] = 1;
    ask_beside(a, c, node);
    uint32_t at = node;
    for (unsigned k = 0; k < a->window.bits / 2 && c->nodes.parent[at] != SUM_TREE_NO_PARENT; k++) {
        ask_for(a, c, child_leaf(a, c, c->nodes.parent[at], at));
        at = c->nodes.parent[at];
    }
    for (unsigned k = 0; k < a->window.bits; k++)
        ask_for(a, c, reveal_random(a, leaves));
    while (a->units == 0)
        ask_for(a, c, reveal_random(a, leaves));
    return node;
}

enum status reveal_explain(struct reveal_asker *a, bool *changed, struct problem *p)
{
    char words[WORDS], three[3][WORDS];
    unsigned outside;
    a->contradiction = false;
    reveal_call_words(a, words, sizeof words);
    enum status status = reveal_call_again(a, changed, p);
    if (status == STATUS_OK && !*changed)
        status = reveal_ask_three(a, a->suspect, &outside, three, p);
    if (status != STATUS_OK || a->contradiction)
        return status;
    *a->words = 0;
    if (__builtin_popcount(outside) > 1)
        reveal_note_two(a, outside, three);
    else
        snprintf(a->words, a->words_size,
                 "%s, element %zu by itself %s; by all other answers it is the other way round",
                 words, a->subject->first + a->suspect[2], outside & 4 ? "left" : "lost");
    a->contradiction = true;
    return STATUS_OK;
}

/* Is the answer that of the tree, in which the masks meet there? */
static enum status hold_answer(struct reveal_asker *a, struct checking *c, uint32_t node,
                               bool *changed, struct problem *p)
{
    enum status status = reveal_call(a, p);
    for (unsigned k = 0; k < a->units && status == STATUS_OK && !a->contradiction; k++)
        if ((a->outside >> k & 1) == is_under(&c->nodes, a->unit[k], node)) {
            a->suspect[0] = a->pair[0][0];
            a->suspect[1] = a->pair[0][1];
            a->suspect[2] = a->unit[k];
            status = reveal_explain(a, changed, p);
        }
    return status;
}

/* Several times, since a part of the order may be another in every second or third call. */
static enum status check_once(struct reveal_asker *a, struct checking *c, bool anywhere,
                              uint64_t *checks, bool *changed, struct problem *p)
{
    uint32_t node = prepare(a, c, anywhere);
    enum status status = STATUS_OK;
    for (int i = 0; i < TIMES && status == STATUS_OK && !a->contradiction; i++) {
        status = hold_answer(a, c, node, changed, p);
        *checks += status == STATUS_OK && !a->contradiction;
    }
    c->taken[a->pair[0][0]] = c->taken[a->pair[0][1]] = 0;
    for (unsigned k = 0; k < a->units; k++)
        c->taken[a->unit[k]] = 0;
    return status;
}

enum status reveal_check_tree(struct reveal_asker *a, const struct sum_tree *t, uint64_t *checks,
                              bool *changed, struct problem *p)
{
    struct checking c = {.tree = t};
    *changed = false;
    *checks = 0;
    if (t->leaves < 3)
        return STATUS_OK;
    enum status status = sum_tree_nodes_make(&c.nodes, t, p);
    c.taken = calloc(t->leaves, 1);
    if (status == STATUS_OK && !c.taken)
        status = problem(p, STATUS_MEMORY, "reveal: out of memory for %zu elements", t->leaves);
    /* By masks, every node was held to answers about what it holds (reveal/split.c). */
    size_t most = t->leaves < CHECKS ? (3 * t->leaves + 1) / 2 * TIMES : CHECKS;
    most = most < CHECKS ? most : CHECKS;
    if (a->window.means != REVEAL_BY_MASKS)
        most += t->leaves;
    c.low = status == STATUS_OK ? deepest(&c) : SUM_TREE_NO_PARENT;
    c.begin = reveal_random(a, 1 << 16) * 0x1p-16;
    for (size_t k = 0; *checks < most && status == STATUS_OK && !a->contradiction; k++)
        status = check_once(a, &c, k % 4 == 3, checks, changed, p);
    free(c.nodes.parent);
    free(c.taken);
    return status;
}

/* --- one node --- */

/* All others are inside, as far as asked for: units in some that stand side by side. */
static enum status ask_pair(struct reveal_asker *a, uint32_t i, uint32_t j, bool *star,
                            struct problem *p)
{
    uint32_t leaves = (uint32_t)a->subject->leaves, leaf = reveal_random(a, leaves);
    reveal_mask(a, i, j);
    for (uint32_t k = 0; k < leaves && a->units < a->window.bits; k++, leaf++)
        if (leaf % leaves != i && leaf % leaves != j)
            reveal_unit(a, leaf % leaves);
    enum status status = reveal_call(a, p);
    *star = !a->contradiction && a->outside == 0;
    return status;
}

enum status reveal_check_star(struct reveal_asker *a, bool *star, struct problem *p)
{
    enum { EACH = 32 };
    uint32_t leaves = (uint32_t)a->subject->leaves;
    enum status status = STATUS_OK;
    *star = true;
    for (uint32_t i = 0; i < leaves && *star && status == STATUS_OK; i++)
        status = ask_pair(a, i, (i + 1) % leaves, star, p);
    for (uint32_t apart = 2; apart < leaves && apart > 1; apart *= 2)
        for (size_t k = 0; k < EACH && *star && status == STATUS_OK; k++) {
            uint32_t i = reveal_random(a, leaves);
            status = ask_pair(a, i, (i + apart) % leaves, star, p);
        }
    return status;
}
