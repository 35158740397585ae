/* Generated inputs: a named family, its parameters, an arrangement, a seed.
 *
 * A specification reads NAME[:PARAMETER=VALUE]...[:order=ARRANGEMENT], e.g.
 * `lognormal:sigma=4:order=descending`. It has no comma, so that lists can be
 * written with commas. The same specification, n, seed, condition number and
 * storage format give the same bits on every machine. */
#pragma once

#include "reference/format/array.h"
#include "reference/base/problem.h"

enum { INPUT_PARAMETERS = 4, INPUT_TEXT = 256 };

enum arrangement {
    ARRANGED_AS_GENERATED, /* order=generated, the default; not printed in a canonical name */
    ARRANGED_ASCENDING,
    ARRANGED_DESCENDING,
    ARRANGED_BY_MAGNITUDE, /* order=magnitude: ascending |x| */
    ARRANGED_SHUFFLED,     /* order=shuffled: by the seed */
    ARRANGEMENTS
};
extern const char *const arrangement_name[ARRANGEMENTS];

struct input_parameter {
    const char *name; /* NULL ends the list */
    double value;     /* default */
    double least, most;
    const char *meaning;
    bool whole; /* whole numbers only */
};

struct input;
struct fill; /* experiments/inputs/family.h */

struct input_family {
    const char *name;
    const char *summary; /* one line */
    struct input_parameter parameter[INPUT_PARAMETERS + 1];
    bool uses_seed; /* as generated; order=shuffled always does */
    bool uses_cond;
    unsigned costly_ns; /* what an element takes to be made, where it is more than others: about,
                           for dealing work; 0: see input_cost */
    /* Of two arrays, for dot products: it fills an array of 2 n elements, x first, then y. What is
     * said below of sums is said of the sum of their products then, and of the products. */
    bool pair;
    /* Order-safe: sum|x| stays within the largest finite number of the storage format, so that no
     * order of additions in that format overflows. What the family promises for n elements of any
     * seed and target condition number `cond`; where elements are random, for all but a share of
     * 2^-128 of what could be drawn. */
    bool (*order_safe)(const struct input *in, size_t n, double cond, enum format storage);
    /* Are there n elements of this format with the target condition number? NULL: of any. */
    bool (*reaches)(const struct input *in, size_t n, double cond, enum format storage);
    /* One of two says what the elements are; both are called through input_generate. Element i
     * before it is rounded, once, to storage; or the whole array f->to, of at least one element. */
    double (*element)(const struct fill *f, size_t i);
    enum status (*generate)(struct fill *f, struct problem *p);
};

struct input {
    const struct input_family *family;
    double parameter[INPUT_PARAMETERS];
    enum arrangement arrangement;
};

extern const struct input_family *const input_families[]; /* of one array */
extern const size_t input_family_count;
extern const struct input_family *const pair_families[];
extern const size_t pair_family_count;

/* Reads a specification. STATUS_USAGE names what is unknown and what is expected. */
enum status input_parse(struct input *in, const char *specification, struct problem *p);

/* The canonical specification: parameters that differ from their defaults, in the family's order.
 */
void input_name(const struct input *in, char text[INPUT_TEXT]);

bool input_uses_seed(const struct input *in);
/* About how long an element takes to be made, in ns: for dealing work, not for reporting. */
double input_cost(const struct input *in);
bool input_order_safe(const struct input *in, size_t n, double cond, enum format storage);
bool input_reaches(const struct input *in, size_t n, double cond, enum format storage);

/* Generates into `to` (host memory; no elements are fine). cond is the target condition number
 * sum|x| / |sum x| (>= 1), 0 for the family's default; ignored by families that do not use it.
 * STATUS_USAGE where the family cannot give what is asked in this format and size; `to` is
 * undefined then. */
enum status input_generate(const struct input *in, const struct array *to, uint64_t seed,
                           double cond, struct problem *p);

/* Generates two arrays into the halves of `to`, 2 n elements: those of a family of pairs; else the
 * same input twice, the second time with the seed pair_seed, which an input that uses no seed does
 * not heed. Pairs are not arranged: STATUS_USAGE. */
enum status input_generate_pair(const struct input *in, const struct array *to, uint64_t seed,
                                double cond, struct problem *p);
uint64_t pair_seed(uint64_t seed); /* its highest bit is the other one */

/* Puts the elements of an array into an arrangement, by value (NaN last in each; -0 is less than
 * +0, but of the same magnitude; equal elements keep their order); shuffled by the seed
 * (Fisher-Yates over Philox4x32-10). Sorting takes as much memory again: STATUS_MEMORY. */
enum status input_arrange(const struct array *a, enum arrangement how, uint64_t seed,
                          struct problem *p);
