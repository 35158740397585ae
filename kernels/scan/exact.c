/* scan/exact: every prefix exact, rounded once to the accumulator, to nearest, ties to even; then,
 * as of any scan, once more to the format of the outputs.
 *
 * Order: none. Of each prefix sum/exact.c says what is returned; so it keeps every promise.
 *
 * The CPU takes the exact prefixes from reference/prefix.h, as pairs of doubles. */
#include <math.h>

#include "kernels/method.h"
#include "kernels/team.h"
#include "reference/prefix.h"

/* Half-way between f's largest number and the one that would follow. */
static double overflow_of(enum format f)
{
    const struct format_facts *facts = &format_facts[f];
    double binade = facts->largest / (2 - 2 * facts->unit_roundoff);
    return facts->largest + binade * facts->unit_roundoff;
}

/* A pair of prefix.h rounded once to f. lo decides where hi is a tie: half-way between two numbers
 * of f, which then are the nearest and its mirror image. Of fp64 hi is the nearest. */
static double round_pair(enum format f, double hi, double lo)
{
    double nearest = format_round(f, hi), other;
    if (f == FP64 || nearest == hi || lo == 0 || !isfinite(hi))
        return nearest;
    if (isinf(nearest)) {
        bool below = fabs(hi) == overflow_of(f) && (hi > 0) != (lo > 0);
        return below ? copysign(format_facts[f].largest, hi) : nearest;
    }
    other = nearest + 2 * (hi - nearest);
    if (format_round(f, other) != other)
        return nearest;
    return (lo > 0) == (other > nearest) ? other : nearest;
}

enum { BLOCK = 1 << 14 };

struct work {
    const struct task *task;
    const struct prefix_shares *shares;
};

/* Writes the outputs of elements begin .. begin+count-1, and returns the last prefix. `before`: the
 * one before them. */
static double write_block(const struct task *t, size_t begin, size_t count, const double *hi,
                          const double *lo, double before)
{
    double x[BLOCK], last = before;
    for (size_t i = 0; i < count; i++) {
        double prefix = round_pair(t->accumulator, hi[i], lo[i]);
        x[i] = t->exclusive ? last : prefix;
        last = prefix;
    }
    array_encode(&t->out, begin, count, x);
    return last;
}

static void scan_share(void *context, unsigned k)
{
    const struct work *w = context;
    const struct task *t = w->task;
    const struct exact *sum = &w->shares->share[k].before;
    size_t begin = k * w->shares->size, end = begin + w->shares->size;
    double hi[BLOCK], lo[BLOCK], before = begin ? exact_round(sum, t->accumulator) : 0;
    struct prefix p;
    prefix_begin(&p, sum);
    end = end < t->in.n ? end : t->in.n;
    for (size_t count; begin < end; begin += count) {
        count = end - begin < BLOCK ? end - begin : BLOCK;
        prefix_next(&p, &t->in, NULL, begin, count, &(struct prefix_pairs){.hi = hi, .lo = lo});
        before = write_block(t, begin, count, hi, lo, before);
    }
}

static enum status cpu(const struct task *t, struct problem *p)
{
    struct prefix_shares shares;
    if (t->in.n == 0)
        return STATUS_OK;
    enum status status = prefix_shares_make(&shares, &t->in, NULL, t->shape.threads, p);
    if (status != STATUS_OK)
        return status;
    status = team_run((unsigned)shares.count, scan_share, &(struct work){t, &shares}, p);
    prefix_shares_free(&shares);
    return status;
}

/* Threads are a schedule: 1 unless asked for. */
static struct shape resolve(size_t n, enum device_kind device, struct shape asked)
{
    (void)n;
    unsigned threads = device == DEVICE_CPU && asked.threads ? asked.threads : 1;
    return (struct shape){.threads = threads > THREADS_MAX ? THREADS_MAX : threads};
}

const struct method scan_exact = {
    .name = "scan/exact",
    .summary = "every prefix exact, rounded once",
    .operation = &operation_scan,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = resolve,
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = cpu,
};
