#include "kernels/method/method.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

const char *const promise_name[PROMISES_ALL] = {
    [PROMISE_NONE] = "none",
    [PROMISE_RUN_TO_RUN] = "run_to_run",
    [PROMISE_GPU_TO_GPU] = "gpu_to_gpu",
    [PROMISE_ORDER_INVARIANT] = "order_invariant",
    [PROMISE_CORRECTLY_ROUNDED] = "correctly_rounded",
    [PROMISE_BATCH_INVARIANT] = "batch_invariant",
    [PROMISE_RANK_INVARIANT] = "rank_invariant",
};

enum promise promise_named(const char *name)
{
    for (enum promise promise = 0; promise < PROMISES_ALL; promise++)
        if (promise_name[promise] && strcmp(name, promise_name[promise]) == 0)
            return promise;
    return PROMISES;
}

bool operation_may_promise(const struct operation *o, enum promise promise)
{
    return promise < PROMISES || (o->beside & 1u << promise);
}

bool method_promises(const struct method *m, enum promise promise)
{
    return promise < PROMISES ? promise <= m->promise : (m->beside & 1u << promise);
}

static size_t one_output(size_t n, size_t bins)
{
    (void)n, (void)bins;
    return 1;
}

static size_t as_many_outputs(size_t n, size_t bins)
{
    (void)bins;
    return n;
}

static size_t an_output_a_bin(size_t n, size_t bins)
{
    (void)n;
    return bins;
}

#define OPERATION(its_name, number, ...)                                                           \
    const struct operation operation_##its_name = {.name = #its_name, __VA_ARGS__};
#include "kernels/method/operations.def"

const struct operation *const operations[] = {
#define OPERATION(name, ...) &operation_##name,
#include "kernels/method/operations.def"
    NULL,
};

bool operation_has(const struct operation *o, enum operand which)
{
    const bool reads[OPERANDS] = {true,    o->inputs == 2, o->keys, o == &operation_scan,
                                  o->mask, o->matrices};
    return reads[which];
}

bool operation_fits(const struct operation *o, const struct operands *of, char why[OPERANDS_TEXT])
{
    bool strided = o == &operation_rows || o->of_rows;
    const struct gemm_shape *s = &of->gemm;
    for (enum operand k = OPERAND_IN2; k < OPERAND_C; k++)
        if (operation_has(o, k) && k != OPERAND_HEADS && of->in.n > 0 && !operand_data(of, k)) {
            snprintf(why, OPERANDS_TEXT, "reads %s, found none", operand_name[k]);
            return false;
        }
    if (o->matrices && (of->bins != s->m * s->n || gemm_c_begins(s) > of->in.n ||
                        of->c.n != of->bins || (of->bins > 0 && !of->c.data))) {
        snprintf(why, OPERANDS_TEXT, "found %zu elements for matrices of %zu x %zu x %zu", of->in.n,
                 s->m, s->n, s->k);
        return false;
    }
    if (o->matrices && s->mixed) {
        snprintf(why, OPERANDS_TEXT, "found A and B of two formats, expected one");
        return false;
    }
    if (o->matrices && s->scaling == GEMM_SCALED_BY_AMAX) {
        snprintf(why, OPERANDS_TEXT, "found scales that are not made yet, expected numbers");
        return false;
    }
    if (o->matrices && s->scaling != GEMM_UNSCALED && format_facts[of->in.format].bytes > 1) {
        snprintf(why, OPERANDS_TEXT, "found scales of A and B in %s, expected 8 bits",
                 format_facts[of->in.format].name);
        return false;
    }
    if (o->ranks && (of->bins == 0 || of->in.n % of->bins != 0)) {
        snprintf(why, OPERANDS_TEXT, "found %zu elements in ranks of %zu", of->in.n, of->bins);
        return false;
    }
    if (!o->matrix || (of->bins > 0 && of->in.n % of->bins == 0 &&
                       (!strided || (of->stride > 0 && of->bins % of->stride == 0))))
        return true;
    snprintf(why, OPERANDS_TEXT, "found %zu elements in %zu rows, stride %zu", of->in.n, of->bins,
             of->stride);
    return false;
}

const char *operation_takes(const struct operation *o)
{
    return o->keys       ? "a key of each element"
           : o->matrix   ? "the rows of a matrix"
           : o->mask     ? "a mask"
           : o->matrices ? "the shapes of matrices"
           : o->ranks    ? "the number of ranks"
                         : NULL;
}

const struct method *method_named(const char *name)
{
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (strcmp(m->name, name) == 0 || (m->former && strcmp(m->former, name) == 0))
            return m;
    }
    return NULL;
}

const char *method_first_name(const char *name)
{
    const struct method *m = method_named(name);
    return m && m->former ? m->former : name;
}

const struct cuda_method *method_cuda(const struct method *m)
{
    for (size_t i = 0; i < method_count; i++)
        if (method_registry[i] == m)
            return cuda_registry[i];
    return m->cuda;
}

static bool in_this_build(const struct method *m, enum device_kind device)
{
    return device == DEVICE_CPU || m->foreign ? m->cpu != NULL : method_cuda(m) != NULL;
}

const struct format_pairs *method_pairs(const struct method *m, enum device_kind device)
{
    static const struct format_pairs usual[DEVICE_KINDS] = {FORMAT_PAIRS_ALL,
                                                            FORMAT_PAIRS_FROM_16(IN_ALL)};
    bool stated = m->foreign;
    for (enum device_kind d = 0; d < DEVICE_KINDS; d++)
        stated |= format_pairs_any(&m->pairs[d]);
    return stated ? &m->pairs[device] : &usual[device];
}

bool method_scales(const struct method *m, enum gemm_scaling scaling, uint64_t promote)
{
    if (scaling == GEMM_UNSCALED)
        return true;
    if (m->foreign || (!m->cpu && !m->whole_scales))
        return false;
    if (scaling == GEMM_SCALED_BLOCKS)
        return m->parts &&
               (!m->promotes || GEMM_SCALE_BLOCK % (promote ? promote : GEMM_PROMOTE) == 0);
    return scaling != GEMM_SCALED_OUTER || !m->whole_scales;
}

bool method_scales_fit(const struct method *m, const struct operands *of, char why[OPERANDS_TEXT])
{
    if (method_scales(m, of->gemm.scaling, of->promote))
        return true;
    snprintf(why, OPERANDS_TEXT, "found scales of A and B, expected %s",
             m->whole_scales ? "one scale of each"
             : m->parts      ? "--promote, a divisor of 128"
             : m->cpu        ? "scales that do not change along k"
                             : "none");
    return false;
}

enum theorem_kind method_bound(const struct method *m, const struct operands *of)
{
    return of->gemm.scaling != GEMM_UNSCALED && m->given ? THEOREM_BLOCKS : m->bound;
}

bool method_supports(const struct method *m, enum device_kind device, enum format storage,
                     enum format accumulator)
{
    return format_pairs_have(method_pairs(m, device), storage, accumulator) &&
           in_this_build(m, device);
}

struct shape method_shape(const struct method *m, enum device_kind device, size_t n,
                          struct shape asked)
{
    struct shape shape = m->resolve ? m->resolve(n, device, asked) : asked;
    unsigned read = m->shape_read[device];
    return (struct shape){read & SHAPE_THREADS ? shape.threads : 0,
                          read & SHAPE_BLOCKS ? shape.blocks : 0};
}

void method_order(struct order *o, const struct method *m, enum device_kind device, size_t n,
                  struct shape asked, bool exclusive, const uint8_t *heads)
{
    order_init(o, n, m->operation->outputs(n, 1));
    o->exclusive = exclusive;
    o->heads = heads;
    if (!o->failed)
        m->order(o, method_shape(m, device, n, asked));
}

enum format method_adds_in(const struct method *m, enum format accumulator)
{
    enum format f = m->adds_in ? m->adds_in(accumulator) : accumulator;
    return f < FORMATS ? f : accumulator; /* a pair that the method does not have */
}

void method_added_in(char text[ADDED_IN_TEXT], const struct method *m, enum format accumulator)
{
    static const char *const folded[] = {"words",   "words",    "pairs",
                                         "triples", "4-tuples", "5-tuples"};
    enum format f = method_adds_in(m, accumulator);
    const char *in = format_facts[f].name;
    switch (m->addition) {
    case ADDITION_PLAIN:
        snprintf(text, ADDED_IN_TEXT, "%s", in);
        return;
    case ADDITION_PAIRS:
        snprintf(text, ADDED_IN_TEXT, "%s pairs", in);
        return;
    case ADDITION_FOLDS:
        snprintf(text, ADDED_IN_TEXT, "%s %s", in, folded[m->folds < 6 ? m->folds : 0]);
        return;
    case ADDITION_BINS:
        snprintf(text, ADDED_IN_TEXT, "%s bins", in);
        return;
    case ADDITION_BLOCKS:
        snprintf(text, ADDED_IN_TEXT, "%s then pairs", in);
        return;
    case ADDITION_TWO_LEVEL:
        snprintf(text, ADDED_IN_TEXT, "%s then %s", in, format_facts[accumulator].name);
        return;
    case ADDITION_FUSED:
        snprintf(text, ADDED_IN_TEXT, "fused blocks%s%s", m->promotes ? " then " : "",
                 m->promotes ? in : "");
        return;
    case ADDITION_EXACT:
        snprintf(text, ADDED_IN_TEXT, "exact");
        return;
    case ADDITION_NONE:
        snprintf(text, ADDED_IN_TEXT, "none");
        return;
    case ADDITION_UNDOCUMENTED:
        snprintf(text, ADDED_IN_TEXT, "undocumented");
        return;
    case ADDITION_UNKNOWN:
        snprintf(text, ADDED_IN_TEXT, "unknown");
        return;
    }
}

unsigned method_sum_bytes(const struct method *m, enum format accumulator)
{
    unsigned bytes = (unsigned)format_facts[method_adds_in(m, accumulator)].bytes;
    switch (m->addition) {
    case ADDITION_PAIRS:
    case ADDITION_BLOCKS:
        return 2 * bytes;
    case ADDITION_FOLDS:
    case ADDITION_BINS:
        return m->folds * bytes;
    case ADDITION_EXACT:
        return UINT_MAX;
    case ADDITION_TWO_LEVEL:
    case ADDITION_PLAIN:
    case ADDITION_FUSED:
    case ADDITION_NONE:
    case ADDITION_UNDOCUMENTED:
    case ADDITION_UNKNOWN:
        break;
    }
    return bytes;
}

struct theorem method_theorem(const struct method *m, enum device_kind device,
                              enum format accumulator, size_t n, struct shape shape)
{
    /* PTX: atom.add.f32 and red.add.f32 on global memory flush subnormals. */
    bool flushes = m->atomic && device == DEVICE_CUDA && accumulator == FP32;
    return (struct theorem){.kind = m->bound,
                            .height = m->height && n > 0 ? m->height(n, shape) : 0,
                            .plain_height = m->chunk_height && n > 0 ? m->chunk_height(n, shape)
                                                                     : m->plain_height,
                            .folds = m->folds,
                            .flushing = flushes ? n : 0,
                            .product = m->product};
}
