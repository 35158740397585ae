#include "experiments/studies/gemm_scales.h"

#include <math.h>

#include "experiments/cases/case_text.h"
#include "experiments/operations/quantise.h"
#include "experiments/studies/says.h"
#include "reports/csv/file.h"

/* The first case of its input and shape with scales from files, or made from the data, that has
 * results. */
static bool finds_scales(const struct plan *plan, size_t i)
{
    const struct study_case *t = &plan->cases[i];
    const struct gemm_shape *shape = &t->setting.shape;
    bool first = (quantise_by_amax(shape) || shape->given) && t->finished && t->supported;
    for (size_t k = 0; k < i && first; k++) {
        const struct study_case *earlier = &plan->cases[k];
        first = earlier->source != t->source || !earlier->finished || !earlier->supported ||
                !shape_equal(&earlier->setting.shape, &t->setting.shape);
    }
    return first;
}

/* What is made of the scales of a case, once its operands are. */
typedef void scales_use(struct text *to, const struct study_case *t, const struct source *s,
                        const struct operands *made);

static enum status use_scales(struct text *to, const struct study_case *t, struct source s,
                              scales_use *use, struct problem *p)
{
    if (s.generated)
        s.array.data = NULL; /* a copy of its own */
    enum status status = source_load(&s, p);
    if (status != STATUS_OK)
        return status;
    struct setting_operands made = {.of = {.in = s.array}, .wide = s.wide};
    status = setting_make(&made, t->method->operation, &t->setting, s.seed, p);
    if (status == STATUS_OK) {
        use(to, t, &s, &made.of);
        setting_free(&made);
    }
    if (s.generated)
        source_unload(&s);
    return status;
}

static enum status each(struct text *to, const struct plan *plan, scales_use *use,
                        struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < plan->case_count && status == STATUS_OK; i++)
        if (finds_scales(plan, i))
            status = use_scales(to, &plan->cases[i], plan->source[plan->cases[i].source], use, p);
    return status;
}

/* "A 0.00123331" of one; "A 0.0011 to 0.0029 (16)" of several. */
static void add_range(struct text *line, const struct operands *of, int side)
{
    const struct matrices_scales s = gemm_scales(of, side);
    const size_t count = gemm_scales_count(&of->gemm, side);
    float least = INFINITY, most = 0;
    for (size_t i = 0; i < count; i++) {
        least = fminf(least, s.of[i]);
        most = fmaxf(most, s.of[i]);
    }
    text_format(line, " %c", "AB"[side]);
    if (count > 0)
        text_format(line, " %.6g", (double)least);
    if (count > 1)
        text_format(line, " to %.6g (%zu)", (double)most, count);
}

static void say(struct text *to, const struct study_case *t, const struct source *s,
                const struct operands *made)
{
    struct text line = {0};
    char shape[SHAPE_NAME];
    shape_name(shape, &t->setting.shape);
    text_format(&line, "scales of %s, %s:", s->name, shape);
    add_range(&line, made, 0);
    text_add(&line, ",");
    add_range(&line, made, 1);
    says_line(to, &line);
}

enum status gemm_scales_says(struct text *to, const struct plan *plan, struct problem *p)
{
    return each(to, plan, say, p);
}

/* --- scales.csv --- */

static void add_rows(struct text *to, const struct study_case *t, const struct source *s,
                     const struct operands *made, int side)
{
    static const enum case_column same[] = {CASE_STORAGE, CASE_INPUT, CASE_N, CASE_SEED, CASE_KEYS};
    const struct gemm_shape *shape = &made->gemm;
    const struct matrices_scales scales = gemm_scales(made, side);
    const size_t count = gemm_scales_count(shape, side), lines = side == 0 ? shape->m : shape->n;
    struct case_text text;
    case_text(&text, t, s, "", (struct figure){0});
    for (size_t i = 0; i < count; i++) {
        const size_t line = i / scales.along * scales.lines, k = i % scales.along * scales.terms;
        const size_t of_lines = lines - line < scales.lines ? lines - line : scales.lines;
        const size_t terms = shape->k - k < scales.terms ? shape->k - k : scales.terms;
        for (size_t c = 0; c < sizeof same / sizeof *same; c++) {
            text_field(to, text.column[same[c]]);
            text_add(to, ",");
        }
        text_format(to, "%c,%zu,%zu,%zu,%zu,", "AB"[side], line, of_lines, k, terms);
        char decimal[NUMBER_TEXT], hex[NUMBER_TEXT];
        number_decimal(decimal, (double)scales.of[i]);
        number_hex(hex, (double)scales.of[i]);
        text_format(to, "%s,%s\n", decimal, hex);
    }
}

static void add_all(struct text *to, const struct study_case *t, const struct source *s,
                    const struct operands *made)
{
    for (int side = 0; side < 2; side++)
        add_rows(to, t, s, made, side);
}

static bool due(const struct plan *plan)
{
    return axes_quantise(plan->axes) || plan->axes->setting.given;
}

enum status gemm_scales_write(const struct plan *plan, const char *out, struct problem *p)
{
    struct text rows = {0};
    if (!due(plan))
        return STATUS_OK;
    enum status status = each(&rows, plan, add_all, p);
    if (status == STATUS_OK)
        status = csv_file_replace(out, "scales", &rows, scales_column, SCALES_COLUMNS, p);
    text_free(&rows);
    return status;
}

static bool is_name(size_t column)
{
    return column <= SCALES_INPUT || (column >= SCALES_SHAPE && column <= SCALES_MATRIX) ||
           column == SCALES_SCALE_HEX;
}

const struct derived_file gemm_scales_files[] = {
    {"scales", "each scale", scales_column, SCALES_COLUMNS, is_name, due}, {0}};
