/* A sum with OpenMP three times: the tutorial of experiments/documents/tutorial-hpc.md.
 *
 *     cc -O2 -fopenmp -shared -fPIC -Ikernels experiments/examples/openmp.c -o build/openmp.so
 *     build/ulpscope check build/openmp.so:reduction --device cpu
 */
#include "ulpscope_subject.h"

#include <omp.h>

static int threads_of(const struct ulpscope_task *t)
{
    return t->threads ? (int)t->threads : omp_get_max_threads();
}

/* OpenMP does not say in which order the threads' partial sums are added. */
static int reduction(const struct ulpscope_task *t)
{
    const double *x = t->in;
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(threads_of(t))
    for (size_t i = 0; i < t->n; i++)
        sum += x[i];
    *(double *)t->out = sum;
    return 0;
}

/* One partial sum per thread, added in the order of the threads. */
static int per_thread(const struct ulpscope_task *t)
{
    const double *x = t->in;
    double part[1024], sum = 0;
    int threads = threads_of(t) < 1024 ? threads_of(t) : 1024;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int k = 0; k < threads; k++) {
        double own = 0;
        for (size_t i = t->n * k / threads; i < t->n * (k + 1) / threads; i++)
            own += x[i];
        part[k] = own;
    }
    for (int k = 0; k < threads; k++)
        sum += part[k];
    *(double *)t->out = sum;
    return 0;
}

/* One partial sum per block of 4096 elements, added in the order of the blocks. Threads share out
 * groups of 1024 blocks, so that the partial sums fit on the stack. */
static int blocks(const struct ulpscope_task *t)
{
    enum { BLOCK = 4096, GROUP = 1024 };
    const double *x = t->in;
    double part[GROUP], sum = 0;
    for (size_t first = 0; first < t->n; first += (size_t)BLOCK * GROUP) {
        size_t left = t->n - first;
        int count = left < (size_t)BLOCK * GROUP ? (int)((left + BLOCK - 1) / BLOCK) : GROUP;
#pragma omp parallel for num_threads(threads_of(t))
        for (int k = 0; k < count; k++) {
            size_t begin = first + (size_t)k * BLOCK;
            size_t end = begin + BLOCK < t->n ? begin + BLOCK : t->n;
            double own = 0;
            for (size_t i = begin; i < end; i++)
                own += x[i];
            part[k] = own;
        }
        for (int k = 0; k < count; k++)
            sum += part[k];
    }
    *(double *)t->out = sum;
    return 0;
}

#define FP64                                                                                       \
    .operation = ULPSCOPE_SUM, .memory = ULPSCOPE_HOST, .reads = ULPSCOPE_READS_THREADS,           \
    .pairs = ULPSCOPE_PAIR(ULPSCOPE_FP64, ULPSCOPE_FP64)

static const struct ulpscope_subject subject[] = {
    {
        .name = "reduction",
        .summary = "reduction(+ : sum)",
        .promise = ULPSCOPE_RUN_TO_RUN,
        .run = reduction,
        FP64,
    },
    {
        .name = "per_thread",
        .summary = "a partial sum per thread, added in their order",
        .promise = ULPSCOPE_RUN_TO_RUN,
        .run = per_thread,
        FP64,
    },
    {
        .name = "blocks",
        .summary = "a partial sum per 4096 elements, added in their order",
        .promise = ULPSCOPE_GPU_TO_GPU, /* the order depends on n alone */
        .run = blocks,
        FP64,
    },
};

const struct ulpscope_subjects ulpscope_subjects = {ULPSCOPE_SUBJECT_VERSION,
                                                    sizeof subject / sizeof *subject, subject};
