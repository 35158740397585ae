#include "experiments/reveal/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/reveal/matrix_ask.h"
#include "experiments/reveal/matrix_chains.h"
#include "reference/format/array.h"

enum status matrix_asker_make(struct matrix_asker *a, struct reveal_matrix *r,
                              const struct reveal_matrix_subject *s, struct problem *p)
{
    const struct mma_element_facts *facts = &mma_elements[s->element];
    const struct format_facts *result = &format_facts[s->result];
    const size_t bytes = (size_t)facts->bits / 8, cells = s->m * s->n * (size_t)result->bytes;
    *a = (struct matrix_asker){.of = s, .found = r, .p = p, .leaves = s->k + !s->no_c};
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
    const enum format stored = mma_elements[s->element].stored;
    if (a->status != STATUS_OK || a->broken)
        return NAN;
    array_encode(&(struct array){stored, s->k, a->a}, 0, s->k, a->x);
    array_encode(&(struct array){stored, s->k, a->b}, 0, s->k, a->y);
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

/* Ones, whose sums are exact in any order; then the units of the questions to come, which are
 * larger where small ones vanish. */
static bool multiplies(struct matrix_asker *a)
{
    /* As many as the result can count. */
    const int bits = format_facts[a->of->result].precision;
    const size_t most = bits < 20 ? (size_t)1 << bits : a->leaves,
                 leaves = a->leaves < most ? a->leaves : most;
    int e = 0;
    for (int i = 0; i < 2 && a->status == STATUS_OK && !a->broken;) {
        matrix_clear(a);
        for (size_t l = 0; l < leaves; l++)
            matrix_set(a, l, 1, e);
        double d = matrix_ask(a, NULL);
        if (d == ldexp((double)leaves, e)) {
            i++;
        } else if (i == 0 && a->status == STATUS_OK && !a->broken) {
            a->found->verdict = REVEAL_MATRIX_NO_PRODUCT;
            snprintf(a->found->words, sizeof a->found->words,
                     "of ones, %zu of %zu terms, and zeros, D is %g, expected %zu", leaves,
                     a->leaves, d, leaves);
            return false;
        } else if (++a->low > a->top - 30) { /* subnormal numbers are flushed to zero, and more */
            a->found->verdict = REVEAL_MATRIX_NO_PRODUCT;
            snprintf(a->found->words, sizeof a->found->words, "products of 2^%d vanish", a->low);
            return false;
        }
        e = a->low;
    }
    return a->status == STATUS_OK && !a->broken;
}

static double alone(struct matrix_asker *a, double *operand, double *other, double value)
{
    matrix_clear(a);
    operand[0] = value;
    other[0] = 1;
    return matrix_ask(a, NULL);
}

/* Are all bits of fp32 read? Where they are not, how many, and are operands rounded to so many? A
 * result of no more bits than that says nothing about operands. */
static enum reveal_matrix_reads reads_in(struct matrix_asker *a, double *operand, double *other,
                                         int *digits)
{
    const int all = format_facts[FP32].precision;
    int p = all;
    while (p > 1 && alone(a, operand, other, 1 + ldexp(1, 1 - p)) != 1 + ldexp(1, 1 - p))
        p--;
    *digits = p;
    if (p > all - 2)
        return p == all && alone(a, operand, other, 1 + 0x1.8p-11) == 1 + 0x1.8p-11
                   ? REVEAL_READS_ALL
                   : REVEAL_READS_UNKNOWN;
    matrix_clear(a);
    operand[0] = 1 + ldexp(1, 1 - p);
    other[0] = 1.5;
    if (matrix_ask(a, NULL) != operand[0] * 1.5)
        return REVEAL_READS_UNKNOWN;
    double d = alone(a, operand, other, 1 + ldexp(1.5, -p));
    return d == 1                     ? REVEAL_READS_CUT
           : d == 1 + ldexp(1, 1 - p) ? REVEAL_READS_ROUNDED
                                      : REVEAL_READS_UNKNOWN;
}

static void reads(struct matrix_asker *a)
{
    int other;
    if (a->of->element != MMA_TF32 || format_facts[a->of->result].precision < 24)
        return;
    enum reveal_matrix_reads of_a = reads_in(a, a->x, a->y, &a->found->digits),
                             of_b = reads_in(a, a->y, a->x, &other);
    a->found->reads = of_a == of_b && a->found->digits == other ? of_a : REVEAL_READS_UNKNOWN;
}

bool reveal_matrix_reads_more(const struct reveal_matrix *r)
{
    const struct mma_element_facts *tf32 = &mma_elements[MMA_TF32];
    bool as_tf32 = r->digits == format_facts[tf32->stored].precision - tf32->ignored;
    return r->reads == REVEAL_READS_ROUNDED ||
           (r->reads == REVEAL_READS_CUT && !as_tf32 && !r->plain);
}

/* Of fused sums in another order than a chain of blocks: how many products they have. */
static void blocks(struct matrix_asker *a)
{
    struct reveal_matrix *r = a->found;
    struct matrix_chains c;
    if (a->status != STATUS_OK || r->ordered || r->plain)
        return;
    a->status = matrix_chains_of(&c, &r->tree, a->of->k, a->p);
    r->rule.block = (int)c.most;
    r->block = c.as_many > 1;
}

size_t matrix_most(const struct reveal_matrix_subject *s)
{
    const int precision = format_facts[s->result].precision;
    const size_t counted = (size_t)1 << (precision < 20 ? precision : 20);
    return counted < REVEAL_MATRIX_K ? counted : REVEAL_MATRIX_K;
}

enum status matrix_short(struct reveal_matrix *r, const struct reveal_matrix_subject *s,
                         uint64_t seed, bool held, struct problem *p)
{
    struct matrix_asker a;
    *r = (struct reveal_matrix){
        .rule = {.element = s->element, .result = s->result, .least = MMA_NO_LEAST},
        .adds = FORMATS};
    enum status status = matrix_asker_make(&a, r, s, p);
    a.prefix = !held;
    const bool tree = status == STATUS_OK && multiplies(&a) && matrix_tree(&a, seed);
    if (tree)
        matrix_order(&a);
    if ((tree || r->verdict == REVEAL_MATRIX_EXACT) && status == STATUS_OK && !s->tree_only)
        reads(&a);
    if (tree && !s->tree_only) {
        matrix_arithmetic(&a);
        blocks(&a);
        if (held && !a.broken && a.status == STATUS_OK)
            matrix_hold(&a, seed);
    } else if (r->verdict == REVEAL_MATRIX_EXACT && !s->tree_only) {
        matrix_threes(&a, seed);
    }
    if (status == STATUS_OK)
        status = a.status;
    r->low = a.low;
    matrix_asker_free(&a);
    return status;
}

enum status reveal_matrix(struct reveal_matrix *r, const struct reveal_matrix_subject *s,
                          uint64_t seed, struct problem *p)
{
    *r = (struct reveal_matrix){.adds = FORMATS};
    if (s->m == 0 || s->n == 0)
        return problem(p, STATUS_USAGE, "reveal: found %zu x %zu x %zu, expected an element of D",
                       s->m, s->n, s->k);
    if (s->k < 2)
        return problem(p, STATUS_USAGE, "reveal: found k = %zu, expected 2 or more", s->k);
    return s->k <= matrix_most(s) ? matrix_short(r, s, seed, true, p) : matrix_deep(r, s, seed, p);
}

bool reveal_matrix_one_chain(const struct reveal_matrix *r)
{
    return r->ordered && !r->plain && !(r->rule.order == MMA_FORWARD && r->rule.c == MMA_C_LAST);
}

bool reveal_matrix_held(const struct reveal_matrix *r)
{
    return r->verdict == REVEAL_MATRIX_RULE || r->verdict == REVEAL_MATRIX_ADDS;
}

bool reveal_matrix_agrees(const struct reveal_matrix *r, const struct reveal_matrix_subject *s,
                          const struct mma_rule *rule)
{
    const struct mma_rule *found = &r->rule;
    const bool rules = r->verdict == REVEAL_MATRIX_RULE,
               whole = rules && (r->plain || reveal_matrix_one_chain(r));
    if (rule->element != s->element || rule->result != found->result ||
        (!rules && (r->verdict != REVEAL_MATRIX_ADDS || r->plain)) ||
        (s->element == MMA_TF32 && (r->reads != REVEAL_READS_CUT || reveal_matrix_reads_more(r))))
        return false;
    if (whole ? found->order != rule->order || found->c != rule->c
              : rule->order != MMA_FORWARD || rule->c != MMA_C_FIRST)
        return false;
    if (r->block ? found->block != rule->block : found->block > rule->block)
        return false;
    if (rule->fraction == MMA_EXACT)
        return whole && found->fraction == MMA_EXACT;
    return r->fraction && r->kept && r->rounding && r->alignment &&
           found->fraction == rule->fraction && found->kept == rule->kept &&
           found->rounding == rule->rounding && found->alignment == rule->alignment;
}

void reveal_matrix_free(struct reveal_matrix *r)
{
    sum_tree_free(&r->tree);
}
