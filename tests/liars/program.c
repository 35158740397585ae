/* A program that lies, asked by experiments/documents/subjects.md's requests for fp32 in fp32; its
 * argument says about what. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "moment.h"

static const char *lie;

static int is(const char *name)
{
    return strcmp(lie, name) == 0;
}

/* Sums of rows, which library routines split in two parts where there are many. */
static int sum_rows(void)
{
    size_t n, rows, stride;
    char storage[8], accumulator[8];
    while (scanf("rows %zu %7s %7s %zu %zu", &n, storage, accumulator, &rows, &stride) == 5 &&
           getchar() == '\n') {
        float *x = malloc(4 * n + 4);
        if (strcmp(storage, "fp32") != 0 || strcmp(accumulator, "fp32") != 0 || !x ||
            fread(x, sizeof *x, n, stdin) != n)
            return 1;
        size_t length = n / rows, split = length;
        if (is("many_rows") && rows >= 48) /* from 48 rows on two halves are summed apart */
            split = length / 2;
        if (is("one_batch") && rows == 96) /* of 96 rows alone */
            split = length / 2;
        for (size_t r = 0; r < rows; r++) {
            float s[2] = {0, 0};
            for (size_t k = 0; k < length; k++)
                s[k >= split] += x[(r / stride * length + k) * stride + r % stride];
            s[0] = split < length ? s[0] + s[1] : s[0];
            fwrite(s, sizeof *s, 1, stdout);
        }
        fflush(stdout);
        free(x);
    }
    return 0;
}

/* Matrix products, C = 0 or not, of rows of A and B, whose k is split in two from 48 rows on. */
static int multiply(void)
{
    size_t length, m, n, k, lda, ldb, with;
    char storage[8], accumulator[8], output[8], layout[8];
    while (scanf("gemm %zu %7s %7s %7s %zu %zu %zu %7s %zu %zu %zu", &length, storage, accumulator,
                 output, &m, &n, &k, layout, &lda, &ldb, &with) == 11 &&
           getchar() == '\n') {
        float *x = malloc(4 * (length + with) + 4);
        if (strcmp(storage, "fp32") != 0 || strcmp(accumulator, "fp32") != 0 || !x ||
            fread(x, sizeof *x, length + with, stdin) != length + with)
            return 1;
        int ta = layout[0] == 't', tb = layout[1] == 't';
        const float *b = x + (ta ? k : m) * lda, *c = x + length;
        size_t split = is("split_k") && m >= 48 ? k / 2 : k;
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) {
                float s[2] = {0, 0};
                for (size_t l = 0; l < k; l++)
                    s[l >= split] +=
                        x[ta ? l * lda + i : i * lda + l] * b[tb ? j * ldb + l : l * ldb + j];
                s[0] = split < k ? s[0] + s[1] : s[0];
                s[0] = with ? s[0] + c[i * n + j] : s[0];
                fwrite(s, sizeof *s, 1, stdout);
            }
        fflush(stdout);
        free(x);
    }
    return 0;
}

int main(int argc, char **argv)
{
    size_t n;
    char storage[8], accumulator[8];
    unsigned long born = ns(), runs = 0;
    lie = argc > 1 ? argv[1] : "";
    if (is("many_rows") || is("one_batch") || is("any_rows"))
        return sum_rows();
    if (is("split_k") || is("products"))
        return multiply();
    while (scanf("sum %zu %7s %7s", &n, storage, accumulator) == 3 && getchar() == '\n') {
        float *x = malloc(4 * n + 4), s = 0;
        if (strcmp(storage, "fp32") != 0 || strcmp(accumulator, "fp32") != 0 || !x ||
            fread(x, sizeof *x, n, stdin) != n)
            return 1;
        runs++;
        int other = 0;
        if (is("birth")) /* half of all processes have another order */
            other = bit_of(born);
        if (is("moment")) /* the order is that of the moment */
            other = bit_of(ns());
        if (is("thousandth")) /* every 1,000th run is another one */
            other = runs % 1000 == 0;
        if (is("second_call")) /* from the second call on it is another order */
            other = runs > 1;
        if (is("longer")) /* from 2^20 elements on the order is that of the moment */
            other = n >= 1 << 20 && bit_of(ns());
        if (is("stalls") && runs == 30) /* its 30th answer never comes */
            pause();
        for (size_t i = 0; i < n; i++)
            s += x[other ? n - 1 - i : i];
        if (is("maximum")) /* gives the largest element for a sum */
            for (size_t i = s = 0; i < n; i++)
                s = i == 0 || x[i] > s ? x[i] : s;
        fwrite(&s, sizeof s, 1, stdout);
        fflush(stdout);
        free(x);
    }
    return 0;
}
