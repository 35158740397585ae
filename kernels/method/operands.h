/* All that an operation reads. Addresses are the host's on the CPU, a device's on a GPU. */
#pragma once

#include "kernels/method/gemm.h"
#include "reference/format/array.h"
#include "reference/theorem/name.h"

/* What a library's heuristic is asked for in place of the method's own choices. */
struct heuristic {
    bool has_workspace, has_algorithm; /* else it is the method's own */
    size_t workspace;                  /* bytes that an algorithm may have, at most */
    size_t algorithm;                  /* its place among those that the heuristic names, from 0 */
};
enum { HEURISTIC_NAMES = 8 }; /* at most */

static inline void heuristic_workspace(struct heuristic *h, size_t bytes)
{
    h->has_workspace = true;
    h->workspace = bytes;
}

static inline void heuristic_algorithm(struct heuristic *h, size_t place)
{
    h->has_algorithm = true;
    h->algorithm = place;
}

static inline bool heuristic_equal(const struct heuristic *a, const struct heuristic *b)
{
    return a->has_workspace == b->has_workspace && a->has_algorithm == b->has_algorithm &&
           a->workspace == b->workspace && a->algorithm == b->algorithm;
}

struct operands {
    struct array in, in2; /* in2: of dot products alone, as long and in the same format; else its
                             data is NULL */
    /* Scans only. Output i covers elements 0 .. i or, where `exclusive`, 0 .. i-1; the sum of
     * nothing is +0. A segmented scan begins anew at 0 and at each i with heads[i] != 0, of n
     * flags; NULL: nowhere else. */
    bool exclusive;
    const uint8_t *heads;
    const uint8_t *mask;       /* of compactions alone: n flags */
    enum product_kind product; /* of dot products alone: how they are formed */
    const uint32_t *keys;      /* of what takes keys alone: one for each element, below `bins` */
    /* How many bins there are, >= 1; rows of a matrix, which divide n; flags of a mask that are
     * not 0; or elements of D. Else it is not read. */
    size_t bins;
    size_t stride; /* of sums of rows alone: how rows lie (kernels/method/matrix.h) */
    /* Of matrix products alone: where A and B lie in `in`, and C, row-major, in the format of the
     * results. Bins are elements of D. */
    struct gemm_shape gemm;
    struct array c;
    const float *scales; /* where gemm.scaling gives rows or blocks their own: A's, then B's, as
                            kernels/gemm/scales.h deals them; finite and above 0 */
    /* Of models of matrix instructions alone: whose they are, as kernels/mma/ names chips, NULL:
     * MMA_CHIP; and after how many products sums are promoted, 0: GEMM_PROMOTE. */
    const char *chip;
    size_t promote;
    struct heuristic heuristic; /* of a library's products alone; see method.h */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The operands that are arrays, in the order in which they are passed. */
enum operand {
    OPERAND_IN,
    OPERAND_IN2,
    OPERAND_KEYS,
    OPERAND_HEADS,
    OPERAND_MASK,
    OPERAND_C,
    OPERANDS
};
extern const char *const operand_name[OPERANDS]; /* "an input", "keys" */

const void *operand_data(const struct operands *of, enum operand which); /* NULL: none */
/* A second input has the first one's length and format; C keeps its own. */
void operand_set(struct operands *of, enum operand which, const void *data);
/* Bytes of an element of it; and of all elements, or SIZE_MAX where that does not fit. */
size_t operand_width(const struct operands *of, enum operand which);
size_t operand_bytes(const struct operands *of, enum operand which);

#ifdef __cplusplus
}
#endif
