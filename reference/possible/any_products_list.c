/* All trees of few products: of each part of them, by its bits, what its trees may give. A product
 * alone gives itself rounded; it may also be fused with what the others of a part give. */
#include <math.h>
#include <stdlib.h>

#include "reference/possible/any_products.h"

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

bool any_products_list(const struct any_products *a, struct possible *p)
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
