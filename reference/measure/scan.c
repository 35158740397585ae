#include "reference/measure/scan.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "reference/measure/scan_part.h"
#include "reference/exact/mpfr.h"
#include "reference/base/shares.h"

/* --- One output beside another: a twin's, or its own one index earlier --- */

/* |x - y| / |y|, y a number but not 0. */
static double relative(double x, double y)
{
    if (isinf(x - y) && isfinite(x)) {
        x /= 2;
        y /= 2;
    }
    return fabs(x - y) / fabs(y);
}

static void compare_twin(struct scan_contrast *c, const struct array *out, const struct array *twin,
                         const struct scan_block *b, size_t begin)
{
    size_t width = (size_t)format_facts[out->format].bytes;
    double difference[SCAN_BLOCK];
    size_t differences = 0;
    c->compared += b->count;
    if (memcmp((const char *)out->data + begin * width, (const char *)twin->data + begin * width,
               b->count * width) == 0)
        return;
    for (size_t i = 0; i < b->count; i++) {
        uint64_t bits = format_canonical(out->format, array_bits(out, begin + i));
        if (bits == format_canonical(out->format, array_bits(twin, begin + i)))
            continue;
        double y = array_get(twin, begin + i);
        if (c->differing++ == 0)
            c->first_diff = begin + i;
        if (isfinite(y) && y != 0)
            difference[differences++] = relative(b->result[i], y);
        else
            c->compared--;
    }
    struct array all = {FP64, differences, difference};
    exact_add_array(&c->relative, &all, 0, differences);
}

void scan_part_compare(struct scan_part *part, const struct scan_block *b, size_t begin)
{
    const uint8_t *heads = part->scan->heads;
    for (int t = 0; t < SCAN_TWINS; t++)
        if (part->out->twin[t])
            compare_twin(&part->contrast[t], &part->out->out, part->out->twin[t], b, begin);
    double before = begin > 0 ? array_get(&part->out->out, begin - 1) : -INFINITY;
    for (size_t i = 0; i < b->count; i++) {
        bool head = begin + i == 0 || (heads && heads[begin + i]);
        part->decreases += !head && !(b->result[i] >= before);
        before = b->result[i];
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A NaN is larger than any number. Of equal figures, the one found first stays. */
static bool larger(double a, double b)
{
    return isnan(a) ? !isnan(b) : a > b;
}

void scan_best_take(struct scan_best *best, const struct scan_best *other)
{
    if (other->known && (!best->known || larger(other->value, best->value)))
        *best = *other;
}

static void merge_contrast(struct scan_contrast *c, const struct scan_contrast *next)
{
    c->differing += next->differing;
    c->first_diff = least(c->first_diff, next->first_diff);
    c->compared += next->compared;
    exact_merge(&c->relative, &next->relative);
}

void scan_part_merge(struct scan_part *part, const struct scan_part *next)
{
    for (int k = 0; k < SCAN_FIGURES; k++)
        scan_best_take(&part->best[k], &next->best[k]);
    part->overflow |= next->overflow;
    part->nan |= next->nan;
    part->broken += next->broken;
    part->not_finite += next->not_finite;
    part->first_broken = least(part->first_broken, next->first_broken);
    mpfr_add(part->squares, part->squares, next->squares, MPFR_RNDN);
    part->squared += next->squared;
    part->decreases += next->decreases;
    for (int t = 0; t < SCAN_TWINS; t++)
        merge_contrast(&part->contrast[t], &next->contrast[t]);
}

static struct figure figure_of(const struct scan_best *best)
{
    return (struct figure){best->known, best->known ? best->value : 0};
}

static struct figure share_of(size_t count, size_t n)
{
    return (struct figure){n > 0, n > 0 ? (double)count / (double)n : 0};
}

/* sqrt(squares / squared), or the largest err_ulp where that is no number. */
static struct figure root_mean_square(const struct scan_part *part)
{
    const struct scan_best *worst = &part->best[SCAN_ULP];
    if (!worst->known || !isfinite(worst->value))
        return figure_of(worst);
    mpfr_t mean;
    mpfr_init2(mean, 256);
    mpfr_div_ui(mean, part->squares, part->squared, MPFR_RNDN);
    mpfr_sqrt(mean, mean, MPFR_RNDN);
    double root = mpfr_get_d(mean, MPFR_RNDN);
    mpfr_clear(mean);
    return (struct figure){true, root};
}

static struct figure mean_difference(const struct scan_contrast *c)
{
    if (c->compared == 0)
        return (struct figure){false, 0};
    mpfr_t mean;
    mpfr_init2(mean, MPFR_PREC_MIN);
    exact_get(mean, &c->relative);
    mpfr_prec_round(mean, 2300, MPFR_RNDN); /* no less than it takes */
    mpfr_div_ui(mean, mean, c->compared, MPFR_RNDN);
    double value = mpfr_get_d(mean, MPFR_RNDN);
    mpfr_clear(mean);
    return (struct figure){true, value};
}

void scan_part_report(const struct scan_part *part, bool negative, struct scan_measure *m)
{
    size_t n = scan_outputs(part->scan);
    m->outcome = part->overflow ? OUTCOME_OVERFLOW : part->nan ? OUTCOME_NAN : OUTCOME_OK;
    m->err_abs = figure_of(&part->best[SCAN_ABS]);
    m->err_rel = figure_of(&part->best[SCAN_REL]);
    m->err_ulp = figure_of(&part->best[SCAN_ULP]);
    m->err_backward = figure_of(&part->best[SCAN_BACKWARD]);
    m->err_over_bound = figure_of(&part->best[SCAN_OVER_BOUND]);
    m->err_ulp_rms = root_mean_square(part);
    m->worst_index = part->best[SCAN_ULP].known ? part->best[SCAN_ULP].index : n;
    m->broken = part->broken;
    m->not_finite = part->not_finite;
    m->first_broken = part->first_broken;
    m->decreases = (struct figure){!negative, negative ? 0 : (double)part->decreases};
    for (int t = 0; t < SCAN_TWINS; t++) {
        const struct scan_contrast *c = &part->contrast[t];
        m->difference[t] = (struct scan_difference){
            share_of(c->differing, part->out->twin[t] ? n : 0), mean_difference(c), c->first_diff};
    }
}

struct job {
    const struct scan *scan;
    const struct scan_output *out;
    size_t outputs;
    struct prefix_shares shares;
    struct scan_part *part; /* [share][output] */
    struct scan_measure *measure;
    atomic_bool negative, failed;
};

/* The pairs of a piece of the array, one place late: before them stands the last pair of the piece
 * before, so that exclusive prefixes begin one place earlier than inclusive ones. */
struct piece {
    double hi[LINE_MOST + 1], lo[LINE_MOST + 1], abs_hi[LINE_MOST + 1], abs_lo[LINE_MOST + 1];
    double terms[LINE_MOST];
    bool exact;   /* of the pair before them too, unless a head there makes it 0 */
    size_t first; /* where the segment of the last element begins */
    struct prefix prefix;
    struct scan_block block;
};

static void set_pair(const mpfr_t sum, double *hi, double *lo)
{
    mpfr_t rest;
    mpfr_init2(rest, 2200);
    *hi = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_sub_d(rest, sum, *hi, MPFR_RNDN);
    *lo = isfinite(*hi) ? mpfr_get_d(rest, MPFR_RNDN) : 0;
    mpfr_clear(rest);
}

static void begin_pieces(struct piece *p, const struct prefix_share *share)
{
    mpfr_t sum;
    mpfr_init2(sum, MPFR_PREC_MIN);
    exact_get(sum, &share->before);
    set_pair(sum, &p->hi[LINE_MOST], &p->lo[LINE_MOST]);
    exact_get_abs(sum, &share->before);
    set_pair(sum, &p->abs_hi[LINE_MOST], &p->abs_lo[LINE_MOST]);
    mpfr_clear(sum);
    p->first = share->first;
    prefix_begin(&p->prefix, &share->before);
}

static void next_piece(struct piece *p, const struct scan *scan, size_t begin, size_t count)
{
    struct prefix_pairs all = {p->hi, p->lo, p->abs_hi, p->abs_lo};
    struct prefix_pairs to = prefix_pairs_from(&all, 1);
    p->hi[0] = p->hi[LINE_MOST];
    p->lo[0] = p->lo[LINE_MOST];
    p->abs_hi[0] = p->abs_hi[LINE_MOST];
    p->abs_lo[0] = p->abs_lo[LINE_MOST];
    p->exact = prefix_next(&p->prefix, &scan->in, scan->heads, begin, count, &to);
    for (size_t i = 0; i < count; i++) {
        bool head = begin + i == 0 || (scan->heads && scan->heads[begin + i]);
        if (head)
            p->first = begin + i;
        p->terms[i] = (double)(begin + i + !scan->exclusive - p->first);
        if (head && scan->exclusive)
            p->hi[i] = p->lo[i] = p->abs_hi[i] = p->abs_lo[i] = 0;
    }
}

static bool any_negative(const struct array *a, size_t begin, size_t count)
{
    double x[SCAN_BLOCK];
    bool negative = false;
    array_decode(a, begin, count, x);
    for (size_t i = 0; i < count; i++)
        negative |= !(x[i] >= 0);
    return negative;
}

/* Elements at .. of a piece that begins at element `begin`. */
static void add_block(struct job *job, struct piece *p, struct scan_part *part, size_t begin,
                      size_t at, size_t count)
{
    size_t i = at + !job->scan->exclusive;
    struct scan_block *b = &p->block;
    b->count = count;
    b->exact = p->exact;
    b->lost = NULL;
    b->hi = p->hi + i;
    b->lo = p->lo + i;
    b->abs_hi = p->abs_hi + i;
    b->abs_lo = p->abs_lo + i;
    b->terms = p->terms + at;
    for (size_t k = 0; k < job->outputs; k++) {
        scan_part_add(&part[k], b, begin + at);
        scan_part_compare(&part[k], b, begin + at);
    }
    if (!atomic_load_explicit(&job->negative, memory_order_relaxed) &&
        any_negative(&job->scan->in, begin + at, count))
        atomic_store_explicit(&job->negative, true, memory_order_relaxed);
}

static void measure_share(void *context, size_t k)
{
    struct job *job = context;
    size_t begin = k * job->shares.size, end = begin + job->shares.size;
    struct scan_part *part = job->part + k * job->outputs;
    struct piece *p = malloc(sizeof *p);
    end = end < job->shares.n ? end : job->shares.n;
    for (size_t o = 0; o < job->outputs; o++) {
        scan_part_begin(&part[o], job->scan, &job->out[o], &job->shares.share[k], begin);
        part[o].point = job->measure[o].point;
        part[o].points = job->measure[o].points;
    }
    if (!p) {
        atomic_store(&job->failed, true);
        return;
    }
    begin_pieces(p, &job->shares.share[k]);
    for (size_t count; begin < end; begin += count) {
        count = end - begin < LINE_MOST ? end - begin : LINE_MOST;
        next_piece(p, job->scan, begin, count);
        for (size_t at = 0; at < count; at += SCAN_BLOCK)
            add_block(job, p, part, begin, at, count - at < SCAN_BLOCK ? count - at : SCAN_BLOCK);
    }
    free(p);
}

/* The prefixes whose points are kept, as indices of their last elements. */
static void set_points(struct scan_measure *m, size_t n)
{
    m->points = 0;
    for (size_t k = 0; m->points + 1 < SCAN_POINTS; k++) {
        double length = floor(pow(10, (double)k / 20) + 0.5);
        if (!(length < (double)n))
            break;
        size_t index = (size_t)length - 1;
        if (m->points == 0 || m->point[m->points - 1].index < index)
            m->point[m->points++].index = index;
    }
    if (n > 0)
        m->point[m->points++].index = n - 1;
}

enum status scan_check(const struct scan_output *out, size_t outputs, const struct scan *scan,
                       struct problem *p)
{
    for (size_t k = 0; k < outputs; k++) {
        const struct array *a = &out[k].out;
        if (a->n != scan_outputs(scan))
            return problem(p, STATUS_USAGE, "scan: an output of %zu elements; expected %zu", a->n,
                           scan_outputs(scan));
        for (int t = 0; t < SCAN_TWINS; t++) {
            const struct array *twin = out[k].twin[t];
            if (twin && (twin->n != a->n || twin->format != a->format))
                return problem(p, STATUS_USAGE,
                               "scan: a twin of %zu elements of %s; expected %zu of %s", twin->n,
                               format_facts[twin->format].name, a->n, format_facts[a->format].name);
        }
    }
    return STATUS_OK;
}

static void report(struct job *job)
{
    for (size_t k = 0; k < job->outputs; k++) {
        struct scan_part *whole = &job->part[k];
        for (size_t s = 1; s < job->shares.count; s++)
            scan_part_merge(whole, &job->part[s * job->outputs + k]);
        scan_part_report(whole, atomic_load(&job->negative), &job->measure[k]);
    }
}

enum status measure_scan(struct scan_measure *m, const struct scan_output *out, size_t outputs,
                         const struct scan *scan, unsigned threads, struct problem *p)
{
    struct job job = {.scan = scan, .out = out, .outputs = outputs, .measure = m};
    enum status status = scan_check(out, outputs, scan, p);
    if (status != STATUS_OK)
        return status;
    status = prefix_shares_make(&job.shares, &scan->in, scan->heads, threads, p);
    if (status != STATUS_OK)
        return status;
    size_t shares = job.shares.count ? job.shares.count : 1; /* an empty one, of no elements */
    job.shares.count = shares;
    for (size_t k = 0; k < outputs; k++)
        set_points(&m[k], scan->in.n);
    job.part = malloc((shares * outputs + 1) * sizeof *job.part);
    if (job.part) {
        shares_run(threads, shares, measure_share, &job);
        report(&job);
        for (size_t i = 0; i < shares * outputs; i++)
            scan_part_free(&job.part[i]);
    }
    if (!job.part || atomic_load(&job.failed))
        status = problem(p, STATUS_MEMORY, "scan: out of memory (%zu parts)", shares * outputs);
    free(job.part);
    prefix_shares_free(&job.shares);
    return status;
}
