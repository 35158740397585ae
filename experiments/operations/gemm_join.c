#include "experiments/operations/gemm_join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Their shapes, as the files have them or, where they are no matrices, as --shape says. */
static enum status fit(struct gemm_shape *s, const struct data part[2],
                       const struct setting_axes *axes, struct problem *p)
{
    const struct data *a = &part[0], *b = &part[1];
    if (axes->shapes > 1)
        return problem(p, STATUS_USAGE, "option --shape: found %zu shapes, expected one",
                       axes->shapes);
    if (axes->shapes == 1) {
        char text[SHAPE_NAME];
        *s = axes->shape[0];
        shape_name(text, s);
        size_t in_a = gemm_b_begins(s), in_b = gemm_c_begins(s) - in_a;
        return a->array.n == in_a && b->array.n == in_b
                   ? STATUS_OK
                   : problem(p, STATUS_USAGE,
                             "option --shape: found %s with %s of %zu and %s of %zu elements, "
                             "expected %zu and %zu",
                             text, a->name, a->array.n, b->name, b->array.n, in_a, in_b);
    }
    for (size_t i = 0; i < 2; i++)
        if (part[i].array.n == 0)
            return problem(p, STATUS_DATA, "%s: found no elements, expected a matrix that has some",
                           part[i].name);
    for (size_t i = 0; i < 2; i++)
        if (part[i].rows == 0)
            return problem(p, STATUS_DATA,
                           "%s: found %zu elements and no matrix, expected two dimensions, or "
                           "--shape MxNxK",
                           part[i].name, part[i].array.n);
    *s = (struct gemm_shape){.m = a->rows, .k = a->array.n / a->rows, .n = b->array.n / b->rows};
    if (b->rows != s->k) {
        char as_lies[5 * 24] = "";
        if (s->n == s->k)
            snprintf(as_lies, sizeof as_lies, "; if B lies by columns, add --shape %zux%zux%zu:nt",
                     s->m, b->rows, s->k);
        return problem(p, STATUS_DATA,
                       "%s x %s: found matrices of %zu x %zu and %zu x %zu, expected as many rows "
                       "of B as A has columns%s",
                       a->name, b->name, s->m, s->k, b->rows, s->n, as_lies);
    }
    return s->m > SHAPE_MOST || s->n > SHAPE_MOST || s->k > SHAPE_MOST
               ? problem(p, STATUS_DATA, "%s x %s: found %zu x %zu x %zu, expected at most %d each",
                         a->name, b->name, s->m, s->n, s->k, SHAPE_MOST)
               : STATUS_OK;
}

/* B behind A, in the format of both or, where these differ, as fp64. */
static bool behind(struct array *to, const struct array *a, const struct array *b)
{
    const enum format f = a->format == b->format ? a->format : FP64;
    *to = (struct array){f, a->n + b->n, malloc(array_bytes(f, a->n + b->n) + 1)};
    if (to->data && a->format == b->format) {
        memcpy(to->data, a->data, array_bytes(f, a->n));
        memcpy((char *)to->data + array_bytes(f, a->n), b->data, array_bytes(f, b->n));
    }
    for (size_t i = 0; to->data && a->format != b->format && i < to->n; i++)
        array_encode(to, i, 1, &(double){i < a->n ? array_get(a, i) : array_get(b, i - a->n)});
    return to->data;
}

/* The array's hash, and that of its scales; NULL: it has none. */
static void go_with(struct data *to, const struct given_scales *scales)
{
    const XXH128_hash_t hash =
        XXH3_128bits(to->array.data, array_bytes(to->array.format, to->array.n));
    snprintf(to->hash, sizeof to->hash, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
    to->with = scales ? "scales" : NULL;
    memcpy(to->beside, scales ? scales->hash : "", scales ? sizeof to->beside : 1);
}

static enum status join_two(struct data *to, const struct data part[2],
                            const struct given_scales *scales, struct problem *p)
{
    const struct array *a = &part[0].array, *b = &part[1].array;
    const struct array *wide_a = part[0].wide.data ? &part[0].wide : a;
    const struct array *wide_b = part[1].wide.data ? &part[1].wide : b;
    bool good = behind(&to->array, a, b);
    if (good && (wide_a != a || wide_b != b))
        good = behind(&to->wide, wide_a, wide_b);
    if (!good || asprintf(&to->name, "%s x %s%s%s", part[0].name, part[1].name,
                          scales ? ":scales=" : "", scales ? scales->name : "") < 0) {
        free(to->array.data);
        free(to->wide.data);
        *to = (struct data){0};
        return problem(p, STATUS_MEMORY, "%s x %s: out of memory", part[0].name, part[1].name);
    }
    to->file_format = part[0].file_format;
    go_with(to, scales);
    return STATUS_OK;
}

/* One file of A, B and C, which has scales. */
static enum status scale_one(struct data *to, const struct data *part, struct setting_axes *axes,
                             struct problem *p)
{
    const struct array *from = &part->array;
    const size_t bytes = array_bytes(from->format, from->n);
    enum status status = scales_take(&axes->given, &axes->shape[0], part, 1, &axes->scales, p);
    if (status != STATUS_OK)
        return status;
    to->array = (struct array){from->format, from->n, malloc(bytes + 1)};
    if (!to->array.data || asprintf(&to->name, "%s:scales=%s", part->name, axes->given->name) < 0) {
        free(to->array.data);
        *to = (struct data){0};
        return problem(p, STATUS_MEMORY, "%s: out of memory", part->name);
    }
    memcpy(to->array.data, from->data, bytes);
    to->file_format = part->file_format;
    go_with(to, axes->given);
    return STATUS_OK;
}

enum status gemm_join(struct data *to, const struct data *part, size_t parts,
                      struct setting_axes *axes, struct problem *p)
{
    struct gemm_shape shape;
    if (parts == 1 && axes && axes->scales.count > 0 && axes->shapes == 1)
        return scale_one(to, part, axes, p);
    if (parts != 2)
        return problem(p, STATUS_USAGE, "option --data: found %zu arrays, expected two, A and B",
                       parts);
    if (part[0].array.format != part[1].array.format)
        return problem(p, STATUS_DATA,
                       "%s x %s: found elements of %s and of %s, expected one format", part[0].name,
                       part[1].name, format_facts[part[0].array.format].name,
                       format_facts[part[1].array.format].name);
    enum status status = axes ? fit(&shape, part, axes, p) : STATUS_OK;
    if (status == STATUS_OK && axes && axes->scales.count > 0)
        status = scales_take(&axes->given, &shape, part, parts, &axes->scales, p);
    if (status == STATUS_OK && axes && axes->shapes == 0) {
        free(axes->shape);
        axes->shape = malloc(sizeof *axes->shape);
        if (!axes->shape)
            return problem(p, STATUS_MEMORY, "out of memory for a shape");
        axes->shapes = 1;
    }
    if (status == STATUS_OK && axes)
        axes->shape[0] = shape;
    return status == STATUS_OK ? join_two(to, part, axes ? axes->given : NULL, p) : status;
}
