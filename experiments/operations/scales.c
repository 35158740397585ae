#include "experiments/operations/scales.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "kernels/gemm/scales.h"

enum { EXPECTED_TEXT = 200 };

void scales_free(struct given_scales *g)
{
    if (!g)
        return;
    free(g->number[0]);
    free(g->number[1]);
    free(g->name);
    free(g);
}

static enum status no_memory(struct problem *p)
{
    return problem(p, STATUS_MEMORY, "out of memory for scales");
}

static size_t blocks_of(size_t count)
{
    return count == 0 ? 0 : (count - 1) / GEMM_SCALE_BLOCK + 1;
}

/* A's (0) or B's (1), and the array that a file has: `rows` x `columns`, or in one dimension. */
struct side {
    int which;
    size_t lines, k; /* rows of A, or columns of B, and elements of each */
    bool across;     /* in the file, lines are columns */
    const struct data *from;
    const char *path;
    size_t rows, columns;
};

static struct side side_of(const struct gemm_shape *s, int which, const struct data *from,
                           const char *path)
{
    const size_t n = from->array.n, rows = from->rows;
    return (struct side){.which = which,
                         .lines = which == 0 ? s->m : s->n,
                         .k = s->k,
                         .across = which == 0 ? s->a_column : !s->b_column,
                         .from = from,
                         .path = path,
                         .rows = rows,
                         .columns = rows == 0 ? n : n / rows};
}

/* --- what they are --- */

static enum status check_numbers(const struct side *m, struct problem *p)
{
    for (size_t i = 0; i < m->from->array.n; i++) {
        const double x = array_get(&m->from->array, i);
        if (!(x > 0 && isfinite(x)))
            return problem(p, STATUS_DATA,
                           "%s: found scale (%zu,%zu), of %c, to be %g, expected a finite number "
                           "above 0",
                           m->path, i / m->columns, i % m->columns, "AB"[m->which], x);
    }
    return STATUS_OK;
}

/* "3 x 200", as the file of the matrix lies. */
static void add_shape(char text[EXPECTED_TEXT], const struct side *m, const char *before,
                      size_t lines, size_t along, const char *behind)
{
    const size_t used = strlen(text);
    snprintf(text + used, EXPECTED_TEXT - used, "%s%zu x %zu%s", before, m->across ? along : lines,
             m->across ? lines : along, behind);
}

static enum status wrong_shape(const struct side *m, struct problem *p)
{
    char found[48], expected[EXPECTED_TEXT] = "", matrix[EXPECTED_TEXT] = "";
    snprintf(found, sizeof found, "%zu", m->columns);
    if (m->rows > 0)
        snprintf(found, sizeof found, "%zu x %zu", m->rows, m->columns);
    add_shape(matrix, m, "", m->lines, m->k, "");
    add_shape(expected, m, "", m->lines, 1, m->which == 0 ? " (one per row)" : " (one per column)");
    add_shape(expected, m, ", ", m->lines, blocks_of(m->k), " (one per 128 along k)");
    add_shape(expected, m, " or ", blocks_of(m->lines), blocks_of(m->k), " (one per 128 x 128)");
    return problem(p, STATUS_DATA, "%s: found %s scales for %c of %s, expected 1 number, %s",
                   m->path, found, "AB"[m->which], matrix, expected);
}

/* How many lines and terms share one; false: there is no such number of them. */
static bool deal(struct matrices_scales *to, const struct side *m)
{
    const size_t most = (size_t)-1;
    const bool flat = m->rows == 0;
    const size_t of_lines = flat || m->across ? m->columns : m->rows;
    const size_t along = flat ? 1 : m->across ? m->rows : m->columns;
    *to = (struct matrices_scales){.lines = of_lines == 1          ? most
                                            : of_lines == m->lines ? 1
                                                                   : GEMM_SCALE_BLOCK,
                                   .terms = along == 1 ? most : GEMM_SCALE_BLOCK,
                                   .along = along};
    const bool whole = along == 1 && (of_lines == 1 || of_lines == m->lines);
    return whole || (!flat && along == blocks_of(m->k) &&
                     (of_lines == m->lines || of_lines == blocks_of(m->lines)));
}

/* Line by line, each along k. */
static enum status order(float **to, const struct side *m, size_t along, struct problem *p)
{
    const size_t n = m->from->array.n;
    const float *from = m->from->array.data;
    *to = malloc(n * sizeof **to);
    if (!*to)
        return no_memory(p);
    for (size_t i = 0; i < n; i++)
        (*to)[i] = from[m->across && m->rows > 0 ? i % along * m->columns + i / along : i];
    return STATUS_OK;
}

static enum status read_one(struct given_scales *g, struct data_set *set, const char *path,
                            const struct gemm_shape *s, int which, struct problem *p)
{
    const struct data_options options = {
        .storage = FP32, .convert = true, .expected = "scales of fp32 or fp16: f4 or f2"};
    enum status status = data_read(set, path, &options, p);
    if (status != STATUS_OK)
        return status;
    if (set->count != 1)
        return problem(p, STATUS_USAGE,
                       "option --scales: found %zu arrays in %s, expected one: name it, %s:NAME",
                       set->count, path, path);
    const struct data *one = &set->item[0];
    const enum format f = one->file_format;
    if (f != FP32 && f != FP16 && f != BF16)
        return problem(p, STATUS_DATA, "%s: found scales of %s, expected fp32, fp16 or bf16", path,
                       format_facts[f].name);
    const struct side m = side_of(s, which, one, path);
    if (one->array.n == 0 || !deal(&g->of[which], &m))
        return wrong_shape(&m, p);
    status = check_numbers(&m, p);
    if (status == STATUS_OK)
        status = order(&g->number[which], &m, g->of[which].along, p);
    g->of[which].of = g->number[which];
    return status;
}

static enum status name_and_hash(struct given_scales *g, const struct data_set set[2],
                                 struct problem *p)
{
    uint64_t dealt[2][3];
    XXH3_state_t *state = XXH3_createState();
    if (!state || asprintf(&g->name, "%s,%s", set[0].item[0].name, set[1].item[0].name) < 0) {
        g->name = NULL;
        XXH3_freeState(state);
        return no_memory(p);
    }
    XXH3_128bits_reset(state);
    for (int i = 0; i < 2; i++) {
        const size_t n = set[i].item[0].array.n;
        dealt[i][0] = n;
        dealt[i][1] = g->of[i].lines;
        dealt[i][2] = g->of[i].terms;
        XXH3_128bits_update(state, g->number[i], n * sizeof *g->number[i]);
    }
    XXH3_128bits_update(state, dealt, sizeof dealt);
    const XXH128_hash_t hash = XXH3_128bits_digest(state);
    snprintf(g->hash, sizeof g->hash, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
    XXH3_freeState(state);
    return STATUS_OK;
}

static enum status read_both(struct given_scales *g, const struct gemm_shape *s,
                             const struct list *files, struct problem *p)
{
    struct data_set set[2] = {{0}, {0}};
    enum status status = STATUS_OK;
    for (int i = 0; i < 2 && status == STATUS_OK; i++)
        status = read_one(g, &set[i], files->item[i], s, i, p);
    if (status == STATUS_OK)
        status = name_and_hash(g, set, p);
    for (int i = 0; i < 2; i++)
        data_free(&set[i]);
    return status;
}

/* --- whose they are --- */

static enum status check_matrices(const struct data *part, size_t parts, struct problem *p)
{
    for (size_t i = 0; i < parts; i++) {
        const struct data *m = &part[i];
        if (m->converted)
            return problem(p, STATUS_USAGE,
                           "option --convert: found it with --scales, and %s, expected matrices "
                           "that are stored in e4m3 or e5m2: scales are of such elements",
                           m->name);
        if (m->array.format != E4M3 && m->array.format != E5M2)
            return problem(p, STATUS_DATA,
                           "%s: found elements of %s, expected e4m3 or e5m2: --scales are of 8-bit "
                           "matrices",
                           m->name, format_facts[m->array.format].name);
    }
    return STATUS_OK;
}

/* The shape with these scales; what it asks for already must be the same. */
static enum status scale(struct gemm_shape *s, const struct given_scales *g, struct problem *p)
{
    const struct gemm_shape asked = *s;
    const bool along = g->of[0].along > 1 || g->of[1].along > 1;
    const bool all = g->of[0].lines == (size_t)-1 && g->of[1].lines == (size_t)-1;
    s->scaling = along ? GEMM_SCALED_BLOCKS : all ? GEMM_SCALED : GEMM_SCALED_OUTER;
    for (int i = 0; i < 2; i++)
        s->scale[i] = s->scaling == GEMM_SCALED ? g->number[i][0] : 0;
    if (asked.scaling != GEMM_UNSCALED && !shape_equal(&asked, s)) {
        char found[SHAPE_NAME], expected[SHAPE_NAME];
        shape_name(found, &asked);
        shape_name(expected, s);
        return problem(p, STATUS_USAGE,
                       "option --shape: found '%s' with --scales, which are others, expected '%s'",
                       found, expected);
    }
    s->given = g->of;
    return STATUS_OK;
}

enum status scales_take(struct given_scales **g, struct gemm_shape *s, const struct data *part,
                        size_t parts, const struct list *files, struct problem *p)
{
    enum status status = check_matrices(part, parts, p);
    if (status != STATUS_OK || *g)
        return status;
    *g = calloc(1, sizeof **g);
    if (!*g)
        return no_memory(p);
    status = read_both(*g, s, files, p);
    return status == STATUS_OK ? scale(s, *g, p) : status;
}

/* --- of a part, and back to files --- */

enum status scales_part(struct given_scales **g, struct gemm_shape *is,
                        const struct gemm_shape *was, const size_t step[2], struct problem *p)
{
    const size_t most = (size_t)-1;
    *g = calloc(1, sizeof **g);
    if (!*g)
        return no_memory(p);
    for (int side = 0; side < 2; side++) {
        const struct matrices_scales *from = &was->given[side];
        const size_t lines = side == 0 ? is->m : is->n, count = from->lines == most ? 1 : lines;
        float *to = (*g)->number[side] = malloc((count * from->along + 1) * sizeof *to);
        if (!to)
            return no_memory(p);
        for (size_t i = 0; i < count * from->along; i++)
            to[i] = from->of[i / from->along * step[side] / from->lines * from->along +
                             i % from->along];
        (*g)->of[side] = *from;
        (*g)->of[side].of = to;
        (*g)->of[side].lines = from->lines == most ? most : 1;
    }
    is->given = (*g)->of;
    return STATUS_OK;
}

enum status scales_write(const char *path, const struct gemm_shape *s, int side, struct problem *p)
{
    const struct matrices_scales *from = &s->given[side];
    const size_t n = gemm_scales_count(s, side), lines = n / from->along;
    const bool across = side == 0 ? s->a_column : !s->b_column;
    float *to = malloc((n + 1) * sizeof *to);
    if (!to)
        return no_memory(p);
    for (size_t i = 0; i < n; i++)
        to[across ? i % from->along * lines + i / from->along : i] = from->of[i];
    enum status status =
        data_write_npy_rows(path, &(struct array){FP32, n, to}, across ? from->along : lines, p);
    free(to);
    return status;
}
