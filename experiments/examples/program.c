/* A program under the scope: it adds numbers from both ends towards the middle, in fp32 or fp64.
 *
 *     cc -O2 experiments/examples/program.c -o build/program
 *     build/ulpscope run accuracy --device cpu --method exec:build/program --storage fp32
 * --accumulator fp32
 *
 * It is asked `sum N STORAGE ACCUMULATOR`, a line break and N elements, again and again, and
 * answers each time with one element of the accumulator's format. Asked `time R sum N ...`, it adds
 * R times and tells the nanoseconds that this took behind the sum: so it is timed, too. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static float sum_fp32(const float *x, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n / 2; i++)
        sum += x[i] + x[n - 1 - i];
    return n % 2 ? sum + x[n / 2] : sum;
}

static double sum_fp64(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n / 2; i++)
        sum += x[i] + x[n - 1 - i];
    return n % 2 ? sum + x[n / 2] : sum;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The rest of a request, whose first word was read: 0, or 1 where it is none of ours. */
static int answer(size_t runs)
{
    size_t n;
    char storage[8], accumulator[8];
    if (scanf("%zu %7s %7s", &n, storage, accumulator) != 3 || getchar() != '\n')
        return 1;
    int single = strcmp(storage, "fp32") == 0;
    if (strcmp(storage, accumulator) != 0 || (!single && strcmp(storage, "fp64") != 0)) {
        fprintf(stderr, "%s in %s: only fp32 in fp32, fp64 in fp64\n", storage, accumulator);
        return 1;
    }
    void *data = malloc(8 * n + 8);
    if (!data || fread(data, single ? sizeof(float) : sizeof(double), n, stdin) != n)
        return 1;
    volatile float sum = 0; /* or a compiler adds once for all runs */
    volatile double wide = 0;
    uint64_t begin = now_ns();
    for (size_t i = 0; i < runs || i == 0; i++)
        if (single)
            sum = sum_fp32(data, n);
        else
            wide = sum_fp64(data, n);
    uint64_t took = now_ns() - begin;
    float narrow = sum;
    double result = wide;
    fwrite(single ? (void *)&narrow : (void *)&result, single ? sizeof narrow : sizeof result, 1,
           stdout);
    if (runs > 0)
        fwrite(&took, sizeof took, 1, stdout);
    fflush(stdout); /* it is being waited for */
    free(data);
    return 0;
}

int main(void)
{
    char word[8];
    int failed = 0;
    while (!failed && scanf("%7s", word) == 1) {
        size_t runs = 0;
        if (strcmp(word, "time") == 0 && scanf("%zu %7s", &runs, word) != 2)
            return 1;
        failed = strcmp(word, "sum") != 0 || answer(runs);
    }
    return failed;
}
