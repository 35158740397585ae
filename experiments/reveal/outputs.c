#include "experiments/reveal/outputs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/operations/operation.h"
#include "experiments/reveal/ask.h"
#include "experiments/reveal/hold.h"
#include "experiments/reveal/sets.h"
#include "experiments/reveal/walk_node.h"
#include "experiments/system/clock.h"
#include "kernels/gpu/load.h"
#include "reference/base/hash.h"

static const uint64_t NO_SET = 0; /* an answer that no sum gives */

struct asking {
    struct reveal_outputs *r;
    struct probe *probe;
    struct array in, out;
    uint32_t *element; /* of term t of output o: o * terms + t */
    uint64_t *set;     /* of each output, for the pair that is asked of */
    uint64_t *answers; /* a word for all that an output answered */
    uint64_t seed, begin_ns, drawn_ns;
    size_t asked; /* pairs, of all twice */
    bool progress;
};

/* --- questions --- */

static void put(const struct asking *a, size_t term, double value)
{
    for (size_t o = 0; o < a->r->outputs; o++)
        array_encode(&a->in, a->element[o * a->r->terms + term], 1, &value);
}

static enum status call(struct asking *a, struct problem *p)
{
    a->r->calls++;
    return probe_run(a->probe, &a->out, p);
}

/* Are the first `count` units of an output a number of `count` bits? */
static bool read_units(const struct asking *a, size_t output, unsigned count, uint64_t *units)
{
    double whole = array_get(&a->out, output) / a->r->window.unit;
    bool is = whole >= 0 && whole < ldexp(1, (int)count) && whole == floor(whole);
    *units = is ? (uint64_t)whole : 0;
    return is;
}

static void note_answer(struct asking *a, size_t output, size_t i, size_t j, unsigned units)
{
    if (!*a->r->words)
        snprintf(a->r->words, sizeof a->r->words,
                 "element %zu, +M in rank %zu, -M in rank %zu, %u units in others: %.17g units, "
                 "where the smallest is 1, the next 2, ...",
                 output, i, j, units, array_get(&a->out, output) / a->r->window.unit);
}

/* Leaves in a->set[o] the terms that the lowest node of i and j has, or NO_SET. */
static enum status ask_pair(struct asking *a, size_t i, size_t j, struct problem *p)
{
    const struct reveal_outputs *r = a->r;
    enum status status = STATUS_OK;
    for (size_t o = 0; o < r->outputs; o++)
        a->set[o] = reveal_all_terms(r->terms);
    for (size_t next = 0; next < r->terms && status == STATUS_OK;) {
        size_t unit[REVEAL_TERMS_MOST];
        unsigned units = 0;
        memset(a->in.data, 0, array_bytes(a->in.format, a->in.n));
        put(a, i, r->window.mask);
        put(a, j, -r->window.mask);
        for (; next < r->terms && units < r->window.bits; next++)
            if (next != i && next != j) {
                put(a, next, ldexp(r->window.unit, (int)units));
                unit[units++] = next;
            }
        if (units == 0 && r->terms > 2)
            break;
        status = call(a, p);
        for (size_t o = 0; o < r->outputs && status == STATUS_OK; o++) {
            uint64_t outside;
            if (!read_units(a, o, units, &outside)) {
                note_answer(a, o, i, j, units);
                a->set[o] = NO_SET;
            }
            for (unsigned k = 0; k < units && a->set[o] != NO_SET; k++)
                if (outside >> k & 1)
                    a->set[o] &= ~(UINT64_C(1) << unit[k]);
        }
    }
    return status;
}

/* Ten times a second, from the second second on. */
static void draw_progress(struct asking *a)
{
    const size_t all = 2 * reveal_pairs(a->r->terms);
    const uint64_t now = clock_ns();
    a->asked++;
    if (!a->progress || now - a->begin_ns < 1000000000 || now - a->drawn_ns < 100000000)
        return;
    a->drawn_ns = now;
    double seconds = (double)(now - a->begin_ns) / 1e9;
    fprintf(stderr, "\r\033[K%.60s: %zu of %zu questions, %.3g a second, %.0f s left",
            a->r->of.method->name, a->asked, all, (double)a->asked / seconds,
            seconds * (double)(all - a->asked) / (double)a->asked);
    fflush(stderr);
}

/* All pairs. `kept`: where not NULL, of each order the sets of all pairs, as its first output
 * answers. */
static enum status ask_all(struct asking *a, uint64_t *kept, struct problem *p)
{
    const struct reveal_outputs *r = a->r;
    enum status status = STATUS_OK;
    size_t pair = 0;
    for (size_t o = 0; o < r->outputs; o++)
        a->answers[o] = 0;
    for (size_t i = 0; i < r->terms; i++)
        for (size_t j = i + 1; j < r->terms && status == STATUS_OK; j++, pair++) {
            status = ask_pair(a, i, j, p);
            draw_progress(a);
            for (size_t o = 0; o < r->outputs; o++)
                a->answers[o] = hash_mix(a->answers[o] + a->set[o] * 3 + 1);
            for (size_t k = 0; kept && k < r->orders; k++)
                kept[k * reveal_pairs(r->terms) + pair] = a->set[r->order[k].first];
        }
    return status;
}

/* Do units alone add up? Those that a window's bits hold, all terms in turn. */
static enum status units_add_up(struct asking *a, bool *add_up, struct problem *p)
{
    const struct reveal_outputs *r = a->r;
    enum status status = STATUS_OK;
    *add_up = true;
    for (size_t next = 0; next < r->terms && status == STATUS_OK && *add_up;) {
        unsigned units = 0;
        memset(a->in.data, 0, array_bytes(a->in.format, a->in.n));
        for (; next < r->terms && units < r->window.bits; next++)
            put(a, next, ldexp(r->window.unit, (int)units++));
        status = call(a, p);
        for (size_t o = 0; o < r->outputs && status == STATUS_OK && *add_up; o++) {
            uint64_t got;
            *add_up = read_units(a, o, units, &got) && got == reveal_all_terms(units);
            if (!*add_up)
                snprintf(a->r->words, sizeof a->r->words,
                         "element %zu: %u units, the smallest 1, the next 2, ..., give %.17g", o,
                         units, array_get(&a->out, o) / r->window.unit);
        }
    }
    return status;
}

/* --- orders --- */

static int by_answers(const void *x, const void *y)
{
    const uint64_t *a = x, *b = y;
    return *a < *b ? -1 : *a > *b;
}

static enum status out_of_memory(const struct reveal_outputs *r, struct problem *p)
{
    return problem(p, STATUS_MEMORY, "reveal: out of memory for %zu orders of %zu elements",
                   r->orders, r->outputs);
}

/* Outputs that answered alike have one order; orders are numbered as they appear. */
static enum status group(struct asking *a, struct problem *p)
{
    struct reveal_outputs *r = a->r;
    uint64_t *sorted = malloc(r->outputs * sizeof *sorted);
    uint32_t *number = calloc(r->outputs, sizeof *number); /* plus one, of sorted answers */
    size_t different = 0;
    if (sorted && number) {
        memcpy(sorted, a->answers, r->outputs * sizeof *sorted);
        qsort(sorted, r->outputs, sizeof *sorted, by_answers);
        for (size_t k = 0; k < r->outputs; k++)
            if (k == 0 || sorted[k] != sorted[different - 1])
                sorted[different++] = sorted[k];
        r->order = calloc(different, sizeof *r->order);
    }
    for (size_t o = 0; o < r->outputs && r->order; o++) {
        const uint64_t *at = bsearch(&a->answers[o], sorted, different, sizeof *sorted, by_answers);
        if (number[at - sorted] == 0) {
            r->order[r->orders].first = o;
            number[at - sorted] = (uint32_t)++r->orders;
        }
        r->of_output[o] = number[at - sorted] - 1;
        r->order[r->of_output[o]].outputs++;
    }
    free(sorted);
    free(number);
    return r->order ? STATUS_OK : out_of_memory(r, p);
}

static enum status make_tree(struct reveal_outputs *r, struct reveal_order_of *o,
                             const uint64_t *set, struct problem *p)
{
    enum status status = reveal_tree_of_sets(&o->tree, &o->verdict, set, r->terms, p);
    o->held = o->verdict == REVEAL_TREE && o->tree.additions == r->terms - 1;
    if (o->verdict == REVEAL_CONTRADICTION && !*r->words)
        snprintf(r->words, sizeof r->words,
                 "element %zu: no tree has the nodes that its pairs of ranks show", o->first);
    return status;
}

/* Asks all again, which must answer as before. */
static enum status find_trees(struct asking *a, struct problem *p)
{
    struct reveal_outputs *r = a->r;
    size_t pairs = reveal_pairs(r->terms);
    uint64_t *kept = calloc(r->orders * pairs, sizeof *kept);
    uint64_t *before = malloc(r->outputs * sizeof *before);
    enum status status = kept && before ? STATUS_OK : out_of_memory(r, p);
    if (status == STATUS_OK) {
        memcpy(before, a->answers, r->outputs * sizeof *before);
        status = ask_all(a, kept, p);
    }
    for (size_t k = 0; k < r->orders && status == STATUS_OK; k++)
        status = make_tree(r, &r->order[k], kept + k * pairs, p);
    for (size_t o = 0; o < r->outputs && status == STATUS_OK; o++)
        if (a->answers[o] != before[o]) {
            struct reveal_order_of *order = &r->order[r->of_output[o]];
            if (order->verdict != REVEAL_CHANGES)
                snprintf(r->words, sizeof r->words,
                         "element %zu: asked again, it answered otherwise", o);
            order->verdict = REVEAL_CHANGES;
        }
    free(kept);
    free(before);
    return status;
}

/* --- other data --- */

static double walk(const struct asking *a, const struct sum_tree *t, const double *x)
{
    static const struct method plain = {.bound = THEOREM_TREE};
    struct walk_node node[2 * REVEAL_TERMS_MOST];
    enum format f = a->r->of.accumulator;
    for (size_t i = 0; i < t->leaves; i++)
        node[i] = walk_leaf(&plain, f, i, x[i]);
    for (size_t k = 0; k < t->additions; k++)
        node[t->leaves + k] =
            walk_add(&plain, f, &node[t->child[t->begin[k]]], &node[t->child[t->begin[k] + 1]]);
    return format_round(a->out.format, walk_value(&plain, f, &node[t->leaves + t->additions - 1]));
}

/* A bit that differs is asked of again, the same array: does it move? */
static enum status differs(struct asking *a, size_t output, size_t k, double got, double due,
                           struct problem *p)
{
    struct reveal_outputs *r = a->r;
    struct reveal_order_of *order = &r->order[r->of_output[output]];
    enum status status = STATUS_OK;
    double again = got;
    order->verdict = REVEAL_FALSE;
    for (size_t i = 0; i < REVEAL_AGAIN && status == STATUS_OK && reveal_same(again, got); i++) {
        status = call(a, p);
        again = array_get(&a->out, output);
    }
    if (!reveal_same(again, got))
        order->verdict = REVEAL_CHANGES;
    if (r->held.differing++ == 0 || !*r->words)
        snprintf(r->words, sizeof r->words, "element %zu, %s: %.17g, by the tree %.17g%s", output,
                 reveal_array_words(k), got, due,
                 reveal_same(again, got) ? "" : "; asked again, another");
    return status;
}

/* The k-th array of every output: of numbers of its own, so that no two are alike. */
static enum status hold_one(struct asking *a, const struct reveal_range *range, size_t k,
                            struct problem *p)
{
    struct reveal_outputs *r = a->r;
    double x[REVEAL_TERMS_MOST];
    for (size_t o = 0; o < r->outputs; o++) {
        reveal_array(x, r->terms, range, k, a->seed + o);
        for (size_t t = 0; t < r->terms; t++)
            array_encode(&a->in, a->element[o * r->terms + t], 1, &x[t]);
    }
    enum status status = call(a, p);
    for (size_t o = 0; o < r->outputs && status == STATUS_OK; o++) {
        const struct reveal_order_of *order = &r->order[r->of_output[o]];
        if (order->verdict != REVEAL_TREE || !order->held)
            continue;
        for (size_t t = 0; t < r->terms; t++)
            x[t] = array_get(&a->in, a->element[o * r->terms + t]);
        double got = array_get(&a->out, o), due = walk(a, &order->tree, x);
        if (!reveal_same(got, due)) {
            status = differs(a, o, k, got, due, p);
            if (status == STATUS_OK)
                status =
                    call(a, p); /* the array's outputs again: those behind are still to be held */
        }
    }
    r->held.arrays++;
    return status;
}

/* Sums of three terms, of the outputs whose order does not show or seems to add more than two at
 * once: where each is one that two additions give, the order was hidden from masks. */
static enum status hold_threes(struct asking *a, const struct reveal_subject *s, struct problem *p)
{
    struct reveal_outputs *r = a->r;
    struct told {
        uint64_t asked, outside;
    } *told = calloc(r->orders, sizeof *told);
    struct reveal_three *three = malloc(r->outputs * sizeof *three);
    enum status status = three && told ? STATUS_OK : out_of_memory(r, p);
    for (size_t k = 0; k < REVEAL_THREES && status == STATUS_OK && r->terms > 2; k++) {
        memset(a->in.data, 0, array_bytes(a->in.format, a->in.n));
        for (size_t o = 0; o < r->outputs; o++) {
            const struct reveal_order_of *order = &r->order[r->of_output[o]];
            if (order->held || !reveal_three(&three[o], s, &order->tree, a->seed + k + o))
                three[o].x[0] = 0; /* not asked */
            for (size_t i = 0; i < 3 && three[o].x[0] != 0; i++)
                array_encode(&a->in, a->element[o * r->terms + three[o].leaf[i]], 1,
                             &three[o].x[i]);
        }
        status = call(a, p);
        for (size_t o = 0; o < r->outputs; o++) {
            const double got = array_get(&a->out, o), *result = three[o].result;
            struct told *to = &told[r->of_output[o]];
            to->asked += three[o].x[0] != 0;
            to->outside += three[o].x[0] != 0 && !reveal_same(got, result[0]) &&
                           !reveal_same(got, result[1]) && !reveal_same(got, result[2]);
        }
    }
    for (size_t k = 0; k < r->orders && status == STATUS_OK; k++) {
        struct reveal_order_of *order = &r->order[k];
        if (order->held || order->verdict == REVEAL_CHANGES || told[k].outside > 0 ||
            told[k].asked < REVEAL_THREES / 2)
            continue;
        snprintf(r->words, sizeof r->words,
                 "element %zu: no tree shows to masks, but each of %llu sums of three ranks is "
                 "that of two additions in %s",
                 order->first, (unsigned long long)told[k].asked,
                 format_facts[s->accumulator].name);
        order->verdict = REVEAL_DATA;
    }
    free(three);
    free(told);
    return status;
}

/* Trees of additions of two, to arrays of many kinds. */
static enum status hold_trees(struct asking *a, const struct reveal_subject *s, struct problem *p)
{
    struct reveal_outputs *r = a->r;
    struct reveal_range range = reveal_range_of(s);
    bool any = false;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < r->orders; k++)
        any |= r->order[k].verdict == REVEAL_TREE && r->order[k].held;
    if (!any)
        return STATUS_OK;
    for (size_t k = 0; k < REVEAL_ARRAYS && status == STATUS_OK; k++)
        status = hold_one(a, &range, k, p);
    struct load *load = status == STATUS_OK ? reveal_load(s) : NULL;
    uint64_t arrays = r->held.arrays, end = clock_ns() + REVEAL_LOADED_NS;
    for (size_t k = 0; load && k < REVEAL_LOADED_MOST && clock_ns() < end && status == STATUS_OK;
         k++)
        status = hold_one(a, &range, k / REVEAL_ARRAYS % 2 ? k : k % REVEAL_ARRAYS, p);
    load_end(load);
    r->held.loaded = r->held.arrays - arrays;
    r->held.arrays = arrays;
    return status;
}

static enum status hold(struct asking *a, struct problem *p)
{
    const struct reveal_subject s = {
        .in = a->in,
        .leaves = a->r->terms,
        .accumulator = a->r->of.accumulator,
        .output = a->r->of.output,
        .foreign = a->r->of.method->foreign,
        .device = a->r->of.device.kind == DEVICE_CPU ? -1 : a->r->of.device.index};
    enum status status = hold_threes(a, &s, p);
    return status == STATUS_OK ? hold_trees(a, &s, p) : status;
}

/* --- all of it --- */

static enum status ask(struct asking *a, struct problem *p)
{
    struct reveal_outputs *r = a->r;
    struct reveal_window window[3];
    size_t windows = reveal_windows(window, r->of.storage, r->of.accumulator, r->of.output, 0);
    enum status status = STATUS_OK;
    bool add_up = false;
    r->verdict = REVEAL_OUT_OF_REACH;
    for (size_t k = 0; k < windows && status == STATUS_OK && !add_up; k++) {
        if (window[k].means != REVEAL_BY_MASKS)
            continue;
        r->window = window[k];
        status = units_add_up(a, &add_up, p);
        r->verdict = add_up ? REVEAL_TREE : REVEAL_NO_SUM;
    }
    if (status != STATUS_OK || !add_up)
        return status;
    *r->words = 0;
    status = ask_all(a, NULL, p);
    if (status == STATUS_OK)
        status = group(a, p);
    if (status == STATUS_OK)
        status = find_trees(a, p);
    return status == STATUS_OK ? hold(a, p) : status;
}

/* Which elements are an output's terms, in their order. */
static enum status find_elements(struct asking *a, struct problem *p)
{
    const struct reveal_outputs *r = a->r;
    const struct setting_operands made = {
        .of = {.in = a->in, .bins = r->outputs, .stride = r->of.stride}};
    uint32_t *place, *filled = calloc(r->outputs, sizeof *filled);
    enum status status =
        filled ? setting_places(&place, r->of.method->operation, &made, p) : out_of_memory(r, p);
    for (size_t i = 0; i < a->in.n && status == STATUS_OK; i++)
        a->element[place[i] * r->terms + filled[place[i]]++] = (uint32_t)i;
    if (status == STATUS_OK)
        free(place);
    free(filled);
    return status;
}

enum status reveal_outputs_make(struct reveal_outputs *r, const struct probe_spec *spec,
                                uint64_t seed, bool progress, struct problem *p)
{
    *r = (struct reveal_outputs){.of = *spec, .outputs = spec->bins, .terms = spec->n / spec->bins};
    struct asking a = {.r = r,
                       .seed = seed,
                       .begin_ns = clock_ns(),
                       .progress = progress,
                       .out = {spec->output, r->outputs, NULL}};
    enum status status = probe_open(&a.probe, spec, p);
    if (status != STATUS_OK)
        return status;
    a.in = probe_input(a.probe);
    a.out.data = malloc(array_bytes(spec->output, r->outputs));
    a.element = malloc(spec->n * sizeof *a.element);
    a.set = malloc(r->outputs * sizeof *a.set);
    a.answers = malloc(r->outputs * sizeof *a.answers);
    r->of_output = calloc(r->outputs, sizeof *r->of_output);
    status = a.out.data && a.element && a.set && a.answers && r->of_output ? find_elements(&a, p)
                                                                           : out_of_memory(r, p);
    if (status == STATUS_OK)
        status = ask(&a, p);
    if (a.drawn_ns)
        fprintf(stderr, "\r\033[K");
    free(a.out.data);
    free(a.element);
    free(a.set);
    free(a.answers);
    probe_close(a.probe);
    return status;
}

void reveal_outputs_free(struct reveal_outputs *r)
{
    for (size_t k = 0; k < r->orders && r->order; k++)
        sum_tree_free(&r->order[k].tree);
    free(r->order);
    free(r->of_output);
}

void reveal_outputs_compare(struct reveal_outputs_beside *b, const struct reveal_outputs *x,
                            const struct reveal_outputs *y)
{
    *b = (struct reveal_outputs_beside){0};
    for (size_t o = 0; o < x->outputs; o++) {
        const struct reveal_order_of *one = x->orders ? &x->order[x->of_output[o]] : NULL,
                                     *other = y->orders ? &y->order[y->of_output[o]] : NULL;
        if (!one || !other || one->verdict != REVEAL_TREE || other->verdict != REVEAL_TREE ||
            !one->held || !other->held)
            b->not_shown++;
        else if (sum_tree_equal(&one->tree, &other->tree))
            b->equal++;
        else if (b->different++ == 0)
            b->first = o;
    }
}
