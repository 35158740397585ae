/* What each family of inputs for scans is for, shown exactly. */
#include <math.h>
#include <stdio.h>

#include "kernels/method/method.h"
#include "tests/support/generated.h"

enum { SEED = 11 };

/* A prefix of an array, as an array. */
static struct array first(const struct array *a, size_t n)
{
    return (struct array){a->format, n, a->data};
}

/* The exact sum, rounded to double, after `less` is taken away. */
static double nearest_sum(const struct array *a, unsigned less)
{
    mpfr_t sum;
    mpfr_init2(sum, 200);
    oracle_sum(sum, a, false);
    mpfr_sub_ui(sum, sum, less, MPFR_RNDN);
    double x = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clear(sum);
    return x;
}

/* Between +M and -M a running sum stands still while the exact one grows; then it lacks that. */
Test(input_prefix, plateau)
{
    static const char *const specification[] = {"plateau", "plateau:before=0:after=0.5",
                                                "plateau:before=0.5:after=0.01:gap=1"};
    static const double before[] = {0.125, 0, 0.5}, after[] = {0.125, 0.5, 0.01};
    for (size_t k = 0; k < 3; k++)
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (size_t n = 1; n < 3000; n = 3 * n) {
                struct array a = generated(specification[k], f, n, SEED, 0);
                double m = ldexp(1, format_facts[f].precision + (k == 2 ? 1 : 3)), sum = 0;
                size_t begin = n, end = n;
                for (size_t i = 0; i < n; i++) {
                    double x = array_get(&a, i), next = format_add(f, sum, x);
                    begin = x == m ? i : begin;
                    end = x == -m ? i : end;
                    cr_assert(fabs(x) == m || (x >= 0 && x <= 1));
                    cr_assert(!(i > begin && i < end) || next == sum,
                              "%s, %s, n=%zu: element %zu is not lost", specification[k],
                              format_facts[f].name, n, i);
                    sum = next;
                }
                if (n == 1) {
                    cr_assert_eq(begin, 1, "alone, there is no M");
                    free(a.data);
                    continue;
                }
                cr_assert(begin < end && end < n, "%zu, %zu", begin, end);
                cr_assert(fabs((double)begin - before[k] * (double)(n - 2)) <= 1 &&
                              fabs((double)(n - 1 - end) - after[k] * (double)(n - 2)) <= 1,
                          "%s, n=%zu: %zu, %zu", specification[k], n, begin, end);
                double small = nearest_sum(&a, 0);
                cr_assert(k == 2 || n < 100 || fabs(sum - small) > 0.2 * (double)(end - begin),
                          "%s, %s, n=%zu: %g for %g", specification[k], format_facts[f].name, n,
                          sum, small);
                free(a.data);
            }
}

/* Out as far as the drift says, and back to exactly 0, as often as asked for. */
Test(input_prefix, walk)
{
    static const double drift[] = {0, 0.5, 1};
    for (size_t k = 0; k < 3; k++)
        for (size_t returns = 1; returns < 3000; returns *= 7)
            for (enum format f = 0; f < ACCUMULATORS; f++)
                for (size_t n = 1; n < 3000; n = 3 * n + 1) {
                    char specification[64];
                    snprintf(specification, sizeof specification, "walk:drift=%g:returns=%zu",
                             drift[k], returns);
                    struct array a = generated(specification, f, n, SEED, 0);
                    size_t parts = returns < n ? returns : n, begin = 0;
                    for (size_t part = 0; part < parts; part++) {
                        size_t end = n * (part + 1) / parts, half = (end - begin) / 2;
                        struct array out = first(&a, begin + half), there = first(&a, end);
                        double most = 0.5 * drift[k] * (double)half;
                        cr_assert_eq(exact_sum(&there), 0, "%s, %s, n=%zu: return %zu",
                                     specification, format_facts[f].name, n, part);
                        double far = half ? nearest_sum(&out, 0) : 0;
                        /* 5 standard deviations of steps of variance below 1/3 */
                        cr_assert(fabs(far - most) <= 5 * sqrt((double)half / 3) + 1,
                                  "%s, %s, n=%zu: went to %g, expected some %g", specification,
                                  format_facts[f].name, n, far, most);
                        for (size_t i = begin; drift[k] == 1 && i < end; i++)
                            cr_assert(i < begin + half ? array_get(&a, i) >= 0
                                                       : array_get(&a, i) <= 0);
                        begin = end;
                    }
                    cr_assert_eq(begin, n);
                    free(a.data);
                }
}

/* Each run ascends through the binades, and the next begins at the bottom again. */
Test(input_prefix, runs)
{
    static const size_t length[] = {1, 7, 1000};
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t k = 0; k < 3; k++)
            for (int binades = 0; binades <= 10; binades += 5) {
                char specification[64];
                snprintf(specification, sizeof specification, "runs:length=%zu:binades=%d",
                         length[k], binades);
                struct array a = generated(specification, f, 5003, SEED, 0);
                double least = ldexp(1, -binades), last = 0;
                for (size_t i = 0; i < a.n; i++) {
                    double x = array_get(&a, i), at = (double)(i % length[k]);
                    double low = pow(2, binades * (at / (double)length[k] - 1)) * (1 - 0x1p-8);
                    double high = pow(2, binades * ((at + 1) / (double)length[k] - 1));
                    cr_assert(x >= least && x >= low && x <= high * (1 + 0x1p-8),
                              "%s, %s: element %zu is %g, expected %g..%g", specification,
                              format_facts[f].name, i, x, low, high);
                    cr_assert(i % length[k] == 0 || x >= last, "%s, %s: %zu", specification,
                              format_facts[f].name, i);
                    last = x;
                }
                free(a.data);
            }
}

/* Prefixes of a scan in the storage format, no segments unless there are heads. */
static struct array prefixes(const char *name, const struct array *a, const uint8_t *heads)
{
    const struct method *m = method_named(name);
    struct array out = {a->format, a->n, malloc(array_bytes(a->format, a->n))};
    cr_assert(m && out.data, "no %s", name);
    struct task t = {.of = &(struct operands){.in = *a, .heads = heads},
                     .out = out,
                     .accumulator = a->format,
                     .shape = method_shape(m, DEVICE_CPU, a->n, (struct shape){0, 0})};
    cr_assert_eq(m->cpu(&t, NULL), STATUS_OK);
    return out;
}

static size_t falls(const char *name, const struct array *a)
{
    struct array p = prefixes(name, a, NULL);
    size_t count = 0;
    for (size_t i = 1; i < p.n; i++)
        count += array_get(&p, i) < array_get(&p, i - 1);
    free(p.data);
    return count;
}

/* No element is negative, yet prefixes fall wherever the order is a tree; a running sum stays at
 * 1. */
Test(input_prefix, creep)
{
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        struct array a = generated("creep", f, 10000, SEED, 0);
        for (size_t i = 0; i < a.n; i++)
            cr_assert(array_get(&a, i) >= 0);
        cr_assert_eq(serial_sum(&a), 1);
        double left = nearest_sum(&a, 1) / format_facts[f].unit_roundoff;
        cr_assert(left > 4800 && left < 5200, "%s: %g u", format_facts[f].name, left);
        cr_assert_eq(falls("scan/serial", &a), 0);
        cr_assert_gt(falls("scan/tiled", &a), 20, "%s", format_facts[f].name);
        cr_assert_gt(falls("scan/blelloch", &a), 2, "%s", format_facts[f].name);
        free(a.data);
    }
}

static bool odd_one_out(double x)
{
    return !(fabs(x) <= 1);
}

/* The stretch stands where it is said to, and what is not finite stays in its segment. */
Test(input_prefix, inf_segment)
{
    static const struct {
        const char *specification;
        size_t begin, length;
        double sign;
        bool nan;
    } cases[] = {{"inf_segment", 500, 100, 1, false},
                 {"inf_segment:sign=-1:length=7:at=0", 0, 7, -1, false},
                 {"inf_segment:sign=0:at=0.25", 250, 100, 0, false},
                 {"inf_segment:length=1:at=0.999", 999, 1, 1, false},
                 {"inf_segment:length=5000:nan=1", 500, 500, 1, false},
                 {"inf_segment:length=10:nan=1", 500, 10, 1, true}};
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            struct array a = generated(cases[k].specification, f, 1000, SEED, 0);
            size_t end = cases[k].begin + cases[k].length, behind = end + cases[k].nan;
            uint8_t heads[1000] = {0};
            heads[cases[k].begin] = 1;
            if (behind < a.n)
                heads[behind] = 1;
            struct array whole = prefixes("scan/tiled", &a, NULL),
                         parts = prefixes("scan/segmented", &a, heads);
            for (size_t i = 0; i < a.n; i++) {
                double x = array_get(&a, i), sign = cases[k].sign;
                bool inside = i >= cases[k].begin && i < behind;
                if (sign == 0)
                    sign = (i - cases[k].begin) % 2 ? -1 : 1;
                cr_assert(i == end && cases[k].nan ? isnan(x)
                          : inside                 ? x == sign * INFINITY
                                                   : fabs(x) <= 1,
                          "%s, %s: element %zu is %g", cases[k].specification, format_facts[f].name,
                          i, x);
                cr_assert_eq(odd_one_out(array_get(&parts, i) / 1000), inside,
                             "%s, %s: output %zu of scan/segmented is %g", cases[k].specification,
                             format_facts[f].name, i, array_get(&parts, i));
                cr_assert_eq(odd_one_out(array_get(&whole, i) / 1000), i >= cases[k].begin,
                             "%s, %s: output %zu of scan/tiled is %g", cases[k].specification,
                             format_facts[f].name, i, array_get(&whole, i));
            }
            free(a.data);
            free(whole.data);
            free(parts.data);
        }
}
