/* What theorem_bound has to say of what is no sum, in rational arithmetic. */
#include "tests/support/due_parts.h"

#include <math.h>
#include <stdlib.h>

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
        return due_rounded(due_root(t, r->n, squares, storage, f), norm, f);
    int k = due_scale(r, f);
    rational error = due_root(t, r->n, times_power(squares, 2 * k), f, f);
    return plus(due_rounded(times_power(error, -k), norm, f), due_half_smallest(f));
}

/* What rounding elements changes of x, an element or the mean magnitude of some. */
static rational change(rational x, enum format storage, enum format f)
{
    rational by = due_loses_digits(f, storage) ? times(due_unit(f), x) : whole(0);
    return due_underflows(f, storage) ? plus(by, due_half_smallest(f)) : by;
}

static rational and_change(rational x, enum format storage, enum format f)
{
    return plus(x, change(x, storage, f));
}

/* (2u + u^2) (A + X) + (n+1)/2 (u X + eta/2) */
static rational running(size_t n, rational mean_abs, rational largest, enum format f)
{
    rational u = due_unit(f), step = plus(times(u, largest), due_half_smallest(f));
    return plus(times(due_growth(2, u), plus(mean_abs, largest)),
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
    return due_rounded(over(due_tree(t, n, sum, sum_abs, product, storage, f), whole(n)), mean, f);
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
    rational of_square = due_rounded(cross(e, whole(2), x.mean), square(x.mean), f);
    rational of_squares = due_mean(t, r->n, squares, squares, PRODUCT_ROUNDED, storage, f);
    return due_rounded(plus(of_square, of_squares), from_mpfr(r->sum), f);
}

static rational due_two_pass(const struct theorem *t, const struct reference *r,
                             enum format storage, enum format f)
{
    struct population x = population_of(r, storage, f);
    rational e = due_mean(t, r->n, x.mean, x.mean_abs, PRODUCT_NONE, f, f);
    rational v = plus(square(x.deviation), square(e)), lost = times(due_growth(2, due_unit(f)), v);
    rational all = plus(v, lost);
    rational of_all = due_mean(t, r->n, all, all, PRODUCT_ROUNDED, f, f);
    return plus(plus(square(e), x.moved), plus(lost, of_all));
}

static rational due_welford(const struct reference *r, enum format storage, enum format f)
{
    struct population x = population_of(r, storage, f);
    rational u = due_unit(f), e = running(r->n, x.largest, x.largest, f);
    rational apart = cross(e, due_one_and(root(whole(2))), x.deviation);
    rational products = plus(square(x.deviation), apart);
    rational lost = plus(times(due_growth(3, u), products), due_half_smallest(f));
    rational added = times(due_any_order(r->n, u), plus(products, lost));
    return due_rounded(plus(plus(apart, lost), plus(added, x.moved)), from_mpfr(r->sum), f);
}

/* z: what underflows of a merge. */
static rational chan_lost(size_t n, rational largest, enum format f)
{
    rational half = due_half_smallest(f), d = times(whole(2), largest);
    if ((double)n * format_facts[f].smallest_normal > 1) /* k2 / k may underflow */
        return plus(half, times(times(square(due_one_and(due_unit(f))), d), half));
    return half;
}

static rational chan_mean(const struct theorem *t, size_t n, rational largest, enum format f)
{
    rational u = due_unit(f), all = plus(due_growth(3, u), u);
    return times(whole(t->height), plus(times(all, largest), chan_lost(n, largest, f)));
}

static rational due_chan(const struct theorem *t, const struct reference *r, enum format storage,
                         enum format f)
{
    struct population x = population_of(r, storage, f);
    rational u = due_unit(f), half = due_half_smallest(f), h = whole(t->height);
    rational cubed = to_power(due_one_and(u), 3), d = times(whole(2), x.largest);
    rational z = chan_lost(r->n, x.largest, f), e = chan_mean(t, r->n, x.largest, f),
             v = times(root(times(whole(2), h)), e);
    rational apart = cross(v, whole(2), x.deviation);
    rational products = plus(square(x.deviation), apart);
    rational of_level = plus(times(times(cubed, d), z), times(due_one_and(u), half));
    rational lost = plus(times(due_growth(6, u), products), plus(times(h, of_level), half));
    rational added = times(due_growth(2 * t->height, u), plus(products, lost));
    return due_rounded(plus(plus(apart, lost), plus(added, x.moved)), from_mpfr(r->sum), f);
}

/* ((1 + u/(1+u))^k - 1) |P|, and eta/2 where less than |P| by that is subnormal; 0 of 0. */
static rational due_product(const struct reference *r, enum format storage, enum format f)
{
    rational u = due_unit(f), product = from_mpfr(r->sum_abs);
    size_t k = (r->n > 0 ? r->n - 1 : 0) + (due_loses_digits(f, storage) ? r->n : 0);
    if (mpq_sgn(product) == 0)
        return whole(0);
    rational error = times(due_growth(k, over(u, due_one_and(u))), product);
    rational normal = from_double(format_facts[f].smallest_normal);
    return mpq_cmp(minus(product, error), normal) < 0 ? plus(error, due_half_smallest(f)) : error;
}

static rational due_extremum(const struct reference *r, enum format storage, enum format f)
{
    rational value = size_of(from_mpfr(r->sum));
    bool low = mpq_cmp(value, from_double(format_facts[f].smallest_normal)) < 0;
    bool index = exact_facts[r->of].form == FORM_INDEX;
    bool changes = due_loses_digits(f, storage) || (low && due_underflows(f, storage));
    return !index && changes ? due_rounded(whole(0), value, f) : whole(0);
}

/* ---- elements divided by a root ---- */

/* What a method errs by before it divides: its mean, its mean of squares or variance T; and what
 * must not overflow beside sums of squares of mean T'. */
struct before {
    rational mean, square, value, squares;
    bool taken, summed;
};

static struct before before_rms(const struct theorem *t, const struct reference *r,
                                enum format storage, enum format f)
{
    rational squares = over(from_mpfr(r->moment.squares), whole(r->n));
    rational d = due_mean(t, r->n, squares, squares, PRODUCT_ROUNDED, storage, f);
    return (struct before){whole(0), d, squares, squares, false, false};
}

static struct before before_layer(const struct theorem *t, const struct reference *r,
                                  enum format storage, enum format f)
{
    rational n = whole(r->n), mean = over(size_of(from_mpfr(r->moment.sum)), n);
    rational mean_abs = over(from_mpfr(r->moment.sum_abs), n);
    rational squares = over(from_mpfr(r->moment.squares), n);
    rational variance = minus(squares, square(mean)), largest = from_double(r->largest);
    struct before b = {.value = variance, .squares = variance, .taken = true};
    struct reference row;
    reference_of_row(&row, EXACT_VARIANCE, r);
    b.summed = t->kind == THEOREM_LAYERNORM_TEXTBOOK || t->kind == THEOREM_LAYERNORM_TWO_PASS;
    if (b.summed)
        b.mean = due_mean(t, r->n, mean, mean_abs, PRODUCT_NONE, storage, f);
    if (t->kind == THEOREM_LAYERNORM_TEXTBOOK) {
        b.square = due_textbook(t, &row, storage, f);
        b.squares = squares;
    } else if (t->kind == THEOREM_LAYERNORM_TWO_PASS)
        b.square = due_two_pass(t, &row, storage, f);
    else if (t->kind == THEOREM_LAYERNORM_WELFORD) {
        b.square = due_welford(&row, storage, f);
        b.mean =
            running(r->n, and_change(mean_abs, storage, f), and_change(largest, storage, f), f);
        b.mean = plus(b.mean, change(mean_abs, storage, f));
    } else {
        b.square = due_chan(t, &row, storage, f);
        b.mean = plus(chan_mean(t, r->n, and_change(largest, storage, f), f),
                      change(mean_abs, storage, f));
    }
    reference_free(&row);
    return b;
}

static bool reaches(rational x, enum format f)
{
    rational most = times(x, due_one_and(times(whole(8), due_unit(f))));
    return mpq_cmp(most, from_double(format_facts[f].largest)) > 0;
}

static bool may_overflow(const struct before *b, const struct reference *r, rational epsilon,
                         enum format storage, enum format f)
{
    rational largest = and_change(from_double(r->largest), storage, f);
    rational under = plus(plus(b->squares, b->square), times(whole(2), epsilon));
    rational sums = plus(from_mpfr(r->moment.sum_abs), times(whole(r->n), b->mean));
    return reaches(times(whole(r->n), under), f) ||
           (b->taken && reaches(plus(times(whole(2), largest), b->mean), f)) ||
           (b->summed && reaches(sums, f));
}

/* NULL where it says nothing. */
static rational due_divided(const struct theorem *t, const struct reference *r, enum format storage,
                            enum format f)
{
    struct before b =
        t->kind == THEOREM_RMSNORM ? before_rms(t, r, storage, f) : before_layer(t, r, storage, f);
    double added = exact_facts[r->of].epsilon;
    rational epsilon = from_double(added), w = plus(b.value, epsilon), u = due_unit(f);
    rational off = size_of(minus(epsilon, from_double(format_round(f, added))));
    rational left = minus(whole(1), over(plus(b.square, off), w));
    if (mpq_sgn(left) <= 0 || may_overflow(&b, r, epsilon, storage, f))
        return NULL;
    rational k = over(square(due_one_and(u)), root(left));
    k = b.taken ? times(k, due_one_and(u)) : k;
    rational away = plus(b.mean, change(size_of(from_double(r->element)), storage, f));
    rational value = from_mpfr(r->sum);
    rational error = plus(times(size_of(value), minus(k, whole(1))), times(k, over(away, root(w))));
    return due_rounded(error, value, f);
}

rational due_value(const struct theorem *t, const struct reference *r, enum format storage,
                   enum format f)
{
    switch (t->kind) {
    case THEOREM_NORM:
    case THEOREM_SCALED_NORM:
        return due_norm(t, r, storage, f);
    case THEOREM_MEAN:
        return due_rounded(over(due_tree(t, r->n, from_mpfr(r->moment.sum),
                                         from_mpfr(r->moment.sum_abs), PRODUCT_NONE, storage, f),
                                whole(r->n)),
                           from_mpfr(r->sum), f);
    case THEOREM_RUNNING_MEAN:
        return plus(running(r->n, and_change(from_mpfr(r->sum_abs), storage, f),
                            and_change(from_double(r->largest), storage, f), f),
                    change(from_mpfr(r->sum_abs), storage, f));
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
    case THEOREM_RMSNORM:
    case THEOREM_LAYERNORM_TEXTBOOK:
    case THEOREM_LAYERNORM_TWO_PASS:
    case THEOREM_LAYERNORM_WELFORD:
    case THEOREM_LAYERNORM_CHAN:
        return due_divided(t, r, storage, f);
    case THEOREM_ANY_ORDER:
    case THEOREM_TREE:
    case THEOREM_COMPENSATED:
    case THEOREM_KAHAN:
    case THEOREM_K_FOLD:
    case THEOREM_DOUBLE_WORD:
    case THEOREM_BLOCKED:
    case THEOREM_WIDENED:
    case THEOREM_CORRECTLY_ROUNDED:
    case THEOREM_BINNED:
    case THEOREM_SPLIT:
    case THEOREM_EXPONENTIALS:
    case THEOREM_RESCALED:
    case THEOREM_BLOCKS:
    case THEOREM_NONE:
    case THEOREMS:
        break;
    }
    return NULL;
}
