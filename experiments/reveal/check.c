#include "experiments/reveal/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRIPLES = 40, WORDS = REVEAL_WORDS };

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
            double units = a->result / a->window.unit;
            a->contradiction = false;
            reveal_contradict(a,
                              "1, 2, 4, ... units in %zu elements from %zu on, 0 in all others: "
                              "%.17g units",
                              count, a->subject->first + from, isnan(units) ? fabs(units) : units);
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

enum status reveal_ask_three(struct reveal_asker *a, const uint32_t leaf[3], unsigned *outside,
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

void reveal_note_two(struct reveal_asker *a, unsigned outside, char words[3][WORDS])
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
        enum status status = reveal_ask_three(a, leaf, &outside, again, p);
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
        enum status status = reveal_ask_three(a, leaf, &outside[k], words[k], p);
        if (status != STATUS_OK || a->contradiction)
            return status;
    }
    int count = __builtin_popcount(outside[0]);
    t->asked++;
    t->none += count == 0;
    t->two += count == 2;
    t->all += count == 3;
    if (count > 1)
        reveal_note_two(a, outside[0], words[0]);
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
