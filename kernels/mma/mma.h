/* What a matrix instruction of a GPU computes: D = A B + C, modelled in integers on the CPU.
 *
 * An instruction adds the products of `block` elements of k, and usually C, as one fused sum:
 *
 *   1. every operand is significand x 2^e, e never below that of the smallest normal number;
 *   2. significands are multiplied exactly, exponents added; nothing is normalised;
 *   3. M is the largest exponent among the terms, and at least `least`; terms that are zero do not
 *      take part unless `zeros` says so;
 *   4. each term is cut to `fraction` bits behind the point relative to 2^M, toward zero;
 *   5. they are added exactly, and the sum is rounded once to the result's format: to +0 where it
 *      rounds to zero;
 *   6. the next block takes that as its C.
 *
 * The rows are in chips.def, with what each was held to. */
#pragma once

#include "reference/format/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Formats of A and B. tf32 is stored as fp32, whose low 13 bits are ignored. */
enum mma_element { MMA_FP16, MMA_BF16, MMA_TF32, MMA_FP64, MMA_E4M3, MMA_E5M2, MMA_ELEMENTS };

struct mma_element_facts {
    const char *name;
    enum format stored; /* what its elements are kept in */
    int bits;           /* of an encoding as stored */
    int fraction;       /* bits of the significand behind the point */
    int ignored;        /* low bits of an encoding that are ignored */
    int emin, emax;     /* of the smallest normal number; of the largest */
};
extern const struct mma_element_facts mma_elements[MMA_ELEMENTS];

enum mma_unit { MMA_SYNC, MMA_WGMMA, MMA_TCGEN05, MMA_UNITS };
extern const char *const mma_units[MMA_UNITS]; /* "mma", "wgmma", "tcgen05" */

/* The result's significand: to nearest, ties to even, or toward zero. */
enum mma_rounding { MMA_NEAREST, MMA_TOWARD_ZERO };
/* Aligned terms: no known chip does anything but truncate; the others tell models apart. */
enum mma_alignment { MMA_TRUNCATE, MMA_ROUND_TERMS, MMA_STICKY };
/* Which elements of an instruction's k a block takes. MMA_PAIRS: k mod 4 < 2 first, then the rest,
 * all of them converted to fp16 before: the compiler's mma.sync of 8-bit formats; MMA_BACKWARDS,
 * the last block first, is no known chip's. */
enum mma_order { MMA_FORWARD, MMA_BACKWARDS, MMA_PAIRS };
/* C is a term of the first block, or blocks begin at +0 and C is added behind the last, as an IEEE
 * addition of two numbers of the result's format. */
enum mma_place { MMA_C_FIRST, MMA_C_LAST };

enum { MMA_EXACT = -1, MMA_BLOCK = 64, MMA_NO_LEAST = -2000 };

struct mma_rule {
    enum mma_element element;
    enum format result; /* of C and D: FP16, FP32 or FP64 */
    int k;              /* products of an instruction: a multiple of `block`, at most MMA_BLOCK */
    int block;          /* products of a fused sum, 1 .. MMA_BLOCK */
    int fraction;       /* F, 1 .. 40; or MMA_EXACT: fused multiply-adds in order, `block` 1 */
    int kept;           /* bits of a result's significand behind the point; lower ones are zero */
    enum mma_rounding rounding;
    enum mma_alignment alignment;
    enum mma_order order;
    enum mma_place c;
    int least;  /* M is at least this; MMA_NO_LEAST */
    bool zeros; /* a term that is zero takes part in M, with the exponents of its operands */
};

enum mma_source { MMA_BY_KHATTAK, MMA_BY_XIE, MMA_BY_COMPILER, MMA_SOURCES };
extern const char *const mma_sources[MMA_SOURCES]; /* where a rule was taken from, as cited */

struct mma_instruction {
    const char *chip; /* "h100" */
    enum mma_unit unit;
    int m, n; /* its smallest shape with rule.k */
    struct mma_rule rule;
    enum mma_source source;
    uint64_t held;    /* vectors of that chip that the rule was held to, all equal; 0: none */
    const char *date; /* of these, "2026-11-23", or "" */
};

extern const struct mma_instruction mma_instructions[];
extern const size_t mma_instruction_count;

/* The row of a chip for a pair of formats; of several units the first in mma_units' order unless
 * `unit` is below MMA_UNITS. NULL where there is none. */
const struct mma_instruction *mma_find(const char *chip, enum mma_unit unit,
                                       enum mma_element element, enum format result);
/* The chips, in the order of the table: the i-th one's name, which is one address whoever asks;
 * NULL behind the last. And that of a name, in either case; NULL: there is none. */
const char *mma_chip(size_t i);
const char *mma_chip_named(const char *name);
#define MMA_CHIP "h100" /* where nothing says which */
/* The compute capability of a chip's GPUs, 90 for 9.0; 0: not one of ours. Chips of the same one
 * have the same rows. */
int mma_capability(const char *chip);

/* The element that a storage format is read as, fp32 as tf32; MMA_ELEMENTS: none. */
enum mma_element mma_element_of(enum format storage);
/* "h100 wgmma e4m3 fp32" */
enum { MMA_NAME = 48 };
void mma_name(char name[MMA_NAME], const struct mma_instruction *i);

/* One element of D: the encoding of what a chain of instructions gives for the products of a[i] and
 * b[i], i < k, and c, the encoding of an element of C. Elements lie without gaps; a k that is no
 * multiple of the instruction's ends with zeros, as kernels pad. A NaN is 0x7fff, 0x7fffffff or
 * 0x7fffffffffffffff. */
uint64_t mma_dot(const struct mma_rule *r, size_t k, const void *a, const void *b, uint64_t c);

/* The same for A of the rule's element and B of another, where both have 8 bits. */
uint64_t mma_dot_mixed(const struct mma_rule *r, enum mma_element of_b, size_t k, const void *a,
                       const void *b, uint64_t c);

/* mma_dot, promoted: chains of `every` products begin at +0, and their sums are added to c one
 * after the other, as IEEE additions of the result's format. With 0 it is mma_dot. */
uint64_t mma_promoted(const struct mma_rule *r, enum mma_element of_b, size_t every, size_t k,
                      const void *a, const void *b, uint64_t c);

/* How far the result is from the exact sum at most, where nothing overflows or is no number: of
 * what weighs so much (bound.c has the theorem). */
double mma_weight(const struct mma_rule *r, size_t k, const void *a, const void *b, uint64_t c);
double mma_weight_of(const struct mma_rule *r, enum mma_element of_b, size_t k, const double *a,
                     const double *b,
                     double c); /* the same of decoded operands, as `element` reads them */
double mma_bound(const struct mma_rule *r, size_t every, size_t k, double weight);

/* D = A B + C: A of m rows of k, B of n columns of k, C and D of m rows of n, all without gaps and
 * in the rule's formats. C may be D, or NULL: +0. */
void mma_product(const struct mma_rule *r, size_t m, size_t n, size_t k, const void *a,
                 const void *b, const void *c, void *d);

#ifdef __cplusplus
}
#endif
