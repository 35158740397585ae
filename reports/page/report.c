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
#include "reports/results/verdicts.h"
#include "reports/text/file.h"

/* --- Files of the study that a page shows as they are, read whole --- */

static enum status take(void *context, const struct csv_row *row, struct problem *p)
{
    struct page_rows *rows = context;
    if (!grow(&rows->cell, rows->count, rows->columns * sizeof *rows->cell))
        return problem(p, STATUS_MEMORY, "%s: out of memory", row->path);
    char **cell = rows->cell + rows->count++ * rows->columns;
    bool good = true;
    for (size_t i = 0; i < rows->columns; i++)
        good &= (cell[i] = strdup(row->field[i])) != NULL;
    return good ? STATUS_OK : problem(p, STATUS_MEMORY, "%s: out of memory", row->path);
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
        return problem(p, STATUS_MEMORY, "%s: out of memory", r->g.path);
    if (access(path, F_OK) == 0)
        status = csv_read_since(path, column, least, columns, take, context, &whole, p);
    free(path);
    return status;
}

static enum status take_verdict(void *context, const struct csv_row *row, struct problem *p)
{
    enum status status = verdicts_check(row, p);
    return status == STATUS_OK ? take(context, row, p) : status;
}

/* Keeps a file of the directory; none where it is not there. rows_free is due either way. */
static enum status rows_read(struct page_rows *rows, const struct page *r, const char *name,
                             column_at *column, size_t columns, csv_take take_row,
                             struct problem *p)
{
    *rows = (struct page_rows){.columns = columns};
    return page_file(r, name, column, columns, take_row, rows, p);
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
    return page_same_method(a, b) && strcmp(a->field[CASE_DEVICE], b->field[CASE_DEVICE]) == 0;
}

bool page_same_method(const struct gathered_case *a, const struct gathered_case *b)
{
    static const enum case_column column[] = {CASE_METHOD, CASE_CHIP, CASE_PROMOTE, CASE_WORKSPACE,
                                              CASE_ALGORITHM};
    for (size_t i = 0; i < sizeof column / sizeof *column; i++)
        if (strcmp(a->field[column[i]], b->field[column[i]]) != 0)
            return false;
    return true;
}

void page_name(struct text *to, const char *method, const char *chip, const char *promote)
{
    text_add(to, method);
    if (chip && *chip)
        text_format(to, " (%s", chip);
    if (chip && *chip && promote && *promote)
        text_format(to, ", every %s", promote);
    text_add(to, chip && *chip ? ")" : "");
}

void page_asked(struct text *to, const char *workspace, const char *algorithm)
{
    const bool limits = workspace && *workspace, places = algorithm && *algorithm;
    if (limits)
        text_format(to, " (workspace %s", workspace);
    if (places)
        text_format(to, "%salgorithm %s", limits ? ", " : " (", algorithm);
    text_add(to, limits || places ? ")" : "");
}

void page_case_name(struct text *to, const struct gathered_case *c)
{
    page_name(to, c->field[CASE_METHOD], c->field[CASE_CHIP], c->field[CASE_PROMOTE]);
    page_asked(to, c->field[CASE_WORKSPACE], c->field[CASE_ALGORITHM]);
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
        return problem(p, STATUS_MEMORY, "%s: out of memory", row->path);
    struct page_time *t = &r->time[r->times++];
    *t = (struct page_time){0};
    for (size_t i = 0; i < TIMES_COLUMNS; i++)
        if (!(t->field[i] = strdup(row->field[i])))
            return problem(p, STATUS_MEMORY, "%s: out of memory", row->path);
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
        status = rows_read(&r->recommend, r, "recommend.csv", recommend_column, RECOMMEND_COLUMNS,
                           take, p);
    if (status == STATUS_OK)
        status = rows_read(&r->trial, r, "trial.csv", check_column, CHECK_COLUMNS, take_verdict, p);
    if (status == STATUS_OK)
        status = rows_read(&r->atomics, r, "atomics.csv", atomics_column, ATOMICS_COLUMNS, take, p);
    if (status == STATUS_OK)
        status = rows_read(&r->growth, r, "growth.csv", growth_column, GROWTH_COLUMNS, take, p);
    if (status == STATUS_OK)
        status = rows_read(&r->steps, r, "steps.csv", steps_column, STEPS_COLUMNS, take, p);
    if (status == STATUS_OK && r->g.count == 0 && r->trial.count == 0 && r->steps.count == 0)
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

static enum status read_all(struct page *r, const char *directory, struct problem *p)
{
    const char *out = r->options->out;
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
        status = problem(p, STATUS_MEMORY, "%s: out of memory", directory);
    }
    if (status == STATUS_OK && mkdir(r->folder, 0777) != 0 && errno != EEXIST)
        status = problem(p, STATUS_DATA, "%s: could not be made: %s", r->folder, strerror(errno));
    return status;
}

/* --- the page --- */

/* A line for each section: its heading. */
static void add_contents(struct text *to, struct text *body)
{
    static const char section[] = "<section id=\"", heading[] = "\"><h2>";
    const char *at = text_string(body);
    text_add(to, "<nav aria-label=\"Contents\"><ul>\n");
    while (at && (at = strstr(at, section))) {
        const char *id = at + strlen(section), *title = strstr(id, heading),
                   *end = title ? strstr(title, "</h2>") : NULL;
        at = id;
        if (!end || strncmp(title - strlen("-more"), "-more", strlen("-more")) == 0)
            continue;
        text_format(to, "<li><a href=\"#%.*s\">", (int)strcspn(id, "\""), id);
        text_append(to, title + strlen(heading), (size_t)(end - title) - strlen(heading));
        text_add(to, "</a></li>\n");
    }
    text_add(to, "</ul></nav>\n");
}

static enum status make_pictures(struct page *r, struct problem *p)
{
    enum { MOST = sizeof r->study->picture / sizeof *r->study->picture };
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < MOST && r->study->picture[i]; i++)
        status = r->study->picture[i](r, p);
    return status;
}

/* What stands below the head: the findings beside the first picture, then all else. */
/* Are there curves, marks or bars of methods in it? */
static bool coloured(struct text *pictures)
{
    const char *at = text_string(pictures);
    return at && strstr(at, "var(--c");
}

static enum status add_body(struct text *to, struct page *r, struct problem *p)
{
    text_add(to, r->hero.length > 0 ? "<div class=\"lead\">\n" : "");
    page_findings(to, r);
    text_join(to, &r->hero);
    text_add(to, r->hero.length > 0 ? "</div>\n" : "");
    if (r->undrawn.status != STATUS_OK) {
        text_add(to, "<p class=\"how\">");
        html_text(to, r->undrawn.text);
        text_add(to, "</p>\n");
    }
    text_join(to, &r->pictures);
    if (coloured(&r->hero) || coloured(&r->pictures))
        page_inks(to);
    page_subjects(to, r);
    page_recommended(to, r);
    page_methods(to, r);
    page_exponents(to, r);
    page_cliffs(to, r);
    page_times(to, r);
    enum status status = page_files(to, r, p);
    page_provenance(to, r);
    return status;
}

static size_t count_operations(const struct page *r)
{
    const struct operation *first = NULL;
    for (size_t i = 0; i < r->g.count; i++) {
        const struct operation *o = page_operation_of(r, &r->g.item[i]);
        if (i > 0 && o != first)
            return 2;
        first = o;
    }
    return r->g.count > 0;
}

/* All candidates of `recommend` are of one operation, its models too, which are no methods of the
 * registry: that of those that are. */
static const struct operation *of_candidates(const struct page *r)
{
    for (size_t i = 0; r->candidates > 0 && i < r->g.count; i++) {
        const struct method *m = method_named(r->g.item[i].field[CASE_METHOD]);
        if (m)
            return m->operation;
    }
    return NULL;
}

static enum status make_page(struct text *to, struct page *r, struct problem *p)
{
    struct text body = {0};
    r->operations = count_operations(r);
    enum status status = make_pictures(r, p);
    if (status == STATUS_OK)
        status = add_body(&body, r, p);
    if (status == STATUS_OK) {
        page_head(to, r);
        text_add(to, "<div class=\"page\">\n");
        add_contents(to, &body);
        text_add(to, "<main>\n");
        text_join(to, &body);
        text_add(to, "</main>\n</div>\n</body>\n</html>\n");
    }
    if (status == STATUS_OK && (to->failed || body.failed))
        status = problem(p, STATUS_MEMORY, "%s: out of memory for the page", r->folder);
    text_free(&body);
    return status;
}

static void free_report(struct page *r)
{
    for (size_t i = 0; i < r->times; i++)
        for (size_t k = 0; k < TIMES_COLUMNS; k++)
            free(r->time[i].field[k]);
    free(r->time);
    free(r->candidate);
    rows_free(&r->recommend);
    rows_free(&r->trial);
    rows_free(&r->atomics);
    rows_free(&r->growth);
    rows_free(&r->steps);
    text_free(&r->hero);
    text_free(&r->pictures);
    free(r->folder);
    gathered_free(&r->g);
}

enum status page_write(char **path, const char *directory, const struct page_options *o,
                       page_operation *only, struct problem *p)
{
    struct page r = {.options = o};
    struct text page = {0};
    *path = NULL;
    enum status status = read_all(&r, directory, p);
    if (status == STATUS_OK) {
        r.only = only(gathered_word(&r.g, NULL, "experiment"));
        r.only = r.only ? r.only : of_candidates(&r);
        r.study = page_study(gathered_word(&r.g, NULL, "experiment"));
    }
    if (status == STATUS_OK)
        status = make_page(&page, &r, p);
    if (status == STATUS_OK && asprintf(path, "%s/report.html", r.folder) < 0) {
        *path = NULL;
        status = problem(p, STATUS_MEMORY, "%s: out of memory", directory);
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
