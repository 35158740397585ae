#include "tests/support/recorded_twin.h"

#include <stdio.h>
#include <stdlib.h>

#include "experiments/data/data.h"
#include "experiments/inputs/heads.h"
#include "experiments/inputs/keys.h"
#include "experiments/operations/layout.h"
#include "experiments/subjects/mpi_models.h"
#include "experiments/inputs/mask.h"
#include "experiments/system/memory.h"
#include "reference/format/hash_array.h"

/* Elements to a case, and to all cases of a file beyond the small ones: some seconds. One of a scan
 * takes about as long as several of a sum. */
enum { LARGEST = 1 << 26, SMALL = 1 << 12, ALTOGETHER = 1 << 30, SCAN_WEIGHT = 8 };

/* Of longer cases that differ in nothing but input, seed, shape or layout, one in ONE_OF. */
enum { LONG = 1 << 14, ONE_OF = 4 };

static size_t field_index(const struct recorded_twin *t, enum case_column column)
{
    return t->profile && column >= CASE_SCAN ? (size_t)(PROFILE_SCAN + column - CASE_SCAN)
                                             : results_case_column(column);
}

const char *recorded_field(const struct recorded_twin *t, const struct csv_row *row,
                           enum case_column column)
{
    return row->field[field_index(t, column)];
}

static enum status column_whole(const struct recorded_twin *t, const struct csv_row *row,
                                enum case_column column, uint64_t *value, struct problem *p)
{
    *value = 0;
    return *recorded_field(t, row, column)
               ? csv_whole(row, field_index(t, column), case_columns[column].name, value, p)
               : STATUS_OK;
}

static enum status column_format(const struct recorded_twin *t, const struct csv_row *row,
                                 enum case_column column, enum format *f, struct problem *p)
{
    *f = format_named(recorded_field(t, row, column));
    return *f < FORMATS
               ? STATUS_OK
               : problem(p, STATUS_DATA, "%s: line %zu: column %s: unknown format '%s'", row->path,
                         row->line, case_columns[column].name, recorded_field(t, row, column));
}

/* The first n elements of tests/data/NAME, or of NAME:from=FORMAT, converted. */
static enum status read_data(struct array *a, const char *name, enum format storage, size_t n,
                             struct problem *p)
{
    char path[512];
    struct data_set set;
    snprintf(path, sizeof path, "%s/tests/data/%s", ULPSCOPE_SOURCE, name);
    char *from = strstr(path, ":from=");
    if (from)
        *from = 0;
    enum status status = data_read(
        &set, path, &(struct data_options){.storage = storage, .convert = from != NULL}, p);
    if (status == STATUS_OK && (set.count != 1 || set.item->array.n < n))
        status = problem(p, STATUS_DATA, "%s: found %zu arrays, expected one of %zu elements", path,
                         set.count, n);
    if (status == STATUS_OK)
        status = memory_array(a, storage, n, name, p);
    if (status == STATUS_OK)
        memcpy(a->data, set.item->array.data, array_bytes(storage, n));
    data_free(&set);
    return status;
}

/* Sees to it that the array is the row's input. */
static enum status load_input(struct recorded_twin *t, const struct csv_row *row, size_t n,
                              struct problem *p)
{
    char wanted[INPUT_TEXT];
    struct input in;
    enum format storage;
    uint64_t seed;
    const char *name = recorded_field(t, row, CASE_INPUT);
    const char *seed_text = recorded_field(t, row, CASE_SEED);
    enum status status = column_format(t, row, CASE_STORAGE, &storage, p);
    if (status != STATUS_OK)
        return status;
    bool pair = t->method->operation->inputs == 2;
    snprintf(wanted, sizeof wanted, "%s %s %zu %s %s", name, format_facts[storage].name, n,
             seed_text, pair ? "pair" : "");
    if (t->array.data && strcmp(wanted, t->input) == 0)
        return STATUS_OK;
    free(t->array.data);
    t->array.data = NULL;
    snprintf(t->input, sizeof t->input, "%s", wanted);
    if (!*seed_text)
        return read_data(&t->array, name, storage, n, p);
    status = column_whole(t, row, CASE_SEED, &seed, p);
    if (status == STATUS_OK)
        status = input_parse(&in, name, p);
    if (status == STATUS_OK)
        status = memory_array(&t->array, storage, pair ? 2 * n : n, name, p);
    if (status != STATUS_OK || !pair)
        return status == STATUS_OK ? input_generate(&in, &t->array, seed, 0, p) : status;
    status = input_generate_pair(&in, &t->array, seed, 0, p);
    t->array.n = n;
    t->second = t->array;
    t->second.data = (char *)t->array.data + array_bytes(storage, n);
    return status;
}

static enum status read_product(const struct recorded_twin *t, const struct csv_row *row,
                                enum product_kind *product, struct problem *p)
{
    const char *name = recorded_field(t, row, CASE_PRODUCT);
    for (*product = PRODUCT_ROUNDED; *product < PRODUCTS; ++*product)
        if (strcmp(name, product_name[*product]) == 0)
            return STATUS_OK;
    return problem(p, STATUS_DATA, "%s: line %zu: column product: unknown word '%s'", row->path,
                   row->line, name);
}

/* What a task of the case asks for, beside arrays and heads. */
static enum status read_task(const struct recorded_twin *t, const struct csv_row *row, size_t n,
                             struct task *task, struct operands *of, struct problem *p)
{
    uint64_t threads, blocks;
    struct shape asked = {0};
    *of = (struct operands){.in = t->array};
    *task = (struct task){.of = of, .method = t->method};
    enum status status = column_format(t, row, CASE_ACCUMULATOR, &task->accumulator, p);
    if (status == STATUS_OK)
        status = column_whole(t, row, CASE_THREADS, &threads, p);
    if (status == STATUS_OK)
        status = column_whole(t, row, CASE_BLOCKS, &blocks, p);
    if (status != STATUS_OK)
        return status;
    if (t->method->shape_order)
        asked = (struct shape){(unsigned)threads, (unsigned)blocks};
    task->shape = method_shape(t->method, DEVICE_CPU, n, asked);
    task->out.format = task->accumulator;
    if (t->method->operation->inputs == 2)
        return read_product(t, row, &of->product, p);
    if (!t->method->operation->array || !operation_plain(t->method->operation))
        return STATUS_OK;
    of->exclusive = strcmp(recorded_field(t, row, CASE_SCAN), "exclusive") == 0;
    return column_format(t, row, CASE_OUTPUT, &task->out.format, p);
}

/* The keys of the row's case, for free() to take, also after failure. */
static enum status make_keys(const struct recorded_twin *t, const struct csv_row *row, size_t n,
                             uint32_t **keys, size_t bins, uint64_t seed, struct problem *p)
{
    struct keys kind;
    *keys = malloc((n + 1) * sizeof **keys);
    if (!*keys)
        return problem(p, STATUS_MEMORY, "no memory for %zu keys", n);
    enum status status = keys_parse(&kind, recorded_field(t, row, CASE_KEYS), p);
    if (status != STATUS_OK)
        return status;
    status = keys_fit(&kind, n, bins, p);
    if (status == STATUS_OK)
        status = keys_fill(&kind, *keys, n, bins, seed, p);
    keys_free(&kind);
    return status;
}

/* What else the method is told: keys, rows, a mask or heads, for free() to take, also after
 * failure. */
static enum status tell(const struct recorded_twin *t, const struct csv_row *row, size_t n,
                        struct operands *of, uint32_t **keys, uint8_t **flags, struct problem *p)
{
    const struct operation *o = t->method->operation;
    const bool rows = o == &operation_rows || o->of_rows;
    const char *text = operation_plain(o) ? "" : recorded_field(t, row, CASE_KEYS);
    struct layout layout;
    uint64_t seed, bins = 0, segment = 0;
    enum status status = column_whole(t, row, CASE_SEED, &seed, p);
    if (status == STATUS_OK && !operation_plain(o))
        status = column_whole(t, row, CASE_BINS, &bins, p);
    if (status == STATUS_OK && operation_plain(o) && o->array)
        status = column_whole(t, row, CASE_SEGMENT, &segment, p);
    of->bins = (size_t)bins;
    of->stride = o->ranks ? of->bins : of->stride;
    if (status == STATUS_OK && rows)
        status = layout_parse(&layout, text, p);
    if (status == STATUS_OK && rows)
        status = layout_stride(&of->stride, &layout, n, of->bins, p);
    if (status == STATUS_OK && o->mask)
        return mask_make(flags, &of->bins, n, strtoul(text + strlen("keep:"), NULL, 10), seed, p);
    if (status == STATUS_OK && o->keys)
        return make_keys(t, row, n, keys, of->bins, seed, p);
    return status == STATUS_OK ? heads_make(flags, n, (size_t)segment, p) : status;
}

static enum status compute(struct recorded_twin *t, const struct csv_row *row, size_t n,
                           struct problem *p)
{
    struct operands of;
    struct task task;
    uint8_t *flags = NULL;
    uint32_t *keys = NULL;
    enum status status = load_input(t, row, n, p);
    if (status == STATUS_OK)
        status = read_task(t, row, n, &task, &of, p);
    if (status == STATUS_OK)
        status = tell(t, row, n, &of, &keys, &flags, p);
    if (status == STATUS_OK)
        status = memory_array(&t->out, task.out.format, t->method->operation->outputs(n, of.bins),
                              t->method->name, p);
    if (status == STATUS_OK) {
        if (t->method->operation->inputs == 2)
            of.in2 = t->second;
        task.out = t->out;
        of.heads = of.mask = flags;
        of.keys = keys;
        status = t->method->cpu(&task, p);
    }
    free(flags);
    free(keys);
    if (status == STATUS_OK)
        t->digest =
            t->method->operation->array
                ? hash_array(&t->out)
                : (struct hash128){{format_canonical(t->out.format, array_bits(&t->out, 0)), 0}};
    return status;
}

enum { ROW_TEXT = 512, SLOTS = 1 << 16 };

/* What cases gave, for those that ask for the same: in other files, or of another launch shape
 * where the order does not depend on it. A table with open addresses. */
static struct known {
    char text[ROW_TEXT];
    size_t count; /* of digests: 0 or 1; of cases that are alike: how many there were */
    struct hash128 digest;
} * known[SLOTS];

/* All that the result depends on. */
static void row_text(const struct recorded_twin *t, const struct csv_row *row, char text[ROW_TEXT])
{
    static const enum case_column always[] = {CASE_METHOD, CASE_STORAGE, CASE_ACCUMULATOR,
                                              CASE_INPUT,  CASE_N,       CASE_SEED},
                                  shape[] = {CASE_THREADS, CASE_BLOCKS}, two[] = {CASE_PRODUCT},
                                  scan[] = {CASE_SCAN, CASE_OUTPUT, CASE_SEGMENT},
                                  keyed[] = {CASE_KEYS, CASE_BINS};
    const struct operation *o = t->method->operation;
    const struct {
        bool read;
        const enum case_column *column;
        size_t count;
    } part[] = {{true, always, sizeof always / sizeof *always},
                {t->method->shape_order, shape, 2},
                {o->inputs == 2, two, 1},
                {o->array && operation_plain(o), scan, 3},
                {!operation_plain(o), keyed, 2}};
    size_t used = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        for (size_t k = 0; part[i].read && k < part[i].count && used < ROW_TEXT; k++)
            used += (size_t)snprintf(text + used, ROW_TEXT - used, "%s,",
                                     recorded_field(t, row, part[i].column[k]));
}

/* What is known by this text, zero where it is new; NULL where there is no room. */
static struct known *known_by(const char *text)
{
    static size_t used;
    uint64_t at = 0;
    for (const char *c = text; *c; c++)
        at = hash_mix(at ^ (unsigned char)*c);
    while (known[at % SLOTS] && strcmp(known[at % SLOTS]->text, text) != 0)
        at++;
    struct known **place = &known[at % SLOTS];
    if (!*place && used + 1 < SLOTS && (*place = calloc(1, sizeof **place))) {
        snprintf((*place)->text, ROW_TEXT, "%s", text);
        used++;
    }
    return *place;
}

/* A long case: the first with this method, formats and length in a file, or one in ONE_OF of the
 * others, which ones depends on the former. */
static bool chosen(const struct recorded_twin *t, const struct csv_row *row)
{
    char text[ROW_TEXT];
    snprintf(text, sizeof text, "%s: %s, %s, %s, %s", row->path, t->method->name,
             recorded_field(t, row, CASE_STORAGE), recorded_field(t, row, CASE_ACCUMULATOR),
             recorded_field(t, row, CASE_N));
    struct known *alike = known_by(text);
    if (!alike)
        return true;
    size_t before = alike->count++;
    return before == 0 || (before + strlen(text)) % ONE_OF == 0;
}

static void remember(const struct recorded_twin *t, const struct csv_row *row)
{
    char text[ROW_TEXT];
    row_text(t, row, text);
    struct known *k = known_by(text);
    if (k) {
        k->digest = t->digest;
        k->count = 1;
    }
}

static bool recall(struct recorded_twin *t, const struct csv_row *row)
{
    char text[ROW_TEXT];
    row_text(t, row, text);
    const struct known *k = known_by(text);
    bool found = k && k->count > 0;
    if (found)
        t->digest = k->digest;
    return found;
}

/* Of NCCL's sums the model that has its bits; NULL: there is none. */
static const struct method *model_of(const struct recorded_twin *t, const struct csv_row *row)
{
    static const char before[] = "ranks:";
    const char *keys = recorded_field(t, row, CASE_KEYS), *name = "";
    const struct mpi_algorithm *a = nccl_algorithms;
    while (a->name && strcmp(a->name, recorded_field(t, row, CASE_METHOD)) != 0)
        a++;
    if (a->name && strncmp(keys, before, strlen(before)) == 0) {
        size_t ranks = strtoul(keys + strlen(before), NULL, 10);
        size_t elements = strtoul(recorded_field(t, row, CASE_BINS), NULL, 10);
        enum format f = format_named(recorded_field(t, row, CASE_ACCUMULATOR));
        name = ranks <= 2 && !a->ours ? a->operation->fixed : a->model(a, ranks, elements, f);
    }
    return name && *name ? method_named(name) : NULL;
}

enum status recorded_twin(struct recorded_twin *t, const struct csv_row *row, bool *fresh,
                          struct problem *p)
{
    uint64_t n;
    const char *id = recorded_field(t, row, CASE_ID), *name = recorded_field(t, row, CASE_METHOD);
    *fresh = strcmp(t->id, id) != 0;
    if (!*fresh)
        return STATUS_OK;
    free(t->out.data);
    t->out.data = NULL;
    snprintf(t->id, sizeof t->id, "%s", id);
    t->method = method_named(name);
    t->answer = TWIN_NO_PROMISE;
    bool of_nccl = strncmp(name, "nccl/", strlen("nccl/")) == 0;
    t->method = of_nccl ? model_of(t, row) : t->method;
    if (!t->method && of_nccl)
        return STATUS_OK;
    if (!t->method)
        return problem(p, STATUS_DATA, "%s: line %zu: unknown method %s", row->path, row->line,
                       name);
    enum status status = column_whole(t, row, CASE_N, &n, p);
    if (status != STATUS_OK)
        return status;
    size_t weight = (size_t)n * (t->method->operation->array ? SCAN_WEIGHT : 1);
    t->answer = t->method->promise == PROMISE_NONE || !t->method->cpu          ? TWIN_NO_PROMISE
                : n > LARGEST || (n > SMALL && t->added + weight > ALTOGETHER) ? TWIN_TOO_LARGE
                                                                               : TWIN_FOUND;
    if (t->answer != TWIN_FOUND)
        return STATUS_OK;
    if (!t->profile && recall(t, row))
        return STATUS_OK;
    if (n > LONG && !chosen(t, row)) {
        t->answer = TWIN_TOO_LARGE;
        return STATUS_OK;
    }
    t->added += weight;
    status = compute(t, row, (size_t)n, p);
    if (status == STATUS_OK)
        remember(t, row);
    return status;
}

void recorded_twin_free(struct recorded_twin *t)
{
    free(t->array.data);
    free(t->out.data);
    *t = (struct recorded_twin){0};
}
