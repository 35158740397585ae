/* The page: what is read, and in which order it is said. */
#include "reports/page/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reference/base/grow.h"
#include "reports/csv/file.h"
#include "reports/text/file.h"

/* --- Files of the study that a page shows as they are, read whole --- */

static enum status take(void *context, const struct csv_row *row, struct problem *p)
{
    struct page_rows *rows = context;
    if (!grow(&rows->cell, rows->count, rows->columns * sizeof *rows->cell))
        return problem(p, STATUS_DEVICE, "%s: out of memory", row->path);
    char **cell = rows->cell + rows->count++ * rows->columns;
    bool good = true;
    for (size_t i = 0; i < rows->columns; i++)
        good &= (cell[i] = strdup(row->field[i])) != NULL;
    return good ? STATUS_OK : problem(p, STATUS_DEVICE, "%s: out of memory", row->path);
}

enum status page_file(const struct page *r, const char *name, column_at *column, size_t columns,
                      csv_take take, void *context, struct problem *p)
{
    char *path;
    uint64_t whole;
    size_t least = column == check_column       ? CHECK_COLUMNS_OLD
                   : column == recommend_column ? RECOMMEND_COLUMNS_FIRST
                                                : columns;
    enum status status = STATUS_OK;
    if (asprintf(&path, "%s/%s", r->g.path, name) < 0)
        return problem(p, STATUS_DEVICE, "%s: out of memory", r->g.path);
    if (access(path, F_OK) == 0)
        status = csv_read_since(path, column, least, columns, take, context, &whole, p);
    free(path);
    return status;
}

/* Keeps a file of the directory; none where it is not there. rows_free is due either way. */
static enum status rows_read(struct page_rows *rows, const struct page *r, const char *name,
                             column_at *column, size_t columns, struct problem *p)
{
    *rows = (struct page_rows){.columns = columns};
    return page_file(r, name, column, columns, take, rows, p);
}

static void rows_free(struct page_rows *rows)
{
    for (size_t i = 0; i < rows->count * rows->columns; i++)
        free(rows->cell[i]);
    free(rows->cell);
    *rows = (struct page_rows){0};
}

const char *page_cell(const struct page_rows *rows, size_t row, size_t column)
{
    return rows->cell[row * rows->columns + column];
}

double page_number(const struct page_rows *rows, size_t row, size_t column)
{
    const char *cell = page_cell(rows, row, column);
    char *end;
    double value = strtod(cell, &end);
    return *cell && !*end ? value : NAN;
}

/* --- the order of interest --- */

double page_unit(const char *accumulator)
{
    enum format f = format_named(accumulator);
    return f == FORMATS ? NAN : ldexp(1, -format_facts[f].precision);
}

static size_t rank_in(const char *const *list, size_t count, const char *word)
{
    size_t i = 0;
    while (i < count && strcmp(list[i], word) != 0)
        i++;
    return i;
}

size_t page_pair_rank(const char *storage, const char *accumulator)
{
    static const char *const pairs[] = {"fp32/fp32", "fp16/fp32", "bf16/fp32", "fp16/fp16",
                                        "bf16/bf16", "fp64/fp64", "fp32/fp64"};
    char pair[32];
    size_t known = sizeof pairs / sizeof *pairs;
    snprintf(pair, sizeof pair, "%.10s/%.10s", storage, accumulator);
    size_t rank = rank_in(pairs, known, pair);
    return rank < known
               ? rank
               : known + 8 * (size_t)format_named(storage) + (size_t)format_named(accumulator);
}

size_t page_method_rank(const char *method)
{
    static const char *const methods[] = {
        "serial", "atomic", "pairwise", "tiled",    "kahan",         "sum2",     "binned",
        "exact",  "sum",    "scan",     "blelloch", "hillis_steele", "lookback", "compensated"};
    const char *slash = strchr(method, '/');
    return rank_in(methods, sizeof methods / sizeof *methods, slash ? slash + 1 : method);
}

bool page_same_series(const struct gathered_case *a, const struct gathered_case *b)
{
    return strcmp(a->field[CASE_METHOD], b->field[CASE_METHOD]) == 0 &&
           strcmp(a->field[CASE_DEVICE], b->field[CASE_DEVICE]) == 0;
}

bool page_is_first(const struct page *r, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (page_same_series(&r->g.item[k], &r->g.item[i]))
            return false;
    return true;
}

/* --- what is read --- */

static enum status take_time(void *context, const struct csv_row *row, struct problem *p)
{
    struct page *r = context;
    if (!grow(&r->time, r->times, sizeof *r->time))
        return problem(p, STATUS_DEVICE, "%s: out of memory", row->path);
    struct page_time *t = &r->time[r->times++];
    *t = (struct page_time){0};
    for (size_t i = 0; i < TIMES_COLUMNS; i++)
        if (!(t->field[i] = strdup(row->field[i])))
            return problem(p, STATUS_DEVICE, "%s: out of memory", row->path);
    enum status status = csv_figure(row, TIMES_TIME, "time_us", &t->time_us, p);
    if (status == STATUS_OK)
        status = csv_figure(row, TIMES_RATE, "gb_per_s", &t->gb_per_s, p);
    return status == STATUS_OK ? csv_figure(row, TIMES_OF_RAW, "of_raw", &t->of_raw, p) : status;
}

static bool has(const struct page *r, const char *name)
{
    char *path;
    bool there = asprintf(&path, "%s/%s", r->g.path, name) >= 0;
    if (there) {
        there = access(path, F_OK) == 0;
        free(path);
    }
    return there;
}

/* The rows of the study: results.csv, where that was not kept summary.csv, and what `run trial` and
 * `run atomics` have. */
static enum status read_rows(struct page *r, const char *directory, struct problem *p)
{
    bool results = has(r, "results.csv"), summary = has(r, "summary.csv");
    enum status status = STATUS_OK;
    if (results || summary)
        status = results ? gathered_results(&r->g, p) : gathered_summary(&r->g, p);
    if (status == STATUS_OK)
        status = rows_read(&r->trial, r, "trial.csv", check_column, CHECK_COLUMNS, p);
    if (status == STATUS_OK)
        status = rows_read(&r->atomics, r, "atomics.csv", atomics_column, ATOMICS_COLUMNS, p);
    if (status == STATUS_OK)
        status = rows_read(&r->growth, r, "growth.csv", growth_column, GROWTH_COLUMNS, p);
    if (status == STATUS_OK && r->g.count == 0 && r->trial.count == 0)
        status = problem(p, STATUS_DATA,
                         "%s: found no row in results.csv, summary.csv or trial.csv, expected at "
                         "least one",
                         directory);
    for (size_t i = 1; i < r->g.count; i++)
        r->several_devices |=
            strcmp(r->g.item[0].field[CASE_DEVICE], r->g.item[i].field[CASE_DEVICE]) != 0;
    for (size_t i = 1; i < r->trial.count; i++)
        r->several_devices |=
            strcmp(page_cell(&r->trial, 0, CHECK_ON), page_cell(&r->trial, i, CHECK_ON)) != 0;
    return status;
}

static enum status read_all(struct page *r, const char *directory, const char *out,
                            struct problem *p)
{
    enum status status = gathered_study(&r->g, directory, p);
    if (status == STATUS_OK)
        status = read_rows(r, directory, p);
    if (status == STATUS_OK)
        status = page_file(r, "times.csv", times_column, TIMES_COLUMNS, take_time, r, p);
    if (status == STATUS_OK)
        status = page_candidates(r, p);
    if (status == STATUS_OK &&
        asprintf(&r->folder, "%s%s", out ? out : directory, out ? "" : "/report") < 0) {
        r->folder = NULL;
        status = problem(p, STATUS_DEVICE, "%s: out of memory", directory);
    }
    if (status == STATUS_OK && mkdir(r->folder, 0777) != 0 && errno != EEXIST)
        status = problem(p, STATUS_DATA, "%s: could not be made: %s", r->folder, strerror(errno));
    return status;
}

/* --- the page --- */

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1a1a1a;--dim:#555;--page:#fff;--line:#ccc;--good:#00664b;"
    "--bad:#b03a00}\n"
    "@media (prefers-color-scheme:dark){:root{--ink:#e6e6e6;--dim:#aaa;--page:#15171a;"
    "--line:#444;--good:#4fd1a5;--bad:#ff9a5c}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1rem;max-width:75rem;font:1rem/1.5 system-ui,sans-serif;"
    "color:var(--ink);background:var(--page);overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem;line-height:1.25}h2{font-size:1.2rem;margin-top:2rem}\n"
    "p,li{max-width:50rem}.how,figcaption,.sub{color:var(--dim);font-size:.875rem}\n"
    "ul{padding-left:1.2rem}li{margin:.3rem 0}\n"
    "li.good::marker{content:'\\2713  ';color:var(--good)}"
    "li.bad::marker{content:'\\2717  ';color:var(--bad)}li.bad{color:var(--bad)}\n"
    ".panels{display:grid;gap:1rem;align-items:start;grid-template-columns:repeat(auto-fill,minmax("
    "min(100%,27rem),"
    "1fr))}\n"
    "figure{margin:0;border:1px solid var(--line);border-radius:.3rem;padding:.5rem;min-width:0}\n"
    "figure svg{display:block;width:100%;height:auto;color:var(--ink)}\n"
    "svg [color=\"black\"]{color:var(--ink)}svg g[fill=\"black\"]{fill:var(--ink)}"
    "svg [stroke=\"black\"],svg [stroke^=\"rgb(  0,   0,   0\"]{stroke:var(--ink)}"
    "svg [color^=\"rgb(  0,   0,   0\"]{color:var(--ink)}svg text{stroke:none}\n"
    ".wide{overflow-x:auto;border:1px solid var(--line);border-radius:.3rem;max-height:40rem}\n"
    "table{border-collapse:collapse;font-size:.8125rem;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.2rem .6rem;text-align:left;white-space:nowrap;"
    "border-bottom:1px solid var(--line)}th.r,td.r{text-align:right}\n"
    "#provenance td{white-space:normal;min-width:8rem}\n"
    "summary{cursor:pointer;padding:.3rem "
    "0}code{font-size:.9em}pre{margin:0;padding:.5rem;font-size:.8125rem;line-height:1.3;"
    "overflow-wrap:normal}\n"
    "@media print{body{max-width:none}.wide{overflow:visible;max-height:none;border:0}"
    "figure,tr{break-inside:avoid}.wide table{font-size:7pt}th,td{white-space:normal}"
    ".panels{grid-template-columns:1fr 1fr}}\n";

static void add_head(struct text *to, const struct page *r)
{
    const char *experiment = gathered_word(&r->g, NULL, "experiment");
    text_add(to, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
                 "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    html_format(to, "%s on %s", experiment, gathered_machine(&r->g));
    text_format(to, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
    html_format(to, "ulpscope: %s on %s", experiment, gathered_machine(&r->g));
    text_add(to, "</h1>\n<p class=\"sub\">");
    html_format(to, "%s, ulpscope %s (%.12s)", gathered_word(&r->g, NULL, "started"),
                gathered_word(&r->g, "program", "version"),
                gathered_word(&r->g, "program", "commit"));
    text_add(to, "</p>\n");
}

static enum status make_pictures(struct page *r, struct problem *p)
{
    static enum status (*const picture[])(struct page *, struct problem *) = {
        page_trial,  page_frontier, page_growth, page_cond,  page_heat, page_distinct_growth,
        page_spread, page_distinct, page_pareto, page_drift, page_trees};
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < sizeof picture / sizeof *picture; i++)
        status = picture[i](r, p);
    return status;
}

static enum status make_page(struct text *to, struct page *r, struct problem *p)
{
    enum status status = make_pictures(r, p);
    if (status != STATUS_OK)
        return status;
    add_head(to, r);
    page_findings(to, r);
    if (r->undrawn.status != STATUS_OK) {
        text_add(to, "<p class=\"how\">");
        html_text(to, r->undrawn.text);
        text_add(to, "</p>\n");
    }
    text_join(to, &r->pictures);
    page_subjects(to, r);
    page_methods(to, r);
    page_exponents(to, r);
    page_cliffs(to, r);
    page_times(to, r);
    status = page_files(to, r, p);
    page_provenance(to, r);
    text_add(to, "</body>\n</html>\n");
    if (status == STATUS_OK && to->failed)
        status = problem(p, STATUS_DEVICE, "%s: out of memory for the page", r->folder);
    return status;
}

static void free_report(struct page *r)
{
    for (size_t i = 0; i < r->times; i++)
        for (size_t k = 0; k < TIMES_COLUMNS; k++)
            free(r->time[i].field[k]);
    free(r->time);
    free(r->candidate);
    rows_free(&r->trial);
    rows_free(&r->atomics);
    rows_free(&r->growth);
    text_free(&r->pictures);
    free(r->folder);
    gathered_free(&r->g);
}

enum status page_write(char **path, const char *directory, const char *out, page_operation *only,
                       struct problem *p)
{
    struct page r = {0};
    struct text page = {0};
    *path = NULL;
    enum status status = read_all(&r, directory, out, p);
    if (status == STATUS_OK)
        r.only = only(gathered_word(&r.g, NULL, "experiment"));
    if (status == STATUS_OK)
        status = make_page(&page, &r, p);
    if (status == STATUS_OK && asprintf(path, "%s/report.html", r.folder) < 0) {
        *path = NULL;
        status = problem(p, STATUS_DEVICE, "%s: out of memory", directory);
    }
    if (status == STATUS_OK)
        status = file_replace(*path, page.data, page.length, p);
    if (status != STATUS_OK) { /* there is no page to name */
        free(*path);
        *path = NULL;
    }
    if (status == STATUS_OK && r.undrawn.status != STATUS_OK)
        status = problem(p, STATUS_DATA, "%s", r.undrawn.text);
    text_free(&page);
    free_report(&r);
    return status;
}
