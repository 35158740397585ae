/* Bins, elements of matrix products, and other values of rows, measured as the outputs of scans
 * are, each against the exact sum of its own terms. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "reference/exact/grid.h"
#include "reference/measure/scan_part.h"
#include "reference/base/shares.h"

/* Several to a thread: bins are not of one size. */
enum { SHARES_TO_A_THREAD = 8 };

struct job {
    const struct scan *scan;
    const struct scan_output *out;
    size_t outputs, size, shares; /* share k: bins k * size .. */
    struct scan_part *part;       /* [share][output] */
    atomic_bool failed;
};

/* Exact sums as scan_block has them. */
struct piece {
    double hi[SCAN_BLOCK], lo[SCAN_BLOCK], abs_hi[SCAN_BLOCK], abs_lo[SCAN_BLOCK];
    double terms[SCAN_BLOCK];
    bool lost[SCAN_BLOCK];
    struct scan_block block;
    /* Elements `at` .. of a product, of the block and of some that follow; NULL: there are none, or
     * memory is short, and each is summed by itself. */
    struct grid_sum *window;
    size_t at, ready;
};

/* The first two doubles of a sum; returns whether they are all of it. */
static bool read_pair(const struct exact *e, bool magnitudes, double *hi, double *lo)
{
    struct running r;
    double word[2];
    bool both = e->inf[0] && e->inf[1];
    running_zero(&r);
    running_add_exact(&r, e, magnitudes);
    bool all = !running_read(&r, word, 2);
    *hi = word[0];
    *lo = word[1];
    if (e->nan || (both && !magnitudes))
        *hi = NAN;
    else if (e->inf[0] || e->inf[1])
        *hi = e->inf[1] && !magnitudes ? -INFINITY : INFINITY;
    if (!isfinite(*hi))
        *lo = 0;
    return all;
}

/* Sums elements from `begin` on, before `end`, unless those of the next block are ready. */
static void fill_window(struct piece *p, const struct scan *scan, size_t begin, size_t end)
{
    const size_t most = scan->matrices ? grid_window(scan->matrices) : 0;
    size_t next = end - begin < SCAN_BLOCK ? end - begin : SCAN_BLOCK;
    if (!scan->matrices || (p->window && begin + next <= p->at + p->ready))
        return;
    if (!p->window)
        p->window = malloc((most > SCAN_BLOCK ? most : SCAN_BLOCK) * sizeof *p->window);
    p->at = begin;
    p->ready = end - begin < most ? end - begin : most;
    if (p->ready < next)
        p->ready = next;
    if (p->window)
        grid_sums(scan->matrices, begin, p->ready, true, p->window);
}

static bool read_window(struct piece *p, size_t output, size_t i)
{
    const struct grid_sum *sum = p->window ? &p->window[output - p->at] : NULL;
    if (!sum || sum->unknown)
        return false;
    if (!grid_pair(sum, false, &p->hi[i], &p->lo[i]))
        p->block.exact = false;
    grid_pair(sum, true, &p->abs_hi[i], &p->abs_lo[i]);
    return true;
}

static void fill_block(struct piece *p, const struct scan *scan, size_t begin, size_t count)
{
    struct exact sum;
    p->block = (struct scan_block){.count = count,
                                   .exact = true,
                                   .hi = p->hi,
                                   .lo = p->lo,
                                   .abs_hi = p->abs_hi,
                                   .abs_lo = p->abs_lo,
                                   .terms = p->terms,
                                   .lost = p->lost};
    for (size_t i = 0; i < count; i++) {
        p->terms[i] = (double)scan_own_terms(scan, begin + i);
        p->hi[i] = p->lo[i] = p->abs_hi[i] = p->abs_lo[i] = 0;
        p->lost[i] = false;
        if ((p->terms[i] == 0 && !scan->values) || read_window(p, begin + i, i))
            continue;
        if (scan->values || !scan_own_sum(scan, begin + i, &sum)) {
            p->lost[i] = true;
            p->hi[i] = p->abs_hi[i] = NAN;
            continue;
        }
        if (!read_pair(&sum, false, &p->hi[i], &p->lo[i]))
            p->block.exact = false;
        read_pair(&sum, true, &p->abs_hi[i], &p->abs_lo[i]);
    }
}

static void measure_share(void *context, size_t k)
{
    struct job *job = context;
    size_t begin = k * job->size, end = begin + job->size, bins = scan_outputs(job->scan);
    struct scan_part *part = job->part + k * job->outputs;
    struct prefix_share nothing = {0};
    struct piece *p = malloc(sizeof *p);
    if (p)
        p->window = NULL;
    end = end < bins ? end : bins;
    exact_init(&nothing.before);
    for (size_t o = 0; o < job->outputs; o++)
        scan_part_begin(&part[o], job->scan, &job->out[o], &nothing, begin);
    for (size_t count; p && begin < end; begin += count) {
        count = end - begin < SCAN_BLOCK ? end - begin : SCAN_BLOCK;
        fill_window(p, job->scan, begin, end);
        fill_block(p, job->scan, begin, count);
        for (size_t o = 0; o < job->outputs; o++) {
            scan_part_add(&part[o], &p->block, begin);
            scan_part_compare(&part[o], &p->block, begin);
        }
    }
    if (!p)
        atomic_store(&job->failed, true);
    free(p ? p->window : NULL);
    free(p);
}

/* Shares are in the order of the bins: of equal figures the lowest bin's stays. */
static void report(const struct job *job, struct scan_measure *m)
{
    for (size_t o = 0; o < job->outputs; o++) {
        for (size_t s = 1; s < job->shares; s++)
            scan_part_merge(&job->part[o], &job->part[s * job->outputs + o]);
        m[o].points = 0;
        scan_part_report(&job->part[o], true, &m[o]);
    }
}

enum status measure_scatter(struct scan_measure *m, const struct scan_output *out, size_t outputs,
                            const struct scan *scan, unsigned threads, struct problem *p)
{
    size_t blocks = scan_outputs(scan) / SCAN_BLOCK + 1;
    size_t most = threads > 1 ? (size_t)threads * SHARES_TO_A_THREAD : 1;
    struct job job = {.scan = scan, .out = out, .outputs = outputs};
    enum status status = scan_check(out, outputs, scan, p);
    if (status != STATUS_OK)
        return status;
    job.size = (blocks / most + (blocks % most != 0)) * SCAN_BLOCK;
    job.shares = scan_outputs(scan) / job.size + 1;
    job.part = malloc(job.shares * outputs * sizeof *job.part);
    if (job.part) {
        shares_run(threads, job.shares, measure_share, &job);
        report(&job, m);
        for (size_t i = 0; i < job.shares * outputs; i++)
            scan_part_free(&job.part[i]);
    }
    if (!job.part || atomic_load(&job.failed))
        status =
            problem(p, STATUS_MEMORY, "scatter: out of memory (%zu parts)", job.shares * outputs);
    free(job.part);
    return status;
}
