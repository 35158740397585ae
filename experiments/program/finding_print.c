/* A finding for people. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/program/finding.h"
#include "reference/format/number.h"

static bool print_exact(const char *what, const mpfr_t x)
{
    char decimal[NUMBER_TEXT], *hex = number_hex_mpfr(x);
    number_decimal_mpfr(decimal, x);
    if (hex)
        printf("%-14s %-24s %s\n", what, decimal, hex);
    free(hex);
    return hex;
}

static void print_magnitude(const char *what, double x, bool known)
{
    char decimal[NUMBER_TEXT] = "none", hex[NUMBER_TEXT] = "";
    if (known) {
        number_decimal(decimal, x);
        number_hex(hex, x);
    }
    printf("%-14s %-*s%s%s\n", what, known ? 24 : 0, decimal, known ? " " : "", hex);
}

static void print_condition(const struct reference *r)
{
    double log2 = reference_cond_log2(r);
    if (isnan(log2))
        printf("%-14s not defined: the exact sum is not finite\n", "condition");
    else if (isinf(log2))
        printf("%-14s inf: the exact sum is 0\n", "condition");
    else
        printf("%-14s %-24.6g 2^%.2f\n", "condition", exp2(log2), log2);
}

static void print_figure(struct figure figure)
{
    char text[NUMBER_TEXT] = "-";
    if (figure.known && isnan(figure.value))
        strcpy(text, "nan");
    else if (figure.known)
        snprintf(text, sizeof text, "%.4g", figure.value);
    printf(" %10s", text);
}

static void print_accumulators(const struct finding *f)
{
    printf("\n%s in each accumulator (%s):\n\n", f->method->name, f->method->summary);
    printf("     %-24s %-24s %10s %10s %10s %10s %10s  %s\n", "result", "hexadecimal", "err_abs",
           "err_rel", "err_ulp", "bound", "err/bound", "status");
    for (enum format a = 0; a < ACCUMULATORS; a++) {
        const struct measure *m = &f->measure[a];
        char decimal[NUMBER_TEXT], hex[NUMBER_TEXT];
        number_decimal(decimal, f->result[a]);
        number_hex(hex, f->result[a]);
        printf("%s %-24s %-24s", format_facts[a].name, decimal, hex);
        print_figure(m->err_abs);
        print_figure(m->err_rel);
        print_figure(m->err_ulp);
        print_figure(m->bound);
        print_figure(m->err_over_bound);
        printf("  %s%s\n", outcome_name[m->outcome], m->broken ? ", BOUND BROKEN" : "");
    }
}

enum status finding_print(const struct finding *f, struct problem *p)
{
    const struct reference *r = &f->reference;
    size_t finite = r->n - r->infs - r->nans;
    printf("%s: %zu elements of %s\n\n", f->name, r->n, format_facts[f->array.format].name);
    if (!print_exact("exact sum", r->sum) || !print_exact("sum |x|", r->sum_abs))
        return problem(p, STATUS_DEVICE, "%s: out of memory", f->name);
    print_condition(r);
    print_magnitude("smallest |x|", r->smallest, finite > r->zeros);
    print_magnitude("largest |x|", r->largest, finite > 0);
    printf("%-14s %zu zeros, %zu subnormals, %zu infs, %zu nans\n", "among them", r->zeros,
           r->subnormals, r->infs, r->nans);
    print_accumulators(f);
    return STATUS_OK;
}
