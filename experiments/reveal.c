#include "experiments/reveal.h"

#include <stdio.h>
#include <stdlib.h>

#include "experiments/reveal_check.h"
#include "experiments/reveal_split.h"

/* What one window showed. */
enum outcome { FOUND, CHANGED, NO_SUM, ALL_KEPT, SOME_KEPT, NO_OVERFLOW, CONTRADICTED };

/* More than any tree of additions of two to sixteen takes. */
static uint64_t most_calls(size_t leaves)
{
    uint64_t log = 1;
    while ((size_t)1 << log < leaves)
        log++;
    return 100000 + 100 * (uint64_t)leaves * log;
}

static enum outcome judge(const struct reveal_asker *a, const struct reveal_triples *t)
{
    if (t->changed)
        return CHANGED;
    if (a->contradiction)
        return CONTRADICTED;
    if (a->window.means == REVEAL_BY_OVERFLOW && t->asked > 0 && t->none == t->asked)
        return NO_OVERFLOW;
    if (t->all > 0)
        return t->all == t->asked ? ALL_KEPT : SOME_KEPT;
    return t->two > 0 ? CONTRADICTED : FOUND;
}

/* One node for all leaves. To be sure of it takes a question to each pair of them, which is too
 * many when they are: then the answers so far and the checks are all there is. */
static enum status find_star(struct reveal *r, size_t leaves, struct problem *p)
{
    uint32_t *parent = calloc(leaves + 1, sizeof *parent);
    if (!parent)
        return problem(p, STATUS_DEVICE, "reveal: out of memory for %zu elements", leaves);
    for (size_t i = 0; i < leaves; i++)
        parent[i] = (uint32_t)leaves;
    parent[leaves] = REVEAL_NO_PARENT;
    enum status status = reveal_tree_make(&r->tree, leaves, leaves + 1, parent, p);
    free(parent);
    return status;
}

/* A tree, and whether it foretells answers. */
static enum status find_tree(struct reveal *r, struct reveal_asker *a, bool star, bool *changed,
                             struct problem *p)
{
    enum status status = star ? find_star(r, a->subject->leaves, p) : reveal_split(a, &r->tree, p);
    if (status == STATUS_OK && !a->contradiction)
        status = reveal_check_tree(a, &r->tree, &r->checks, changed, p);
    else if (status == STATUS_OK)
        status = a->suspected ? reveal_explain(a, changed, p) : reveal_call_again(a, changed, p);
    if (a->contradiction)
        reveal_tree_free(&r->tree);
    return status;
}

/* Units that all fare alike. */
static enum status check_triples(struct reveal_asker *a, struct reveal_triples *t,
                                 struct problem *p)
{
    enum status status;
    do {
        status = reveal_check_triples(a, t, p);
        if (t->sized)
            a->window.bits = (a->window.bits + 1) / 2;
    } while (status == STATUS_OK && t->sized && !a->contradiction);
    return status;
}

static enum status attempt(struct reveal *r, struct reveal_asker *a, enum outcome *outcome,
                           struct problem *p)
{
    enum { SURE = 64 };
    struct reveal_triples triples;
    enum status status = STATUS_OK;
    bool changed = false;
    *outcome = NO_SUM;
    if (a->window.means == REVEAL_BY_MASKS)
        status = reveal_check_units(a, p);
    if (status != STATUS_OK || a->contradiction)
        return status;
    status = check_triples(a, &triples, p);
    *outcome = judge(a, &triples);
    r->sampled = a->subject->leaves > SURE && triples.none == triples.asked;
    if (status == STATUS_OK && a->contradiction)
        status = reveal_call_again(a, &changed, p);
    if (status == STATUS_OK && *outcome == FOUND)
        status = find_tree(r, a, r->sampled, &changed, p);
    if (status != STATUS_OK || !a->contradiction)
        return status;
    *outcome = changed ? CHANGED : CONTRADICTED;
    return status;
}

static enum status one_leaf(struct reveal *r, struct problem *p)
{
    uint32_t parent = REVEAL_NO_PARENT;
    r->verdict = REVEAL_TREE;
    return reveal_tree_make(&r->tree, 1, 1, &parent, p);
}

/* After the last window. */
static enum reveal_verdict conclude(enum outcome masks, enum outcome overflow, bool tried)
{
    bool kept = masks == ALL_KEPT || masks == SOME_KEPT;
    if (!tried)
        return kept ? REVEAL_OUT_OF_REACH : REVEAL_CONTRADICTION;
    return masks == ALL_KEPT && overflow == NO_OVERFLOW ? REVEAL_EXACT : REVEAL_CONTRADICTION;
}

enum status reveal_order(struct reveal *r, const struct reveal_subject *s, uint64_t seed,
                         struct problem *p)
{
    struct reveal_window window[3];
    size_t windows = reveal_windows(window, s->in.format, s->accumulator, s->output);
    enum outcome outcome[2] = {CONTRADICTED, CONTRADICTED}; /* of masks, of overflow */
    enum status status = STATUS_OK;
    bool overflow = false;
    *r = (struct reveal){.verdict = REVEAL_OUT_OF_REACH};
    if (s->leaves == 1)
        return one_leaf(r, p);
    for (size_t k = 0; k < windows && status == STATUS_OK; k++) {
        struct reveal_asker a;
        char words[sizeof r->words];
        bool masks = window[k].means == REVEAL_BY_MASKS;
        reveal_asker_open(&a, s, seed, words, sizeof words);
        a.window = window[k];
        a.most = most_calls(s->leaves);
        overflow |= !masks;
        status = attempt(r, &a, &outcome[!masks], p);
        r->calls += a.calls;
        r->window = a.window;
        if (outcome[!masks] == FOUND) {
            r->verdict = REVEAL_TREE;
            return status;
        }
        r->kept = outcome[0] == ALL_KEPT || outcome[0] == SOME_KEPT;
        if (masks || (r->kept && outcome[1] != NO_OVERFLOW))
            memcpy(r->words, words, sizeof words);
        if (outcome[!masks] == CHANGED || outcome[!masks] == NO_SUM) {
            r->verdict = outcome[!masks] == CHANGED ? REVEAL_CHANGES : REVEAL_NO_SUM;
            return status;
        }
    }
    if (windows > 0)
        r->verdict = conclude(outcome[0], outcome[1], overflow);
    return status;
}

void reveal_free(struct reveal *r)
{
    reveal_tree_free(&r->tree);
}
