#include "experiments/check/recorded.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/operations/operation.h"
#include "reference/base/grow.h"
#include "experiments/check/attempts.h"
#include "reference/format/hash_array.h"
#include "reports/text/file.h"
#include "reports/results/results.h"

enum { LARGEST = 1 << 20 };

struct reader {
    struct check_recorded *to;
    const char *folder;
    enum columns_of of;
    const struct method *const *method; /* that are asked for */
    size_t methods;                     /* 0: all */
    char last_case[CHECK_WORDS];
};

static const char *field(const struct csv_row *row, enum case_column column)
{
    return row->field[results_case_column(column)];
}

/* A number, 0 where the field is empty. */
static uint64_t whole(const struct csv_row *row, enum case_column column)
{
    return strtoull(field(row, column), NULL, 10);
}

/* Fills in what the row says; false where it is not for us. */
static bool read_case(const struct reader *r, const struct csv_row *row, struct check_case *k)
{
    *k = (struct check_case){
        .n = (size_t)whole(row, CASE_N),
        .seed = whole(row, CASE_SEED),
        .shape = {(unsigned)whole(row, CASE_THREADS), (unsigned)whole(row, CASE_BLOCKS)}};
    k->pair.storage = format_named(field(row, CASE_STORAGE));
    k->pair.accumulator = format_named(field(row, CASE_ACCUMULATOR));
    k->setting.output = k->pair.accumulator;
    bool generated = *field(row, CASE_SEED),
         cuda = strncmp(field(row, CASE_DEVICE), "cuda", 4) == 0;
    bool scans = r->of == COLUMNS_OF_SCANS, keys = r->of == COLUMNS_OF_SCATTERS;
    if (keys)
        k->setting.bins = whole(row, CASE_BINS);
    if (scans && *field(row, CASE_SCAN)) {
        k->setting.exclusive = strcmp(field(row, CASE_SCAN), "exclusive") == 0;
        k->setting.output = format_named(field(row, CASE_OUTPUT));
    }
    return generated && cuda && k->n > 0 && k->n <= LARGEST && k->pair.storage < FORMATS &&
           k->pair.accumulator < FORMATS && k->setting.output < FORMATS &&
           !(scans && *field(row, CASE_SEGMENT)) && *row->field[RESULTS_RESULT_BITS] &&
           input_parse(&k->input, field(row, CASE_INPUT), NULL) == STATUS_OK;
}

/* Of generated keys; those of a file are not at hand, and those of a matrix are rows. */
static enum status read_keys(struct check_recorded_row *taken, const struct csv_row *row,
                             bool *ours, struct problem *p)
{
    const char *text = field(row, CASE_KEYS);
    const struct method *m = method_named(field(row, CASE_METHOD));
    *ours = m && operation_asks(m->operation, SETTING_KEYS) && strncmp(text, "file:", 5) != 0;
    if (!*ours)
        return STATUS_OK;
    taken->keys = malloc(sizeof *taken->keys);
    if (!taken->keys)
        return problem(p, STATUS_MEMORY, "out of memory for recorded results");
    struct problem why = {0};
    enum status status = keys_parse(taken->keys, text, &why);
    if (status != STATUS_OK) {
        free(taken->keys);
        return problem(p, STATUS_DATA, "%s: line %zu: %s", row->path, row->line, why.text);
    }
    taken->at.setting.keys = taken->keys;
    return STATUS_OK;
}

static enum status keep(struct check_recorded *to, const struct check_recorded_row *row,
                        struct problem *p)
{
    if (!grow(&to->row, to->rows, sizeof *to->row))
        return problem(p, STATUS_MEMORY, "out of memory for recorded results");
    to->row[to->rows] = *row;
    to->row[to->rows].method = strdup(row->method);
    return to->row[to->rows++].method
               ? STATUS_OK
               : problem(p, STATUS_MEMORY, "out of memory for recorded results");
}

/* A field of a line without quotes. */
static const char *field_of(const char *line, size_t field)
{
    while (line && field-- > 0) {
        line = strchr(line, ',');
        line += line != NULL;
    }
    return line ? line : "";
}

static bool is_field(const char *field, const char *text)
{
    size_t length = strlen(text);
    return strncmp(field, text, length) == 0 && field[length] == ',';
}

/* Rows of other methods, of CPUs, and later runs of a case. */
static bool skip(void *context, const char *line)
{
    const struct reader *r = context;
    const char *method = field_of(line, results_case_column(CASE_METHOD));
    bool asked = r->methods == 0;
    for (size_t i = 0; i < r->methods && !asked; i++)
        asked = is_field(method, r->method[i]->name);
    return !asked || is_field(field_of(line, results_case_column(CASE_ID)), r->last_case) ||
           strncmp(field_of(line, results_case_column(CASE_DEVICE)), "cuda", 4) != 0;
}

static enum status take(void *context, const struct csv_row *row, struct problem *p)
{
    struct reader *r = context;
    struct check_recorded_row taken = {.method = (char *)field(row, CASE_METHOD)};
    if (strcmp(r->last_case, field(row, CASE_ID)) == 0)
        return STATUS_OK;
    snprintf(r->last_case, sizeof r->last_case, "%s", field(row, CASE_ID));
    if (!read_case(r, row, &taken.at))
        return STATUS_OK;
    snprintf(taken.folder, sizeof taken.folder, "%s", r->folder);
    bool keys = r->of == COLUMNS_OF_SCATTERS, ours = true;
    bool array = keys || (r->of == COLUMNS_OF_SCANS && *field(row, CASE_SCAN));
    enum status status =
        array ? results_parse_hash(&taken.digest, row, p)
              : csv_whole(row, RESULTS_RESULT_BITS, "result_bits", &taken.digest.word[0], p);
    if (status == STATUS_OK && keys)
        status = read_keys(&taken, row, &ours, p);
    return status == STATUS_OK && ours ? keep(r->to, &taken, p) : status;
}

/* Whose columns has the file? False where there is no file, or it is of products. */
static bool read_header(const char *path, enum columns_of *of)
{
    char header[2048] = "";
    FILE *file;
    if (file_open(&file, path, NULL) != STATUS_OK)
        return false;
    bool there = fgets(header, sizeof header, file);
    fclose(file);
    header[strcspn(header, "\n")] = ','; /* behind the last column too */
    *of = strstr(header, ",scan,")   ? COLUMNS_OF_SCANS
          : strstr(header, ",keys,") ? COLUMNS_OF_SCATTERS
                                     : COLUMNS_OF_SUMS;
    return there && !strstr(header, ",product,") && !strstr(header, ",chip,");
}

static enum status read_folder(struct reader *r, const char *dir, const char *folder,
                               struct problem *p)
{
    char path[4096];
    uint64_t whole_bytes;
    r->folder = folder;
    *r->last_case = 0;
    snprintf(path, sizeof path, "%s/%s/results.csv", dir, folder);
    if (!read_header(path, &r->of))
        return STATUS_OK;
    return csv_read_but(path, results_column_of(r->of), results_columns(r->of), skip, take, r,
                        &whole_bytes, p);
}

enum status check_recorded_read(struct check_recorded **recorded, const char *dir,
                                const struct method *const *method, size_t methods,
                                struct problem *p)
{
    struct dirent **entry;
    *recorded = calloc(1, sizeof **recorded);
    if (!*recorded)
        return problem(p, STATUS_MEMORY, "%s: out of memory", dir);
    struct reader r = {.to = *recorded, .method = method, .methods = methods};
    int count = scandir(dir, &entry, NULL, alphasort);
    enum status status = count < 0
                             ? problem(p, STATUS_DATA, "%s: %s; expected a directory of results",
                                       dir, strerror(errno))
                             : STATUS_OK;
    for (int i = 0; i < count; i++) {
        if (status == STATUS_OK && *entry[i]->d_name != '.')
            status = read_folder(&r, dir, entry[i]->d_name, p);
        free(entry[i]);
    }
    if (count >= 0)
        free(entry);
    if (status != STATUS_OK) {
        check_recorded_free(*recorded);
        *recorded = NULL;
    }
    return status;
}

void check_recorded_free(struct check_recorded *recorded)
{
    for (size_t i = 0; recorded && i < recorded->rows; i++) {
        free(recorded->row[i].method);
        if (recorded->row[i].keys)
            keys_free(recorded->row[i].keys);
        free(recorded->row[i].keys);
    }
    if (recorded)
        free(recorded->row);
    free(recorded);
}

/* --- as attempts --- */

static bool among(const struct numbers *asked, uint64_t number)
{
    bool is = asked->count == 0;
    for (size_t i = 0; i < asked->count; i++)
        is |= asked->item[i] == number;
    return is;
}

static bool into_asked_bins(const struct check_request *r, const struct check_case *at)
{
    bool keys = r->setting.keys == 0, bins = r->setting.bins.count == 0;
    for (size_t i = 0; i < r->setting.keys && at->setting.keys; i++)
        keys |= strcmp(r->setting.key[i].asked, at->setting.keys->asked) == 0;
    for (size_t i = 0; i < r->setting.bins.count; i++)
        bins |= r->setting.bins.item[i] == at->setting.bins;
    return keys && bins;
}

/* Is it among what is asked for? Where one case is, its seed counts too. */
static bool asked_for(const struct check *c, const struct check_recorded_row *row)
{
    const struct check_request *r = c->request;
    bool pair = false, n = r->n.count == 0, input = r->inputs == 0;
    bool shape = !r->method->shape_order || (among(&r->threads, row->at.shape.threads) &&
                                             among(&r->blocks, row->at.shape.blocks));
    char name[INPUT_TEXT], other[INPUT_TEXT];
    if (strcmp(row->method, r->method->name) != 0)
        return false;
    for (size_t i = 0; i < c->pairs.count; i++)
        pair |= c->pairs.item[i].storage == row->at.pair.storage &&
                c->pairs.item[i].accumulator == row->at.pair.accumulator;
    for (size_t i = 0; i < r->n.count; i++)
        n |= r->n.item[i] == row->at.n;
    input_name(&row->at.input, name);
    for (size_t i = 0; i < r->inputs; i++) {
        input_name(&r->input[i], other);
        input |= strcmp(name, other) == 0;
    }
    bool scan = r->scan[0] == r->scan[1] || r->scan[row->at.setting.exclusive];
    bool seed = !r->n.count || !r->inputs || r->seed == row->at.seed;
    return pair && n && input && shape && scan && seed && into_asked_bins(r, &row->at);
}

bool check_recorded_at(const struct check *c, size_t u, struct check_case *k)
{
    const struct check_recorded *recorded = c->request->recorded;
    size_t place = u;
    for (size_t i = 0; recorded && i < recorded->rows; i++) {
        if (!asked_for(c, &recorded->row[i]) || u-- > 0)
            continue;
        *k = recorded->row[i].at;
        k->recorded = &recorded->row[i];
        if (!c->request->method->shape_order)
            k->shape = check_shape_at(c, place % check_shape_count(c));
        return true;
    }
    return false;
}

enum status check_with_recorded(struct check *c, struct check_outcome *o, struct problem *p)
{
    struct array out;
    const struct check_recorded_row *row = c->at.recorded;
    const struct method *m = c->request->method;
    struct check_setting s = check_plain(c, &c->at);
    enum status status = check_once(c, &s, &out, p);
    if (status != STATUS_OK)
        return status;
    struct hash128 digest =
        operation_makes_array(m->operation)
            ? hash_array(&out)
            : (struct hash128){{format_canonical(out.format, array_bits(&out, 0)), 0}};
    free(out.data);
    if (!tally_add(&o->tally, row->digest) || !tally_add(&o->tally, digest))
        return problem(p, STATUS_MEMORY, "out of memory for results");
    o->attempts = 1;
    o->differing = o->tally.count > 1;
    o->found = (struct check_break){.at = c->at,
                                    .hash = operation_makes_array(m->operation),
                                    .bits = {row->digest.word[0], digest.word[0]}};
    snprintf(o->found.is[0], CHECK_WORDS, "recorded in %s", row->folder);
    snprintf(o->found.is[1], CHECK_WORDS, "here");
    return STATUS_OK;
}
