/* The reference of a dot product, by two ways that share nothing. */
#include <math.h>
#include <stdlib.h>

#include "reference/exact/census.h"
#include "reference/exact/products.h"
#include "reference/exact/reference_parts.h"

enum status reference_dot_fast(struct reference *r, const struct array *a, const struct array *b,
                               struct problem *p)
{
    struct products s;
    struct census c = {0};
    products_init(&s);
    if (!products_add(&s, a, b, 0, a->n))
        return problem(p, STATUS_MEMORY, "reference: out of memory for products");
    census_add(&c, a, 0, a->n);
    if (b != a)
        census_add(&c, b, 0, b->n);
    products_get(r->sum, &s);
    products_get_abs(r->sum_abs, &s);
    reference_take_census(r, &c);
    return STATUS_OK;
}

struct block {
    mpfr_t term[ARRAY_BLOCK], x, y, sum;
    mpfr_ptr pointer[ARRAY_BLOCK];
};

/* The block's products; false if one was rounded. */
static bool multiply(struct block *block, const struct array *a, const struct array *b,
                     size_t begin, size_t count, struct census *c)
{
    bool exact = true;
    for (size_t i = 0; i < count; i++) {
        double x = array_get(a, begin + i), y = array_get(b, begin + i);
        reference_count_one(c, x, a->format);
        if (b != a)
            reference_count_one(c, y, b->format);
        mpfr_set_d(block->x, x, MPFR_RNDN);
        mpfr_set_d(block->y, y, MPFR_RNDN);
        exact &= mpfr_mul(block->term[i], block->x, block->y, MPFR_RNDN) == 0;
    }
    return exact;
}

/* Adds the block's terms to a total; the first block is the total, as 0 + -0 is not -0. */
static bool add_terms(mpfr_t total, struct block *b, size_t count, bool first)
{
    bool rounded = mpfr_sum(b->sum, b->pointer, count, MPFR_RNDN) != 0;
    rounded |= (first ? mpfr_set(total, b->sum, MPFR_RNDN)
                      : mpfr_add(total, total, b->sum, MPFR_RNDN)) != 0;
    return !rounded;
}

static bool sum_blocks(struct reference *r, const struct array *a, const struct array *b,
                       struct block *block)
{
    bool exact = true;
    struct census c = {0};
    for (size_t begin = 0; begin < a->n && exact; begin += ARRAY_BLOCK) {
        size_t count = a->n - begin < ARRAY_BLOCK ? a->n - begin : ARRAY_BLOCK;
        exact &= multiply(block, a, b, begin, count, &c);
        exact &= add_terms(r->sum, block, count, begin == 0);
        for (size_t i = 0; i < count; i++)
            mpfr_abs(block->term[i], block->term[i], MPFR_RNDN);
        exact &= add_terms(r->sum_abs, block, count, begin == 0);
    }
    reference_take_census(r, &c);
    return exact;
}

enum status reference_dot_mpfr(struct reference *r, const struct array *a, const struct array *b,
                               struct problem *p)
{
    struct block *block = malloc(sizeof *block);
    if (!block)
        return problem(p, STATUS_MEMORY, "reference: out of memory (%zu bytes)", sizeof *block);
    size_t terms = a->n < ARRAY_BLOCK ? a->n : ARRAY_BLOCK;
    for (size_t i = 0; i < terms; i++) {
        mpfr_init2(block->term[i], 106);
        block->pointer[i] = block->term[i];
    }
    mpfr_inits2(53, block->x, block->y, (mpfr_ptr)0);
    mpfr_init2(block->sum, PRODUCTS_PRECISION);
    mpfr_set_prec(r->sum, PRODUCTS_PRECISION);
    mpfr_set_prec(r->sum_abs, PRODUCTS_PRECISION);
    mpfr_set_zero(r->sum, 1);
    mpfr_set_zero(r->sum_abs, 1);
    bool exact = sum_blocks(r, a, b, block);
    for (size_t i = 0; i < terms; i++)
        mpfr_clear(block->term[i]);
    mpfr_clears(block->x, block->y, block->sum, (mpfr_ptr)0);
    free(block);
    return exact ? STATUS_OK : problem(p, STATUS_FAILED, "reference: MPFR rounded an exact sum");
}
