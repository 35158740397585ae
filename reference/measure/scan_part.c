#include "reference/measure/scan_part.h"

#include <math.h>

#include "reference/exact/mpfr.h"

/* Squares of block sums: 2^-3074 .. 2^2112. */
enum { SQUARES_PRECISION = 5300 };

static struct scan_rules rules_of(const struct scan *scan, const struct scan_output *out)
{
    struct scan_rules r = {.storage = scan->in.format,
                           .accumulator = out->accumulator,
                           .output = out->out.format,
                           .bound = out->bound,
                           .u = format_facts[out->accumulator].unit_roundoff};
    struct conversion by = theorem_conversion(out->product, r.storage, r.accumulator);
    r.input_u = by.relative;
    r.input_h = by.absolute;
    if (out->flushes) /* an element is perturbed by so much: see theorem_bound */
        r.input_h += 3 * format_facts[r.accumulator].smallest_normal;
    if (!format_holds(r.output, r.accumulator)) {
        const struct format_facts *f = &format_facts[r.output];
        r.output_most = measure_output_exact(r.output, r.accumulator);
        r.output_u = r.output_most < INFINITY ? 0 : f->unit_roundoff;
        r.output_h = f->smallest / 2;
    }
    return r;
}

void scan_part_begin(struct scan_part *part, const struct scan *scan, const struct scan_output *out,
                     const struct prefix_share *share, size_t begin)
{
    size_t n = scan_outputs(scan);
    *part = (struct scan_part){.scan = scan,
                               .out = out,
                               .rules = rules_of(scan, out),
                               .first_broken = n,
                               .walker = share->before,
                               .walked = begin};
    for (int t = 0; t < SCAN_TWINS; t++) {
        part->contrast[t].first_diff = n;
        exact_init(&part->contrast[t].relative);
    }
    mpfr_init2(part->squares, SQUARES_PRECISION);
    mpfr_set_zero(part->squares, 1);
    part->memo = scan->values ? theorem_memo_new() : NULL;
}

void scan_part_free(struct scan_part *part)
{
    mpfr_clear(part->squares);
    theorem_memo_free(part->memo);
}

/* ---- one item ---- */

static struct scan_item item_of(const struct scan_block *b, size_t i)
{
    return (struct scan_item){.result = b->result[i],
                              .hi = b->hi[i],
                              .lo = b->lo[i],
                              .slack = b->exact ? 0 : fabs(b->lo[i]) * 0x1p-52,
                              .abs_hi = b->abs_hi[i],
                              .abs_lo = b->abs_lo[i],
                              .terms = b->terms[i],
                              .height = b->height[i]};
}

static void take_figures(struct scan_part *part, size_t index, const struct scan_figures *f)
{
    for (int k = 0; k < SCAN_FIGURES; k++)
        if (!(f->value[k] < 0)) /* it may be NaN */
            scan_best_take(&part->best[k], &(struct scan_best){true, f->value[k], index});
    if (f->broken && part->broken++ == 0)
        part->first_broken = index;
}

void scan_bin_sum(const struct scan *scan, size_t bin, struct exact *sum)
{
    double x[ARRAY_BLOCK];
    size_t n = by_bin_count(scan->by_bin, bin), count;
    exact_init(sum);
    for (size_t i = 0; i < n; i += count) {
        count = n - i < ARRAY_BLOCK ? n - i : ARRAY_BLOCK;
        by_bin_decode(scan->by_bin, &scan->in, bin, i, count, x);
        exact_add_array(sum, &(struct array){FP64, count, x}, 0, count);
    }
}

bool scan_own_sum(const struct scan *scan, size_t i, struct exact *sum)
{
    if (scan->matrices)
        return matrices_sum(scan->matrices, i, sum);
    scan_bin_sum(scan, i, sum);
    return true;
}

size_t scan_own_terms(const struct scan *scan, size_t i)
{
    if (scan->values)
        return by_bin_count(scan->by_bin, row_values_row(scan->values, i));
    return scan->matrices ? scan->matrices->k + 1 : by_bin_count(scan->by_bin, i);
}

/* Moves the walker to where it covers what output `index` does. Indices never decrease. */
static void walk(struct scan_part *part, size_t index, double terms)
{
    size_t end = index + !part->scan->exclusive, first = end - (size_t)terms;
    if (part->scan->by_bin || part->scan->matrices) {
        scan_own_sum(part->scan, index, &part->walker);
        return;
    }
    if (first >= part->walked) {
        exact_init(&part->walker);
        part->walked = first;
    }
    exact_add_array(&part->walker, &part->scan->in, part->walked, end - part->walked);
    part->walked = end;
}

/* By three words of the exact prefix. */
static bool find_closely(struct scan_part *part, size_t index, struct scan_item *x,
                         struct scan_figures *f)
{
    struct running r;
    double word[3];
    walk(part, index, x->terms);
    running_zero(&r);
    running_add_exact(&r, &part->walker, false);
    x->slack = running_read(&r, word, 3) ? fabs(word[2]) * 0x1p-52 : 0;
    x->low = word[2];
    return scan_figures_find(f, &part->rules, x);
}

static double value_of(struct figure f)
{
    return f.known ? f.value : -1;
}

/* The exact sum and that of the magnitudes, of any size. */
static void read_exactly(struct scan_part *part, size_t index, double terms, struct reference *r)
{
    struct products products;
    if (part->scan->matrices) {
        matrices_products(part->scan->matrices, index, &products);
        products_get(r->sum, &products);
        products_get_abs(r->sum_abs, &products);
        return;
    }
    walk(part, index, terms);
    exact_get(r->sum, &part->walker);
    exact_get_abs(r->sum_abs, &part->walker);
}

static double larger(double most, const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        most = fabs(x[i]) > most && isfinite(x[i]) ? fabs(x[i]) : most;
    return most;
}

/* The largest magnitude of the finite elements that the output covers. */
static double largest_of(const struct scan *scan, size_t index, size_t terms)
{
    double x[ARRAY_BLOCK], most = 0;
    size_t end = index + !scan->exclusive, count;
    for (size_t i = 0; i < terms; i += count) {
        count = terms - i < ARRAY_BLOCK ? terms - i : ARRAY_BLOCK;
        if (scan->by_bin)
            by_bin_decode(scan->by_bin, &scan->in, index, i, count, x);
        else
            array_decode(&scan->in, end - terms + i, count, x);
        most = larger(most, x, count);
    }
    return most;
}

/* By the exact numbers themselves. */
static void measure_item(struct scan_part *part, size_t index, const struct scan_item *x,
                         struct scan_figures *f, struct scan_point *point)
{
    const struct scan_rules *rules = &part->rules;
    struct theorem theorem = {.kind = rules->bound,
                              .height = rules->bound == THEOREM_BLOCKS ? 0 : (size_t)x->height,
                              .given = x->height,
                              .flushing = part->out->flushes ? (size_t)x->terms : 0,
                              .folds = part->out->folds,
                              .product = part->out->product,
                              .memo = part->memo};
    struct reference sum = {.n = (size_t)x->terms}, *r = &sum;
    struct measure m;
    mpfr_inits2(MPFR_PREC_MIN, sum.sum, sum.sum_abs, (mpfr_ptr)0);
    if (part->scan->values)
        r = &part->scan->values->value[index];
    else
        read_exactly(part, index, x->terms, r);
    if (rules->bound == THEOREM_BINNED)
        r->largest = largest_of(part->scan, index, (size_t)x->terms);
    measure_output(&m, r, rules->storage, rules->accumulator, rules->output, x->result, &theorem);
    *f = (struct scan_figures){{value_of(m.err_abs), value_of(m.err_rel), value_of(m.err_ulp),
                                value_of(m.err_backward), value_of(m.err_over_bound)},
                               m.broken};
    part->overflow |= m.outcome == OUTCOME_OVERFLOW;
    part->nan |= m.outcome == OUTCOME_NAN;
    if (point) { /* its index is read by other threads */
        point->result = x->result;
        point->err_abs = m.err_abs;
        point->err_ulp = m.err_ulp;
        point->bound = m.bound;
        point->err_over_bound = m.err_over_bound;
    }
    mpfr_clears(sum.sum, sum.sum_abs, (mpfr_ptr)0);
}

/* Does |hi + lo| round to a number of f? */
static bool within_range(enum format f, double hi, double lo)
{
    const struct format_facts *facts = &format_facts[f];
    double threshold = facts->largest + format_ulp(f, facts->largest) / 2; /* fp64's: inf */
    bool inwards = (lo < 0 && hi > 0) || (lo > 0 && hi < 0);
    bool even = format_encode(f, facts->largest) % 2 == 0 && lo == 0;
    return fabs(hi) < threshold || (fabs(hi) == threshold && isfinite(hi) && (inwards || even));
}

/* Could something on the way overflow? See theorem_in_range. */
enum overflows { OVERFLOWS_NOT, OVERFLOWS_PERHAPS, OVERFLOWS_ASK };

static enum overflows may_overflow(const struct scan_rules *rules, const struct scan_item *x)
{
    const double near = SCAN_NEAR, most = fmin(format_facts[rules->accumulator].largest,
                                               format_facts[rules->output].largest);
    double reach = x->abs_hi + (x->abs_hi * rules->input_u + x->terms * rules->input_h);
    reach *= 1 + fmax(x->terms - 1, 0) * rules->u;
    switch (theorem_additions(rules->bound)) {
    case ADDS_PLAIN:
        if (rules->bound == THEOREM_NONE)
            return OVERFLOWS_PERHAPS;
        if (reach * (1 + near) < most)
            return OVERFLOWS_NOT;
        return reach * (1 - near) > most ? OVERFLOWS_PERHAPS : OVERFLOWS_ASK;
    case ADDS_WIDENED:
    case ADDS_CARRIED:
        return reach * (1 - near) > most ? OVERFLOWS_PERHAPS : OVERFLOWS_ASK;
    case ADDS_BINNED:
    case ADDS_EXACT:
    case ADDS_OTHER:
        break;
    }
    return OVERFLOWS_ASK;
}

/* Gives the figures of measure_output if the result or the exact prefix is not finite, at less
 * cost, as there may be many. Returns false if both are finite, such as numbers too large for
 * doubles, and where these do not tell whether something could overflow. */
static bool find_odd(struct scan_part *part, size_t index, const struct scan_item *x,
                     struct scan_figures *f)
{
    double error = isnan(x->result) ? NAN : INFINITY;
    *f = (struct scan_figures){{-1, -1, -1, -1, -1}, false};
    if (!isfinite(x->hi))
        walk(part, index, x->terms);
    if (isnan(x->hi) || (isinf(x->hi) && (part->walker.inf[0] || part->walker.inf[1]))) {
        bool same = isnan(x->hi) ? isnan(x->result) : x->hi == x->result;
        if (!same)
            f->value[SCAN_ABS] = isinf(x->hi) ? error : INFINITY;
        part->overflow |= isinf(x->hi) && isinf(x->result) && !same;
        part->nan |= isnan(x->result);
        return true;
    }
    if (isfinite(x->result))
        return false;
    f->value[SCAN_ABS] = f->value[SCAN_ULP] = error;
    if (x->hi != 0)
        f->value[SCAN_REL] = error;
    if (x->abs_hi != 0)
        f->value[SCAN_BACKWARD] = error;
    bool other = isinf(x->result) && (x->result < 0) != (x->hi < 0);
    if (!other && !within_range(part->rules.output, x->hi, x->lo)) {
        part->nan |= isnan(x->result);
        return true;
    }
    part->overflow = true;
    enum overflows may = may_overflow(&part->rules, x);
    f->broken = may == OVERFLOWS_NOT;
    if (f->broken)
        f->value[SCAN_OVER_BOUND] = INFINITY;
    return may != OVERFLOWS_ASK;
}

/* ---- a block ---- */

enum { MARK_FIGURE = 1, MARK_ODD = 2, MARK_POINT = 4 };

/* A little less than a figure that an estimate stands for. */
static double lowered(double x)
{
    return x * (1 - 0x1p-46) - 0x1p-1072;
}

/* Marks the items that may have the largest figure so far, and all that may exceed their bound.
 * Zeros count only while nothing is known, and then one does. */
static bool mark_figure(const struct scan_best *best, const struct scan_block *b, int k,
                        uint8_t *mark)
{
    double cap = k == SCAN_OVER_BOUND ? lowered(1) : INFINITY;
    double most = b->most[k], least = best->known ? lowered(best->value) : 0;
    bool known = best->known, marked = false;
    if (least > cap)
        least = cap;
    if (known && !(most > 0 && most >= least))
        return false;
    if (!b->loose && lowered(most) > least)
        least = lowered(most) < cap ? lowered(most) : cap;
    for (size_t i = 0; i < b->count; i++) {
        double x = b->estimate[k][i];
        if (x >= least && (x > 0 || (x == 0 && !known))) {
            mark[i] |= MARK_FIGURE;
            known = marked = true;
        }
    }
    return marked;
}

static bool mark_points(const struct scan_part *part, size_t begin, size_t count, uint8_t *mark)
{
    bool marked = false;
    for (size_t k = 0; k < part->points; k++) {
        size_t i = part->point[k].index;
        if (i >= begin && i - begin < count) {
            mark[i - begin] |= MARK_POINT;
            marked = true;
        }
    }
    return marked;
}

static bool mark_odd(const struct scan_block *b, uint8_t *mark)
{
    for (size_t i = 0; b->odd && i < b->count; i++)
        if (isnan(b->estimate[SCAN_ABS][i]))
            mark[i] |= MARK_ODD;
    return b->odd;
}

static void add_squares(struct scan_part *part, const struct scan_block *b)
{
    double sum[2];
    int exponent;
    mpfr_t term;
    mpfr_init2(term, 53);
    scan_block_squares(b, sum, &exponent);
    for (int i = 0; i < 2; i++) {
        mpfr_set_d(term, sum[i], MPFR_RNDN);
        mpfr_mul_2si(term, term, 2 * exponent, MPFR_RNDN);
        mpfr_add(part->squares, part->squares, term, MPFR_RNDN);
    }
    for (size_t i = 0; i < b->count; i++)
        part->squared += b->estimate[SCAN_ULP][i] >= 0;
    mpfr_clear(term);
}

/* One that the block's estimates left out. */
static void add_square(struct scan_part *part, double x)
{
    mpfr_t term;
    if (!(x >= 0 && isfinite(x)))
        return;
    mpfr_init2(term, 106);
    mpfr_set_d(term, x, MPFR_RNDN);
    mpfr_sqr(term, term, MPFR_RNDN);
    mpfr_add(part->squares, part->squares, term, MPFR_RNDN);
    part->squared++;
    mpfr_clear(term);
}

static struct scan_point *point_of(const struct scan_part *part, size_t index)
{
    size_t k = 0;
    while (part->point[k].index != index)
        k++;
    return &part->point[k];
}

static void find_item(struct scan_part *part, const struct scan_block *b, size_t begin, size_t i,
                      uint8_t mark)
{
    struct scan_item x = item_of(b, i);
    struct scan_figures f;
    struct scan_point *point = mark & MARK_POINT ? point_of(part, begin + i) : NULL;
    bool odd = mark & MARK_ODD, lost = odd && b->lost && b->lost[i];
    bool found =
        lost  ? false
        : odd ? find_odd(part, begin + i, &x, &f)
              : scan_figures_find(&f, &part->rules, &x) || find_closely(part, begin + i, &x, &f);
    if (!found || point)
        measure_item(part, begin + i, &x, &f, point);
    take_figures(part, begin + i, &f);
    part->not_finite += f.broken && !isfinite(x.result);
    if (odd)
        add_square(part, f.value[SCAN_ULP]);
}

void scan_part_add(struct scan_part *part, struct scan_block *b, size_t begin)
{
    uint8_t mark[SCAN_BLOCK] = {0};
    bool marked = false;
    array_decode(&part->out->out, begin, b->count, b->result);
    bool has_height = theorem_has_height(part->rules.bound);
    for (size_t i = 0; i < b->count; i++)
        b->height[i] = part->rules.bound == THEOREM_BLOCKS
                           ? part->out->given(part->out->context, begin + i)
                       : has_height && b->terms[i] > 0
                           ? (double)part->out->height(part->out->context, begin + i)
                           : 0;
    scan_block_estimate(b, &part->rules);
    for (int k = 0; k < SCAN_FIGURES; k++)
        marked |= mark_figure(&part->best[k], b, k, mark);
    marked |= mark_odd(b, mark);
    marked |= mark_points(part, begin, b->count, mark);
    for (size_t i = 0; marked && i < b->count; i++)
        if (mark[i])
            find_item(part, b, begin, i, mark[i]);
    add_squares(part, b);
}
