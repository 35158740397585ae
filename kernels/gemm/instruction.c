/* gemm/mma, gemm/wgmma, gemm/promoted: each element as a GPU's matrix instruction computes it, by
 * the models of kernels/mma/, on a CPU, where no GPU runs.
 *
 * Order: as the chip's row of kernels/mma/chips.def says: K products at a time and, in most rows,
 * what was summed before them, as one fused sum that is cut to F bits; C is the first of these.
 * gemm/mma is mma.sync, gemm/wgmma Hopper's instruction of a warp group. gemm/promoted begins a new
 * chain at +0 every `promote` products, and adds the chains' sums to C one after the other, in the
 * accumulator; its instruction is the one of the chip's largest unit: wgmma on Hopper, tcgen05 on
 * B200, mma before.
 *
 * Of scaled products C is +0 here, and added behind the scaling (gemm_finished). Scales of blocks,
 * which change every 128 products, are gemm/promoted's alone, with a divisor of 128 as `promote`: a
 * chain begins at +0 every so many products, and its sum is multiplied by its block's scales before
 * it is added to those before, in fp32 (gemm_with_part). gemm/mma and gemm/wgmma have one chain, of
 * all products.
 *
 * A and B are in their storage format, or B of the other one of 8 bits, fp32 as tf32, whose low 13
 * bits are ignored; C and D in the accumulator, or rounded from it to the storage format at the
 * end. The order depends on k alone: neither other elements, nor how many there are, nor how A and
 * B lie shows in an element. But another chip gives other bits, so no more than run_to_run is
 * claimed. Threads are a schedule.
 *
 * On a GPU it is the instruction itself that multiplies (instruction.cu), of a chip of Hopper's. */
#include <stdlib.h>

#include "kernels/gemm/elements.h"
#include "kernels/method/team.h"
#include "kernels/mma/mma.h"
#include "kernels/scatter/bins.h"

static const struct mma_rule *rule_in(const char *chip, enum mma_unit unit, enum format storage,
                                      enum format accumulator)
{
    const struct mma_instruction *i = mma_find(chip, unit, mma_element_of(storage), accumulator);
    return i ? &i->rule : NULL;
}

static const struct mma_rule *largest(const char *chip, enum format storage,
                                      enum format accumulator)
{
    const struct mma_rule *rule = NULL;
    for (enum mma_unit unit = MMA_UNITS; !rule && unit-- > 0;)
        rule = rule_in(chip, unit, storage, accumulator);
    return rule;
}

static bool mma_has(const char *chip, enum format storage, enum format accumulator)
{
    return rule_in(chip, MMA_SYNC, storage, accumulator);
}

static bool wgmma_has(const char *chip, enum format storage, enum format accumulator)
{
    return rule_in(chip, MMA_WGMMA, storage, accumulator);
}

static bool promoted_has(const char *chip, enum format storage, enum format accumulator)
{
    return largest(chip, storage, accumulator);
}

/* What multiplies: a rule of none of ours is an instruction that the chip lacks. */
struct model {
    const struct mma_rule *rule;
    enum mma_element of_b;
    size_t promote; /* 0: sums are not promoted */
};

static struct model model_of(const struct operands *of, enum format accumulator, bool promotes,
                             enum mma_unit unit)
{
    const char *chip = of->chip ? of->chip : MMA_CHIP;
    const enum format storage = of->in.format;
    const enum mma_element of_b = mma_element_of(gemm_format_of_b(&of->gemm, storage));
    if (promotes)
        return (struct model){largest(chip, storage, accumulator), of_b,
                              of->promote ? of->promote : GEMM_PROMOTE};
    return (struct model){rule_in(chip, unit, storage, accumulator), of_b, 0};
}

/* --- elements --- */

struct work {
    const struct task *task;
    struct model model;
    struct matrices_packed packed;
    struct array a, b; /* encoded in the storage format, rows of A and columns of B without gaps */
};

/* The sum of an element's products, all of them or, with scales of blocks, scaled chain by chain.
 */
static double scaled_sum(const struct work *w, size_t output, const char *a, const char *b)
{
    const struct model *m = &w->model;
    const enum format f = w->task->accumulator;
    const size_t k = w->packed.k;
    double sum = 0;
    if (w->task->of->gemm.scaling != GEMM_SCALED_BLOCKS)
        return format_decode(f, mma_promoted(m->rule, m->of_b, m->promote, k, a, b, 0));
    for (size_t begin = 0, chain; begin < k; begin += chain) {
        chain = k - begin < m->promote ? k - begin : m->promote;
        const uint64_t d =
            mma_promoted(m->rule, m->of_b, 0, chain, a + array_bytes(w->a.format, begin),
                         b + array_bytes(w->b.format, begin), 0);
        sum = gemm_with_part(w->task, &w->packed, output, begin, sum, format_decode(f, d));
    }
    return sum;
}

static void compute_share(void *context, unsigned thread)
{
    const struct work *w = context;
    const struct task *t = w->task;
    const enum format f = t->accumulator;
    const size_t k = w->packed.k, row = array_bytes(w->a.format, k);
    const bool apart = t->of->gemm.scaling != GEMM_UNSCALED && k > 0;
    struct scatter_share share =
        scatter_share(0, matrices_outputs(&w->packed), thread, t->shape.threads);
    for (size_t i = share.begin; i < share.end; i++) {
        const char *a = (const char *)w->a.data + i / w->packed.n * row;
        const char *b = (const char *)w->b.data + i % w->packed.n * row;
        if (apart) {
            const double sum = scaled_sum(w, i, a, b);
            array_encode(&t->out, i, 1, &(double){gemm_finished(t, &w->packed, i, sum)});
            continue;
        }
        /* Exact: C is of the accumulator, or of a storage format whose values it holds. */
        uint64_t d = mma_promoted(w->model.rule, w->model.of_b, w->model.promote, k, a, b,
                                  format_encode(f, array_get(&w->packed.c, i)));
        if (t->out.format == f)
            array_set_bits(&t->out, i, d);
        else
            array_encode(&t->out, i, 1, &(double){format_decode(f, d)});
    }
}

static enum status encode(struct array *to, enum format f, size_t n, const double *from,
                          struct problem *p)
{
    *to = (struct array){f, n, malloc(array_bytes(f, n) + 1)};
    if (!to->data)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %zu elements", n);
    array_encode(to, 0, n, from);
    return STATUS_OK;
}

static enum status run(const struct task *t, struct model model, struct problem *p)
{
    struct matrices of = gemm_matrices(t->of);
    struct work w = {.task = t, .model = model};
    const enum format f = t->of->in.format;
    if (!model.rule)
        return problem(p, STATUS_DEVICE, "%s: chip %s has no such instruction for %s in %s",
                       t->method->name, t->of->chip ? t->of->chip : MMA_CHIP, format_facts[f].name,
                       format_facts[t->accumulator].name);
    enum status status = matrices_pack(&w.packed, &of, p);
    if (status != STATUS_OK)
        return status;
    status = encode(&w.a, f, of.m * of.k, w.packed.a, p);
    if (status == STATUS_OK)
        status = encode(&w.b, of.b.format, of.n * of.k, w.packed.b, p);
    if (status == STATUS_OK)
        status = team_run(t->shape.threads, compute_share, &w, p);
    free(w.a.data);
    free(w.b.data);
    matrices_free(&w.packed);
    return status;
}

/* --- bounds --- */

/* What reading operands as tf32 changes at most. */
static double ignored(const struct mma_rule *r, size_t k, const double *a, const double *b)
{
    const uint64_t mask = ~((UINT64_C(1) << mma_elements[r->element].ignored) - 1);
    double sum = 0;
    for (size_t i = 0; i < k && r->element == MMA_TF32; i++) {
        double x = format_decode(FP32, format_encode(FP32, a[i]) & mask);
        double y = format_decode(FP32, format_encode(FP32, b[i]) & mask);
        sum += fabs(a[i] * b[i] - x * y);
    }
    return sum * (1 + (double)(k + 2) * 0x1p-52);
}

/* Of the sum of these terms, in chains of `promote` products. */
static double chains(const struct model *m, size_t promote, const struct gemm_terms *terms)
{
    const double weight = mma_weight_of(m->rule, m->of_b, terms->k, terms->x, terms->y, terms->c);
    const double bound = mma_bound(m->rule, promote, terms->k, weight);
    return (bound + ignored(m->rule, terms->k, terms->x, terms->y)) * (1 + 0x1p-50);
}

static double bound(struct model model, const struct operands *of, enum format accumulator,
                    const struct matrices_packed *p, size_t output)
{
    struct gemm_terms terms = gemm_terms_of(p, output);
    struct gemm_scaled scaled = {0};
    if (!model.rule)
        return INFINITY;
    if (of->gemm.scaling == GEMM_UNSCALED)
        return chains(&model, model.promote, &terms);
    terms.c = 0;
    if (of->gemm.scaling != GEMM_SCALED_BLOCKS)
        return gemm_scaled_bound(accumulator, p, output, chains(&model, model.promote, &terms));
    for (size_t k = 0, part; k < p->k; k += part) {
        part = model.promote < p->k - k ? model.promote : p->k - k;
        terms = gemm_terms_part(p, output, k, k + part);
        gemm_scaled_add(&scaled, accumulator, p, output, k, k + part, chains(&model, 0, &terms));
    }
    return gemm_scaled_end(&scaled, accumulator, array_get(&p->c, output));
}

#define MODEL(name, unit, promotes)                                                                \
    static enum status name##_cpu(const struct task *t, struct problem *p)                         \
    {                                                                                              \
        return run(t, model_of(t->of, t->accumulator, promotes, unit), p);                         \
    }                                                                                              \
    static double name##_given(const struct operands *of, enum format accumulator,                 \
                               struct shape shape, const struct matrices_packed *p, size_t output) \
    {                                                                                              \
        (void)shape;                                                                               \
        return bound(model_of(of, accumulator, promotes, unit), of, accumulator, p, output);       \
    }
MODEL(mma, MMA_SYNC, false)
MODEL(wgmma, MMA_WGMMA, false)
MODEL(promoted, MMA_UNITS, true)

/* Of one chip or another: of_chip tells of which. */
#define PAIRS_FROM(fp64, accumulators)                                                             \
    FORMAT_PAIRS([FP16] = (accumulators), [BF16] = IN(FP32), [FP32] = IN(FP32), [FP64] = (fp64),   \
                 [E4M3] = (accumulators), [E5M2] = (accumulators))

const struct method gemm_mma = {
    .name = "gemm/mma",
    .summary = "a model of mma.sync on a chip (--chip), bit for bit on the CPU",
    .operation = &operation_gemm,
    .promise = PROMISE_RUN_TO_RUN,
    .beside = 1u << PROMISE_BATCH_INVARIANT,
    .pairs = {PAIRS_FROM(IN(FP64), IN(FP16) | IN(FP32)), PAIRS_FROM(IN(FP64), IN(FP16) | IN(FP32))},
    .product = PRODUCT_EXACT,
    .of_chip = mma_has,
    .unit = MMA_SYNC,
    .shape_read = {SHAPE_THREADS},
    .resolve = scatter_each_shape,
    .addition = ADDITION_FUSED,
    .bound = THEOREM_BLOCKS,
    .given = mma_given,
    .cpu = mma_cpu,
};

const struct method gemm_wgmma = {
    .name = "gemm/wgmma",
    .summary = "a model of wgmma on Hopper (--chip), bit for bit on the CPU",
    .operation = &operation_gemm,
    .promise = PROMISE_RUN_TO_RUN,
    .beside = 1u << PROMISE_BATCH_INVARIANT,
    .pairs = {PAIRS_FROM(0, IN(FP16) | IN(FP32)), PAIRS_FROM(0, IN(FP16) | IN(FP32))},
    .product = PRODUCT_EXACT,
    .of_chip = wgmma_has,
    .unit = MMA_WGMMA,
    .shape_read = {SHAPE_THREADS},
    .resolve = scatter_each_shape,
    .addition = ADDITION_FUSED,
    .bound = THEOREM_BLOCKS,
    .given = wgmma_given,
    .cpu = wgmma_cpu,
};

const struct method gemm_promoted = {
    .name = "gemm/promoted",
    .summary = "the chip's largest unit (--chip), promoted to fp32 every --promote products",
    .operation = &operation_gemm,
    .promise = PROMISE_RUN_TO_RUN,
    .beside = 1u << PROMISE_BATCH_INVARIANT,
    .pairs = {PAIRS_FROM(0, IN(FP32)), PAIRS_FROM(0, IN(FP32))},
    .product = PRODUCT_EXACT,
    .of_chip = promoted_has,
    .promotes = true,
    .parts = true,
    .shape_read = {SHAPE_THREADS},
    .resolve = scatter_each_shape,
    .addition = ADDITION_FUSED,
    .bound = THEOREM_BLOCKS,
    .given = promoted_given,
    .cpu = promoted_cpu,
};
