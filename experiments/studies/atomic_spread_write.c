/* Writing atomics.csv and growth.csv. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/studies/atomic_spread.h"
#include "experiments/cases/experiment.h"
#include "reports/csv/file.h"

static void add_figures(struct text *to, const struct figure *figure, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_figure(to, figure[i]);
        text_add(to, ",");
    }
}

/* What it adds in, and what its result is in: the last cells of a row. */
static void add_formats(struct text *to, const struct study_case *t)
{
    char added_in[ADDED_IN_TEXT];
    method_added_in(added_in, t->method, t->accumulator);
    text_format(to, ",%s,%s\n", added_in, format_facts[t->setting.output].name);
}

static void case_row(struct text *to, const struct atomics *a, const struct study_case *t)
{
    const struct distribution *d = &a->of_case[t - a->plan->cases];
    const struct summary *s = &t->summary;
    text_join(to, &a->text[t - a->plan->cases]);
    text_format(to, "%s,%llu,%llu,", load_name[t->load], (unsigned long long)d->runs,
                (unsigned long long)d->distinct);
    add_figures(to,
                (const struct figure[]){d->spread, s->spread_ulp, s->vs_max, s->vs_stddev,
                                        d->skewness, d->kurtosis, d->k2, d->p},
                8);
    text_add(to, d->note);
    add_formats(to, t);
}

static void growth_row(struct text *to, const struct atomics *a, const struct atomics_group *g,
                       enum grown grown)
{
    char device[DEVICE_TEXT];
    const struct study_case *t = g->first;
    const struct source *s = &a->plan->source[t->source];
    const struct growth *growth = &g->growth[grown];
    size_t least = 0, most = 0;
    for (size_t i = 0; i < g->points; i++)
        if (g->n[i] > 0 && g->largest[grown][i] > 0 && isfinite(g->largest[grown][i])) {
            least = least ? least : (size_t)g->n[i];
            most = (size_t)g->n[i];
        }
    device_name(t->device, device);
    text_format(to, "%s,", a->plan->axes->experiment->name);
    text_field(to, t->method->name);
    text_format(to, ",%s,%s,%s,%s,", promise_name[t->method->promise], device,
                format_facts[s->array.format].name, format_facts[t->accumulator].name);
    text_field(to, s->name);
    text_format(to, ",%s,%s,", load_name[t->load], grown_name[grown]);
    if (growth->points > 0)
        text_format(to, "%zu,%zu", least, most);
    else
        text_add(to, ",");
    text_format(to, ",%zu,%zu,", growth->points, growth->left_out);
    add_figures(
        to, (const struct figure[]){growth->exponent, growth->standard_error, growth->factor}, 3);
    text_figure(to, growth->r_squared);
    add_formats(to, t);
}

/* Replaces a file by one with these rows. */
static enum status replace(const char *out, const char *name, const struct text *rows,
                           const struct column *(*column)(size_t), size_t columns,
                           struct problem *p)
{
    char *path = NULL, *part = NULL;
    struct csv_file file = {.fd = -1};
    if (asprintf(&path, "%s/%s.csv", out, name) < 0 || asprintf(&part, "%s.part", path) < 0) {
        free(path);
        return problem(p, STATUS_DEVICE, "%s: out of memory", name);
    }
    enum status status = csv_file_open(&file, part, 0, column, columns, p);
    if (status == STATUS_OK) {
        text_join(&file.pending, rows);
        status = csv_file_flush(&file, p);
    }
    enum status closed = csv_file_close(&file, p);
    if (status == STATUS_OK)
        status = closed;
    if (status == STATUS_OK && rename(part, path) != 0)
        status = problem(p, STATUS_DATA, "%s: could not be written: %s", path, strerror(errno));
    if (status != STATUS_OK)
        remove(part);
    free(path);
    free(part);
    return status;
}

enum status atomics_write(const struct atomics *a, const char *out, struct problem *p)
{
    struct text cases = {0}, growth = {0};
    for (size_t i = 0; i < a->plan->case_count; i++)
        if (atomics_has(a, &a->plan->cases[i]))
            case_row(&cases, a, &a->plan->cases[i]);
    for (size_t i = 0; i < a->groups; i++)
        for (int k = 0; k < GROWNS; k++)
            growth_row(&growth, a, &a->group[i], k);
    enum status status = cases.failed || growth.failed
                             ? problem(p, STATUS_DEVICE, "out of memory for distributions")
                             : STATUS_OK;
    if (status == STATUS_OK)
        status = replace(out, "atomics", &cases, atomics_column, ATOMICS_COLUMNS, p);
    if (status == STATUS_OK)
        status = replace(out, "growth", &growth, growth_column, GROWTH_COLUMNS, p);
    text_free(&cases);
    text_free(&growth);
    return status;
}
