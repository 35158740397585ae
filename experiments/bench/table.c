#include "experiments/bench/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/base/grow.h"
#include "experiments/cases/axes.h"
#include "reports/text/table.h"

enum table_kind {
    TABLE_SUMS,
    TABLE_INCLUSIVE,
    TABLE_EXCLUSIVE,
    TABLE_MOVES,
    TABLE_SCATTERS,
    TABLE_COPY
};

enum { KEYS_SHOWN = 40 };

struct bench_line {
    char place[INPUT_TEXT + DEVICE_TEXT + KEYS_SHOWN + 32]; /* "cpu, uniform" */
    enum table_kind kind;                                   /* of the table that it belongs to */
    struct bench_row row;
    enum format storage;
    size_t n;
    bool in_cache, drawn;
    double bytes, of_copy;
};

static enum table_kind kind_of(const struct bench_row *row)
{
    if (row->kind == BENCH_COPY)
        return TABLE_COPY;
    if (row->setting.keys)
        return TABLE_SCATTERS;
    if (row->method && operation_asks(row->method->operation, SETTING_SCAN))
        return row->setting.exclusive ? TABLE_EXCLUSIVE : TABLE_INCLUSIVE;
    return bench_writes(row) ? TABLE_MOVES : TABLE_SUMS;
}

void bench_table_add(struct bench_table *t, const struct bench_input *in,
                     const struct bench_row *row)
{
    if (!grow(&t->line, t->count, sizeof *t->line)) {
        t->failed = true;
        return;
    }
    struct bench_line *line = &t->line[t->count++];
    char device[DEVICE_TEXT];
    device_name(in->device, device);
    *line = (struct bench_line){.kind = kind_of(row),
                                .row = *row,
                                .storage = in->array.format,
                                .n = in->array.n,
                                .in_cache = in->in_cache,
                                .bytes = bench_bytes(in, row),
                                .of_copy = bench_of_copy(in, row)};
    if (in->keys)
        snprintf(line->place, sizeof line->place, "%s, %s, keys %.*s, %zu bins", device, in->name,
                 KEYS_SHOWN, in->keys->name, in->bins);
    else
        snprintf(line->place, sizeof line->place, "%s, %s", device, in->name);
}

/* Is line i one of the table that begins with a line of this place and kind? A copy is in that of
 * every kind of scan of its round. */
static bool belongs(const struct bench_table *t, size_t i, const struct bench_line *first)
{
    const struct bench_line *line = &t->line[i];
    if (strcmp(line->place, first->place) != 0)
        return false;
    if (line->kind != TABLE_COPY || first->kind == TABLE_SUMS)
        return line->kind == first->kind;
    for (size_t k = 0; k < t->count; k++)
        if (t->line[k].row.round == line->row.round && t->line[k].kind == first->kind)
            return true;
    return false;
}

static void cell_formats(struct table *to, const struct bench_line *line)
{
    const char *storage = format_facts[line->storage].name;
    const struct bench_row *row = &line->row;
    if (!row->method)
        table_cell(to, "%s", storage);
    else if (line->kind != TABLE_INCLUSIVE && line->kind != TABLE_EXCLUSIVE)
        table_cell(to, "%s/%s", storage, format_facts[row->accumulator].name);
    else
        table_cell(to, "%s/%s/%s", storage, format_facts[row->accumulator].name,
                   format_facts[row->setting.output].name);
}

/* Where it is not the accumulator that was asked for. */
static void cell_added_in(struct table *to, const struct bench_row *row)
{
    char in[ADDED_IN_TEXT] = "";
    if (row->method && row->method->addition != ADDITION_NONE)
        method_added_in(in, row->method, row->accumulator);
    bool same = !row->method || strcmp(in, format_facts[row->accumulator].name) == 0;
    table_cell(to, "%s", same ? "" : in);
}

/* A power of two as options take it. */
static void cell_n(struct table *to, size_t n)
{
    if (n > 1000 && (n & (n - 1)) == 0)
        table_cell(to, "2^%d", __builtin_ctzll(n));
    else
        table_cell(to, "%zu", n);
}

static void cell_whole(struct table *to, size_t n)
{
    if (n > 0)
        table_cell(to, "%zu", n);
    else
        table_cell(to, "%s", "");
}

/* With the decimals that there is room for; nothing where it is not known. */
static void cell_real(struct table *to, double x)
{
    if (x > 0)
        table_cell(to, x < 1e-3 ? "%.1g" : x < 10 ? "%.3f" : x < 1e5 ? "%.1f" : "%.0f", x);
    else
        table_cell(to, "%s", "");
}

/* How far the ends of the median's interval are from it at most. */
static void cell_spread(struct table *to, const struct timing *t)
{
    double away = fmax(t->high_ns - t->median_ns, t->median_ns - t->low_ns);
    if (t->median_ns > 0 && t->high_ns > 0)
        table_cell(to, away < 0.1 * t->median_ns ? "+-%.2g%%" : "+-%.0f%%",
                   100 * away / t->median_ns);
    else
        table_cell(to, "%s", "");
}

/* How long the note is up to its colon; that of a layout, batch:4, has no blank behind it. */
static size_t first_words(const char *note)
{
    const char *colon = strstr(note, ": ");
    return colon ? (size_t)(colon - note) : strlen(note);
}

/* Of scatter-adds the column of the segments is one of elements. */
enum { SEGMENT = 3 };
static const char *const header[] = {"method",  "formats", "added_in",  "segment", "n",
                                     "threads", "blocks",  "time_us",   "95%",     "gb_per_s",
                                     "of_raw",  "of_copy", "of_vendor", "note"};

static void add_line(struct table *to, const struct bench_line *line)
{
    const struct bench_row *row = &line->row;
    double ns = row->time.median_ns;
    table_cell(to, "%s%s", bench_name(row), row->differing > 0 ? "!" : "");
    cell_formats(to, line);
    cell_added_in(to, row);
    if (line->kind == TABLE_SCATTERS)
        cell_real(to, ns > 0 ? (double)line->n / ns : 0);
    else
        cell_whole(to, row->setting.segment);
    cell_n(to, line->n);
    cell_whole(to, row->shape.threads);
    cell_whole(to, row->shape.blocks);
    cell_real(to, ns / 1e3);
    cell_spread(to, &row->time);
    cell_real(to, ns > 0 ? line->bytes / ns : 0);
    cell_real(to, ns > 0 ? row->raw_ns / ns : 0);
    cell_real(to, line->of_copy);
    cell_real(to, ns > 0 ? row->vendor_ns / ns : 0);
    table_cell(to, "%s%s%.*s", line->in_cache ? "cached" : "",
               line->in_cache && *row->note ? ", " : "", (int)first_words(row->note), row->note);
}

/* A broken promise, and what there was no room for. */
static void add_note(struct text *to, const struct bench_line *line)
{
    const struct bench_row *row = &line->row;
    if (row->differing > 0)
        text_format(to,
                    "! %s breaks its promise, run_to_run: %zu of %zu results differ\n  %s, %s/%s, "
                    "n = %zu\n",
                    bench_name(row), row->differing, row->looks, line->place,
                    format_facts[line->storage].name, format_facts[row->accumulator].name, line->n);
    if (row->time.repetitions > 0 || !row->note[first_words(row->note)])
        return;
    text_format(to, "%s, %s, n = %zu: %s\n", bench_name(row), format_facts[line->storage].name,
                line->n, row->note);
}

/* Were they timed in turn, on the same elements and formats, with the same to do? How fast a model
 * of a chip's instruction is says nothing of the chip. */
static bool comparable(const struct bench_line *a, const struct bench_line *b)
{
    return a->row.method && b->row.method && !a->row.setting.chip && !b->row.setting.chip &&
           a->row.time.high_ns > 0 && b->row.time.high_ns > 0 && strcmp(a->place, b->place) == 0 &&
           a->kind == b->kind && a->n == b->n && a->storage == b->storage &&
           a->row.round == b->row.round && a->row.accumulator == b->row.accumulator &&
           a->row.method->operation == b->row.method->operation &&
           a->row.setting.segment == b->row.setting.segment &&
           a->row.setting.output == b->row.setting.output && strcmp(a->row.note, b->row.note) == 0;
}

/* The first of those comparable with line i that has the least time. */
static bool is_fastest(const struct bench_table *t, size_t i)
{
    const struct bench_line *line = &t->line[i];
    bool others = false;
    for (size_t k = 0; k < t->count; k++) {
        if (k == i || !comparable(line, &t->line[k]))
            continue;
        double ns = t->line[k].row.time.median_ns, own = line->row.time.median_ns;
        if (ns < own || (ns == own && k < i))
            return false;
        others = true;
    }
    return others;
}

/* Who is the fastest, and who may be as fast: the intervals of their medians overlap. */
static void add_fastest(struct text *to, const struct bench_table *t, size_t i)
{
    const struct bench_line *line = &t->line[i];
    struct text words = {0};
    size_t open = 0;
    text_format(&words, "%s/%s, n = %zu: the fastest is %s", format_facts[line->storage].name,
                format_facts[line->row.accumulator].name, line->n, bench_name(&line->row));
    for (size_t k = 0; k < t->count; k++)
        if (k != i && comparable(line, &t->line[k]) &&
            t->line[k].row.time.low_ns <= line->row.time.high_ns)
            text_format(&words, "%s%s", open++ ? ", " : "; cannot be told apart from it: ",
                        bench_name(&t->line[k].row));
    text_wrapped(to, &words, TABLE_COLUMNS, 2);
}

/* A figure of the cache is none of the memory that the raw read stands for. */
static void add_above_raw(struct text *to, const struct bench_table *t,
                          const struct bench_line *first)
{
    static const double noise = 1.02;
    size_t cached = 0, others = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct bench_line *line = &t->line[i];
        double ns = line->row.time.median_ns;
        if (belongs(t, i, first) && ns > 0 && line->row.raw_ns > noise * ns)
            line->in_cache ? cached++ : others++;
    }
    if (cached > 0)
        text_add(to, "of_raw above 1: the data fit in the cache, where the instructions of the raw "
                     "read's plain loop,\n  not the memory, limit it; a larger --n tells how near "
                     "to the speed of memory a method is\n");
    else if (others > 0)
        text_add(to,
                 "of_raw above 1: the method reads faster than the raw read's plain loop with as "
                 "many threads\n");
}

static const char *title(const struct bench_table *t, const struct bench_line *first)
{
    static const char *const of[] = {"sums", "inclusive scans", "exclusive scans",
                                     "transpositions and compactions", "scatter-adds"};
    const char *is = of[first->kind];
    for (size_t i = 0; i < t->count && first->kind == TABLE_SUMS && strcmp(is, "sums") == 0; i++)
        if (belongs(t, i, first) && t->line[i].row.method)
            is = operation_plural(t->line[i].row.method->operation);
    return is;
}

static void draw_table(struct text *to, struct bench_table *t, const struct bench_line *first)
{
    bool scatters = first->kind == TABLE_SCATTERS;
    struct table table = {.align = "llLrrRRrrrrrrl"};
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        table_cell(&table, "%s", scatters && i == SEGMENT ? "elements_per_ns" : header[i]);
    for (size_t i = 0; i < t->count; i++)
        if (belongs(t, i, first)) {
            add_line(&table, &t->line[i]);
            t->line[i].drawn = true;
        }
    text_format(to, "%s: %s\n", first->place, title(t, first));
    for (size_t i = 0; i < t->count; i++)
        if (belongs(t, i, first) && is_fastest(t, i))
            add_fastest(to, t, i);
    table_draw(to, &table);
    table_free(&table);
    add_above_raw(to, t, first);
    for (size_t i = 0; i < t->count; i++)
        if (belongs(t, i, first))
            add_note(to, &t->line[i]);
}

/* Copies come with the tables of scans and scatter-adds. */
void bench_table_draw(struct text *to, struct bench_table *t)
{
    size_t tables = 0;
    to->failed |= t->failed;
    for (size_t i = 0; i < t->count; i++)
        if (!t->line[i].drawn && t->line[i].kind != TABLE_COPY) {
            text_add(to, tables++ > 0 ? "\n" : "");
            draw_table(to, t, &t->line[i]);
        }
}

void bench_table_free(struct bench_table *t)
{
    free(t->line);
    *t = (struct bench_table){0};
}
