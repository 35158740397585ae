/* scan/exact: every prefix exact, rounded once to the accumulator, to nearest, ties to even; then,
 * as of any scan, once more to the format of the outputs.
 *
 * Order: none. Of each prefix sum/exact.c says what is returned; so it keeps every promise.
 *
 * The CPU takes the exact prefixes from reference/exact/prefix.h, as pairs of doubles. */
#include "kernels/scan/tiled.h"
#include "kernels/method/team.h"
#include "reference/exact/prefix.h"

struct work {
    const struct task *task;
    const struct prefix_shares *shares;
};

/* The outputs that the prefixes of elements begin .. begin+count-1 are. */
static void write_outputs(const struct task *t, const double *prefix, size_t begin, size_t count)
{
    size_t first = begin + t->of->exclusive, end = first + count;
    end = end < t->of->in.n ? end : t->of->in.n;
    array_encode(&t->out, first, end - first, prefix);
}

static void scan_share(const struct work *w, size_t k)
{
    const struct task *t = w->task;
    const enum format f = t->accumulator;
    size_t begin = k * w->shares->size, end = begin + w->shares->size;
    double hi[LINE_MOST], lo[LINE_MOST];
    struct prefix stream;
    prefix_begin(&stream, &w->shares->share[k].before);
    end = end < t->of->in.n ? end : t->of->in.n;
    for (size_t count; begin < end; begin += count) {
        count = end - begin < LINE_MOST ? end - begin : LINE_MOST;
        prefix_next(&stream, &t->of->in, NULL, begin, count,
                    &(struct prefix_pairs){.hi = hi, .lo = lo});
        for (size_t i = 0; i < count; i++)
            hi[i] = format_round_pair(f, hi[i], lo[i]);
        write_outputs(t, hi, begin, count);
    }
}

static void scan_shares(void *context, unsigned thread)
{
    const struct work *w = context;
    for (size_t k = thread; k < w->shares->count; k += w->task->shape.threads)
        scan_share(w, k);
}

static enum status cpu(const struct task *t, struct problem *p)
{
    struct prefix_shares shares;
    enum status status = prefix_shares_make(&shares, &t->of->in, NULL, t->shape.threads, p);
    if (status != STATUS_OK)
        return status;
    if (t->of->exclusive && t->of->in.n > 0)
        array_encode(&t->out, 0, 1, &(double){0}); /* the sum of nothing */
    status = team_run(t->shape.threads, scan_shares, &(struct work){t, &shares}, p);
    prefix_shares_free(&shares);
    return status;
}

const struct method scan_exact = {
    .name = "scan/exact",
    .summary = "every prefix exact, rounded once",
    .operation = &operation_scan,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .shape_read = {SHAPE_THREADS, 0},
    .resolve = scan_tiled_shape,
    .addition = ADDITION_EXACT,
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = cpu,
};
