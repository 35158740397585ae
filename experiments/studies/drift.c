/* run drift: how does the error of a scan grow along it? */
#include <stdlib.h>
#include "reports/text/against.h"

#include "experiments/cases/experiment.h"
#include "experiments/studies/says.h"
#include "experiments/studies/scan_table.h"

/* Places along a scan: LAST, and k >= FIRST for output number 10^k, which is at index 10^k - 1. */
enum { LAST, FIRST = 2, PLACES = 20 };
enum { SHOWN = 4 }; /* of them, beside the last */

struct drift {
    const struct plan *plan;
    struct figure (*err_ulp)[PLACES]; /* of each case */
};

static void set_places(struct figure at[PLACES], uint64_t index, size_t n, struct figure err_ulp)
{
    uint64_t number = 10;
    if (index + 1 == n)
        at[LAST] = err_ulp;
    for (size_t k = FIRST; k < PLACES; k++)
        if (index + 1 == (number *= 10))
            at[k] = err_ulp;
}

static enum status take(void *context, const struct csv_row *row, struct problem *p)
{
    struct drift *d = context;
    struct figure err_ulp;
    uint64_t index;
    const struct study_case *t =
        plan_find(d->plan, strtoull(row->field[PROFILE_CASE_ID], NULL, 16));
    enum status status = csv_whole(row, PROFILE_INDEX, "index", &index, p);
    if (status == STATUS_OK)
        status = csv_figure(row, PROFILE_ERR_ULP, "err_ulp", &err_ulp, p);
    if (status == STATUS_OK && t)
        set_places(d->err_ulp[t - d->plan->cases], index, d->plan->source[t->source].array.n,
                   err_ulp);
    return status;
}

/* Which powers of ten below n are shown, evenly spaced, from the first on; 0 fills up. */
static void places_of(size_t place[SHOWN], size_t n)
{
    size_t count = 0, step, number = 10;
    while (n > 0 && number <= (n - 1) / 10) {
        number *= 10;
        count++;
    }
    step = (count + SHOWN - 1) / SHOWN;
    for (size_t i = 0; i < SHOWN; i++)
        place[i] = i * step < count ? FIRST + i * step : 0;
}

static void header(struct table *to, const struct scan_table *t, size_t n)
{
    size_t place[SHOWN];
    (void)t;
    places_of(place, n);
    for (size_t i = 0; i < SHOWN; i++) /* a column without cells is left out, with its name */
        table_cell(to, "10^%zu", place[i]);
    table_cell(to, "last");
    table_cell(to, "worst");
    table_cell(to, "at index");
    table_cell(to, "err/bound");
    table_cell(to, "decreases");
}

static void row(struct table *to, const struct scan_table *t, const struct study_case *one)
{
    const struct drift *d = t->context;
    const struct figure *at = d->err_ulp[one - d->plan->cases];
    size_t place[SHOWN];
    places_of(place, d->plan->source[one->source].array.n);
    for (size_t i = 0; i < SHOWN; i++)
        table_figure(to, "%.2g", place[i] ? at[place[i]] : (struct figure){0});
    table_figure(to, "%.2g", at[LAST]);
    table_figure(to, "%.2g", one->summary.err_ulp_max);
    table_figure(to, "%.0f", one->summary.scan.worst_index);
    table_share(to, one->summary.err_over_bound_max);
    table_figure(to, "%.0f", one->summary.scan.decreases_max);
}

/* Which methods' scans fall although nothing negative is added. */
static void decreasing(struct text *to, const struct plan *plan)
{
    struct text line = {0};
    size_t names = 0;
    for (size_t k = 0; k < plan->axes->methods; k++) {
        size_t cases = 0, fall = 0;
        for (size_t i = 0; i < plan->case_count; i++) {
            const struct study_case *t = &plan->cases[i];
            struct figure decreases = t->summary.scan.decreases_max;
            if (t->method != plan->axes->method[k] || !t->finished || !t->supported ||
                !decreases.known)
                continue;
            cases++;
            fall += decreases.value > 0;
        }
        if (fall == 0 || !says_next(&line, &names,
                                    "outputs fall although nothing negative is "
                                    "added: "))
            continue;
        text_visible(&line, plan->axes->method[k]->name);
        text_format(&line, " (%zu of %zu case%s)", fall, cases, cases == 1 ? "" : "s");
    }
    says_rest(&line, names);
    if (names > 0)
        says_line(to, &line);
    text_free(&line);
}

static enum status draw(struct text *to, const struct plan *plan, const char *out,
                        struct problem *p)
{
    struct drift d = {plan, calloc(plan->case_count + 1, sizeof *d.err_ulp)};
    struct scan_table t = {
        .plan = plan, .align = "rrrrrrrrr", .header = header, .row = row, .context = &d};
    if (!d.err_ulp)
        return problem(p, STATUS_MEMORY, "out of memory for the table");
    says_errors(to, plan);
    decreasing(to, plan);
    text_add(to, "\n");
    says_legend(to, "Errors in ulps of output number 10^2, 10^3, ... and of the last; the worst, "
                    "and its index; the largest share of the bound; decreases: outputs that are "
                    "less than the one before although no element is negative.");
    text_add(to, "\n");
    enum status status =
        csv_read_in(out, "profile.csv", profile_column, PROFILE_COLUMNS, take, &d, p);
    if (status == STATUS_OK)
        status = scan_tables(to, &t, p);
    free(d.err_ulp);
    return status;
}

const struct experiment experiment_drift = {
    .name = "drift",
    .summary = "how the error of a scan grows along it: error and bound by index, in profile.csv",
    .operation = {&operation_scan},
    .axes =
        {
            [DEVICE_CPU] = {.formats = "fp16/fp16,fp16/fp32,bf16/bf16,bf16/fp32,fp32/fp32,"
                                       "fp64/fp64",
                            .input = "uniform,walk,plateau,creep",
                            .n = "2^16",
                            .runs = 1},
            [DEVICE_CUDA] = {.formats = FORMATS_USUAL,
                             .input = "uniform,walk,plateau,creep",
                             .n = "2^16,2^22",
                             .runs = 1},
        },
    .table = draw,
};
