/* Which case of A stands against which of B. */
#include <stdlib.h>

#include "reports/results/compare.h"

/* The columns that make a case but for its device, the launch shape last. cond_log2 follows from
 * the others. */
static const enum case_column key[] = {
    CASE_METHOD, CASE_STORAGE, CASE_ACCUMULATOR, CASE_INPUT, CASE_N,    CASE_SEED,    CASE_SCAN,
    CASE_OUTPUT, CASE_SEGMENT, CASE_PRODUCT,     CASE_KEYS,  CASE_BINS, CASE_THREADS, CASE_BLOCKS};
enum { KEY = sizeof key / sizeof *key, KEY_ANY_SHAPE = KEY - 2 };

static int by_columns(const struct gathered_case *a, const struct gathered_case *b, size_t columns)
{
    int order = 0;
    for (size_t i = 0; i < columns && order == 0; i++)
        order = strcmp(a->field[key[i]], b->field[key[i]]);
    return order;
}

/* In the order of the keys, then of the file. */
static int by_key(const void *x, const void *y)
{
    const struct gathered_case *a = *(struct gathered_case *const *)x,
                               *b = *(struct gathered_case *const *)y;
    int order = by_columns(a, b, KEY);
    return order ? order : (a > b) - (a < b);
}

static int by_key_any_shape(const void *x, const void *y)
{
    return by_columns(*(struct gathered_case *const *)x, *(struct gathered_case *const *)y,
                      KEY_ANY_SHAPE);
}

struct joining {
    struct compare *compare;
    struct gathered_case **partner; /* of each of A's cases */
    struct gathered_case **sorted[2];
};

static void join(struct joining *j, struct gathered_case *a, struct gathered_case *b)
{
    j->partner[a - j->compare->side[0].item] = b;
    a->joined = b->joined = true;
}

static void join_by_id(struct joining *j)
{
    struct gathered *a = &j->compare->side[0], *b = &j->compare->side[1];
    for (size_t i = 0; i < a->count; i++) {
        struct gathered_case *found = gathered_named(b, a->item[i].field[CASE_ID]);
        if (found)
            join(j, &a->item[i], found);
    }
}

/* Both lists are sorted: cases of one key are joined in the order of their files. */
static void join_by_key(struct joining *j)
{
    struct gathered_case **a = j->sorted[0], **b = j->sorted[1];
    struct gathered_case **a_end = a + j->compare->side[0].count,
                         **b_end = b + j->compare->side[1].count;
    while (a < a_end && b < b_end) {
        int order = by_columns(*a, *b, KEY);
        if ((*a)->joined)
            a++;
        else if ((*b)->joined)
            b++;
        else if (order == 0)
            join(j, *a++, *b++);
        else if (order < 0)
            a++;
        else
            b++;
    }
}

/* Do results depend on the launch shape, and on that alone? */
static bool bound_to_shape(const struct gathered_case *c)
{
    return c->promise == PROMISE_RUN_TO_RUN;
}

/* A case of the other side, joined or not, that has the same key but for its shape. */
static struct gathered_case *any_shape(struct joining *j, struct gathered_case *c, size_t other)
{
    struct gathered_case **found =
        bound_to_shape(c) ? NULL
                          : bsearch(&c, j->sorted[other], j->compare->side[other].count,
                                    sizeof *j->sorted[other], by_key_any_shape);
    return found && !bound_to_shape(*found) ? *found : NULL;
}

static void add_pair(struct compare *c, struct gathered_case *a, struct gathered_case *b)
{
    if (a && b)
        a->joined = b->joined = true;
    c->pair[c->pairs++] = (struct compare_pair){.of = {a, b}};
}

static void list_pairs(struct joining *j)
{
    struct compare *c = j->compare;
    for (size_t i = 0; i < c->side[0].count; i++) {
        struct gathered_case *a = &c->side[0].item[i];
        add_pair(c, a, j->partner[i] ? j->partner[i] : any_shape(j, a, 1));
    }
    for (size_t i = 0; i < c->side[1].count; i++) {
        struct gathered_case *b = &c->side[1].item[i];
        if (!b->joined)
            add_pair(c, any_shape(j, b, 0), b);
    }
}

enum status compare_join(struct compare *c, struct problem *p)
{
    struct joining j = {.compare = c};
    bool good = true;
    for (size_t s = 0; s < 2; s++) {
        const struct gathered *side = &c->side[s];
        j.sorted[s] = calloc(side->count + 1, sizeof *j.sorted[s]);
        good &= j.sorted[s] != NULL;
        for (size_t i = 0; good && i < side->count; i++)
            j.sorted[s][i] = &side->item[i];
        if (good)
            qsort(j.sorted[s], side->count, sizeof *j.sorted[s], by_key);
    }
    j.partner = calloc(c->side[0].count + 1, sizeof *j.partner);
    c->pair = calloc(c->side[0].count + c->side[1].count + 1, sizeof *c->pair);
    good &= j.partner && c->pair;
    if (good) {
        join_by_id(&j);
        join_by_key(&j);
        list_pairs(&j);
    }
    free(j.sorted[0]);
    free(j.sorted[1]);
    free(j.partner);
    return good ? STATUS_OK : problem(p, STATUS_DEVICE, "compare: out of memory");
}
