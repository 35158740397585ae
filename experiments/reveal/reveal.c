#include "experiments/reveal/reveal.h"

#include <stdio.h>
#include <stdlib.h>

#include "experiments/reveal/check.h"
#include "experiments/reveal/split.h"

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

/* One node for all leaves. */
static enum status make_star(struct reveal *r, size_t leaves, struct problem *p)
{
    uint32_t *parent = calloc(leaves + 1, sizeof *parent);
    if (!parent)
        return problem(p, STATUS_MEMORY, "reveal: out of memory for %zu elements", leaves);
    for (size_t i = 0; i < leaves; i++)
        parent[i] = (uint32_t)leaves;
    parent[leaves] = SUM_TREE_NO_PARENT;
    enum status status = sum_tree_make(&r->tree, leaves, leaves + 1, parent, p);
    free(parent);
    return status;
}

/* A tree, and whether it foretells answers. */
static enum status find_tree(struct reveal *r, struct reveal_asker *a, bool star, bool *changed,
                             struct problem *p)
{
    enum status status = star ? make_star(r, a->subject->leaves, p) : reveal_split(a, &r->tree, p);
    if (status == STATUS_OK && !a->contradiction)
        status = reveal_check_tree(a, &r->tree, &r->checks, changed, p);
    else if (status == STATUS_OK)
        status = a->suspected ? reveal_explain(a, changed, p) : reveal_call_again(a, changed, p);
    if (a->contradiction)
        sum_tree_free(&r->tree);
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
    r->sampled = *outcome == FOUND && a->subject->leaves > SURE && triples.none == triples.asked;
    if (status == STATUS_OK && a->contradiction)
        status = reveal_call_again(a, &changed, p);
    if (status == STATUS_OK && r->sampled)
        status = reveal_check_star(a, &r->sampled, p);
    if (status == STATUS_OK && *outcome == FOUND)
        status = find_tree(r, a, r->sampled, &changed, p);
    if (status != STATUS_OK || !a->contradiction)
        return status;
    *outcome = changed ? CHANGED : CONTRADICTED;
    return status;
}

static enum status one_leaf(struct reveal *r, struct problem *p)
{
    uint32_t parent = SUM_TREE_NO_PARENT;
    r->verdict = REVEAL_TREE;
    return sum_tree_make(&r->tree, 1, 1, &parent, p);
}

/* What the windows tried so far showed. */
struct search {
    enum outcome masks, overflow;
    bool masked, overflowed; /* tried at all, masks with units that add up */
};

static bool is_kept(const struct search *x)
{
    return x->masked && (x->masks == ALL_KEPT || x->masks == SOME_KEPT);
}

/* After the last window. */
static enum reveal_verdict conclude(const struct search *x)
{
    if (!x->masked)
        return REVEAL_NO_SUM;
    if (!x->overflowed)
        return is_kept(x) ? REVEAL_OUT_OF_REACH : REVEAL_CONTRADICTION;
    return x->masks == ALL_KEPT && x->overflow == NO_OVERFLOW ? REVEAL_EXACT : REVEAL_CONTRADICTION;
}

/* Is that the end? Units that do not add up may be too small for a sum that flushes subnormal
 * numbers. */
static bool take(struct reveal *r, struct search *x, enum reveal_means means, enum outcome outcome,
                 const char *words)
{
    bool masks = means == REVEAL_BY_MASKS;
    bool contradicted = x->masked && x->masks == CONTRADICTED;
    if (!masks) {
        x->overflow = outcome;
        x->overflowed = true;
    } else if (outcome != NO_SUM) {
        x->masks = outcome;
        x->masked = true;
    }
    r->kept = is_kept(x);
    if (outcome == FOUND && !contradicted)
        *r->words = 0;
    if (outcome != FOUND &&
        (masks ? outcome != NO_SUM || !x->masked : r->kept && outcome != NO_OVERFLOW))
        snprintf(r->words, sizeof r->words, "%s", words);
    if (outcome == FOUND)
        r->verdict = REVEAL_TREE;
    else if (outcome == CHANGED)
        r->verdict = REVEAL_CHANGES;
    return outcome == FOUND || outcome == CHANGED;
}

/* Of terms that are not negative: with none to cancel a large one, the result holds no more digits
 * than its own, which a wider format than the accumulator keeps as an exact sum does. */
static enum status order_by_ties(struct reveal *r, const struct reveal_subject *s, uint64_t seed,
                                 struct problem *p)
{
    static const enum reveal_verdict verdict[] = {[FOUND] = REVEAL_TREE,
                                                  [CHANGED] = REVEAL_CHANGES,
                                                  [ALL_KEPT] = REVEAL_OUT_OF_REACH,
                                                  [SOME_KEPT] = REVEAL_CONTRADICTION,
                                                  [CONTRADICTED] = REVEAL_CONTRADICTION};
    struct reveal_window window;
    struct reveal_asker a;
    enum outcome outcome;
    if (!reveal_tie_window(&window, s))
        return STATUS_OK;
    reveal_asker_open(&a, s, seed, r->words, sizeof r->words);
    a.window = window;
    a.most = most_calls(s->leaves);
    enum status status = attempt(r, &a, &outcome, p);
    r->calls = a.calls;
    r->window = a.window;
    r->verdict = verdict[outcome];
    if (outcome == FOUND)
        *r->words = 0;
    return status;
}

enum status reveal_order(struct reveal *r, const struct reveal_subject *s, uint64_t seed,
                         struct problem *p)
{
    struct reveal_window window[3];
    size_t windows = reveal_windows(window, s->in.format, s->accumulator, s->output, s->divisor);
    struct search x = {0};
    *r = (struct reveal){.verdict = REVEAL_OUT_OF_REACH};
    if (s->leaves == 1)
        return one_leaf(r, p);
    if (s->term)
        return order_by_ties(r, s, seed, p);
    for (size_t k = 0; k < windows; k++) {
        struct reveal_asker a;
        enum outcome outcome;
        char words[sizeof r->words] = "";
        if (window[k].means == REVEAL_BY_OVERFLOW && !x.masked)
            break;
        reveal_asker_open(&a, s, seed, words, sizeof words);
        a.window = window[k];
        a.most = most_calls(s->leaves);
        enum status status = attempt(r, &a, &outcome, p);
        r->calls += a.calls;
        r->window = a.window;
        if (status != STATUS_OK || take(r, &x, a.window.means, outcome, words))
            return status;
    }
    if (windows > 0)
        r->verdict = conclude(&x);
    return STATUS_OK;
}

void reveal_free(struct reveal *r)
{
    sum_tree_free(&r->tree);
}
