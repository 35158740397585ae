/* The header of .npy, versions 1.0 to 3.0. */
#include <ctype.h>
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
static enum status read_shape(struct npy_shape *s, struct cursor *c)
{
    bool comma = false;
    if (!take(c, '('))
        return unexpected(c, "a shape such as (3,) or (2, 3)");
    for (s->dimensions = 0; !take(c, ')'); s->dimensions++) {
        if (s->dimensions > 0 && !comma)
            return unexpected(c, "',' or ')' in the shape");
        if (s->dimensions == DATA_DIMENSIONS)
            return unexpected(c, "at most 64 dimensions");
        enum status status = read_dimension(&s->length[s->dimensions], c);
        if (status != STATUS_OK)
            return status;
        comma = take(c, ',');
    }
    if (s->dimensions == 1 && !comma)
        return unexpected(c, "a tuple: (3,), where (3) is a number");
    return STATUS_OK;
}

/* --- A structured dtype: a list of fields, as NumPy's dtype.descr --- */

enum { NESTED_MOST = 8 };

/* "<f8", "|V16", "<U5" (four bytes a character), "<M8[ns]" */
static bool type_bytes(const char *type, size_t *bytes)
{
    type += *type && strchr("<>=|", *type);
    bool wide = *type == 'U';
    if (!isalpha((unsigned char)*type) || !isdigit((unsigned char)type[1]))
        return false;
    *bytes = 0;
    for (type++; isdigit((unsigned char)*type); type++)
        if (__builtin_mul_overflow(*bytes, 10, bytes) ||
            __builtin_add_overflow(*bytes, (size_t)(*type - '0'), bytes))
            return false;
    return (*type == 0 || *type == '[') && !__builtin_mul_overflow(*bytes, wide ? 4 : 1, bytes);
}

static enum status read_fields(struct npy_header *h, const char *prefix, size_t at, size_t *size,
                               unsigned depth, struct cursor *c);

/* 'x', or ('a title', 'x') */
static enum status read_name(char name[NPY_TYPE_TEXT], struct cursor *c)
{
    static const char expected[] = "a field's name";
    bool titled = take(c, '(');
    enum status status = read_string(c, name, expected);
    if (!titled || status != STATUS_OK)
        return status;
    if (!take(c, ','))
        return unexpected(c, "',' behind a title");
    status = read_string(c, name, expected);
    return status != STATUS_OK || take(c, ')') ? status : unexpected(c, "')' behind a name");
}

static void note_field(struct npy_header *h, const char *path, const char *type, size_t at,
                       const struct npy_shape *shape)
{
    size_t used = strlen(h->fields);
    if (used < sizeof h->fields / 2)
        snprintf(h->fields + used, sizeof h->fields - used, "%s%.100s", used ? ", " : "", path);
    else if (strcmp(h->fields + used - 3, "...") != 0)
        snprintf(h->fields + used, sizeof h->fields - used, ", ...");
    if (h->named++ > 0 && !h->wanted)
        return;
    if (h->found || (h->wanted && strcmp(path, h->wanted) != 0))
        return;
    h->found = true;
    h->field_at = at;
    h->field_shape = *shape;
    strcpy(h->type, type);
}

/* ('x', '<f8'), ('y', '<f4', (3,)), ('z', [...]) or ('', '|V4'), which is padding. */
static enum status read_field(struct npy_header *h, const char *prefix, size_t at, size_t *size,
                              unsigned depth, struct cursor *c)
{
    char name[NPY_TYPE_TEXT], path[2 * NPY_TYPE_TEXT], type[NPY_TYPE_TEXT] = "";
    struct npy_shape shape = {0};
    bool found = h->found;
    if (!take(c, '('))
        return unexpected(c, "a field such as ('x', '<f8')");
    enum status status = read_name(name, c);
    if (status != STATUS_OK)
        return status;
    snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "." : "", name);
    if (strlen(path) >= NPY_TYPE_TEXT || !take(c, ','))
        return unexpected(c, "',' behind a field's name");
    skip_blanks(c);
    bool nested = c->at < c->end && *c->at == '[';
    if (nested && depth == NESTED_MOST)
        return unexpected(c, "at most 8 records in each other");
    status = nested ? read_fields(h, path, at, size, depth + 1, c)
                    : read_string(c, type, "a field's type");
    if (status == STATUS_OK && !nested && !type_bytes(type, size))
        return problem(c->p, STATUS_DATA,
                       "%s: found dtype '%s'%s in field '%.100s', expected types of a known size",
                       c->path, type, strchr(type, 'O') ? " (pickled Python objects)" : "", path);
    if (status == STATUS_OK && take(c, ',')) {
        skip_blanks(c);
        if (c->at < c->end && *c->at == '(')
            status = read_shape(&shape, c);
    }
    if (status != STATUS_OK)
        return status;
    if (!take(c, ')'))
        return unexpected(c, "')' behind a field");
    if (nested && h->found && !found && shape.dimensions > 0 && h->wanted)
        return unexpected(c, "no array of records around the field that is asked for");
    if (nested && !found && shape.dimensions > 0)
        h->found = false;
    if (!nested && *name)
        note_field(h, path, type, at, &shape);
    for (size_t d = 0; d < shape.dimensions; d++)
        if (__builtin_mul_overflow(*size, shape.length[d], size))
            return unexpected(c, "records of less than 2^64 bytes");
    return STATUS_OK;
}

static enum status read_fields(struct npy_header *h, const char *prefix, size_t at, size_t *size,
                               unsigned depth, struct cursor *c)
{
    bool comma = true;
    *size = 0;
    if (!take(c, '['))
        return unexpected(c, "a list of fields");
    while (!take(c, ']')) {
        size_t bytes = 0;
        if (!comma)
            return unexpected(c, "',' or ']' in the list of fields");
        enum status status = read_field(h, prefix, at + *size, &bytes, depth, c);
        if (status != STATUS_OK)
            return status;
        if (__builtin_add_overflow(*size, bytes, size) || *size > SIZE_MAX / 2 - at)
            return unexpected(c, "records of less than 2^63 bytes");
        comma = take(c, ',');
    }
    return STATUS_OK;
}

static enum status read_type(struct npy_header *h, struct cursor *c)
{
    skip_blanks(c);
    if (c->at < c->end && *c->at == '(')
        return unexpected(c, "one type, or the list of fields of a structured dtype");
    if (c->at == c->end || *c->at != '[')
        return read_string(c, h->type, "a dtype such as '<f8'");
    h->structured = true;
    strcpy(h->type, "[...]");
    return read_fields(h, "", 0, &h->record, 0, c);
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
    case SHAPE:
    case KEYS:
        break;
    }
    return read_shape(&h->shape, c);
}

static enum status npy_header_parse(struct npy_header *header, const char *path, const char *text,
                                    size_t size, struct problem *p)
{
    struct cursor c = {path, text, text, text + size, p};
    bool seen[KEYS] = {false}, comma = true;
    *header = (struct npy_header){.wanted = header->wanted};
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

/* Finds the header: its place and its length, which must lie within the file. */
static enum status find_header(const struct data_file *file, size_t *offset, size_t *length,
                               bool *latin, struct problem *p)
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
    *latin = major < 3;
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

/* From Latin-1 to UTF-8, in place: there is room for twice the length, and the text lies at its
 * end. */
static size_t to_utf8(char *to, const char *from, size_t length)
{
    size_t put = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)from[i];
        if (c >= 0x80)
            to[put++] = (char)(0xc0 | c >> 6);
        to[put++] = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
    }
    return put;
}

static enum status read_text(struct npy_header *header, const struct data_file *file, size_t offset,
                             size_t length, bool latin, struct problem *p)
{
    char *text = length < SIZE_MAX / 2 ? malloc(2 * length + 1) : NULL;
    if (!text)
        return problem(p, STATUS_MEMORY, "%s: out of memory for a header of %zu bytes", file->path,
                       length);
    enum status status = data_file_read(file, offset, length, text + length, p);
    if (status == STATUS_OK && !latin)
        status = npy_header_parse(header, file->path, text + length, length, p);
    else if (status == STATUS_OK)
        status =
            npy_header_parse(header, file->path, text, to_utf8(text, text + length, length), p);
    free(text);
    return status;
}

enum status npy_header_read(struct npy_header *header, size_t *offset, const struct data_file *file,
                            struct problem *p)
{
    size_t begin = 0, length = 0;
    bool latin = false;
    enum status status = find_header(file, &begin, &length, &latin, p);
    *offset = begin + length;
    return status == STATUS_OK ? read_text(header, file, begin, length, latin, p) : status;
}
