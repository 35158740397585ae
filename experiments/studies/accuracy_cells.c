#include "experiments/studies/accuracy_cells.h"

#include <math.h>
#include <stdlib.h>

bool accuracy_sees(const struct accuracy_view *v, const struct study_case *t)
{
    const struct source *s = &v->plan->source[t->source];
    return t->finished && t->supported &&
           (v->pair.storage == FORMATS || s->array.format == v->pair.storage) &&
           (v->pair.accumulator == FORMATS || t->accumulator == v->pair.accumulator) &&
           (!v->method || t->method == v->method) &&
           (!v->input || (s->array.n == v->n && strcmp(s->name, v->input) == 0));
}

double accuracy_case_digits(const struct study_case *t)
{
    struct figure error = t->err_rel_max;
    if (!error.known) /* the exact sum is 0 */
        return t->summary.err_ulp_max.value == 0 ? INFINITY : 0;
    if (isnan(error.value))
        return NAN;
    return error.value >= 1 ? 0 : -log10(error.value);
}

static void digits_text(char text[16], double digits)
{
    if (isnan(digits))
        snprintf(text, 16, "nan");
    else
        snprintf(text, 16, isinf(digits) ? "exact" : "%.1f", digits);
}

void accuracy_digits(struct table *table, const struct accuracy_view *v)
{
    double worst = INFINITY, best = -1;
    char low[16], high[16];
    for (size_t i = 0; i < v->plan->case_count; i++) {
        const struct study_case *t = &v->plan->cases[i];
        if (!accuracy_sees(v, t) || !t->summary.err_ulp_max.known) /* not known: no finite sum */
            continue;
        double digits = accuracy_case_digits(t);
        worst = !(digits >= worst) && !isnan(worst) ? digits : worst;
        best = digits > best ? digits : best;
        best = best < 0 ? 0 : best;
    }
    digits_text(low, worst);
    digits_text(high, best);
    if (best < 0)
        table_cell(table, "%s", "");
    else if (strcmp(low, high) == 0)
        table_cell(table, "%s", low);
    else
        table_cell(table, "%s..%s", low, high);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

void accuracy_backward(struct table *table, const struct accuracy_view *v, bool both)
{
    double *error = calloc(v->plan->case_count, sizeof *error);
    size_t count = 0;
    for (size_t i = 0; error && i < v->plan->case_count; i++) {
        const struct study_case *t = &v->plan->cases[i];
        if (accuracy_sees(v, t) && t->err_backward_max.known)
            error[count++] = t->err_backward_max.value / format_facts[t->accumulator].unit_roundoff;
    }
    if (count == 0) {
        table_cell(table, "%s", "");
    } else {
        qsort(error, count, sizeof *error, by_value);
        double low = error[(count - 1) / 2], high = error[count / 2], worst = error[count - 1];
        double median = isfinite(high) ? low + (high - low) / 2 : high;
        if (both)
            table_cell(table, "%.2g %.2g", median, worst);
        else
            table_cell(table, isfinite(worst) ? "%.2g" : "overflow", worst);
    }
    free(error);
}
