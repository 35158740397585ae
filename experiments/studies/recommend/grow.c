/* How long the sum may grow before it breaks: the data, followed by elements drawn from it, at many
 * lengths. Errors do not grow steadily with the length, so that a length that holds says nothing of
 * the ones below it: what is told is of the lengths tried. */
#include <math.h>
#include <stdlib.h>

#include "experiments/system/clock.h"
#include "experiments/system/memory.h"
#include "experiments/studies/recommend/candidates.h"

/* Elements that are tried at most, and lengths. */
#define LENGTH_MAX  (UINT64_C(1) << 30)
#define LENGTHS_MAX 2000

/* Lengths next to the data's; edges of rows of tiles and of tiles, as methods of this program have
 * them. */
enum { NEXT = 64, ROW = 256, ROWS = 16, TILE_LENGTH = 2048, TILES = 16, OTHERS = 100 };

struct growing {
    struct recommend_report *r;
    uint64_t deadline;
    uint64_t tried[LENGTHS_MAX]; /* that hold, or broke; ascending */
    double ns_each;              /* an element, as long as the last one took */
};

/* An extension is the beginning of every longer one. */
static enum status try_length(struct recommend_report *r, size_t n, bool *holds, struct problem *p)
{
    struct recommend_sample s;
    struct recommend_outcome o;
    const struct recommend_candidate *c = &r->candidate[r->chosen];
    enum status status = recommend_sample_make(&s, r->source, RECOMMEND_EXTENDED, 0, n,
                                               r->request.plan->axes->seed.item[0], r->device, p);
    if (status != STATUS_OK)
        return status;
    status = recommend_run(r, c, &s, &o, p);
    *holds = recommend_holds(&r->request.tolerance, o.error);
    recommend_sample_free(&s);
    return status;
}

/* Within this share of the time that is left? */
static bool affordable(const struct growing *g, uint64_t n, double share)
{
    uint64_t now = clock_ns();
    return n <= LENGTH_MAX && now < g->deadline &&
           g->ns_each * (double)n < share * (double)(g->deadline - now) &&
           memory_has(3 * array_bytes(g->r->source->array.format, (size_t)n));
}

/* The place of n among the lengths tried. */
static size_t place_of(const struct growing *g, uint64_t n)
{
    size_t at = g->r->growth.lengths;
    while (at > 0 && g->tried[at - 1] >= n)
        at--;
    return at;
}

/* Is there anything to learn from this length? Those beyond the first that breaks tell nothing. */
static bool is_new(const struct growing *g, uint64_t n)
{
    const struct recommend_growth *found = &g->r->growth;
    size_t at = place_of(g, n);
    return n > g->r->source->array.n && (!found->breaks_at || n < found->breaks_at) &&
           !(at < found->lengths && g->tried[at] == n);
}

static void note_length(struct growing *g, uint64_t n, bool holds)
{
    struct recommend_growth *found = &g->r->growth;
    size_t at = place_of(g, n);
    memmove(&g->tried[at + 1], &g->tried[at], (found->lengths - at) * sizeof *g->tried);
    g->tried[at] = n;
    found->lengths++;
    if (holds) {
        found->holds_to = n > found->holds_to ? n : found->holds_to;
        return;
    }
    found->breaks_at = n;
    found->holds_to = at > 0 ? g->tried[at - 1] : g->r->source->array.n;
}

/* *tried: there was time for it. A share of the time left that it may take. */
static enum status try_if_new(struct growing *g, uint64_t n, double share, bool *tried,
                              struct problem *p)
{
    bool holds = false;
    *tried = true;
    if (!is_new(g, n))
        return STATUS_OK;
    if (g->r->request.stop && *g->r->request.stop)
        return problem(p, STATUS_INTERRUPTED, "interrupted");
    *tried = g->r->growth.lengths < LENGTHS_MAX && affordable(g, n, share);
    if (!*tried)
        return STATUS_OK;
    recommend_tell(g->r, "growth: n = %llu", (unsigned long long)n);
    uint64_t begin = clock_ns();
    enum status status = try_length(g->r, (size_t)n, &holds, p);
    if (status == STATUS_OK)
        note_length(g, n, holds);
    g->ns_each = (double)(clock_ns() - begin) / (double)n;
    return status;
}

/* With both neighbours; the shorter ones first. */
static enum status try_edge(struct growing *g, uint64_t n, double share, bool *tried,
                            struct problem *p)
{
    enum status status = try_if_new(g, n - 1, share, tried, p);
    if (status == STATUS_OK && *tried)
        status = try_if_new(g, n, share, tried, p);
    if (status == STATUS_OK && *tried)
        status = try_if_new(g, n + 1, share, tried, p);
    return status;
}

/* Between the first that breaks and the longest before it, until they are neighbours. */
static enum status close_in(struct growing *g, struct problem *p)
{
    const struct recommend_growth *found = &g->r->growth;
    enum status status = STATUS_OK;
    for (bool tried = true; status == STATUS_OK && tried && found->breaks_at > found->holds_to + 1;)
        status =
            try_if_new(g, found->holds_to + (found->breaks_at - found->holds_to) / 2, 1, &tried, p);
    return status;
}

static enum status try_next(struct growing *g, struct problem *p)
{
    uint64_t n = g->r->source->array.n;
    bool tried = true;
    enum status status = STATUS_OK;
    for (uint64_t i = 1; i <= NEXT && tried && status == STATUS_OK; i++)
        status = try_if_new(g, n + i, 0.005, &tried, p);
    return status;
}

static enum status try_powers(struct growing *g, double share, struct problem *p)
{
    bool tried = true;
    enum status status = STATUS_OK;
    for (uint64_t n = 2; n <= LENGTH_MAX && tried && status == STATUS_OK; n *= 2)
        status = try_edge(g, n, share, &tried, p);
    return status;
}

static enum status try_edges(struct growing *g, uint64_t length, uint64_t count, struct problem *p)
{
    uint64_t first = g->r->source->array.n / length + 1;
    bool tried = true;
    enum status status = STATUS_OK;
    for (uint64_t i = 0; i < count && tried && status == STATUS_OK; i++)
        status = try_edge(g, (first + i) * length, 0.005, &tried, p);
    return status;
}

/* Spread over what lies below the longest that held, as evenly as multiples of the golden ratio are
 * on a circle. */
static enum status try_others(struct growing *g, struct problem *p)
{
    const struct recommend_growth *found = &g->r->growth;
    double least = log((double)g->r->source->array.n), part = 0;
    bool tried = true;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < OTHERS && tried && status == STATUS_OK; i++) {
        part = fmod(part + 0.61803398874989485, 1);
        double most = log((double)found->holds_to);
        status = try_if_new(g, (uint64_t)exp(least + part * (most - least)), 1, &tried, p);
        if (status == STATUS_OK)
            status = close_in(g, p);
    }
    return status;
}

static enum status measure_growth(struct recommend_report *r, uint64_t deadline, struct problem *p)
{
    struct growing *g = calloc(1, sizeof *g);
    if (!g)
        return problem(p, STATUS_DEVICE, "recommend: out of memory");
    g->r = r;
    g->deadline = deadline;
    r->growth.measured = true;
    r->growth.holds_to = r->source->array.n;
    enum status status = try_next(g, p);
    if (status == STATUS_OK)
        status = try_powers(g, 0.02, p);
    if (status == STATUS_OK)
        status = close_in(g, p);
    if (status == STATUS_OK)
        status = try_edges(g, ROW, ROWS, p);
    if (status == STATUS_OK)
        status = try_edges(g, TILE_LENGTH, TILES, p);
    if (status == STATUS_OK)
        status = try_powers(g, 0.2, p);
    if (status == STATUS_OK)
        status = close_in(g, p);
    if (status == STATUS_OK)
        status = try_others(g, p);
    free(g);
    return status;
}

enum status recommend_grow(struct recommend_report *r, uint64_t deadline, struct problem *p)
{
    struct reference data;
    enum status status = reference_compute(&data, &r->source->array, REFERENCE_FAST, p);
    if (status != STATUS_OK)
        return status;
    recommend_theory(r, &data);
    reference_free(&data);
    return measure_growth(r, deadline, p);
}
