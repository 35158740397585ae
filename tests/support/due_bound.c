#include "tests/support/due_parts.h"

#include <math.h>
#include <stdlib.h>

/* Is every value of storage one of the accumulator? By name, not by arithmetic. */
static bool holds(enum format accumulator, enum format storage)
{
    return accumulator == storage || accumulator == FP64 ||
           (accumulator == FP32 && storage <= BF16);
}

/* May rounding an element of storage to the accumulator lose digits, and may it underflow? */
bool due_loses_digits(enum format accumulator, enum format storage)
{
    return !holds(accumulator, storage) && !(storage == BF16 && accumulator == FP16);
}

bool due_underflows(enum format accumulator, enum format storage)
{
    return !holds(accumulator, storage) && !(storage == FP16 && accumulator == BF16);
}

rational due_unit(enum format f)
{
    return from_double(format_facts[f].unit_roundoff);
}

/* eta/2, half the smallest subnormal. */
rational due_half_smallest(enum format f)
{
    return over(from_double(format_facts[f].smallest), whole(2));
}

/* ku/(1-ku), or NULL where ku >= 1. */
static rational gamma_of(size_t k, rational u)
{
    rational ku = times(whole(k), u), below = minus(whole(1), ku);
    return mpq_sgn(below) > 0 ? over(ku, below) : NULL;
}

rational due_one_and(rational x)
{
    return plus(whole(1), x);
}

/* (1+v)^k - 1 */
rational due_growth(size_t k, rational v)
{
    return minus(to_power(due_one_and(v), k), whole(1));
}

rational due_any_order(size_t n, rational u)
{
    return times(whole(n ? n - 1 : 0), u);
}

static rational by_tree(size_t n, size_t h, rational u)
{
    rational gamma = gamma_of(h, u);
    return gamma ? lesser(due_any_order(n, u), gamma) : due_any_order(n, u);
}

/* (1+u) gamma_2h gamma_h */
static rational compensated(size_t h, rational u)
{
    return times(due_one_and(u), times(gamma_of(2 * h, u), gamma_of(h, u)));
}

/* (1+u) (2u + 4u^2) (1 + u (1+5u)^h h(h+5)/2) */
static rational kahan(size_t h, rational u)
{
    rational carried = times(to_power(due_one_and(times(whole(5), u)), h), whole(h * (h + 5) / 2));
    rational step = times(times(whole(2), u), due_one_and(times(whole(2), u)));
    return times(due_one_and(u), times(step, due_one_and(times(u, carried))));
}

/* (1+u) ((1 + 3u^2 + 13u^3)^h - 1) */
static rational double_word(size_t h, rational u)
{
    rational v = times(to_power(u, 2), plus(whole(3), times(whole(13), u)));
    return times(due_one_and(u), due_growth(h, v));
}

/* (1+u) gamma_b + (1 + gamma_b) (1+u) gamma_2(h-b) gamma_(h-b) */
static rational blocked(size_t h, size_t b, rational u)
{
    b = b < h ? b : h;
    rational gamma = gamma_of(b, u);
    return plus(times(due_one_and(u), gamma), times(due_one_and(gamma), compensated(h - b, u)));
}

/* 1 + count u */
static rational one_and_many(size_t count, rational u)
{
    return due_one_and(times(whole(count), u));
}

/* (1 + bu) (1 + s) (1 + (h-b) u) - 1, s the storage's u where it has fewer digits. */
static rational split(size_t h, size_t b, enum format storage, enum format f)
{
    bool loses = due_loses_digits(storage, f);
    rational stored = loses ? due_one_and(due_unit(storage)) : whole(1);
    b = b < h ? b : h;
    return minus(
        times(times(one_and_many(b, due_unit(f)), stored), one_and_many(h - b, due_unit(f))),
        whole(1));
}

/* (1 + (h-b) u) (h-b+1) eta/2 of the storage, where it does not reach as low. */
static rational split_underflow(size_t h, size_t b, enum format storage, enum format f)
{
    b = b < h ? b : h;
    return due_underflows(storage, f)
               ? times(times(one_and_many(h - b, due_unit(f)), whole(h - b + 1)),
                       due_half_smallest(storage))
               : whole(0);
}

/* Of |S|: q = u (1 + gamma_K). */
static rational k_fold_own(unsigned folds, rational u)
{
    return times(u, due_one_and(gamma_of(folds, u)));
}

/* (1+q) g_1 .. g_K + gamma_K^K sum of (1+g_k) g_1 .. g_(k-1) for k = 2 .. K, g_k = (1+u)^kh - 1 */
static rational k_fold(size_t h, unsigned folds, rational u)
{
    rational product = due_growth(h, u), words = whole(0);
    for (unsigned k = 2; k <= folds; k++) {
        words = plus(words, times(due_one_and(due_growth(k * h, u)), product));
        product = times(product, due_growth(k * h, u));
    }
    return plus(times(due_one_and(k_fold_own(folds, u)), product),
                times(to_power(gamma_of(folds, u), folds), words));
}

static rational of_sum(const struct theorem *t, rational u)
{
    if (t->kind == THEOREM_ANY_ORDER || t->kind == THEOREM_TREE || t->kind == THEOREM_WIDENED ||
        t->kind == THEOREM_SPLIT)
        return whole(0);
    return t->kind == THEOREM_K_FOLD ? k_fold_own(t->folds, u) : u;
}

/* 5hu/(1-5hu), or (1+5u)^h - 1 where that has no value, where additions next to the largest number
 * may lose their errors: 2A reaches it, or (1+u)^(Kh+1) > 2. */
static rational lost(rational by, const struct theorem *t, rational sum_abs, enum format f)
{
    if (t->kind < THEOREM_COMPENSATED || t->kind > THEOREM_BLOCKED)
        return by;
    rational u = due_unit(f), five = times(whole(5), u);
    size_t height = t->height + (t->product == PRODUCT_EXACT);
    size_t adds = (t->kind == THEOREM_K_FOLD ? t->folds : 1) * height + 1;
    rational twice = times(whole(2), sum_abs), largest = from_double(format_facts[f].largest);
    if (mpq_cmp(twice, largest) < 0 && mpq_cmp(due_growth(adds, u), whole(1)) <= 0)
        return by;
    rational gamma = gamma_of(height, five);
    return greater(by, gamma ? gamma : due_growth(height, five));
}

/* What a theorem of sums is told. */
struct terms {
    size_t n;
    rational sum, sum_abs;
    double largest;
};

/* (n-1) max|x| / 2^D, D = K p, or the storage's p. */
static rational cut(const struct theorem *t, const struct terms *x, enum format storage,
                    enum format accumulator)
{
    int digits = format_facts[accumulator].precision * (int)t->folds;
    if (format_facts[storage].precision > digits)
        digits = format_facts[storage].precision;
    rational others = whole(x->n > 0 ? x->n - 1 : 0);
    return over(times(others, from_double(x->largest)), to_power(whole(2), (unsigned)digits));
}

/* Does every product of two values of storage have no more digits than the accumulator? */
static bool holds_products(enum format accumulator, enum format storage)
{
    return storage < accumulator && accumulator >= FP32;
}

/* May a product of two values of storage lie between the accumulator's subnormal numbers? */
static bool products_underflow(enum format accumulator, enum format storage)
{
    return !(accumulator == FP64 && storage < FP64) && !(storage == FP16 && accumulator != FP16);
}

/* What rounding the terms may change: n eta/2 and u A, each if it may be. */
static rational conversion(const struct theorem *t, const struct terms *x, enum format storage,
                           enum format f)
{
    bool digits = due_loses_digits(f, storage), low = due_underflows(f, storage);
    if (t->product != PRODUCT_NONE) {
        digits = t->product != PRODUCT_EXACT && !holds_products(f, storage);
        low = products_underflow(f, storage);
    }
    rational c = low ? times(whole(x->n), due_half_smallest(f)) : whole(0);
    return digits ? plus(c, times(due_unit(f), x->sum_abs)) : c;
}

/* The error and what rounding a value with it adds: u |value + error| or eta/2, the larger, where
 * it is not 0. */
rational due_rounded(rational error, rational value, enum format f)
{
    rational rounding = times(due_unit(f), plus(size_of(value), error));
    return mpq_sgn(rounding) == 0 ? error : plus(error, greater(rounding, due_half_smallest(f)));
}

/* The format that a theorem's additions are in. */
static enum format added_in(const struct theorem *t, enum format accumulator)
{
    return t->kind != THEOREM_WIDENED ? accumulator : accumulator == FP32 ? FP64 : FP32;
}

/* The bound of a sum, written out: c of rounding terms, F = 3 normal for each addition that
 * flushes, and c + F + of_sum (|S| + c + F) + of_abs (A + c + F). That, when widened, in the wider
 * format; then it is rounded: as is F alone, when exact, or F and what cutting changes, when
 * binned. */
static rational due_sum(const struct theorem *t, const struct terms *x, rational of_abs,
                        enum format storage, enum format accumulator)
{
    bool widened = t->kind == THEOREM_WIDENED, binned = t->kind == THEOREM_BINNED;
    bool exact = t->kind == THEOREM_CORRECTLY_ROUNDED || binned;
    enum format f = added_in(t, accumulator);
    rational u = due_unit(f), c = exact ? whole(0) : conversion(t, x, storage, f);
    c = plus(c, times(whole(t->flushing), from_double(3 * format_facts[f].smallest_normal)));
    rational error = c;
    if (binned)
        error = plus(c, cut(t, x, storage, accumulator));
    if (!exact)
        error = plus(c, plus(times(of_sum(t, u), plus(size_of(x->sum), c)),
                             times(lost(of_abs, t, plus(x->sum_abs, c), f), plus(x->sum_abs, c))));
    return widened || exact ? due_rounded(error, x->sum, accumulator) : error;
}

rational due_tree(const struct theorem *t, size_t n, rational sum, rational sum_abs,
                  enum product_kind product, enum format storage, enum format f)
{
    struct theorem tree = *t;
    struct terms x = {n, sum, sum_abs, 0};
    tree.kind = THEOREM_TREE;
    tree.product = product;
    rational of_abs = by_tree(n, t->height, due_unit(f));
    return due_sum(&tree, &x, of_abs, storage, f);
}

rational due_bound(const struct theorem *t, const struct reference *r, enum format storage,
                   enum format accumulator)
{
    struct terms x = {r->n, from_mpfr(r->sum), from_mpfr(r->sum_abs), r->largest};
    enum format f = accumulator;
    rational u = due_unit(added_in(t, f)), of_abs = whole(0);
    switch (t->kind) {
    case THEOREM_ANY_ORDER:
        of_abs = due_any_order(r->n, u);
        break;
    case THEOREM_TREE:
    case THEOREM_WIDENED:
        of_abs = by_tree(r->n, t->height, u);
        break;
    case THEOREM_COMPENSATED:
        of_abs = compensated(t->height + (t->product == PRODUCT_EXACT), u);
        break;
    case THEOREM_KAHAN:
        of_abs = kahan(t->height, u);
        break;
    case THEOREM_K_FOLD:
        of_abs = k_fold(t->height, t->folds, u);
        break;
    case THEOREM_DOUBLE_WORD:
        of_abs = double_word(t->height, u);
        break;
    case THEOREM_BLOCKED:
        of_abs = blocked(t->height, t->plain_height, u);
        break;
    case THEOREM_SPLIT:
        of_abs = split(t->height, t->plain_height, storage, f);
        return plus(due_sum(t, &x, of_abs, storage, f),
                    split_underflow(t->height, t->plain_height, storage, f));
    case THEOREM_CORRECTLY_ROUNDED:
    case THEOREM_BINNED:
    case THEOREM_NONE:
    case THEOREM_EXPONENTIALS: /* of no rational: tests/kernels/rowstats */
    case THEOREM_RESCALED:
    case THEOREMS:
        break;
    case THEOREM_NORM:
    case THEOREM_SCALED_NORM:
    case THEOREM_MEAN:
    case THEOREM_RUNNING_MEAN:
    case THEOREM_TEXTBOOK:
    case THEOREM_TWO_PASS:
    case THEOREM_WELFORD:
    case THEOREM_CHAN:
    case THEOREM_PRODUCT:
    case THEOREM_EXTREMUM:
    case THEOREM_RMSNORM:
    case THEOREM_LAYERNORM_TEXTBOOK:
    case THEOREM_LAYERNORM_TWO_PASS:
    case THEOREM_LAYERNORM_WELFORD:
    case THEOREM_LAYERNORM_CHAN:
        return due_value(t, r, storage, f);
    case THEOREM_BLOCKS:
        return from_double(t->given);
    }
    return due_sum(t, &x, of_abs, storage, f);
}
