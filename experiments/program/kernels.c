/* ulpscope kernels: which kernels a method launches on a GPU. A library chooses among its own by n,
 * formats and device, and says nothing of it; this does. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/operations/layout.h"
#include "experiments/operations/operation.h"
#include "experiments/operations/shape.h"
#include "experiments/system/device.h"
#include "experiments/program/verbs.h"
#include "kernels/gpu/gpu.h"

struct asked {
    struct list methods; /* none: all that are on a GPU */
    struct numbers n;
    struct list shapes;       /* of matrix products, in place of n */
    struct setting_axes axes; /* what heuristics are asked for; no other axis */
    struct device device;
    bool json;
    json_t *rows;
};

/* Some method must read what its heuristic is asked for. */
static enum status hold_read(const struct asked *of, enum setting_option option, const char *text,
                             struct problem *p)
{
    bool any = of->methods.count == 0;
    for (size_t i = 0; i < of->methods.count && !any; i++)
        any = setting_read(method_named(of->methods.item[i]), option);
    return any ? STATUS_OK
               : problem(p, STATUS_USAGE, "option --%s: found '%s' for %s, expected %s",
                         setting_options[option].name, text, of->methods.item[0],
                         setting_options[option].method);
}

static enum status read(struct asked *of, const struct arguments *a, struct problem *p)
{
    const char *device = argument_value(a, "device");
    *of = (struct asked){.json = argument_flag(a, "json"), .rows = json_array()};
    enum status status = argument_list(a, "method", &of->methods, p);
    for (size_t i = 0; i < a->operands && status == STATUS_OK; i++)
        status = list_append(&of->methods, a->operand[i], strlen(a->operand[i]), p);
    if (status == STATUS_OK)
        status = list_distinct(&of->methods, p);
    for (size_t i = 0; i < of->methods.count && status == STATUS_OK; i++)
        if (!method_named(of->methods.item[i]))
            status = problem(p, STATUS_USAGE,
                             "kernels: found '%s', expected a name that list methods has",
                             of->methods.item[i]);
    if (status == STATUS_OK)
        status = device_parse(&of->device, device ? device : "cuda", p);
    if (status == STATUS_OK && of->device.kind != DEVICE_CUDA)
        status = problem(p, STATUS_USAGE, "option --device: found %s, expected a GPU", device);
    if (status == STATUS_OK)
        status = argument_numbers(a, "n", RANGE_DOUBLING, 1, (uint64_t)1 << 40, &of->n, p);
    if (status == STATUS_OK)
        status = argument_list(a, "shape", &of->shapes, p);
    if (status == STATUS_OK)
        status = argument_numbers(a, "workspace", RANGE_BYTES, 0, WORKSPACE_MOST,
                                  &of->axes.workspace, p);
    if (status == STATUS_OK)
        status = argument_numbers(a, "algorithm", RANGE_EVERY, 0, HEURISTIC_NAMES - 1,
                                  &of->axes.algorithm, p);
    for (enum setting_option i = SETTING_WORKSPACE; i <= SETTING_ALGORITHM; i++)
        if (status == STATUS_OK && argument_value(a, setting_options[i].name))
            status = hold_read(of, i, argument_value(a, setting_options[i].name), p);
    if (status == STATUS_OK && of->shapes.count > 0 && of->n.count > 0)
        status = problem(p, STATUS_USAGE, "option --shape: found --n too, expected one of them");
    if (status == STATUS_OK && of->n.count == 0)
        status = numbers_parse(&of->n, "n", "2^10,2^20", RANGE_DOUBLING, 1, 1 << 20, p);
    return status;
}

static void take(void *context, const char *name)
{
    json_array_append_new(context, json_string(name));
}

enum { BINS = 1000 }; /* of what takes keys */

/* What is asked of a method. shape: of a matrix product of n elements; NULL: one that n has room
 * for. */
struct question {
    struct asked *of;
    const struct method *method;
    enum format storage, accumulator;
    size_t n;
    const struct gemm_shape *shape;
};

static enum status kernels_of(json_t *names, const struct question *q, const struct setting *s,
                              const struct array *in, const uint32_t *keys, struct problem *p)
{
    const struct asked *of = q->of;
    const struct method *m = q->method;
    const struct gemm_shape *asked = q->shape;
    const enum format f = q->accumulator;
    struct gpu_input *input = NULL;
    struct gpu_job *job = NULL;
    struct gemm_shape shape = asked ? *asked : (struct gemm_shape){0};
    if (!asked && operation_asks(m->operation, SETTING_SHAPE))
        shape = shape_fitting(in->n, 1, true);
    const size_t outputs = shape.m * shape.n;
    void *zeros = calloc(outputs + 1, (size_t)format_facts[f].bytes);
    if (!zeros)
        return problem(p, STATUS_MEMORY, "kernels: out of memory for %zu elements", outputs);
    struct operands x = {.in = *in,
                         .in2 = *in,
                         .keys = keys,
                         .product = m->product,
                         .mask = (const uint8_t *)keys, /* zeros */
                         .bins = operation_asks(m->operation, SETTING_ROWS) ? layout_rows(in->n, 0)
                                 : operation_asks(m->operation, SETTING_BINS) ? BINS
                                                                              : outputs,
                         .stride = 1,
                         .gemm = shape,
                         .heuristic = s->heuristic,
                         .c = {f, outputs, zeros}};
    struct task task = {.of = &x,
                        .out.format = f,
                        .accumulator = f,
                        .shape = method_shape(m, DEVICE_CUDA, in->n, (struct shape){0, 0})};
    enum status status = gpu_upload(&input, of->device.index, in, 0, p);
    if (status == STATUS_OK)
        status = gpu_job_open(&job, input, m, &task, p);
    if (status == STATUS_OK)
        status = gpu_job_kernels(job, take, names, p);
    gpu_job_close(job);
    gpu_release(input);
    free(zeros);
    return status;
}

/* A row. That it cannot be told is no failure of the others. */
static enum status tell_one(void *context, const struct setting *own, struct problem *p)
{
    const struct question *q = context;
    struct problem why = {0};
    struct text says = {0};
    char text[SHAPE_NAME] = "";
    if (q->shape)
        shape_name(text, q->shape);
    struct array in = {q->storage, q->n, calloc(q->n, (size_t)format_facts[q->storage].bytes)};
    uint32_t *keys = calloc(q->n, sizeof *keys);
    if (!in.data || !keys) {
        free(in.data);
        free(keys);
        return problem(p, STATUS_MEMORY, "kernels: out of memory for %zu elements", q->n);
    }
    json_t *names = json_array();
    bool known = kernels_of(names, q, own, &in, keys, &why) == STATUS_OK;
    free(in.data);
    free(keys);
    const char *storage = format_facts[q->storage].name,
               *accumulator = format_facts[q->accumulator].name;
    const struct heuristic *h = &own->heuristic;
    json_t *row =
        json_pack("{ss ss ss sI ss* so so}", "method", q->method->name, "storage", storage,
                  "accumulator", accumulator, "n", (json_int_t)q->n, "shape",
                  q->shape ? text : NULL, "kernels", known ? json_incref(names) : json_null(),
                  "why", known ? json_null() : json_string(why.text));
    if (h->has_workspace)
        json_object_set_new(row, "workspace", json_integer((json_int_t)h->workspace));
    if (h->has_algorithm)
        json_object_set_new(row, "algorithm", json_integer((json_int_t)h->algorithm));
    json_array_append_new(q->of->rows, row);
    heuristic_says(&says, h);
    if (!q->of->json && q->shape)
        printf("%s %s/%s %s%s\n", q->method->name, storage, accumulator, text, text_string(&says));
    else if (!q->of->json)
        printf("%s %s/%s n=%zu%s\n", q->method->name, storage, accumulator, q->n,
               text_string(&says));
    text_free(&says);
    for (size_t i = 0; !q->of->json && known && i < json_array_size(names); i++)
        printf("  %s\n", json_string_value(json_array_get(names, i)));
    if (!q->of->json && !known)
        printf("  (%s)\n", why.text);
    json_decref(names);
    return STATUS_OK;
}

static enum status tell(struct asked *of, const struct method *m, enum format s, enum format f,
                        size_t n, const struct gemm_shape *shape, struct problem *p)
{
    struct question q = {of, m, s, f, n, shape};
    const struct setting plain = {.output = f};
    const struct setting_asked asked = {
        .axes = &of->axes, .method = m, .storage = s, .accumulator = f, .n = n};
    return of->axes.workspace.count + of->axes.algorithm.count > 0
               ? setting_each_own(&asked, &plain, tell_one, &q, p)
               : tell_one(&q, &plain, p);
}

static enum status tell_shapes(struct asked *of, const struct method *m, enum format s,
                               enum format f, struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < of->shapes.count && status == STATUS_OK; i++) {
        struct gemm_shape shape;
        status = shape_parse(&shape, of->shapes.item[i], p);
        if (status == STATUS_OK)
            status = tell(of, m, s, f, gemm_c_begins(&shape), &shape, p);
    }
    return status;
}

static enum status tell_method(struct asked *of, const struct method *m, struct problem *p)
{
    enum status status = STATUS_OK;
    if (of->shapes.count > 0 && !operation_asks(m->operation, SETTING_SHAPE))
        return of->methods.count == 0
                   ? STATUS_OK
                   : problem(p, STATUS_USAGE, "option --shape: found %s, expected matrix products",
                             m->name);
    for (enum format s = 0; s < FORMATS && of->shapes.count > 0; s++)
        for (enum format f = 0; f < FORMATS && status == STATUS_OK; f++)
            if (method_supports(m, DEVICE_CUDA, s, f))
                status = tell_shapes(of, m, s, f, p);
    if (of->shapes.count > 0)
        return status;
    for (enum format s = 0; s < FORMATS; s++)
        for (enum format f = 0; f < FORMATS; f++)
            for (size_t i = 0; i < of->n.count && status == STATUS_OK; i++)
                if (method_supports(m, DEVICE_CUDA, s, f))
                    status = tell(of, m, s, f, of->n.item[i], NULL, p);
    return status;
}

static enum status run(const struct arguments *a, struct problem *p)
{
    struct asked of;
    enum status status = read(&of, a, p);
    for (size_t i = 0; i < of.methods.count && status == STATUS_OK; i++)
        status = tell_method(&of, method_named(of.methods.item[i]), p);
    for (size_t i = 0; of.methods.count == 0 && i < method_count && status == STATUS_OK; i++)
        status = tell_method(&of, method_registry[i], p);
    if (of.json && status == STATUS_OK) {
        json_dumpf(of.rows, stdout, JSON_INDENT(2));
        printf("\n");
    }
    json_decref(of.rows);
    list_free(&of.methods);
    list_free(&of.shapes);
    numbers_free(&of.n);
    numbers_free(&of.axes.workspace);
    numbers_free(&of.axes.algorithm);
    return status;
}

const struct verb verb_kernels = {
    .name = "kernels",
    .operands = "[METHOD]...",
    .most = OPERANDS_MAX,
    .summary = "which kernels a method launches on a GPU: the path that a library takes",
    .details =
        "A library chooses its kernels by n, formats and device, and does not say which.\n"
        "Default: all methods that run on a GPU, at n = 2^10 and 2^20. A library chooses by the "
        "shape of a matrix product too: --shape; cuBLASLt by the workspace that it may have and, "
        "where "
        "you want another than the first, by the place among those that its heuristic names: "
        "--workspace, --algorithm.",
    .examples = "  ulpscope kernels cublas/sum_by_gemm_16 cub/sum --n 1e6\n"
                "  ulpscope kernels cublaslt/product_16 --shape 16x4096x4096,4096x4096x4096\n"
                "  ulpscope kernels cublaslt/product_16 --shape 64x64x8192 --workspace 0,32m "
                "--algorithm 0..7\n"
                "  ulpscope kernels --method cub/sum,cub/sum_not_guaranteed --json",
    .run = run,
};
