#include "reference/possible/any_products.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "reference/format/upward.h"

/* All trees of few products: of each part of them, by its bits, what its trees may give. A product
 * alone gives itself rounded; it may also be fused with what the others of a part give. */

/* Ascending, -0 before +0; an infinity is a value as any other, NaN stands apart. */
struct part {
    bool nan;
    size_t count;
    double value[POSSIBLE_VALUES];
};

enum { PARTS = 1 << PRODUCTS_LISTED, WORK = 1 << 16, FUSED_WORK = 32 };

struct lister {
    const struct any_products *a;
    size_t work;
    struct part part[PARTS];
};

static bool precedes(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

/* Returns false where there is no room. */
static bool insert(struct part *to, double x)
{
    size_t at = 0;
    if (isnan(x)) {
        to->nan = true;
        return true;
    }
    while (at < to->count && precedes(to->value[at], x))
        at++;
    if (at < to->count && double_bits(to->value[at]) == double_bits(x))
        return true;
    if (to->count == POSSIBLE_VALUES)
        return false;
    memmove(&to->value[at + 1], &to->value[at], (to->count - at) * sizeof x);
    to->value[at] = x;
    to->count++;
    return true;
}

static bool work(struct lister *l, size_t more)
{
    l->work += more;
    return l->work <= WORK;
}

static bool add_parts(struct lister *l, struct part *to, const struct part *a, const struct part *b)
{
    bool fine = work(l, a->count * b->count);
    to->nan |= a->nan || b->nan;
    for (size_t i = 0; i < a->count && fine; i++)
        for (size_t k = 0; k < b->count && fine; k++)
            fine = insert(to, format_add(l->a->rounded.f, a->value[i], b->value[k]));
    return fine;
}

/* x y + z rounded once. */
static double fused(enum format f, double x, double y, double z)
{
    struct products sum;
    if (!isfinite(z))
        return z;
    products_init(&sum);
    products_add_one(&sum, x, y);
    products_add_one(&sum, z, 1);
    return products_round(&sum, f);
}

static bool fuse(struct lister *l, struct part *to, size_t term, const struct part *others)
{
    bool fine = work(l, FUSED_WORK * others->count);
    to->nan |= others->nan;
    for (size_t i = 0; i < others->count && fine; i++)
        fine = insert(to, fused(l->a->rounded.f, l->a->x[term], l->a->y[term], others->value[i]));
    return fine;
}

static bool set_part(struct lister *l, size_t bits)
{
    struct part *to = &l->part[bits];
    bool fine = true;
    to->nan = false;
    to->count = 0;
    if ((bits & (bits - 1)) == 0) {
        size_t term = (size_t)__builtin_ctzll(bits);
        return insert(to, fused(l->a->rounded.f, l->a->x[term], l->a->y[term], -0.0));
    }
    for (size_t some = (bits - 1) & bits; some > 0 && fine; some = (some - 1) & bits) {
        if (some > (bits ^ some))
            fine = add_parts(l, to, &l->part[some], &l->part[bits ^ some]);
        if (fine && (some & (some - 1)) == 0)
            fine = fuse(l, to, (size_t)__builtin_ctzll(some), &l->part[bits ^ some]);
    }
    return fine;
}

static void give(const struct any_products *a, const struct part *all, struct possible *p)
{
    *p = (struct possible){
        .nan = all->nan, .least = 1, .most = -1, .grid = 0x1p-1074, .listed = true};
    for (size_t i = 0; i < all->count; i++) {
        double x = all->value[i];
        if (isinf(x))
            p->inf[x < 0] = true;
        else if (x == 0)
            p->zero[signbit(x) != 0] = true;
        else
            p->value[p->count++] = x;
    }
    p->zero[0] |= p->zero[1] && a->plus_zero; /* -0 + +0 = +0 */
    if (p->count > 0) {
        p->least = p->value[0];
        p->most = p->value[p->count - 1];
    }
}

/* Tries all trees. Returns false, with *p as it was, where there are too many. */
static bool any_products_list(const struct any_products *a, struct possible *p)
{
    size_t terms = a->count[0] + a->count[1];
    if (a->how == PRODUCT_EXACT || a->rounded.parts_most == 0 || terms == 0 ||
        terms > PRODUCTS_LISTED)
        return false;
    struct lister *l = malloc(sizeof *l);
    bool fine = l != NULL;
    if (fine) {
        l->a = a;
        l->work = 0;
    }
    for (size_t bits = 1; fine && bits < (size_t)1 << terms; bits++)
        fine = set_part(l, bits);
    if (fine)
        give(a, &l->part[((size_t)1 << terms) - 1], p);
    free(l);
    return fine;
}

void any_products_init(struct any_products *a, enum format f, enum product_kind how)
{
    *a = (struct any_products){.how = how, .grid = INT_MAX};
    any_order_init(&a->rounded, f);
    products_init(&a->sum);
}

/* The exponent of the lowest bit that is set in a finite double but 0. */
static int lowest_exponent(double x)
{
    int exponent;
    uint64_t integer = (uint64_t)ldexp(fabs(frexp(x, &exponent)), 53);
    return exponent - 53 + __builtin_ctzll(integer);
}

/* By MPFR, where doubles do not hold the product and what it lacks. */
static double round_by_mpfr(enum format f, double x, double y, bool *exact)
{
    struct products one;
    mpfr_t product;
    products_init(&one);
    products_add_one(&one, x, y);
    double rounded = products_round(&one, f);
    mpfr_init2(product, MPFR_PREC_MIN);
    products_get(product, &one);
    *exact = isfinite(rounded) && mpfr_cmp_d(product, rounded) == 0;
    mpfr_clear(product);
    return rounded;
}

/* x y rounded once to f; *exact where that is x y, or that is no number. */
static double round_product(enum format f, double x, double y, bool *exact)
{
    double p = x * y, rest = fma(x, y, -p);
    bool plain = x == 0 || y == 0 || !isfinite(x) || !isfinite(y);
    if (!plain && !(fabs(p) > 0x1p-900 && fabs(p) < 0x1p1000))
        return round_by_mpfr(f, x, y, exact);
    double rounded = plain || f == FP64 ? format_round(f, p) : format_round_pair(f, p, rest);
    *exact = plain || (rounded == p && rest == 0);
    return rounded;
}

static void add_term(struct any_products *a, double x, double y)
{
    bool negative = signbit(x) != signbit(y);
    size_t place = a->count[0] + a->count[1];
    int grid = lowest_exponent(x) + lowest_exponent(y);
    if (place < PRODUCTS_LISTED) {
        a->x[place] = x;
        a->y[place] = y;
    }
    a->count[negative]++;
    a->sum_abs[negative] = add_up(a->sum_abs[negative], multiply_up(fabs(x), fabs(y)));
    a->grid = grid < a->grid ? grid : a->grid;
}

void any_products_add(struct any_products *a, double x, double y)
{
    bool exact;
    double p = x * y, rounded = round_product(a->rounded.f, x, y, &exact);
    any_order_add(&a->rounded, rounded);
    products_add_one(&a->sum, x, y);
    if (isnan(p))
        a->nan = true;
    else if (!isfinite(x) || !isfinite(y))
        a->inf[p < 0] = true;
    else if (x != 0 && y != 0)
        add_term(a, x, y);
    a->plus_zero |= p == 0 && (x == 0 || y == 0) && !signbit(p);
    a->lossy |= !exact;
}

/* --- bounds --- */

static double smallest(const struct any_products *a)
{
    return format_facts[a->rounded.f].smallest;
}

/* A bound on the rounding errors of n terms whose magnitudes add up to `all`. */
static double error_of(const struct any_products *a, size_t count, double all)
{
    double n = (double)count, u = format_facts[a->rounded.f].unit_roundoff;
    double relative = multiply_up(multiply_up(n, u), 1 + 2 * u);
    return add_up(multiply_up(relative, all), multiply_up(n, smallest(a)));
}

/* No partial sum of this sign is larger. */
static double reach(const struct any_products *a, int sign)
{
    return a->count[sign] == 0
               ? 0
               : add_up(a->sum_abs[sign], error_of(a, a->count[sign], a->sum_abs[sign]));
}

static bool overflows(const struct any_products *a, int sign)
{
    enum format f = a->rounded.f;
    double most = reach(a, sign);
    return f == FP64 ? isinf(most) : most >= ldexp(1, format_facts[f].emax + 1);
}

static void set_interval(const struct any_products *a, struct possible *p)
{
    enum format f = a->rounded.f;
    double sum = products_round(&a->sum, FP64), grid = ldexp(1, a->grid < 1023 ? a->grid : 1023);
    double error = error_of(a, a->count[0] + a->count[1], add_up(a->sum_abs[0], a->sum_abs[1]));
    double least = nextafter(nextafter(sum, -INFINITY) - error, -INFINITY);
    double most = nextafter(nextafter(sum, INFINITY) + error, INFINITY);
    least = fmax(least, -reach(a, 1));
    most = fmin(most, reach(a, 0));
    if (a->count[1] == 0)
        least = fmax(least, a->rounded.largest[0]);
    if (a->count[0] == 0)
        most = fmin(most, -a->rounded.largest[1]);
    p->least = number_above(f, least);
    p->most = number_below(f, most);
    p->grid = fmax(grid, smallest(a));
    p->zero[0] = p->least <= 0 && p->most >= 0;
    p->zero[1] = p->zero[0] && a->count[1] > 0 && grid < smallest(a);
}

/* Do terms of one sign include one that becomes infinite when it is rounded? */
static bool is_infinite(const struct any_products *a, int sign)
{
    return a->count[!sign] == 0 && a->rounded.inf[sign];
}

static void set_bounds(const struct any_products *a, struct possible *p)
{
    p->inf[0] = overflows(a, 0);
    p->inf[1] = overflows(a, 1);
    p->nan = p->inf[0] && p->inf[1];
    if (!is_infinite(a, 0) && !is_infinite(a, 1))
        set_interval(a, p);
}

void any_products_possible(const struct any_products *a, struct possible *p)
{
    *p = (struct possible){.least = 1, .most = -1};
    if (a->nan || (a->inf[0] && a->inf[1])) {
        p->nan = true;
    } else if (a->how == PRODUCT_ROUNDED || !a->lossy) {
        any_order_possible(&a->rounded, p);
    } else if (a->inf[0] || a->inf[1]) {
        int sign = a->inf[1];
        p->inf[sign] = true;
        p->nan = overflows(a, !sign);
    } else if (!any_products_list(a, p)) {
        set_bounds(a, p);
    }
}
