/* Matrix products of a shared object whose orders and arithmetic are known: what reveal is to find.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "ulpscope_subject.h"

struct element {
    const struct ulpscope_matrices *x;
    size_t i, j;
};

static float a_of(const struct element *e, size_t k)
{
    const struct ulpscope_matrices *x = e->x;
    return ((const float *)x->a)[x->a_column ? k * x->lda + e->i : e->i * x->lda + k];
}

static float b_of(const struct element *e, size_t k)
{
    const struct ulpscope_matrices *x = e->x;
    return ((const float *)x->b)[x->b_column ? e->j * x->ldb + k : k * x->ldb + e->j];
}

static float c_of(const struct element *e)
{
    const float *c = e->x->c;
    return c ? c[e->i * e->x->n + e->j] : 0;
}

/* Products begin, begin + step, ... below end, fused onto `sum`. */
static float fused(float sum, const struct element *e, size_t begin, size_t end, size_t step)
{
    for (size_t k = begin; k < end; k += step)
        sum = fmaf(a_of(e, k), b_of(e, k), sum);
    return sum;
}

static float fma_loop(const struct element *e)
{
    return fused(c_of(e), e, 0, e->x->k, 1);
}

/* Thirds of k, the last one longer, added in order, C last. */
static float split_3(const struct element *e)
{
    size_t third = e->x->k / 3;
    float sum = fused(0, e, 0, third, 1);
    sum += fused(0, e, third, 2 * third, 1);
    sum += fused(0, e, 2 * third, e->x->k, 1);
    return sum + c_of(e);
}

/* Four lanes, as of vector instructions, added in pairs. */
static float lanes(const struct element *e)
{
    float lane[4];
    for (size_t l = 0; l < 4; l++)
        lane[l] = fused(0, e, l, e->x->k, 4);
    return (lane[0] + lane[1]) + (lane[2] + lane[3]) + c_of(e);
}

/* From the last product to the first. */
static float backwards(const struct element *e)
{
    float sum = c_of(e);
    for (size_t k = e->x->k; k-- > 0;) {
        float product = a_of(e, k) * b_of(e, k);
        sum += product;
    }
    return sum;
}

/* In fp64, rounded in the end. */
static float wide(const struct element *e)
{
    double sum = (double)c_of(e);
    for (size_t k = 0; k < e->x->k; k++)
        sum += (double)a_of(e, k) * (double)b_of(e, k);
    return (float)sum;
}

/* Without the low bits, once half of the last one that is kept was added; or nothing. */
static float without(float x, unsigned low, unsigned half)
{
    union {
        float value;
        unsigned bits;
    } as = {x};
    as.bits = (as.bits + half) & ~((1u << low) - 1);
    return as.value;
}

static float read_without(const struct element *e, unsigned low, unsigned half)
{
    float sum = c_of(e);
    for (size_t k = 0; k < e->x->k; k++)
        sum = fmaf(without(a_of(e, k), low, half), without(b_of(e, k), low, half), sum);
    return sum;
}

/* Rounded to tf32 first, to nearest, as libraries do it; the same to bf16; cut to bf16; cut to 15
 * bits. */
static float as_tf32(const struct element *e)
{
    return read_without(e, 13, 0x1000);
}

static float as_bf16(const struct element *e)
{
    return read_without(e, 16, 0x8000);
}

static float cut_to_bf16(const struct element *e)
{
    return read_without(e, 16, 0);
}

static float cut_to_15(const struct element *e)
{
    return read_without(e, 9, 0);
}

/* The last row in another order than the others. */
static float last_row(const struct element *e)
{
    return e->i + 1 == e->x->m ? backwards(e) : fma_loop(e);
}

/* Of A and C alone. */
static float no_product(const struct element *e)
{
    float sum = c_of(e);
    for (size_t k = 0; k < e->x->k; k++)
        sum += 2 * a_of(e, k);
    return sum;
}

/* Another order in one of nine calls. */
static float restless(const struct element *e)
{
    static unsigned calls;
    if (e->i + e->j == 0)
        calls++;
    return calls > 200 && calls % 9 == 0 ? backwards(e) : fma_loop(e);
}

/* A last bit is wrong in one of 97 results that are no small whole numbers. */
static float rare(const struct element *e)
{
    union {
        float value;
        unsigned bits;
    } as = {fma_loop(e)};
    as.bits ^= as.bits % 97 == 5 && as.bits & 0xff;
    return as.value;
}

/* --- orders that depend on the data --- */

static float product_of(const struct element *e, size_t k)
{
    return a_of(e, k) * b_of(e, k);
}

/* Negative terms apart from the others. */
static float by_sign(const struct element *e)
{
    float sum[2] = {0};
    sum[c_of(e) < 0] = c_of(e);
    for (size_t k = 0; k < e->x->k; k++)
        sum[product_of(e, k) < 0] += product_of(e, k);
    return sum[0] + sum[1];
}

/* The next larger term each time, from the smallest on, or the next smaller one. Equal ones follow
 * one another as they lie. */
static float by_size(const struct element *e, bool smallest)
{
    float sum = 0, last = 0;
    size_t at = 0, terms = e->x->k + 1;
    for (size_t i = 0; i < terms; i++) {
        size_t next = terms;
        float term = 0;
        for (size_t k = 0; k < terms; k++) {
            const float one = k < e->x->k ? product_of(e, k) : c_of(e), size = fabsf(one);
            const bool after =
                i == 0 || (smallest ? size > last : size < last) || (size == last && k > at);
            const bool nearer =
                next == terms || (smallest ? size < fabsf(term) : size > fabsf(term));
            if (after && nearer) {
                next = k;
                term = one;
            }
        }
        at = next;
        last = fabsf(term);
        sum += term;
    }
    return sum;
}

static float smallest_first(const struct element *e)
{
    return by_size(e, true);
}

static float largest_first(const struct element *e)
{
    return by_size(e, false);
}

/* In two halves where the first element of A is near 0.8. */
static float by_value(const struct element *e)
{
    const float first = fabsf(a_of(e, 0));
    const size_t k = e->x->k, half = first > 0.7f && first < 0.9f ? k / 2 : k;
    float sum = c_of(e), other = 0;
    for (size_t i = 0; i < half; i++)
        sum += product_of(e, i);
    for (size_t i = half; i < k; i++)
        other += product_of(e, i);
    return half < k ? sum + other : sum;
}

/* --- one order, in arithmetic that is none of ours --- */

/* Kahan's: what an addition loses is added to the next term. */
static float compensated(const struct element *e)
{
    float sum = c_of(e), lost = 0;
    for (size_t k = 0; k < e->x->k; k++) {
        volatile float term = product_of(e, k) - lost, next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    return sum;
}

/* Rounded to the 11 bits of fp16 in the end, of numbers in its range. */
static float to_11_bits(const struct element *e)
{
    float sum = c_of(e);
    int exponent;
    for (size_t k = 0; k < e->x->k; k++)
        sum += product_of(e, k);
    const float part = frexpf(sum, &exponent);
    return exponent > 16 ? copysignf(INFINITY, sum)
                         : ldexpf(rintf(ldexpf(part, 11)), exponent - 11);
}

static int run(const struct ulpscope_task *t, float (*element)(const struct element *e))
{
    const struct ulpscope_matrices *x = t->matrices;
    float *out = t->out;
    for (size_t i = 0; i < x->m; i++)
        for (size_t j = 0; j < x->n; j++)
            out[i * x->n + j] = element(&(struct element){x, i, j});
    return 0;
}

#define SUBJECTS(of)                                                                               \
    of(fma_loop) of(split_3) of(lanes) of(backwards) of(wide) of(as_tf32) of(last_row) of(as_bf16) \
        of(cut_to_bf16) of(cut_to_15) of(no_product) of(restless) of(rare) of(by_sign)             \
            of(smallest_first) of(largest_first) of(by_value) of(compensated) of(to_11_bits)

#define RUN(element)                                                                               \
    static int run_##element(const struct ulpscope_task *t)                                        \
    {                                                                                              \
        return run(t, element);                                                                    \
    }
SUBJECTS(RUN)

#define SUBJECT(element)                                                                           \
    {.name = #element,                                                                             \
     .summary = "a planted matrix product",                                                        \
     .operation = ULPSCOPE_GEMM,                                                                   \
     .memory = ULPSCOPE_HOST,                                                                      \
     .promise = ULPSCOPE_RUN_TO_RUN,                                                               \
     .pairs = ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP32),                                         \
     .run = run_##element},
static const struct ulpscope_subject subject[] = {SUBJECTS(SUBJECT)};

const struct ulpscope_subjects ulpscope_subjects = {ULPSCOPE_SUBJECT_VERSION,
                                                    sizeof subject / sizeof *subject, subject};
