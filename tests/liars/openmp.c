/* Sums by OpenMP: three that lie, three that are honest. gcc -fopenmp. */
#include <omp.h>
#include <string.h>

#include "ulpscope_subject.h"

enum { BLOCK = 1024, BLOCKS = 1 << 14 };

static int threads_of(const struct ulpscope_task *t)
{
    return t->threads ? (int)t->threads : omp_get_num_procs();
}

/* Partial sums are added as threads end: with 3 threads and more in any order. */
static int reduction(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float s = 0;
#pragma omp parallel for reduction(+ : s) num_threads(threads_of(t))
    for (size_t i = 0; i < t->n; i++)
        s += x[i];
    *(float *)t->out = s;
    return 0;
}

/* Which thread adds which elements is the moment's. */
static int dynamic(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float s = 0;
#pragma omp parallel for reduction(+ : s) schedule(dynamic, 256)
    for (size_t i = 0; i < t->n; i++)
        s += x[i];
    *(float *)t->out = s;
    return 0;
}

static float block_sum(const float *x, size_t begin, size_t end)
{
    float s = 0;
    for (size_t i = begin; i < end; i++)
        s += x[i];
    return s;
}

/* Honest: whoever adds a block, it is the same block, and blocks are added in their order. */
static int blocks_dynamic(const struct ulpscope_task *t)
{
    static float partial[BLOCKS];
    size_t size = t->n / BLOCKS > BLOCK ? t->n / BLOCKS + 1 : BLOCK,
           count = (t->n + size - 1) / size;
#pragma omp parallel for schedule(dynamic) num_threads(threads_of(t))
    for (size_t b = 0; b < count; b++)
        partial[b] = block_sum(t->in, b * size, b * size + size < t->n ? b * size + size : t->n);
    *(float *)t->out = block_sum(partial, 0, count);
    return 0;
}

/* Honest: eight shares, however many threads there are, added in their order. */
static int shares(const struct ulpscope_task *t)
{
    float partial[8];
#pragma omp parallel for schedule(static) num_threads(threads_of(t))
    for (size_t b = 0; b < 8; b++)
        partial[b] = block_sum(t->in, t->n * b / 8, t->n * (b + 1) / 8);
    *(float *)t->out = block_sum(partial, 0, 8);
    return 0;
}

/* One share for each thread that OMP_NUM_THREADS asks for, added in their order: the same bits
 * again, until somebody sets it. */
static int environment(const struct ulpscope_task *t)
{
    float partial[256] = {0};
    size_t threads = (size_t)omp_get_max_threads();
    threads = threads > 256 ? 256 : threads;
#pragma omp parallel for schedule(static) num_threads((int)threads)
    for (size_t b = 0; b < threads; b++)
        partial[b] = block_sum(t->in, t->n * b / threads, t->n * (b + 1) / threads);
    *(float *)t->out = block_sum(partial, 0, threads);
    return 0;
}

/* Honest: eight shares, on as many threads as the environment asks for. */
static int environment_shares(const struct ulpscope_task *t)
{
    float partial[8];
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < 8; b++)
        partial[b] = block_sum(t->in, t->n * b / 8, t->n * (b + 1) / 8);
    *(float *)t->out = block_sum(partial, 0, 8);
    return 0;
}

#define SUBJECT(name, promise, reads)                                                              \
    {                                                                                              \
#name, "by OpenMP", ULPSCOPE_SUM, ULPSCOPE_HOST, ULPSCOPE_##promise,                       \
            ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP32), reads, name                               \
    }

static const struct ulpscope_subject subject[] = {
    SUBJECT(reduction, RUN_TO_RUN, ULPSCOPE_READS_THREADS),
    SUBJECT(dynamic, RUN_TO_RUN, 0),
    SUBJECT(blocks_dynamic, GPU_TO_GPU, ULPSCOPE_READS_THREADS),
    SUBJECT(shares, GPU_TO_GPU, ULPSCOPE_READS_THREADS),
    SUBJECT(environment, GPU_TO_GPU, 0),
    SUBJECT(environment_shares, GPU_TO_GPU, 0),
};
const struct ulpscope_subjects ulpscope_subjects = {ULPSCOPE_SUBJECT_VERSION,
                                                    sizeof subject / sizeof *subject, subject};
