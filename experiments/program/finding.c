#include "experiments/program/finding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/format/number.h"
#include "reports/text/table.h"

/* --- A finding for programs --- */

static json_t *number(double x)
{
    char text[NUMBER_TEXT];
    number_decimal(text, x);
    return isfinite(x) ? json_real(x) : json_string(text);
}

static json_t *number_or_null(double x, bool known)
{
    return known ? number(x) : json_null();
}

static json_t *figure(struct figure f)
{
    return number_or_null(f.value, f.known);
}

static json_t *decimal(const mpfr_t x)
{
    char text[NUMBER_TEXT];
    number_decimal_mpfr(text, x);
    return json_string(text);
}

static json_t *hex(const mpfr_t x)
{
    char *text = number_hex_mpfr(x);
    json_t *string = text ? json_string(text) : NULL;
    free(text);
    return string;
}

/* sum|x| / |sum x|, of a sum that is finite and not 0. */
static void set_ratio(mpfr_t ratio, const struct reference *r)
{
    mpfr_init2(ratio, 128);
    mpfr_div(ratio, r->sum_abs, r->sum, MPFR_RNDN);
    mpfr_abs(ratio, ratio, MPFR_RNDN);
}

/* It may exceed a double: then its 17 digits as a string. */
static json_t *condition(const struct reference *r, double log2)
{
    if (!isfinite(log2))
        return number_or_null(log2, !isnan(log2));
    mpfr_t ratio;
    set_ratio(ratio, r);
    double x = mpfr_get_d(ratio, MPFR_RNDN);
    json_t *value = isfinite(x) ? json_real(x) : decimal(ratio);
    mpfr_clear(ratio);
    return value;
}

static json_t *accumulator(const struct finding *f, enum format a)
{
    const struct measure *m = &f->measure[a];
    char hexadecimal[NUMBER_TEXT], bits[NUMBER_TEXT];
    number_hex(hexadecimal, f->result[a]);
    number_bits(bits, a, f->result[a]);
    return json_pack("{ss ss so ss ss so so so so so so ss}", "accumulator", format_facts[a].name,
                     "method", f->method->name, "result", number(f->result[a]), "result_hex",
                     hexadecimal, "result_bits", bits, "err_abs", figure(m->err_abs), "err_rel",
                     figure(m->err_rel), "err_ulp", figure(m->err_ulp), "err_backward",
                     figure(m->err_backward), "bound", figure(m->bound), "err_over_bound",
                     figure(m->err_over_bound), "status", outcome_name[m->outcome]);
}

json_t *finding_json(const struct finding *f)
{
    const struct reference *r = &f->reference;
    size_t finite = r->n - r->infs - r->nans;
    double log2 = reference_cond_log2(r);
    json_t *accumulators = json_array();
    for (enum format a = 0; a < ACCUMULATORS && !f->streamed; a++)
        json_array_append_new(accumulators, accumulator(f, a));
    return json_pack("{ss ss sI so so so so so so so so sI sI sI sI so}", "name", f->name,
                     "storage", format_facts[f->array.format].name, "n", (json_int_t)r->n, "exact",
                     decimal(r->sum), "exact_hex", hex(r->sum), "sum_abs", decimal(r->sum_abs),
                     "sum_abs_hex", hex(r->sum_abs), "cond", condition(r, log2), "cond_log2",
                     number_or_null(log2, !isnan(log2)), "smallest",
                     number_or_null(r->smallest, finite > r->zeros), "largest",
                     number_or_null(r->largest, finite > 0), "zeros", (json_int_t)r->zeros,
                     "subnormals", (json_int_t)r->subnormals, "infs", (json_int_t)r->infs, "nans",
                     (json_int_t)r->nans, "accumulators", accumulators);
}

/* --- A finding for people --- */

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
    else {
        mpfr_t ratio;
        set_ratio(ratio, r);
        mpfr_printf("%-14s %-24.6Rg 2^%.2f\n", "condition", ratio, log2);
        mpfr_clear(ratio);
    }
}

static void add_figure(struct table *t, struct figure figure)
{
    if (figure.known && isnan(figure.value))
        table_cell(t, "nan");
    else if (figure.known)
        table_cell(t, "%.4g", figure.value);
    else
        table_cell(t, "-");
}

static void print_accumulators(const struct finding *f)
{
    static const char *const name[] = {"",        "result", "hexadecimal", "err_abs", "err_rel",
                                       "err_ulp", "bound",  "err/bound",   "status"};
    struct table table = {.align = "lllRrrRrl"};
    struct text text = {0};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        table_cell(&table, "%s", name[i]);
    for (enum format a = 0; a < ACCUMULATORS; a++) {
        const struct measure *m = &f->measure[a];
        char decimal[NUMBER_TEXT], hex[NUMBER_TEXT];
        number_decimal(decimal, f->result[a]);
        number_hex(hex, f->result[a]);
        table_cell(&table, "%s", format_facts[a].name);
        table_cell(&table, "%s", decimal);
        table_cell(&table, "%s", hex);
        add_figure(&table, m->err_abs);
        add_figure(&table, m->err_rel);
        add_figure(&table, m->err_ulp);
        add_figure(&table, m->bound);
        add_figure(&table, m->err_over_bound);
        table_cell(&table, "%s%s", outcome_name[m->outcome], m->broken ? ", BOUND BROKEN" : "");
    }
    table_draw(&text, &table);
    printf("\n%s in each accumulator (%s):\n\n%s", f->method->name, f->method->summary,
           text_string(&text) ? text_string(&text) : "");
    text_free(&text);
    table_free(&table);
}

enum status finding_print(const struct finding *f, struct problem *p)
{
    const struct reference *r = &f->reference;
    size_t finite = r->n - r->infs - r->nans;
    printf("%s: %zu elements of %s\n\n", f->name, r->n, format_facts[f->array.format].name);
    if (!print_exact("exact sum", r->sum) || !print_exact("sum |x|", r->sum_abs))
        return problem(p, STATUS_MEMORY, "%s: out of memory", f->name);
    print_condition(r);
    print_magnitude("smallest |x|", r->smallest, finite > r->zeros);
    print_magnitude("largest |x|", r->largest, finite > 0);
    printf("%-14s %zu zeros, %zu subnormals, %zu infs, %zu nans\n", "among them", r->zeros,
           r->subnormals, r->infs, r->nans);
    if (f->streamed)
        printf("\naccumulators   not tried: the array was read block by block\n");
    else
        print_accumulators(f);
    return STATUS_OK;
}

static enum status add_up(struct finding *f, enum format accumulator, struct problem *p)
{
    uint64_t bits = 0;
    struct shape shape = method_shape(f->method, DEVICE_CPU, f->array.n, (struct shape){0});
    struct task task = {.of = &(struct operands){.in = f->array},
                        .out = {accumulator, 1, &bits},
                        .accumulator = accumulator,
                        .shape = shape};
    enum status status = f->method->cpu(&task, p);
    if (status != STATUS_OK)
        return status;
    struct theorem theorem = method_theorem(f->method, DEVICE_CPU, accumulator, f->array.n, shape);
    f->result[accumulator] = array_get(&task.out, 0);
    measure(&f->measure[accumulator], &f->reference, f->array.format, accumulator,
            f->result[accumulator], &theorem);
    f->broken |= f->measure[accumulator].broken;
    return STATUS_OK;
}

enum status finding_make(struct finding *f, const char *name, const struct array *array,
                         enum reference_kind kind, struct problem *p)
{
    *f = (struct finding){.name = name, .array = *array, .method = method_named("sum/serial")};
    enum status status = reference_compute(&f->reference, array, kind, p);
    if (status != STATUS_OK)
        return status;
    for (enum format a = 0; a < ACCUMULATORS && status == STATUS_OK; a++)
        status = add_up(f, a, p);
    if (status != STATUS_OK)
        finding_free(f);
    return status;
}

void finding_streamed(struct finding *f, const char *name, enum format storage,
                      const struct reference *reference)
{
    *f = (struct finding){.name = name,
                          .array = {storage, reference->n, NULL},
                          .reference = *reference,
                          .streamed = true};
}

void finding_free(struct finding *f)
{
    reference_free(&f->reference);
}
