/* Text: one number a line, decimal or hexadecimal, rounded once to the storage format. */
#include <ctype.h>
#include <mpfr.h>
#include <stdlib.h>

#include "experiments/data/file.h"
#include "experiments/system/memory.h"

/* --- Raw numbers, little-endian, back to back: nothing tells their format but the user --- */

static enum status read_raw(struct data_set *set, struct data_file *file, const char *member,
                            const struct data_options *options, struct problem *p)
{
    (void)member;
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

const struct data_reader raw_reader = {
    .what = "raw numbers", .ending = {".raw", ".bin"}, .plain = true, .read = read_raw};

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

enum { STREAMED = 1 << 22 }; /* bytes of a block of lines */

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

static enum status parse(struct array *a, struct lines *l, mpfr_t x, bool saturate,
                         struct problem *p)
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
        if (saturate)
            data_saturate(a->format, &value, 1);
        array_set_bits(a, a->n, format_encode(a->format, value));
        l->at = next;
    }
    return STATUS_OK;
}

static enum status expect_some(size_t n, const struct lines *l, struct problem *p)
{
    return n > 0 ? STATUS_OK
                 : problem(p, STATUS_DATA, "%s: found no number in %zu lines, expected one a line",
                           l->path, l->line);
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
                              const struct data_options *options, struct problem *p)
{
    enum format f = options->storage == FORMATS ? FP64 : options->storage;
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
    status = parse(&a, &lines, x, options->saturate, p);
    mpfr_clear(x);
    if (status == STATUS_OK)
        status = expect_some(a.n, &lines, p);
    if (status == STATUS_OK)
        return data_append(set, file, NULL, &a, f, options->saturate, p);
    free(a.data);
    return status;
}

bool data_number(double *value, mpfr_t x, const char *text, enum format f)
{
    int base = 10;
    while (*text && blank(*text))
        text++;
    char *copy = NULL, *stop = scan_number((char *)text, &base), *rest = stop;
    while (rest && *rest && blank(*rest))
        rest++;
    if (!rest || *rest || (*stop && !(copy = strndup(text, (size_t)(stop - text)))))
        return false;
    *value = round_text(x, copy ? copy : text, base, f);
    free(copy);
    return true;
}

/* Whole lines at a time; what follows the last break is kept for the next. */
static enum status stream_lines(const struct data_file *file, char *text, struct array *a,
                                const struct data_options *options, struct problem *p)
{
    const struct data_stream *to = options->stream;
    struct lines lines = {.path = file->path};
    size_t kept = 0, n = 0;
    enum status status = STATUS_OK;
    mpfr_t x;
    mpfr_init2(x, 53);
    for (size_t done = 0, count; status == STATUS_OK && done < file->size; done += count) {
        count = file->size - done < STREAMED - kept ? file->size - done : STREAMED - kept;
        status = data_file_read(file, done, count, text + kept, p);
        size_t held = kept + count;
        const char *stop = memrchr(text, '\n', held);
        size_t whole = stop ? (size_t)(stop - text) + 1 : 0;
        if (done + count == file->size)
            whole = held;
        if (status == STATUS_OK && whole == 0)
            status = problem(p, STATUS_DATA,
                             "%s: line %zu: found more than %d bytes, expected one "
                             "number",
                             file->path, lines.line + 1, STREAMED);
        if (status != STATUS_OK)
            break;
        char first = text[whole];
        text[whole] = 0;
        lines.at = text + (done == 0 && held >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
        lines.end = text + whole;
        status = parse(a, &lines, x, options->saturate, p);
        n += a->n;
        if (status == STATUS_OK)
            status = to->take(to->context, a, done + count, file->size, p);
        text[whole] = first;
        kept = held - whole;
        memmove(text, text + whole, kept);
    }
    mpfr_clear(x);
    if (status == STATUS_OK)
        status = expect_some(n, &lines, p);
    struct array whole = {a->format, n, NULL};
    return status == STATUS_OK
               ? data_stream_end(to, file, NULL, &whole, a->format, options->saturate, p)
               : status;
}

static enum status stream_text(const struct data_file *file, const struct data_options *options,
                               struct problem *p)
{
    struct array a;
    enum format f = options->storage == FORMATS ? FP64 : options->storage;
    if (data_stream_idle(options->stream))
        return data_stream_end(options->stream, file, NULL, &(struct array){f, 0, NULL}, f,
                               options->saturate, p);
    char *text = malloc(STREAMED + 1); /* a number takes two bytes at least */
    enum status status = memory_array(&a, f, STREAMED / 2 + 1, file->path, p);
    if (!text)
        status = problem(p, STATUS_MEMORY, "%s: out of memory", file->path);
    if (status == STATUS_OK)
        status = stream_lines(file, text, &a, options, p);
    free(text);
    free(a.data);
    return status;
}

static enum status read_text(struct data_set *set, struct data_file *file, const char *member,
                             const struct data_options *options, struct problem *p)
{
    (void)member;
    if (options->stream)
        return stream_text(file, options, p);
    char *text = memory_has(file->size) ? malloc(file->size + 1) : NULL;
    if (!text)
        return problem(p, STATUS_MEMORY, "%s: out of memory for %zu bytes of text", file->path,
                       file->size);
    enum status status = data_file_read(file, 0, file->size, text, p);
    text[file->size] = 0;
    if (status == STATUS_OK)
        status = read_lines(set, file, text, options, p);
    free(text);
    return status;
}

static bool begins_text(const struct data_head *head)
{
    for (size_t i = 0; i < head->size; i++)
        if (head->byte[i] > 126 || !(isprint(head->byte[i]) || isspace(head->byte[i])))
            return false;
    return head->size > 0;
}

const struct data_reader text_reader = {.what = "text",
                                        .ending = {".txt", ".dat"},
                                        .begins = begins_text,
                                        .plain = true,
                                        .read = read_text};
