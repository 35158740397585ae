#include <stdlib.h>

#include "reference/exact/prefix.h"
#include "reference/base/shares.h"

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

/* The sum of a share's last segment goes to the next share. */
static void sum_share(void *context, size_t k)
{
    const struct sums *s = context;
    struct prefix_share *next = &s->shares->share[k + 1];
    size_t begin = k * s->shares->size, end = begin + s->shares->size;
    next->first = last_head(s->heads, begin, end);
    exact_init(&next->before);
    exact_add_array(&next->before, s->a, next->first, end - next->first);
}

/* A share without a head passes on what it was given. */
static void add_up(const struct sums *s)
{
    struct prefix_share *share = s->shares->share;
    for (size_t k = 1; k < s->shares->count; k++) {
        size_t begin = (k - 1) * s->shares->size;
        if (s->heads && (share[k].first > begin || s->heads[begin]))
            continue;
        share[k].first = share[k - 1].first;
        exact_merge(&share[k].before, &share[k - 1].before);
    }
}

enum status prefix_shares_make(struct prefix_shares *s, const struct array *a, const uint8_t *heads,
                               unsigned threads, struct problem *p)
{
    size_t most = threads > 1 ? (size_t)threads * SHARES_TO_A_THREAD : 1;
    size_t blocks = a->n / LINE_MOST + (a->n % LINE_MOST != 0);
    size_t size = (blocks / most + (blocks % most != 0)) * LINE_MOST;
    *s = (struct prefix_shares){.n = a->n, .size = size};
    s->count = size ? a->n / size + (a->n % size != 0) : 0;
    s->share = malloc((s->count + 1) * sizeof *s->share);
    if (!s->share)
        return problem(p, STATUS_DEVICE, "prefixes: out of memory (%zu exact sums)", s->count);
    s->share[0].first = 0;
    exact_init(&s->share[0].before);
    struct sums sums = {a, heads, s};
    if (s->count > 1)
        shares_run(threads, s->count - 1, sum_share, &sums);
    add_up(&sums);
    return STATUS_OK;
}

void prefix_shares_free(struct prefix_shares *s)
{
    free(s->share);
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
    size_t begin = k * w->shares->size, end = begin + w->shares->size;
    struct prefix p;
    prefix_begin(&p, &w->shares->share[k].before);
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
