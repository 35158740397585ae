/* All trees of few values.
 *
 * A state is a part of the multiset of elements, numbered in mixed radix by how often it has each
 * value: the number of a union is the sum of the numbers. What trees over a state may give is what
 * additions of one number of a part of it and one of the rest give. */
#include <math.h>
#include <stdlib.h>

#include "reference/possible/any_order.h"

/* An infinity is a value as any other; NaN stands apart. */
struct state {
    bool nan;
    size_t count;
    double value[POSSIBLE_VALUES];
};

enum { WORK = 1 << 19 };

struct lister {
    const struct any_order *a;
    size_t work;
    struct state state[]; /* a->parts of them; the first, nothing, is not used */
};

/* Inserts a value that is not there yet. Returns false where there is no room. */
static bool insert(struct state *to, double x)
{
    size_t low = 0, high = to->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (to->value[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < to->count && to->value[low] == x)
        return true;
    if (to->count == POSSIBLE_VALUES)
        return false;
    memmove(&to->value[low + 1], &to->value[low], (to->count - low) * sizeof x);
    to->value[low] = x;
    to->count++;
    return true;
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
    to->nan |= a->nan || b->nan;
    l->work += a->count * b->count;
    if (l->work > WORK)
        return false;
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < b->count; k++) {
            double sum = format_add(l->a->f, a->value[i], b->value[k]);
            if (isnan(sum))
                to->nan = true;
            else if (!insert(to, sum))
                return false;
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
    to->count = 0;
    for (size_t part = 1; part <= state / 2; part++)
        if (is_part(l->a, part, state) &&
            !add_states(l, to, &l->state[part], &l->state[state - part]))
            return false;
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
    if (a->parts > 1 && a->parts <= a->parts_most)
        l = malloc(sizeof *l + a->parts * sizeof *l->state);
    bool fine = l != NULL;
    if (fine) {
        l->a = a;
        l->work = 0;
    }
    for (size_t state = 1; fine && state < a->parts; state++)
        fine = set_state(l, state);
    if (fine)
        give(a, &l->state[a->parts - 1], p);
    free(l);
    return fine;
}
