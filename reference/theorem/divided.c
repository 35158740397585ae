/* The theorems of elements that are divided by a root, with their proof.
 *
 * y = d / sqrt(w), w = T + epsilon. RMSNorm: d = x, T the mean of squares. LayerNorm: d = x - M, M
 * the mean, T the variance. A method computes t for T, |t - T| <= D, and m for M, |m - M| <= e,
 * each as another theorem says; then, each operation rounded,
 *
 *     a = x~ - m (or x~), s = t + epsilon~, r = 1 / sqrt(s), a r.
 *
 * x~ is x but for c, epsilon~ is epsilon but for a known part.
 *
 * - a. x~ - m is d but for c + e, and rounding adds u (|d| + c + e): it cannot underflow. So |a -
 * d|
 *   <= (k - 1) |d| + k (c + e), k = 1 + u; where nothing is taken away, with k = 1 and e = 0.
 * - r. With theta = (D + |epsilon~ - epsilon|) / w < 1, s lies between w (1 -+ theta) (1 -+ u). It
 * is above 0, so that its root is neither too large nor too small for a normal number, and r
 * sqrt(w) lies between B = (1-u) / sqrt((1+theta) (1+u)) and A = (1+u)^2 / sqrt(1-theta), as 1 /
 * sqrt(1-u)
 *   <= 1+u for u <= 1/2. A B = (1+u)^(3/2) (1-u) / sqrt(1 - theta^2) >= 1 for u <= 1/4, so A + B >=
 * 2 and A - 1 >= 1 - B: r is 1 / sqrt(w) but for rho = A - 1, relatively.
 * - a r is y but for |a| |r - 1/sqrt(w)| + |a - d| / sqrt(w), which is at most
 *
 *       |y| (k (1+rho) - 1) + k (1+rho) (c+e) / sqrt(w),
 *
 *   and is rounded.
 *
 * All this holds where nothing overflows; else 1 / sqrt(inf) would be 0, and so the results. Terms
 * of the sums of squares, and Welford's and Chan's, are not negative, and rounding keeps the order,
 * so no sum on the way is above the last; that is n (t + eta/2) / (1-u) at most. s is not above t
 * + 2 epsilon, and eta/2 is less than epsilon. So n (T' + D + 2 epsilon) (1+8u) must not be above
 * the largest number, where T' is T or, of the textbook's, the mean of squares, whose D is not less
 * than that of its sum of squares, nor than that of its mean's square. Distances need 2X + e, X the
 * largest magnitude, and sums of elements n (A + e), A the mean magnitude, each times 1+8u. */
#include <stdlib.h>

#include "reference/theorem/factors.h"

/* What a method's mean and its mean of squares, or variance, err by. */
struct errors {
    mpfr_t mean, square; /* e, D */
    mpfr_t sums;         /* T' */
    bool taken;          /* is the mean taken away? */
    bool summed;         /* is it a sum of the elements, divided? */
};

static bool fits(const mpfr_t x, double u, enum format f)
{
    mpfr_t most;
    mpfr_init2(most, THEOREM_PRECISION);
    mpfr_mul_d(most, x, 1 + 8 * u, MPFR_RNDU);
    bool fit = mpfr_cmp_d(most, format_facts[f].largest) <= 0;
    mpfr_clear(most);
    return fit;
}

/* Can nothing overflow? */
static bool all_fit(const struct errors *e, const struct reference *row, enum format storage,
                    enum format f, double epsilon)
{
    double u = format_facts[f].unit_roundoff;
    mpfr_t x;
    mpfr_init2(x, THEOREM_PRECISION);
    mpfr_add(x, e->sums, e->square, MPFR_RNDU);
    mpfr_add_d(x, x, 2 * epsilon, MPFR_RNDU);
    mpfr_mul_ui(x, x, row->n, MPFR_RNDU);
    bool fit = fits(x, u, f);
    if (e->taken) {
        mpfr_t largest;
        mpfr_init2(largest, THEOREM_PRECISION);
        mpfr_set_d(largest, row->largest, MPFR_RNDU);
        theorem_element(x, largest, storage, f);
        mpfr_add(x, x, largest, MPFR_RNDU);
        mpfr_mul_2ui(x, x, 1, MPFR_RNDU);
        mpfr_add(x, x, e->mean, MPFR_RNDU);
        fit = fit && fits(x, u, f);
        mpfr_clear(largest);
    }
    if (e->summed) {
        mpfr_mul_ui(x, e->mean, row->n, MPFR_RNDU);
        mpfr_add(x, x, row->moment.sum_abs, MPFR_RNDU);
        fit = fit && fits(x, u, f);
    }
    mpfr_clear(x);
    return fit;
}

/* Sets rho to (1+u)^2 / sqrt(1 - theta) - 1; false where theta >= 1. lowest: w, rounded down. */
static bool set_root_error(mpfr_t rho, const struct errors *e, const mpfr_t lowest, double epsilon,
                           enum format f)
{
    mpfr_t theta, u;
    mpfr_inits2(THEOREM_PRECISION, theta, u, (mpfr_ptr)0);
    mpfr_set_d(theta, epsilon, MPFR_RNDN);
    mpfr_sub_d(theta, theta, format_round(f, epsilon), MPFR_RNDN); /* exact */
    mpfr_abs(theta, theta, MPFR_RNDN);
    mpfr_add(theta, theta, e->square, MPFR_RNDU);
    mpfr_div(theta, theta, lowest, MPFR_RNDU);
    bool says = mpfr_cmp_ui(theta, 1) < 0;
    mpfr_ui_sub(theta, 1, theta, MPFR_RNDD);
    if (says) {
        mpfr_sqrt(theta, theta, MPFR_RNDD);
        mpfr_set_d(u, format_facts[f].unit_roundoff, MPFR_RNDN);
        theorem_growth(rho, 2, u);
        mpfr_add_ui(rho, rho, 1, MPFR_RNDU);
        mpfr_div(rho, rho, theta, MPFR_RNDU);
        mpfr_sub_ui(rho, rho, 1, MPFR_RNDU);
    }
    mpfr_clears(theta, u, (mpfr_ptr)0);
    return says;
}

/* What the bounds of a row's elements share: k (1+rho), and sqrt(w), rounded down. */
struct part {
    struct errors e;
    mpfr_t grown, root;
};

/* Sets them from e and D. lowest: T, rounded down; row: the reference of the mean of squares or of
 * the variance. */
static bool set_shared(struct part *p, const struct reference *row, const mpfr_t lowest,
                       double epsilon, enum format storage, enum format f)
{
    double u = p->e.taken ? format_facts[f].unit_roundoff : 0;
    mpfr_t w, more;
    mpfr_inits2(THEOREM_PRECISION, w, more, (mpfr_ptr)0);
    mpfr_add_d(w, lowest, epsilon, MPFR_RNDD);
    bool says =
        all_fit(&p->e, row, storage, f, epsilon) && set_root_error(p->grown, &p->e, w, epsilon, f);
    if (says) {
        mpfr_add_ui(p->grown, p->grown, 1, MPFR_RNDU);
        mpfr_mul_d(more, p->grown, u, MPFR_RNDU);
        mpfr_add(p->grown, p->grown, more, MPFR_RNDU);
        mpfr_sqrt(p->root, w, MPFR_RNDD);
    }
    mpfr_clears(w, more, (mpfr_ptr)0);
    return says;
}

static void set_bound(mpfr_t bound, const struct part *p, const struct reference *r,
                      enum format storage, enum format f)
{
    mpfr_t apart, grown, error;
    mpfr_inits2(THEOREM_PRECISION, apart, grown, error, (mpfr_ptr)0);
    mpfr_set_d(apart, r->element, MPFR_RNDN);
    mpfr_abs(apart, apart, MPFR_RNDN);
    theorem_element(apart, apart, storage, f);
    mpfr_add(apart, apart, p->e.mean, MPFR_RNDU);
    mpfr_div(apart, apart, p->root, MPFR_RNDU);
    mpfr_mul(apart, apart, p->grown, MPFR_RNDU);
    mpfr_sub_ui(grown, p->grown, 1, MPFR_RNDU);
    mpfr_fma(error, grown, r->sum_abs, apart, MPFR_RNDU);
    theorem_last_rounding(error, r, f);
    mpfr_set(bound, error, MPFR_RNDU);
    mpfr_clears(apart, grown, error, (mpfr_ptr)0);
}

typedef bool set_part(struct part *p, const struct theorem *t, const struct reference *r,
                      enum format storage, enum format f);

/* The part of one row, with what it was set from. */
struct row {
    bool set, says;
    set_part *by;
    struct theorem of;
    enum format storage, accumulator;
    size_t n;
    double largest, smallest;
    mpfr_t sum, sum_abs, squares; /* of the row */
    struct part part;
};

/* The next element is mostly of the same row, or, where rows take turns in memory, of one of the
 * last so many. Rows are set in turn, from the first one on. */
struct theorem_memo {
    struct row row[THEOREM_MEMO_ROWS];
    size_t rows, oldest;
    struct exponentials_memo *exponentials; /* NULL: nothing yet */
};

struct exponentials_memo **theorem_memo_exponentials(struct theorem_memo *m)
{
    return &m->exponentials;
}

static void row_begin(struct row *m)
{
    *m = (struct row){.set = false};
    mpfr_inits2(MPFR_PREC_MIN, m->sum, m->sum_abs, m->squares, (mpfr_ptr)0);
    mpfr_inits2(THEOREM_PRECISION, m->part.e.mean, m->part.e.square, m->part.e.sums, m->part.grown,
                m->part.root, (mpfr_ptr)0);
}

static void row_end(struct row *m)
{
    mpfr_clears(m->sum, m->sum_abs, m->squares, m->part.e.mean, m->part.e.square, m->part.e.sums,
                m->part.grown, m->part.root, (mpfr_ptr)0);
}

struct theorem_memo *theorem_memo_new(void)
{
    return calloc(1, sizeof(struct theorem_memo));
}

void theorem_memo_free(struct theorem_memo *m)
{
    for (size_t i = 0; m && i < m->rows; i++)
        row_end(&m->row[i]);
    if (m)
        exponentials_memo_free(m->exponentials);
    free(m);
}

static bool same_theorem(const struct theorem *a, const struct theorem *b)
{
    return a->kind == b->kind && a->height == b->height && a->plain_height == b->plain_height &&
           a->folds == b->folds && a->flushing == b->flushing && a->product == b->product;
}

static bool same_row(const struct row *m, const struct reference *r)
{
    return m->n == r->n && m->largest == r->largest && m->smallest == r->smallest &&
           mpfr_equal_p(m->sum, r->moment.sum) && mpfr_equal_p(m->sum_abs, r->moment.sum_abs) &&
           mpfr_equal_p(m->squares, r->moment.squares);
}

static void keep(mpfr_t to, const mpfr_t x)
{
    mpfr_set_prec(to, mpfr_get_prec(x));
    mpfr_set(to, x, MPFR_RNDN);
}

static void row_set(struct row *m, const struct theorem *t, const struct reference *r,
                    enum format storage, enum format f, set_part *by)
{
    m->set = true;
    m->by = by;
    m->of = *t;
    m->storage = storage;
    m->accumulator = f;
    m->n = r->n;
    m->largest = r->largest;
    m->smallest = r->smallest;
    keep(m->sum, r->moment.sum);
    keep(m->sum_abs, r->moment.sum_abs);
    keep(m->squares, r->moment.squares);
    mpfr_set_zero(m->part.e.mean, 1);
    m->part.e.taken = m->part.e.summed = false;
    m->says = by(&m->part, t, r, storage, f);
}

/* The row of r in the memo, or the one to set anew. */
static struct row *row_of(struct theorem_memo *memo, const struct theorem *t,
                          const struct reference *r, enum format storage, enum format f,
                          set_part *by)
{
    for (size_t i = 0; i < memo->rows; i++) {
        struct row *m = &memo->row[i];
        if (same_row(m, r) && m->by == by && m->storage == storage && m->accumulator == f &&
            same_theorem(&m->of, t))
            return m;
    }
    struct row *m = &memo->row[memo->oldest];
    memo->oldest = (memo->oldest + 1) % THEOREM_MEMO_ROWS;
    if (memo->rows < THEOREM_MEMO_ROWS)
        row_begin(&memo->row[memo->rows++]);
    m->set = false;
    return m;
}

static bool of_element(mpfr_t bound, const struct theorem *t, const struct reference *r,
                       enum format storage, enum format f, set_part *by)
{
    struct row own, *m = &own;
    if (t->memo)
        m = row_of(t->memo, t, r, storage, f, by);
    else
        row_begin(m);
    if (!m->set)
        row_set(m, t, r, storage, f, by);
    bool says = m->says;
    if (says)
        set_bound(bound, &m->part, r, storage, f);
    if (!t->memo)
        row_end(m);
    return says;
}

static bool set_rms(struct part *p, const struct theorem *t, const struct reference *r,
                    enum format storage, enum format f)
{
    mpfr_t low;
    mpfr_div_ui(p->e.sums, r->moment.squares, r->n, MPFR_RNDU);
    bool says =
        theorem_mean_error(p->e.square, t, r, p->e.sums, p->e.sums, PRODUCT_ROUNDED, storage, f);
    mpfr_init2(low, THEOREM_PRECISION);
    mpfr_div_ui(low, r->moment.squares, r->n, MPFR_RNDD);
    says = says && set_shared(p, r, low, exact_facts[r->of].epsilon, storage, f);
    mpfr_clear(low);
    return says;
}

bool theorem_rmsnorm(mpfr_t bound, const struct theorem *t, const struct reference *r,
                     enum format storage, enum format accumulator)
{
    return of_element(bound, t, r, storage, accumulator, set_rms);
}

/* Sets e->mean from the reference of the variance, where the mean is a sum divided by n. */
static bool of_sum(struct errors *e, const struct theorem *t, const struct reference *row,
                   enum format storage, enum format f)
{
    mpfr_t mean, mean_abs;
    mpfr_inits2(THEOREM_PRECISION, mean, mean_abs, (mpfr_ptr)0);
    mpfr_div_ui(mean, row->moment.sum, row->n, MPFR_RNDA);
    mpfr_abs(mean, mean, MPFR_RNDN);
    mpfr_div_ui(mean_abs, row->moment.sum_abs, row->n, MPFR_RNDU);
    e->summed = true;
    bool says = theorem_mean_error(e->mean, t, row, mean, mean_abs, PRODUCT_NONE, storage, f);
    mpfr_clears(mean, mean_abs, (mpfr_ptr)0);
    return says;
}

/* As it runs. */
static bool of_running(struct errors *e, const struct theorem *t, const struct reference *row,
                       enum format storage, enum format f)
{
    struct reference mean;
    reference_of_row(&mean, EXACT_MEAN, row);
    bool says = theorem_running_mean(e->mean, t, &mean, storage, f);
    reference_free(&mean);
    return says;
}

static bool of_parts(struct errors *e, const struct theorem *t, const struct reference *row,
                     enum format storage, enum format f)
{
    theorem_chan_mean(e->mean, t, row, storage, f);
    return true;
}

typedef bool set_mean(struct errors *e, const struct theorem *t, const struct reference *row,
                      enum format storage, enum format f);

static bool set_layer(struct part *p, const struct theorem *t, const struct reference *r,
                      enum format storage, enum format f, theorem_of_value *variance,
                      set_mean *mean, bool squares)
{
    struct reference row;
    p->e.taken = true;
    reference_of_row(&row, EXACT_VARIANCE, r);
    mpfr_set(p->e.sums, squares ? row.sum_abs : row.sum, MPFR_RNDU);
    bool says = variance(p->e.square, t, &row, storage, f) && mean(&p->e, t, &row, storage, f) &&
                set_shared(p, &row, row.sum, exact_facts[r->of].epsilon, storage, f);
    reference_free(&row);
    return says;
}

static bool set_textbook(struct part *p, const struct theorem *t, const struct reference *r,
                         enum format storage, enum format f)
{
    return set_layer(p, t, r, storage, f, theorem_textbook, of_sum, true);
}

static bool set_two_pass(struct part *p, const struct theorem *t, const struct reference *r,
                         enum format storage, enum format f)
{
    return set_layer(p, t, r, storage, f, theorem_two_pass, of_sum, false);
}

static bool set_welford(struct part *p, const struct theorem *t, const struct reference *r,
                        enum format storage, enum format f)
{
    return set_layer(p, t, r, storage, f, theorem_welford, of_running, false);
}

static bool set_chan(struct part *p, const struct theorem *t, const struct reference *r,
                     enum format storage, enum format f)
{
    return set_layer(p, t, r, storage, f, theorem_chan, of_parts, false);
}

bool theorem_layernorm_textbook(mpfr_t bound, const struct theorem *t, const struct reference *r,
                                enum format storage, enum format accumulator)
{
    return of_element(bound, t, r, storage, accumulator, set_textbook);
}

bool theorem_layernorm_two_pass(mpfr_t bound, const struct theorem *t, const struct reference *r,
                                enum format storage, enum format accumulator)
{
    return of_element(bound, t, r, storage, accumulator, set_two_pass);
}

bool theorem_layernorm_welford(mpfr_t bound, const struct theorem *t, const struct reference *r,
                               enum format storage, enum format accumulator)
{
    return of_element(bound, t, r, storage, accumulator, set_welford);
}

bool theorem_layernorm_chan(mpfr_t bound, const struct theorem *t, const struct reference *r,
                            enum format storage, enum format accumulator)
{
    return of_element(bound, t, r, storage, accumulator, set_chan);
}
