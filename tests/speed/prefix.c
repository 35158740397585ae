/* Nanoseconds an element that exact prefix sums, and measures of a scan, take on one core:
 *
 *     build/speed_prefix [INPUT [N [COND]]]
 *
 * The least of three runs, by the processor's clock, so that other programs count little. Pairs go
 * to one block that stays in cache. Not a test: nothing fails. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "experiments/inputs/input.h"
#include "reference/measure/scan.h"
#include "reference/exact/prefix.h"

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double stream(const struct array *a, bool magnitudes)
{
    static double word[4][LINE_MOST];
    struct prefix_pairs to = {word[0], word[1], NULL, NULL};
    struct exact none;
    struct prefix p;
    double start = seconds();
    if (magnitudes) {
        to.abs_hi = word[2];
        to.abs_lo = word[3];
    }
    exact_init(&none);
    prefix_begin(&p, &none);
    for (size_t i = 0; i < a->n; i += LINE_MOST)
        prefix_next(&p, a, NULL, i, a->n - i < LINE_MOST ? a->n - i : LINE_MOST, &to);
    return (seconds() - start) / (double)a->n * 1e9;
}

/* A serial scan in the storage format. */
static void scan_array(const struct array *a, const struct array *out)
{
    double sum = array_get(a, 0);
    for (size_t i = 0; i < a->n; i++) {
        sum = i == 0 ? sum : format_add(a->format, sum, array_get(a, i));
        array_encode(out, i, 1, &sum);
    }
}

static double measuring(const struct array *a, const struct array *out)
{
    static struct scan_measure m;
    struct scan scan = {.in = *a};
    struct scan_output o = {*out, a->format, THEOREM_ANY_ORDER, NULL, NULL, {NULL}, false};
    double start = seconds();
    if (measure_scan(&m, &o, 1, &scan, 1, NULL) != STATUS_OK)
        return 0;
    return (seconds() - start) / (double)a->n * 1e9;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

int main(int count, char **argument)
{
    const char *specification = count > 1 ? argument[1] : "uniform";
    size_t n = count > 2 ? (size_t)strtod(argument[2], NULL) : 10000000;
    double cond = count > 3 ? strtod(argument[3], NULL) : 0;
    printf("%-24s %-4s %8s %8s %8s   ns an element, n = %zu\n", "input", "", "sum", "+ |sum|",
           "measure", n);
    for (enum format f = 0; f < FORMATS && n > 0; f++) {
        struct problem p = {0};
        struct input in;
        struct array a = {f, n, malloc(array_bytes(f, n))}, out = {f, n, malloc(array_bytes(f, n))};
        if (!a.data || !out.data || input_parse(&in, specification, &p) != STATUS_OK ||
            input_generate(&in, &a, 1, cond, &p) != STATUS_OK) {
            printf("%-24s %-4s %s\n", specification, format_facts[f].name, p.text);
        } else {
            double sum = 1e9, both = 1e9, all = 1e9;
            scan_array(&a, &out);
            for (int run = 0; run < 3; run++) {
                sum = least(sum, stream(&a, false));
                both = least(both, stream(&a, true));
                all = least(all, measuring(&a, &out));
            }
            printf("%-24s %-4s %8.2f %8.2f %8.2f\n", specification, format_facts[f].name, sum, both,
                   all);
        }
        free(a.data);
        free(out.data);
    }
    return 0;
}
