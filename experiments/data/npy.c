/* Reads .npy, versions 1.0 to 3.0. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/data/file.h"

/* The header of a .npy file: a Python dictionary of exactly three entries, read as what it is
 * and nothing more. Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */

struct cursor {
    const char *path, *start, *at, *end;
    struct problem *p;
};

static void skip_blanks(struct cursor *c)
{
    while (c->at < c->end && memchr(" \t\r\n", *c->at, 4))
        c->at++;
}

static enum status unexpected(const struct cursor *c, const char *expected)
{
    size_t left = (size_t)(c->end - c->at);
    if (left == 0)
        return problem(c->p, STATUS_DATA, "%s: the header ends at its byte %zu, expected %s",
                       c->path, (size_t)(c->at - c->start), expected);
    return problem(c->p, STATUS_DATA, "%s: found '%.*s' at byte %zu of the header, expected %s",
                   c->path, left < 24 ? (int)left : 24, c->at, (size_t)(c->at - c->start),
                   expected);
}

static bool take(struct cursor *c, char wanted)
{
    skip_blanks(c);
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

static bool take_word(struct cursor *c, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

/* A string in either kind of quotes; it has no escapes in this place. */
static enum status read_string(struct cursor *c, char text[NPY_TYPE_TEXT], const char *expected)
{
    skip_blanks(c);
    char quote = c->at < c->end ? *c->at : 0;
    if (quote != '\'' && quote != '"')
        return unexpected(c, expected);
    const char *first = c->at + 1, *last = memchr(first, quote, (size_t)(c->end - first));
    if (!last || last - first >= NPY_TYPE_TEXT || memchr(first, 0, (size_t)(last - first)))
        return unexpected(c, expected);
    memcpy(text, first, (size_t)(last - first));
    text[last - first] = 0;
    c->at = last + 1;
    return STATUS_OK;
}

static enum status read_type(struct npy_header *h, struct cursor *c)
{
    skip_blanks(c);
    if (c->at < c->end && (*c->at == '[' || *c->at == '('))
        return unexpected(c, "one floating-point type, not a structured dtype");
    return read_string(c, h->type, "a dtype such as '<f8'");
}

static enum status read_bool(bool *value, struct cursor *c)
{
    *value = take_word(c, "True");
    return *value || take_word(c, "False") ? STATUS_OK : unexpected(c, "True or False");
}

static enum status read_dimension(size_t *dimension, struct cursor *c)
{
    const char *first = c->at;
    *dimension = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(*dimension, 10, dimension) ||
            __builtin_add_overflow(*dimension, (size_t)(*c->at - '0'), dimension)) {
            c->at = first;
            return unexpected(c, "a length below 2^64");
        }
    if (c->at == first)
        return unexpected(c, "a length (0 or more) or the end of the shape");
    take(c, 'L'); /* Python 2 wrote long integers so */
    return STATUS_OK;
}

/* (), (3,), (3, 4), (3, 4,); (3) is a number in Python, no tuple. */
static enum status read_shape(struct npy_header *h, struct cursor *c)
{
    bool comma = false;
    if (!take(c, '('))
        return unexpected(c, "a shape such as (3,) or (2, 3)");
    for (h->dimensions = 0; !take(c, ')'); h->dimensions++) {
        if (h->dimensions > 0 && !comma)
            return unexpected(c, "',' or ')' in the shape");
        if (h->dimensions == DATA_DIMENSIONS)
            return unexpected(c, "at most 64 dimensions");
        enum status status = read_dimension(&h->shape[h->dimensions], c);
        if (status != STATUS_OK)
            return status;
        comma = take(c, ',');
    }
    if (h->dimensions == 1 && !comma)
        return unexpected(c, "a tuple: (3,), where (3) is a number");
    return STATUS_OK;
}

enum key { TYPE, FORTRAN, SHAPE, KEYS };
static const char *const key_name[KEYS] = {"descr", "fortran_order", "shape"};

static enum status read_entry(struct npy_header *h, bool seen[KEYS], struct cursor *c)
{
    static const char expected[] = "one each of 'descr', 'fortran_order', 'shape'";
    char name[NPY_TYPE_TEXT];
    const char *start = c->at;
    enum key key = 0;
    enum status status = read_string(c, name, expected);
    if (status != STATUS_OK)
        return status;
    while (key < KEYS && strcmp(name, key_name[key]) != 0)
        key++;
    if (key == KEYS || seen[key]) {
        c->at = start;
        return unexpected(c, expected);
    }
    seen[key] = true;
    if (!take(c, ':'))
        return unexpected(c, "':'");
    switch (key) {
    case TYPE:
        return read_type(h, c);
    case FORTRAN:
        return read_bool(&h->fortran, c);
    default:
        return read_shape(h, c);
    }
}

static enum status npy_header_parse(struct npy_header *header, const char *path, const char *text,
                                    size_t size, struct problem *p)
{
    struct cursor c = {path, text, text, text + size, p};
    bool seen[KEYS] = {false}, comma = true;
    *header = (struct npy_header){0};
    if (!take(&c, '{'))
        return unexpected(&c, "a dictionary {...}");
    while (!take(&c, '}')) {
        if (!comma)
            return unexpected(&c, "',' or '}'");
        enum status status = read_entry(header, seen, &c);
        if (status != STATUS_OK)
            return status;
        comma = take(&c, ',');
    }
    skip_blanks(&c);
    if (c.at < c.end)
        return unexpected(&c, "nothing after the dictionary");
    for (enum key key = 0; key < KEYS; key++)
        if (!seen[key])
            return problem(p, STATUS_DATA, "%s: found no '%s' in the header, expected %s", path,
                           key_name[key], "'descr', 'fortran_order' and 'shape'");
    return STATUS_OK;
}

enum { MAGIC = 6, PREFIX_1 = 10, PREFIX_2 = 12 };

struct npy_type {
    const char *name; /* without the byte order */
    enum format format;
};
/* '<f1' is what NumPy writes for float8_e5m2 of ml_dtypes. */
static const struct npy_type types[] = {{"f1", E5M2}, {"f2", FP16}, {"f4", FP32}, {"f8", FP64}};
/* Types that say no more than a width: NumPy writes '<V2' for bfloat16 of ml_dtypes, '<V1' for
 * float8_e4m3fn. */
static const struct npy_type untyped[] = {
    {"V2", BF16}, {"V1", E4M3}, {"V1", E5M2}, {"u1", E4M3}, {"u1", E5M2}};

/* Finds the header: its place and its length, which must lie within the file. */
static enum status find_header(const struct data_file *file, size_t *offset, size_t *length,
                               struct problem *p)
{
    unsigned char prefix[PREFIX_2] = {0};
    size_t got = file->size < PREFIX_2 ? file->size : PREFIX_2;
    enum status status = data_file_read(file, 0, got, prefix, p);
    if (status != STATUS_OK)
        return status;
    if (got < MAGIC || memcmp(prefix, "\x93NUMPY", MAGIC) != 0)
        return problem(p, STATUS_DATA, "%s: found %s, expected .npy (\\x93NUMPY first)", file->path,
                       got == 0 ? "an empty file" : "other first bytes");
    if (got < PREFIX_1)
        return problem(p, STATUS_DATA, "%s: ends after %zu bytes, expected a .npy header",
                       file->path, got);
    unsigned major = prefix[6], minor = prefix[7];
    if (major < 1 || major > 3 || minor != 0)
        return problem(p, STATUS_DATA, "%s: found .npy version %u.%u, expected 1.0, 2.0 or 3.0",
                       file->path, major, minor);
    *offset = major == 1 ? PREFIX_1 : PREFIX_2;
    *length = (size_t)prefix[8] | (size_t)prefix[9] << 8;
    if (major > 1)
        *length |= (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
    if (file->size < *offset || *length > file->size - *offset)
        return problem(p, STATUS_DATA,
                       "%s: found a header length of %zu bytes, expected at most the %zu that "
                       "the file has left",
                       file->path, *length, file->size < *offset ? 0 : file->size - *offset);
    return STATUS_OK;
}

static enum status read_text(struct npy_header *header, const struct data_file *file, size_t offset,
                             size_t length, struct problem *p)
{
    char *text = malloc(length + 1);
    if (!text)
        return problem(p, STATUS_DEVICE, "%s: out of memory for a header of %zu bytes", file->path,
                       length);
    enum status status = data_file_read(file, offset, length, text, p);
    if (status == STATUS_OK)
        status = npy_header_parse(header, file->path, text, length, p);
    free(text);
    return status;
}

enum status npy_header_read(struct npy_header *header, size_t *offset, const struct data_file *file,
                            struct problem *p)
{
    size_t begin = 0, length = 0;
    enum status status = find_header(file, &begin, &length, p);
    *offset = begin + length;
    return status == STATUS_OK ? read_text(header, file, begin, length, p) : status;
}

static enum status without_type(struct data_layout *layout, const char *path, const char *type,
                                const char *name, enum format storage, struct problem *p)
{
    char could[64] = "";
    for (size_t i = 0; i < sizeof untyped / sizeof *untyped; i++) {
        size_t used = strlen(could);
        if (strcmp(name, untyped[i].name) != 0)
            continue;
        layout->format = untyped[i].format;
        if (storage == untyped[i].format)
            return STATUS_OK;
        snprintf(could + used, sizeof could - used, "%s%s", used ? " or " : "",
                 format_facts[untyped[i].format].name);
    }
    int bytes = format_facts[layout->format].bytes;
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
        return without_type(layout, path, type, name, options->storage, p);
    for (size_t i = 0; i < sizeof types / sizeof *types && order != '|'; i++)
        if (strcmp(name, types[i].name) == 0) {
            layout->format = types[i].format;
            return STATUS_OK;
        }
    return problem(p, STATUS_DATA,
                   "%s: found dtype '%s'%s, expected f2, f4 or f8 of either byte order, V2 with "
                   "--storage bf16, or f1, V1 or u1 with --storage e5m2 or e4m3",
                   path, type, *name == 'O' ? " (pickled Python objects)" : "");
}

/* The product of the shape, held against the bytes that are there. */
static enum status count_elements(struct data_layout *layout, const struct data_file *file,
                                  struct problem *p)
{
    size_t present = file->size - layout->offset, bytes;
    bool overflow = false, empty = false;
    layout->n = 1;
    for (size_t d = 0; d < layout->dimensions; d++) {
        empty |= layout->shape[d] == 0;
        overflow |= __builtin_mul_overflow(layout->n, layout->shape[d], &layout->n);
    }
    overflow |=
        __builtin_mul_overflow(layout->n, (size_t)format_facts[layout->format].bytes, &bytes);
    if (overflow && !empty)
        return problem(p, STATUS_DATA,
                       "%s: found a shape whose elements exceed 2^64 bytes, expected the %zu "
                       "bytes that follow the header",
                       file->path, present);
    layout->n = empty ? 0 : layout->n;
    bytes = empty ? 0 : bytes;
    if (bytes != present)
        return problem(p, STATUS_DATA,
                       "%s: found %zu bytes after the header, expected %zu for %zu elements of %s",
                       file->path, present, bytes, layout->n, format_facts[layout->format].name);
    return STATUS_OK;
}

enum status data_read_npy(struct data_set *set, struct data_file *file,
                          const struct data_options *options, struct problem *p)
{
    struct npy_header header;
    struct data_layout layout = {.last = true};
    enum status status = npy_header_read(&header, &layout.offset, file, p);
    if (status == STATUS_OK)
        status = decode_type(&layout, file->path, header.type, options, p);
    if (status != STATUS_OK)
        return status;
    layout.fortran = header.fortran;
    layout.dimensions = header.dimensions;
    memcpy(layout.shape, header.shape, sizeof layout.shape);
    status = count_elements(&layout, file, p);
    return status == STATUS_OK ? data_load(set, file, NULL, &layout, options, p) : status;
}
