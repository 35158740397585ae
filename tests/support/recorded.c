#include "tests/support/recorded.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "reports/results/results.h"
#include "tests/support/recorded_twin.h"

struct reader {
    struct recorded *tally;
    struct recorded_twin twin;
};

/* Is the row for a twin to compute again? Counts it. */
static enum status take_case(struct reader *r, const struct csv_row *row, bool *compare,
                             struct problem *p)
{
    bool fresh;
    *compare = false;
    if (strncmp(recorded_field(&r->twin, row, CASE_DEVICE), "cuda", 4) != 0)
        return STATUS_OK;
    enum status status = recorded_twin(&r->twin, row, &fresh, p);
    if (status != STATUS_OK)
        return status;
    *compare = r->twin.answer == TWIN_FOUND;
    r->tally->cases += *compare && fresh;
    r->tally->compared += *compare;
    r->tally->no_promise += r->twin.answer == TWIN_NO_PROMISE;
    r->tally->too_large += r->twin.answer == TWIN_TOO_LARGE;
    return STATUS_OK;
}

static void note_difference(struct reader *r, const struct csv_row *row, const char *recorded,
                            struct hash128 found)
{
    const struct recorded_twin *t = &r->twin;
    if (r->tally->different++ > 0)
        return;
    snprintf(r->tally->first, WHY,
             "%s: line %zu: %s, %s to %s, input %s, n = %s, shape %s %s: recorded %s, the CPU twin "
             "gives %#" PRIx64 " %#" PRIx64,
             row->path, row->line, t->method->name, recorded_field(t, row, CASE_STORAGE),
             recorded_field(t, row, CASE_ACCUMULATOR), recorded_field(t, row, CASE_INPUT),
             recorded_field(t, row, CASE_N), recorded_field(t, row, CASE_THREADS),
             recorded_field(t, row, CASE_BLOCKS), recorded, found.word[0], found.word[1]);
}

static enum status take_result(void *context, const struct csv_row *row, struct problem *p)
{
    struct reader *r = context;
    struct hash128 digest = {{0, 0}};
    bool compare;
    if (!*row->field[RESULTS_RESULT_BITS])
        return STATUS_OK;
    enum status status = take_case(r, row, &compare, p);
    if (status != STATUS_OK || !compare)
        return status;
    status = r->twin.method->operation->array
                 ? results_parse_hash(&digest, row, p)
                 : csv_whole(row, RESULTS_RESULT_BITS, "result_bits", &digest.word[0], p);
    if (status == STATUS_OK && memcmp(&digest, &r->twin.digest, sizeof digest) != 0)
        note_difference(r, row, row->field[RESULTS_RESULT_BITS], r->twin.digest);
    return status;
}

static enum status take_point(void *context, const struct csv_row *row, struct problem *p)
{
    struct reader *r = context;
    const struct array *out = &r->twin.out;
    uint64_t index, bits;
    bool compare;
    enum status status = take_case(r, row, &compare, p);
    if (status != STATUS_OK || !compare)
        return status;
    status = csv_whole(row, PROFILE_INDEX, "index", &index, p);
    if (status == STATUS_OK)
        status = csv_whole(row, PROFILE_RESULT_BITS, "result_bits", &bits, p);
    if (status == STATUS_OK && index >= out->n)
        return problem(p, STATUS_DATA, "%s: line %zu: found index %" PRIu64 " of %zu outputs",
                       row->path, row->line, index, out->n);
    if (status != STATUS_OK)
        return status;
    uint64_t found = format_canonical(out->format, array_bits(out, (size_t)index));
    if (bits != found)
        note_difference(r, row, row->field[PROFILE_RESULT_BITS], (struct hash128){{found, 0}});
    return STATUS_OK;
}

/* Does a file's header have this column? */
static bool has_column(const char *path, const char *column)
{
    char header[2048] = "", wanted[64];
    snprintf(wanted, sizeof wanted, ",%s,", column);
    FILE *file = fopen(path, "re");
    bool found = file && fgets(header, sizeof header, file);
    header[strcspn(header, "\n")] = ','; /* behind the last column too */
    found = found && strstr(header, wanted);
    if (file)
        fclose(file);
    return found;
}

enum status recorded_compare(struct recorded *tally, const char *path, struct problem *p)
{
    uint64_t whole;
    struct reader r = {.tally = tally, .twin.profile = has_column(path, "index")};
    enum columns_of of = has_column(path, "product") ? COLUMNS_OF_DOTS
                         : has_column(path, "scan")  ? COLUMNS_OF_SCANS
                         : has_column(path, "chip")  ? COLUMNS_OF_PRODUCTS
                         : has_column(path, "keys")  ? COLUMNS_OF_SCATTERS
                                                     : COLUMNS_OF_SUMS;
    enum status status =
        r.twin.profile ? csv_read(path, profile_column, PROFILE_COLUMNS, take_point, &r, &whole, p)
                       : csv_read(path, results_column_of(of), results_columns(of), take_result, &r,
                                  &whole, p);
    recorded_twin_free(&r.twin);
    return status;
}
