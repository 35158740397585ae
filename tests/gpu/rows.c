/* Sums of rows, transpositions and compactions on a GPU: every output held to what it must be, and
 * to the CPU twin bit by bit. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "kernels/gpu/gpu.h"
#include "tests/gpu/rows_runs.h"
#include "tests/support/samples.h"

static const struct shape shapes[] = {{0, 0}, {1, 0}, {33, 0}, {96, 0}, {1024, 0}};
enum { SHAPES = sizeof shapes / sizeof *shapes, RUNS = 3 };

static bool tried(const struct method *m)
{
    return matrix_takes(m) && format_pairs_any(method_pairs(m, DEVICE_CUDA));
}

Test(gpu_rows, samples_agree, .timeout = 300)
{
    size_t held = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (!tried(m))
            continue;
        struct matrix_case *c = gpu_rows_new(m, MATRIX_MOST);
        for (size_t k = 0; k < MATRIX_SAMPLES; k++)
            if (matrix_sample(c, k) &&
                method_supports(m, DEVICE_CUDA, c->in.format, c->accumulator)) {
                gpu_rows_hold(c, k % 3, shapes[k % SHAPES]);
                held++;
            }
        gpu_rows_free(c);
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
        struct matrix_case *c = gpu_rows_new(m, 9000000);
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
            gpu_rows_hold(c, k % 2, (struct shape){0});
        }
        gpu_rows_free(c);
    }
}

/* A row has the same bits alone, among others, at another place and in another layout. */
static void rows_stand_alone(const struct method *m)
{
    enum { ROWS = 40, LENGTH = 2500 };
    struct matrix_case *c = gpu_rows_new(m, ROWS * LENGTH);
    for (enum format f = 0; f < ACCUMULATORS; f++) {
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
            gpu_rows_run(c, 0, how ? &of_columns : &of_all);
        }
        c->bins = c->stride = 1;
        c->in.n = LENGTH;
        memcpy(c->in.data, row.data, array_bytes(f, LENGTH));
        gpu_rows_run(c, 1, &of_one);
        for (size_t r = 0; r < ROWS; r++)
            if (r % 3 != 1)
                cr_assert(all[r] == alone[0] && across[r] == alone[0], "%s, %s: row %zu", m->name,
                          format_facts[f].name, r);
        free(row.data);
    }
    gpu_rows_free(c);
}

Test(gpu_rows, rows_stand_alone, .timeout = 300)
{
    rows_stand_alone(method_named("rows/tiled"));
    rows_stand_alone(method_named("rows/exact"));
}

/* More tiles than there are multiprocessors, and none of them square. */
Test(gpu_rows, great_transpositions_agree, .timeout = 300)
{
    static const size_t great[][2] = {{1000, 3001}, {3001, 1000}, {1, 1000003}, {1000003, 1}};
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (!tried(m) || m->operation != &operation_transpose)
            continue;
        struct matrix_case *c = gpu_rows_new(m, 3100000);
        for (size_t k = 0; k < 16; k++) {
            c->accumulator = (enum format)(k % 4);
            c->in = (struct array){c->accumulator, great[k / 4][0] * great[k / 4][1], c->in.data};
            c->bins = great[k / 4][0];
            c->stride = 1;
            c->sample = sample_name[SAMPLE_BITS];
            sample_fill(&c->in, SAMPLE_BITS, c->accumulator, k);
            gpu_rows_hold(c, k % 2, (struct shape){0});
        }
        gpu_rows_free(c);
    }
}

enum { GREAT = (1 << 22) + 777 };

static void hold_compaction(const struct method *m, const struct array *in, size_t offset,
                            const uint8_t *mask, size_t kept)
{
    struct task task = {.of = &(struct operands){.mask = mask, .bins = kept},
                        .out.format = in->format,
                        .accumulator = in->format};
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
    for (in.format = 0; in.format < ACCUMULATORS; in.format++) {
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
    cr_expect(held >= 2 * ACCUMULATORS, "%zu", held);
    free(in.data);
    free(mask);
}
