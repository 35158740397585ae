/* Batch invariance: a row's sum, or an element of a matrix product, must not depend on its
 * neighbours, on its position, on how many there are or on how they lie. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/check/attempts.h"
#include "experiments/system/memory.h"
#include "kernels/method/matrix.h"

enum status check_lay_rows(const struct check *c, const struct array *copy, const uint32_t *keys,
                           struct problem *p)
{
    size_t n = c->at.n, length = matrix_length(n, c->at.setting.bins);
    size_t *next = calloc(c->at.setting.bins, sizeof *next);
    struct array moved;
    enum status status = memory_array(&moved, copy->format, n, "permuted rows", p);
    if (status != STATUS_OK || !next) {
        free(next);
        return status == STATUS_OK ? problem(p, STATUS_MEMORY, "check: out of memory") : status;
    }
    for (size_t i = 0; i < n; i++)
        array_set_bits(&moved, matrix_at(keys[i], next[keys[i]]++, length, c->made.of.stride),
                       array_bits(copy, i));
    memcpy(copy->data, moved.data, array_bytes(copy->format, n));
    free(moved.data);
    free(next);
    return STATUS_OK;
}

/* Where a row may stand, and every byte of what stands beside it; first alone. */
static const struct place {
    size_t rows, row, stride;
    uint8_t byte;
    const char *are;
} places[] = {{1, 0, 1, 0, "alone"},
              {2, 0, 1, 0xff, "among NaN"},
              {2, 1, 1, 0xff, "among NaN"},
              {2, 1, 2, 0x3c, "among small numbers"},
              {3, 1, 3, 0x7b, "among large numbers"},
              {8, 5, 1, 0x00, "among zeros"},
              {8, 5, 8, 0xfb, "among large negative numbers"},
              {8, 3, 4, 0xff, "among NaN"},
              {33, 32, 33, 0x3c, "among small numbers"},
              {33, 0, 1, 0x3c, "among small numbers"},
              {100, 57, 1, 0x7b, "among large numbers"},
              {100, 58, 50, 0xff, "among NaN"},
              {1000, 999, 1, 0x3c, "among small numbers"},
              {1000, 500, 1000, 0x3c, "among small numbers"}};

/* Sets *one to the sum of `row` at its place, or to the outputs of its elements. */
static enum status sum_at(const struct check *c, const struct array *row, const struct place *at,
                          struct array *one, struct problem *p)
{
    struct check other = *c;
    struct check_setting plain = check_plain(c, &c->at);
    struct array out;
    other.made.of.stride = at->stride;
    other.made.of.bins = other.at.setting.bins = at->rows;
    other.at.n = at->rows * row->n;
    enum status status = memory_array(&other.in, row->format, other.at.n, "rows", p);
    if (status != STATUS_OK)
        return status;
    memset(other.in.data, at->byte, array_bytes(row->format, other.at.n));
    for (size_t k = 0; k < row->n; k++)
        array_set_bits(&other.in, matrix_at(at->row, k, row->n, at->stride), array_bits(row, k));
    status = check_once(&other, &plain, &out, p);
    free(other.in.data);
    if (status != STATUS_OK)
        return status;
    bool each = operation_of_each(c->request->method->operation);
    status = memory_array(one, out.format, each ? row->n : 1, "a sum", p);
    for (size_t k = 0; status == STATUS_OK && k < one->n; k++)
        array_set_bits(
            one, k, array_bits(&out, each ? matrix_at(at->row, k, row->n, at->stride) : at->row));
    free(out.data);
    return status;
}

/* How many elements an array of rows may have: in a small case as many as the most rows take. */
enum { PLACES = sizeof places / sizeof *places, MOST_ROWS = 1000, LEAST_LENGTH = 64 };

static size_t room(const struct check *c)
{
    size_t least = (size_t)MOST_ROWS * LEAST_LENGTH;
    return c->at.n > least / 4 ? 4 * c->at.n : least;
}

static enum status take_at(const struct check *c, struct check_outcome *o, const struct array *row,
                           const struct place *at, struct problem *p)
{
    struct array one;
    char of[48] = "";
    size_t length = matrix_length(c->at.n, c->at.setting.bins);
    enum status status = sum_at(c, row, at, &one, p);
    if (row->n < length)
        snprintf(of, sizeof of, ", %zu of its elements", row->n);
    return status != STATUS_OK ? status
                               : check_take(c, o, &one, 0, p, "row %zu of %zu, stride %zu, %s%s",
                                            at->row, at->rows, at->stride, at->are, of);
}

/* The row wherever as many as that have room. */
static enum status whole_row(const struct check *c, struct check_outcome *o,
                             const struct array *row, struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < PLACES && status == STATUS_OK && !check_enough(c, o); i++)
        if (places[i].rows * row->n <= room(c))
            status = take_at(c, o, row, &places[i], p);
    return status;
}

/* Where they have none, as many of its first elements as have it everywhere: another row, which
 * is compared with itself alone. */
static enum status short_row(const struct check *c, struct check_outcome *o,
                             const struct array *row, struct problem *p)
{
    struct check_outcome own = {0};
    struct array few = {row->format, room(c) / MOST_ROWS, row->data};
    enum status status = STATUS_OK;
    if (row->n <= few.n)
        return status;
    for (size_t i = 0; i < PLACES && status == STATUS_OK && !check_enough(c, o); i++)
        if (i == 0 || places[i].rows * row->n > room(c))
            status = take_at(c, &own, &few, &places[i], p);
    if (status == STATUS_OK)
        check_join(o, &own);
    check_outcome_free(&own);
    return status;
}

/* Sets *one to what is the first output of the case, in its other surroundings. */
static enum status output_in(const struct check *c, const struct surrounding *at, struct array *one,
                             struct problem *p)
{
    const struct operation *operation = c->request->method->operation;
    struct check other = *c;
    struct check_setting plain = check_plain(c, &c->at);
    struct array out;
    enum status status = memory_array(&other.in, c->in.format, at->n, "other operands", p);
    if (status != STATUS_OK)
        return status;
    memset(other.in.data, at->byte, array_bytes(other.in.format, at->n));
    setting_embed(operation, &other.in, at, &c->in, &c->at.setting);
    other.at.n = at->n;
    other.at.setting = at->setting;
    other.made = (struct setting_operands){.of.in = other.in};
    status = setting_make(&other.made, operation, &at->setting, c->at.seed, p);
    if (status == STATUS_OK)
        status = check_once(&other, &plain, &out, p);
    setting_free(&other.made);
    free(other.in.data);
    if (status != STATUS_OK)
        return status;
    status = memory_array(one, out.format, 1, "an output", p);
    if (status == STATUS_OK)
        array_set_bits(one, 0, array_bits(&out, at->output));
    free(out.data);
    return status;
}

/* The first output of the case, wherever else it may be. */
static enum status surrounded(struct check *c, struct check_outcome *o, struct problem *p)
{
    const struct operation *operation = c->request->method->operation;
    struct surrounding at;
    enum status status = STATUS_OK;
    for (size_t u = 0; check_outputs(c) > 0 && status == STATUS_OK && !check_enough(c, o) &&
                       setting_surround(&at, operation, &c->at.setting, u);
         u++) {
        struct array one;
        status = output_in(c, &at, &one, p);
        if (status == STATUS_OK)
            status = check_take(c, o, &one, 0, p, "%s", at.are);
    }
    return status;
}

/* The first row of the case, wherever else it may stand. */
enum status check_batch(struct check *c, struct check_outcome *o, struct problem *p)
{
    struct surrounding first;
    if (setting_surround(&first, c->request->method->operation, &c->at.setting, 0))
        return surrounded(c, o, p);
    struct array row;
    size_t length = matrix_length(c->at.n, c->at.setting.bins);
    enum status status = memory_array(&row, c->in.format, length, "a row", p);
    if (status != STATUS_OK)
        return status;
    for (size_t k = 0; k < length; k++)
        array_set_bits(&row, k, array_bits(&c->in, matrix_at(0, k, length, c->made.of.stride)));
    status = whole_row(c, o, &row, p);
    if (status == STATUS_OK)
        status = short_row(c, o, &row, p);
    free(row.data);
    return status;
}
