#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/reveal/hold.h"
#include "kernels/mean/quotient.h"
#include "reference/base/hash.h"

enum { TRIES = 60, NODES = 64 };

double reveal_finish(const struct reveal_subject *s, double sum)
{
    double result = s->root ? sqrt(sum) : sum;
    result = format_round(s->accumulator, result);
    if (s->divisor > 0)
        result = quotient_rounded(s->accumulator, result, s->divisor);
    return format_round(s->output, result);
}

static void pick_three(uint32_t pick[3], size_t count, uint64_t *state)
{
    do {
        for (size_t k = 0; k < 3; k++)
            pick[k] = (uint32_t)(reveal_word(state) % count);
    } while (pick[0] == pick[1] || pick[1] == pick[2] || pick[2] == pick[0]);
}

/* A node that adds more than two; t->additions where there is none. */
static size_t pick_node(const struct sum_tree *t, uint64_t *state)
{
    size_t node = t->additions, nodes = 0;
    for (size_t k = 0; k < t->additions; k++)
        if (t->begin[k + 1] - t->begin[k] > 2 && reveal_word(state) % ++nodes == 0)
            node = k;
    return node;
}

/* The first three leaves below a node, level by level; where there are many nodes before three
 * leaves, those below one of its children. False where it has fewer. */
static bool first_below(uint32_t leaf[3], const struct sum_tree *t, uint32_t node, uint64_t *state)
{
    uint32_t queue[NODES] = {node};
    size_t first = 0, last = 1, found = 0;
    while (first < last && found < 3) {
        node = queue[first++];
        if (node < t->leaves) {
            leaf[found++] = node;
            continue;
        }
        size_t begin = t->begin[node - t->leaves], count = t->begin[node - t->leaves + 1] - begin;
        if (last + count > NODES) {
            queue[0] = t->child[begin + reveal_word(state) % count];
            first = found = 0;
            last = 1;
            continue;
        }
        memcpy(queue + last, t->child + begin, count * sizeof *queue);
        last += count;
    }
    return found == 3;
}

/* Near each other below some node; or so far from each other in memory as 1, 2, 4, ... elements. */
static bool pick_near(uint32_t leaf[3], const struct sum_tree *t, size_t leaves, bool memory,
                      uint64_t *state)
{
    uint32_t node = (uint32_t)(t->leaves + reveal_word(state) % (t->additions + !t->additions));
    size_t apart = 1;
    while (2 * (2 * apart) < leaves && reveal_word(state) % 2)
        apart *= 2;
    if (!memory)
        return t->additions > 0 && first_below(leaf, t, node, state);
    leaf[0] = (uint32_t)(reveal_word(state) % (leaves - 2 * apart));
    leaf[1] = leaf[0] + (uint32_t)apart;
    leaf[2] = leaf[1] + (uint32_t)apart;
    return true;
}

/* From three terms of a node that adds more than two; else any three leaves, or three near each
 * other. */
static void pick_leaves(uint32_t leaf[3], const struct sum_tree *t, size_t leaves, uint64_t *state)
{
    size_t node = t->additions > 0 ? pick_node(t, state) : 0;
    if (node == t->additions) {
        uint64_t how = reveal_word(state) % 4;
        if (how < 2 || !pick_near(leaf, t, leaves, how == 2, state))
            pick_three(leaf, leaves, state);
        return;
    }
    pick_three(leaf, t->begin[node + 1] - t->begin[node], state);
    for (size_t k = 0; k < 3; k++) {
        leaf[k] = t->child[t->begin[node] + leaf[k]];
        while (leaf[k] >= t->leaves)
            leaf[k] = t->child[t->begin[leaf[k] - t->leaves]];
    }
}

static int64_t digits_of(int digits, uint64_t *state)
{
    int64_t top = INT64_C(1) << (digits - 1);
    return top | (int64_t)(reveal_word(state) & (uint64_t)(top - 1));
}

/* Elements are integers times 2^unit: near each other, where they have the accumulator's digits. */
static void draw_near(__int128 whole[3], const struct reveal_subject *s,
                      const struct reveal_range *r, uint64_t *state)
{
    int per = s->squares ? 2 : 1, precision = format_facts[s->accumulator].precision;
    int apart = (precision - per * r->digits + 4) / per + 1;
    for (size_t k = 0; k < 3; k++)
        whole[k] = (__int128)digits_of(r->digits, state)
                   << reveal_word(state) % (uint64_t)(apart + 1);
}

/* Or a tie of the first two, and a third that is too small beside each: it decides the exact sum.
 */
static void draw_tie(__int128 whole[3], const struct reveal_subject *s,
                     const struct reveal_range *r, uint64_t *state)
{
    int precision = format_facts[s->accumulator].precision, shift = precision + 2 - r->digits;
    whole[0] = (__int128)digits_of(r->digits, state) << (shift + precision - r->digits + 1);
    whole[1] = (__int128)(digits_of(r->digits, state) | 1) << shift;
    whole[2] = 1;
}

/* 2^unit such that they are near 1, as far as the formats allow. */
static bool find_unit(int *unit, const __int128 whole[3], const struct reveal_subject *s)
{
    const struct format_facts *f = &format_facts[s->in.format];
    int bits = 0, top = f->emax, per = s->squares ? 2 : 1;
    top = top < (format_facts[s->accumulator].emax - 2) / per
              ? top
              : (format_facts[s->accumulator].emax - 2) / per;
    top = top < format_facts[s->output].emax - 2 ? top : format_facts[s->output].emax - 2;
    for (size_t k = 0; k < 3; k++)
        while (whole[k] >> bits > 0)
            bits++;
    *unit = bits / 2 + bits % 2 > top ? top - bits + 1 : -(bits / 2);
    return *unit >= f->emin - f->precision + 1;
}

static bool draw(struct reveal_three *t, const struct reveal_subject *s,
                 const struct reveal_range *r, bool tie, uint64_t *state)
{
    enum format f = s->accumulator;
    int per = s->squares ? 2 : 1, unit;
    __int128 whole[3], exact = 0;
    double term[3];
    if (tie)
        draw_tie(whole, s, r, state);
    else
        draw_near(whole, s, r, state);
    if (!find_unit(&unit, whole, s))
        return false;
    for (size_t k = 0; k < 3; k++) {
        whole[k] = reveal_word(state) % 2 ? -whole[k] : whole[k];
        t->x[k] = ldexp((double)whole[k], unit);
        term[k] = s->term ? s->term(t->x[k]) : t->x[k];
        exact += (__int128)ldexp(term[k], -per * unit);
    }
    double best = reveal_finish(s, ldexp((double)exact, per * unit));
    bool tells = true;
    for (size_t k = 0; k < 3; k++) {
        double two = format_add(f, term[k], term[(k + 1) % 3]);
        t->result[k] = reveal_finish(s, format_add(f, two, term[(k + 2) % 3]));
        tells &= t->result[k] != best;
    }
    return tells;
}

static bool draw_any(struct reveal_three *q, const struct reveal_subject *s, uint64_t *state)
{
    struct reveal_range range = reveal_range_of(s);
    bool drawn = false;
    for (size_t k = 0; k < TRIES && s->leaves > 2 && !drawn; k++)
        drawn = draw(q, s, &range, k % 2 && !s->squares, state);
    return drawn;
}

bool reveal_three(struct reveal_three *q, const struct reveal_subject *s, const struct sum_tree *t,
                  uint64_t seed)
{
    uint64_t state = hash_mix(seed);
    bool drawn = draw_any(q, s, &state);
    if (drawn)
        pick_leaves(q->leaf, t, s->leaves, &state);
    return drawn;
}

/* The k-th of `count`, again and again where there are fewer; else evenly spread, both ends among
 * them. */
static size_t spread(size_t k, size_t count, size_t of)
{
    return of == 0 ? 0 : of < count ? k % of : k * (of - 1) / (count - 1);
}

bool reveal_three_at(struct reveal_three *q, const struct reveal_subject *s,
                     const struct sum_tree *t, size_t k, uint64_t seed)
{
    uint64_t state = hash_mix(seed + hash_mix(k));
    size_t at = spread(k / 2, REVEAL_PLACES / 2, k % 2 ? t->additions : s->leaves - 2);
    if (!draw_any(q, s, &state))
        return false;
    if (k % 2)
        return at < t->additions && first_below(q->leaf, t, (uint32_t)(t->leaves + at), &state);
    for (size_t i = 0; i < 3; i++)
        q->leaf[i] = (uint32_t)(at + i);
    return at + 2 < s->leaves;
}

void reveal_three_words(char *text, size_t size, const struct reveal_three *q,
                        const struct reveal_subject *s)
{
    size_t used = 0;
    for (size_t k = 0; k < 3; k++) {
        size_t at = s->first + q->leaf[k];
        used += (size_t)snprintf(text + used, size - used, "%sx[%zu]", k ? ", " : "", at);
        if (s->second.data)
            used += (size_t)snprintf(text + used, size - used, " y[%zu]", at);
        used += (size_t)snprintf(text + used, size - used, " = %.17g", q->x[k]);
    }
    snprintf(text + used, size - used, " and 0 elsewhere");
}
