/* gemm/split_k_rounded, gemm/split_k_stored: split-K as libraries do it that keep the slices' sums
 * in the format of the matrices.
 *
 * Order: the slices of gemm/split_k, each summed in the accumulator. gemm/split_k_rounded rounds
 * each slice's sum to the storage format, as a workspace of that format does, and adds these in the
 * accumulator one after the other, C last. gemm/split_k_stored adds each slice's sum to D, which
 * begins as C and is rounded to the storage format every time, as memory of that format does: one
 * more rounding for each slice. Bits depend on the number of blocks; threads are a schedule.
 *
 * On the CPU alone: they are here for what such a choice costs in accuracy. */
#include "kernels/gemm/elements.h"
#include "kernels/scatter/bins.h"

static double slice_sum(const struct task *t, const struct gemm_terms *terms,
                        const struct gemm_slices *slices, size_t i)
{
    const size_t begin = i * slices->length, left = terms->k - begin;
    return gemm_products(t, terms, begin, begin + (left < slices->length ? left : slices->length));
}

static double element_rounded(const struct task *t, const struct matrices_packed *p, size_t output)
{
    const enum format f = t->accumulator, storage = t->of->in.format;
    const struct gemm_terms terms = gemm_terms_of(p, output);
    const struct gemm_slices slices = gemm_slices(terms.k, t->shape.blocks);
    double sum = 0, c = format_round(f, terms.c);
    for (size_t i = 0; i < slices.count; i++) {
        const double slice = format_round(storage, slice_sum(t, &terms, &slices, i));
        sum = i == 0 ? slice : format_add(f, sum, slice);
    }
    return slices.count == 0 ? c : format_add(f, sum, c);
}

static double element_stored(const struct task *t, const struct matrices_packed *p, size_t output)
{
    const enum format f = t->accumulator, storage = t->of->in.format;
    const struct gemm_terms terms = gemm_terms_of(p, output);
    const struct gemm_slices slices = gemm_slices(terms.k, t->shape.blocks);
    double d = format_round(storage, format_round(f, terms.c));
    for (size_t i = 0; i < slices.count; i++)
        d = format_round(storage, format_add(f, d, slice_sum(t, &terms, &slices, i)));
    return d;
}

static enum status cpu_rounded(const struct task *t, struct problem *p)
{
    return gemm_each(t, element_rounded, p);
}

static enum status cpu_stored(const struct task *t, struct problem *p)
{
    return gemm_each(t, element_stored, p);
}

/* --- bounds --- */

/* What roundings of a value of this size can err, at most. */
static double rounding(enum format f, double size)
{
    return format_facts[f].unit_roundoff * size + format_facts[f].smallest;
}

/* gamma_n = n u / (1 - n u); infinite where that says nothing. */
static double gamma_of(enum format f, size_t n)
{
    const double nu = (double)n * format_facts[f].unit_roundoff;
    return nu < 1 ? nu / (1 - nu) : INFINITY;
}

/* A slice's sum and how far it is from the exact one, both at most. */
struct slice {
    double size, error;
};

static struct slice slice_bound(enum format f, const struct gemm_terms *terms,
                                const struct gemm_slices *slices, size_t i)
{
    const size_t begin = i * slices->length;
    size_t length = 0;
    double weight = 0;
    for (size_t k = begin; k < terms->k && length < slices->length; k++, length++)
        weight += fabs(terms->x[k] * terms->y[k]);
    const double error =
        gamma_of(f, length) * weight + (double)length * 2 * format_facts[f].smallest;
    return (struct slice){weight + error, error};
}

enum { ROUNDED, STORED };

/* Of each slice the error of its sum and that of the rounding behind it; then, of sums in the
 * accumulator, gamma_m of what is added, or, of sums in D, two roundings of each. */
static double bound(int way, const struct operands *of, enum format f, struct shape shape,
                    const struct matrices_packed *p, size_t output)
{
    const enum format storage = of->in.format;
    const struct gemm_terms terms = gemm_terms_of(p, output);
    const struct gemm_slices slices = gemm_slices(terms.k, shape.blocks);
    double size = fabs(terms.c), error = way == STORED ? rounding(storage, size) : 0;
    size += error;
    for (size_t i = 0; i < slices.count; i++) {
        const struct slice s = slice_bound(f, &terms, &slices, i);
        const double before = way == STORED ? rounding(f, size + s.size) : 0;
        const double behind = rounding(storage, way == STORED ? size + s.size + before : s.size);
        error += s.error + before + behind;
        size += s.size + before + behind;
    }
    if (way == ROUNDED)
        error += gamma_of(f, slices.count) * size;
    return error * (1 + 0x1p-30);
}

static double bound_rounded(const struct operands *of, enum format f, struct shape shape,
                            const struct matrices_packed *p, size_t output)
{
    return bound(ROUNDED, of, f, shape, p, output);
}

static double bound_stored(const struct operands *of, enum format f, struct shape shape,
                           const struct matrices_packed *p, size_t output)
{
    return bound(STORED, of, f, shape, p, output);
}

const struct method gemm_split_k_rounded = {
    .name = "gemm/split_k_rounded",
    .summary = "split_k with the slices' sums rounded to the storage format, then added",
    .operation = &operation_gemm,
    .promise = PROMISE_RUN_TO_RUN,
    .beside = 1u << PROMISE_BATCH_INVARIANT,
    .pairs = {[DEVICE_CPU] = FORMAT_PAIRS([BF16] = IN(FP32))},
    .product = PRODUCT_FUSED,
    .shape_read = {SHAPE_THREADS | SHAPE_BLOCKS, SHAPE_BLOCKS},
    .shape_order = SHAPE_BLOCKS,
    .resolve = scatter_each_shape,
    .bound = THEOREM_BLOCKS,
    .given = bound_rounded,
    .cpu = cpu_rounded,
};

const struct method gemm_split_k_stored = {
    .name = "gemm/split_k_stored",
    .summary = "split_k with each slice's sum added to D in the storage format",
    .operation = &operation_gemm,
    .promise = PROMISE_RUN_TO_RUN,
    .beside = 1u << PROMISE_BATCH_INVARIANT,
    .pairs = {[DEVICE_CPU] = FORMAT_PAIRS([BF16] = IN(FP32))},
    .product = PRODUCT_FUSED,
    .shape_read = {SHAPE_THREADS | SHAPE_BLOCKS, SHAPE_BLOCKS},
    .shape_order = SHAPE_BLOCKS,
    .resolve = scatter_each_shape,
    .bound = THEOREM_BLOCKS,
    .given = bound_stored,
    .cpu = cpu_stored,
};
