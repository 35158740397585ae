/* Reads safetensors: the length of a header, the header in JSON, then the tensors back to back.
 * Format: https://huggingface.co/docs/safetensors; held to as strictly as its own reader does. */
#include <stdlib.h>

#include <jansson.h>

#include "experiments/data/file.h"

enum { LENGTH = 8, HEADER_MOST = 100000000 };

struct tensor {
    const char *name, *type;
    enum format format; /* FORMATS: not one of ours */
    size_t begin, end;  /* bytes, from the start of the file */
    size_t n, rows;
};

struct tensors {
    struct tensor *item;
    size_t count;
};

static const struct {
    const char *name;
    enum format format;
} types[] = {{"F16", FP16}, {"BF16", BF16},    {"F32", FP32},
             {"F64", FP64}, {"F8_E4M3", E4M3}, {"F8_E5M2", E5M2}};
#define TYPES "F16, BF16, F32, F64, F8_E4M3 or F8_E5M2"

static enum status read_header(json_t **header, size_t *begin, const struct data_file *file,
                               struct problem *p)
{
    unsigned char prefix[LENGTH];
    if (file->size < LENGTH)
        return problem(p, STATUS_DATA,
                       "%s: found %zu bytes, expected safetensors (8 bytes of header length "
                       "first)",
                       file->path, file->size);
    enum status status = data_file_read(file, 0, LENGTH, prefix, p);
    if (status != STATUS_OK)
        return status;
    uint64_t length = 0;
    for (int i = LENGTH - 1; i >= 0; i--)
        length = length << 8 | prefix[i];
    size_t most = file->size - LENGTH < HEADER_MOST ? file->size - LENGTH : HEADER_MOST;
    if (length > most)
        return problem(p, STATUS_DATA,
                       "%s: found a header length of %llu bytes, expected at most %zu", file->path,
                       (unsigned long long)length, most);
    char *text = malloc((size_t)length + 1);
    if (!text)
        return problem(p, STATUS_MEMORY, "%s: out of memory for the header", file->path);
    status = data_file_read(file, LENGTH, (size_t)length, text, p);
    json_error_t error = {0};
    *header = status == STATUS_OK ? json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error)
                                  : NULL;
    free(text);
    *begin = LENGTH + (size_t)length;
    if (status == STATUS_OK && !json_is_object(*header)) {
        status =
            problem(p, STATUS_DATA, "%s: found a header that is no JSON object (%s), expected one",
                    file->path, *header ? "but another value" : error.text);
        json_decref(*header);
    }
    return status;
}

static enum status malformed(const struct data_file *file, const char *name, const char *expected,
                             struct problem *p)
{
    return problem(p, STATUS_DATA, "%s: tensor '%.100s': expected %s", file->path, name, expected);
}

/* A JSON integer of 0 or more. */
static bool get_size(const json_t *value, size_t *size)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *size = (size_t)json_integer_value(value);
    return true;
}

static bool get_product(const json_t *shape, size_t *n)
{
    bool overflow = false, empty = false;
    *n = 1;
    if (!json_is_array(shape))
        return false;
    for (size_t d = 0; d < json_array_size(shape); d++) {
        size_t length;
        if (!get_size(json_array_get(shape, d), &length))
            return false;
        empty |= length == 0;
        overflow |= __builtin_mul_overflow(*n, length, n);
    }
    *n = empty ? 0 : *n;
    return empty || !overflow;
}

/* A matrix' rows, as data_rows tells them. */
static size_t get_rows(const json_t *shape, size_t n)
{
    size_t dimensions = json_array_size(shape), last = 0;
    return n > 0 && dimensions > 1 && get_size(json_array_get(shape, dimensions - 1), &last)
               ? n / last
               : 0;
}

static enum status read_tensor(struct tensor *t, const char *name, const json_t *entry,
                               const struct data_file *file, size_t data, struct problem *p)
{
    const char *type = json_string_value(json_object_get(entry, "dtype"));
    const json_t *offsets = json_object_get(entry, "data_offsets");
    *t = (struct tensor){.name = name, .type = type, .format = FORMATS};
    if (!json_is_object(entry) || !type)
        return malformed(file, name, "an object with a dtype", p);
    if (!get_product(json_object_get(entry, "shape"), &t->n))
        return malformed(file, name,
                         "a shape: an array of integers, 0 or more, with a product "
                         "below 2^64",
                         p);
    t->rows = get_rows(json_object_get(entry, "shape"), t->n);
    if (json_array_size(offsets) != 2 || !get_size(json_array_get(offsets, 0), &t->begin) ||
        !get_size(json_array_get(offsets, 1), &t->end))
        return malformed(file, name, "data_offsets: an array of two integers, 0 or more", p);
    size_t present = file->size - data;
    if (t->begin > t->end || t->end > present)
        return problem(p, STATUS_DATA,
                       "%s: tensor '%.100s': found data_offsets [%zu, %zu], expected begin <= end "
                       "<= %zu, the bytes after the header",
                       file->path, name, t->begin, t->end, present);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].name) == 0)
            t->format = types[i].format;
    if (t->format != FORMATS && array_bytes(t->format, t->n) != t->end - t->begin)
        return problem(
            p, STATUS_DATA,
            "%s: tensor '%.100s': found %zu bytes in data_offsets, expected %zu elements "
            "of %s",
            file->path, name, t->end - t->begin, t->n, type);
    t->begin += data;
    t->end += data;
    return STATUS_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct tensor *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* The format asks that the tensors cover the bytes after the header once: no overlap, no hole. */
static enum status check_cover(const struct tensors *tensors, const struct data_file *file,
                               size_t data, struct problem *p)
{
    size_t reached = data;
    for (size_t i = 0; i < tensors->count; i++) {
        const struct tensor *t = &tensors->item[i];
        if (t->begin != reached)
            return problem(
                p, STATUS_DATA,
                "%s: tensor '%.100s': begins at byte %zu of the data%s, expected %zu, where "
                "the tensor before it ends",
                file->path, t->name, t->begin - data,
                t->begin < reached ? " (they overlap)" : " (a hole)", reached - data);
        reached = t->end;
    }
    if (reached != file->size)
        return problem(p, STATUS_DATA, "%s: found %zu bytes after the last tensor, expected none",
                       file->path, file->size - reached);
    return STATUS_OK;
}

static enum status read_table(struct tensors *tensors, json_t *header, const struct data_file *file,
                              size_t data, struct problem *p)
{
    const char *name;
    json_t *entry;
    tensors->item = calloc(json_object_size(header) + 1, sizeof *tensors->item);
    if (!tensors->item)
        return problem(p, STATUS_MEMORY, "%s: out of memory", file->path);
    json_object_foreach (header, name, entry) {
        if (strcmp(name, "__metadata__") == 0)
            continue;
        enum status status =
            read_tensor(&tensors->item[tensors->count++], name, entry, file, data, p);
        if (status != STATUS_OK)
            return status;
    }
    qsort(tensors->item, tensors->count, sizeof *tensors->item, by_place);
    return check_cover(tensors, file, data, p);
}

static enum status no_such_tensor(const struct tensors *tensors, const struct data_file *file,
                                  const char *wanted, struct problem *p)
{
    char names[512] = "";
    size_t used = 0, i = 0;
    for (; i < tensors->count && used < 256; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.100s", i ? ", " : "",
                                 tensors->item[i].name);
    return problem(p, STATUS_USAGE, "%s: found no tensor '%.100s', expected one of: %s%s",
                   file->path, wanted, names, i < tensors->count ? ", ..." : "");
}

static enum status load_tensors(struct data_set *set, const struct tensors *tensors,
                                struct data_file *file, const char *wanted,
                                const struct data_options *options, struct problem *p)
{
    bool found = false;
    for (size_t i = 0; i < tensors->count; i++) {
        const struct tensor *t = &tensors->item[i];
        if (wanted && strcmp(t->name, wanted) != 0)
            continue;
        found |= wanted || t->format != FORMATS;
        if (t->format == FORMATS && wanted)
            return problem(p, STATUS_DATA,
                           "%s: tensor '%.100s': found dtype '%.40s', expected " TYPES, file->path,
                           t->name, t->type);
        if (t->format == FORMATS)
            continue;
        struct data_layout layout = {
            .format = t->format, .offset = t->begin, .n = t->n, .rows = t->rows};
        enum status status = data_load(set, file, t->name, &layout, options, p);
        if (status != STATUS_OK)
            return status;
    }
    if (found)
        return STATUS_OK;
    if (wanted)
        return no_such_tensor(tensors, file, wanted, p);
    return problem(p, STATUS_DATA, "%s: found %zu tensors, none of them " TYPES ", expected one",
                   file->path, tensors->count);
}

static enum status read_safetensors(struct data_set *set, struct data_file *file,
                                    const char *tensor, const struct data_options *options,
                                    struct problem *p)
{
    json_t *header = NULL;
    size_t data = 0;
    struct tensors tensors = {0};
    enum status status = read_header(&header, &data, file, p);
    if (status != STATUS_OK)
        return status;
    status = read_table(&tensors, header, file, data, p);
    if (status == STATUS_OK)
        status = load_tensors(set, &tensors, file, tensor, options, p);
    free(tensors.item);
    json_decref(header);
    return status;
}

/* A length below 2^40, then the header's brace: no text has those zeros. */
static bool begins_safetensors(const struct data_head *head)
{
    return head->size > LENGTH && head->byte[LENGTH] == '{' &&
           memcmp(head->byte + 5, "\0\0\0", 3) == 0;
}

const struct data_reader safetensors_reader = {.what = "a safetensors file",
                                               .members = "a tensor",
                                               .ending = {".safetensors"},
                                               .begins = begins_safetensors,
                                               .read = read_safetensors};
