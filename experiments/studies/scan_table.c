#include "experiments/studies/scan_table.h"
#include "reports/text/against.h"

#include <inttypes.h>
#include <stdlib.h>

#include "experiments/sweep/breaks.h"
#include "experiments/cases/experiment.h"
#include "experiments/studies/says.h"
#include "experiments/studies/steady.h"

enum { CASE_CELLS = 6, ALIGN_TEXT = 32 };

static bool shown(const struct scan_table *t, const struct study_case *one)
{
    return one->finished && one->supported && !(t->left_out && t->left_out(t->plan, one->method));
}

/* Do they stand in one table? Storage formats do not part them. */
static bool together(const struct plan *plan, const struct study_case *a,
                     const struct study_case *b)
{
    const struct source *x = &plan->source[a->source], *y = &plan->source[b->source];
    return x->array.n == y->array.n && x->generated == y->generated && x->seed == y->seed &&
           strcmp(x->name, y->name) == 0 && a->setting.exclusive == b->setting.exclusive &&
           a->setting.keys == b->setting.keys && a->setting.bins == b->setting.bins &&
           a->setting.layout == b->setting.layout && a->setting.keep == b->setting.keep &&
           shape_equal(&a->setting.shape, &b->setting.shape) &&
           a->method->operation == b->method->operation && a->device.kind == b->device.kind &&
           a->device.index == b->device.index;
}

/* Do they differ in the method, its segments or its shape alone? Those stand one below the other.
 */
static bool alike(const struct study_case *a, const struct study_case *b)
{
    return a->source == b->source && a->accumulator == b->accumulator &&
           a->setting.output == b->setting.output;
}

static void heading(struct text *to, const struct plan *plan, const struct study_case *one)
{
    const struct source *s = &plan->source[one->source];
    struct setting common = one->setting;
    char device[DEVICE_TEXT];
    device_name(one->device, device);
    text_format(to, "%s, n = %zu, ", s->name, s->array.n);
    common.chip = NULL; /* these are a row's */
    common.promote = 0;
    common.heuristic = (struct heuristic){0};
    setting_says(to, one->method->operation, &common);
    if (s->generated && plan->axes->seed.count > 1)
        text_format(to, ", seed %" PRIu64, s->seed);
    if (plan->axes->devices > 1)
        text_format(to, ", %s", device);
    text_add(to, "\n");
}

/* A launch shape only where several were asked for: else it is that of the method. */
static void shape_cell(struct table *to, const struct numbers *asked, unsigned value)
{
    if (asked->count > 1 && value)
        table_cell(to, "%u", value);
    else
        table_cell(to, "%s", "");
}

static void heuristic_cells(struct table *to, const struct heuristic *h)
{
    const size_t number[] = {h->workspace, h->algorithm};
    const bool has[] = {h->has_workspace, h->has_algorithm};
    for (size_t i = 0; i < 2; i++)
        if (has[i])
            table_cell(to, "%zu", number[i]);
        else
            table_cell(to, "%s", "");
}

static void case_cells(struct table *to, const struct plan *plan, const struct study_case *one)
{
    const struct axes *axes = plan->axes;
    const char *storage = format_facts[plan->source[one->source].array.format].name,
               *accumulator = format_facts[one->accumulator].name;
    if (axes->setting.outputs > 1 || axes->setting.output[0] != OUTPUT_ACCUMULATOR)
        table_cell(to, "%s/%s/%s", storage, accumulator, format_facts[one->setting.output].name);
    else
        table_cell(to, "%s/%s", storage, accumulator);
    if (one->setting.segment)
        table_cell(to, "%s%s %zu", one->method->name, breaks_mark(one), one->setting.segment);
    else if (one->setting.promote)
        table_cell(to, "%s%s %s/%zu", one->method->name, breaks_mark(one), one->setting.chip,
                   one->setting.promote);
    else
        table_cell(to, "%s%s%s%s", one->method->name, breaks_mark(one),
                   one->setting.chip ? " " : "", one->setting.chip ? one->setting.chip : "");
    heuristic_cells(to, &one->setting.heuristic);
    shape_cell(to, &axes->threads, one->shape.threads);
    shape_cell(to, &axes->blocks, one->shape.blocks);
}

/* The rows of a case and of those like it in the same table. */
static void rows(struct table *to, const struct scan_table *t, size_t first, bool *drawn)
{
    const struct study_case *cases = t->plan->cases;
    for (size_t i = first; i < t->plan->case_count; i++) {
        if (drawn[i] || !shown(t, &cases[i]) || !alike(&cases[first], &cases[i]) ||
            !together(t->plan, &cases[first], &cases[i]))
            continue;
        case_cells(to, t->plan, &cases[i]);
        t->row(to, t, &cases[i]);
        drawn[i] = true;
    }
}

/* Draws the table of a case that has none yet, with all cases that share it. */
static void draw(struct text *to, const struct scan_table *t, size_t first, bool *drawn)
{
    static const char *const name[CASE_CELLS] = {"formats",   "method",  "workspace",
                                                 "algorithm", "threads", "blocks"};
    const struct plan *plan = t->plan;
    const struct study_case *cases = plan->cases;
    char align[ALIGN_TEXT];
    snprintf(align, sizeof align, "llrrrr%s", t->align);
    struct table table = {.align = align};
    heading(to, plan, &cases[first]);
    for (size_t i = 0; i < CASE_CELLS; i++)
        table_cell(&table, "%s", name[i]);
    t->header(&table, t, plan->source[cases[first].source].array.n);
    for (size_t i = first; i < plan->case_count; i++)
        if (!drawn[i] && together(plan, &cases[first], &cases[i]))
            rows(&table, t, i, drawn);
    table_draw(to, &table);
    text_add(to, "\n");
    table_free(&table);
}

enum status scan_tables(struct text *to, const struct scan_table *t, struct problem *p)
{
    bool *drawn = calloc(t->plan->case_count + 1, sizeof *drawn);
    if (!drawn)
        return problem(p, STATUS_MEMORY, "out of memory for the table");
    for (size_t i = 0; i < t->plan->case_count; i++)
        if (!drawn[i] && shown(t, &t->plan->cases[i]))
            draw(to, t, i, drawn);
    free(drawn);
    return STATUS_OK;
}

static void bins_header(struct table *to, const struct scan_table *t, size_t n)
{
    static const char *const name[] = {"distinct", "worst bin", "err_ulp",   "rms",
                                       "of bound", "run 1",     "from twin", "rel_diff"};
    bool rows = experiment_reads(t->plan->axes->experiment, SETTING_ROWS);
    (void)n;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        table_cell(to, "%s", rows && i == 1 ? "worst at" : name[i]);
}

static void bins_row(struct table *to, const struct scan_table *t, const struct study_case *one)
{
    const struct summary *s = &one->summary;
    (void)t;
    table_cell(to, "%llu/%llu", (unsigned long long)s->distinct, (unsigned long long)s->runs);
    table_figure(to, "%.0f", s->scan.worst_index);
    table_figure(to, "%.3g", s->err_ulp_max);
    table_figure(to, "%.3g", s->scan.err_ulp_rms_max);
    table_share(to, s->err_over_bound_max);
    table_figure(to, "%.2g", s->scan.run_differing_max);
    table_figure(to, "%.2g", s->scan.differing_max);
    table_figure(to, "%.2g", s->scan.mean_rel_diff_max);
}

enum status scan_tables_bins(struct text *to, const struct plan *plan, struct problem *p)
{
    struct scan_table t = {
        .plan = plan, .align = "rrrrrRRR", .header = bins_header, .row = bins_row};
    return scan_tables(to, &t, p);
}

static void product_header(struct table *to, const struct scan_table *t, size_t n)
{
    static const char *const name[] = {"distinct", "worst",  "err_ulp", "rms",
                                       "of bound", "differ", "rel_diff"};
    (void)t, (void)n;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        table_cell(to, "%s", name[i]);
}

static void product_row(struct table *to, const struct scan_table *t, const struct study_case *one)
{
    const struct summary *s = &one->summary;
    size_t columns = one->setting.shape.n, worst = (size_t)s->scan.worst_index.value;
    (void)t;
    table_cell(to, "%llu/%llu", (unsigned long long)s->distinct, (unsigned long long)s->runs);
    if (s->scan.worst_index.known && columns > 0)
        table_cell(to, "%zu,%zu", worst / columns, worst % columns);
    else
        table_cell(to, "%s", "");
    table_figure(to, "%.3g", s->err_ulp_max);
    table_figure(to, "%.3g", s->scan.err_ulp_rms_max);
    table_share(to, s->err_over_bound_max);
    table_figure(to, "%.2g", s->scan.differing_max);
    table_figure(to, "%.2g", s->scan.mean_rel_diff_max);
}

enum status scan_tables_product(struct text *to, const struct plan *plan, struct problem *p)
{
    struct scan_table t = {
        .plan = plan, .align = "Rrrrrrr", .header = product_header, .row = product_row};
    return scan_tables(to, &t, p);
}

/* run scan-variance: does a scan give the same bits again, and where does it begin to differ? */

static void header(struct table *to, const struct scan_table *t, size_t n)
{
    static const char *const name[] = {"distinct",  "mode", "first diff", "median",
                                       "differing", "most", "rel_diff",   "from twin"};
    (void)t, (void)n;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        table_cell(to, "%s", name[i]);
}

static void row(struct table *to, const struct scan_table *t, const struct study_case *one)
{
    const struct summary *s = &one->summary;
    (void)t;
    table_cell(to, "%llu/%llu", (unsigned long long)s->distinct, (unsigned long long)s->runs);
    table_figure(to, "%.3g", s->mode_share);
    table_figure(to, "%.0f", s->scan.run_first_diff_min);
    table_figure(to, "%.0f", s->scan.run_first_diff_median);
    table_figure(to, "%.2g", s->scan.run_differing_median);
    table_figure(to, "%.2g", s->scan.run_differing_max);
    table_figure(to, "%.2g", s->scan.run_mean_rel_diff_max);
    table_figure(to, "%.2g", s->scan.differing_max);
}

/* Where runs first part. */
static void first_difference(struct text *to, const struct plan *plan)
{
    struct text line = {0};
    const struct study_case *first = NULL;
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        struct figure at = t->summary.scan.run_first_diff_min;
        if (t->finished && t->supported && at.known &&
            (!first || at.value < first->summary.scan.run_first_diff_min.value))
            first = t;
    }
    if (!first)
        return;
    text_add(&line, "earliest difference between two runs: ");
    text_visible(&line, first->method->name);
    text_format(&line, ", index %.0f (", first->summary.scan.run_first_diff_min.value);
    says_case(&line, plan, first);
    text_add(&line, ")");
    says_line(to, &line);
}

static enum status draw_variance(struct text *to, const struct plan *plan, const char *out,
                                 struct problem *p)
{
    struct scan_table t = {.plan = plan,
                           .align = "rRrRrRRR",
                           .header = header,
                           .row = row,
                           .left_out = steady_left_out};
    (void)out;
    says_repeats(to, plan);
    first_difference(to, plan);
    text_add(to, "\n");
    says_legend(to, "distinct: different outputs in how many runs; mode: the share of the most "
                    "frequent. Against run 1: the first index that differs, smallest and median; "
                    "the share of outputs that differ, median and most; their mean relative "
                    "difference. from twin: the share that differs from the fixed-order twin "
                    "(scan/tiled on the CPU).");
    text_add(to, "\n");
    enum status status = scan_tables(to, &t, p);
    steady_lines(to, plan);
    return status;
}

const struct experiment experiment_scan_variance = {
    .name = "scan-variance",
    .summary = "how many different outputs many runs of a scan give, and from which index on",
    .operation = {&operation_scan},
    .axes =
        {
            [DEVICE_CPU] = {.formats = "bf16/fp32,fp32/fp32,fp64/fp64",
                            .input = "uniform,walk",
                            .n = "2^18",
                            .runs = 50},
            [DEVICE_CUDA] = {.formats = "fp16/fp16,fp16/fp32,bf16/bf16,bf16/fp32,fp32/fp32,"
                                        "fp64/fp64",
                             .input = "uniform,walk",
                             .n = "2^22",
                             .runs = 300},
        },
    .table = draw_variance,
};
