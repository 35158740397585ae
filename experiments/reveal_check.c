#include "experiments/reveal_check.h"

#include <stdio.h>
#include <stdlib.h>

enum { TRIPLES = 40, CHECKS = 100, WORDS = 160 };

/* --- units alone --- */

static enum status ask_units(struct reveal_asker *a, size_t from, size_t count, bool *fine,
                             struct problem *p)
{
    for (size_t k = 0; k < count; k++)
        reveal_unit(a, (uint32_t)(from + k));
    enum status status = reveal_call(a, p);
    *fine = !a->contradiction && __builtin_popcountll(a->outside) == (int)count;
    return status;
}

/* The accumulator may hold fewer digits than it is said to. */
static enum status find_bits(struct reveal_asker *a, struct problem *p)
{
    size_t leaves = a->subject->leaves;
    bool fine = false;
    enum status status = STATUS_OK;
    if (a->window.bits > leaves)
        a->window.bits = (unsigned)leaves;
    for (;; a->window.bits--) {
        unsigned bits = a->window.bits;
        status = ask_units(a, reveal_random(a, leaves - bits + 1), bits, &fine, p);
        if (fine || bits == 1 || status != STATUS_OK)
            return status;
        a->contradiction = false;
    }
}

static enum status ask_others(struct reveal_asker *a, struct problem *p)
{
    const struct reveal_subject *s = a->subject;
    double result = 0;
    enum status status = STATUS_OK;
    if (s->leaves == s->in.n)
        return status;
    reveal_clear(a);
    for (size_t i = 0; i < s->in.n; i++)
        if (i - s->first >= s->leaves)
            array_encode(&s->in, i, 1, &a->window.unit);
    a->calls++;
    status = s->evaluate(s->context, &result, p);
    if (status == STATUS_OK && result != 0)
        reveal_contradict(a, "a unit in each element that is not summed: %.17g units",
                          result / a->window.unit);
    memset(s->in.data, 0, array_bytes(s->in.format, s->in.n));
    return status;
}

enum status reveal_check_units(struct reveal_asker *a, struct problem *p)
{
    size_t leaves = a->subject->leaves;
    enum status status = find_bits(a, p);
    a->contradiction = false;
    for (size_t from = 0; from < leaves && status == STATUS_OK && !a->contradiction;) {
        size_t count = leaves - from < a->window.bits ? leaves - from : a->window.bits;
        bool fine;
        status = ask_units(a, from, count, &fine, p);
        if (status == STATUS_OK && !fine) {
            a->contradiction = false;
            reveal_contradict(a,
                              "1, 2, 4, ... units in %zu elements from %zu on, 0 in all others: "
                              "%.17g units",
                              count, a->subject->first + from, a->result / a->window.unit);
        }
        from += count;
    }
    return status == STATUS_OK && !a->contradiction ? ask_others(a, p) : status;
}

/* --- three leaves --- */

static void pick_three(struct reveal_asker *a, uint32_t leaf[3])
{
    size_t leaves = a->subject->leaves;
    for (size_t k = 0; k < 3; k++) {
        size_t i;
        do {
            leaf[k] = reveal_random(a, leaves);
            for (i = 0; i < k && leaf[i] != leaf[k]; i++)
                ;
        } while (i < k);
    }
}

/* Bit k: leaf k lies outside of the node of the two others. words[k]: what was asked. */
static enum status ask_three(struct reveal_asker *a, const uint32_t leaf[3], unsigned *outside,
                             char words[3][WORDS], struct problem *p)
{
    *outside = 0;
    for (unsigned k = 0; k < 3; k++) {
        bool out;
        enum status status = reveal_ask(a, leaf[(k + 1) % 3], leaf[(k + 2) % 3], leaf[k], &out, p);
        if (status != STATUS_OK || a->contradiction)
            return status;
        *outside |= (unsigned)out << k;
        reveal_call_words(a, words[k], WORDS);
    }
    return STATUS_OK;
}

static void note(char *text, size_t size, const char *one, const char *other)
{
    if (!*text)
        snprintf(text, size, "%s, but %s", one, other);
}

static void note_two(struct reveal_asker *a, unsigned outside, char words[3][WORDS])
{
    unsigned first = outside & 1 ? 0 : 1;
    note(a->words, a->words_size, words[first], words[first == 0 && outside & 2 ? 1 : 2]);
}

/* Answers differ: by the size of the unit, or from call to call? */
static enum status compare(struct reveal_asker *a, struct reveal_triples *t, const uint32_t leaf[3],
                           const unsigned first[2], char words[2][3][WORDS], struct problem *p)
{
    for (size_t k = 0; k < 8 && !t->changed; k++) {
        unsigned outside;
        char again[3][WORDS];
        a->shift = k % 2 ? a->window.bits - 1 : 0;
        enum status status = ask_three(a, leaf, &outside, again, p);
        if (status != STATUS_OK || a->contradiction)
            return status;
        unsigned other = outside ^ first[k % 2];
        t->changed = other != 0 || a->window.bits == 1;
        if (t->changed) {
            unsigned i = (unsigned)__builtin_ctz(other ? other : first[0] ^ first[1]);
            *a->words = 0;
            note(a->words, a->words_size, words[other ? k % 2 : 0][i],
                 other ? again[i] : words[1][i]);
        }
    }
    t->sized = !t->changed;
    return STATUS_OK;
}

static enum status check_triple(struct reveal_asker *a, struct reveal_triples *t, struct problem *p)
{
    char words[2][3][WORDS];
    uint32_t leaf[3];
    unsigned outside[2];
    pick_three(a, leaf);
    for (unsigned k = 0; k < 2; k++) {
        a->shift = k ? a->window.bits - 1 : 0;
        enum status status = ask_three(a, leaf, &outside[k], words[k], p);
        if (status != STATUS_OK || a->contradiction)
            return status;
    }
    int count = __builtin_popcount(outside[0]);
    t->asked++;
    t->none += count == 0;
    t->two += count == 2;
    t->all += count == 3;
    if (count > 1)
        note_two(a, outside[0], words[0]);
    return outside[0] == outside[1] ? STATUS_OK : compare(a, t, leaf, outside, words, p);
}

enum status reveal_check_triples(struct reveal_asker *a, struct reveal_triples *t,
                                 struct problem *p)
{
    size_t leaves = a->subject->leaves, most = 2 * leaves < TRIPLES ? 2 * leaves : TRIPLES;
    enum status status = STATUS_OK;
    *t = (struct reveal_triples){0};
    *a->words = 0;
    while (leaves > 2 && t->asked < most && !t->changed && !t->sized && !a->contradiction &&
           status == STATUS_OK)
        status = check_triple(a, t, p);
    a->shift = 0;
    return status;
}

/* --- a finished tree --- */

struct checking {
    const struct reveal_tree *tree;
    struct reveal_nodes nodes;
    unsigned char *taken; /* of each leaf: it is part of the question */
};

static uint32_t meeting(const struct reveal_nodes *nodes, uint32_t i, uint32_t j)
{
    while (i != j)
        if (i < j)
            i = nodes->parent[i];
        else
            j = nodes->parent[j];
    return i;
}

/* Nodes above have higher numbers. */
static bool is_under(const struct reveal_nodes *nodes, uint32_t leaf, uint32_t node)
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
    const struct reveal_tree *t = c->tree;
    const uint32_t *begin = &t->begin[node - t->leaves];
    uint32_t child = not ;
    while (child == not )
        child = t->child[begin[0] + reveal_random(a, begin[1] - begin[0])];
    return c->nodes.least[child];
}

/* Any pair, or one that meets in any node; units near that, and anywhere. */
static uint32_t prepare(struct reveal_asker *a, struct checking *c, bool anywhere)
{
    const struct reveal_tree *t = c->tree;
    size_t leaves = t->leaves;
    uint32_t i, j, node;
    if (anywhere) {
        i = reveal_random(a, leaves);
        j = (i + 1 + reveal_random(a, leaves - 1)) % (uint32_t)leaves;
        node = meeting(&c->nodes, i, j);
    } else {
        node = (uint32_t)leaves + reveal_random(a, t->additions);
        i = c->nodes.least[node];
        j = child_leaf(a, c, node, t->child[t->begin[node - leaves]]);
    }
    reveal_mask(a, i, j);
    c->taken[i] = c->taken[j] = 1;
    uint32_t at = node;
    for (unsigned k = 0; k < a->window.bits / 2 && c->nodes.parent[at] != REVEAL_NO_PARENT; k++) {
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
        status = ask_three(a, a->suspect, &outside, three, p);
    if (status != STATUS_OK || a->contradiction)
        return status;
    *a->words = 0;
    if (__builtin_popcount(outside) > 1)
        note_two(a, outside, three);
    else
        snprintf(a->words, a->words_size,
                 "%s, element %zu by itself %s; by all other answers it is the other way round",
                 words, a->subject->first + a->suspect[2], outside & 4 ? "left" : "lost");
    a->contradiction = true;
    return STATUS_OK;
}

static enum status check_once(struct reveal_asker *a, struct checking *c, bool anywhere,
                              bool *changed, struct problem *p)
{
    uint32_t node = prepare(a, c, anywhere);
    enum status status = reveal_call(a, p);
    c->taken[a->pair[0][0]] = c->taken[a->pair[0][1]] = 0;
    for (unsigned k = 0; k < a->units; k++)
        c->taken[a->unit[k]] = 0;
    for (unsigned k = 0; k < a->units && status == STATUS_OK && !a->contradiction; k++)
        if ((a->outside >> k & 1) == is_under(&c->nodes, a->unit[k], node)) {
            a->suspect[0] = a->pair[0][0];
            a->suspect[1] = a->pair[0][1];
            a->suspect[2] = a->unit[k];
            status = reveal_explain(a, changed, p);
        }
    return status;
}

enum status reveal_check_tree(struct reveal_asker *a, const struct reveal_tree *t, uint64_t *checks,
                              bool *changed, struct problem *p)
{
    struct checking c = {.tree = t};
    *changed = false;
    *checks = 0;
    if (t->leaves < 3)
        return STATUS_OK;
    enum status status = reveal_nodes_make(&c.nodes, t, p);
    c.taken = calloc(t->leaves, 1);
    if (status == STATUS_OK && !c.taken)
        status = problem(p, STATUS_DEVICE, "reveal: out of memory for %zu elements", t->leaves);
    /* By masks, every node was held to answers about what it holds (reveal_split.c). */
    size_t most = 2 * t->leaves < CHECKS ? 2 * t->leaves : CHECKS;
    if (a->window.means == REVEAL_BY_OVERFLOW)
        most += t->leaves;
    while (*checks < most && status == STATUS_OK && !a->contradiction) {
        status = check_once(a, &c, *checks % 2, changed, p);
        *checks += !a->contradiction;
    }
    free(c.nodes.parent);
    free(c.taken);
    return status;
}
