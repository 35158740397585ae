#include <stdlib.h>

#include "reference/prefix.h"
#include "reference/shares.h"

/* Several to a thread, so that a thread that is held up holds up little. */
enum { SHARES_TO_A_THREAD = 8 };

/* Where the last segment that has elements in [begin, end) begins, or `begin`. */
static size_t last_head(const uint8_t *heads, size_t begin, size_t end)
{
    size_t i = end;
    while (heads && i > begin && !heads[i - 1])
        i--;
    return heads && i > begin ? i - 1 : begin;
}

struct sums {
    const struct array *a;
    const uint8_t *heads;
    struct prefix_shares *shares;
};

/* The sum of a share's last segment stands where the next share begins. */
static void sum_share(void *context, size_t k)
{
    const struct sums *s = context;
    size_t begin = k * s->shares->share, end = begin + s->shares->share;
    size_t from = last_head(s->heads, begin, end);
    exact_init(&s->shares->before[k + 1]);
    exact_add_array(&s->shares->before[k + 1], s->a, from, end - from);
}

/* A share without a head passes on what it was given. */
static void add_up(const struct sums *s)
{
    struct prefix_shares *shares = s->shares;
    for (size_t k = 1; k < shares->count; k++) {
        size_t begin = (k - 1) * shares->share, end = k * shares->share;
        size_t from = last_head(s->heads, begin, end);
        if (!s->heads || (from == begin && !s->heads[begin]))
            exact_merge(&shares->before[k], &shares->before[k - 1]);
    }
}

enum status prefix_shares_make(struct prefix_shares *s, const struct array *a, const uint8_t *heads,
                               unsigned threads, struct problem *p)
{
    size_t most = threads > 1 ? (size_t)threads * SHARES_TO_A_THREAD : 1;
    size_t blocks = a->n / LINE_MOST + (a->n % LINE_MOST != 0); /* shares are whole ones */
    size_t share = (blocks / most + (blocks % most != 0)) * LINE_MOST;
    *s = (struct prefix_shares){.n = a->n, .share = share};
    s->count = share ? a->n / share + (a->n % share != 0) : 0;
    s->before = malloc((s->count + 1) * sizeof *s->before);
    if (!s->before)
        return problem(p, STATUS_DEVICE, "prefixes: out of memory (%zu exact sums)", s->count);
    exact_init(&s->before[0]);
    struct sums sums = {a, heads, s};
    if (s->count > 1)
        shares_run(threads, s->count - 1, sum_share, &sums);
    add_up(&sums);
    return STATUS_OK;
}

void prefix_shares_free(struct prefix_shares *s)
{
    free(s->before);
}

struct whole {
    const struct array *a;
    const uint8_t *heads;
    const struct prefix_shares *shares;
    const struct prefix_pairs *to;
};

static void fill_share(void *context, size_t k)
{
    const struct whole *w = context;
    size_t begin = k * w->shares->share, end = begin + w->shares->share;
    struct prefix p;
    prefix_begin(&p, &w->shares->before[k]);
    end = end < w->shares->n ? end : w->shares->n;
    struct prefix_pairs to = prefix_pairs_from(w->to, begin);
    prefix_next(&p, w->a, w->heads, begin, end - begin, &to);
}

enum status prefix_all(const struct array *a, const uint8_t *heads, unsigned threads,
                       const struct prefix_pairs *to, struct problem *p)
{
    struct prefix_shares shares;
    enum status status = prefix_shares_make(&shares, a, heads, threads, p);
    if (status != STATUS_OK)
        return status;
    struct whole whole = {a, heads, &shares, to};
    shares_run(threads, shares.count, fill_share, &whole);
    prefix_shares_free(&shares);
    return STATUS_OK;
}
