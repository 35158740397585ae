/* What sum/binned, sum/binned2 and sum/binned4 know of the elements seen so far: a state that
 * merges with others, of other threads, devices, machines or days, in any tree over any partition,
 * and gives the bits that the method gives for all the elements at once (kernels/blocks/binned.h).
 *
 *     struct binned_state s;
 *     binned_state_init(&s, FP32, FP32, 3, NULL);
 *     binned_state_add(&s, &array, 0, array.n);
 *     double sum = binned_state_finish(&s);
 *
 * It is itself a function of the multiset of elements: equal multisets give equal bytes. */
#pragma once

#include "kernels/blocks/binned.h"
#include "reference/format/array.h"
#include "reference/base/problem.h"

struct binned_state {
    enum format storage, accumulator;
    unsigned folds;
    struct binned_bins bins;
    uint64_t terms;                 /* elements added; below 2^63 */
    bool nan, inf[2];               /* by sign */
    bool plain;                     /* an element other than -0 was added */
    int window;                     /* J; -1 while every finite element is a zero */
    __int128 bin[BINNED_KEPT_MOST]; /* sums of the parts in bins J .. J+kept-1, then zeros */
};

/* A state of no elements. STATUS_USAGE unless folds = 2, 3 or 4. */
enum status binned_state_init(struct binned_state *s, enum format storage, enum format accumulator,
                              unsigned folds, struct problem *p);

/* Adds elements begin .. begin+count-1 of an array in the state's storage format. */
void binned_state_add(struct binned_state *s, const struct array *a, size_t begin, size_t count);

/* Adds all that `from` holds. STATUS_USAGE where formats or folds differ, STATUS_DATA where there
 * would be 2^63 elements; `to` is as it was then. */
enum status binned_state_merge(struct binned_state *to, const struct binned_state *from,
                               struct problem *p);

/* The sum, a value of the accumulator's format: NaN with any NaN or infinities of both signs, else
 * an infinity that is among the elements; +0 of nothing; -0 where all elements are -0; +0 where
 * the elements, rounded to multiples of U, cancel. Only the last rounding can overflow. */
double binned_state_finish(const struct binned_state *s);

/* --- as bytes ---
 *
 * The same on every machine; integers are little-endian.
 *
 *     offset  bytes
 *          0      4  75 6c 70 62 ("ulpb")
 *          4      1  the layout's version, 1
 *          5      1  storage: 0 fp16, 1 bf16, 2 fp32, 3 fp64
 *          6      1  accumulator, likewise
 *          7      1  folds
 *          8      8  elements
 *         16      1  flags: 1 NaN, 2 +inf, 4 -inf, 8 an element other than -0
 *         17      1  0
 *         18      2  J, or ff ff where every finite element is a zero
 *         20      4  0
 *         24     96  six sums of parts, those of bins J, J+1, ..: two's complement, 16 bytes each
 */
enum { BINNED_STATE_BYTES = 24 + 16 * BINNED_KEPT_MOST };

void binned_state_write(const struct binned_state *s, unsigned char bytes[BINNED_STATE_BYTES]);

/* STATUS_DATA, with the byte and what was expected there, where these are no state that elements
 * could have led to as far as that can be seen; *s is undefined then. */
enum status binned_state_read(struct binned_state *s, const void *bytes, size_t size,
                              struct problem *p);

/* --- for kernels/blocks/binned*.c, kernels/sum/binned*.c and tests --- */

/* Adds elements one by one: the specification. The state's formats are the array's. */
typedef void binned_adder(struct binned_state *s, const struct array *a, size_t begin,
                          size_t count);
binned_adder binned_plain;

/* Raises the window, never lowers it; the bins below are forgotten. */
void binned_raise(struct binned_state *s, int window);

/* The same state at speed; each compiled for another instruction set. The first is the fastest that
 * is available somewhere, the last is available everywhere. */
struct binned_variant {
    const char *name;
    bool (*available)(void); /* on this machine */
    binned_adder *add;
};
extern const struct binned_variant binned_variant[];
extern const size_t binned_variants;
