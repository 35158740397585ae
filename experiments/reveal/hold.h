/* Does the tree that masks showed give the subject's bits of any data? Masks are data too: what
 * sorts its elements first, or adds negative ones apart, answers them as a fixed order would. */
#pragma once

#include "experiments/reveal/reveal.h"
#include "kernels/method/method.h"

/* After reveal_order. A tree is held to arrays of many kinds (reveal/arrays.c): the subject's bits
 * are to be those of additions of two in its accumulator, along the tree; or along `declared`,
 * which is that tree, in the arithmetic that `method` declares; NULL: nothing is declared. Where a
 * node adds more than two at once, permuting its elements is to change no bit, and three of
 * them are not to be added two by two. A tree that does not
 * give the bits gets another verdict, and r->words the evidence. So does a contradiction that only
 * the order explains: REVEAL_DATA. Two elements have one order, and are not held. */
enum status reveal_hold(struct reveal *r, const struct reveal_subject *s,
                        const struct order *declared, size_t output, const struct method *method,
                        uint64_t seed, struct problem *p);

/* What the files of it share, and those of all outputs (outputs.h). */

/* Once a result differs it is asked for again, so often. Then, while the device has other work,
 * arrays are tried for so long, LOADED_MOST rounds at most: the same and new ones by turns. */
enum { REVEAL_AGAIN = 16, REVEAL_LOADED_MOST = 400 };
static const uint64_t REVEAL_LOADED_NS = 1000000000;

/* Other work for the device of what is not ours; NULL: none. To be ended with load_end. */
struct load *reveal_load(const struct reveal_subject *s);

/* The same bits, or NaN both. */
static inline bool reveal_same(double a, double b)
{
    return double_bits(a) == double_bits(b) || (a != a && b != b);
}

/* The numbers that are drawn: `digits` significant bits, exponents low .. high, so that no sum is
 * subnormal or overflows, as far as the formats allow. Squares of them are exact. Numbers whose
 * exponents are `spread` apart lose digits when they are added. */
struct reveal_range {
    int digits, low, high, spread;
};
struct reveal_range reveal_range_of(const struct reveal_subject *s);

/* The k-th array, of `REVEAL_ARRAYS` of them, for all elements of the subject. */
enum { REVEAL_KINDS = 18, REVEAL_ARRAYS = 3 * REVEAL_KINDS };
void reveal_array(double *x, size_t n, const struct reveal_range *range, size_t k, uint64_t seed);
const char *reveal_array_words(size_t k);

/* Shuffles the elements of each node that adds more than two. Returns how many it may move. */
size_t reveal_shuffle(double *x, const struct sum_tree *t, uint64_t *state);

/* Writes the terms into the subject's array: of a dot product as products of two factors, of which
 * the second is a power of two of either sign where that loses nothing; in half of the arrays it is
 * one. The same terms have the same factors. */
void reveal_encode(const struct reveal_subject *s, const double *term);
/* All second factors are one again, as questions have them. */
void reveal_clear_factors(const struct reveal_subject *s);

/* A random word: the next of a sequence. */
uint64_t reveal_word(uint64_t *state);

/* What the subject makes of a sum: its root, the quotient; rounded to the output. */
double reveal_finish(const struct reveal_subject *s, double sum);

/* A sum of three elements, zeros elsewhere, that tells how additions are done: the exact sum
 * rounded once is none of the three results of two additions. */
struct reveal_three {
    uint32_t leaf[3];
    double x[3], result[3]; /* of (0 + 1) + 2, (1 + 2) + 0, (2 + 0) + 1 */
};
/* Of three leaves that meet at once in the tree, where any do; else of any three, or of three that
 * are near each other in the tree or in memory, which may be added in other ways than those far
 * apart. False where none was found. */
enum { REVEAL_THREES = 64 };
bool reveal_three(struct reveal_three *q, const struct reveal_subject *s, const struct sum_tree *t,
                  uint64_t seed);
/* The k-th of REVEAL_PLACES: below each addition of the tree in turn, if there is one, or elements
 * side by side; of some, evenly spread, where there are more; again where there are fewer. */
enum { REVEAL_PLACES = 1024 };
bool reveal_three_at(struct reveal_three *q, const struct reveal_subject *s,
                     const struct sum_tree *t, size_t k, uint64_t seed);
/* "x[1] = 3, x[2] = 0.5, x[7] = 2 and 0 elsewhere", in 200 bytes or more; of dot products what each
 * product is. */
void reveal_three_words(char *text, size_t size, const struct reveal_three *q,
                        const struct reveal_subject *s);
