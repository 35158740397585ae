/* What is asked before a tree is looked for, and after one was found (reveal/verify.c). */
#pragma once

#include "experiments/reveal/ask.h"

/* Do units alone add up, and elements that are no leaves not? Takes as many leaves a call as do.
 * If not, a->contradiction is set. */
enum status reveal_check_units(struct reveal_asker *a, struct problem *p);

/* Three leaves are asked for in turn. Bit k of *outside: leaf k lies outside of the node of the two
 * others, as words[k] say. */
enum { REVEAL_WORDS = 160 };
enum status reveal_ask_three(struct reveal_asker *a, const uint32_t leaf[3], unsigned *outside,
                             char words[3][REVEAL_WORDS], struct problem *p);

/* Writes to a->words, unless there are some, which two of three contradict each other. */
void reveal_note_two(struct reveal_asker *a, unsigned outside, char words[3][REVEAL_WORDS]);

/* Three leaves at a time, any of them: in a tree, one or none of them lies outside of the node of
 * the two others. Asking again, with the largest unit instead of the smallest, changes nothing. */
struct reveal_triples {
    size_t asked;
    size_t none, two, all; /* how many of them had none, two or all three of its leaves outside */
    bool changed;          /* one question, two answers */
    bool sized;            /* the largest unit fares otherwise than the smallest */
};
/* The first that no tree answers, or the change, is described in a->words. */
enum status reveal_check_triples(struct reveal_asker *a, struct reveal_triples *t,
                                 struct problem *p);

/* Is it one node for all leaves? Asks of each leaf and the next one, and of some that lie a power
 * of two apart; to be sure takes every pair. */
enum status reveal_check_star(struct reveal_asker *a, bool *star, struct problem *p);

/* The last call contradicts those before it, of a->suspect: says so in a->words, or that the answer
 * changes when it is asked again. */
enum status reveal_explain(struct reveal_asker *a, bool *changed, struct problem *p);

/* Asks what the tree foretells. `checks` counts answers as foretold; the first other one is a
 * contradiction, and *changed where it changes when it is asked again. */
enum status reveal_check_tree(struct reveal_asker *a, const struct sum_tree *t, uint64_t *checks,
                              bool *changed, struct problem *p);
