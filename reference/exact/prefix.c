#include "reference/exact/prefix.h"

#include <math.h>

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
