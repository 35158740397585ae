/* Matrix instructions once more, slowly: rationals and MPFR, for the models of kernels/mma to be
 * held to; and operands made to tell models apart. */
#pragma once

#include "kernels/mma/mma.h"

/* What mma_dot gives, of rules that truncate terms and count no zeros, from the words of mma.h. */
uint64_t fused_oracle(const struct mma_rule *r, size_t k, const void *a, const void *b, uint64_t c);

/* Each vector aims at one thing, and chance decides the rest. */
enum fused_aim {
    AIM_ANY,       /* any encodings */
    AIM_NEAR,      /* products of nearly the same size */
    AIM_ALIGNMENT, /* a large product among small ones, about F binades apart */
    AIM_CARRY,     /* the same, and the small ones are all ones: they carry where kept */
    AIM_CANCEL,    /* large products that cancel within a block, or across blocks */
    AIM_SUBNORMAL,
    AIM_SPECIAL, /* infinities, NaNs, zeros of both signs among numbers */
    AIM_ZERO,    /* sums that are zero, or cancel to it */
    AIM_OVERFLOW,
    FUSED_AIMS
};
enum { FUSED_MOST = 128 };

struct fused_vector {
    enum fused_aim aim;
    size_t k;
    uint64_t c;
    unsigned char a[8 * FUSED_MOST], b[8 * FUSED_MOST];
};

/* The vector with this number: its aim is number mod FUSED_AIMS. k <= FUSED_MOST. */
void fused_vector(struct fused_vector *v, const struct mma_rule *r, size_t k, uint64_t number);

/* "k, aim, and the operands" for messages. */
enum { FUSED_TEXT = 4096 };
void fused_text(char text[FUSED_TEXT], const struct fused_vector *v, const struct mma_rule *r);
