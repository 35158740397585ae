/* Transpositions: of matrices of how many rows. They are read row after row. */
#include <stdio.h>

#include "experiments/operations/operation.h"
#include "kernels/method/matrix.h"

static const struct layout row = {LAYOUT_ROW, 0, "row"};

static void columns(struct setting_columns *to, const struct setting *s)
{
    snprintf(to->number[0], sizeof to->number[0], "%zu", s->bins);
    to->column[CASE_KEYS] = "transposed";
    to->column[CASE_BINS] = to->number[0];
}

static size_t words(struct setting_word *word, const struct setting *s)
{
    *word = (struct setting_word){SETTING_ROWS, NULL, NULL, s->bins, ""};
    return 1;
}

static void says(struct text *to, const struct setting *s)
{
    text_format(to, "%zu rows transposed", s->bins);
}

static void note(char note[SETTING_NOTE], const struct method *m, const struct setting *s)
{
    (void)m;
    snprintf(note, SETTING_NOTE, "%zu rows", s->bins);
}

static enum status each(const struct setting_asked *asked, struct setting s, setting_visit *visit,
                        void *context, struct problem *p)
{
    const struct numbers *rows = &asked->axes->rows;
    enum status status = STATUS_OK;
    size_t stride;
    for (size_t i = 0; status == STATUS_OK && i < rows->count; i++) {
        s.bins = layout_asked(asked->axes, (size_t)rows->item[i], asked->n, LAYOUT_ROW);
        status = layout_stride(&stride, &row, asked->n, s.bins, p);
        if (status == STATUS_OK)
            status = visit(context, &s, p);
    }
    return status;
}

static void places(uint32_t *place, const struct operands *of)
{
    size_t columns = matrix_length(of->in.n, of->bins);
    for (size_t i = 0; i < of->in.n; i++)
        place[i] = (uint32_t)(i % columns * of->bins + i / columns);
}

static enum status make(struct setting_operands *to, const struct setting *s, uint64_t seed,
                        struct problem *p)
{
    (void)seed;
    return layout_stride(&to->of.stride, &row, to->of.in.n, s->bins, p);
}

static void vary(struct setting *s, const struct setting_axes *axes, size_t n, size_t u)
{
    s->bins = layout_vary(axes, n, u / 2, LAYOUT_ROW);
}

static void sample(struct setting *s, size_t n)
{
    s->bins = layout_rows(n, 0);
}

const struct operation_use use_transpose = {
    .operation = &operation_transpose,
    .columns_of = COLUMNS_OF_SCATTERS,
    .reads = 1 << SETTING_ROWS | 1 << SETTING_LAYOUT,
    .columns = columns,
    .words = words,
    .says = says,
    .note = note,
    .each = each,
    .places = places,
    .make = make,
    .vary = vary,
    .not_recorded = true,
    .sample = sample,
    .request = REQUEST_OF_ROWS,
    .tell = request_write_rows,
    .told = request_read_rows,
};
