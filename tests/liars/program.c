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

int main(int argc, char **argv)
{
    size_t n;
    char storage[8], accumulator[8];
    unsigned long born = ns(), runs = 0;
    lie = argc > 1 ? argv[1] : "";
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
