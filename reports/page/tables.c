/* The tables of the page: methods, cliffs, times, and where it comes from. */
#include <csv.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/report.h"
#include "reports/text/against.h"
#include "reports/text/file.h"

static void figure_cell(struct html_table *t, const char *format, struct figure f)
{
    if (f.known && !isfinite(f.value))
        html_cell(t, "not finite");
    else if (f.known)
        html_cell(t, format, f.value);
    else
        html_cell(t, "%s", "");
}

static void short_cell(struct html_table *t, struct figure f)
{
    if (f.known && isfinite(f.value))
        html_cell(t, "%s", short_number(f.value).text);
    else
        figure_cell(t, "", f);
}

/* Over all cases of a method. */
struct over {
    struct figure ulp, share, time;
    const struct gathered_case *worst; /* with the largest error */
    size_t cases, distinct;
};

static struct over over_cases(const struct page *r, const struct gathered_case *c)
{
    struct over o = {0};
    for (size_t k = 0; k < r->g.count; k++) {
        const struct gathered_case *d = &r->g.item[k];
        if (!page_same_series(c, d) || d->runs == 0)
            continue;
        o.cases++;
        o.distinct = d->distinct > o.distinct ? d->distinct : o.distinct;
        struct figure ulp = page_err_ulp(d);
        o.worst = ulp.known && (!o.worst || figure_worse(ulp.value, o.ulp.value)) ? d : o.worst;
        gathered_raise(&o.ulp, ulp);
        gathered_raise(&o.share, d->err_over_bound);
        if (d->time_ns.known && !(o.time.known && o.time.value <= d->time_ns.value))
            o.time = d->time_ns;
    }
    return o;
}

/* Which columns the study has a use for. */
struct method_columns {
    bool chip, promote, workspace, algorithm, device;
};

static struct method_columns columns_of(const struct page *r)
{
    struct method_columns c = {.device = r->several_devices};
    for (size_t i = 0; i < r->g.count; i++) {
        c.chip |= *r->g.item[i].field[CASE_CHIP];
        c.promote |= *r->g.item[i].field[CASE_PROMOTE];
        c.workspace |= *r->g.item[i].field[CASE_WORKSPACE];
        c.algorithm |= *r->g.item[i].field[CASE_ALGORITHM];
    }
    return c;
}

static void method_row(struct html_table *t, const struct gathered_case *c, struct method_columns k,
                       const struct over *o)
{
    html_cell(t, "%s", c->field[CASE_METHOD]);
    if (k.chip)
        html_cell(t, "%s", c->field[CASE_CHIP]);
    if (k.promote)
        html_cell(t, "%s", c->field[CASE_PROMOTE]);
    if (k.workspace)
        html_cell(t, "%s", c->field[CASE_WORKSPACE]);
    if (k.algorithm)
        html_cell(t, "%s", c->field[CASE_ALGORITHM]);
    if (k.device)
        html_cell(t, "%s", c->field[CASE_DEVICE]);
    short_cell(t, o->ulp);
    html_cell(t, "%s%s%s", o->worst ? o->worst->field[CASE_STORAGE] : "", o->worst ? "/" : "",
              o->worst ? o->worst->field[CASE_ACCUMULATOR] : "");
    if (o->share.known && isfinite(o->share.value))
        html_cell(t, "%s", text_against(o->share.value, 1, 3).value);
    else
        figure_cell(t, "%.3g", o->share);
    html_cell(t, "%zu", o->distinct);
    html_cell(t, "%zu", o->cases);
    html_cell(t, "%s", c->field[CASE_PROMISE]);
    figure_cell(t, "%.0f", o->time);
}

static bool ran_once(const struct page *r)
{
    uint64_t most = 0;
    for (size_t i = 0; i < r->g.count; i++)
        most = r->g.item[i].runs > most ? r->g.item[i].runs : most;
    return most == 1;
}

static bool any_right_infinity(const struct page *r)
{
    bool any = false;
    for (size_t i = 0; i < r->g.count; i++)
        any |= r->g.item[i].err_ulp.known && !page_err_ulp(&r->g.item[i]).known;
    return any;
}

void page_methods(struct text *to, const struct page *r)
{
    static const char right_infinity[] =
        " In some cases the exact result is beyond the range of the accumulator, where infinity is "
        "its correct rounding: a result of infinity counts as no error there, and the error here "
        "is that of the other cases, or blank where there is none.";
    static const char *const header[] = {"largest error, ulp", "in",    "of bound",
                                         "results, at most",   "cases", "promise",
                                         "least time, ns"};
    struct method_columns k = columns_of(r);
    struct html_table t;
    if (r->g.count == 0)
        return;
    text_format(to,
                "<section id=\"methods\"><h2>Methods</h2>\n<p>Over all cases of a method%s: the "
                "largest error, in ulps that the accumulator has at the exact result, and the "
                "storage format and accumulator in which it is that large; the largest share of "
                "its bound; the most different results of one case; the least time of a run, which "
                "is of the smallest input and no benchmark: runs are not warmed up%s.%s</p>\n",
                k.chip ? ", of each chip that it models and each interval of promotion"
                : k.workspace || k.algorithm ? ", of each workspace and algorithm asked for"
                                             : "",
                ran_once(r) ? ", and each case ran once, so that its time is that of a cold run"
                            : "",
                any_right_infinity(r) ? right_infinity : "");
    char align[16] = "l";
    strcat(align, k.chip ? "l" : "");
    strcat(align, k.promote ? "r" : "");
    strcat(align, k.workspace ? "r" : "");
    strcat(align, k.algorithm ? "r" : "");
    strcat(align, k.device ? "l" : "");
    strcat(align, "rlrrrlr");
    html_table_begin(&t, to, align);
    html_cell(&t, "method");
    if (k.chip)
        html_cell(&t, "chip");
    if (k.promote)
        html_cell(&t, "promoted every");
    if (k.workspace)
        html_cell(&t, "workspace, bytes");
    if (k.algorithm)
        html_cell(&t, "algorithm");
    if (k.device)
        html_cell(&t, "device");
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        html_cell(&t, "%s", header[i]);
    for (size_t i = 0; i < r->g.count; i++) {
        struct over o = {0};
        if (page_is_first(r, i))
            o = over_cases(r, &r->g.item[i]);
        if (o.cases > 0)
            method_row(&t, &r->g.item[i], k, &o);
    }
    html_table_end(&t);
    text_add(to, "</section>\n");
}

double page_cliff(const struct page *r, const struct gathered_case *like, double *most)
{
    double cliff = INFINITY;
    *most = -INFINITY;
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (!page_same_series(c, like) || !c->err_rel.known || !c->cond_log2.known ||
            strncmp(c->field[CASE_INPUT], "cond", strlen("cond")) != 0 ||
            strcmp(c->field[CASE_STORAGE], like->field[CASE_STORAGE]) != 0 ||
            strcmp(c->field[CASE_ACCUMULATOR], like->field[CASE_ACCUMULATOR]) != 0)
            continue;
        *most = fmax(*most, c->cond_log2.value);
        if (!(c->err_rel.value < 1))
            cliff = fmin(cliff, c->cond_log2.value);
    }
    return cliff;
}

void page_cliffs(struct text *to, const struct page *r)
{
    struct html_table t;
    if (!page_has_conditions(r))
        return;
    text_add(to, "<section id=\"cliffs\"><h2>Cliffs</h2>\n<p>The least condition number tried at "
                 "which no digit is right.</p>\n");
    html_table_begin(&t, to, "lllr");
    html_cell(&t, "method");
    html_cell(&t, "storage");
    html_cell(&t, "accumulator");
    html_cell(&t, "cliff");
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        bool seen = false;
        double most, cliff;
        for (size_t k = 0; k < i && !seen; k++)
            seen = page_same_series(c, &r->g.item[k]) &&
                   strcmp(c->field[CASE_STORAGE], r->g.item[k].field[CASE_STORAGE]) == 0 &&
                   strcmp(c->field[CASE_ACCUMULATOR], r->g.item[k].field[CASE_ACCUMULATOR]) == 0;
        if (seen || c->runs == 0)
            continue;
        cliff = page_cliff(r, c, &most);
        if (isinf(most))
            continue;
        html_cell(&t, "%s", c->field[CASE_METHOD]);
        html_cell(&t, "%s", c->field[CASE_STORAGE]);
        html_cell(&t, "%s", c->field[CASE_ACCUMULATOR]);
        html_cell(&t, isinf(cliff) ? "beyond 2^%.0f" : "2^%.0f", isinf(cliff) ? most : cliff);
    }
    html_table_end(&t);
    text_add(to, "</section>\n");
}

void page_times(struct text *to, const struct page *r)
{
    static const enum times_column column[] = {TIMES_METHOD,      TIMES_DEVICE, TIMES_STORAGE,
                                               TIMES_ACCUMULATOR, TIMES_INPUT,  TIMES_N,
                                               TIMES_NOTE};
    struct html_table t;
    if (r->times == 0)
        return;
    text_add(to, "<section id=\"times\"><h2>Times</h2>\n<p>Medians, beside a raw read of the same "
                 "data in the same round (times.csv).</p>\n");
    html_table_begin(&t, to, "lllllrlrrr");
    for (size_t k = 0; k < sizeof column / sizeof *column; k++)
        html_cell(&t, "%s", times_column(column[k])->name);
    html_cell(&t, "time, us");
    html_cell(&t, "GB/s");
    html_cell(&t, "of raw read");
    for (size_t i = 0; i < r->times; i++) {
        const char *note = r->time[i].field[TIMES_NOTE];
        for (size_t k = 0; column[k] != TIMES_NOTE; k++)
            html_cell(&t, "%s", r->time[i].field[column[k]]);
        if (*r->time[i].field[TIMES_IN_CACHE])
            html_cell(&t, "cached%s%s", *note ? ", " : "", note);
        else
            html_cell(&t, "%s", note);
        figure_cell(&t, "%.4g", r->time[i].time_us);
        figure_cell(&t, "%.4g", r->time[i].gb_per_s);
        figure_cell(&t, "%.3f", r->time[i].of_raw);
    }
    html_table_end(&t);
    text_add(to, "</section>\n");
}

/* --- where it comes from --- */

static void add_json(struct html_table *t, const char *name, const json_t *value)
{
    const char *key;
    json_t *entry;
    if (json_is_object(value)) {
        json_object_foreach ((json_t *)value, key, entry) {
            char *path;
            if (asprintf(&path, "%s%s%s", name, *name ? ", " : "", key) < 0)
                return;
            add_json(t, path, entry);
            free(path);
        }
        return;
    }
    char *text = json_is_string(value)
                     ? strdup(json_string_value(value))
                     : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (text && *text) {
        html_cell(t, "%s", name);
        html_cell(t, "%s", text);
    }
    free(text);
}

static void add_entries(struct text *to, const struct page *r, const char *const *name,
                        const char *summary)
{
    struct html_table t;
    if (summary)
        text_format(to, "<details><summary>%s</summary>\n", summary);
    html_table_begin(&t, to, "ll");
    html_cell(&t, "entry");
    html_cell(&t, "value");
    for (; *name; name++) {
        const json_t *value = json_object_get(r->g.study, *name);
        if (value)
            add_json(&t, *name, value);
    }
    html_table_end(&t);
    if (summary)
        text_add(to, "</details>\n");
}

/* What was merged was measured by these. */
static void add_shards(struct text *to, const struct page *r)
{
    const json_t *shards = json_object_get(r->g.study, "shards"), *shard, *word;
    struct html_table t;
    size_t i, k;
    if (json_array_size(shards) == 0)
        return;
    text_format(to, "<p>It was merged of %zu shards, each measured by a command of its own:</p>\n",
                json_array_size(shards));
    html_table_begin(&t, to, "ll");
    html_cell(&t, "shard");
    html_cell(&t, "command");
    json_array_foreach ((json_t *)shards, i, shard) {
        struct text command = {0};
        const json_t *words = json_object_get(shard, "arguments");
        const char *name = json_string_value(json_object_get(shard, "shard"));
        json_array_foreach ((json_t *)words, k, word)
            text_format(&command, "%s%s", k ? " " : "",
                        json_is_string(word) ? json_string_value(word) : "");
        html_cell(&t, "%s", name ? name : "");
        html_cell(&t, "%s", text_string(&command) ? command.data : "");
        text_free(&command);
    }
    html_table_end(&t);
}

enum { HASHES_MOST = 16 };

void page_provenance(struct text *to, const struct page *r)
{
    static const char *const
        first[] = {"experiment", "started", "program", "machine", "resumed", "objects", NULL},
        *const more[] = {"arguments", "axes", NULL}, *const inputs[] = {"inputs", NULL};
    text_add(to, "<section id=\"provenance\"><h2>Where it comes from</h2>\n<p>From study.json; "
                 "<code>ulpscope run --from study.json</code> repeats the study.</p>\n");
    add_entries(to, r, first, NULL);
    add_shards(to, r);
    add_entries(to, r, more, "Arguments and axes");
    size_t hashes = json_object_size(json_object_get(r->g.study, "inputs"));
    if (hashes > HASHES_MOST)
        text_format(to, "<p>The hashes of its %zu inputs are in study.json.</p>\n", hashes);
    else if (hashes > 0)
        add_entries(to, r, inputs, "Hashes of the inputs");
    text_add(to, "</section>\n");
}

/* --- The files of a study, their rows as they stand --- */

enum { ROWS_MOST = 3, COLUMNS_MOST = 40 };

struct rows {
    struct html_table table;
    char align[COLUMNS_MOST + 1];
    size_t rows, cells, columns;
    char *cell[COLUMNS_MOST];
};

static void take_cell(void *bytes, size_t count, void *context)
{
    struct rows *r = context;
    if (r->cells < COLUMNS_MOST)
        r->cell[r->cells] = strndup(bytes ? bytes : "", count);
    r->cells++;
}

static void take_row(int terminator, void *context)
{
    struct rows *r = context;
    size_t cells = r->cells < COLUMNS_MOST ? r->cells : COLUMNS_MOST;
    (void)terminator;
    if (r->rows == 0) {
        r->columns = cells;
        memset(r->align, 'l', cells);
        html_table_begin(&r->table, r->table.to, r->align);
    }
    for (size_t i = 0; i < r->columns && r->rows <= ROWS_MOST; i++)
        html_cell(&r->table, "%s", i < cells && r->cell[i] ? r->cell[i] : "");
    for (size_t i = 0; i < cells; i++)
        free(r->cell[i]);
    r->cells = 0;
    r->rows++;
}

static enum status add_file(struct text *to, const char *folder, const char *name,
                            struct problem *p)
{
    struct rows rows = {.table.to = to};
    struct csv_parser parser;
    char *path, block[1 << 16];
    size_t got;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return problem(p, STATUS_MEMORY, "%s: out of memory", folder);
    FILE *file;
    enum status status = file_open(&file, path, p);
    if (status != STATUS_OK || csv_init(&parser, 0) != 0) {
        status = problem(p, STATUS_DATA, "%s: could not be read", path);
    } else {
        text_add(to, "<details><summary>");
        html_text(to, name);
        text_add(to, "</summary>\n");
        while ((got = fread(block, 1, sizeof block, file)) > 0)
            csv_parse(&parser, block, got, take_cell, take_row, &rows);
        csv_fini(&parser, take_cell, take_row, &rows);
        csv_free(&parser);
        if (rows.rows > 0)
            html_table_end(&rows.table);
        if (rows.rows > ROWS_MOST + 1)
            text_format(to, "<p>The first %d of %zu rows.</p>\n", ROWS_MOST, rows.rows - 1);
        text_add(to, "</details>\n");
    }
    if (file)
        fclose(file);
    free(path);
    return status;
}

static int is_csv(const struct dirent *d)
{
    size_t length = strlen(d->d_name);
    return length > 4 && strcmp(d->d_name + length - 4, ".csv") == 0;
}

enum status page_files(struct text *to, const struct page *r, struct problem *p)
{
    struct dirent **file = NULL;
    int count = scandir(r->g.path, &file, is_csv, alphasort);
    enum status status = STATUS_OK;
    text_add(to, "<section id=\"files\"><h2>Files</h2>\n<p>The rows of the study, as they stand in "
                 "its directory.</p>\n");
    for (int i = 0; i < count; i++) {
        if (status == STATUS_OK)
            status = add_file(to, r->g.path, file[i]->d_name, p);
        free(file[i]);
    }
    free(file);
    text_add(to, "</section>\n");
    return status;
}
