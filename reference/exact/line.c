#include "reference/exact/line.h"

#include <math.h>

/* Elements that a cascade takes at once: they are done again where it fails. */
enum { LINE_BLOCK = CASCADE_MOST };

/* The leading three words of the fixed-point number. What they miss is half an ulp of the third at
 * most; infinite words know nothing of the sum. */
static void cascade_from_running(struct line *l)
{
    struct cascade *c = &l->cascade;
    bool rest = running_read(&l->running, c->word, 3);
    c->error = rest ? fabs(c->word[2]) * 0x1p-53 + 0x1p-1074 : 0;
    if (isinf(c->word[0]))
        c->error = INFINITY;
}

static void running_from_cascade(struct running *r, const struct cascade *c)
{
    running_zero(r);
    for (int i = 0; i < 3; i++)
        running_add(r, c->word[i]);
}

void line_begin(struct line *l, const struct exact *before, bool magnitudes)
{
    *l = (struct line){.magnitudes = magnitudes};
    running_zero(&l->running);
    running_add_exact(&l->running, before, magnitudes);
    cascade_from_running(l);
}

void line_restart(struct line *l)
{
    l->cascade = (struct cascade){.error = 0};
    l->failures = 0;
}

/* Gives the fixed-point number what it has not been given of the elements before `end`. */
static void catch_up(struct line *l, const struct array *a, size_t end)
{
    struct exact e;
    if (l->behind == 0)
        return;
    exact_init(&e);
    exact_add_array(&e, a, end - l->behind, l->behind);
    running_add_exact(&l->running, &e, l->magnitudes);
    l->behind = 0;
}

static void load(const struct line *l, const struct array *a, size_t begin, size_t count, double *x)
{
    array_decode(a, begin, count, x);
    if (l->magnitudes)
        for (size_t i = 0; i < count; i++)
            x[i] = fabs(x[i]);
}

static bool by_cascade(struct line *l, const double *x, size_t count, double *hi, double *lo)
{
    struct cascade before = l->cascade;
    if (!cascade_block(&l->cascade, x, count, hi, lo))
        return false;
    l->rounded |= l->cascade.stage > CASCADE_TWO;
    if (l->cascade.error != 0 && before.error == 0) {
        running_from_cascade(&l->running, &before);
        l->behind = count;
    } else if (l->cascade.error != 0) {
        l->behind += count;
    }
    return true;
}

/* Returns how many were done: those before the first inf or NaN. */
static size_t by_running(struct line *l, const struct array *a, size_t begin, const double *x,
                         size_t count, double *hi, double *lo)
{
    size_t good = 0;
    while (good < count && isfinite(x[good]))
        good++;
    if (l->cascade.error == 0)
        running_from_cascade(&l->running, &l->cascade);
    else
        catch_up(l, a, begin);
    running_block(&l->running, x, good, hi, lo);
    cascade_from_running(l);
    l->rounded = true;
    return good;
}

/* After k failures in a row the cascade is left alone for 2^k - 1 blocks, at most 15. */
static size_t blocks_to_skip(unsigned failures)
{
    return ((size_t)1 << (failures < 4 ? failures : 4)) - 1;
}

static size_t fill_infinite(size_t count, double *hi, double *lo)
{
    for (size_t i = 0; i < count; i++) {
        hi[i] = INFINITY;
        lo[i] = 0;
    }
    return count;
}

size_t line_next(struct line *l, const struct array *a, size_t begin, size_t count, double *hi,
                 double *lo)
{
    double x[LINE_BLOCK];
    size_t skip = 0;
    l->cascade.stage = 0;
    l->rounded = false;
    if (l->magnitudes && isinf(l->cascade.word[0]))
        return fill_infinite(count, hi, lo);
    for (size_t done = 0, block; done < count; done += block) {
        block = count - done < LINE_BLOCK ? count - done : LINE_BLOCK;
        load(l, a, begin + done, block, x);
        bool tried = skip == 0;
        if (tried && by_cascade(l, x, block, hi + done, lo + done)) {
            l->failures = 0;
            continue;
        }
        size_t good = by_running(l, a, begin + done, x, block, hi + done, lo + done);
        if (good < block)
            return done + good;
        skip = tried ? blocks_to_skip(++l->failures) : skip - 1;
    }
    if (l->cascade.error != 0) {
        catch_up(l, a, begin + count);
        cascade_from_running(l);
    }
    return count;
}
