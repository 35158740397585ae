#include "experiments/operations/layout.h"

#include <stdio.h>
#include <string.h>

#include "experiments/operations/setting.h"
#include "experiments/options/options.h"
#include "kernels/method/matrix.h"
#include "reports/text/near.h"

enum status layout_parse(struct layout *l, const char *text, struct problem *p)
{
    struct numbers size = {0};
    *l = (struct layout){LAYOUT_ROW, 0, "row"};
    if (strcmp(text, "row") == 0)
        return STATUS_OK;
    *l = (struct layout){LAYOUT_COLUMN, 0, "column"};
    if (strcmp(text, "column") == 0)
        return STATUS_OK;
    if (strncmp(text, "batch:", 6) != 0)
        return near_unknown_option(p, "layout", text, "row, column or batch:S");
    enum status status =
        numbers_parse(&size, "layout", text + 6, RANGE_DOUBLING, 1, LAYOUT_ROWS_MAX, p);
    if (status == STATUS_OK && size.count > 1)
        status = problem(p, STATUS_USAGE, "option --layout: found '%s', expected one S", text);
    *l = (struct layout){LAYOUT_BATCH, size.count ? (size_t)size.item[0] : 0, ""};
    snprintf(l->name, sizeof l->name, "batch:%zu", l->batch);
    numbers_free(&size);
    return status;
}

size_t layout_rows(size_t n, size_t asked)
{
    size_t rows = 1;
    if (asked > 0)
        return asked;
    while (rows < n / rows)
        rows *= 2;
    while (rows > 1 && (n % rows != 0 || rows > n / rows))
        rows--;
    return rows;
}

size_t layout_asked(const struct setting_axes *axes, size_t asked, size_t n, enum layout_kind kind)
{
    size_t rows = axes->file_rows;
    bool fits = rows > 0 && n % rows == 0 && kind != LAYOUT_BATCH;
    size_t sums = fits && kind == LAYOUT_COLUMN ? n / rows : rows;
    return layout_rows(n, asked == 0 && fits && sums <= LAYOUT_ROWS_MAX ? sums : asked);
}

size_t layout_vary(const struct setting_axes *axes, size_t n, size_t u, enum layout_kind kind)
{
    const struct numbers *asked = &axes->rows;
    size_t few = 16;
    if (asked->count || axes->file_rows)
        return layout_asked(axes, asked->count ? (size_t)asked->item[u % asked->count] : 0, n,
                            kind);
    while (n % few != 0)
        few--;
    return u % 4 == 0 ? layout_rows(n, 0) : u % 4 == 1 ? 1 : u % 4 == 2 ? few : n;
}

enum status layout_stride(size_t *stride, const struct layout *l, size_t n, size_t rows,
                          struct problem *p)
{
    *stride = l->kind == LAYOUT_ROW ? 1 : l->kind == LAYOUT_COLUMN ? rows : l->batch;
    if (n % rows != 0)
        return problem(p, STATUS_USAGE,
                       "option --rows: found %zu with n = %zu, expected a divisor of n", rows, n);
    if (rows % *stride != 0)
        return problem(p, STATUS_USAGE,
                       "option --layout: found %s with %zu rows, expected a divisor of that",
                       l->name, rows);
    return STATUS_OK;
}

void layout_keys(uint32_t *to, size_t n, size_t rows, size_t stride)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (uint32_t)matrix_row(i, matrix_length(n, rows), stride);
}
