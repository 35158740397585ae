#include "reference/exact/rounded.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "reference/exact/bins.h"
#include "reference/exact/exact.h"
#include "reference/exact/rounded_fast.h"
#include "reference/base/shares.h"

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
    if (e->sizes == 0) { /* a zero keeps its sign; what is not finite has NaN for sizes */
        *value = format_round(f, e->sum);
        return true;
    }
    double off = depth * 0x1p-52 * e->sizes + 0x1p-1074;
    struct estimate middle = {e->sum, 0, 0};
    estimate_add(&middle, e->errors);
    double low = nextafter(middle.errors - off, -INFINITY);
    double high = nextafter(middle.errors + off, INFINITY);
    *value = round_sum(middle.sum, low, f);
    return double_bits(*value) == double_bits(round_sum(middle.sum, high, f)) && !isnan(*value);
}

enum pass { PASS_ESTIMATE, PASS_EXACT, PASS_NONE };

struct work {
    const struct array *a;
    const struct rounded_variant *variant;
    enum format to;
    unsigned threads;
    atomic_int pass;      /* changed under the lock when the pass is over */
    pthread_mutex_t lock; /* protects the following members */
    size_t taken, done;   /* elements of this pass */
    size_t pieces;        /* that the estimate is made of */
    struct estimate estimate;
    struct exact exact;
    double value; /* where the estimate is enough */
};

/* One thread alone need not: short sums are many. */
static void lock(struct work *w)
{
    if (w->threads > 1)
        pthread_mutex_lock(&w->lock);
}

static void unlock(struct work *w)
{
    if (w->threads > 1)
        pthread_mutex_unlock(&w->lock);
}

/* The fewest elements of a piece, but for the last one. */
enum { PIECE_LEAST = 1 << 15 };

/* Under the lock: the next piece of this pass, from *begin, 0 elements where there is none. A part
 * of what is left, so that all threads end at about the same time although pieces are large. */
static size_t take(struct work *w, enum pass pass, size_t most, size_t *begin)
{
    if ((enum pass)atomic_load(&w->pass) != pass)
        return 0;
    size_t rest = w->a->n - w->taken, count = most;
    if (w->threads > 1 && rest / (2 * w->threads) < most)
        count = (rest / (2 * w->threads) / PIECE_LEAST + 1) * PIECE_LEAST;
    count = count < rest ? count : rest;
    *begin = w->taken;
    w->taken += count;
    return count;
}

/* Under the lock. */
static void add_estimate(struct work *w, const struct estimate *e, size_t count)
{
    estimate_add(&w->estimate, e->sum);
    w->estimate.errors += e->errors;
    w->estimate.sizes += e->sizes;
    w->pieces++;
    w->done += count;
    if (w->done < w->a->n)
        return;
    bool known = certified(&w->estimate, ROUNDED_DEPTH + 2 * (double)w->pieces, w->to, &w->value);
    w->taken = 0;
    if (!known)
        exact_init(&w->exact);
    atomic_store_explicit(&w->pass, known ? PASS_NONE : PASS_EXACT, memory_order_release);
}

static void estimate_pieces(struct work *w)
{
    struct estimate e;
    size_t begin, count = 0;
    do {
        lock(w);
        if (count > 0)
            add_estimate(w, &e, count);
        count = take(w, PASS_ESTIMATE, ROUNDED_MOST, &begin);
        unlock(w);
        if (count > 0)
            w->variant->estimate(w->a, begin, count, &e);
    } while (count > 0);
}

/* Is the exact sum as fast as an estimate? */
static bool counted(enum format f)
{
    switch (f) {
    case FP16:
    case E4M3:
    case E5M2:
        return true;
    case BF16:
    case FP32:
    case FP64:
        break;
    }
    return false;
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

static void add_piece(struct exact *e, const struct work *w, size_t begin, size_t count)
{
    int64_t sum;
    bool plain;
    if (w->a->format == FP16 && w->variant->units &&
        w->variant->units(w->a, begin, count, &sum, &plain))
        add_units(e, sum, plain);
    else
        exact_add_array(e, w->a, begin, count);
}

static void exact_pieces(struct work *w)
{
    const size_t most = w->a->format == FP16 ? ROUNDED_MOST : BINS_MOST;
    struct exact e;
    size_t begin, count;
    exact_init(&e);
    lock(w);
    while ((count = take(w, PASS_EXACT, most, &begin)) > 0) {
        unlock(w);
        add_piece(&e, w, begin, count);
        lock(w);
    }
    exact_merge(&w->exact, &e);
    unlock(w);
}

/* Both passes use the same threads, since starting one takes as long as thousands of elements.
 * Between the passes a thread spins until the threads that have a piece are done; it does not wait
 * for threads that start later, or not at all. */
static void pass_all(void *context, size_t thread)
{
    (void)thread;
    struct work *w = context;
    estimate_pieces(w);
    while (atomic_load(&w->pass) == PASS_ESTIMATE)
        sched_yield();
    if (atomic_load(&w->pass) == PASS_EXACT)
        exact_pieces(w);
}

double rounded_sum_by(const struct rounded_variant *v, const struct array *a, enum format f,
                      unsigned threads)
{
    if (a->n == 0)
        return 0;
    size_t pieces = (a->n - 1) / ROUNDED_MOST + 1;
    struct work w = {.a = a,
                     .variant = v,
                     .to = f,
                     .threads = threads < pieces ? threads : (unsigned)pieces,
                     .estimate = {-0.0, 0, 0}};
    atomic_init(&w.pass, counted(a->format) ? PASS_EXACT : PASS_ESTIMATE);
    if (counted(a->format))
        exact_init(&w.exact);
    pthread_mutex_init(&w.lock, NULL);
    shares_run(w.threads, w.threads > 0 ? w.threads : 1, pass_all, &w);
    pthread_mutex_destroy(&w.lock);
    return atomic_load(&w.pass) == PASS_EXACT ? exact_round(&w.exact, f) : w.value;
}

double rounded_sum(const struct array *a, enum format f, unsigned threads)
{
    return rounded_sum_by(rounded_fastest(), a, f, threads);
}
