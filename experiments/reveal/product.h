/* What a subject makes of a matrix product, from its outputs alone: reveal/matrix.h, asked through
 * a probe. */
#pragma once

#include <jansson.h>

#include "experiments/reveal/matrix_chains.h"
#include "experiments/runs/probe.h"

struct reveal_product {
    struct probe_spec of; /* of a product, whose shape is of.gemm */
    struct reveal_matrix_subject asked;
    struct reveal_matrix found;
    struct matrix_chains chains; /* of the tree, where there is one */
    /* Where there are several chains: those of another k, which tell a number of slices from slices
     * of one length. 0: not asked, or it shows no tree. */
    size_t other_k;
    struct matrix_chains other;
    bool listed;                         /* it models an instruction, and has its rule or not: */
    const struct mma_instruction *model; /* NULL: it models none */
};

/* Where a shape is open: few elements for ours, which compute each alike, more for libraries. */
struct gemm_shape reveal_product_shape(const struct method *m);

/* The same seed asks the same questions. STATUS_USAGE for a k that cannot be asked for; fails else
 * as the subject does, and for memory. Free with reveal_product_free, also after failure. */
enum status reveal_product_make(struct reveal_product *r, const struct probe_spec *spec,
                                uint64_t seed, struct problem *p);
void reveal_product_free(struct reveal_product *r);

/* STATUS_FAILED where there is no order, or another one than that of the model's instruction. */
enum status reveal_product_status(const struct reveal_product *r, struct problem *p);

void reveal_product_print(FILE *to, const struct reveal_product *r);
json_t *reveal_product_json(const struct reveal_product *r); /* NULL: memory is short */

/* "gemm/mma on cpu, fp16/fp32, 2x2x256, h100" */
enum { REVEAL_PRODUCT_TITLE = 512 };
void reveal_product_title(char text[REVEAL_PRODUCT_TITLE], const struct probe_spec *s);
