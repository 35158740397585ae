/* A weight that is updated step by step, w <- w + u, and what is known of it beforehand. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reference/format/format.h"

/* How a weight is kept. All but `stochastic` round to nearest; every word is of the format f.
 *
 * plain       w' = w + u
 * kahan       y = u + c, w' = w + y, c' = y - (w' - w): the weight is w alone, c waits
 * two_words   (s, e) = w + u by TwoSum, l' = l + e, then (w', l') = s + l' by TwoSum, l' + w' being
 *             the weight
 * stochastic  w' is one of the two neighbours of w + u, the upper one with the probability that its
 *             distance from the lower one says: Philox4x32-10, by the seed and the step */
enum steps_method { STEPS_PLAIN, STEPS_KAHAN, STEPS_TWO_WORDS, STEPS_STOCHASTIC, STEPS_METHODS };
extern const char *const steps_method_name[STEPS_METHODS];

struct steps_weight {
    enum steps_method method;
    enum format f;
    uint64_t seed;
    double word, rest; /* rest: c or l; else 0 */
};

/* Step t >= 1, with an update that carries f. */
void steps_add(struct steps_weight *w, double u, uint64_t t);

/* One of the neighbours of a + b in f, both of which carry f; a + b itself where f has it. random:
 * uniform on the multiples of 2^-53 in [0, 1). The mean over all of them is a + b but for 2^-52 of
 * the neighbours' distance. What lies beyond the largest number is rounded to nearest. */
double steps_round_stochastic(enum format f, double a, double b, double random);

/* Where n steps leave a plain weight whose updates are all u, which carries f: exact, from the
 * spacing of each binade on the way, without going through the steps. */
struct steps_end {
    uint64_t still; /* the first step from which on no step has an effect; 0: each of them has */
    bool overflow;  /* it left the range of f, after which no step has an effect */
};
struct steps_end steps_end_of(enum format f, double w0, double u, uint64_t n);

/* How far the weight may be off after t steps, `sum_abs` being |w0| and the magnitudes of the
 * updates as they are stored; infinite: nothing is said. For `stochastic` it holds with a
 * probability of 1 - 2^-60; of the mean of `seeds` weights likewise. */
double steps_bound(enum steps_method method, enum format storage, enum format f, uint64_t t,
                   double sum_abs, uint64_t seeds);
