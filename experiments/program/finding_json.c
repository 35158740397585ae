/* A finding for programs. */
#include <math.h>
#include <stdlib.h>

#include "experiments/program/finding.h"
#include "reference/format/number.h"

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

/* sum|x| / |sum x|, which may exceed a double: then its 17 digits as a string. */
static json_t *condition(const struct reference *r, double log2)
{
    if (!isfinite(log2))
        return number_or_null(log2, !isnan(log2));
    mpfr_t ratio;
    mpfr_init2(ratio, 128);
    mpfr_div(ratio, r->sum_abs, r->sum, MPFR_RNDN);
    mpfr_abs(ratio, ratio, MPFR_RNDN);
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
    for (enum format a = 0; a < ACCUMULATORS; a++)
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
