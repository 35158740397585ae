/* The numbers of rows that --batch asks for, and what came of them: with which of them bits change.
 */
#include "experiments/check/batches.h"

#include <stdlib.h>

#include "experiments/cases/axes.h"
#include "reference/base/grow.h"

/* --- what is asked for --- */

enum status check_read_batches(struct check_request *r, const struct request *q, struct problem *p)
{
    const struct list *words = &q->axis[AXIS_BATCH];
    enum status status = STATUS_OK;
    r->batches = NULL;
    if (words->count == 0)
        return STATUS_OK;
    struct check_batches *b = r->batches = calloc(1, sizeof *b);
    if (!b)
        return problem(p, STATUS_MEMORY, "check: out of memory");
    b->pairs_asked = q->axis[AXIS_FORMATS].count + q->axis[AXIS_STORAGE].count +
                         q->axis[AXIS_ACCUMULATOR].count >
                     0;
    for (size_t i = 0; i < words->count && status == STATUS_OK; i++)
        status =
            numbers_parse(&b->rows, "batch", words->item[i], RANGE_EVERY, 1, BATCH_ROWS_MOST, p);
    if (status != STATUS_OK)
        return status;
    size_t distinct = 0;
    qsort(b->rows.item, b->rows.count, sizeof *b->rows.item, check_ascending);
    for (size_t i = 0; i < b->rows.count; i++)
        if (distinct == 0 || b->rows.item[distinct - 1] != b->rows.item[i])
            b->rows.item[distinct++] = b->rows.item[i];
    b->rows.count = distinct;
    if (distinct < 2)
        return problem(p, STATUS_USAGE,
                       "option --batch: found one number of rows, %llu, expected two or more to "
                       "compare, such as 1,%llu or 1..64",
                       (unsigned long long)b->rows.item[0],
                       b->rows.item[0] > 1 ? (unsigned long long)b->rows.item[0] : 64);
    if (distinct > BATCH_COUNTS_MOST)
        return problem(p, STATUS_USAGE,
                       "option --batch: found %zu numbers of rows, expected at most %d", distinct,
                       BATCH_COUNTS_MOST);
    return status;
}

enum status check_batches_meant(const struct check_request *r, struct problem *p)
{
    return !r->batches || r->tried[CHECK_BATCH]
               ? STATUS_OK
               : problem(p, STATUS_USAGE,
                         "option --batch: found --only without batch, expected "
                         "batch_invariant/batch among what it names");
}

bool check_is_counted(const struct check_request *r, enum check_kind kind)
{
    return kind == CHECK_BATCH && r->batches && operation_sides(r->method->operation) > 0;
}

void batch_table_free(struct batch_table *t)
{
    free(t->kind);
    free(t->is);
    *t = (struct batch_table){0};
}

static void forget(struct check_batches *b)
{
    for (size_t i = 0; i < b->tables; i++)
        batch_table_free(&b->table[i]);
    free(b->table);
    b->table = NULL;
    b->tables = 0;
}

void check_batches_begin(struct check_batches *b, const struct pairs *pairs)
{
    forget(b);
    b->pairs = *pairs;
}

void check_batches_free(struct check_request *r)
{
    if (!r->batches)
        return;
    forget(r->batches);
    numbers_free(&r->batches->rows);
    free(r->batches);
    r->batches = NULL;
}

/* --- what came of it --- */

static bool is_like(const struct batch_table *a, const struct batch_table *b)
{
    const struct setting *x = &a->at.setting, *y = &b->at.setting;
    return a->at.pair.storage == b->at.pair.storage &&
           a->at.pair.accumulator == b->at.pair.accumulator && a->at.n == b->at.n &&
           a->columns == b->columns && a->terms == b->terms && x->layout == y->layout &&
           x->shape.a_column == y->shape.a_column && x->shape.b_column == y->shape.b_column &&
           x->shape.pad == y->shape.pad && x->shape.no_c == y->shape.no_c &&
           x->shape.mixed == y->shape.mixed && x->chip == y->chip && x->promote == y->promote;
}

/* Of several inputs the one that shows more differences, or was tried in more batches, stays. */
enum status check_batches_keep(struct check_batches *all, struct batch_table *now,
                               struct problem *p)
{
    size_t i = 0;
    while (i < all->tables && !is_like(&all->table[i], now))
        i++;
    if (i == all->tables) {
        if (!grow(&all->table, all->tables, sizeof *all->table))
            return problem(p, STATUS_MEMORY, "check: out of memory for numbers of rows");
        all->table[all->tables++] = (struct batch_table){0};
    }
    struct batch_table *t = &all->table[i];
    const size_t cases = t->cases + 1, unsteady = t->unsteady;
    bool more = now->kinds > t->kinds || (now->kinds == t->kinds && now->tried > t->tried);
    if (more) {
        batch_table_free(t);
        *t = *now;
        *now = (struct batch_table){0};
        t->unsteady = t->unsteady ? t->unsteady : unsteady;
    } else if (now->unsteady && !t->unsteady)
        t->unsteady = now->unsteady;
    t->cases = cases;
    return STATUS_OK;
}

/* --- ranges that gave the same bits --- */

struct ranges {
    struct batch_range *item;
    size_t count;
    bool failed;
};

static void add(struct ranges *to, size_t rows, uint32_t kind)
{
    to->failed |= !grow(&to->item, to->count, sizeof *to->item);
    if (!to->failed)
        to->item[to->count++] = (struct batch_range){rows, rows, 1, kind != BATCH_UNTRIED, kind};
}

static void join(struct batch_range *r, size_t rows, bool tried)
{
    r->last = rows;
    r->asked++;
    r->tried += tried;
}

/* What was not tried between two of one kind belongs to their range. */
static void close_gap(struct ranges *to)
{
    const struct batch_range *last = &to->item[to->count - 1];
    if (to->count < 3 || last[-1].kind != BATCH_UNTRIED || last[-2].kind != last->kind)
        return;
    struct batch_range *r = &to->item[to->count - 3];
    r->last = last->last;
    r->asked += last[-1].asked + last->asked;
    r->tried += last->tried;
    to->count -= 2;
}

/* What was tried without gaps at the begin of a range with gaps stands for itself. */
static void split(struct ranges *to, const struct check_batches *b, const struct batch_table *t,
                  const struct batch_range *r)
{
    size_t whole = 0, at = 0, last = 0;
    while (b->rows.item[at] < r->first)
        at++;
    for (; whole < r->tried && t->kind[at] != BATCH_UNTRIED; at++) {
        whole += t->kind[at] != BATCH_CANNOT;
        last = t->kind[at] != BATCH_CANNOT ? (size_t)b->rows.item[at] : last;
    }
    if (r->kind == BATCH_UNTRIED || r->tried == r->asked || whole < 2) {
        to->failed |= !grow(&to->item, to->count, sizeof *to->item);
        if (!to->failed)
            to->item[to->count++] = *r;
        return;
    }
    while (t->kind[at] == BATCH_CANNOT)
        at++;
    struct batch_range first = *r, rest = *r;
    first.last = last;
    first.asked = first.tried = whole;
    rest.first = (size_t)b->rows.item[at];
    rest.asked -= whole;
    rest.tried -= whole;
    const struct batch_range parts[] = {first, rest};
    for (size_t i = 0; i < 2; i++) {
        to->failed |= !grow(&to->item, to->count, sizeof *to->item);
        if (!to->failed)
            to->item[to->count++] = parts[i];
    }
}

struct batch_range *check_batch_ranges(const struct check_batches *b, const struct batch_table *t,
                                       size_t *count)
{
    struct ranges merged = {0}, all = {0};
    for (size_t i = 0; i < b->rows.count && !merged.failed; i++) {
        const size_t rows = (size_t)b->rows.item[i];
        const uint32_t kind = t->kind[i];
        if (kind == BATCH_CANNOT)
            continue;
        if (merged.count > 0 && merged.item[merged.count - 1].kind == kind)
            join(&merged.item[merged.count - 1], rows, kind != BATCH_UNTRIED);
        else
            add(&merged, rows, kind);
        if (!merged.failed && kind != BATCH_UNTRIED)
            close_gap(&merged);
    }
    all.failed = merged.failed;
    for (size_t i = 0; i < merged.count && !all.failed; i++)
        split(&all, b, t, &merged.item[i]);
    free(merged.item);
    *count = all.failed ? 0 : all.count;
    if (!all.failed)
        return all.item;
    free(all.item);
    return NULL;
}

void check_batch_letters(char letters[BATCH_LETTERS], const struct batch_range *range, size_t which)
{
    size_t before = 0, at = BATCH_LETTERS - 1;
    for (size_t i = 0; i < which; i++) {
        bool again = range[i].kind == BATCH_UNTRIED || range[i].kind == range[which].kind;
        for (size_t k = 0; k < i && !again; k++)
            again = range[k].kind == range[i].kind;
        before += !again;
    }
    for (size_t i = 0; i < which; i++)
        if (range[i].kind == range[which].kind) {
            check_batch_letters(letters, range, i);
            return;
        }
    char word[BATCH_LETTERS] = "";
    for (before++; before > 0 && at > 0; before = (before - 1) / 26)
        word[--at] = (char)('A' + (before - 1) % 26);
    memmove(letters, word + at, BATCH_LETTERS - at);
}
