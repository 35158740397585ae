/* results.csv, gathered by case: bits, errors and times of all runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/results/gathered.h"
#include "reports/results/results.h"

/* An encoding, or a hash of many: 0x and up to 32 hexadecimal digits. */
static enum status read_bits(struct hash128 *bits, const struct csv_row *row, struct problem *p)
{
    const char *text = row->field[RESULTS_RESULT_BITS];
    size_t digits = strncmp(text, "0x", 2) == 0 ? strlen(text + 2) : 0;
    if (digits == 0 || digits > 32 || strspn(text + 2, "0123456789abcdefABCDEF") != digits)
        return problem(p, STATUS_DATA,
                       "%s: line %zu: result_bits: found '%s', expected 0x and hexadecimal digits",
                       row->path, row->line, text);
    *bits = (struct hash128){{0, 0}};
    for (const char *c = text + 2; *c; c++) {
        uint64_t digit = (uint64_t)(*c <= '9' ? *c - '0' : (*c | 0x20) - 'a' + 10);
        bits->word[0] = bits->word[0] << 4 | bits->word[1] >> 60;
        bits->word[1] = bits->word[1] << 4 | digit;
    }
    return STATUS_OK;
}

static enum status take_bits(struct gathered_case *c, const struct csv_row *row, struct problem *p)
{
    if (c->runs == c->capacity) {
        size_t capacity = 2 * c->capacity + 4;
        struct hash128 *bits = realloc(c->bits, capacity * sizeof *bits);
        c->bits = bits ? bits : c->bits;
        double *offset = realloc(c->offset, capacity * sizeof *offset);
        c->offset = offset ? offset : c->offset;
        if (!bits || !offset)
            return problem(p, STATUS_DEVICE, "%s: out of memory", row->path);
        c->capacity = capacity;
    }
    if (!c->first) {
        c->first = strdup(row->field[RESULTS_RESULT_BITS]);
        c->result = strdup(row->field[RESULTS_RESULT]);
        if (!c->first || !c->result)
            return problem(p, STATUS_DEVICE, "%s: out of memory", row->path);
    }
    return read_bits(&c->bits[c->runs++], row, p);
}

/* The figures that are read of a row. */
enum { RESULT, EXACT, ABS, REL, ULP, BACKWARD, BOUND, SHARE, TIME, FIGURES };

static enum status read_figures(struct figure f[FIGURES], const struct csv_row *row,
                                struct problem *p)
{
    static const enum results_column column[FIGURES] = {
        [RESULT] = RESULTS_RESULT, [EXACT] = RESULTS_EXACT,
        [ABS] = RESULTS_ERR_ABS,   [REL] = RESULTS_ERR_REL,
        [ULP] = RESULTS_ERR_ULP,   [BACKWARD] = RESULTS_ERR_BACKWARD,
        [BOUND] = RESULTS_BOUND,   [SHARE] = RESULTS_ERR_OVER_BOUND,
        [TIME] = RESULTS_TIME_NS};
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < FIGURES; i++)
        status = csv_figure(row, column[i], results_column(column[i])->name, &f[i], p);
    return status;
}

/* sum|x|, as far as a row tells. */
static struct figure size_of(const struct gathered_case *c, const struct figure f[FIGURES])
{
    if (f[ABS].known && f[BACKWARD].known && f[BACKWARD].value > 0)
        return (struct figure){true, f[ABS].value / f[BACKWARD].value};
    if (f[EXACT].known && f[EXACT].value != 0 && c->cond_log2.known)
        return (struct figure){true, fabs(f[EXACT].value) * exp2(c->cond_log2.value)};
    return (struct figure){0};
}

static void take_figures(struct gathered_case *c, const struct figure f[FIGURES])
{
    struct figure size = size_of(c, f);
    double sign = f[RESULT].known && f[EXACT].known && f[RESULT].value < f[EXACT].value ? -1 : 1;
    c->offset[c->runs - 1] = f[ULP].known ? sign * f[ULP].value : NAN;
    gathered_raise(&c->err_ulp, f[ULP]);
    gathered_raise(&c->err_rel, f[REL]);
    gathered_raise(&c->err_backward, f[BACKWARD]);
    gathered_raise(&c->err_over_bound, f[SHARE]);
    if (f[BOUND].known && size.known && isfinite(size.value) && size.value > 0)
        gathered_raise(&c->bound, (struct figure){true, f[BOUND].value / size.value});
    if (f[TIME].known && !(c->time_ns.known && c->time_ns.value <= f[TIME].value))
        c->time_ns = f[TIME];
}

static enum status take(void *context, const struct csv_row *row, struct problem *p)
{
    struct gathered *g = context;
    struct gathered_case *c = NULL;
    struct figure f[FIGURES];
    enum status status = gathered_case_of(g, row, results_case_column, &c, p);
    if (status != STATUS_OK)
        return status;
    if (!*row->field[RESULTS_RESULT_BITS]) {
        snprintf(c->status, sizeof c->status, "%s", row->field[RESULTS_STATUS]);
        return STATUS_OK;
    }
    status = results_check(row, p);
    if (status == STATUS_OK)
        status = take_bits(c, row, p);
    if (status == STATUS_OK)
        status = read_figures(f, row, p);
    if (status == STATUS_OK)
        take_figures(c, f);
    if (status == STATUS_OK && !columns_of_arrays(g->of))
        c->right_infinity |= f[RESULT].known && isinf(f[RESULT].value) &&
                             strcmp(row->field[RESULTS_STATUS], "ok") == 0;
    return status;
}

static int by_bits(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct hash128));
}

static void sort_results(struct gathered_case *c)
{
    if (c->runs == 0)
        return;
    qsort(c->bits, c->runs, sizeof *c->bits, by_bits);
    for (size_t i = 0; i < c->runs; i++)
        if (i == 0 || by_bits(&c->bits[c->distinct - 1], &c->bits[i]) != 0)
            c->bits[c->distinct++] = c->bits[i];
}

enum status gathered_results(struct gathered *g, struct problem *p)
{
    static const struct gathered_file file = {"results.csv", results_columns, results_column_of,
                                              take};
    enum status status = gathered_file(g, &file, p);
    for (size_t i = 0; status == STATUS_OK && i < g->count; i++)
        sort_results(&g->item[i]);
    return status;
}

enum status gathered_read(struct gathered *g, const char *path, struct problem *p)
{
    enum status status = gathered_study(g, path, p);
    return status == STATUS_OK ? gathered_results(g, p) : status;
}
