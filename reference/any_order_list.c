/* All trees of few values.
 *
 * A state is a part of the multiset of elements, numbered in mixed radix by how often it has each
 * value: the number of a union is the sum of the numbers. What trees over a state may give is what
 * additions of one number of a part of it and one of the rest give. */
#include <math.h>
#include <stdlib.h>

#include "reference/any_order.h"

/* An infinity is a value as any other; NaN stands apart. */
struct state {
    bool nan;
    size_t count;
    double value[POSSIBLE_VALUES];
};

enum { ROOM = 16384, WORK = 1 << 19 };

struct lister {
    const struct any_order *a;
    size_t used, work;
    double sum[ROOM];
    struct state state[]; /* a->states of them; the first, nothing, is not used */
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the sums that were gathered; each stands once then. */
static void tidy(struct lister *l)
{
    size_t kept = 0;
    qsort(l->sum, l->used, sizeof *l->sum, compare);
    for (size_t i = 0; i < l->used; i++)
        if (kept == 0 || l->sum[i] != l->sum[kept - 1])
            l->sum[kept++] = l->sum[i];
    l->used = kept;
}

/* Is state `part` a part of state `whole`? */
static bool is_part(const struct any_order *a, size_t part, size_t whole)
{
    for (size_t i = 0; i < a->distinct; i++) {
        size_t radix = a->times[i] + 1;
        if (part % radix > whole % radix)
            return false;
        part /= radix;
        whole /= radix;
    }
    return true;
}

static bool add_states(struct lister *l, struct state *to, const struct state *a,
                       const struct state *b)
{
    enum format f = l->a->f;
    to->nan |= a->nan || b->nan;
    l->work += a->count * b->count;
    for (size_t i = 0; i < a->count; i++) {
        if (l->used + b->count > ROOM)
            tidy(l);
        if (l->used + b->count > ROOM || l->work > WORK)
            return false;
        for (size_t k = 0; k < b->count; k++) {
            double sum = format_add(f, a->value[i], b->value[k]);
            if (isnan(sum))
                to->nan = true;
            else
                l->sum[l->used++] = sum;
        }
    }
    return true;
}

/* One value: the state is a leaf. */
static bool set_leaf(const struct any_order *a, size_t state, struct state *to)
{
    size_t weight = 1;
    for (size_t i = 0; i < a->distinct; i++) {
        if (state == weight) {
            *to = (struct state){.count = 1, .value = {a->value[i]}};
            return true;
        }
        weight *= a->times[i] + 1;
    }
    return false;
}

static bool set_state(struct lister *l, size_t state)
{
    struct state *to = &l->state[state];
    if (set_leaf(l->a, state, to))
        return true;
    to->nan = false;
    l->used = 0;
    for (size_t part = 1; part <= state / 2; part++)
        if (is_part(l->a, part, state) &&
            !add_states(l, to, &l->state[part], &l->state[state - part]))
            return false;
    tidy(l);
    if (l->used > POSSIBLE_VALUES)
        return false;
    to->count = l->used;
    for (size_t i = 0; i < l->used; i++)
        to->value[i] = l->sum[i];
    return true;
}

static void give(const struct any_order *a, const struct state *all, struct possible *p)
{
    *p =
        (struct possible){.nan = all->nan, .least = 1, .most = -1, .grid = a->grid, .listed = true};
    for (size_t i = 0; i < all->count; i++) {
        double x = all->value[i];
        if (isinf(x))
            p->inf[x < 0] = true;
        else if (x == 0)
            p->zero[0] = true;
        else
            p->value[p->count++] = x;
    }
    if (p->count > 0) {
        p->least = p->value[0];
        p->most = p->value[p->count - 1];
    }
}

bool any_order_list(const struct any_order *a, struct possible *p)
{
    struct lister *l = NULL;
    if (a->states > 1)
        l = malloc(sizeof *l + a->states * sizeof *l->state);
    bool fine = l != NULL;
    if (fine) {
        l->a = a;
        l->work = 0;
    }
    for (size_t state = 1; fine && state < a->states; state++)
        fine = set_state(l, state);
    if (fine)
        give(a, &l->state[a->states - 1], p);
    free(l);
    return fine;
}
