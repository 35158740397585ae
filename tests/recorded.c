#include "tests/recorded.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/data.h"
#include "experiments/heads.h"
#include "experiments/input.h"
#include "experiments/memory.h"
#include "reference/hash_array.h"
#include "reports/results.h"
#include "tests/checks_scan.h"

/* Elements to a case, and to all cases of a file beyond the small ones: some seconds. */
enum { LARGEST = 1 << 22, SMALL = 1 << 12, ALTOGETHER = 1 << 30 };

struct reader {
    struct recorded *tally;
    size_t added;           /* elements */
    char id[64];            /* the case at hand */
    struct hash128 digest;  /* what its CPU twin gives */
    char input[INPUT_TEXT]; /* the input at hand: specification or data, storage, n, seed */
    struct array array;
};

static const char *field(const struct csv_row *row, enum case_column column)
{
    return row->field[results_case_column(column)];
}

static enum status column_whole(const struct csv_row *row, enum case_column column, uint64_t *value,
                                struct problem *p)
{
    *value = 0;
    return *field(row, column)
               ? csv_whole(row, results_case_column(column), case_columns[column].name, value, p)
               : STATUS_OK;
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
    enum status status = data_read(&set, path, &(struct data_options){storage, from != NULL}, p);
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

/* Sees to it that the reader's array is the row's input; rows of one input follow each other. */
static enum status load_input(struct reader *r, const struct csv_row *row, enum format storage,
                              size_t n, struct problem *p)
{
    char wanted[INPUT_TEXT];
    struct input in;
    uint64_t seed;
    const char *name = field(row, CASE_INPUT);
    snprintf(wanted, sizeof wanted, "%s %s %zu %s", name, field(row, CASE_STORAGE), n,
             field(row, CASE_SEED));
    if (r->array.data && strcmp(wanted, r->input) == 0)
        return STATUS_OK;
    free(r->array.data);
    r->array.data = NULL;
    snprintf(r->input, sizeof r->input, "%s", wanted);
    if (!*field(row, CASE_SEED))
        return read_data(&r->array, name, storage, n, p);
    enum status status = column_whole(row, CASE_SEED, &seed, p);
    if (status == STATUS_OK)
        status = input_parse(&in, name, p);
    if (status == STATUS_OK)
        status = memory_array(&r->array, storage, n, name, p);
    return status == STATUS_OK ? input_generate(&in, &r->array, seed, 0, p) : status;
}

/* The hash of a scan's output on the CPU. */
static enum status compute_scan(struct reader *r, const struct csv_row *row, const struct method *m,
                                enum format accumulator, struct shape asked, struct problem *p)
{
    uint64_t segment;
    uint8_t *heads = NULL;
    size_t n = r->array.n;
    struct array out = {format_named(field(row, CASE_OUTPUT)), n, NULL};
    if (out.format == FORMATS)
        return problem(p, STATUS_DATA, "%s: line %zu: unknown format", row->path, row->line);
    enum status status = column_whole(row, CASE_SEGMENT, &segment, p);
    if (status == STATUS_OK)
        status = heads_make(&heads, n, (size_t)segment, p);
    if (status == STATUS_OK)
        status = memory_array(&out, out.format, n, m->name, p);
    struct scan_case c = {.in = r->array,
                          .accumulator = accumulator,
                          .output = out.format,
                          .shape = method_shape(m, DEVICE_CPU, n, asked),
                          .exclusive = strcmp(field(row, CASE_SCAN), "exclusive") == 0,
                          .heads = heads};
    if (status == STATUS_OK)
        status = scan_run(m, &c, out.data);
    if (status == STATUS_OK)
        r->digest = hash_array(&out);
    free(out.data);
    free(heads);
    return status;
}

/* What the CPU twin gives for the row's case. */
static enum status compute(struct reader *r, const struct csv_row *row, const struct method *m,
                           size_t n, struct problem *p)
{
    uint64_t threads, blocks;
    enum format storage = format_named(field(row, CASE_STORAGE));
    enum format accumulator = format_named(field(row, CASE_ACCUMULATOR));
    if (storage == FORMATS || accumulator == FORMATS)
        return problem(p, STATUS_DATA, "%s: line %zu: unknown format", row->path, row->line);
    enum status status = column_whole(row, CASE_THREADS, &threads, p);
    if (status == STATUS_OK)
        status = column_whole(row, CASE_BLOCKS, &blocks, p);
    if (status == STATUS_OK)
        status = load_input(r, row, storage, n, p);
    if (status != STATUS_OK)
        return status;
    struct shape asked = {0};
    if (m->shape_order)
        asked = (struct shape){(unsigned)threads, (unsigned)blocks};
    r->digest = (struct hash128){{0, 0}};
    if (m->operation->array)
        return compute_scan(r, row, m, accumulator, asked, p);
    return check_run(m, &r->array, accumulator, method_shape(m, DEVICE_CPU, n, asked),
                     &r->digest.word[0]);
}

static enum status parse_digest(struct hash128 *digest, const struct csv_row *row,
                                const struct method *m, struct problem *p)
{
    *digest = (struct hash128){{0, 0}};
    return m->operation->array
               ? results_parse_hash(digest, row, p)
               : csv_whole(row, RESULTS_RESULT_BITS, "result_bits", &digest->word[0], p);
}

static enum status take(void *context, const struct csv_row *row, struct problem *p)
{
    struct reader *r = context;
    const struct method *m = method_named(field(row, CASE_METHOD));
    uint64_t n;
    struct hash128 digest;
    if (strncmp(field(row, CASE_DEVICE), "cuda", 4) != 0 || !*row->field[RESULTS_RESULT_BITS])
        return STATUS_OK;
    if (!m)
        return problem(p, STATUS_DATA, "%s: line %zu: unknown method %s", row->path, row->line,
                       field(row, CASE_METHOD));
    enum status status = column_whole(row, CASE_N, &n, p);
    if (status == STATUS_OK)
        status = parse_digest(&digest, row, m, p);
    if (status != STATUS_OK)
        return status;
    bool known = strcmp(r->id, field(row, CASE_ID)) == 0;
    if (m->promise == PROMISE_NONE || !m->cpu) {
        r->tally->no_promise++;
        return STATUS_OK;
    }
    if (!known && (n > LARGEST || (n > SMALL && r->added + n > ALTOGETHER))) {
        r->tally->too_large++;
        return STATUS_OK;
    }
    if (!known) {
        status = compute(r, row, m, n, p);
        snprintf(r->id, sizeof r->id, "%s", field(row, CASE_ID));
        r->added += n;
        r->tally->cases++;
    }
    r->tally->compared++;
    if (status == STATUS_OK && memcmp(&digest, &r->digest, sizeof digest) != 0 &&
        r->tally->different++ == 0)
        snprintf(r->tally->first, WHY,
                 "%s: line %zu: %s, %s to %s, input %s, n = %" PRIu64
                 ", shape %s %s: recorded %s, the CPU twin gives %#" PRIx64 " %#" PRIx64,
                 row->path, row->line, m->name, field(row, CASE_STORAGE),
                 field(row, CASE_ACCUMULATOR), field(row, CASE_INPUT), n, field(row, CASE_THREADS),
                 field(row, CASE_BLOCKS), row->field[RESULTS_RESULT_BITS], r->digest.word[0],
                 r->digest.word[1]);
    return status;
}

/* Is it a file of scans, by its header? */
static bool of_scans(const char *path)
{
    char header[2048] = "";
    FILE *file = fopen(path, "re");
    bool scan = file && fgets(header, sizeof header, file) && strstr(header, ",scan,");
    if (file)
        fclose(file);
    return scan;
}

enum status recorded_compare(struct recorded *tally, const char *path, struct problem *p)
{
    uint64_t whole;
    struct reader r = {.tally = tally};
    enum status status =
        csv_read(path, results_column, results_columns(of_scans(path)), take, &r, &whole, p);
    free(r.array.data);
    return status;
}
