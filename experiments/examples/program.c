/* A program under the scope: it adds numbers from both ends towards the middle, in fp32 or fp64.
 *
 *     cc -O2 experiments/examples/program.c -o build/program
 *     build/ulpscope run accuracy --device cpu --method exec:build/program --storage fp32
 * --accumulator fp32
 *
 * It is asked `sum N STORAGE ACCUMULATOR`, a line break and N elements, again and again, and
 * answers each time with one element of the accumulator's format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int main(void)
{
    size_t n;
    char storage[8], accumulator[8];
    while (scanf("sum %zu %7s %7s", &n, storage, accumulator) == 3 && getchar() == '\n') {
        int single = strcmp(storage, "fp32") == 0;
        if (strcmp(storage, accumulator) != 0 || (!single && strcmp(storage, "fp64") != 0)) {
            fprintf(stderr, "%s in %s: only fp32 in fp32, fp64 in fp64\n", storage, accumulator);
            return 1;
        }
        void *data = malloc(8 * n + 8);
        if (!data || fread(data, single ? sizeof(float) : sizeof(double), n, stdin) != n)
            return 1;
        float sum = single ? sum_fp32(data, n) : 0;
        double wide = single ? 0 : sum_fp64(data, n);
        fwrite(single ? (void *)&sum : (void *)&wide, single ? sizeof sum : sizeof wide, 1, stdout);
        fflush(stdout); /* it is being waited for */
        free(data);
    }
    return 0;
}
