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
            if (!method_supports(m, DEVICE_CUDA, c->in.format, c->accumulator))
                continue;
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

/* What sums of rows have different kernels for: rows near each other and far apart, of every short
 * length and of those next to a tile row and to a tile; few rows and more than a block takes. */
static const size_t way_rows[] = {1, 5, 34, 70, 300, 1056};
static const size_t way_lengths[] = {66,  96,  100, 127, 128,  129,  192,  255,  256,  257,
                                     300, 512, 515, 768, 1000, 1024, 2000, 2047, 2048, 2049};
enum { WAY_SHORT = 66, WAY_LONG = sizeof way_lengths / sizeof *way_lengths };
enum { WAY_ROWS = sizeof way_rows / sizeof *way_rows, WAYS = 5, WAY_MOST = 340000 };

/* Rows of this length, as many as there is room for: consecutive, side by side, in batches. */
static size_t way_stride(size_t way, size_t rows)
{
    static const size_t side[] = {2, 5, 33};
    if (way < 2)
        return way ? rows : 1;
    return rows % side[way - 2] == 0 ? side[way - 2] : 1;
}

static void hold_way(struct matrix_case *c, size_t rows, size_t length, size_t way, size_t k)
{
    c->in.format = (enum format)(k % ACCUMULATORS);
    c->accumulator = (enum format)(k / ACCUMULATORS % ACCUMULATORS);
    c->in.n = rows * length;
    c->bins = rows;
    c->stride = way_stride(way, rows);
    if (rows * length > WAY_MOST || (way > 1 && c->stride == 1))
        return;
    enum sample kind = k % 7 == 0 ? (enum sample)(k / 7 % SAMPLES) : SAMPLE_NEAR;
    c->sample = sample_name[kind];
    sample_fill(&c->in, kind, c->accumulator, k);
    gpu_rows_hold(c, k % 3 == 0 ? k / 3 % 9 : 0, (struct shape){0});
}

static void hold_ways(const char *name)
{
    struct matrix_case *c = gpu_rows_new(method_named(name), WAY_MOST);
    size_t k = 0;
    for (size_t i = 0; i < WAY_SHORT + WAY_LONG; i++)
        for (size_t j = 0; j < WAY_ROWS * WAYS; j++) {
            size_t length = i < WAY_SHORT ? i : way_lengths[i - WAY_SHORT];
            hold_way(c, way_rows[j / WAYS], length, j % WAYS, k++);
        }
    gpu_rows_free(c);
}

Test(gpu_rows, every_way_agrees_tiled, .timeout = 300)
{
    hold_ways("rows/tiled");
}

Test(gpu_rows, every_way_agrees_exact, .timeout = 300)
{
    hold_ways("rows/exact");
}

/* Vectors of rows that all pairs of formats have, aligned and not. */
Test(gpu_rows, every_pair_agrees, .timeout = 300)
{
    static const size_t shape[][3] = {
        {3000, 2, 1},     {3001, 3, 1},    {999, 6, 3},     {2000, 16, 1},  {777, 31, 1},
        {600, 32, 1},     {300, 32, 20},   {500, 64, 1},    {401, 63, 1},   {300, 128, 1},
        {130, 250, 1},    {129, 255, 1},   {9000, 3, 9000}, {3000, 8, 50},  {700, 17, 700},
        {320, 32, 64},    {400, 64, 400},  {128, 200, 32},  {66, 256, 33},  {70, 1024, 1},
        {40, 1001, 1},    {20, 4096, 1},   {20, 4104, 1},   {11, 4099, 1},  {64, 2048, 64},
        {130, 2500, 130}, {96, 2500, 48},  {2, 40000, 2},   {1, 100000, 1}, {3, 70001, 3},
        {264, 40, 264},   {264, 300, 264}, {48, 2500, 8},   {96, 200, 24},  {24, 4097, 24},
        {8, 40000, 8},
    };
    for (size_t m = 0; m < 2; m++) {
        struct matrix_case *c = gpu_rows_new(method_named(m ? "rows/exact" : "rows/tiled"), 330000);
        for (size_t k = 0; k < sizeof shape / sizeof *shape * 32; k++) {
            const size_t *s = shape[k / 32];
            c->in.format = (enum format)(k % 4);
            c->accumulator = (enum format)(k / 4 % 4);
            c->in.n = s[0] * s[1];
            c->bins = s[0];
            c->stride = s[2];
            c->sample = sample_name[SAMPLE_NEAR];
            sample_fill(&c->in, SAMPLE_NEAR, c->accumulator, k);
            gpu_rows_hold(c, k / 16 % 2, (struct shape){0});
        }
        gpu_rows_free(c);
    }
}

/* A little of everything, for runs under a sanitizer: each kernel of sums of rows. */
Test(gpu_rows, tour, .timeout = 300)
{
    static const size_t shape[][3] = {
        {100, 2, 1},   {70, 3, 1},    {40, 7, 2},    {33, 12, 1},  {300, 31, 1},   {90, 20, 3},
        {64, 32, 1},   {300, 2, 300}, {130, 4, 65},  {70, 7, 70},  {80, 15, 40},   {64, 32, 64},
        {20, 64, 1},   {9, 100, 1},   {8, 256, 1},   {7, 63, 1},   {5, 201, 1},    {66, 50, 33},
        {64, 200, 64}, {6, 512, 1},   {3, 2048, 1},  {2, 301, 1},  {3, 4096, 1},   {2, 4104, 1},
        {2, 4099, 1},  {34, 300, 34}, {3, 2500, 3},  {64, 3, 1},   {64, 4200, 64}, {5, 0, 5},
        {50, 1, 1},    {2, 70000, 2}, {40, 200, 40}, {8, 2500, 8},
    };
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (m->operation != &operation_rows || !tried(m))
            continue;
        struct matrix_case *c = gpu_rows_new(m, 300000);
        for (size_t k = 0; k < 2 * sizeof shape / sizeof *shape; k++) {
            const size_t *s = shape[k / 2];
            c->in.format = (enum format)(k % 2 ? FP16 : k / 2 % 3 ? FP32 : FP64);
            c->accumulator = k % 2 && k / 2 % 2 ? FP16 : c->in.format == FP64 ? FP64 : FP32;
            if (!method_supports(m, DEVICE_CUDA, c->in.format, c->accumulator))
                continue;
            c->in.n = s[0] * s[1];
            c->bins = s[0];
            c->stride = s[2];
            c->sample = sample_name[SAMPLE_NEAR];
            sample_fill(&c->in, SAMPLE_NEAR, c->accumulator, k);
            gpu_rows_hold(c, k % 3, (struct shape){0});
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
