/* What families of inputs are made of. Each stands in one of the files of this folder, as a
 * descriptor and the function that gives its elements, and in the list in input.c. */
#pragma once

#include "experiments/inputs/input.h"
#include "experiments/inputs/philox.h"

/* One array to be filled. */
struct fill {
    const struct input_family *family;
    const double *parameter; /* in the family's order */
    struct array to;
    const struct format_facts *facts; /* of the storage format */
    uint64_t seed;
    double cond;   /* the target, 0 for the default */
    double common; /* what the family computes once for all elements */
};

/* Fills the array with the elements that `element` gives. STATUS_USAGE where one is beyond the
 * range of the storage format. */
enum status fill_elements(const struct fill *f, double (*element)(const struct fill *, size_t),
                          struct problem *p);

/* The draw of element i. */
static inline struct draw fill_draw(const struct fill *f, size_t i)
{
    return random_draw(f->seed, RANDOM_VALUES, i);
}

/* An element that is uniform on [-1, 1], on odd multiples of 2^-53. */
static inline double fill_symmetric(const struct fill *f, size_t i)
{
    return 2 * random_unit(fill_draw(f, i).word[0]) + (0x1p-53 - 1);
}

/* The place of special element k of `specials` (at most n): a random one in the k-th of as many
 * parts of the array, so that no two share one. */
size_t fill_place(const struct fill *f, size_t k, size_t specials);

/* Fisher-Yates over the whole array. */
void input_shuffle(const struct array *a, uint64_t seed, enum random_stream stream);

/* STATUS_OK, or STATUS_USAGE where 2^(p + gap) is not within the range of the storage format. */
enum status fill_check_gap(const struct fill *f, double gap, struct problem *p);

/* Is a sum of magnitudes of at most this much, computed with one or two roundings, within range? */
bool sum_fits(double sum_abs, enum format storage);

/* What a sum of n independent magnitudes of this mean, none above `most`, exceeds with a
 * probability of less than 2^-128 (Hoeffding 1963), and with 1% for the rounding to storage. */
double random_sum(size_t n, double mean, double most);

/* Of pairs: sets x[i] and y[i]; shuffles both alike; a number in [1, 2) with all bits of the
 * storage format, made of a random word. */
void pair_put(const struct fill *f, size_t i, double x, double y);
void pair_shuffle(const struct fill *f);
double pair_significand(const struct fill *f, uint64_t word);

extern const struct input_family input_uniform, input_symmetric, input_normal, input_lognormal,
    input_relu, input_ones, input_alternating, input_cycle, input_sine, input_harmonic, input_spike,
    input_cancellation, input_cond, input_anderson, input_zero_sum, input_kahan_killer,
    input_ladder, input_stagnation, input_ties, input_full_mantissa, input_subnormal,
    input_near_overflow, input_wide, input_signed_zeros, input_infs, input_nans, input_plateau,
    input_walk, input_runs, input_creep, input_inf_segment, input_dot_cond, input_orthogonal,
    input_product_overflow, input_product_underflow, input_reciprocal;
