/* Sums of rows, transpositions and compactions on a GPU: every output held to what it must be, and
 * to the CPU twin bit by bit. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "kernels/gpu.h"
#include "tests/matrices.h"
#include "tests/samples.h"

static const struct shape shapes[] = {{0, 0}, {1, 0}, {33, 0}, {96, 0}, {1024, 0}};
enum { SHAPES = sizeof shapes / sizeof *shapes, RUNS = 3 };

/* Runs it there; the last run's output is copied. All runs are alike where that is promised. */
static void run_there(const struct matrix_case *c, size_t offset, const struct array *out)
{
    struct gpu_input *input = NULL;
    struct gpu_job *job = NULL;
    struct problem p = {0};
    struct hash128 digest[RUNS];
    double time_ns[RUNS];
    struct task task = {.out.format = c->accumulator,
                        .accumulator = c->accumulator,
                        .shape = c->shape,
                        .heads = c->method->operation->mask && c->in.n > 0 ? c->mask : NULL,
                        .bins = c->bins,
                        .stride = c->stride};
    bool fine = gpu_upload(&input, 0, &c->in, offset, &p) == STATUS_OK &&
                gpu_job_open(&job, input, c->method, &task, &p) == STATUS_OK &&
                gpu_job_start(job, RUNS, &p) == STATUS_OK &&
                gpu_job_wait(job, digest, time_ns, &p) == STATUS_OK &&
                gpu_job_output(job, RUNS - 1, out, &p) == STATUS_OK;
    gpu_job_close(job);
    gpu_release(input);
    cr_assert(fine, "%s, n = %zu, %zu rows: %s", c->method->name, c->in.n, c->bins, p.text);
    for (size_t i = 1; i < RUNS && c->method->promise > PROMISE_NONE; i++)
        cr_assert(digest[i].word[0] == digest[0].word[0] && digest[i].word[1] == digest[0].word[1],
                  "%s, n = %zu, %zu rows: run %zu differs", c->method->name, c->in.n, c->bins, i);
}

/* NaNs are alike where they are sums; what moves keeps its payload. */
static uint64_t shown_bits(const struct matrix_case *c, const struct array *out, size_t i)
{
    uint64_t bits = array_bits(out, i);
    return c->method->operation == &operation_rows ? format_canonical(out->format, bits) : bits;
}

static void hold_to_twin(struct matrix_case *c, size_t offset, struct shape asked)
{
    size_t outputs = matrix_outputs(c);
    struct array there = {c->accumulator, outputs,
                          malloc(array_bytes(c->accumulator, outputs) + 1)};
    struct array here = {c->accumulator, outputs, malloc(array_bytes(c->accumulator, outputs) + 1)};
    cr_assert(there.data && here.data);
    c->shape = method_shape(c->method, DEVICE_CUDA, c->in.n, asked);
    run_there(c, offset, &there);
    c->shape = method_shape(c->method, DEVICE_CPU, c->in.n, (struct shape){0});
    if (c->method->cpu)
        cr_assert(matrix_run(c, &here) == STATUS_OK);
    for (size_t i = 0; i < outputs && c->method->cpu && c->method->promise > PROMISE_NONE; i++) {
        uint64_t got = shown_bits(c, &there, i), want = shown_bits(c, &here, i);
        cr_assert(
            got == want,
            "%s %s/%s, %zu elements, %zu rows, stride %zu, %u threads, %s: output %zu is %#llx, "
            "CPU %#llx",
            c->method->name, format_facts[c->in.format].name, format_facts[c->accumulator].name,
            c->in.n, c->bins, c->stride, asked.threads, c->sample, i, (unsigned long long)got,
            (unsigned long long)want);
    }
    char why[WHY] = "";
    if (c->in.n <= MATRIX_MOST)
        cr_assert(matrix_holds(c, &there, why), "there: %s", why);
    free(there.data);
    free(here.data);
}

static bool tried(const struct method *m)
{
    return matrix_takes(m) && m->pairs[DEVICE_CUDA];
}

static struct matrix_case *case_new(const struct method *m, size_t room)
{
    struct matrix_case *c = calloc(1, sizeof *c);
    cr_assert(c);
    c->method = m;
    c->there = true;
    c->in.data = malloc(room * sizeof(double));
    cr_assert(c->in.data);
    return c;
}

static void case_free(struct matrix_case *c)
{
    free(c->in.data);
    free(c);
}

Test(gpu_rows, samples_agree, .timeout = 300)
{
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (!tried(m))
            continue;
        struct matrix_case *c = case_new(m, MATRIX_MOST);
        for (size_t k = 0; k < MATRIX_SAMPLES; k++)
            if (matrix_sample(c, k) &&
                method_supports(m, DEVICE_CUDA, c->in.format, c->accumulator)) {
                hold_to_twin(c, k % 3, shapes[k % SHAPES]);
                held++;
            }
        case_free(c);
    }
    cr_expect(held > 1000, "%zu", held);
}

/* Every pair of formats, of the longest rows of one level and the shortest of two and of three. */
Test(gpu_rows, long_rows_agree, .timeout = 300)
{
    static const size_t long_rows[][3] = {
        {3, 2048, 1}, {3, 2048, 3}, {1, (1 << 22) + 1, 1}, {2, (1 << 22) + 1, 2}, {70, 6145, 70}};
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (!tried(m) || m->operation != &operation_rows || m->promise == PROMISE_NONE)
            continue;
        struct matrix_case *c = case_new(m, 9000000);
        for (size_t k = 0; k < 16 * 5; k++) {
            const size_t *s = long_rows[k / 16];
            bool great = s[1] > 1 << 20;
            if (great && (k % 5 != 0 || strcmp(m->name, "rows/serial") == 0))
                continue;
            c->in.format = (enum format)(k % 4);
            c->accumulator = (enum format)(k / 4 % 4);
            c->in.n = s[0] * s[1];
            c->bins = s[0];
            c->stride = s[2];
            c->sample = sample_name[SAMPLE_NEAR];
            sample_fill(&c->in, SAMPLE_NEAR, c->accumulator, k);
            hold_to_twin(c, k % 2, (struct shape){0});
        }
        case_free(c);
    }
}

/* A row has the same bits alone, among others, at another place and in another layout. */
Test(gpu_rows, rows_stand_alone, .timeout = 300)
{
    enum { ROWS = 40, LENGTH = 2500 };
    const struct method *m = method_named("rows/tiled");
    struct matrix_case *c = case_new(m, ROWS * LENGTH);
    for (enum format f = 0; f < FORMATS; f++) {
        float all[ROWS], alone[ROWS], across[ROWS];
        struct array row = {f, LENGTH, malloc(LENGTH * sizeof(double))}, of_all = {FP32, ROWS, all};
        struct array of_one = {FP32, 1, alone}, of_columns = {FP32, ROWS, across};
        sample_fill(&row, SAMPLE_NEAR, FP32, f);
        c->accumulator = FP32;
        c->in = (struct array){f, ROWS * LENGTH, c->in.data};
        for (size_t how = 0; how < 2; how++) {
            c->bins = ROWS;
            c->stride = how ? ROWS : 1;
            c->in.n = ROWS * LENGTH;
            for (size_t r = 0; r < ROWS; r++)
                for (size_t k = 0; k < LENGTH; k++)
                    array_set_bits(&c->in, how ? k * ROWS + r : r * LENGTH + k,
                                   r % 3 == 1 ? k * r : array_bits(&row, k));
            run_there(c, 0, how ? &of_columns : &of_all);
        }
        c->bins = c->stride = 1;
        c->in.n = LENGTH;
        memcpy(c->in.data, row.data, array_bytes(f, LENGTH));
        run_there(c, 1, &of_one);
        for (size_t r = 0; r < ROWS; r++)
            if (r % 3 != 1)
                cr_assert(all[r] == alone[0] && across[r] == alone[0], "%s: row %zu",
                          format_facts[f].name, r);
        free(row.data);
    }
    case_free(c);
}

/* More tiles than there are multiprocessors, and none of them square. */
Test(gpu_rows, great_transpositions_agree, .timeout = 300)
{
    static const size_t great[][2] = {{1000, 3001}, {3001, 1000}, {1, 1000003}, {1000003, 1}};
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (!tried(m) || m->operation != &operation_transpose)
            continue;
        struct matrix_case *c = case_new(m, 3100000);
        for (size_t k = 0; k < 16; k++) {
            c->accumulator = (enum format)(k % 4);
            c->in = (struct array){c->accumulator, great[k / 4][0] * great[k / 4][1], c->in.data};
            c->bins = great[k / 4][0];
            c->stride = 1;
            c->sample = sample_name[SAMPLE_BITS];
            sample_fill(&c->in, SAMPLE_BITS, c->accumulator, k);
            hold_to_twin(c, k % 2, (struct shape){0});
        }
        case_free(c);
    }
}

enum { GREAT = (1 << 22) + 777 };

static void hold_compaction(const struct method *m, const struct array *in, size_t offset,
                            const uint8_t *mask, size_t kept)
{
    struct task task = {
        .out.format = in->format, .accumulator = in->format, .heads = mask, .bins = kept};
    struct array out = {in->format, kept, malloc(array_bytes(in->format, kept))};
    struct gpu_input *input = NULL;
    struct gpu_job *job = NULL;
    struct problem p = {0};
    struct hash128 digest[RUNS];
    double time_ns[RUNS];
    cr_assert(out.data);
    bool fine = gpu_upload(&input, 0, in, offset, &p) == STATUS_OK &&
                gpu_job_open(&job, input, m, &task, &p) == STATUS_OK &&
                gpu_job_start(job, RUNS, &p) == STATUS_OK &&
                gpu_job_wait(job, digest, time_ns, &p) == STATUS_OK &&
                gpu_job_output(job, RUNS - 1, &out, &p) == STATUS_OK;
    cr_assert(fine, "%s %s: %s", m->name, format_facts[in->format].name, p.text);
    for (size_t i = 0, at = 0; i < in->n; i++)
        if (mask[i]) {
            cr_assert(array_bits(&out, at) == array_bits(in, i), "%s %s, offset %zu: output %zu",
                      m->name, format_facts[in->format].name, offset, at);
            at++;
        }
    gpu_job_close(job);
    gpu_release(input);
    free(out.data);
}

/* More blocks than run at once; some spans keep nothing, some all. */
Test(gpu_rows, great_compactions_agree, .timeout = 300)
{
    uint8_t *mask = malloc(GREAT);
    struct array in = {.n = GREAT, .data = malloc(GREAT * sizeof(double))};
    size_t kept = 0, held = 0;
    uint64_t seed = 1;
    cr_assert(mask && in.data);
    for (size_t i = 0; i < GREAT; i++) {
        mask[i] = i >> 13 & 1 ? 0 : i >> 14 & 1 ? 200 : sample_next(&seed) % 3 == 0;
        kept += mask[i] != 0;
    }
    for (in.format = 0; in.format < FORMATS; in.format++) {
        for (size_t i = 0; i < GREAT; i++)
            array_set_bits(&in, i, sample_next(&seed));
        for (size_t k = 0; k < 2 * method_count; k++) {
            const struct method *m = method_registry[k / 2];
            if (m->operation != &operation_compact ||
                !method_supports(m, DEVICE_CUDA, in.format, in.format))
                continue;
            hold_compaction(m, &in, k % 2, mask, kept);
            held++;
        }
    }
    cr_expect(held >= 2 * FORMATS, "%zu", held);
    free(in.data);
    free(mask);
}
