#include "experiments/reveal/hold.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/reveal/walk_node.h"
#include "experiments/system/clock.h"
#include "kernels/gpu/load.h"
#include "reference/base/hash.h"

enum { LOADED_AGAIN = 400, LOADED_LEAST = 2, SURE = REVEAL_THREES / 2, TEXT = 240 };

/* Additions in their order, and how each is done. */
struct way {
    const struct method *method; /* its theorem says how: walk_node.h */
    enum { AS_ITS_THEOREM, KAHAN, KAHAN_TO_THE_END } how;
    enum format format;
    size_t leaves, additions, first;
    const uint32_t (*operand)[2];
    uint32_t root;
    bool backward; /* of Kahan's: of two elements the second is added first */
};

struct holding {
    struct reveal *r;
    const struct reveal_subject *s;
    struct reveal_range range;
    struct way way;
    uint64_t seed;
    double *x, *worst; /* the array, and the first one that differed */
    double answer;     /* to that one */
    struct walk_node *node;
    struct reveal_three three;
    uint64_t threes, outside;         /* asked, and results that no two additions give */
    bool short_alone;                 /* an element of these does not even give itself */
    bool moved;                       /* an array gave other bits than before */
    bool finite;                      /* a result that differed was finite, and its due too */
    char differs[TEXT], beyond[TEXT]; /* the first of each */
};

static const struct method plain = {.bound = THEOREM_TREE},
                           compensated = {.bound = THEOREM_COMPENSATED};

/* Kahan's sum as it is mostly written: what an addition lost is added to the next element, and
 * dropped where sums of several elements are added. What the last addition lost is dropped, or
 * added at the end. */
static double walk_lost(const struct holding *h, const struct way *w)
{
    struct walk_node *node = h->node;
    enum format f = w->format;
    for (size_t i = 0; i < w->leaves; i++) {
        double x = h->x[w->first + i];
        node[i] = (struct walk_node){.word = {format_round(f, h->s->term ? h->s->term(x) : x), 0},
                                     .leaf = i,
                                     .single = true};
    }
    for (size_t k = 0; k < w->additions; k++) {
        const struct walk_node *a = &node[w->operand[k][0]], *b = &node[w->operand[k][1]];
        bool swapped = a->single && (!b->single || w->backward);
        const struct walk_node *sum = swapped ? b : a, *x = swapped ? a : b;
        struct walk_node *to = &node[w->leaves + k];
        *to = (struct walk_node){.word = {sum->word[0], x->single ? sum->word[1] : 0}};
        if (x->single)
            walk_kahan(f, to, x->word[0]);
        else
            to->word[0] = format_add(f, sum->word[0], x->word[0]);
    }
    const struct walk_node *root = &node[w->root];
    bool add = w->how == KAHAN_TO_THE_END;
    return reveal_finish(h->s, add ? format_add(f, root->word[0], root->word[1]) : root->word[0]);
}

static double walk(const struct holding *h, const struct way *w)
{
    if (w->how != AS_ITS_THEOREM)
        return walk_lost(h, w);
    struct walk_node *node = h->node;
    for (size_t i = 0; i < w->leaves; i++) {
        double x = h->x[w->first + i];
        node[i] = walk_leaf(w->method, w->format, i, h->s->term ? h->s->term(x) : x);
    }
    for (size_t k = 0; k < w->additions; k++)
        node[w->leaves + k] =
            walk_add(w->method, w->format, &node[w->operand[k][0]], &node[w->operand[k][1]]);
    return reveal_finish(h->s, walk_value(w->method, w->format, &node[w->root]));
}

static enum status evaluate(const struct holding *h, double *result, struct problem *p)
{
    reveal_encode(h->s, h->x);
    return h->s->evaluate(h->s->context, result, p);
}

/* --- arrays --- */

static void place_three(struct holding *h)
{
    memset(h->x, 0, h->s->in.n * sizeof *h->x);
    for (size_t i = 0; i < 3; i++)
        h->x[h->s->first + h->three.leaf[i]] = h->three.x[i];
}

/* The k-th of all: one of many elements, or of three. False where it could not be made. */
static bool make(struct holding *h, size_t k)
{
    if (k < REVEAL_ARRAYS) {
        reveal_array(h->x, h->s->in.n, &h->range, k, h->seed);
        return true;
    }
    if (!reveal_three(&h->three, h->s, &h->r->tree, h->seed + k))
        return false;
    place_three(h);
    return true;
}

static void words_of(const struct holding *h, size_t k, char text[TEXT])
{
    if (k < REVEAL_ARRAYS)
        snprintf(text, TEXT, "an array of %s", reveal_array_words(k));
    else
        reveal_three_words(text, TEXT, &h->three, h->s);
}

static void note(struct holding *h, size_t k, double got, double due, const char *what)
{
    char text[TEXT];
    words_of(h, k, text);
    h->finite = h->finite || (isfinite(got) && isfinite(due));
    if (h->r->held.differing++ > 0)
        return;
    memcpy(h->worst, h->x, h->s->in.n * sizeof *h->x);
    h->answer = got;
    snprintf(h->differs, TEXT, "%.140s: %.17g, %s %.17g", text, got, what, due);
}

static enum status hold_permuted(struct holding *h, size_t k, double got, struct problem *p)
{
    uint64_t state = h->seed + k;
    double due = got;
    if (reveal_shuffle(h->x + h->s->first, &h->r->tree, &state) == 0)
        return STATUS_OK;
    enum status status = evaluate(h, &got, p);
    h->r->held.arrays++;
    if (status == STATUS_OK && !reveal_same(got, due))
        note(h, k, got, due, "before elements that are added at once were permuted");
    return status;
}

static void hold_three(struct holding *h, double got)
{
    const double *result = h->three.result;
    bool inside =
        reveal_same(got, result[0]) || reveal_same(got, result[1]) || reveal_same(got, result[2]);
    char text[TEXT];
    h->threes++;
    if (inside || h->outside++ > 0)
        return;
    words_of(h, REVEAL_ARRAYS, text);
    snprintf(h->beyond, TEXT, "%.150s give %.17g, which no order of two additions in %s gives",
             text, got, format_facts[h->s->accumulator].name);
}

static enum status hold_one(struct holding *h, size_t k, struct problem *p)
{
    double got, due;
    if (!make(h, k))
        return STATUS_OK;
    enum status status = evaluate(h, &got, p);
    if (status == STATUS_OK && k >= REVEAL_ARRAYS)
        hold_three(h, got);
    if (status != STATUS_OK || h->r->verdict != REVEAL_TREE)
        return status;
    if (h->r->held.permuted)
        return k < REVEAL_ARRAYS ? hold_permuted(h, k, got, p) : status;
    due = walk(h, &h->way);
    h->r->held.arrays++;
    if (!reveal_same(got, due))
        note(h, k, got, due, "by the tree found");
    return status;
}

static enum status hold_from(struct holding *h, size_t k, struct problem *p)
{
    enum status status = STATUS_OK;
    for (; k < REVEAL_ARRAYS + REVEAL_THREES && status == STATUS_OK; k++)
        status = hold_one(h, k, p);
    return status;
}

struct load *reveal_load(const struct reveal_subject *s)
{
    struct load *load = NULL;
    struct problem none = {0};
    return s->foreign && load_begin(&load, s->device, &none) == STATUS_OK ? load : NULL;
}

/* An order that depends on timing may show one tree for as long as the device has nothing else to
 * do; one that depends on the data, for as many arrays as did not happen to change it. So the same
 * arrays are tried, and new ones, by turns. */
static enum status hold_loaded(struct holding *h, struct problem *p)
{
    struct load *load = reveal_load(h->s);
    uint64_t arrays = h->r->held.arrays;
    uint64_t end = clock_ns() + REVEAL_LOADED_NS, seed = h->seed;
    enum status status = STATUS_OK;
    for (size_t round = 0; load && round < REVEAL_LOADED_MOST && status == STATUS_OK &&
                           h->r->held.differing == 0 && (round < LOADED_LEAST || clock_ns() < end);
         round++) {
        h->seed = round % 2 ? hash_mix(seed + round) : seed;
        status = hold_from(h, 0, p);
    }
    load_end(load);
    h->r->held.loaded = h->r->held.arrays - arrays;
    h->r->held.arrays = arrays;
    /* The same arrays gave the tree's bits before. */
    h->moved = h->r->held.differing > 0 && h->seed == seed;
    h->seed = seed;
    return status;
}

static enum status hold_all(struct holding *h, struct problem *p)
{
    bool tree = h->r->verdict == REVEAL_TREE;
    enum status status = hold_from(h, tree ? 0 : REVEAL_ARRAYS, p);
    return status == STATUS_OK && tree && h->r->held.differing == 0 ? hold_loaded(h, p) : status;
}

/* --- what is not as the tree says --- */

/* Sums of three elements by two additions each, in any order. */
static bool in_pairs(const struct holding *h)
{
    return h->outside == 0 && h->threes >= SURE && !h->short_alone;
}

/* A wider accumulator may hold a few elements alone: three below each addition, and side by side.
 */
static enum status ask_everywhere(struct holding *h, struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < REVEAL_PLACES && in_pairs(h) && status == STATUS_OK; k++) {
        double got = 0;
        if (!reveal_three_at(&h->three, h->s, &h->r->tree, k, h->seed))
            continue;
        place_three(h);
        status = evaluate(h, &got, p);
        if (status == STATUS_OK)
            hold_three(h, got);
    }
    return status;
}

/* A sum that drops the smallest of three, in fixed point say, is that of two additions, too. So
 * each of them is asked for alone. */
static enum status ask_alone(struct holding *h, struct problem *p)
{
    const struct reveal_subject *s = h->s;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < REVEAL_THREES && !h->short_alone && status == STATUS_OK; k++)
        for (size_t i = 0; i < 3 && status == STATUS_OK; i++) {
            double got = 0;
            if (!make(h, REVEAL_ARRAYS + k))
                break;
            for (size_t other = 0; other < 3; other++)
                if (other != i)
                    h->x[s->first + h->three.leaf[other]] = 0;
            status = evaluate(h, &got, p);
            double x = h->three.x[i], due = reveal_finish(s, s->term ? s->term(x) : x);
            h->short_alone |= !reveal_same(got, due);
        }
    return status;
}

/* Does one array give the same bits each time? */
static enum status repeat(struct holding *h, bool *changed, struct problem *p)
{
    double first = 0, again = 0;
    if (h->r->held.differing > 0)
        memcpy(h->x, h->worst, h->s->in.n * sizeof *h->x);
    else
        make(h, 0);
    struct load *load = reveal_load(h->s);
    enum status status = evaluate(h, &first, p);
    if (status == STATUS_OK && h->r->held.differing > 0) {
        again = first;
        first = h->answer;
        *changed = !reveal_same(first, again);
    }
    for (size_t i = 0; i < (load ? LOADED_AGAIN : REVEAL_AGAIN) && status == STATUS_OK && !*changed;
         i++) {
        status = evaluate(h, &again, p);
        *changed = status == STATUS_OK && !reveal_same(first, again);
    }
    load_end(load);
    if (*changed)
        snprintf(h->r->words, sizeof h->r->words, "one array: %.17g; asked again, %.17g", first,
                 again);
    return status;
}

/* Do other additions, along the same tree, give the bits of all arrays? */
static enum status fits(struct holding *h, const struct way *w, bool *all, struct problem *p)
{
    enum status status = STATUS_OK;
    *all = true;
    for (size_t k = 0; k < REVEAL_ARRAYS + REVEAL_THREES && *all && status == STATUS_OK; k++) {
        double result;
        if (!make(h, k))
            continue;
        status = evaluate(h, &result, p);
        *all = reveal_same(result, walk(h, w));
    }
    *all = *all && status == STATUS_OK;
    h->r->held.fits |= *all;
    return status;
}

/* Notes in words that it fits, behind others that do. */
static void tell_fit(struct reveal *r, const char *words)
{
    size_t told = strlen(r->words);
    snprintf(r->words + told, sizeof r->words - told, "%s%s", told ? "; or " : "", words);
}

/* Of Kahan's sums the first that fits: where sums of several elements are added last, nothing is
 * left to be added at the end, and of two elements a tree does not say which one is the first. */
static enum status find_kahan(struct holding *h, bool *fit, struct problem *p)
{
    struct way w = h->way;
    enum status status = STATUS_OK;
    *fit = false;
    for (unsigned i = 0; i < 4 && status == STATUS_OK && !*fit; i++) {
        w.how = i / 2 ? KAHAN_TO_THE_END : KAHAN;
        w.backward = i % 2;
        status = fits(h, &w, fit, p);
    }
    if (*fit) {
        char words[TEXT];
        snprintf(words, TEXT,
                 "along this tree as Kahan sums: what an addition lost is added to the next "
                 "element%s",
                 w.how == KAHAN ? "" : ", and at the end");
        tell_fit(h->r, words);
    }
    return status;
}

/* All that fit are named: compensated sums often give the bits of a wider format, and a format that
 * is wider than ours (the 64 bits of x87) those of our widest. */
static enum status find_arithmetic(struct holding *h, struct problem *p)
{
    struct reveal *r = h->r;
    struct way w = h->way;
    bool fit;
    *r->words = 0;
    w.method = &compensated;
    enum status status = fits(h, &w, &fit, p);
    if (fit)
        tell_fit(
            r, "along this tree, and beside it what the additions lose, which is added at the end");
    if (status == STATUS_OK)
        status = find_kahan(h, &fit, p);
    w.method = &plain;
    while (status == STATUS_OK && (w.format = format_wider(w.format)) < FORMATS) {
        char words[TEXT];
        snprintf(words, TEXT, "in %s%s along this tree, rounded to %s at the end",
                 format_facts[w.format].name,
                 format_wider(w.format) < FORMATS ? "" : " or a wider format",
                 format_facts[h->s->output].name);
        status = fits(h, &w, &fit, p);
        if (fit)
            tell_fit(r, words);
    }
    return status;
}

/* The tree does not give the bits: is it the order, or how it adds? */
static enum status explain(struct holding *h, struct problem *p)
{
    struct reveal *r = h->r;
    enum status status = STATUS_OK;
    if (!r->held.permuted && h->way.method == &plain)
        status = find_arithmetic(h, p);
    r->verdict = REVEAL_OTHERWISE;
    if (r->held.fits || status != STATUS_OK)
        return status;
    if (h->outside > 0)
        snprintf(r->words, sizeof r->words, "%s", h->beyond);
    else
        snprintf(r->words, sizeof r->words, "%s", h->differs);
    /* Where only infinities differ, sums may be rounded to a format of less range on the way. */
    if (h->outside == 0)
        r->verdict = in_pairs(h) && h->finite ? REVEAL_DATA : REVEAL_FALSE;
    return status;
}

/* Does the method say that it rounds sums to the storage's format between additions? */
static bool rounds_between(const struct holding *h)
{
    const struct method *m = h->way.method;
    return m && m->bound == THEOREM_SPLIT && !format_holds(h->s->in.format, h->s->accumulator);
}

static void explain_rounding(struct reveal *r, const struct reveal_subject *s)
{
    snprintf(r->words, sizeof r->words,
             "some of its sums are rounded to %s between additions in %s",
             format_facts[s->in.format].name, format_facts[s->accumulator].name);
    r->verdict = REVEAL_OTHERWISE;
}

/* Masks showed no order, or elements that are added at once, where three are added two by two. */
static void explain_pairs(struct holding *h)
{
    struct reveal *r = h->r;
    char before[TEXT] = "masks swallow nothing";
    if (r->verdict == REVEAL_TREE)
        snprintf(before, TEXT, "to masks elements seem to be added at once");
    else if (*r->words)
        snprintf(before, TEXT, "%.200s", r->words);
    snprintf(r->words, sizeof r->words,
             "%s, but each of %llu sums of three elements is that of two additions in %s", before,
             (unsigned long long)h->threes, format_facts[h->s->accumulator].name);
    r->verdict = REVEAL_DATA;
}

static enum status conclude(struct holding *h, struct problem *p)
{
    bool tree = h->r->verdict == REVEAL_TREE, changed = false;
    bool asked = tree ? h->r->held.permuted : h->r->kept || h->r->verdict == REVEAL_CONTRADICTION;
    enum status status = STATUS_OK;
    if (in_pairs(h) && (asked || h->r->held.differing > 0))
        status = ask_alone(h, p);
    if (status == STATUS_OK && in_pairs(h) && (asked || h->r->held.differing > 0))
        status = ask_everywhere(h, p);
    bool pairs = in_pairs(h) && asked;
    if (status != STATUS_OK || (h->r->held.differing == 0 && !pairs))
        return status;
    if (h->moved) {
        snprintf(h->r->words, sizeof h->r->words, "%s, as it was before", h->differs);
        h->r->verdict = REVEAL_CHANGES;
        return STATUS_OK;
    }
    status = repeat(h, &changed, p);
    if (changed)
        h->r->verdict = REVEAL_CHANGES;
    else if (status == STATUS_OK && rounds_between(h))
        explain_rounding(h->r, h->s);
    else if (status == STATUS_OK && pairs)
        explain_pairs(h);
    else if (status == STATUS_OK)
        status = explain(h, p);
    return status;
}

enum status reveal_hold(struct reveal *r, const struct reveal_subject *s,
                        const struct order *declared, size_t output, const struct method *method,
                        uint64_t seed, struct problem *p)
{
    const struct sum_tree *t = &r->tree;
    struct holding h = {.r = r, .s = s, .range = reveal_range_of(s), .seed = seed};
    if (r->verdict == REVEAL_CHANGES || r->verdict == REVEAL_NO_SUM || s->leaves < 3)
        return STATUS_OK;
    if (declared)
        h.way = (struct way){method,
                             AS_ITS_THEOREM,
                             s->accumulator,
                             declared->leaves,
                             declared->additions,
                             0,
                             (const uint32_t(*)[2])declared->operand,
                             declared->output[output],
                             false};
    else if (t->leaves > 0)
        h.way = (struct way){&plain,
                             AS_ITS_THEOREM,
                             s->accumulator,
                             t->leaves,
                             t->additions,
                             s->first,
                             (const uint32_t(*)[2])t->child,
                             (uint32_t)(t->leaves + t->additions - 1),
                             false};
    r->held.permuted = t->leaves > 0 && t->additions + 1 < t->leaves;
    h.x = calloc(2 * s->in.n, sizeof *h.x);
    h.worst = h.x + s->in.n;
    h.node = calloc(h.way.leaves + h.way.additions + 1, sizeof *h.node);
    enum status status = h.x && h.node ? hold_all(&h, p)
                                       : problem(p, STATUS_MEMORY,
                                                 "reveal: out of memory for %zu elements", s->in.n);
    if (status == STATUS_OK)
        status = conclude(&h, p);
    reveal_clear_factors(s);
    free(h.x);
    free(h.node);
    return status;
}
