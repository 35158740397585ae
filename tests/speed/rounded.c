/* Nanoseconds an element that exact sums take, rounded to the format of the elements, beside a loop
 * that only reads:
 *
 *     build/speed_rounded [N [THREADS]]
 *
 * The least of many runs, taken in turn; by the processor's clock on one thread, so that other
 * programs count little. Not a test: nothing fails. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "experiments/inputs/input.h"
#include "kernels/gpu/raw_read.h"
#include "reference/exact/exact.h"
#include "reference/exact/reference.h"
#include "reference/exact/rounded.h"

enum { RUNS = 25 };

struct figures {
    double read, sum, bins, reference; /* ns an element */
};

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double now_ns(unsigned threads)
{
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static struct figures measure(const struct array *a, unsigned threads)
{
    struct figures f = {1e9, 1e9, 1e9, 1e9};
    const double n = (double)a->n;
    for (int run = 0; run < RUNS; run++) {
        uint64_t mix;
        struct exact e;
        struct reference r;
        double start = now_ns(threads);
        raw_read(a, threads, &mix, NULL);
        f.read = least(f.read, (now_ns(threads) - start) / n);
        start = now_ns(threads);
        rounded_sum(a, a->format, threads);
        f.sum = least(f.sum, (now_ns(threads) - start) / n);
        start = now_ns(1);
        exact_init(&e);
        exact_add_array(&e, a, 0, a->n);
        f.bins = least(f.bins, (now_ns(1) - start) / n);
        start = now_ns(1);
        if (run % 4 == 0 && reference_compute(&r, a, REFERENCE_FAST, NULL) == STATUS_OK) {
            f.reference = least(f.reference, (now_ns(1) - start) / n);
            reference_free(&r);
        }
    }
    return f;
}

/* Inputs where one pass is enough, and where it is not. */
static const struct subject {
    const char *name, *input;
    double cond[FORMATS];
    bool cancel; /* the second half is the first one with other signs */
} subjects[] = {
    {"uniform", "uniform", {0}, false},
    {"normal", "normal", {0}, false},
    {"wide", "wide", {0}, false},
    {"zero_sum", "zero_sum", {0}, false},
    {"cond", "cond", {0x1p20, 0x1p40, 0x1p40, 0x1p100}, false},
    {"cond far", "cond", {0x1p30, 0x1p140, 0x1p140, 0x1p600}, false},
    {"wide, 0", "wide", {0}, true},
};

static bool make(const struct subject *s, const struct array *a, struct problem *p)
{
    struct input in;
    if (!a->data || input_parse(&in, s->input, p) != STATUS_OK ||
        input_generate(&in, a, 1, s->cond[a->format], p) != STATUS_OK)
        return false;
    for (size_t i = 0; s->cancel && i < a->n / 2; i++)
        array_set_bits(a, a->n - 1 - i,
                       array_bits(a, i) ^ UINT64_C(1) << (8 * format_facts[a->format].bytes - 1));
    return true;
}

int main(int count, char **argument)
{
    size_t n = count > 1 ? (size_t)strtod(argument[1], NULL) : 10000000;
    unsigned threads = count > 2 ? (unsigned)atoi(argument[2]) : 1;
    printf("%-10s %-4s %8s %8s %8s %9s   ns an element, n = %zu, %u threads (bins, reference: 1)\n",
           "input", "", "read", "sum", "bins", "reference", n, threads);
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++)
        for (enum format f = 0; f < FORMATS; f++) {
            struct problem p = {0};
            struct array a = {f, n, malloc(array_bytes(f, n) + 1)};
            if (make(&subjects[k], &a, &p)) {
                struct figures t = measure(&a, threads);
                printf("%-10s %-4s %8.3f %8.3f %8.3f %9.3f\n", subjects[k].name,
                       format_facts[f].name, t.read, t.sum, t.bins, t.reference);
            } else {
                printf("%-10s %-4s %s\n", subjects[k].name, format_facts[f].name, p.text);
            }
            free(a.data);
        }
    return 0;
}
