#include "reference/exact/prefix.h"

#include <math.h>
#include <stdlib.h>

#include "reference/base/shares.h"

static const uint64_t negative_zero = UINT64_C(1) << 63;

void prefix_begin(struct prefix *p, const struct exact *before)
{
    *p = (struct prefix){.nan = before->nan,
                         .inf = {before->inf[0], before->inf[1]},
                         .empty = before->empty,
                         .plain = before->plain};
    line_begin(&p->sum, before, false);
    line_begin(&p->sum_abs, before, true);
}

static bool special(const struct prefix *p)
{
    return p->nan || p->inf[0] || p->inf[1];
}

static void take_special(struct prefix *p, double x)
{
    p->nan |= isnan(x);
    p->inf[0] |= x == INFINITY;
    p->inf[1] |= x == -INFINITY;
}

static void fill(double *to, size_t count, double value)
{
    for (size_t i = 0; i < count; i++)
        to[i] = value;
}

static void fill_special(struct prefix *p, const struct array *a, size_t begin, size_t count,
                         const struct prefix_pairs *to)
{
    double x[ARRAY_BLOCK];
    fill(to->lo, count, 0);
    if (to->abs_lo)
        fill(to->abs_lo, count, 0);
    for (size_t i = 0; i < count; i++) {
        if (i % ARRAY_BLOCK == 0)
            array_decode(a, begin + i, count - i < ARRAY_BLOCK ? count - i : ARRAY_BLOCK, x);
        take_special(p, x[i % ARRAY_BLOCK]);
        bool nan = p->nan || (p->inf[0] && p->inf[1]);
        to->hi[i] = nan ? NAN : p->inf[0] ? INFINITY : -INFINITY;
        if (to->abs_hi)
            to->abs_hi[i] = p->nan ? NAN : INFINITY;
    }
}

/* A run of -0 at the beginning: their sum is -0. Returns its length. */
static size_t zeros_next(struct prefix *p, const struct array *a, size_t begin, size_t count,
                         const struct prefix_pairs *to)
{
    size_t run = 0;
    while (run < count && double_bits(array_get(a, begin + run)) == negative_zero)
        run++;
    p->empty = false;
    p->plain = run < count;
    fill(to->hi, run, -0.0);
    fill(to->lo, run, 0);
    if (to->abs_hi) {
        fill(to->abs_hi, run, 0);
        fill(to->abs_lo, run, 0);
    }
    return run;
}

/* Sums and sums of magnitudes stop at the same element, one that is not finite. */
static size_t lines_next(struct prefix *p, const struct array *a, size_t begin, size_t count,
                         const struct prefix_pairs *to)
{
    count = count < LINE_MOST ? count : LINE_MOST;
    size_t done = line_next(&p->sum, a, begin, count, to->hi, to->lo);
    p->rounded |= p->sum.rounded;
    if (to->abs_hi) {
        line_next(&p->sum_abs, a, begin, count, to->abs_hi, to->abs_lo);
        p->rounded |= p->sum_abs.rounded;
    }
    if (done < count)
        take_special(p, array_get(a, begin + done));
    return done;
}

struct prefix_pairs prefix_pairs_from(const struct prefix_pairs *to, size_t i)
{
    return (struct prefix_pairs){to->hi + i, to->lo + i, to->abs_hi ? to->abs_hi + i : NULL,
                                 to->abs_lo ? to->abs_lo + i : NULL};
}

/* Elements before the next head; `first` itself may be one. */
static size_t before_head(const uint8_t *heads, size_t first, size_t count)
{
    size_t i = 1;
    while (heads && i < count && !heads[first + i])
        i++;
    return heads ? i : count;
}

static void restart(struct prefix *p)
{
    line_restart(&p->sum);
    line_restart(&p->sum_abs);
    p->nan = p->inf[0] = p->inf[1] = p->plain = false;
    p->empty = true;
}

static void segment_next(struct prefix *p, const struct array *a, size_t begin, size_t count,
                         const struct prefix_pairs *to)
{
    for (size_t done = 0, part; done < count; done += part) {
        struct prefix_pairs rest = prefix_pairs_from(to, done);
        part = count - done;
        if (special(p))
            fill_special(p, a, begin + done, part, &rest);
        else if (!p->plain)
            part = zeros_next(p, a, begin + done, part, &rest);
        else
            part = lines_next(p, a, begin + done, part, &rest);
    }
}

bool prefix_next(struct prefix *p, const struct array *a, const uint8_t *heads, size_t begin,
                 size_t count, const struct prefix_pairs *to)
{
    p->rounded = false;
    for (size_t done = 0, part; done < count; done += part) {
        struct prefix_pairs rest = prefix_pairs_from(to, done);
        if (heads && heads[begin + done])
            restart(p);
        part = before_head(heads, begin + done, count - done);
        segment_next(p, a, begin + done, part, &rest);
    }
    return !p->rounded;
}

/* Several to a thread, so that a thread that is held up holds up little. */
enum { SHARES_TO_A_THREAD = 8 };

/* The index at which the last segment with elements in [begin, end) begins, or `begin`. */
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
        return problem(p, STATUS_MEMORY, "prefixes: out of memory (%zu exact sums)", s->count);
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
