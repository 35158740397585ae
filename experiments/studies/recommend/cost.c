/* What candidates cost, and which of them is worth naming. */
#include <limits.h>
#include <math.h>

#include "experiments/studies/recommend/candidates.h"

/* Rates that differ by less count as one: the narrower accumulator is then the cheaper. */
#define AS_FAST 1.1

/* What was timed on a shorter array than the fastest is slower than all of these. */
enum { TIMED_SHORT = 100000 };

/* What is timed comes first, by classes of rates; then what is not, and at last what is simulated.
 */
static int cost_class(const struct recommend_candidate *c, double best)
{
    if (c->rate > 0)
        return (int)floor(log(best / c->rate) / log(AS_FAST)) + (c->timed_short ? TIMED_SHORT : 0);
    return c->promoted ? 1000001 : 1000000;
}

/* Of what additions are done in, whatever the result's format. */
static unsigned bytes_of(const struct recommend_candidate *c)
{
    return method_sum_bytes(c->method, c->accumulator);
}

static int compare_cost(const struct recommend_candidate *a, const struct recommend_candidate *b,
                        double best)
{
    int class[2] = {cost_class(a, best), cost_class(b, best)};
    unsigned bytes[2] = {bytes_of(a), bytes_of(b)};
    if (class[0] != class[1])
        return class[0] < class[1] ? -1 : 1;
    if (a->promoted && b->promoted && a->promoted->chunk != b->promoted->chunk)
        return a->promoted->chunk > b->promoted->chunk ? -1 : 1;
    if (bytes[0] != bytes[1])
        return bytes[0] < bytes[1] ? -1 : 1;
    return a->rate > b->rate ? -1 : a->rate < b->rate;
}

static double best_rate(const struct recommend_report *r)
{
    double best = 0;
    for (size_t i = 0; i < r->count; i++)
        best = fmax(best, r->candidate[i].timed_short ? 0 : r->candidate[i].rate);
    return best;
}

/* Insertion: stable, and there are some dozens. */
void recommend_sort(struct recommend_report *r)
{
    double best = best_rate(r);
    for (size_t i = 1; i < r->count; i++) {
        struct recommend_candidate c = r->candidate[i];
        size_t at = i;
        for (; at > 0 && compare_cost(&c, &r->candidate[at - 1], best) < 0; at--)
            r->candidate[at] = r->candidate[at - 1];
        r->candidate[at] = c;
    }
}

/* Of two that break: does `a` break by less? */
static bool nearer(const struct recommend_candidate *a, const struct recommend_candidate *b)
{
    return isnan(b->error) || a->error < b->error;
}

/* Of those that break, with an accumulator of fewer bytes, the one that breaks by the least. */
static size_t nearest(const struct recommend_report *r, unsigned bytes)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < r->count; i++) {
        const struct recommend_candidate *c = &r->candidate[i];
        if (recommend_refused(c) && !c->failed && !c->promoted &&
            (bytes == UINT_MAX || bytes_of(c) < bytes) &&
            (found == SIZE_MAX || nearer(c, &r->candidate[found])))
            found = i;
    }
    return found;
}

/* The candidate before the chosen one in the order of cost; where that is the cheapest of all, the
 * nearest with a narrower accumulator; where none was chosen, the nearest of all. */
void recommend_find_cheaper(struct recommend_report *r)
{
    size_t chosen = r->chosen;
    bool none = chosen == SIZE_MAX;
    for (size_t i = 0; i < chosen && !none; i++)
        if (recommend_refused(&r->candidate[i]) && !r->candidate[i].failed &&
            !r->candidate[i].promoted)
            r->cheaper = i;
    if (r->cheaper != SIZE_MAX)
        return;
    r->cheaper = nearest(r, none ? UINT_MAX : bytes_of(&r->candidate[chosen]));
    r->narrower = !none && r->cheaper != SIZE_MAX;
}

/* On the frontier: nothing that is as fast errs less, nothing that errs as little is faster. */
void recommend_find_frontier(struct recommend_report *r)
{
    for (size_t i = 0; i < r->count; i++) {
        struct recommend_candidate *c = &r->candidate[i];
        c->pareto =
            c->rate > 0 && !c->failed && !c->timed_short && !isnan(c->error) && isfinite(c->error);
        for (size_t k = 0; k < r->count && c->pareto; k++) {
            const struct recommend_candidate *o = &r->candidate[k];
            if (o->failed)
                continue;
            bool better = o->rate > c->rate ? o->error <= c->error
                                            : o->rate == c->rate && o->error < c->error;
            c->pareto = !(o->rate > 0 && !o->timed_short && better);
        }
    }
}
