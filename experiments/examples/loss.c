/* A loss summed over a batch, fp16 in and fp32 out, as kernels do it: the tutorial of
 * experiments/documents/tutorial-ml.md.
 *
 *     cc -O2 -fopenmp -shared -fPIC -Ikernels experiments/examples/loss.c -o build/loss.so -lm
 *     build/ulpscope check build/loss.so:atomic --device cpu
 */
#include "ulpscope_subject.h"

#include <math.h>
#include <omp.h>

enum { CHUNK = 256, CHUNKS_MOST = 4096 };

static float from_fp16(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float value = exponent == 31  ? fraction ? NAN : INFINITY
                  : exponent == 0 ? ldexpf((float)fraction, -24)
                                  : ldexpf((float)(fraction + 1024), exponent - 25);
    return bits >> 15 ? -value : value;
}

/* To the nearest fp16, ties to even. */
static float round_to_fp16(float value)
{
    int exponent;
    if (!isfinite(value) || value == 0)
        return value;
    frexpf(value, &exponent);
    float unit = ldexpf(1, exponent < -13 ? -24 : exponent - 11);
    float rounded = rintf(value / unit) * unit;
    return fabsf(rounded) > 65504 ? copysignf(INFINITY, value) : rounded;
}

static float sum_chunk(const struct ulpscope_task *t, size_t chunk, size_t size)
{
    const uint16_t *x = t->in;
    float sum = 0;
    for (size_t i = chunk * size; i < t->n && i < (chunk + 1) * size; i++)
        sum += from_fp16(x[i]);
    return sum;
}

static int threads_of(const struct ulpscope_task *t)
{
    return t->threads ? (int)t->threads : omp_get_max_threads();
}

/* Each chunk adds to the total when it is finished. */
static int atomic(const struct ulpscope_task *t)
{
    float total = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads_of(t))
    for (size_t chunk = 0; chunk < (t->n + CHUNK - 1) / CHUNK; chunk++) {
        float own = sum_chunk(t, chunk, CHUNK);
#pragma omp atomic
        total += own;
    }
    *(float *)t->out = total;
    return 0;
}

/* The sums of chunks are kept, in fp16 or in fp32, and added in their order. */
static int in_order(const struct ulpscope_task *t, int keep_fp16)
{
    float part[CHUNKS_MOST], total = 0;
    size_t size = CHUNK;
    while (t->n > size * CHUNKS_MOST)
        size *= 2;
    size_t chunks = (t->n + size - 1) / size;
#pragma omp parallel for num_threads(threads_of(t))
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        float own = sum_chunk(t, chunk, size);
        part[chunk] = keep_fp16 ? round_to_fp16(own) : own;
    }
    for (size_t chunk = 0; chunk < chunks; chunk++)
        total += part[chunk];
    *(float *)t->out = total;
    return 0;
}

static int split_fp16(const struct ulpscope_task *t)
{
    return in_order(t, 1);
}

static int split_fp32(const struct ulpscope_task *t)
{
    return in_order(t, 0);
}

#define FP16_IN_FP32                                                                               \
    .operation = ULPSCOPE_SUM, .memory = ULPSCOPE_HOST, .reads = ULPSCOPE_READS_THREADS,           \
    .pairs = ULPSCOPE_PAIR(ULPSCOPE_FP16, ULPSCOPE_FP32)

static const struct ulpscope_subject subject[] = {
    {
        .name = "atomic",
        .summary = "each chunk is added to the total when it is finished",
        .promise = ULPSCOPE_NO_PROMISE,
        .run = atomic,
        FP16_IN_FP32,
    },
    {
        .name = "split_fp16",
        .summary = "the sums of chunks are kept in fp16",
        .promise = ULPSCOPE_GPU_TO_GPU,
        .run = split_fp16,
        FP16_IN_FP32,
    },
    {
        .name = "split_fp32",
        .summary = "the sums of chunks are kept in fp32",
        .promise = ULPSCOPE_GPU_TO_GPU,
        .run = split_fp32,
        FP16_IN_FP32,
    },
};

const struct ulpscope_subjects ulpscope_subjects = {ULPSCOPE_SUBJECT_VERSION,
                                                    sizeof subject / sizeof *subject, subject};
