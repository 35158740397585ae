#include "tests/support/due_bound.h"

#include <math.h>
#include <stdlib.h>

/* Is every value of storage one of the accumulator? By name, not by arithmetic. */
static bool holds(enum format accumulator, enum format storage)
{
    return accumulator == storage || accumulator == FP64 ||
           (accumulator == FP32 && storage <= BF16);
}

/* May rounding an element of storage to the accumulator lose digits, and may it underflow? */
static bool loses_digits(enum format accumulator, enum format storage)
{
    return !holds(accumulator, storage) && !(storage == BF16 && accumulator == FP16);
}

static bool underflows(enum format accumulator, enum format storage)
{
    return !holds(accumulator, storage) && !(storage == FP16 && accumulator == BF16);
}

static rational unit(enum format f)
{
    return from_double(format_facts[f].unit_roundoff);
}

/* eta/2, half the smallest subnormal. */
static rational half_smallest(enum format f)
{
    return over(from_double(format_facts[f].smallest), whole(2));
}

/* ku/(1-ku), or NULL where ku >= 1. */
static rational gamma_of(size_t k, rational u)
{
    rational ku = times(whole(k), u), below = minus(whole(1), ku);
    return mpq_sgn(below) > 0 ? over(ku, below) : NULL;
}

static rational one_and(rational x)
{
    return plus(whole(1), x);
}

/* (1+v)^k - 1 */
static rational growth(size_t k, rational v)
{
    return minus(to_power(one_and(v), k), whole(1));
}

static rational any_order(size_t n, rational u)
{
    return times(whole(n ? n - 1 : 0), u);
}

static rational by_tree(size_t n, size_t h, rational u)
{
    rational gamma = gamma_of(h, u);
    return gamma ? lesser(any_order(n, u), gamma) : any_order(n, u);
}

/* (1+u) gamma_2h gamma_h */
static rational compensated(size_t h, rational u)
{
    return times(one_and(u), times(gamma_of(2 * h, u), gamma_of(h, u)));
}

/* (1+u) (2u + 4u^2) (1 + u (1+5u)^h h(h+5)/2) */
static rational kahan(size_t h, rational u)
{
    rational carried = times(to_power(one_and(times(whole(5), u)), h), whole(h * (h + 5) / 2));
    rational step = times(times(whole(2), u), one_and(times(whole(2), u)));
    return times(one_and(u), times(step, one_and(times(u, carried))));
}

/* (1+u) ((1 + 3u^2 + 13u^3)^h - 1) */
static rational double_word(size_t h, rational u)
{
    rational v = times(to_power(u, 2), plus(whole(3), times(whole(13), u)));
    return times(one_and(u), growth(h, v));
}

/* (1+u) gamma_b + (1 + gamma_b) (1+u) gamma_2(h-b) gamma_(h-b) */
static rational blocked(size_t h, size_t b, rational u)
{
    b = b < h ? b : h;
    rational gamma = gamma_of(b, u);
    return plus(times(one_and(u), gamma), times(one_and(gamma), compensated(h - b, u)));
}

/* 1 + count u */
static rational one_and_many(size_t count, rational u)
{
    return one_and(times(whole(count), u));
}

/* (1 + bu) (1 + s) (1 + (h-b) u) - 1, s the storage's u where it has fewer digits. */
static rational split(size_t h, size_t b, enum format storage, enum format f)
{
    bool loses = loses_digits(storage, f);
    rational stored = loses ? one_and(unit(storage)) : whole(1);
    b = b < h ? b : h;
    return minus(times(times(one_and_many(b, unit(f)), stored), one_and_many(h - b, unit(f))),
                 whole(1));
}

/* (1 + (h-b) u) (h-b+1) eta/2 of the storage, where it does not reach as low. */
static rational split_underflow(size_t h, size_t b, enum format storage, enum format f)
{
    b = b < h ? b : h;
    return underflows(storage, f) ? times(times(one_and_many(h - b, unit(f)), whole(h - b + 1)),
                                          half_smallest(storage))
                                  : whole(0);
}

/* Of |S|: q = u (1 + gamma_K). */
static rational k_fold_own(unsigned folds, rational u)
{
    return times(u, one_and(gamma_of(folds, u)));
}

/* (1+q) g_1 .. g_K + gamma_K^K sum of (1+g_k) g_1 .. g_(k-1) for k = 2 .. K, g_k = (1+u)^kh - 1 */
static rational k_fold(size_t h, unsigned folds, rational u)
{
    rational product = growth(h, u), words = whole(0);
    for (unsigned k = 2; k <= folds; k++) {
        words = plus(words, times(one_and(growth(k * h, u)), product));
        product = times(product, growth(k * h, u));
    }
    return plus(times(one_and(k_fold_own(folds, u)), product),
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
    rational u = unit(f), five = times(whole(5), u);
    size_t height = t->height + (t->product == PRODUCT_EXACT);
    size_t adds = (t->kind == THEOREM_K_FOLD ? t->folds : 1) * height + 1;
    rational twice = times(whole(2), sum_abs), largest = from_double(format_facts[f].largest);
    if (mpq_cmp(twice, largest) < 0 && mpq_cmp(growth(adds, u), whole(1)) <= 0)
        return by;
    rational gamma = gamma_of(height, five);
    return greater(by, gamma ? gamma : growth(height, five));
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
    bool digits = loses_digits(f, storage), low = underflows(f, storage);
    if (t->product != PRODUCT_NONE) {
        digits = t->product != PRODUCT_EXACT && !holds_products(f, storage);
        low = products_underflow(f, storage);
    }
    rational c = low ? times(whole(x->n), half_smallest(f)) : whole(0);
    return digits ? plus(c, times(unit(f), x->sum_abs)) : c;
}

/* The error and what rounding a value with it adds: u |value + error| or eta/2, the larger, where
 * it is not 0. */
static rational rounded(rational error, rational value, enum format f)
{
    rational rounding = times(unit(f), plus(size_of(value), error));
    return mpq_sgn(rounding) == 0 ? error : plus(error, greater(rounding, half_smallest(f)));
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
    rational u = unit(f), c = exact ? whole(0) : conversion(t, x, storage, f);
    c = plus(c, times(whole(t->flushing), from_double(3 * format_facts[f].smallest_normal)));
    rational error = c;
    if (binned)
        error = plus(c, cut(t, x, storage, accumulator));
    if (!exact)
        error = plus(c, plus(times(of_sum(t, u), plus(size_of(x->sum), c)),
                             times(lost(of_abs, t, plus(x->sum_abs, c), f), plus(x->sum_abs, c))));
    return widened || exact ? rounded(error, x->sum, accumulator) : error;
}

/* ---- of what is no sum ---- */

static rational root(rational x)
{
    mpfr_t of;
    mpfr_init2(of, 4000);
    mpfr_set_q(of, x, MPFR_RNDN);
    mpfr_sqrt(of, of, MPFR_RNDN);
    rational to = from_mpfr(of);
    mpfr_clear(of);
    return to;
}

static rational square(rational x)
{
    return times(x, x);
}

/* A tree's bound for terms whose sum and magnitudes are these. */
static rational due_tree(const struct theorem *t, size_t n, rational sum, rational sum_abs,
                         enum product_kind product, enum format storage, enum format f)
{
    struct theorem tree = *t;
    struct terms x = {n, sum, sum_abs, 0};
    tree.kind = THEOREM_TREE;
    tree.product = product;
    rational of_abs = by_tree(n, t->height, unit(f));
    return due_sum(&tree, &x, of_abs, storage, f);
}

/* d / sqrt(S) or sqrt(d), the smaller. */
static rational due_root(const struct theorem *t, size_t n, rational squares, enum format storage,
                         enum format f)
{
    rational d = due_tree(t, n, squares, squares, PRODUCT_ROUNDED, storage, f);
    return mpq_sgn(squares) == 0 ? whole(0) : lesser(over(d, root(squares)), root(d));
}

/* The power of two by which elements are scaled: n squares, each at most 4^k times that of the
 * largest element's power, stay below 2^emax. */
static int due_scale(const struct reference *r, enum format f)
{
    int room = format_facts[f].emax - (int)ceil(log2((double)(r->n + (r->n == 0)))), exponent;
    frexp(r->largest, &exponent);
    return r->largest > 0 ? (int)floor(room / 2.0) - exponent : 0;
}

static rational times_power(rational x, int k)
{
    rational power = to_power(whole(2), (unsigned long)abs(k));
    return k < 0 ? over(x, power) : times(x, power);
}

static rational due_norm(const struct theorem *t, const struct reference *r, enum format storage,
                         enum format f)
{
    rational squares = from_mpfr(r->moment.squares), norm = from_mpfr(r->sum);
    if (t->kind == THEOREM_NORM)
        return rounded(due_root(t, r->n, squares, storage, f), norm, f);
    int k = due_scale(r, f);
    rational error = due_root(t, r->n, times_power(squares, 2 * k), f, f);
    return plus(rounded(times_power(error, -k), norm, f), half_smallest(f));
}

/* What rounding elements changes of x, an element or the mean magnitude of some. */
static rational change(rational x, enum format storage, enum format f)
{
    rational by = loses_digits(f, storage) ? times(unit(f), x) : whole(0);
    return underflows(f, storage) ? plus(by, half_smallest(f)) : by;
}

static rational and_change(rational x, enum format storage, enum format f)
{
    return plus(x, change(x, storage, f));
}

/* (2u + u^2) (A + X) + (n+1)/2 (u X + eta/2) */
static rational running(size_t n, rational mean_abs, rational largest, enum format f)
{
    rational u = unit(f), step = plus(times(u, largest), half_smallest(f));
    return plus(times(growth(2, u), plus(mean_abs, largest)),
                over(times(whole(n + 1), step), whole(2)));
}

/* x (factor y + x) */
static rational cross(rational x, rational factor, rational y)
{
    return times(x, plus(times(factor, y), x));
}

/* A tree's bound of n terms with this mean, divided by n and rounded. */
static rational due_mean(const struct theorem *t, size_t n, rational mean, rational mean_abs,
                         enum product_kind product, enum format storage, enum format f)
{
    rational sum = times(mean, whole(n)), sum_abs = times(mean_abs, whole(n));
    return rounded(over(due_tree(t, n, sum, sum_abs, product, storage, f), whole(n)), mean, f);
}

/* Of a variance, what theorem/variance.c says of the elements, rounded from storage to f. */
struct population {
    rational mean, mean_abs, largest, deviation, moved;
};

static struct population population_of(const struct reference *r, enum format storage,
                                       enum format f)
{
    rational mean = over(size_of(from_mpfr(r->moment.sum)), whole(r->n));
    rational mean_abs = over(from_mpfr(r->moment.sum_abs), whole(r->n));
    rational deviation = root(from_mpfr(r->sum));
    rational by = change(root(from_mpfr(r->sum_abs)), storage, f);
    return (struct population){.mean = plus(mean, change(mean_abs, storage, f)),
                               .mean_abs = and_change(mean_abs, storage, f),
                               .largest = and_change(from_double(r->largest), storage, f),
                               .deviation = plus(deviation, by),
                               .moved = cross(by, whole(2), deviation)};
}

static rational due_textbook(const struct theorem *t, const struct reference *r,
                             enum format storage, enum format f)
{
    struct population x = population_of(r, storage, storage); /* as they are stored */
    rational squares = from_mpfr(r->sum_abs);
    rational e = due_mean(t, r->n, x.mean, x.mean_abs, PRODUCT_NONE, storage, f);
    rational of_square = rounded(cross(e, whole(2), x.mean), square(x.mean), f);
    rational of_squares = due_mean(t, r->n, squares, squares, PRODUCT_ROUNDED, storage, f);
    return rounded(plus(of_square, of_squares), from_mpfr(r->sum), f);
}

static rational due_two_pass(const struct theorem *t, const struct reference *r,
                             enum format storage, enum format f)
{
    struct population x = population_of(r, storage, f);
    rational e = due_mean(t, r->n, x.mean, x.mean_abs, PRODUCT_NONE, f, f);
    rational v = plus(square(x.deviation), square(e)), lost = times(growth(2, unit(f)), v);
    rational all = plus(v, lost);
    rational of_all = due_mean(t, r->n, all, all, PRODUCT_ROUNDED, f, f);
    return plus(plus(square(e), x.moved), plus(lost, of_all));
}

static rational due_welford(const struct reference *r, enum format storage, enum format f)
{
    struct population x = population_of(r, storage, f);
    rational u = unit(f), e = running(r->n, x.largest, x.largest, f);
    rational apart = cross(e, one_and(root(whole(2))), x.deviation);
    rational products = plus(square(x.deviation), apart);
    rational lost = plus(times(growth(3, u), products), half_smallest(f));
    rational added = times(any_order(r->n, u), plus(products, lost));
    return rounded(plus(plus(apart, lost), plus(added, x.moved)), from_mpfr(r->sum), f);
}

static rational due_chan(const struct theorem *t, const struct reference *r, enum format storage,
                         enum format f)
{
    struct population x = population_of(r, storage, f);
    rational u = unit(f), half = half_smallest(f), h = whole(t->height);
    rational cubed = to_power(one_and(u), 3), d = times(whole(2), x.largest), z = half;
    if ((double)r->n * format_facts[f].smallest_normal > 1) /* k2 / k may underflow */
        z = plus(z, times(times(square(one_and(u)), d), half));
    rational level = plus(times(plus(minus(cubed, whole(1)), u), x.largest), z);
    rational e = times(h, level), v = times(root(times(whole(2), h)), e);
    rational apart = cross(v, whole(2), x.deviation);
    rational products = plus(square(x.deviation), apart);
    rational of_level = plus(times(times(cubed, d), z), times(one_and(u), half));
    rational lost = plus(times(growth(6, u), products), plus(times(h, of_level), half));
    rational added = times(growth(2 * t->height, u), plus(products, lost));
    return rounded(plus(plus(apart, lost), plus(added, x.moved)), from_mpfr(r->sum), f);
}

/* ((1 + u/(1+u))^k - 1) |P|, and eta/2 where less than |P| by that is subnormal; 0 of 0. */
static rational due_product(const struct reference *r, enum format storage, enum format f)
{
    rational u = unit(f), product = from_mpfr(r->sum_abs);
    size_t k = (r->n > 0 ? r->n - 1 : 0) + (loses_digits(f, storage) ? r->n : 0);
    if (mpq_sgn(product) == 0)
        return whole(0);
    rational error = times(growth(k, over(u, one_and(u))), product);
    rational normal = from_double(format_facts[f].smallest_normal);
    return mpq_cmp(minus(product, error), normal) < 0 ? plus(error, half_smallest(f)) : error;
}

static rational due_extremum(const struct reference *r, enum format storage, enum format f)
{
    rational value = size_of(from_mpfr(r->sum));
    bool low = mpq_cmp(value, from_double(format_facts[f].smallest_normal)) < 0;
    bool index = exact_facts[r->of].form == FORM_INDEX;
    bool changes = loses_digits(f, storage) || (low && underflows(f, storage));
    return !index && changes ? rounded(whole(0), value, f) : whole(0);
}

rational due_bound(const struct theorem *t, const struct reference *r, enum format storage,
                   enum format accumulator)
{
    struct terms x = {r->n, from_mpfr(r->sum), from_mpfr(r->sum_abs), r->largest};
    enum format f = accumulator;
    rational u = unit(added_in(t, f)), of_abs = whole(0);
    switch (t->kind) {
    case THEOREM_ANY_ORDER:
        of_abs = any_order(r->n, u);
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
        return due_norm(t, r, storage, f);
    case THEOREM_MEAN:
        x.sum = from_mpfr(r->moment.sum);
        x.sum_abs = from_mpfr(r->moment.sum_abs);
        return rounded(
            over(due_tree(t, r->n, x.sum, x.sum_abs, PRODUCT_NONE, storage, f), whole(r->n)),
            from_mpfr(r->sum), f);
    case THEOREM_RUNNING_MEAN:
        return plus(running(r->n, and_change(x.sum_abs, storage, f),
                            and_change(from_double(r->largest), storage, f), f),
                    change(x.sum_abs, storage, f));
    case THEOREM_TEXTBOOK:
        return due_textbook(t, r, storage, f);
    case THEOREM_TWO_PASS:
        return due_two_pass(t, r, storage, f);
    case THEOREM_WELFORD:
        return due_welford(r, storage, f);
    case THEOREM_CHAN:
        return due_chan(t, r, storage, f);
    case THEOREM_PRODUCT:
        return due_product(r, storage, f);
    case THEOREM_EXTREMUM:
        return due_extremum(r, storage, f);
    case THEOREM_BLOCKS:
        return from_double(t->given);
    }
    return due_sum(t, &x, of_abs, storage, f);
}
