#include "experiments/reveal/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/reveal/matrix_ask.h"
#include "reference/format/array.h"

static void put(enum mma_element e, unsigned char *to, size_t i, double x)
{
    const size_t bytes = (size_t)mma_elements[e].bits / 8;
    uint64_t bits = format_encode(mma_elements[e].stored, x);
    memcpy(to + i * bytes, &bits, bytes);
}

enum status matrix_asker_make(struct matrix_asker *a, struct reveal_matrix *r,
                              const struct reveal_matrix_subject *s, struct problem *p)
{
    const struct mma_element_facts *facts = &mma_elements[s->element];
    const struct format_facts *result = &format_facts[s->result];
    const size_t bytes = (size_t)facts->bits / 8, cells = s->m * s->n * (size_t)result->bytes;
    *a = (struct matrix_asker){.of = s, .found = r, .p = p};
    a->x = calloc(s->k, sizeof *a->x);
    a->y = calloc(s->k, sizeof *a->y);
    a->a = calloc(s->m * s->k, bytes);
    a->b = calloc(s->n * s->k, bytes);
    a->from = calloc(1, cells);
    a->d = calloc(1, cells);
    if (!a->x || !a->y || !a->a || !a->b || !a->from || !a->d)
        return problem(p, STATUS_MEMORY, "no memory for a product of %zu x %zu x %zu", s->m, s->n,
                       s->k);
    /* Masks must be in the range of the result too; units are seen in it, as many as k. */
    int top = 2 * facts->emax, low = 2 * (facts->emin - facts->fraction);
    int least = result->emin - result->precision + 1;
    top = top < result->emax - 1 ? top : result->emax - 1;
    a->top = top < 100 ? top : 100;
    a->low = low > least ? low : least;
    a->low = a->low > -100 ? a->low : -100;
    return STATUS_OK;
}

void matrix_asker_free(struct matrix_asker *a)
{
    free(a->x);
    free(a->y);
    free(a->a);
    free(a->b);
    free(a->from);
    free(a->d);
}

void matrix_clear(struct matrix_asker *a)
{
    memset(a->x, 0, a->of->k * sizeof *a->x);
    memset(a->y, 0, a->of->k * sizeof *a->y);
    a->c = 0;
}

void matrix_set(struct matrix_asker *a, size_t leaf, double value, int e)
{
    const struct mma_element_facts *facts = &mma_elements[a->of->element];
    if (leaf == a->of->k) {
        a->c = ldexp(value, e);
        return;
    }
    /* Both operands as near to each other as can be, the value in the larger one. */
    int half = e >= 0 ? e / 2 : -((1 - e) / 2), most = facts->emax,
        least = facts->emin - facts->fraction;
    half = half < least ? least : half;
    half = e - half > most ? e - most : half;
    a->x[leaf] = ldexp(value, e - half);
    a->y[leaf] = ldexp(1, half);
}

double matrix_ask(struct matrix_asker *a, uint64_t *bits)
{
    const struct reveal_matrix_subject *s = a->of;
    const size_t bytes = (size_t)mma_elements[s->element].bits / 8;
    const struct array c = {s->result, s->m * s->n, a->from}, d = {s->result, s->m * s->n, a->d};
    if (a->status != STATUS_OK || a->broken)
        return NAN;
    for (size_t i = 0; i < s->k; i++) {
        put(s->element, a->a, i, a->x[i]);
        put(s->element, a->b, i, a->y[i]);
    }
    for (size_t i = 1; i < s->m; i++)
        memcpy(a->a + i * s->k * bytes, a->a, s->k * bytes);
    for (size_t j = 1; j < s->n; j++)
        memcpy(a->b + j * s->k * bytes, a->b, s->k * bytes);
    for (size_t i = 0; i < c.n; i++)
        array_set_bits(&c, i, format_encode(s->result, a->c));
    a->found->calls++;
    a->status = s->product(s->context, s->m, s->n, s->k, a->a, a->b, a->from, a->d, a->p);
    for (size_t i = 1; i < d.n && a->status == STATUS_OK && !a->broken; i++)
        if (array_bits(&d, i) != array_bits(&d, 0)) {
            a->broken = true;
            a->found->verdict = REVEAL_MATRIX_PLACES;
            snprintf(a->found->words, sizeof a->found->words,
                     "rows and columns are alike, but D[%zu][%zu] and D[0][0] differ", i / s->n,
                     i % s->n);
        }
    if (bits)
        *bits = array_bits(&d, 0);
    return array_get(&d, 0);
}

enum status reveal_matrix(struct reveal_matrix *r, const struct reveal_matrix_subject *s,
                          uint64_t seed, struct problem *p)
{
    struct matrix_asker a;
    *r = (struct reveal_matrix){
        .rule = {.element = s->element, .result = s->result, .least = MMA_NO_LEAST}};
    if (s->k < 2 || s->k > REVEAL_MATRIX_K || s->m == 0 || s->n == 0)
        return problem(p, STATUS_USAGE, "k is %zu, expected 2 to %d", s->k, REVEAL_MATRIX_K);
    enum status status = matrix_asker_make(&a, r, s, p);
    if (status == STATUS_OK && matrix_tree(&a, seed)) {
        bool ordered = matrix_order(&a);
        matrix_arithmetic(&a);
        if (ordered && !a.broken && a.status == STATUS_OK)
            matrix_hold(&a, seed);
    }
    if (status == STATUS_OK)
        status = a.status;
    matrix_asker_free(&a);
    return status;
}

void reveal_matrix_free(struct reveal_matrix *r)
{
    sum_tree_free(&r->tree);
}
