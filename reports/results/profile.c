#include "reports/results/profile.h"

#include "reference/format/number.h"

enum status profile_open(struct csv_file *f, const char *path, uint64_t keep, struct problem *p)
{
    return csv_file_open(f, path, keep, profile_column, PROFILE_COLUMNS, p);
}

/* The columns up to the segment. */
static void case_part(struct text *t, const char *const text[CASE_SCAN_COLUMNS])
{
    for (size_t i = 0; i < CASE_SCAN_COLUMNS; i++) {
        if (i == CASE_ADDED_IN || i == CASE_RESULT_FORMAT)
            continue;
        text_add(t, i == CASE_METHOD ? "1," : ""); /* the run */
        text_field(t, text[i]);
        text_add(t, ",");
    }
}

static void point_part(struct text *t, enum format output, const struct scan_point *point)
{
    char digits[NUMBER_TEXT];
    const struct figure figure[] = {point->err_abs, point->err_ulp, point->bound,
                                    point->err_over_bound};
    text_unsigned(t, point->index);
    text_add(t, ",");
    number_decimal(digits, point->result);
    text_add(t, digits);
    text_add(t, ",");
    number_bits(digits, output, point->result);
    text_add(t, digits);
    for (size_t i = 0; i < sizeof figure / sizeof *figure; i++) {
        text_add(t, ",");
        text_figure(t, figure[i]);
    }
    text_add(t, "\n");
}

void profile_append(struct csv_file *f, const char *const text[CASE_SCAN_COLUMNS],
                    enum format output, const struct scan_measure *m)
{
    struct text fixed = {0};
    case_part(&fixed, text);
    for (size_t i = 0; i < m->points; i++) {
        text_join(&f->pending, &fixed);
        point_part(&f->pending, output, &m->point[i]);
    }
    text_free(&fixed);
}
