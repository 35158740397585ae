#include "reference/possible/any_order.h"

#include <math.h>
#include <stdlib.h>

#include "reference/format/upward.h"

/* All trees of few values.
 *
 * A state is a part of the multiset of elements, numbered in mixed radix by how often it has each
 * value: the number of a union is the sum of the numbers. What trees over a state may give is what
 * additions of one number of a part of it and one of the rest give. */

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

/* Tries all trees. Returns false, with *p as it was, where there are too many. */
static bool any_order_list(const struct any_order *a, struct possible *p)
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

void any_order_init(struct any_order *a, enum format f)
{
    *a = (struct any_order){.f = f, .empty = true, .parts_most = ANY_ORDER_PARTS, .parts = 1};
    exact_init(&a->sum);
}

/* The value of the lowest bit that is set in a finite double but 0. */
static double lowest_bit(double x)
{
    int exponent;
    double fraction = frexp(x, &exponent);
    uint64_t integer = (uint64_t)ldexp(fabs(fraction), 53);
    return ldexp(1, exponent - 53 + __builtin_ctzll(integer));
}

/* Keeps the multiset of values that are not 0, while its parts are few. */
static void list_value(struct any_order *a, double x)
{
    size_t i = 0;
    while (i < a->distinct && a->value[i] != x)
        i++;
    if (a->parts == 0)
        return;
    if (i == a->distinct) {
        a->parts *= 2;
        if (a->parts <= ANY_ORDER_PARTS) {
            a->value[a->distinct] = x;
            a->times[a->distinct++] = 1;
        }
    } else {
        a->parts = a->parts / (a->times[i] + 1) * (a->times[i] + 2);
        a->times[i]++;
    }
    if (a->parts > ANY_ORDER_PARTS)
        a->parts = 0;
}

void any_order_add(struct any_order *a, double stored)
{
    if (stored == 0 && (a->plain || (signbit(stored) && !a->empty))) /* it changes nothing */
        return;
    double x = format_round(a->f, stored);
    bool negative = signbit(x);
    exact_add(&a->sum, x);
    a->empty = false;
    a->plain |= x != 0 || !negative;
    if (isnan(x)) {
        a->nan = true;
    } else if (isinf(x)) {
        a->inf[negative] = true;
    } else if (x != 0) {
        double bit = lowest_bit(x), size = fabs(x);
        a->sum_abs[negative] = add_up(a->sum_abs[negative], size);
        a->largest[negative] = fmax(a->largest[negative], size);
        a->count[negative]++;
        a->grid = a->grid == 0 ? bit : fmin(a->grid, bit);
        list_value(a, x);
    }
}

/* No partial sum of this sign is larger. */
static double reach(const struct any_order *a, int sign)
{
    double size = a->sum_abs[sign], n = (double)a->count[sign];
    if (n < 2 || size <= ldexp(a->grid, format_facts[a->f].precision))
        return size;
    return add_up(size, multiply_up(multiply_up(n - 1, format_facts[a->f].unit_roundoff), size));
}

/* The elements of a sign, of few values, alone. */
static struct any_order side(const struct any_order *a, int sign)
{
    struct any_order only = {.f = a->f, .grid = a->grid, .parts_most = a->parts_most, .parts = 1};
    for (size_t i = 0; i < a->distinct; i++)
        if ((a->value[i] < 0) == sign) {
            only.value[only.distinct] = a->value[i];
            only.times[only.distinct++] = a->times[i];
            only.parts *= a->times[i] + 1;
        }
    return only;
}

static bool overflows(const struct any_order *a, int sign)
{
    struct possible p;
    double most = reach(a, sign);
    if (!(a->f == FP64 ? isinf(most) : most >= ldexp(1, format_facts[a->f].emax + 1)))
        return false;
    if (a->parts == 0)
        return true;
    struct any_order only = side(a, sign);
    return any_order_list(&only, &p) ? p.inf[sign] : true;
}

static double next_down(double x)
{
    return nextafter(x, -INFINITY);
}

static double next_up(double x)
{
    return nextafter(x, INFINITY);
}

/* Is nothing rounded, in any order? The sum of each subset is a number of f then, and of fp64. */
static bool is_exact(const struct any_order *a)
{
    const struct format_facts *facts = &format_facts[a->f];
    double all = add_up(a->sum_abs[0], a->sum_abs[1]);
    return all <= fmin(ldexp(a->grid, facts->precision), facts->largest);
}

/* The finite results, if not all elements are 0. */
static void set_interval(const struct any_order *a, struct possible *p)
{
    enum format f = a->f;
    double sum = exact_round(&a->sum, FP64), all = add_up(a->sum_abs[0], a->sum_abs[1]);
    double n = (double)(a->count[0] + a->count[1]);
    double error = multiply_up(multiply_up(n - 1, format_facts[f].unit_roundoff), all);
    bool exact = is_exact(a);
    double least = exact ? sum : next_down(next_down(sum) - error);
    double most = exact ? sum : next_up(next_up(sum) + error);
    least = fmax(least, -reach(a, 1));
    most = fmin(most, reach(a, 0));
    if (a->count[1] == 0)
        least = fmax(least, a->largest[0]);
    if (a->count[0] == 0)
        most = fmin(most, -a->largest[1]);
    p->least = number_above(f, least);
    p->most = number_below(f, most);
    p->grid = a->grid;
    p->exact = exact;
    p->zero[0] = p->least <= 0 && p->most >= 0;
}

static void set_zero(const struct any_order *a, struct possible *p)
{
    p->least = 1;
    p->most = -1;
    p->zero[a->plain || a->empty ? 0 : 1] = true;
}

void any_order_possible(const struct any_order *a, struct possible *p)
{
    bool zeros = a->count[0] + a->count[1] == 0;
    *p = (struct possible){.least = 1, .most = -1};
    if (a->nan || (a->inf[0] && a->inf[1])) {
        p->nan = true;
    } else if (a->inf[0] || a->inf[1]) {
        int sign = a->inf[1];
        p->inf[sign] = true;
        p->nan = overflows(a, !sign);
    } else if (zeros) {
        set_zero(a, p);
    } else if (is_exact(a) || !any_order_list(a, p)) {
        p->inf[0] = overflows(a, 0);
        p->inf[1] = overflows(a, 1);
        p->nan = p->inf[0] && p->inf[1];
        set_interval(a, p);
    }
}

/* --- what is possible --- */

static void list_rounded(struct possible *p, enum format f)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i++) {
        double x = format_round(f, p->value[i]);
        if (x == 0)
            p->zero[signbit(x) != 0] = true;
        else if (isinf(x))
            p->inf[x < 0] = true;
        else if (kept == 0 || x != p->value[kept - 1])
            p->value[kept++] = x;
    }
    p->count = kept;
}

void possible_round(struct possible *p, enum format f)
{
    double largest = format_facts[f].largest;
    if (p->listed)
        list_rounded(p, f);
    if (p->least > p->most)
        return;
    /* The numbers next to zero that there may be. */
    double above = fmax(p->least, p->grid), below = fmin(p->most, -p->grid);
    if (!p->listed) {
        p->zero[0] |= above <= p->most && format_round(f, above) == 0;
        p->zero[1] |= below >= p->least && format_round(f, below) == 0;
        p->inf[0] |= isinf(format_round(f, p->most)) && p->most > 0;
        p->inf[1] |= isinf(format_round(f, p->least)) && p->least < 0;
    }
    p->least = format_round(f, p->least);
    p->most = format_round(f, p->most);
    if (p->least > largest || p->most < -largest) { /* infinities alone */
        p->least = 1;
        p->most = -1;
    }
}

bool possible_holds(const struct possible *p, double x)
{
    if (isnan(x))
        return p->nan;
    if (isinf(x))
        return p->inf[x < 0];
    if (x == 0)
        return p->zero[signbit(x) != 0];
    if (!(p->least <= x && x <= p->most && fmod(x, p->grid) == 0))
        return false;
    for (size_t i = 0; p->listed && i < p->count; i++)
        if (p->value[i] == x)
            return true;
    return !p->listed;
}
