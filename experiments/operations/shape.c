#include "experiments/operations/shape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/options/options.h"
#include "experiments/system/memory.h"
#include "kernels/mma/mma.h"
#include "reports/text/near.h"
#include "reports/text/text.h"

static enum status refuse(const char *text, struct problem *p)
{
    return problem(p, STATUS_USAGE,
                   "option --shape: found '%s', expected MxNxK[:nt|:tn|:tt][:pad=P][:c=0][:mixed]"
                   "[:scale=SxT|auto|outer|blocks][:tf32], as 64x64x256",
                   text);
}

/* One number from `from` up to `end`. */
static enum status number(size_t *to, const char *from, const char *end, const char *text,
                          struct problem *p)
{
    char digits[32];
    struct numbers one = {0};
    size_t length = (size_t)(end - from);
    if (length == 0 || length >= sizeof digits)
        return refuse(text, p);
    snprintf(digits, sizeof digits, "%.*s", (int)length, from);
    enum status status = numbers_parse(&one, "shape", digits, RANGE_DOUBLING, 0, SHAPE_MOST, p);
    if (status == STATUS_OK && one.count != 1)
        status = refuse(text, p);
    if (status == STATUS_OK)
        *to = (size_t)one.item[0];
    numbers_free(&one);
    return status;
}

/* A number of fp32 above 0, in decimal, up to `end`; 0: it is none. */
static float scale(const char *from, const char *end)
{
    char digits[64], *stop;
    size_t length = (size_t)(end - from);
    if (length == 0 || length >= sizeof digits || strspn(from, "0123456789.eE+-") < length)
        return 0;
    snprintf(digits, sizeof digits, "%.*s", (int)length, from);
    float x = strtof(digits, &stop);
    return *stop || !(x > 0) || isinf(x) ? 0 : x;
}

/* Scales by amax, by name. */
static const struct {
    const char *name;
    enum gemm_scaling scaling;
} by_amax[] = {
    {"auto", GEMM_SCALED_BY_AMAX}, {"outer", GEMM_SCALED_OUTER}, {"blocks", GEMM_SCALED_BLOCKS}};
enum { BY_AMAX = sizeof by_amax / sizeof *by_amax };

/* What stands behind `scale=`. */
static enum status scales(struct gemm_shape *s, const char *from, const char *end, const char *text,
                          struct problem *p)
{
    const size_t length = (size_t)(end - from);
    const char *between = memchr(from, 'x', length);
    for (int i = 0; i < BY_AMAX; i++)
        if (strlen(by_amax[i].name) == length && strncmp(from, by_amax[i].name, length) == 0) {
            s->scaling = by_amax[i].scaling;
            s->scale[0] = s->scale[1] = 0;
            return STATUS_OK;
        }
    s->scaling = GEMM_SCALED;
    s->scale[0] = between ? scale(from, between) : 0;
    s->scale[1] = between ? scale(between + 1, end) : 0;
    return s->scale[0] > 0 && s->scale[1] > 0
               ? STATUS_OK
               : problem(
                     p, STATUS_USAGE,
                     "option --shape: found '%s', expected scale=auto, scale=outer, scale=blocks, "
                     "or the scales of A and B as two numbers of fp32 above 0: scale=0.37x1.5",
                     text);
}

/* What stands behind the numbers, each behind a colon. */
static enum status options(struct gemm_shape *s, const char *at, const char *text,
                           struct problem *p)
{
    bool letters = false;
    while (*at == ':') {
        const char *word = at + 1, *end = word + strcspn(word, ":");
        at = end;
        if (strncmp(word, "pad=", 4) == 0) {
            enum status status = number(&s->pad, word + 4, end, text, p);
            if (status != STATUS_OK)
                return status;
            continue;
        }
        if (end - word == 3 && strncmp(word, "c=0", 3) == 0) {
            s->no_c = true;
            continue;
        }
        if (end - word == 5 && strncmp(word, "mixed", 5) == 0) {
            s->mixed = true;
            continue;
        }
        if (end - word == 4 && strncmp(word, "tf32", 4) == 0) {
            s->tf32 = true;
            continue;
        }
        if (strncmp(word, "scale=", 6) == 0) {
            enum status status = scales(s, word + 6, end, text, p);
            if (status != STATUS_OK)
                return status;
            continue;
        }
        if (letters || end - word != 2 || strspn(word, "nt") < 2)
            return refuse(text, p);
        letters = true;
        s->a_column = word[0] == 't';
        s->b_column = word[1] == 't';
    }
    return *at ? refuse(text, p) : STATUS_OK;
}

enum status shape_parse_all(struct gemm_shape *s, const char *text, struct problem *p)
{
    size_t *const to[] = {&s->m, &s->n, &s->k};
    const char *at = text;
    enum status status = STATUS_OK;
    *s = (struct gemm_shape){0};
    for (int i = 0; i < 3 && status == STATUS_OK; i++) {
        const char *end = at + strcspn(at, "x:");
        if (*end != (i < 2 ? 'x' : *end == ':' ? ':' : 0))
            return refuse(text, p);
        status = number(to[i], at, end, text, p);
        at = end + (i < 2);
    }
    if (status == STATUS_OK)
        status = options(s, at, text, p);
    if (status == STATUS_OK && gemm_elements(s) > MEMORY_ELEMENTS_MAX)
        status = problem(p, STATUS_USAGE,
                         "option --shape: found '%s', of %zu elements, expected at most %llu", text,
                         gemm_elements(s), (unsigned long long)MEMORY_ELEMENTS_MAX);
    return status;
}

const char *shape_expected(const struct gemm_shape *s)
{
    return s->mixed ? "matrices of one format: run gemm alone multiplies mixed ones, on the CPU"
           : s->scaling != GEMM_UNSCALED ? "matrices without scales: run gemm alone takes them"
           : s->tf32 ? "matrices as they are stored: run gemm alone rounds them to tf32, on the CPU"
                     : NULL;
}

const char *shape_asked(const struct gemm_shape *s)
{
    return s->mixed  ? "no method on a GPU multiplies matrices of two formats"
           : s->tf32 ? "no method on a GPU is tried with matrices rounded to tf32"
                     : "on a GPU run gemm alone takes scales";
}

enum status shape_parse(struct gemm_shape *s, const char *text, struct problem *p)
{
    enum status status = shape_parse_all(s, text, p);
    if (status == STATUS_OK && shape_expected(s))
        status = problem(p, STATUS_USAGE, "option --shape: found '%s', expected %s", text,
                         shape_expected(s));
    return status;
}

enum status chip_parse(const char **chip, const char *text, struct problem *p)
{
    struct text known = {0};
    const char *one;
    *chip = mma_chip_named(text);
    if (*chip)
        return STATUS_OK;
    for (size_t i = 0; (one = mma_chip(i)); i++)
        text_format(&known, "%s%s", i == 0 ? "" : mma_chip(i + 1) ? ", " : " or ", one);
    enum status status = near_unknown_option(p, "chip", text, text_string(&known));
    text_free(&known);
    return status;
}

void shape_scale_name(char text[16], float x)
{
    int digits = 1;
    do
        snprintf(text, 16, "%.*g", digits, (double)x);
    while (strtof(text, NULL) != x && ++digits <= 9);
}

void shape_name(char text[SHAPE_NAME], const struct gemm_shape *s)
{
    char pad[32] = "", scales[48] = "", of_a[16], of_b[16];
    if (s->pad)
        snprintf(pad, sizeof pad, ":pad=%zu", s->pad);
    if (s->scaling == GEMM_SCALED) {
        shape_scale_name(of_a, s->scale[0]);
        shape_scale_name(of_b, s->scale[1]);
        snprintf(scales, sizeof scales, ":scale=%sx%s", of_a, of_b);
    }
    for (int i = 0; i < BY_AMAX; i++)
        if (by_amax[i].scaling == s->scaling)
            snprintf(scales, sizeof scales, ":scale=%s", by_amax[i].name);
    snprintf(text, SHAPE_NAME, "%zux%zux%zu%s%s%s%s%s%s", s->m, s->n, s->k,
             s->a_column   ? s->b_column ? ":tt" : ":tn"
             : s->b_column ? ":nt"
                           : "",
             pad, s->no_c ? ":c=0" : "", s->mixed ? ":mixed" : "", scales, s->tf32 ? ":tf32" : "");
}

struct gemm_shape shape_fitting(size_t n, size_t u, bool no_c)
{
    static const struct {
        size_t m, n;
    } sides[] = {{8, 8}, {24, 24}, {1, 16}, {16, 1}};
    struct gemm_shape s = {.m = sides[u % 4].m,
                           .n = sides[u % 4].n,
                           .a_column = u / 4 & 1,
                           .b_column = u / 4 & 2,
                           .pad = u / 4 % 3,
                           .k = no_c, /* for a start: one, where C does not take room */
                           .no_c = no_c};
    while (gemm_elements(&s) > n / 2 && s.m * s.n > 1) {
        s.m = s.m > 1 ? s.m / 2 : 1;
        s.n = s.n > 1 ? s.n / 2 : 1;
    }
    if (s.m * s.n == 1)
        s.pad = 0;
    size_t c = no_c ? 0 : s.m * s.n;
    if (n < c)
        return (struct gemm_shape){0};
    size_t lines = (s.a_column ? s.m + s.pad : s.m) + (s.b_column ? s.n : s.n + s.pad);
    size_t room = n - c, padding = (s.a_column ? 0 : s.m) + (s.b_column ? s.n : 0);
    if (room < padding * s.pad)
        s.pad = 0;
    s.k = (room - padding * s.pad) / (s.pad ? lines : s.m + s.n);
    return s;
}
