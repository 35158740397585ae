/* What a method declares, held against what it does. Each check runs a method through all its
 * cases and returns true, or false with the first case that failed in `why`. Of scans every output
 * is checked as that of a sum is (holds_scan.h). The tests that walk
 * the registry use them, and so does test_mutants, which shows that they can fail. */
#pragma once

#include "kernels/method/method.h"

enum { WHY = 512 };

/* A case in words, into `why`; returns false. `detail` may be NULL. */
bool not_held(char why[WHY], const struct method *m, enum format storage, enum format accumulator,
              size_t n, struct shape shape, const char *format, ...)
    __attribute__((format(printf, 7, 8)));

/* Is it a sum, of elements or of products, or a scan, without keys? What order_... say of leaves
 * and additions is all that such a method does. (What others do beside, test_values holds.) */
bool only_adds(const struct method *m);

/* The exact value that a result of run_method_once is held to: of products with ones, the sum's. */
enum exact_value value_due(const struct method *m);

/* Launch shapes worth trying for n elements: defaults, one thread, odd, whole warps, the most; one,
 * few and many blocks. Only what the method reads on the CPU varies. Returns how many. */
enum { SHAPES_TRIED = 64 };
size_t shapes_tried(const struct method *m, size_t n, struct shape shape[SHAPES_TRIED]);

/* Four pairs with each storage and each accumulator; four calls one after the other give all. */
struct format_pairs four_pairs(size_t which);

/* Runs the CPU side. out: outputs(n) encodings in the accumulator's format. The second array of a
 * dot product is ones: it is the sum of `in` then, in its order and under its theorem. (What
 * products add to that, tests/kernels/dot/dot.c holds.) */
enum status run_method_once(const struct method *m, const struct array *in, enum format accumulator,
                            struct shape shape, void *out);

/* The declared order is one tree over every leaf exactly once, operands before results, and its
 * height is the declared one. */
bool holds_order(const struct method *m, char why[WHY]);

/* The results are those of an independent walk of the declared order, in every format pair. */
bool holds_walk(const struct method *m, char why[WHY]);

/* The bits keep the promise: over runs, from gpu_to_gpu up over launch shapes and threads, from
 * order_invariant up as holds_permuted says. Nothing is asserted of a method without a promise. */
bool holds_promise(const struct method *m, char why[WHY]);

/* Of sums: the bits are the same over permutations of the elements, each partitioned among threads
 * otherwise; and where the promise is correctly_rounded, they are the exact value's. */
bool holds_permuted(const struct method *m, char why[WHY]);

/* The sum of nothing is +0, of one element that element rounded, of any number of -0 is -0. Where
 * nothing overflows, an infinity makes the sum that infinity, and both of them, or a NaN, make it
 * NaN (scans: see holds_scan.h). */
bool holds_edges(const struct method *m, char why[WHY]);

/* Where the promise is correctly_rounded, the results are MPFR's: of every input family and of
 * millions of random encodings, in every format pair; of scans at every index. */
bool holds_rounded(const struct method *m, char why[WHY]);

/* No error over the method's theorem, on every input family. */
bool holds_bound(const struct method *m, char why[WHY]);

/* The same of several methods, any two of which are alike: on the same inputs, with the same
 * references. */
bool holds_bounds(const struct method *const *m, size_t count, char why[WHY]);
bool bound_alike(const struct method *a, const struct method *b);

/* Arrays of zeros and three elements, each the largest number, its negative or -3/2 of its ulps: of
 * these TwoSum may overflow within although no sum does. Sets the length and the elements of array
 * i < LARGEST_ARRAYS, which has room for LARGEST_LENGTH. */
enum { LARGEST_ARRAYS = 2 * 27, LARGEST_LENGTH = 513 };
void make_largest(struct array *a, unsigned i);
