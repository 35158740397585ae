#include "reference/exact/reference.h"

#include <math.h>
#include <stdlib.h>

#include "reference/exact/census.h"
#include "reference/exact/mpfr.h"
#include "reference/exact/reference_parts.h"

static double square(double x)
{
    return x * x;
}

const struct exact_facts exact_facts[EXACT_VALUES] = {
#define VALUE(constant, ...) [EXACT_##constant] = {__VA_ARGS__},
#include "reference/exact/values.def"
};

/* A block's exact sum spans 2^-1074 .. 2^1034, that of 2^63 elements 2^-1074 .. 2^1087. */
enum { EXACT_PRECISION = 2176 };

/* Elements that the superaccumulator takes before the census reads them: enough that its bins are
 * seldom emptied, not many more than the second-level cache holds. */
enum { REFERENCE_BLOCK = 1 << 17 };

void reference_take_census(struct reference *r, const struct census *c)
{
    r->zeros = c->zeros;
    r->subnormals = c->subnormals;
    r->infs = c->infs;
    r->nans = c->nans;
    r->smallest = c->smallest;
    r->largest = c->largest;
}

static void add_blocks(struct reference_blocks *b, const struct array *a, array_term *term)
{
    for (size_t begin = 0; begin < a->n; begin += REFERENCE_BLOCK) {
        size_t count = a->n - begin < REFERENCE_BLOCK ? a->n - begin : REFERENCE_BLOCK;
        exact_add_terms(&b->sum, a, begin, count, term);
        census_add(&b->census, a, begin, count);
    }
    b->n += a->n;
}

static void take_blocks(struct reference *r, const struct reference_blocks *b)
{
    exact_get(r->sum, &b->sum);
    exact_get_abs(r->sum_abs, &b->sum);
    reference_take_census(r, &b->census);
}

static void compute_fast(struct reference *r, const struct array *a)
{
    struct reference_blocks b;
    reference_blocks_begin(&b);
    add_blocks(&b, a, exact_facts[r->of].term);
    take_blocks(r, &b);
}

void reference_blocks_begin(struct reference_blocks *b)
{
    *b = (struct reference_blocks){0};
    exact_init(&b->sum);
}

void reference_blocks_add(struct reference_blocks *b, const struct array *block)
{
    add_blocks(b, block, NULL);
}

void reference_blocks_merge(struct reference_blocks *b, const struct reference_blocks *from)
{
    const struct census *c = &from->census;
    exact_merge(&b->sum, &from->sum);
    b->n += from->n;
    b->census.zeros += c->zeros;
    b->census.subnormals += c->subnormals;
    b->census.infs += c->infs;
    b->census.nans += c->nans;
    if (c->largest > b->census.largest)
        b->census.largest = c->largest;
    if (c->smallest > 0 && (b->census.smallest == 0 || c->smallest < b->census.smallest))
        b->census.smallest = c->smallest;
}

void reference_blocks_end(struct reference *r, const struct reference_blocks *b)
{
    *r = (struct reference){.of = EXACT_SUM, .n = b->n};
    mpfr_inits2(MPFR_PREC_MIN, r->sum, r->sum_abs, r->moment.sum, r->moment.sum_abs,
                r->moment.squares, (mpfr_ptr)0);
    take_blocks(r, b);
}

/* The slow kind shares nothing with the fast one: it counts the doubles one by one. */
void reference_count_one(struct census *c, double x, enum format f)
{
    double size = fabs(x);
    c->nans += isnan(x);
    c->infs += isinf(x) != 0;
    c->zeros += x == 0;
    c->subnormals += x != 0 && size < format_facts[f].smallest_normal;
    if (isfinite(x) && size > c->largest)
        c->largest = size;
    if (isfinite(x) && x != 0 && (c->smallest == 0 || size < c->smallest))
        c->smallest = size;
}

struct block {
    double value[ARRAY_BLOCK];
    mpfr_t term[ARRAY_BLOCK];
    mpfr_ptr pointer[ARRAY_BLOCK];
    mpfr_t sum;
};

/* Adds the block's terms to a total; the first block is the total, as 0 + -0 is not -0.
 * Returns false if anything was rounded. */
static bool add_terms(mpfr_t total, struct block *b, size_t count, bool first)
{
    bool rounded = mpfr_sum(b->sum, b->pointer, count, MPFR_RNDN) != 0;
    rounded |= (first ? mpfr_set(total, b->sum, MPFR_RNDN)
                      : mpfr_add(total, total, b->sum, MPFR_RNDN)) != 0;
    return !rounded;
}

static bool sum_blocks(struct reference *r, const struct array *a, struct block *b)
{
    bool exact = true;
    struct census c = {0};
    for (size_t begin = 0; begin < a->n && exact; begin += ARRAY_BLOCK) {
        size_t count = a->n - begin < ARRAY_BLOCK ? a->n - begin : ARRAY_BLOCK;
        array_decode(a, begin, count, b->value);
        for (size_t i = 0; i < count; i++) {
            reference_count_one(&c, b->value[i], a->format);
            exact &= mpfr_set_d(b->term[i], exact_term(r->of, b->value[i]), MPFR_RNDN) == 0;
        }
        exact &= add_terms(r->sum, b, count, begin == 0);
        for (size_t i = 0; i < count; i++)
            mpfr_abs(b->term[i], b->term[i], MPFR_RNDN);
        exact &= add_terms(r->sum_abs, b, count, begin == 0);
    }
    reference_take_census(r, &c);
    return exact;
}

static enum status compute_mpfr(struct reference *r, const struct array *a, struct problem *p)
{
    struct block *b = malloc(sizeof *b);
    if (!b)
        return problem(p, STATUS_MEMORY, "reference: out of memory (%zu bytes)", sizeof *b);
    size_t terms = a->n < ARRAY_BLOCK ? a->n : ARRAY_BLOCK; /* bins and rows may have few */
    for (size_t i = 0; i < terms; i++) {
        mpfr_init2(b->term[i], 53);
        b->pointer[i] = b->term[i];
    }
    mpfr_init2(b->sum, EXACT_PRECISION);
    mpfr_set_prec(r->sum, EXACT_PRECISION);
    mpfr_set_prec(r->sum_abs, EXACT_PRECISION);
    mpfr_set_zero(r->sum, 1);
    mpfr_set_zero(r->sum_abs, 1);
    bool exact = sum_blocks(r, a, b);
    for (size_t i = 0; i < terms; i++)
        mpfr_clear(b->term[i]);
    mpfr_clear(b->sum);
    free(b);
    return exact ? STATUS_OK : problem(p, STATUS_FAILED, "reference: MPFR rounded an exact sum");
}

enum status reference_compute(struct reference *r, const struct array *a, enum reference_kind kind,
                              struct problem *p)
{
    return reference_compute_of(r, EXACT_SUM, a, NULL, kind, p);
}

enum status reference_sums(struct reference *r, const struct array *a, const struct array *b,
                           enum reference_kind kind, struct problem *p)
{
    if (b)
        return kind == REFERENCE_FAST ? reference_dot_fast(r, a, b, p)
                                      : reference_dot_mpfr(r, a, b, p);
    if (kind == REFERENCE_MPFR)
        return compute_mpfr(r, a, p);
    compute_fast(r, a);
    return STATUS_OK;
}

const struct exact_rules reference_sum = {.compute = reference_sums};

static enum status compute(struct reference *r, const struct reference *as, const struct array *a,
                           const struct array *b, enum reference_kind kind, struct problem *p)
{
    *r = *as;
    mpfr_inits2(MPFR_PREC_MIN, r->sum, r->sum_abs, r->moment.sum, r->moment.sum_abs,
                r->moment.squares, (mpfr_ptr)0);
    enum status status = exact_facts[r->of].rules->compute(r, a, b, kind, p);
    if (status != STATUS_OK)
        reference_free(r);
    return status;
}

enum status reference_compute_of(struct reference *r, enum exact_value of, const struct array *a,
                                 const struct array *b, enum reference_kind kind, struct problem *p)
{
    return compute(r, &(struct reference){.of = of, .n = a->n}, a, b, kind, p);
}

enum status reference_compute_at(struct reference *r, enum exact_value of, const struct array *a,
                                 size_t index, enum reference_kind kind, struct problem *p)
{
    return compute(r, &(struct reference){.of = of, .n = a->n, .index = index}, a, NULL, kind, p);
}

enum status reference_compute_each(struct reference *r, enum exact_value of, const struct array *a,
                                   struct problem *p)
{
    for (size_t i = 0; i < a->n; i++) {
        r[i] = (struct reference){.of = of, .n = a->n, .index = i};
        mpfr_inits2(MPFR_PREC_MIN, r[i].sum, r[i].sum_abs, r[i].moment.sum, r[i].moment.sum_abs,
                    r[i].moment.squares, (mpfr_ptr)0);
    }
    enum status status = exact_facts[of].rules->each(r, a, p);
    for (size_t i = 0; status != STATUS_OK && i < a->n; i++)
        reference_free(&r[i]);
    return status;
}

void reference_free(struct reference *r)
{
    mpfr_clears(r->sum, r->sum_abs, r->moment.sum, r->moment.sum_abs, r->moment.squares,
                (mpfr_ptr)0);
}

static bool same_number(const mpfr_t a, const mpfr_t b)
{
    if (mpfr_nan_p(a) || mpfr_nan_p(b))
        return mpfr_nan_p(a) && mpfr_nan_p(b);
    return mpfr_equal_p(a, b) && !mpfr_signbit(a) == !mpfr_signbit(b);
}

bool reference_equal(const struct reference *a, const struct reference *b)
{
    return same_number(a->sum, b->sum) && same_number(a->sum_abs, b->sum_abs) && a->n == b->n &&
           a->zeros == b->zeros && a->subnormals == b->subnormals && a->infs == b->infs &&
           a->nans == b->nans && a->of == b->of && a->cut == b->cut && a->smallest == b->smallest &&
           a->largest == b->largest;
}

/* As log2(1 + (A - |S|) / |S|), so that a condition next to 1 keeps its digits. 256 bits
 * leave a chance of 2^-200 that the double is not the nearest. */
double reference_cond_log2(const struct reference *r)
{
    if (!mpfr_number_p(r->sum))
        return NAN;
    if (mpfr_zero_p(r->sum))
        return INFINITY;
    mpfr_t excess, size, log;
    mpfr_init2(excess, EXACT_PRECISION);
    mpfr_init2(size, EXACT_PRECISION);
    mpfr_init2(log, 256);
    reference_excess(excess, size, r);
    mpfr_div(log, excess, size, MPFR_RNDN);
    mpfr_log2p1(log, log, MPFR_RNDN);
    double cond = mpfr_get_d(log, MPFR_RNDN);
    mpfr_clears(excess, size, log, (mpfr_ptr)0);
    return cond;
}
