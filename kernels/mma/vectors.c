#include "kernels/mma/vectors.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_K = 256, LINE = 2 * 16 * MOST_K + 64, WORD = 16 };

struct file {
    FILE *stream;
    const char *path;
    size_t line, k;
    char text[LINE];
};

/* The next line without its end; false at the end of the file, or where the line is too long. */
static bool next(struct file *f)
{
    f->line++;
    if (!fgets(f->text, sizeof f->text, f->stream))
        return false;
    char *end = strchr(f->text, '\n');
    if (end)
        *end = '\0';
    return end || feof(f->stream);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `count` encodings of `bytes` each, then a space or the end; NULL where that is not what stands
 * there. */
static const char *encodings(const char *text, size_t count, size_t bytes, unsigned char *to)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = bytes; j-- > 0; text += 2) { /* most significant first */
            int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);
            if (low < 0)
                return NULL;
            to[i * bytes + j] = (unsigned char)(high << 4 | low);
        }
    return *text == ' ' ? text + 1 : *text == '\0' ? text : NULL;
}

static const struct mma_instruction *named(const char *name)
{
    char text[MMA_NAME];
    for (size_t i = 0; i < mma_instruction_count; i++) {
        mma_name(text, &mma_instructions[i]);
        if (strcmp(text, name) == 0)
            return &mma_instructions[i];
    }
    return NULL;
}

static enum status head(struct file *f, struct mma_held *held, size_t *count, struct problem *p)
{
    char word[4][WORD], name[5 * WORD];
    if (!next(f) || strcmp(f->text, "matrix vectors 1") != 0)
        return problem(p, STATUS_DATA, "%s: line 1 is not \"matrix vectors 1\"", f->path);
    int rest = 0;
    if (!next(f) ||
        sscanf(f->text, "%15s %15s %15s %15s k %zu count %zu%n", word[0], word[1], word[2], word[3],
               &f->k, count, &rest) != 6 ||
        f->text[rest] != '\0')
        return problem(p, STATUS_DATA, "%s: line 2 is not \"CHIP UNIT FORMAT FORMAT k K count N\"",
                       f->path);
    char *b = strchr(word[2], 'x');
    held->of_b = MMA_ELEMENTS;
    if (b) { /* A and B of two formats */
        *b++ = '\0';
        for (enum mma_element e = MMA_E4M3; e <= MMA_E5M2; e++)
            held->of_b = strcmp(b, mma_elements[e].name) == 0 ? e : held->of_b;
    }
    snprintf(name, sizeof name, "%s %s %s %s", word[0], word[1], word[2], word[3]);
    held->of = named(name);
    if (held->of && !b)
        held->of_b = held->of->rule.element;
    if (!held->of || held->of_b == MMA_ELEMENTS ||
        mma_elements[held->of_b].bits != mma_elements[held->of->rule.element].bits)
        return problem(p, STATUS_DATA,
                       "%s: line 2: there is no instruction %s%s%s; see ulpscope list chips",
                       f->path, name, b ? " with B of " : "", b ? b : "");
    if (f->k == 0 || f->k > MOST_K)
        return problem(p, STATUS_DATA, "%s: line 2: k is %zu, expected 1 to %d", f->path, f->k,
                       MOST_K);
    return STATUS_OK;
}

static enum status hold_line(struct file *f, const struct mma_rule *rule, struct mma_held *held,
                             struct problem *p)
{
    unsigned char a[8 * MOST_K], b[8 * MOST_K];
    uint64_t c = 0, d = 0;
    const size_t bytes = (size_t)mma_elements[rule->element].bits / 8;
    const size_t result = (size_t)format_facts[rule->result].bytes;
    const char *at = encodings(f->text, f->k, bytes, a);
    at = at ? encodings(at, f->k, bytes, b) : NULL;
    at = at ? encodings(at, 1, result, (unsigned char *)&c) : NULL;
    at = at ? encodings(at, 1, result, (unsigned char *)&d) : NULL;
    if (!at || *at)
        return problem(p, STATUS_DATA,
                       "%s: line %zu is not A, B, C and D of %zu, %zu, 1 and 1 encodings", f->path,
                       f->line, f->k, f->k);
    uint64_t found = mma_dot_mixed(rule, held->of_b, f->k, a, b, c);
    const bool same = found == d || (rule->result == FP64 && isnan(double_from_bits(found)) &&
                                     isnan(double_from_bits(d)));
    held->vectors++;
    held->differing += !same;
    if (!same && !held->line) {
        held->line = f->line;
        held->found = found;
        held->expected = d;
    }
    return STATUS_OK;
}

enum status mma_hold(const char *path, const struct mma_rule *rule, struct mma_held *held,
                     struct problem *p)
{
    struct file f = {.stream = fopen(path, "r"), .path = path};
    *held = (struct mma_held){0};
    if (!f.stream)
        return problem(p, STATUS_DATA, "%s: %s", path, strerror(errno));
    size_t count = 0;
    enum status status = head(&f, held, &count, p);
    while (status == STATUS_OK && next(&f))
        status = hold_line(&f, rule ? rule : &held->of->rule, held, p);
    if (status == STATUS_OK && (!feof(f.stream) || held->vectors != count))
        status = problem(p, STATUS_DATA, "%s: %zu vectors, but line 2 says %zu", path,
                         held->vectors, count);
    fclose(f.stream);
    return status;
}
