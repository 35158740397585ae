#include "experiments/sweep/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/cases/experiment.h"
#include "experiments/cases/shard.h"
#include "experiments/sweep/provenance.h"
#include "reference/base/grow.h"
#include "reports/csv/file.h"
#include "reports/results/directory.h"

static const size_t flush_bytes = 1 << 20; /* bytes of rows that are written together */

/* A shard's directory. */
struct part {
    const char *path;
    char *study_path;
    json_t *study;
    struct shard shard;
};

struct merging {
    const struct merge *asked;
    struct part *part; /* by number */
    size_t parts;
    const struct experiment *experiment;
    json_t *study; /* of the whole */
    struct directory directory;
};

/* --- Which shards there are --- */

static enum status read_part(struct part *part, const char *path, struct problem *p)
{
    part->path = path;
    if (asprintf(&part->study_path, "%s/study.json", path) < 0) {
        part->study_path = NULL;
        return problem(p, STATUS_MEMORY, "%s: out of memory", path);
    }
    enum status status = study_read(&part->study, part->study_path, p);
    const char *shard = json_string_value(json_object_get(part->study, "shard"));
    if (status == STATUS_OK && !shard)
        return problem(
            p, STATUS_USAGE,
            "%s: found a whole study, expected a shard of one (`ulpscope run ... --shard "
            "1/4`)",
            part->study_path);
    return status == STATUS_OK ? shard_parse(&part->shard, part->study_path, shard, p) : status;
}

static int by_number(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return (x->shard.index > y->shard.index) - (x->shard.index < y->shard.index);
}

/* Parts lie by their numbers: is each of them there, once? */
static enum status hold_to_count(const struct merging *m, struct problem *p)
{
    uint32_t count = m->part[0].shard.count;
    for (size_t i = 0; i < m->parts; i++) {
        const struct part *is = &m->part[i];
        if (is->shard.count != count)
            return problem(p, STATUS_USAGE, "%s: found shard %u/%u, expected one of %u, as %s",
                           is->study_path, is->shard.index, is->shard.count, count,
                           m->part[0].study_path);
        if (i > 0 && is->shard.index == is[-1].shard.index)
            return problem(p, STATUS_USAGE, "%s: found shard %u/%u, which %s is too",
                           is->study_path, is->shard.index, count, is[-1].study_path);
    }
    for (uint32_t k = 1; k <= count; k++)
        if (k > m->parts || m->part[k - 1].shard.index != k)
            return problem(
                p, STATUS_USAGE,
                "merge: found %zu of %u shards, expected %u/%u too: run it, and name its "
                "directory",
                m->parts, count, k, count);
    return STATUS_OK;
}

/* Without what only says which shard it is, so that studies can be compared. */
static json_t *whole_of(const struct part *part)
{
    json_t *study = json_deep_copy(part->study);
    json_object_del(study, "shard");
    return study;
}

static enum status add_inputs(json_t *all, const struct part *part, struct problem *p)
{
    const char *key;
    json_t *hash;
    json_object_foreach (json_object_get(part->study, "inputs"), key, hash) {
        json_t *before = json_object_get(all, key);
        if (before && !json_equal(before, hash))
            return problem(p, STATUS_DATA,
                           "%s: %s: found other elements than an earlier shard has recorded (XXH3 "
                           "%s, expected %s)",
                           part->study_path, key, json_string_value(hash),
                           json_string_value(before));
        if (json_object_set(all, key, hash) != 0)
            return problem(p, STATUS_MEMORY, "%s: out of memory", part->study_path);
    }
    return STATUS_OK;
}

/* What study.json of the whole says of a shard: where and with what it ran. */
static json_t *facts_of(const struct part *part)
{
    static const char *const kept[] = {"shard",   "started", "arguments",
                                       "program", "machine", "resumed"};
    json_t *facts = json_object();
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        json_object_set(facts, kept[i], json_object_get(part->study, kept[i]));
    return facts;
}

/* What is said of a directory that is resumed ends with advice that is of no use here. */
static enum status hold_to_first(const struct part *part, const json_t *first, struct problem *p)
{
    struct problem why = {0};
    json_t *its = whole_of(part);
    enum status status = study_same(its, first, part->study_path, &why);
    char *advice = strstr(why.text, ": give another --out");
    json_decref(its);
    if (advice)
        *advice = 0;
    return status == STATUS_OK
               ? status
               : problem(p, status, "%s by the first shard: name the shards of one study",
                         why.text);
}

static const char *commit_of(const struct part *part)
{
    const json_t *program = json_object_get(part->study, "program");
    const char *commit = json_string_value(json_object_get(program, "commit"));
    return commit && *commit ? commit : "unknown";
}

/* One line, however many there are. */
static void tell_programs(const struct merging *m)
{
    const char *first = commit_of(&m->part[0]);
    for (size_t i = 1; i < m->parts; i++) {
        const char *other = commit_of(&m->part[i]);
        if (strcmp(first, other) == 0)
            continue;
        fprintf(stderr,
                "ulpscope: %s is of another program than %s (commits %.10s and %.10s): rows of two "
                "programs may differ\n",
                m->part[i].path, m->part[0].path, other, first);
        return;
    }
}

static enum status join_studies(struct merging *m, struct problem *p)
{
    json_t *inputs = json_object(), *shards = json_array();
    m->study = whole_of(&m->part[0]);
    json_object_del(m->study, "resumed");
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < m->parts; i++) {
        status = hold_to_first(&m->part[i], m->study, p);
        if (status == STATUS_OK)
            status = add_inputs(inputs, &m->part[i], p);
        json_array_append_new(shards, facts_of(&m->part[i]));
    }
    json_object_set_new(m->study, "inputs", inputs);
    json_object_set_new(m->study, "shards", shards);
    json_object_set_new(m->study, "arguments",
                        provenance_arguments(m->asked->argc, m->asked->argv));
    if (status == STATUS_OK)
        tell_programs(m);
    return status;
}

static enum status read_parts(struct merging *m, struct problem *p)
{
    const struct merge *asked = m->asked;
    enum status status = STATUS_OK;
    m->part = calloc(asked->count, sizeof *m->part);
    if (!m->part)
        return problem(p, STATUS_MEMORY, "merge: out of memory");
    for (size_t i = 0; status == STATUS_OK && i < asked->count; i++)
        status = read_part(&m->part[m->parts++], asked->dir[i], p);
    if (status != STATUS_OK)
        return status;
    qsort(m->part, m->parts, sizeof *m->part, by_number);
    status = hold_to_count(m, p);
    if (status == STATUS_OK)
        status = join_studies(m, p);
    return status == STATUS_OK
               ? experiment_named(&m->experiment,
                                  json_string_value(json_object_get(m->study, "experiment")), p)
               : status;
}

/* --- Their rows --- */

/* Rows of a file that are copied. */
struct copying {
    struct csv_file *to;
    size_t columns;
    bool (*ends)(const struct csv_row *row); /* rows come in blocks, of a torn one nothing is
                                                copied; NULL: each is one */
    struct text held;                        /* rows of the block at hand */
    struct list *seen;                       /* of times.csv: inputs timed by the shards so far, */
    size_t seen_before;                      /* how many of them before this shard */
    const struct part *part, *at;            /* the shards, and the one at hand */
    json_t *cases;                           /* of results.csv: the number of each case's shard */
};

/* Fields as they are in a CSV file. */
static void add_fields(struct text *to, const struct csv_row *row, size_t columns)
{
    for (size_t i = 0; i < columns; i++) {
        if (i > 0)
            text_add(to, ",");
        text_field(to, row->field[i]);
    }
    text_add(to, "\n");
}

static enum status copy_row(void *context, const struct csv_row *row, struct problem *p)
{
    struct copying *c = context;
    add_fields(&c->held, row, c->columns);
    if (c->ends && !c->ends(row))
        return STATUS_OK;
    text_join(&c->to->pending, &c->held);
    text_free(&c->held);
    if (c->to->pending.failed)
        return problem(p, STATUS_MEMORY, "%s: out of memory", row->path);
    return c->to->pending.length < flush_bytes ? STATUS_OK : csv_file_flush(c->to, p);
}

/* A case is of one shard: in two, its rows were copied. */
static enum status copy_result(void *context, const struct csv_row *row, struct problem *p)
{
    struct copying *c = context;
    const char *id = row->field[RESULTS_CASE_ID];
    const json_t *found = json_object_get(c->cases, id);
    const struct part *of = found ? &c->part[json_integer_value(found)] : NULL;
    if (of && of != c->at)
        return problem(p, STATUS_DATA,
                       "%s: line %zu: case_id: found %s, which %s has, too: expected a case that "
                       "no other shard has: edited",
                       row->path, row->line, id, of->path);
    if (!of && json_object_set_new_nocheck(c->cases, id, json_integer(c->at - c->part)) != 0)
        return problem(p, STATUS_MEMORY, "%s: out of memory", row->path);
    return copy_row(context, row, p);
}

/* Two shards may have timed the same input: ratios hold within what was timed in turn, so the rows
 * of the first are taken. */
static enum status copy_time(void *context, const struct csv_row *row, struct problem *p)
{
    struct copying *c = context;
    char *key;
    enum status status = STATUS_OK;
    int length = asprintf(&key, "%s %s %s %s", row->field[TIMES_DEVICE], row->field[TIMES_STORAGE],
                          row->field[TIMES_N], row->field[TIMES_INPUT]);
    if (length < 0)
        return problem(p, STATUS_MEMORY, "%s: out of memory", row->path);
    size_t at = 0;
    while (at < c->seen->count && strcmp(c->seen->item[at], key) != 0)
        at++;
    if (at == c->seen->count)
        status = list_append(c->seen, key, (size_t)length, p);
    free(key);
    return status == STATUS_OK && at >= c->seen_before ? copy_row(context, row, p) : status;
}

/* The rows of a file of each shard, where it has one. */
static enum status join_files(struct merging *m, const char *name, const char *to,
                              column_at *column, size_t columns,
                              bool (*ends)(const struct csv_row *row), csv_take take,
                              struct problem *p)
{
    struct csv_file file;
    struct list seen = {0};
    enum status status = csv_file_open(&file, to, 0, column, columns, p);
    struct copying c = {.to = &file,
                        .columns = columns,
                        .ends = ends,
                        .seen = &seen,
                        .part = m->part,
                        .cases = json_object()};
    for (size_t i = 0; status == STATUS_OK && i < m->parts; i++) {
        char *path;
        uint64_t whole;
        if (asprintf(&path, "%s/%s", m->part[i].path, name) < 0) {
            status = problem(p, STATUS_MEMORY, "%s: out of memory", name);
            break;
        }
        c.seen_before = seen.count;
        c.at = &m->part[i];
        if (access(path, F_OK) == 0)
            status = csv_read(path, column, columns, take, &c, &whole, p);
        text_free(&c.held);
        free(path);
    }
    list_free(&seen);
    json_decref(c.cases);
    enum status closed = csv_file_close(&file, p);
    return status == STATUS_OK ? closed : status;
}

/* The last row of a subject that `check` tried. */
static bool ends_subject(const struct csv_row *row)
{
    const struct method *m = method_named(row->field[CHECK_METHOD]);
    enum promise rung = promise_named(row->field[CHECK_RUNG]);
    for (enum promise more = PROMISES; m && more < PROMISES_ALL; more++)
        if (more > rung && (m->operation->beside & 1u << more))
            return false;
    return rung >= PROMISE_CORRECTLY_ROUNDED;
}

static enum status join_rows(struct merging *m, struct problem *p)
{
    const struct directory *d = &m->directory;
    enum columns_of of = experiment_columns(m->experiment);
    if (m->experiment->run)
        return join_files(m, "trial.csv", d->trial, check_column, CHECK_COLUMNS, ends_subject,
                          copy_row, p);
    enum status status = join_files(m, "results.csv", d->results, results_column_of(of),
                                    results_columns(of), NULL, copy_result, p);
    if (status == STATUS_OK)
        status = join_files(m, "summary.csv", d->summary, summary_column_of(of),
                            summary_columns(of), NULL, copy_row, p);
    if (status == STATUS_OK && of == COLUMNS_OF_SCANS)
        status = join_files(m, "profile.csv", d->profile, profile_column, PROFILE_COLUMNS, NULL,
                            copy_row, p);
    if (status == STATUS_OK && experiment_times(m->experiment))
        status =
            join_files(m, "times.csv", d->times, times_column, TIMES_COLUMNS, NULL, copy_time, p);
    return status;
}

static bool same_folder(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static enum status open_out(struct merging *m, const char *out, struct problem *p)
{
    bool there = false;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < m->parts; i++)
        if (same_folder(m->part[i].path, out))
            status = problem(p, STATUS_USAGE,
                             "option --out: found %s, a shard, expected another directory", out);
    if (status == STATUS_OK)
        status = directory_open(&m->directory, out, p);
    if (status == STATUS_OK)
        status = directory_look(&m->directory, m->study, m->asked->force, &there, p);
    bool anew = m->asked->force || (there && study_merging(m->study));
    if (status == STATUS_OK && there && !anew)
        return problem(p, STATUS_DATA,
                       "%s: found this study, merged before: give another --out, or --force to "
                       "merge anew",
                       out);
    if (status == STATUS_OK && !study_set_merging(m->study, true))
        status = problem(p, STATUS_MEMORY, "%s: out of memory", out);
    return status == STATUS_OK ? directory_claim(&m->directory, m->study, anew, &there, p) : status;
}

static void free_all(struct merging *m)
{
    for (size_t i = 0; i < m->parts; i++) {
        free(m->part[i].study_path);
        json_decref(m->part[i].study);
    }
    free(m->part);
    json_decref(m->study);
    if (m->directory.lock >= 0)
        directory_close(&m->directory);
}

enum status merge_shards(const struct merge *asked, uint32_t *shards, char **out, struct problem *p)
{
    struct merging m = {.asked = asked, .directory.lock = -1};
    struct problem why = {0};
    *out = NULL;
    enum status status = read_parts(&m, p);
    if (status == STATUS_OK && asprintf(out, asked->out ? "%s" : "results-%s",
                                        asked->out ? asked->out : m.experiment->name) < 0) {
        *out = NULL;
        status = problem(p, STATUS_MEMORY, "merge: out of memory");
    }
    if (status == STATUS_OK)
        status = open_out(&m, *out, p);
    if (status == STATUS_OK && (status = join_rows(&m, &why)) != STATUS_OK) {
        char *advice = strstr(why.text, "; the rows before are kept");
        if (advice)
            *advice = 0;
        problem(p, status, "%s; the same command merges anew", why.text);
    }
    *shards = status == STATUS_OK ? m.part[0].shard.count : 0;
    free_all(&m);
    return status;
}

enum status merge_finish(const char *out, struct problem *p)
{
    struct directory d;
    json_t *study = NULL;
    enum status status = directory_open(&d, out, p);
    if (status == STATUS_OK)
        status = study_read(&study, d.study, p);
    if (status == STATUS_OK && !study_set_merging(study, false))
        status = problem(p, STATUS_MEMORY, "%s: out of memory", out);
    if (status == STATUS_OK)
        status = study_write(study, d.study, p);
    json_decref(study);
    if (d.lock >= 0)
        directory_close(&d);
    return status;
}
