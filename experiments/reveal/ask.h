/* Questions to a black box that sums: who meets whom first?
 *
 * By masks: +M in leaf i, -M in leaf j, and units, so small that a rounded addition to M loses them
 * all, in some other leaves, powers of two that tell one from the other; zeros elsewhere. Lost are
 * the units that meet i before j has, or j before i has: those of the leaves under the lowest node
 * that has both. What is left names the units that lie outside of it. One call asks for as many
 * leaves as the sum holds bits, and asks of several pairs at once where these lie in subtrees
 * apart. (Counting all leaves with a unit in each is the idea of FPRev, arXiv 2411.00442.)
 *
 * By overflow: L in i and in j, -L in a third leaf, where L + L overflows. The sum overflows where
 * i and j meet before the third leaf meets either: where it lies outside. That works too where what
 * rounded additions lose is kept. One call asks for one leaf.
 *
 * By ties, where squares or magnitudes are added, of which none is negative: a unit in i and in j
 * and M in a third leaf, where what M adds loses what one unit does, but not the sum of two. It
 * grows where i and j meet before the third leaf meets either: where it lies outside. One call asks
 * for one leaf. */
#pragma once

#include "experiments/reveal/reveal.h"

enum { REVEAL_BITS = 64 };

/* Those for elements of a format, an accumulator and an output: first the best ones; where the
 * output is a sum divided by `divisor`, not 0, such that the sum can be told from it. Returns how
 * many of them there are, at most 3. */
size_t reveal_windows(struct reveal_window window[3], enum format storage, enum format accumulator,
                      enum format output, size_t divisor);

/* That of a subject none of whose terms is negative. False where there is none. */
bool reveal_tie_window(struct reveal_window *w, const struct reveal_subject *of);

/* What a quotient has of digits beyond those that units take: for its rounding, and for that of the
 * quotient times the divisor, in fp64. */
enum { REVEAL_QUOTIENT_DIGITS = 3 };

struct reveal_asker {
    const struct reveal_subject *subject;
    struct reveal_window window;
    uint64_t calls, most; /* so far, and how many there may be */
    uint64_t random;      /* the state of reveal_random */

    /* The call in preparation, or the last one. */
    uint32_t pair[REVEAL_BITS][2], unit[REVEAL_BITS];
    unsigned pairs, units;
    unsigned shift; /* the first unit is the smallest one * 2^shift */
    bool called;
    double result;
    uint64_t outside; /* bit k: unit[k] lies outside of its pair's node, or there is no pair */

    bool suspected; /* not all three are in one tree */
    uint32_t suspect[3];
    bool contradiction; /* an answer that no sum gives: `words` says which */
    char *words;
    size_t words_size;
};

/* Zeroes the input. What contradicts itself is written to `words`. */
void reveal_asker_open(struct reveal_asker *a, const struct reveal_subject *s, uint64_t seed,
                       char *words, size_t words_size);

/* Prepares a call: masks in a pair of leaves; and a unit in a leaf, which is asked for. At most
 * window.bits of each. */
void reveal_mask(struct reveal_asker *a, uint32_t i, uint32_t j);
void reveal_unit(struct reveal_asker *a, uint32_t leaf);

/* Zeroes what the last call was asked with, as the first word of the next one does by itself. */
void reveal_clear(struct reveal_asker *a);

/* Makes the call. Afterwards a->outside holds, or a->contradiction is set. */
enum status reveal_call(struct reveal_asker *a, struct problem *p);

/* Makes the last call again, some times. Where an answer differs, *changed is set, and
 * a->contradiction says so. */
enum status reveal_call_again(struct reveal_asker *a, bool *changed, struct problem *p);

/* Does `leaf` lie outside of the node of i and j? */
enum status reveal_ask(struct reveal_asker *a, uint32_t i, uint32_t j, uint32_t leaf, bool *outside,
                       struct problem *p);

/* What was asked in the last call and what came of it, as text. */
void reveal_call_words(const struct reveal_asker *a, char *text, size_t size);

/* Sets a->contradiction and a->words. */
void reveal_contradict(struct reveal_asker *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Uniform below `bound`. */
uint32_t reveal_random(struct reveal_asker *a, size_t bound);
