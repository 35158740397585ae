#include "reference/rounded.h"

#include <math.h>
#include <pthread.h>

#include "reference/exact.h"
#include "reference/rounded_fast.h"
#include "reference/shares.h"

/* The number a + b rounded once to f; NaN where TwoSum overflows. */
static double round_sum(double a, double b, enum format f)
{
    struct estimate e = {a, 0, 0};
    estimate_add(&e, b);
    return format_round_pair(f, e.sum, e.errors);
}

/* Is the exact sum, as estimated through at most `depth` roundings of errors, known when rounded
 * once to f? Then it is *value.
 *
 * Let d be the errors of the additions of `sum`, D their exact sum: the exact sum is sum + D. With
 * g = depth u / (1 - depth u), |errors - D| <= g sum|d|, and sum|d| (1 - depth u) <= sizes (Higham
 * 2002, 3.1; additions have no errors of underflow). For depth u <= 1/8 it follows that |errors -
 * D|
 * <= 2 depth u sizes; a rounded product of that needs one subnormal more at most. Where sizes is 0
 * nothing was lost. Rounding is monotone, so that what both ends round to is the value; also where
 * that is an infinity. Both ends are 0 of the same sign only where f cannot tell the sum from 0. */
static bool certified(const struct estimate *e, double depth, enum format f, double *value)
{
    if (e->sizes == 0) { /* a zero keeps its sign */
        *value = e->errors == 0 ? format_round(f, e->sum) : round_sum(e->sum, e->errors, f);
        return isfinite(e->sum);
    }
    double off = depth * 0x1p-52 * e->sizes + 0x1p-1074;
    struct estimate middle = {e->sum, 0, 0};
    estimate_add(&middle, e->errors);
    double low = nextafter(middle.errors - off, -INFINITY);
    double high = nextafter(middle.errors + off, INFINITY);
    *value = round_sum(middle.sum, low, f);
    return double_bits(*value) == double_bits(round_sum(middle.sum, high, f)) && !isnan(*value);
}

struct work {
    const struct array *a;
    const struct rounded_variant *variant;
    pthread_mutex_t lock; /* of what follows */
    struct estimate estimate;
    struct exact exact;
};

static size_t share_count(const struct array *a, size_t k)
{
    size_t rest = a->n - k * ROUNDED_MOST;
    return rest < ROUNDED_MOST ? rest : ROUNDED_MOST;
}

static void estimate_share(void *context, size_t k)
{
    struct work *w = context;
    struct estimate e;
    w->variant->estimate(w->a, k * ROUNDED_MOST, share_count(w->a, k), &e);
    pthread_mutex_lock(&w->lock);
    estimate_add(&w->estimate, e.sum);
    w->estimate.errors += e.errors;
    w->estimate.sizes += e.sizes;
    pthread_mutex_unlock(&w->lock);
}

/* In units of 2^-24, both halves as doubles. */
static void add_units(struct exact *e, int64_t sum, bool plain)
{
    if (!plain) {
        exact_add(e, -0.0);
        return;
    }
    exact_add(e, (double)(sum >> 32) * 0x1p8);
    exact_add(e, (double)(sum & 0xffffffff) * 0x1p-24);
}

static void exact_share(void *context, size_t k)
{
    struct work *w = context;
    struct exact e;
    int64_t sum;
    bool plain;
    exact_init(&e);
    size_t begin = k * ROUNDED_MOST, count = share_count(w->a, k);
    if (w->a->format == FP16 && w->variant->units &&
        w->variant->units(w->a, begin, count, &sum, &plain))
        add_units(&e, sum, plain);
    else
        exact_add_array(&e, w->a, begin, count);
    pthread_mutex_lock(&w->lock);
    exact_merge(&w->exact, &e);
    pthread_mutex_unlock(&w->lock);
}

double rounded_sum_by(const struct rounded_variant *v, const struct array *a, enum format f,
                      unsigned threads)
{
    struct work w = {.a = a, .variant = v, .estimate = {-0.0, 0, 0}};
    size_t shares = a->n / ROUNDED_MOST + (a->n % ROUNDED_MOST != 0);
    double value = 0;
    bool known = a->n == 0;
    pthread_mutex_init(&w.lock, NULL);
    if (!known && a->format != FP16) {
        shares_run(threads, shares, estimate_share, &w);
        known = certified(&w.estimate, ROUNDED_DEPTH + 2 * (double)shares, f, &value);
    }
    if (!known) {
        exact_init(&w.exact);
        shares_run(threads, shares, exact_share, &w);
        value = exact_round(&w.exact, f);
    }
    pthread_mutex_destroy(&w.lock);
    return value;
}

double rounded_sum(const struct array *a, enum format f, unsigned threads)
{
    return rounded_sum_by(rounded_fastest(), a, f, threads);
}
