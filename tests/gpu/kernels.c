/* What kernels a method launches, as `ulpscope kernels` tells it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/gpu/gpu.h"

enum { N = 100000, TEXT = 1 << 16 };

struct names {
    size_t count, length;
    char text[TEXT];
};

static void take(void *context, const char *name)
{
    struct names *names = context;
    cr_assert(*name);
    names->count++;
    names->length +=
        (size_t)snprintf(names->text + names->length, TEXT - names->length, "%s\n", name);
    cr_assert(names->length < TEXT);
}

static enum status ask_heuristic(struct names *names, const char *method,
                                 const struct heuristic *asked, enum format s, enum format f,
                                 struct problem *p)
{
    const struct method *m = method_named(method);
    struct array in = {s, N, calloc(N, sizeof(double))};
    /* A square product of about as many elements as there are. */
    const struct gemm_shape shape = {.m = 100, .n = 100, .k = 450, .no_c = true};
    const size_t outputs = m->operation->matrices ? shape.m * shape.n : 0;
    struct gpu_input *input = NULL;
    struct gpu_job *job = NULL;
    struct task task = {.of = &(struct operands){.product = m->product,
                                                 .mask = m->operation->mask ? in.data : NULL,
                                                 .bins = m->operation->keys     ? 1000
                                                         : m->operation->matrix ? 1
                                                                                : outputs,
                                                 .gemm = shape,
                                                 .heuristic = *asked,
                                                 .c = {f, outputs, in.data},
                                                 .stride = 1},
                        .out.format = f,
                        .accumulator = f,
                        .shape = method_shape(m, DEVICE_CUDA, N, (struct shape){0, 0})};
    *names = (struct names){0};
    cr_assert_eq(gpu_upload(&input, 0, &in, 0, p), STATUS_OK, "%s", p->text);
    if (m->operation->inputs == 2)
        cr_assert_eq(gpu_give(input, &(struct operands){.in2 = in}, OPERAND_IN2, 0, p), STATUS_OK,
                     "%s", p->text);
    /* Zeros are keys, too. */
    if (m->operation->keys)
        cr_assert_eq(gpu_give(input, &(struct operands){.keys = in.data}, OPERAND_KEYS, 0, p),
                     STATUS_OK, "%s", p->text);
    cr_assert_eq(gpu_job_open(&job, input, m, &task, p), STATUS_OK, "%s", p->text);
    enum status status = gpu_job_kernels(job, take, names, p);
    gpu_job_close(job);
    gpu_release(input);
    free(in.data);
    return status;
}

static enum status ask(struct names *names, const char *method, enum format s, enum format f,
                       struct problem *p)
{
    return ask_heuristic(names, method, &(struct heuristic){0}, s, f, p);
}

static struct names first, second;

static bool is_here(const char *method, enum format f)
{
    return method_supports(method_named(method), DEVICE_CUDA, f, f);
}

Test(gpu_kernels, every_method_launches_some)
{
    for (size_t i = 0; i < method_count; i++)
        for (enum format s = 0; s < ACCUMULATORS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++) {
                const struct method *m = method_registry[i];
                struct problem p = {0};
                if (!method_supports(m, DEVICE_CUDA, s, f))
                    continue;
                bool waits = strcmp(m->name, "thrust/sum") == 0;
                enum status status = ask(&first, m->name, s, f, &p);
                /* A library may have nothing for this shape, or chip, and then says so. */
                if (strncmp(m->name, "cublaslt/", 9) == 0 && strstr(p.text, "not supported"))
                    continue;
                cr_expect_eq(status, waits ? STATUS_DEVICE : STATUS_OK, "%s: %s", m->name, p.text);
                cr_expect(waits ? strstr(p.text, "waits") != NULL : first.count > 0, "%s", m->name);
            }
}

/* Names are readable, and ours. */
Test(gpu_kernels, names_are_told)
{
    struct problem p = {0};
    cr_assert_eq(ask(&first, "sum/serial", FP32, FP32, &p), STATUS_OK, "%s", p.text);
    cr_expect(first.count == 1 && strstr(first.text, "float"), "%s", first.text);
}

/* CUB falls back where accumulators are short, and only there: the names of these methods say so.
 */
Test(gpu_kernels, not_guaranteed_falls_back_in_short_formats)
{
    struct problem p = {0};
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        bool narrow = format_facts[f].bytes < 4;
        const char *name = narrow ? "cub/sum_not_guaranteed_fallback" : "cub/sum_not_guaranteed";
        if (!is_here(name, f))
            continue;
        cr_assert_eq(ask(&first, name, f, f, &p), STATUS_OK, "%s", p.text);
        cr_assert_eq(ask(&second, "cub/sum_run_to_run", f, f, &p), STATUS_OK, "%s", p.text);
        cr_expect((strcmp(first.text, second.text) == 0) == narrow, "%s in %s launches\n%sand %s",
                  name, format_facts[f].name, first.text, second.text);
    }
}

/* Algorithm 1 is what product_16_second runs; a place beyond the heuristic's list is refused in a
 * line that names it. */
Test(gpu_kernels, algorithms_are_told)
{
    const char *const name = "cublaslt/product_16";
    struct problem p = {0}, q = {0};
    struct heuristic asked = {.has_algorithm = true, .algorithm = 1};
    const enum status status = ask(&first, "cublaslt/product_16_second", FP16, FP32, &p);
    cr_expect_eq(ask_heuristic(&second, name, &asked, FP16, FP32, &q), status, "%s", q.text);
    cr_expect_str_eq(first.text, second.text);
    for (size_t i = 0; i < HEURISTIC_NAMES; i++) {
        q = (struct problem){0};
        heuristic_workspace(&asked, 0);
        heuristic_algorithm(&asked, i);
        const bool runs = ask_heuristic(&first, name, &asked, FP16, FP32, &q) == STATUS_OK;
        char says[64];
        snprintf(says, sizeof says, ", algorithm %zu of its heuristic, at most 0 bytes", i);
        cr_expect(runs ? first.count > 0 : i > 0 && q.unsupported && strstr(q.text, says), "%s",
                  q.text);
        fprintf(stderr, "%s, no workspace, algorithm %zu: %s\n", name, i,
                runs ? first.text : q.text);
    }
}
