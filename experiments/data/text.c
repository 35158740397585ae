/* Text: one number a line, decimal or hexadecimal, rounded once to the storage format. */
#include <ctype.h>
#include <mpfr.h>
#include <stdlib.h>

#include "experiments/data/file.h"
#include "experiments/system/memory.h"

/* --- Raw numbers, little-endian, back to back: nothing tells their format but the user --- */

enum status data_read_raw(struct data_set *set, struct data_file *file,
                          const struct data_options *options, struct problem *p)
{
    if (options->storage == FORMATS)
        return problem(p, STATUS_USAGE,
                       "%s: found no known file type (.npy, safetensors, text), expected --storage "
                       "to say what the raw numbers are",
                       file->path);
    size_t width = (size_t)format_facts[options->storage].bytes;
    if (file->size % width != 0)
        return problem(p, STATUS_DATA, "%s: found %zu bytes, expected a multiple of %zu for raw %s",
                       file->path, file->size, width, format_facts[options->storage].name);
    struct data_layout layout = {.format = options->storage, .n = file->size / width, .last = true};
    return data_load(set, file, NULL, &layout, options, p);
}

/* Where a number's digits end, and their base; NULL where the text is no number. MPFR alone would
 * also take 0b1, 1@5, nan(17) and more. */
static char *scan_number(char *at, int *base)
{
    at += *at == '+' || *at == '-';
    for (int i = 0; i < 3; i++) {
        static const char *const word[] = {"infinity", "inf", "nan"};
        if (strncasecmp(at, word[i], strlen(word[i])) == 0)
            return at + strlen(word[i]);
    }
    *base = at[0] == '0' && (at[1] == 'x' || at[1] == 'X') ? 16 : 10;
    at += *base == 16 ? 2 : 0;
    const char *digits = *base == 16 ? "0123456789abcdefABCDEF" : "0123456789";
    size_t whole = strspn(at, digits);
    at += whole;
    size_t fraction = *at == '.' ? strspn(at + 1, digits) : 0;
    at += *at == '.' ? 1 + fraction : 0;
    if (whole + fraction == 0)
        return NULL;
    char mark = *base == 16 ? 'p' : 'e';
    if (*at == mark || *at == toupper(mark)) {
        at += 1 + (at[1] == '+' || at[1] == '-');
        if (!isdigit((unsigned char)*at))
            return NULL;
        at += strspn(at, "0123456789");
    }
    return at;
}

/* Rounds to the format's precision, and where that is not the last word, again to the subnormal
 * grid: knowing by the ternary value which way the first rounding went, both are one. Overflow is
 * left to the encoding. MPFR's exponents are those of 0.1..1, one above IEEE's. */
static double round_text(mpfr_t x, const char *text, int base, enum format f)
{
    const struct format_facts *facts = &format_facts[f];
    mpfr_exp_t least = mpfr_get_emin();
    mpfr_set_prec(x, facts->precision);
    mpfr_set_emin(facts->emin - facts->precision + 2);
    int ternary = mpfr_strtofr(x, text, NULL, base, MPFR_RNDN);
    mpfr_subnormalize(x, ternary, MPFR_RNDN);
    mpfr_set_emin(least);
    return mpfr_get_d(x, MPFR_RNDN);
}

struct lines {
    const char *path;
    char *at, *end; /* *end is 0 */
    size_t line;
};

static bool blank(char c)
{
    return memchr(" \t\r\v\f", c, 5);
}

/* Moves to the next line that holds something; false at the end. */
static bool next_number(struct lines *l)
{
    while (l->at < l->end) {
        l->line++;
        while (l->at < l->end && blank(*l->at))
            l->at++;
        if (l->at < l->end && *l->at != '\n' && *l->at != '#')
            return true;
        char *stop = memchr(l->at, '\n', (size_t)(l->end - l->at));
        l->at = stop ? stop + 1 : l->end;
    }
    return false;
}

static enum status not_a_number(const struct lines *l, struct problem *p)
{
    const char *stop = memchr(l->at, '\n', (size_t)(l->end - l->at));
    size_t length = (size_t)((stop ? stop : l->end) - l->at);
    return problem(p, STATUS_DATA,
                   "%s: line %zu: found '%.*s', expected one number (decimal, 0x hexadecimal, inf "
                   "or nan)",
                   l->path, l->line, length < 40 ? (int)length : 40, l->at);
}

static enum status parse(struct array *a, struct lines *l, mpfr_t x, struct problem *p)
{
    for (a->n = 0; next_number(l); a->n++) {
        int base = 10;
        char *stop = scan_number(l->at, &base), *rest = stop;
        while (rest && rest < l->end && blank(*rest))
            rest++;
        if (!rest || (rest < l->end && *rest != '\n'))
            return not_a_number(l, p);
        char *next = rest < l->end ? rest + 1 : rest;
        *stop = 0; /* strtofr allocates as much as the text is long, to its very end */
        double value = round_text(x, l->at, base, a->format);
        array_set_bits(a, a->n, format_encode(a->format, value));
        l->at = next;
    }
    if (a->n == 0)
        return problem(p, STATUS_DATA, "%s: found no number in %zu lines, expected one a line",
                       l->path, l->line);
    return STATUS_OK;
}

static size_t count_lines(const char *at, const char *end)
{
    size_t count = 1;
    while ((at = memchr(at, '\n', (size_t)(end - at)))) {
        count++;
        at++;
    }
    return count;
}

static enum status read_lines(struct data_set *set, struct data_file *file, char *text,
                              enum format f, struct problem *p)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    struct lines lines = {file->path, text, text + file->size, 0};
    struct array a;
    if (strncmp(text, byte_order_mark, 3) == 0)
        lines.at += 3;
    enum status status = memory_array(&a, f, count_lines(lines.at, lines.end), file->path, p);
    if (status != STATUS_OK)
        return status;
    mpfr_t x;
    mpfr_init2(x, 53);
    status = parse(&a, &lines, x, p);
    mpfr_clear(x);
    if (status == STATUS_OK)
        return data_append(set, file->name, NULL, &a, f, p);
    free(a.data);
    return status;
}

enum status data_read_text(struct data_set *set, struct data_file *file, enum format storage,
                           struct problem *p)
{
    char *text = memory_has(file->size) ? malloc(file->size + 1) : NULL;
    if (!text)
        return problem(p, STATUS_DEVICE, "%s: out of memory for %zu bytes of text", file->path,
                       file->size);
    enum status status = data_file_read(file, 0, file->size, text, p);
    text[file->size] = 0;
    if (status == STATUS_OK)
        status = read_lines(set, file, text, storage == FORMATS ? FP64 : storage, p);
    free(text);
    return status;
}
