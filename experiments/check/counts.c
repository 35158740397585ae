/* For which numbers of rows do bits change? A few rows of a case are computed in batches of each
 * number that is asked for, which hold copies of them in turn, and for a matrix product all of its
 * columns. Numbers of rows that give the same bits are of one kind. What has few significant bits
 * comes first, and once two kinds are known, what lies between them. */
#include "experiments/check/batches.h"

#include <stdio.h>
#include <stdlib.h>

#include "experiments/system/clock.h"
#include "experiments/system/memory.h"
#include "reference/base/grow.h"
#include "reference/format/hash_array.h"

/* --- which is next --- */

/* A switch of kernels lies at a round number as a rule: powers of two, their neighbours, then what
 * has two significant bits, three, ... */
static unsigned roundness(uint64_t rows)
{
    uint64_t odd = rows >> __builtin_ctzll(rows);
    bool beside = ((rows + 1) & rows) == 0 || ((rows - 1) & (rows - 2)) == 0;
    unsigned bits = 64 - (unsigned)__builtin_clzll(odd);
    return odd == 1 ? 0 : beside ? 1 : bits;
}

static int by_roundness(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    unsigned of_x = roundness(x), of_y = roundness(y);
    return of_x != of_y ? (of_x > of_y) - (of_x < of_y) : (x > y) - (x < y);
}

static size_t index_of(const struct numbers *rows, uint64_t value)
{
    const uint64_t *at =
        bsearch(&value, rows->item, rows->count, sizeof *rows->item, check_ascending);
    return (size_t)(at - rows->item);
}

/* --- one pass over them --- */

enum { ROWS_FOLLOWED = 16, OUTPUTS_FOLLOWED = 64, SWITCHES = 64, AGAIN = 3 };

struct pass {
    const struct check *check;
    const struct check_batches *asked;
    struct batch_table now;
    struct check_outcome own; /* its first outputs are those of the least number of rows */
    uint64_t *order;
    struct gap {
        size_t low, high; /* of two kinds, and nothing tried between them */
    } * gap;
    size_t gaps, switches;
    size_t largest; /* batch so far, and what it took */
    double took_ns;
};

/* The rows followed, as they are in a batch of a number of rows. */
struct found {
    struct array outputs, other; /* other: of the first number of rows, where copies differ */
    bool some;
    size_t place[ROWS_FOLLOWED]; /* of each row in the batch; in that of `other` */
    bool moved[ROWS_FOLLOWED];   /* does it differ from the first outputs? */
};

static size_t columns_of(const struct check *c)
{
    return setting_batch(c->request->method->operation, &c->at.setting, c->at.n).side[1];
}

static size_t rows_followed(size_t rows, size_t columns)
{
    size_t due = columns ? (OUTPUTS_FOLLOWED + columns - 1) / columns : 1;
    due = due < ROWS_FOLLOWED ? due : ROWS_FOLLOWED;
    return rows < due ? rows : due;
}

size_t check_batches_rounds(const struct check *c, const struct check_case *k)
{
    struct batch_place is = setting_batch(c->request->method->operation, &k->setting, k->n);
    size_t each = rows_followed(is.side[0], is.side[1]);
    return each ? (is.side[0] + each - 1) / each : 0;
}

static uint64_t bits_at(const struct array *a, size_t i)
{
    return format_canonical(a->format, array_bits(a, i));
}

static bool row_differs(const struct array *a, const struct array *b, size_t row, size_t columns)
{
    for (size_t j = row * columns; j < (row + 1) * columns; j++)
        if (bits_at(a, j) != bits_at(b, j))
            return true;
    return false;
}

/* Of the copies of a row the first, but one that differs from the first outputs before others. */
static enum status look(const struct pass *s, struct found *f, const struct array *out,
                        const struct surrounding *is, const struct batch_place *at, size_t start,
                        struct problem *p)
{
    const struct operation *o = s->check->request->method->operation;
    const struct array *base = s->own.first.data ? &s->own.first : NULL;
    const size_t columns = s->now.columns;
    struct array one;
    enum status status = memory_array(&one, out->format, s->now.rows * columns, "a row", p);
    for (size_t r = 0; status == STATUS_OK && r < at->side[0]; r++) {
        const size_t row = start + r % at->turns;
        for (size_t j = 0; j < columns; j++)
            array_set_bits(&one, row * columns + j,
                           array_bits(out, setting_item_output(o, is, at, r * columns + j)));
        const bool first = r < at->turns,
                   differs = !first && row_differs(&one, &f->outputs, row, columns),
                   moved = base && row_differs(&one, base, row, columns);
        f->some |= differs;
        struct array *to = first || (moved && !f->moved[row]) ? &f->outputs : NULL;
        if (differs && !base && !f->other.data) {
            status = memory_array(&f->other, out->format, one.n, "a row", p);
            if (status == STATUS_OK)
                memcpy(f->other.data, f->outputs.data, array_bytes(one.format, one.n));
            to = status == STATUS_OK ? &f->other : NULL;
        }
        for (size_t j = row * columns; to && j < (row + 1) * columns; j++)
            array_set_bits(to, j, array_bits(&one, j));
        if (to) {
            f->place[row] = r;
            f->moved[row] = moved;
        }
    }
    free(one.data);
    return status;
}

static bool can_be(const struct check *c, struct surrounding *is, const struct batch_place *at)
{
    /* A layout that they do not fit would be another one. */
    return setting_in_batch(is, c->request->method->operation, &c->at.setting, at) &&
           is->setting.layout == c->at.setting.layout;
}

static struct batch_place place_of(const struct pass *s, size_t rows, size_t start)
{
    const size_t left = s->now.rows - start;
    return (struct batch_place){.side = {rows, s->now.columns},
                                .terms = s->now.terms,
                                .layout = BATCH_AS_IS,
                                .of = {s->now.row + start, 0},
                                .turns = rows < left ? rows : left};
}

/* Rows `start` to ... of those followed, as many as there are in the batch. */
static enum status run_part(const struct pass *s, struct found *f, size_t rows, size_t start,
                            struct problem *p)
{
    const struct check *c = s->check;
    const struct batch_place at = place_of(s, rows, start);
    struct surrounding is;
    struct array out;
    struct check other = *c;
    can_be(c, &is, &at);
    enum status status = memory_array(&other.in, c->in.format, is.n, "a batch", p);
    if (status != STATUS_OK)
        return status;
    other.at.n = is.n;
    other.at.setting = is.setting;
    status = check_run_batch(c, &other, &is, &at, 0, &out, p);
    free(other.in.data);
    if (status != STATUS_OK)
        return status;
    status = look(s, f, &out, &is, &at, start, p);
    free(out.data);
    return status;
}

static enum status run_rows(const struct pass *s, struct found *f, size_t rows, struct problem *p)
{
    *f = (struct found){0};
    enum status status = memory_array(&f->outputs, s->check->at.setting.output,
                                      s->now.rows * s->now.columns, "outputs", p);
    for (size_t start = 0; status == STATUS_OK && start < s->now.rows; start += rows)
        status = run_part(s, f, rows, start, p);
    if (status != STATUS_OK) {
        free(f->outputs.data);
        free(f->other.data);
    }
    return status;
}

static size_t kind_of(struct batch_table *t, const struct array *base, const struct found *f)
{
    struct batch_kind is = {.digest = hash_array(&f->outputs), .some = f->some};
    for (size_t i = 0; i < t->kinds; i++)
        if (memcmp(&t->is[i].digest, &is.digest, sizeof is.digest) == 0 && t->is[i].some == is.some)
            return i;
    for (size_t i = 0; base && i < f->outputs.n; i++) {
        uint64_t was = bits_at(base, i), now = bits_at(&f->outputs, i);
        if (was != now && is.differing++ == 0) {
            is.row = t->row + i / t->columns;
            is.column = i % t->columns;
            is.bits[0] = was;
            is.bits[1] = now;
        }
    }
    if (!grow(&t->is, t->kinds, sizeof *t->is))
        return SIZE_MAX;
    t->is[t->kinds] = is;
    return t->kinds++;
}

/* Hands the outputs over to be compared with the first ones, and what copies of the rows gave that
 * differ from those. */
static enum status compare(const struct pass *s, struct check_outcome *o, struct found *f,
                           size_t rows, struct problem *p)
{
    o->now = (struct check_variant){.place = place_of(s, rows, 0)};
    enum status status =
        check_take(s->check, o, &f->outputs, 0, p, "%zu row%s", rows, text_s(rows));
    if (status == STATUS_OK && f->other.data)
        return check_take(s->check, o, &f->other, 0, p, "another of %zu rows", rows);
    free(f->other.data);
    return status;
}

static enum status no_memory(struct problem *p)
{
    return problem(p, STATUS_MEMORY, "check: out of memory for numbers of rows");
}

/* What lies between this and its neighbours of another kind is next. */
static enum status note_gaps(struct pass *s, size_t i, struct problem *p)
{
    const uint32_t *kind = s->now.kind;
    const size_t count = s->asked->rows.count;
    size_t low = i, high = i + 1;
    while (low > 0 && (kind[low - 1] == BATCH_UNTRIED || kind[low - 1] == BATCH_CANNOT))
        low--;
    while (high < count && (kind[high] == BATCH_UNTRIED || kind[high] == BATCH_CANNOT))
        high++;
    const struct gap gap[] = {{low - 1, i}, {i, high}};
    const bool is[] = {low > 0 && kind[low - 1] != kind[i], high < count && kind[high] != kind[i]};
    for (size_t k = 0; k < 2 && s->switches < SWITCHES; k++) {
        if (!is[k] || gap[k].high - gap[k].low < 2)
            continue;
        if (!grow(&s->gap, s->gaps, sizeof *s->gap))
            return no_memory(p);
        s->gap[s->gaps++] = gap[k];
    }
    s->switches += is[0] || is[1];
    return STATUS_OK;
}

static enum status try_rows(struct pass *s, size_t i, struct problem *p)
{
    const size_t rows = (size_t)s->asked->rows.item[i];
    struct found f;
    uint64_t begin = clock_ns();
    enum status status = run_rows(s, &f, rows, p);
    if (status != STATUS_OK)
        return status;
    size_t kind = kind_of(&s->now, s->own.first.data ? &s->own.first : NULL, &f);
    if (kind == SIZE_MAX)
        return no_memory(p);
    s->now.kind[i] = 1 + (uint32_t)kind;
    s->now.tried++;
    status = compare(s, &s->own, &f, rows, p);
    if (rows >= s->largest) {
        s->largest = rows;
        s->took_ns = (double)(clock_ns() - begin);
    }
    return status == STATUS_OK ? note_gaps(s, i, p) : status;
}

/* --- while there is time --- */

/* What is left for the case at hand; with few attempts some more. */
static double time_left(const struct pass *s)
{
    const struct check *c = s->check;
    uint64_t now = clock_ns(),
             end = s->own.attempts < CHECK_LEAST && c->least > c->until ? c->least : c->until;
    return end > now ? (double)(end - now) : 0;
}

/* What so many rows take, by the largest batch so far; few of them are several runs. */
static double takes_ns(const struct pass *s, size_t rows)
{
    const size_t due = s->now.rows, largest = s->largest ? s->largest : 1;
    double runs = (double)(rows < due ? (due + rows - 1) / rows : 1),
           were = (double)(largest < due ? (due + largest - 1) / largest : 1);
    return s->took_ns * runs * (double)rows / (were * (double)largest);
}

static enum status try_in_time(struct pass *s, size_t i, struct problem *p)
{
    const struct check *c = s->check;
    const size_t rows = (size_t)s->asked->rows.item[i];
    char words[CHECK_WORDS];
    if (s->now.kind[i] != BATCH_UNTRIED || takes_ns(s, rows) > time_left(s))
        return STATUS_OK;
    snprintf(words, sizeof words, "batches of %zu row%s", rows, text_s(rows));
    if (c->request->show)
        c->request->show(c->request->context, c->request->method, words,
                         c->end > clock_ns() ? (double)(c->end - clock_ns()) / 1e9 : 0);
    return try_rows(s, i, p);
}

/* Both may have been tried since, and what lies between them. */
static enum status close_gaps(struct pass *s, struct problem *p)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && s->gaps > 0 && time_left(s) > 0 && !check_stopped(s->check)) {
        struct gap gap = s->gap[--s->gaps];
        status = try_in_time(s, gap.low + (gap.high - gap.low) / 2, p);
    }
    return status;
}

static enum status try_each(struct pass *s, struct problem *p)
{
    const struct numbers *rows = &s->asked->rows;
    size_t first = 0;
    while (first < rows->count && s->now.kind[first] == BATCH_CANNOT)
        first++;
    enum status status = first < rows->count ? try_rows(s, first, p) : STATUS_OK;
    for (size_t i = 0;
         status == STATUS_OK && i < rows->count && time_left(s) > 0 && !check_stopped(s->check);
         i++) {
        status = try_in_time(s, index_of(rows, s->order[i]), p);
        if (status == STATUS_OK)
            status = close_gaps(s, p);
    }
    for (size_t i = 0; i < rows->count; i++)
        if (s->now.kind[i] == BATCH_UNTRIED)
            s->now.needed_s += takes_ns(s, (size_t)rows->item[i]) / 1e9;
    return status;
}

/* --- the smallest two that differ --- */

/* Where what differs lies: its row and column of the case, and of the batch. */
static void name_output(const struct pass *s, struct check_break *b, size_t which,
                        const struct found *f, size_t rows)
{
    const struct check *c = s->check;
    const size_t row = b->index / s->now.columns, column = b->index % s->now.columns;
    struct surrounding is;
    struct batch_place at = place_of(s, rows, rows < s->now.rows ? row - row % rows : 0);
    can_be(c, &is, &at);
    at.of[0] = s->now.row + row;
    at.of[1] = column;
    at.at[0] = f->place[row];
    at.at[1] = column;
    b->variant[which].place = at;
    check_say_place(b->is[which], c, &at, &is.setting);
}

static bool same_again(const struct pass *s, size_t i, const struct found *f)
{
    const struct batch_kind *was = &s->now.is[s->now.kind[i] - 1];
    struct hash128 is = hash_array(&f->outputs);
    return memcmp(&is, &was->digest, sizeof is) == 0 && was->some == f->some;
}

/* Runs both again: of what gives other bits then, nothing is known to be due to the number of rows.
 */
static enum status run_least(struct pass *s, size_t low, size_t high, struct problem *p)
{
    const struct numbers *rows = &s->asked->rows;
    const size_t at[] = {low, high}, times = low == high ? 1 : 2;
    struct pass again = *s;
    struct found f[2];
    enum status status = STATUS_OK;
    again.own = (struct check_outcome){0};
    for (size_t k = 0; k < times && status == STATUS_OK; k++) {
        const size_t is = (size_t)rows->item[at[k]];
        status = run_rows(&again, &f[k], is, p);
        if (status != STATUS_OK)
            break;
        if (!same_again(s, at[k], &f[k]) && s->now.unsteady == 0)
            s->now.unsteady = is;
        status = compare(&again, &again.own, &f[k], is, p);
    }
    if (status == STATUS_OK && again.own.differing > 0) {
        struct check_break *b = &again.own.found;
        name_output(s, b, 0, &f[0], (size_t)rows->item[low]);
        name_output(s, b, 1, &f[times - 1], (size_t)rows->item[high]);
        if (times == 1) /* copies of one row, of which the other lies elsewhere */
            snprintf(b->is[0], CHECK_WORDS, "an earlier copy of it in the same batch");
        b->index += s->now.row * s->now.columns;
        s->own.found = *b;
    }
    check_outcome_free(&again.own);
    return status;
}

static enum status find_least(struct pass *s, struct problem *p)
{
    const struct numbers *rows = &s->asked->rows;
    const uint32_t *kind = s->now.kind;
    size_t low = 0, high;
    while (low < rows->count && (kind[low] == BATCH_UNTRIED || kind[low] == BATCH_CANNOT))
        low++;
    for (high = low + 1; high < rows->count; high++)
        if (kind[high] != BATCH_UNTRIED && kind[high] != BATCH_CANNOT && kind[high] != kind[low])
            break;
    if (low < rows->count && s->now.is[kind[low] - 1].some)
        high = low;
    if (low == rows->count || high == rows->count || s->own.differing == 0)
        return STATUS_OK;
    s->now.least[0] = (size_t)rows->item[low];
    s->now.least[1] = (size_t)rows->item[high];
    enum status status = STATUS_OK;
    for (size_t i = 0; i < AGAIN && status == STATUS_OK && s->now.unsteady == 0; i++)
        status = run_least(s, low, high, p);
    return status;
}

static enum status begin(struct pass *s, struct problem *p)
{
    const struct check *c = s->check;
    const struct numbers *rows = &s->asked->rows;
    struct batch_place is = setting_batch(c->request->method->operation, &c->at.setting, c->at.n);
    size_t each = rows_followed(is.side[0], is.side[1]), rounds = check_batches_rounds(c, &c->at);
    s->now = (struct batch_table){.at = c->at,
                                  .columns = columns_of(c),
                                  .terms = is.terms,
                                  .row = rounds ? c->at.round % rounds * each : 0};
    size_t left = is.side[0] - s->now.row;
    s->now.rows = each < left ? each : left;
    s->now.kind = calloc(rows->count, sizeof *s->now.kind);
    s->order = malloc(rows->count * sizeof *s->order);
    if (!s->now.kind || !s->order)
        return no_memory(p);
    memcpy(s->order, rows->item, rows->count * sizeof *s->order);
    qsort(s->order, rows->count, sizeof *s->order, by_roundness);
    for (size_t i = 0; i < rows->count; i++) {
        struct surrounding at;
        const struct batch_place place = place_of(s, (size_t)rows->item[i], 0);
        if (!can_be(c, &at, &place))
            s->now.kind[i] = BATCH_CANNOT;
        s->now.asked += s->now.kind[i] != BATCH_CANNOT;
    }
    for (size_t i = 0; i < s->now.rows * s->now.columns; i++)
        check_note_followed(c, (size_t[]){s->now.row + i / s->now.columns, i % s->now.columns});
    return STATUS_OK;
}

enum status check_batches_try(const struct check *c, struct check_outcome *o, struct problem *p)
{
    struct pass s = {.check = c, .asked = c->request->batches};
    struct problem other = {0};
    enum status status = begin(&s, p);
    if (status == STATUS_OK && s.now.rows * s.now.columns > 0)
        status = try_each(&s, p);
    if (status == STATUS_OK)
        status = find_least(&s, p);
    /* What a run failed in keeps what was found before. */
    if (s.now.tried > 0) {
        enum status kept =
            check_batches_keep(c->request->batches, &s.now, status == STATUS_OK ? p : &other);
        status = status == STATUS_OK ? kept : status;
    }
    if (s.own.first.data)
        check_join(o, &s.own);
    check_outcome_free(&s.own);
    batch_table_free(&s.now);
    free(s.order);
    free(s.gap);
    return status;
}
