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
        status = rows_read(&r->trial, r, "trial.csv", check_column, CHECK_COLUMNS, p);
    if (status == STATUS_OK)
        status = rows_read(&r->atomics, r, "atomics.csv", atomics_column, ATOMICS_COLUMNS, p);
    if (status == STATUS_OK)
        status = rows_read(&r->growth, r, "growth.csv", growth_column, GROWTH_COLUMNS, p);
    if (status == STATUS_OK)
        status = rows_read(&r->steps, r, "steps.csv", steps_column, STEPS_COLUMNS, p);
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

static const char style[] =
    ":root{color-scheme:light "
    "dark;--ink:#1a1a1a;--dim:#595959;--page:#fff;--line:#ccc;--good:#00664b;"
    "--bad:#a63700;--panel:#fbfbfb;--link:#00558a;--other:#999;--c1:#0072b2;--c2:#cc4e00;"
    "--c3:#008f69;--c4:#be5a92;--c5:#3a96cc;--c6:#ba7e00;--c8:#767676;--c9:#7a44a0}\n"
    "@media (prefers-color-scheme:dark){:root{--ink:#e6e6e6;--dim:#adadad;--page:#15171a;"
    "--line:#474b50;--good:#4fd1a5;--bad:#ff9a5c;--panel:#1b1e22;--link:#7cc4f0;--other:#6b7076;"
    "--c1:#4aa3dd;--c2:#ff7f35;--c3:#2fc296;--c4:#e08dbb;--c5:#8fd0f5;--c6:#edb040;--c8:#9a9a9a;"
    "--c9:#bd94de}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1rem;max-width:92rem;font:1rem/1.5 system-ui,sans-serif;"
    "color:var(--ink);background:var(--page);overflow-wrap:anywhere}\n"
    "a{color:var(--link)}h1{font-size:1.75rem;line-height:1.2;margin:.3rem 0}"
    "h2{font-size:1.2rem;line-height:1.3;margin:2rem 0 .6rem}\n"
    "p,li{max-width:50rem}.how,figcaption,.sub,.back{color:var(--dim);font-size:.875rem}"
    ".how{margin:.5rem 0}.sub,.back{margin:0}\n"
    "ul{padding-left:1.2rem}li{margin:.4rem 0}\n"
    "#findings li:first-child{font-size:1.15rem;font-weight:600;line-height:1.4}\n"
    "li.good::marker{content:'\\2713  ';color:var(--good)}"
    "li.bad::marker{content:'\\2717  ';color:var(--bad)}li.bad{color:var(--bad)}\n"
    ".facts{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .9rem;margin:.7rem 0 1rem;"
    "font-size:.875rem}.facts dt{color:var(--dim)}.facts dd{margin:0}\n"
    "nav{font-size:.875rem;line-height:1.35}nav ul{list-style:none;margin:0;padding:0;display:flex;"
    "flex-wrap:wrap;gap:.2rem 1rem}nav li{margin:0}\n"
    ".panels{display:grid;gap:1rem;align-items:start;grid-template-columns:repeat(auto-fill,minmax("
    "min(100%,21.5rem),1fr))}\n"
    ".alone{display:grid;gap:.5rem 2rem;align-items:start}\n"
    ".uneven{display:block;columns:3 21.5rem}.uneven figure{margin:0 0 1rem;break-inside:avoid}\n"
    "figure{margin:0;border:1px solid var(--line);border-radius:.3rem;padding:.4rem;min-width:0;"
    "background:var(--panel)}\n"
    "figure svg{display:block;width:100%;height:auto;color:var(--ink)}\n"
    "svg .k{fill:none;color:var(--ink);stroke:currentColor}svg .t{stroke:none;fill:var(--ink)}svg "
    ".d{stroke:none;fill:#000}\n"
    "svg [color=\"black\"]{color:var(--ink)}svg [stroke=\"black\"]{stroke:var(--ink)}"
    "svg text{stroke:none}\n"
    ".wide{overflow-x:auto;width:fit-content;max-width:100%;border:1px solid "
    "var(--line);border-radius:.3rem;max-height:40rem}\n"
    "table{border-collapse:collapse;font-size:.8125rem;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.2rem .6rem;text-align:left;white-space:nowrap;"
    "border-bottom:1px solid var(--line)}th{position:sticky;top:0;background:var(--page)}"
    "th.r,td.r{text-align:right}\n"
    "#provenance td{white-space:normal;min-width:8rem}\n"
    "summary{cursor:pointer;padding:.3rem "
    "0}code{font-size:.9em}pre{margin:0;padding:.5rem;font-size:.8125rem;line-height:1.3;"
    "overflow-wrap:normal}\n"
    ".inks{max-width:none}.inks span{white-space:nowrap}.inks "
    "span::before{content:'';display:inline-block;width:.7em;height:.7em;margin:0 .25em 0 "
    ".1em;"
    "background:var(--c)}.i1{--c:var(--c1)}.i2{--c:var(--c2)}.i3{--c:var(--c3)}.i4{--c:var(--c4)}"
    ".i5{--c:var(--c5)}.i6{--c:var(--c6)}.i7{--c:var(--ink)}.i8{--c:var(--c8)}.i9{--c:var(--c9)}\n"
    "@media(max-width:30rem){body{padding:.75rem}figure{padding:.2rem}h1{font-size:1.4rem}"
    ".facts{display:block}.facts dt{float:left;margin-right:.5em}.facts dd{margin-bottom:.15rem}}\n"
    "@media(max-width:59.99rem){.lead{display:flex;flex-direction:column}.lead #findings,"
    ".lead #findings ul{display:contents}.lead li{order:3;margin-left:1.2rem}"
    ".lead li:first-child{order:1}.lead>section:last-child{order:2}}\n"
    "@media(min-width:60rem){.lead{display:grid;grid-template-columns:1fr minmax(0,34rem);gap:2rem}"
    ".lead h2{margin-top:.5rem}}\n"
    "@media(min-width:48rem){.alone{grid-template-columns:minmax(0,30rem) minmax(0,1fr)}}\n"
    "@media(min-width:75rem){.page{display:grid;grid-template-columns:11rem minmax(0,1fr);gap:2rem}"
    "nav{position:sticky;top:1rem;align-self:start;border-right:1px solid var(--line);"
    "padding-right:.8rem}nav ul{display:block}nav li{margin:.35rem 0}}\n"
    "@media print{body{max-width:none}.wide{overflow:visible;max-height:none;border:0}nav{display:"
    "none}.page,.lead{display:block}"
    "figure,tr{break-inside:avoid}.wide table{font-size:7pt}th,td{white-space:normal}"
    ".panels{grid-template-columns:1fr 1fr}}\n";

static void begin_fact(struct text *to, const char *name)
{
    text_format(to, "<dt>%s</dt><dd>", name);
}

/* The command as it was typed, but for where the program lies. */
static void add_command(struct text *to, const struct page *r)
{
    const json_t *arguments = json_object_get(r->g.study, "arguments"), *argument;
    size_t i;
    begin_fact(to, "Command");
    text_add(to, "<code>");
    json_array_foreach ((json_t *)arguments, i, argument) {
        const char *word = json_string_value(argument), *slash = word ? strrchr(word, '/') : NULL;
        word = i == 0 && slash ? slash + 1 : word ? word : "";
        bool quoted = word[strcspn(word, " \t\n'\"\\$`*?;&|<>()")];
        html_format(to, "%s%s%s%s", i ? " " : "", quoted ? "'" : "", word, quoted ? "'" : "");
    }
    text_add(to, "</code></dd>\n");
}

enum { WORDS_MOST = 6 };

/* The first few words of an axis, and how many more there are. Returns whether there is any. */
static bool add_axis(struct text *to, const struct page *r, const char *axis, const char *before)
{
    const json_t *list = json_object_get(json_object_get(r->g.study, "axes"), axis), *word;
    size_t i, count = json_array_size(list);
    json_array_foreach ((json_t *)list, i, word) {
        if (i < WORDS_MOST && json_is_string(word))
            html_format(to, "%s%s", i ? ", " : before, json_string_value(word));
    }
    if (count > WORDS_MOST)
        text_format(to, " and %zu more", count - WORDS_MOST);
    return count > 0;
}

static void add_data(struct text *to, const struct page *r)
{
    begin_fact(to, "Data");
    bool any = add_axis(to, r, "input", "");
    any |= add_axis(to, r, "data", any ? ", " : "");
    if (!any)
        text_add(to, "inputs of its own");
    add_axis(to, r, "n", "; n = ");
    add_axis(to, r, "formats", "; storage/accumulator ");
    text_add(to, "</dd>\n");
}

static void add_head(struct text *to, const struct page *r)
{
    const char *experiment = gathered_word(&r->g, NULL, "experiment"),
               *started = gathered_word(&r->g, NULL, "started");
    text_add(to, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
                 "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    html_format(to, "%s %s on %s", r->study->question, experiment, gathered_machine(&r->g));
    text_format(to, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<header>\n", style);
    if (r->options->index) {
        text_add(to, "<p class=\"back\"><a href=\"");
        html_text(to, r->options->index);
        text_add(to, "\">&larr; All studies</a></p>\n");
    }
    text_add(to, "<h1>");
    html_text(to, r->study->question);
    text_add(to, "</h1>\n<dl class=\"facts\">\n");
    add_command(to, r);
    add_data(to, r);
    begin_fact(to, "Machine");
    const char *machine = gathered_machine(&r->g), *cpu = gathered_word(&r->g, "machine", "cpu");
    bool same = strcmp(machine, cpu) == 0;
    html_format(to, "%s%s%s; %s", machine, same ? "" : "; ", same ? "" : cpu,
                gathered_word(&r->g, "machine", "system"));
    text_add(to, "</dd>\n");
    begin_fact(to, "Date");
    html_format(to, "%.10s %.5s UTC; ulpscope %s (%.12s)", started,
                strlen(started) > 16 ? started + 11 : "",
                gathered_word(&r->g, "program", "version"),
                gathered_word(&r->g, "program", "commit"));
    text_add(to, "</dd>\n</dl>\n</header>\n");
}

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

static enum status make_page(struct text *to, struct page *r, struct problem *p)
{
    struct text body = {0};
    r->operations = count_operations(r);
    enum status status = make_pictures(r, p);
    if (status == STATUS_OK)
        status = add_body(&body, r, p);
    if (status == STATUS_OK) {
        add_head(to, r);
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
