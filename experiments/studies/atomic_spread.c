#include "experiments/studies/atomic_spread.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/base/grow.h"
#include "reports/csv/file.h"
#include "experiments/cases/experiment.h"

const char *const grown_name[GROWNS] = {[GROWN_SPREAD] = "spread", [GROWN_VS_MAX] = "vs_max"};

struct reading {
    struct atomics *atomics;
    struct tally *tally; /* of each case; of what is complete its distribution is known */
};

static enum status no_memory(struct problem *p)
{
    return problem(p, STATUS_MEMORY, "out of memory for distributions");
}

bool atomics_has(const struct atomics *a, const struct study_case *t)
{
    return t->finished && a->of_case[t - a->plan->cases].runs > 0;
}

/* The case's columns as the row has them. */
static void keep_text(struct text *to, const struct csv_row *row)
{
    for (size_t i = 0; i < CASE_COLUMNS; i++) {
        text_field(to, row->field[results_case_column(i)]);
        text_add(to, ",");
    }
}

static enum status take(void *context, const struct csv_row *row, struct problem *p)
{
    struct reading *r = context;
    struct atomics *a = r->atomics;
    struct hash128 digest = {{0, 0}};
    const struct study_case *t =
        plan_find(a->plan, strtoull(row->field[RESULTS_CASE_ID], NULL, 16));
    if (!t || !*row->field[RESULTS_RESULT_BITS])
        return STATUS_OK;
    size_t at = (size_t)(t - a->plan->cases);
    enum status status = csv_whole(row, RESULTS_RESULT_BITS, "result_bits", &digest.word[0], p);
    if (status != STATUS_OK)
        return status;
    struct distinct *d = tally_add(&r->tally[at], digest);
    if (!d)
        return no_memory(p);
    d->value = (struct figure){true, format_decode(t->accumulator, digest.word[0])};
    if (r->tally[at].runs == 1)
        keep_text(&a->text[at], row);
    if (r->tally[at].runs == t->runs) {
        distribution_of(&a->of_case[at], &r->tally[at]);
        tally_free(&r->tally[at]);
    }
    return a->text[at].failed ? no_memory(p) : STATUS_OK;
}

static enum status read_results(struct atomics *a, const char *out, struct problem *p)
{
    struct reading r = {a, calloc(a->plan->case_count + 1, sizeof *r.tally)};
    if (!r.tally)
        return no_memory(p);
    enum status status =
        csv_read_in(out, "results.csv", results_column, RESULTS_COLUMNS, take, &r, p);
    for (size_t i = 0; i < a->plan->case_count; i++)
        tally_free(&r.tally[i]);
    free(r.tally);
    return status;
}

/* May they stand in one group? */
static bool atomics_together(const struct plan *plan, const struct study_case *a,
                             const struct study_case *b)
{
    const struct source *x = &plan->source[a->source], *y = &plan->source[b->source];
    return a->method == b->method && a->device.kind == b->device.kind &&
           a->device.index == b->device.index && a->accumulator == b->accumulator &&
           a->load == b->load && x->array.format == y->array.format &&
           strcmp(x->name, y->name) == 0;
}

static double figure_of(const struct atomics *a, const struct study_case *t, enum grown grown)
{
    struct figure f =
        grown == GROWN_SPREAD ? a->of_case[t - a->plan->cases].spread : t->summary.vs_max;
    return f.known ? f.value : NAN;
}

/* The larger; NaN is larger than all. */
static double worse(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

/* The point of n, made where there is none, so that they ascend. */
static size_t point_of(struct atomics_group *g, double n)
{
    size_t at = 0;
    while (at < g->points && g->n[at] < n)
        at++;
    if (at < g->points && g->n[at] == n)
        return at;
    for (size_t i = g->points++; i > at; i--) {
        g->n[i] = g->n[i - 1];
        for (int k = 0; k < GROWNS; k++)
            g->largest[k][i] = g->largest[k][i - 1];
    }
    g->n[at] = n;
    for (int k = 0; k < GROWNS; k++)
        g->largest[k][at] = -1;
    return at;
}

static void gather(const struct atomics *a, struct atomics_group *g)
{
    const struct plan *plan = a->plan;
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        if (!atomics_has(a, t) || !atomics_together(plan, t, g->first))
            continue;
        size_t at = point_of(g, (double)plan->source[t->source].array.n);
        for (int k = 0; k < GROWNS; k++)
            g->largest[k][at] = worse(figure_of(a, t, k), g->largest[k][at]);
    }
    for (int k = 0; k < GROWNS; k++)
        growth_fit(&g->growth[k], g->n, g->largest[k], g->points);
}

/* most: different n that there are at most. */
static bool make_room(struct atomics_group *g, size_t most)
{
    g->n = calloc(most, sizeof *g->n);
    bool good = g->n != NULL;
    for (int k = 0; k < GROWNS; k++) {
        g->largest[k] = calloc(most, sizeof *g->largest[k]);
        good = good && g->largest[k];
    }
    return good;
}

static bool grouped(const struct atomics *a, const struct study_case *t)
{
    for (size_t i = 0; i < a->groups; i++)
        if (atomics_together(a->plan, a->group[i].first, t))
            return true;
    return false;
}

static enum status make_groups(struct atomics *a, struct problem *p)
{
    for (size_t i = 0; i < a->plan->case_count; i++) {
        const struct study_case *t = &a->plan->cases[i];
        if (!atomics_has(a, t) || grouped(a, t))
            continue;
        if (!grow(&a->group, a->groups, sizeof *a->group))
            return no_memory(p);
        struct atomics_group *g = &a->group[a->groups++];
        *g = (struct atomics_group){.first = t};
        if (!make_room(g, a->plan->sources))
            return no_memory(p);
        gather(a, g);
    }
    return STATUS_OK;
}

enum status atomics_read(struct atomics *a, const struct plan *plan, const char *out,
                         struct problem *p)
{
    *a = (struct atomics){.plan = plan,
                          .of_case = calloc(plan->case_count + 1, sizeof *a->of_case),
                          .text = calloc(plan->case_count + 1, sizeof *a->text)};
    enum status status = a->of_case && a->text ? read_results(a, out, p) : no_memory(p);
    return status == STATUS_OK ? make_groups(a, p) : status;
}

void atomics_free(struct atomics *a)
{
    for (size_t i = 0; a->text && i < a->plan->case_count; i++)
        text_free(&a->text[i]);
    for (size_t i = 0; i < a->groups; i++) {
        free(a->group[i].n);
        for (int k = 0; k < GROWNS; k++)
            free(a->group[i].largest[k]);
    }
    free(a->of_case);
    free(a->text);
    free(a->group);
    *a = (struct atomics){0};
}

/* --- Writing atomics.csv and growth.csv --- */

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
                             ? problem(p, STATUS_MEMORY, "out of memory for distributions")
                             : STATUS_OK;
    if (status == STATUS_OK)
        status = csv_file_replace(out, "atomics", &cases, atomics_column, ATOMICS_COLUMNS, p);
    if (status == STATUS_OK)
        status = csv_file_replace(out, "growth", &growth, growth_column, GROWTH_COLUMNS, p);
    text_free(&cases);
    text_free(&growth);
    return status;
}
