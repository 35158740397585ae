/* The header of a .npy file: a Python dictionary of exactly three entries, read as what it is
 * and nothing more. Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
#include "experiments/data/file.h"

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

enum status npy_header_parse(struct npy_header *header, const char *path, const char *text,
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
