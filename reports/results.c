#include "reports/results.h"

#include "reference/number.h"

enum status results_open(struct results *r, const char *path, uint64_t keep, struct problem *p)
{
    *r = (struct results){0};
    return csv_file_open(&r->file, path, keep, results_column, RESULTS_COLUMNS, p);
}

enum status results_close(struct results *r, struct problem *p)
{
    text_free(&r->head);
    text_free(&r->middle);
    return csv_file_close(&r->file, p);
}

void results_case(struct results *r, const char *const text[CASE_COLUMNS])
{
    text_clear(&r->head);
    text_clear(&r->middle);
    for (size_t i = 0; i < CASE_COLUMNS; i++) {
        struct text *part = i < CASE_METHOD ? &r->head : &r->middle;
        text_field(part, text[i]);
        text_add(part, ",");
    }
}

void results_value(struct text *t, enum format accumulator, double value)
{
    char digits[NUMBER_TEXT];
    number_decimal(digits, value);
    text_add(t, digits);
    text_add(t, ",");
    number_hex(digits, value);
    text_add(t, digits);
    text_add(t, ",");
    number_bits(digits, accumulator, value);
    text_add(t, digits);
    text_add(t, ",");
}

void results_exact(struct text *t, const char *decimal, const char *hex)
{
    text_add(t, decimal);
    text_add(t, ",");
    text_add(t, hex);
    text_add(t, ",");
}

void results_errors(struct text *t, const struct measure *m)
{
    const struct figure figure[] = {m->err_abs,      m->err_rel, m->err_ulp,
                                    m->err_backward, m->bound,   m->err_over_bound};
    for (size_t i = 0; i < sizeof figure / sizeof *figure; i++) {
        text_figure(t, figure[i]);
        text_add(t, ",");
    }
}

void results_append(struct results *r, const struct results_row *row)
{
    struct text *t = &r->file.pending;
    text_join(t, &r->head);
    text_unsigned(t, row->run);
    text_append(t, ",", 1);
    text_join(t, &r->middle);
    if (row->value)
        text_join(t, row->value);
    else
        text_append(t, ",,,", 3);
    if (row->exact)
        text_join(t, row->exact);
    else
        text_append(t, ",,", 2);
    if (row->errors)
        text_join(t, row->errors);
    else
        text_append(t, ",,,,,,", 6);
    if (row->timed)
        text_unsigned(t, row->time_ns);
    text_append(t, ",", 1);
    text_add(t, outcome_name[row->outcome]);
    text_append(t, "\n", 1);
}
