/* Seconds that the exact elements of a matrix product take, with their magnitudes, each rounded:
 *
 *     build/speed_matrices [M N K [FORMAT [THREADS]]]
 *
 * Inputs are normal. Not a test: nothing fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/inputs/input.h"
#include "reference/measure/scan.h"

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t number(int count, char **argument, int i, size_t otherwise)
{
    return count > i ? (size_t)strtod(argument[i], NULL) : otherwise;
}

int main(int count, char **argument)
{
    const size_t m = number(count, argument, 1, 512), n = number(count, argument, 2, 512);
    const size_t k = number(count, argument, 3, 4096), threads = number(count, argument, 5, 1);
    enum format f = FP16;
    while (count > 4 && f < FORMATS - 1 && strcmp(format_facts[f].name, argument[4]) != 0)
        f++;
    struct input in;
    struct problem p = {0};
    struct array all = {f, (m + n) * k, malloc(array_bytes(f, (m + n) * k))};
    struct array c = {FP32, m * n, calloc(m * n, sizeof(float))};
    struct array d = {FP32, m * n, calloc(m * n, sizeof(float))};
    if (!all.data || !c.data || !d.data || input_parse(&in, "normal", &p) != STATUS_OK ||
        input_generate(&in, &all, 1, 0, &p) != STATUS_OK) {
        fprintf(stderr, "speed_matrices: %s\n", p.text[0] ? p.text : "out of memory");
        return 4;
    }
    const struct matrices of = {.a = {f, m * k, all.data},
                                .b = {f, n * k, (char *)all.data + array_bytes(f, m * k)},
                                .c = c,
                                .m = m,
                                .n = n,
                                .k = k,
                                .a_row = k,
                                .a_next = 1,
                                .b_column = k,
                                .b_next = 1};
    struct matrices_packed packed;
    static struct scan_measure measured;
    const double begin = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (matrices_pack(&packed, &of, &p) != STATUS_OK)
        return 4;
    const double ready = seconds(CLOCK_MONOTONIC);
    const struct scan scan = {.in = of.a, .matrices = &packed};
    const struct scan_output out = {.out = d, .accumulator = FP32, .bound = THEOREM_NONE};
    if (measure_scatter(&measured, &out, 1, &scan, (unsigned)threads, &p) != STATUS_OK) {
        fprintf(stderr, "speed_matrices: %s\n", p.text);
        return 1;
    }
    const double end = seconds(CLOCK_MONOTONIC);
    printf(
        "%zux%zux%zu in %s, %zu threads: made ready %.2f s, elements %.2f s; processors %.2f s\n",
        m, n, k, format_facts[f].name, threads, ready - begin, end - ready,
        seconds(CLOCK_PROCESS_CPUTIME_ID) - used);
    matrices_free(&packed);
    return 0;
}
