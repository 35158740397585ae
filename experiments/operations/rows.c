/* Sums and statistics of rows: how many there are, and how they lie. */
#include <stdio.h>

#include "experiments/operations/operation.h"
#include "kernels/method/matrix.h"

static void columns(struct setting_columns *to, const struct setting *s)
{
    snprintf(to->number[0], sizeof to->number[0], "%zu", s->bins);
    to->column[CASE_KEYS] = s->layout->name;
    to->column[CASE_BINS] = to->number[0];
}

static size_t words(struct setting_word *word, const struct setting *s)
{
    word[0] = (struct setting_word){SETTING_ROWS, NULL, NULL, s->bins, ""};
    word[1] = (struct setting_word){SETTING_LAYOUT, s->layout->name, s->layout->name, 0, ""};
    return 2;
}

static void says(struct text *to, const struct setting *s)
{
    text_format(to, "%zu row%s, layout %s", s->bins, text_s(s->bins), s->layout->name);
}

static void note(char note[SETTING_NOTE], const struct method *m, const struct setting *s)
{
    (void)m;
    snprintf(note, SETTING_NOTE, "%zu row%s, %s", s->bins, text_s(s->bins), s->layout->name);
}

static enum status each(const struct setting_asked *asked, struct setting s, setting_visit *visit,
                        void *context, struct problem *p)
{
    const struct setting_axes *axes = asked->axes;
    enum status status = STATUS_OK;
    size_t stride;
    for (size_t i = 0; i < axes->rows.count; i++)
        for (size_t k = 0; status == STATUS_OK && k < axes->layouts; k++) {
            s.bins = layout_asked(axes, (size_t)axes->rows.item[i], asked->n, axes->layout[k].kind);
            s.layout = &axes->layout[k];
            status = layout_stride(&stride, s.layout, asked->n, s.bins, p);
            if (status == STATUS_OK)
                status = visit(context, &s, p);
        }
    return status;
}

static enum status make(struct setting_operands *to, const struct setting *s, uint64_t seed,
                        struct problem *p)
{
    (void)seed;
    return layout_stride(&to->of.stride, s->layout, to->of.in.n, s->bins, p);
}

static void places(uint32_t *place, const struct operands *of)
{
    layout_keys(place, of->in.n, of->bins, of->stride);
}

static void vary(struct setting *s, const struct setting_axes *axes, size_t n, size_t u)
{
    static const struct layout row = {LAYOUT_ROW, 0, "row"}, column = {LAYOUT_COLUMN, 0, "column"};
    s->layout = axes->layouts ? &axes->layout[u % axes->layouts] : u % 2 ? &column : &row;
    s->bins = layout_vary(axes, n, u / 2, s->layout->kind);
}

static void sample(struct setting *s, size_t n)
{
    static const struct layout row = {LAYOUT_ROW, 0, "row"};
    s->bins = layout_rows(n, 0);
    if (s->layout->kind == LAYOUT_BATCH)
        s->layout = &row;
}

/* --- a row elsewhere --- */

static struct batch_place batch(const struct setting *s, size_t n)
{
    return (struct batch_place){.side = {s->bins, 1}, .terms = matrix_length(n, s->bins)};
}

static bool in_batch(struct surrounding *to, const struct setting *s, const struct batch_place *at)
{
    static const struct layout layouts[] = {{LAYOUT_ROW, 0, "row"},
                                            {LAYOUT_COLUMN, 0, "column"},
                                            {LAYOUT_BATCH, 2, "batch:2"},
                                            {LAYOUT_BATCH, 4, "batch:4"},
                                            {LAYOUT_BATCH, 8, "batch:8"}};
    size_t rows = at->side[0], stride;
    if (at->pad > 0 || at->layout >= (int)(sizeof layouts / sizeof *layouts))
        return false;
    to->setting.bins = rows;
    to->n = rows * at->terms;
    if (at->layout != BATCH_AS_IS)
        to->setting.layout = &layouts[at->layout];
    bool fits = layout_stride(&stride, to->setting.layout, to->n, rows, NULL) == STATUS_OK;
    if (!fits && at->layout == BATCH_AS_IS)
        to->setting.layout = &layouts[0];
    (void)s;
    return fits || at->layout == BATCH_AS_IS;
}

static size_t stride_of(const struct setting *s, size_t n)
{
    size_t stride = 1;
    layout_stride(&stride, s->layout, n, s->bins, NULL);
    return stride;
}

static void fill_batch(const struct array *to, const struct surrounding *is,
                       const struct batch_place *at, const struct array *from,
                       const struct setting *s)
{
    bool all = at->alike || at->turns > 0;
    size_t length = matrix_length(from->n, s->bins), first = all ? 0 : at->at[0],
           end = all ? at->side[0] : first + 1, own = stride_of(s, from->n),
           stride = stride_of(&is->setting, is->n);
    for (size_t r = first; r < end; r++) {
        const size_t row = at->of[0] + (at->turns ? r % at->turns : 0);
        if (at->turns > 0 && r >= at->turns && stride == 1) {
            setting_copy(to, r * at->terms, (r - at->turns) * at->terms, at->terms);
            continue;
        }
        const size_t there = matrix_at(r, 0, at->terms, stride),
                     here = matrix_at(row, 0, length, own);
        for (size_t k = 0; k < at->terms; k++)
            array_set_bits(to, there + k * stride, array_bits(from, here + k * own));
    }
}

static size_t of_first_element(const struct surrounding *is, const struct batch_place *at,
                               size_t item)
{
    return matrix_at(item, 0, at->terms, stride_of(&is->setting, is->n));
}

/* --- what costs less, where nothing is timed --- */

static double cost(const struct method *m, const struct setting *s, enum format storage,
                   enum format accumulator)
{
    enum { EXACT = 1000 };
    (void)s, (void)storage;
    return m->addition == ADDITION_EXACT ? EXACT : method_sum_bytes(m, accumulator);
}

#define USE_OF_ROWS(its_operation, its_item_output)                                                \
    {                                                                                              \
        .operation = &(its_operation), .columns_of = COLUMNS_OF_SCATTERS,                          \
        .reads = 1 << SETTING_ROWS | 1 << SETTING_LAYOUT, .columns = columns, .words = words,      \
        .says = says, .note = note, .each = each, .make = make, .places = places, .vary = vary,    \
        .batches = true, .not_recorded = true, .sample = sample, .sides = 1, .batch = batch,       \
        .in_batch = in_batch, .fill_batch = fill_batch, .item_output = its_item_output,            \
        .cost = cost, .costs = "the narrower accumulator first, exact values last",                \
        .request = REQUEST_OF_ROWS, .tell = request_write_rows, .told = request_read_rows          \
    }
const struct operation_use use_rows = USE_OF_ROWS(operation_rows, NULL),
                           use_rowmean = USE_OF_ROWS(operation_rowmean, NULL),
                           use_rowvariance = USE_OF_ROWS(operation_rowvariance, NULL),
                           use_sumexp = USE_OF_ROWS(operation_sumexp, NULL),
                           use_logsumexp = USE_OF_ROWS(operation_logsumexp, NULL),
                           use_softmax = USE_OF_ROWS(operation_softmax, of_first_element),
                           use_rmsnorm = USE_OF_ROWS(operation_rmsnorm, of_first_element),
                           use_layernorm = USE_OF_ROWS(operation_layernorm, of_first_element);
