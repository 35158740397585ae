/* Reads .npy, versions 1.0 to 3.0. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/data/file.h"

struct npy_type {
    const char *name; /* without the byte order */
    enum format format;
};
/* '<f1' is what NumPy writes for float8_e5m2 of ml_dtypes. */
static const struct npy_type types[] = {{"f1", E5M2}, {"f2", FP16}, {"f4", FP32}, {"f8", FP64}};
/* Types that say no more than a width: bits are kept as unsigned integers, and NumPy writes '<V2'
 * for bfloat16 of ml_dtypes, '<V1' for float8_e4m3fn. */
static const struct npy_type untyped[] = {{"V2", BF16}, {"u2", BF16}, {"u2", FP16}, {"V1", E4M3},
                                          {"V1", E5M2}, {"u1", E4M3}, {"u1", E5M2}};

static enum status without_type(struct data_layout *layout, const char *path, const char *type,
                                const char *name, const struct data_options *options,
                                struct problem *p)
{
    char could[64] = "";
    for (size_t i = 0; i < sizeof untyped / sizeof *untyped; i++) {
        size_t used = strlen(could);
        if (strcmp(name, untyped[i].name) != 0)
            continue;
        layout->format = untyped[i].format;
        if (options->storage == untyped[i].format)
            return STATUS_OK;
        snprintf(could + used, sizeof could - used, "%s%s", used ? " or " : "",
                 format_facts[untyped[i].format].name);
    }
    int bytes = format_facts[layout->format].bytes;
    if (options->expected)
        return problem(p, STATUS_DATA, "%s: found dtype '%s', %s of no type, expected %s", path,
                       type, bytes == 1 ? "bytes" : "two bytes", options->expected);
    return problem(p, STATUS_USAGE,
                   "%s: found dtype '%s', %s of no type: expected --storage %s, if that is what it "
                   "is",
                   path, type, bytes == 1 ? "bytes" : "two bytes", could);
}

static bool is_untyped(const char *name)
{
    for (size_t i = 0; i < sizeof untyped / sizeof *untyped; i++)
        if (strcmp(name, untyped[i].name) == 0)
            return true;
    return false;
}

/* A void has no byte order: NumPy writes '|V2', ml_dtypes '<V2'. */
static enum status decode_type(struct data_layout *layout, const char *path, const char *type,
                               const struct data_options *options, struct problem *p)
{
    char order = strchr("<>=|", *type) && *type ? *type : '=';
    const char *name = type + (order == *type);
    layout->big_endian = order == '>';
    if (is_untyped(name) && order != '>')
        return without_type(layout, path, type, name, options, p);
    for (size_t i = 0; i < sizeof types / sizeof *types && order != '|'; i++)
        if (strcmp(name, types[i].name) == 0) {
            layout->format = types[i].format;
            return STATUS_OK;
        }
    if (options->expected)
        return problem(p, STATUS_DATA, "%s: found dtype '%s', expected %s", path, type,
                       options->expected);
    return problem(p, STATUS_DATA,
                   "%s: found dtype '%s'%s, expected f2, f4 or f8 of either byte order, V2 or u2 "
                   "with --storage bf16, or f1, V1 or u1 with --storage e5m2 or e4m3",
                   path, type, *name == 'O' ? " (pickled Python objects)" : "");
}

/* The product of the shape, held against the bytes that are there. */
static enum status count_elements(struct data_layout *layout, const struct npy_header *header,
                                  const struct data_file *file, struct problem *p)
{
    size_t present = file->size - layout->offset, bytes, records = 1;
    size_t width = (size_t)format_facts[layout->format].bytes;
    bool overflow = false, empty = false;
    for (size_t d = 0; d < header->shape.dimensions; d++) {
        empty |= header->shape.length[d] == 0;
        overflow |= __builtin_mul_overflow(records, header->shape.length[d], &records);
    }
    overflow |= __builtin_mul_overflow(records, layout->record ? layout->record : width, &bytes);
    if (overflow && !empty)
        return problem(p, STATUS_DATA,
                       "%s: found a shape whose elements exceed 2^64 bytes, expected the %zu "
                       "bytes that follow the header",
                       file->path, present);
    records = empty ? 0 : records;
    bytes = empty ? 0 : bytes;
    if (bytes != present)
        return problem(
            p, STATUS_DATA, "%s: found %zu bytes after the header, expected %zu for %zu %s%s",
            file->path, present, bytes, records, layout->record ? "records" : "elements of ",
            layout->record ? "" : format_facts[layout->format].name);
    layout->n = records * (layout->record ? layout->run : 1);
    layout->rows = layout->n > 0 ? data_rows(layout->dimensions, layout->shape) : 0;
    return STATUS_OK;
}

/* Which field of a record is wanted, and of what is none. */
static enum status choose_field(const struct npy_header *h, const struct data_file *file,
                                struct problem *p)
{
    if (!h->structured && h->wanted)
        return problem(
            p, STATUS_USAGE,
            "%s: found no structured dtype but '%s', expected one for the field '%.100s'",
            file->path, h->type, h->wanted);
    if (h->structured && h->named == 0)
        return problem(p, STATUS_DATA, "%s: found a structured dtype with no fields, expected some",
                       file->path);
    if (h->structured && !h->wanted && !(h->named == 1 && h->found))
        return problem(p, STATUS_USAGE,
                       "%s: found a structured dtype, expected one of its fields behind a colon: "
                       "%s:FIELD, of %s",
                       file->path, file->path, h->fields);
    if (h->structured && !h->found)
        return problem(p, STATUS_USAGE, "%s: found no field '%.100s', expected one of: %s",
                       file->path, h->wanted, h->fields);
    return STATUS_OK;
}

/* The shape of all elements: the records', then that of the field in each. */
static enum status set_shape(struct data_layout *layout, const struct npy_header *h,
                             const struct data_file *file, struct problem *p)
{
    size_t outer = h->shape.dimensions, inner = h->field_shape.dimensions;
    if (outer + inner > DATA_DIMENSIONS || (h->fortran && outer > 1 && inner > 0))
        return problem(p, STATUS_DATA,
                       "%s: found arrays in records, %s, expected them in C order, of at most 64 "
                       "dimensions in all",
                       file->path, h->fortran ? "in Fortran order" : "of many dimensions");
    layout->fortran = h->fortran;
    layout->dimensions = outer + inner;
    memcpy(layout->shape, h->shape.length, outer * sizeof *layout->shape);
    memcpy(layout->shape + outer, h->field_shape.length, inner * sizeof *layout->shape);
    layout->run = 1;
    for (size_t d = 0; d < inner; d++)
        layout->run *= h->field_shape.length[d]; /* at most the record's bytes */
    if (!h->structured)
        return STATUS_OK;
    layout->record = h->record;
    layout->field_at = h->field_at;
    if (layout->run == 0)
        return problem(p, STATUS_DATA, "%s: found no elements in the field '%.100s', expected some",
                       file->path, h->wanted ? h->wanted : h->fields);
    return STATUS_OK;
}

static enum status read_npy(struct data_set *set, struct data_file *file, const char *member,
                            const struct data_options *options, struct problem *p)
{
    struct npy_header header = {.wanted = member};
    struct data_layout layout = {.last = true};
    enum status status = npy_header_read(&header, &layout.offset, file, p);
    if (status == STATUS_OK)
        status = choose_field(&header, file, p);
    if (status == STATUS_OK)
        status = decode_type(&layout, file->path, header.type, options, p);
    if (status == STATUS_OK)
        status = set_shape(&layout, &header, file, p);
    if (status == STATUS_OK)
        status = count_elements(&layout, &header, file, p);
    return status == STATUS_OK ? data_load(set, file, member, &layout, options, p) : status;
}

static bool begins_npy(const struct data_head *head)
{
    return head->size >= 6 && memcmp(head->byte, "\x93NUMPY", 6) == 0;
}

const struct data_reader npy_reader = {.what = "a .npy file",
                                       .members = "a field",
                                       .ending = {".npy"},
                                       .begins = begins_npy,
                                       .read = read_npy};
