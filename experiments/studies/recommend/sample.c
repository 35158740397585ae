/* The arrays that candidates are tried on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/system/clock.h"
#include "experiments/system/memory.h"
#include "experiments/studies/recommend/candidates.h"
#include "experiments/inputs/philox.h"
#include "experiments/studies/recommend/recommend.h"
#include "kernels/gpu/gpu.h"

/* How long the sum may grow before it breaks: the data, followed by elements drawn from it, at many
 * lengths. Errors do not grow steadily with the length, so that a length that holds says nothing of
 * the ones below it: what is told is of the lengths tried. */

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

/* What takes sums of some length at most has answered all shorter ones. */
static void note_failure(struct recommend_report *r, struct recommend_candidate *c, size_t n,
                         const struct problem *why)
{
    r->growth.fails_at = n;
    snprintf(r->growth.why, sizeof r->growth.why, "%.239s", why->text);
    if (!*c->note)
        snprintf(c->note, sizeof c->note, "no answer at n = %zu: %.200s", n, why->text);
}

/* An extension is the beginning of every longer one. */
static enum status try_length(struct recommend_report *r, size_t n, bool *answers, bool *holds,
                              struct problem *p)
{
    struct recommend_sample s;
    struct recommend_outcome o;
    struct recommend_candidate *c = &r->candidate[r->chosen];
    struct problem why = {0};
    enum status status = recommend_sample_make(&s, r->source, RECOMMEND_EXTENDED, 0, n,
                                               r->request.plan->axes->seed.item[0], r->device, p);
    if (status != STATUS_OK)
        return status;
    status = recommend_run(r, c, &s, &o, &why);
    *answers = status == STATUS_OK;
    *holds = recommend_holds(&r->request.tolerance, o.error);
    recommend_sample_free(&s);
    if (recommend_ends(r, status))
        return problem(p, status, "%s", why.text);
    if (!*answers)
        note_failure(r, c, n, &why);
    return STATUS_OK;
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

/* Is there anything to learn from this length? Those beyond the first that breaks, or that has no
 * answer, tell nothing. */
static bool is_new(const struct growing *g, uint64_t n)
{
    const struct recommend_growth *found = &g->r->growth;
    size_t at = place_of(g, n);
    return n > g->r->source->array.n && (!found->breaks_at || n < found->breaks_at) &&
           (!found->fails_at || n < found->fails_at) && !(at < found->lengths && g->tried[at] == n);
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
    bool answers = false, holds = false;
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
    enum status status = try_length(g->r, (size_t)n, &answers, &holds, p);
    if (status == STATUS_OK && answers)
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
        return problem(p, STATUS_MEMORY, "recommend: out of memory");
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

/* Behind the data's name, in the column `input`. */
static const char *const kind_name[RECOMMEND_KINDS] = {
    [RECOMMEND_DATA] = "",
    [RECOMMEND_ASCENDING] = "order=ascending",
    [RECOMMEND_DESCENDING] = "order=descending",
    [RECOMMEND_SMALL] = "order=magnitude",
    [RECOMMEND_LARGE] = "order=magnitude,largest-first",
    [RECOMMEND_ONE_SIGN] = "worst=one-sign",
    [RECOMMEND_CLIMB] = "worst=one-sign,largest-first",
    [RECOMMEND_RETURN] = "worst=out-and-back",
    [RECOMMEND_RESAMPLE] = "resample",
    [RECOMMEND_SHUFFLE] = "shuffle",
    [RECOMMEND_EXTENDED] = "extended",
};

/* Another seed for each draw: the odd number is 2^64 over the golden ratio. */
static uint64_t seed_of(uint64_t seed, uint64_t draw)
{
    return seed + draw * UINT64_C(0x9e3779b97f4a7c15);
}

static void draw_elements(const struct array *to, size_t begin, const struct array *from,
                          uint64_t seed)
{
    for (size_t i = begin; i < to->n; i++) {
        struct draw d = random_draw(seed, RANDOM_PLACING, i / 2);
        array_set_bits(to, i, array_bits(from, random_below(d.word[i % 2], from->n)));
    }
}

static void reverse(const struct array *a)
{
    for (size_t i = 0, k = a->n; i + 1 < k; i++) {
        uint64_t bits = array_bits(a, i);
        array_set_bits(a, i, array_bits(a, --k));
        array_set_bits(a, k, bits);
    }
}

static void drop_signs(const struct array *a)
{
    for (size_t i = 0; i < a->n; i++)
        if (isfinite(array_get(a, i))) /* a masked one has no other sign */
            array_set_bits(a, i, format_encode(a->format, fabs(array_get(a, i))));
}

/* Positive until half of sum|x| is reached, then negative. */
static void out_and_back(const struct array *a)
{
    double all = 0, sum = 0;
    for (size_t i = 0; i < a->n; i++)
        all += isfinite(array_get(a, i)) ? fabs(array_get(a, i)) : 0;
    for (size_t i = 0; i < a->n; i++) {
        double x = array_get(a, i);
        if (!isfinite(x))
            continue;
        array_set_bits(a, i, format_encode(a->format, sum < all / 2 ? x : -x));
        sum += x;
    }
}

static enum status rearrange(const struct array *a, enum recommend_kind kind, uint64_t seed,
                             struct problem *p)
{
    enum status status = STATUS_OK;
    if (kind == RECOMMEND_ONE_SIGN || kind == RECOMMEND_CLIMB || kind == RECOMMEND_RETURN)
        drop_signs(a);
    if (kind == RECOMMEND_ASCENDING)
        status = input_arrange(a, ARRANGED_ASCENDING, 0, p);
    else if (kind == RECOMMEND_DESCENDING)
        status = input_arrange(a, ARRANGED_DESCENDING, 0, p);
    else if (kind == RECOMMEND_SHUFFLE)
        status = input_arrange(a, ARRANGED_SHUFFLED, seed, p);
    else if (kind == RECOMMEND_SMALL || kind == RECOMMEND_LARGE || kind == RECOMMEND_CLIMB ||
             kind == RECOMMEND_RETURN)
        status = input_arrange(a, ARRANGED_BY_MAGNITUDE, 0, p);
    if (kind == RECOMMEND_LARGE || kind == RECOMMEND_CLIMB)
        reverse(a);
    if (kind == RECOMMEND_RETURN)
        out_and_back(a);
    return status;
}

enum status recommend_arrange(const struct array *to, const struct array *from,
                              enum recommend_kind kind, uint64_t seed, struct problem *p)
{
    size_t kept = to->n < from->n ? to->n : from->n;
    if (kind == RECOMMEND_RESAMPLE) {
        draw_elements(to, 0, from, seed);
        return STATUS_OK;
    }
    memcpy(to->data, from->data, array_bytes(from->format, kept));
    draw_elements(to, kept, from, seed);
    return rearrange(to, kind, seed, p);
}

static enum status fill(void *context, const struct array *to, const struct array *from,
                        enum recommend_kind kind, uint64_t seed, struct problem *p)
{
    (void)context;
    return recommend_arrange(to, from, kind, seed, p);
}

static enum status derive(struct recommend_sample *s, const struct source *from,
                          enum recommend_kind kind, uint64_t draw, size_t n, uint64_t seed,
                          recommend_fill *fill, void *context, struct problem *p)
{
    char number[48] = "";
    struct data data = {0};
    if (kind == RECOMMEND_RESAMPLE || kind == RECOMMEND_SHUFFLE)
        snprintf(number, sizeof number, "=%llu", (unsigned long long)draw);
    enum status status = memory_array(&s->array, from->array.format, n, from->name, p);
    if (status != STATUS_OK)
        return status;
    s->owned = true;
    status = fill(context, &s->array, &from->array, kind, seed_of(seed, draw), p);
    if (status == STATUS_OK &&
        asprintf(&data.name, "%s:%s%s", from->name, kind_name[kind], number) < 0)
        status = problem(p, STATUS_MEMORY, "%s: out of memory", from->name);
    data.array = s->array;
    if (status == STATUS_OK)
        status = source_data(&s->source, &data, n, p);
    free(data.name);
    return status;
}

static void free_own(struct recommend_sample *s)
{
    if (!s->owned)
        return;
    source_free(&s->source);
    free(s->array.data);
}

enum status recommend_sample_begin(struct recommend_sample *s, const struct source *from,
                                   enum recommend_kind kind, uint64_t draw, size_t n, uint64_t seed,
                                   recommend_fill *fill, void *context, struct problem *p)
{
    *s = (struct recommend_sample){.source = *from, .array = from->array};
    if (kind == RECOMMEND_DATA)
        return STATUS_OK;
    s->source = (struct source){0};
    enum status status = derive(s, from, kind, draw, n, seed, fill, context, p);
    if (status != STATUS_OK)
        free_own(s);
    return status;
}

enum status recommend_sample_make(struct recommend_sample *s, const struct source *from,
                                  enum recommend_kind kind, uint64_t draw, size_t n, uint64_t seed,
                                  struct device device, struct problem *p)
{
    enum status status = recommend_sample_begin(s, from, kind, draw, n, seed, fill, NULL, p);
    if (status != STATUS_OK)
        return status;
    status = truth_make(&s->truth, from->name, &s->array, REFERENCE_FAST, p);
    bool made = status == STATUS_OK;
    if (made && device.kind == DEVICE_CUDA)
        status = gpu_upload(&s->gpu, device.index, &s->array, 0, p);
    if (status == STATUS_OK)
        return STATUS_OK;
    if (made)
        truth_free(&s->truth);
    free_own(s);
    return status;
}

void recommend_sample_free(struct recommend_sample *s)
{
    if (s->gpu)
        gpu_release(s->gpu);
    if (s->product)
        recommend_product_free(s->product);
    else
        truth_free(&s->truth);
    free_own(s);
}
