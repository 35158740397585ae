#include "experiments/conformance/shrink.h"

#include "experiments/conformance/product.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/system/clock.h"
#include "experiments/conformance/stand.h"

struct search {
    struct special_shows *by;
    struct special_input *best;
    struct special_input candidate; /* room for as many elements */
};

static void set_length(struct special_input *in, size_t n)
{
    in->x.n = in->y.n = n;
}

/* Takes the candidate where it shows it. */
static enum status attempt(struct search *s, bool *taken, struct problem *p)
{
    enum status status = STATUS_OK;
    *taken = false;
    if (clock_ns() >= s->by->until_ns)
        s->by->tries = 0;
    if (s->by->tries == 0)
        return STATUS_OK;
    s->by->tries--;
    status = s->by->shows(s->by->context, &s->candidate, taken, p);
    if (status == STATUS_OK && *taken) {
        set_length(s->best, s->candidate.x.n);
        special_input_copy(s->best, &s->candidate);
    }
    return status;
}

static void copy_some(const struct array *a, size_t to, const struct array *b, size_t from,
                      size_t count)
{
    size_t width = (size_t)format_facts[b->format].bytes;
    memcpy((char *)a->data + to * width, (char *)b->data + from * width, count * width);
}

static void copy_elements(struct search *s, size_t to, size_t from, size_t count)
{
    copy_some(&s->candidate.x, to, &s->best->x, from, count);
    if (s->best->y.data)
        copy_some(&s->candidate.y, to, &s->best->y, from, count);
}

/* Leaves out runs of `size` elements, from the last to the first. */
static enum status leave_out(struct search *s, size_t size, bool *any, struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t end = s->best->x.n; end > 0 && status == STATUS_OK && s->by->tries > 0;) {
        size_t begin = end > size ? end - size : 0, n = s->best->x.n;
        bool taken;
        set_length(&s->candidate, n - (end - begin));
        copy_elements(s, 0, 0, begin);
        copy_elements(s, begin, end, n - end);
        status = attempt(s, &taken, p);
        *any |= taken;
        end = begin;
    }
    return status;
}

/* How simple a value is: +0 is simplest, then -0, 1, -1, powers of two, their negatives. */
enum { RANKS = 6 };

static int rank(double x)
{
    int exponent;
    if (x == 0)
        return signbit(x) ? 1 : 0;
    if (fabs(x) == 1)
        return x > 0 ? 2 : 3;
    if (!isfinite(x) || fabs(frexp(x, &exponent)) != 0.5)
        return RANKS;
    return x > 0 ? 4 : 5;
}

/* Something of that rank, or x. */
static double simpler(double x, int to)
{
    static const double one[] = {0, -0.0, 1, -1};
    int exponent;
    if (to < 4)
        return one[to];
    if (!isfinite(x))
        return x;
    frexp(x, &exponent);
    return copysign(ldexp(1, exponent - 1), to == 4 ? 1 : x);
}

/* Replaces the values of runs of `size` elements of an array by simpler ones. */
static enum status simplify(struct search *s, const struct array *best,
                            const struct array *candidate, size_t size, bool *any,
                            struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t begin = 0; begin < best->n && s->by->tries > 0; begin += size)
        for (int to = 0; to < RANKS && status == STATUS_OK; to++) {
            size_t n = best->n, end = n - begin < size ? n : begin + size;
            bool changed = false, taken = false;
            set_length(&s->candidate, n);
            copy_elements(s, 0, 0, n);
            for (size_t i = begin; i < end; i++) {
                double x = array_get(best, i), y = simpler(x, to);
                if (rank(x) <= to || double_bits(x) == double_bits(y))
                    continue;
                changed = true;
                array_encode(candidate, i, 1, &y);
            }
            if (changed)
                status = attempt(s, &taken, p);
            *any |= taken;
            if (taken)
                break;
        }
    return status;
}

static enum status simplify_all(struct search *s, size_t size, bool *any, struct problem *p)
{
    enum status status = simplify(s, &s->best->x, &s->candidate.x, size, any, p);
    return status == STATUS_OK && s->best->y.data
               ? simplify(s, &s->best->y, &s->candidate.y, size, any, p)
               : status;
}

/* Runs of half the array, of a quarter, and so on, down to single elements. */
static enum status by_halves(struct search *s, bool *any, struct problem *p,
                             enum status (*step)(struct search *, size_t, bool *, struct problem *))
{
    enum status status = STATUS_OK;
    for (size_t size = s->best->x.n; size > 0 && status == STATUS_OK; size /= 2)
        status = step(s, size, any, p);
    return status;
}

enum status conformance_shrink(struct special_input *in, struct special_shows *by,
                               struct problem *p)
{
    enum format f = in->x.format;
    size_t bytes = array_bytes(f, in->x.n);
    char *room = malloc(2 * bytes + 1);
    struct search s = {
        by, in, {{f, in->x.n, room}, {f, in->x.n, room && in->y.data ? room + bytes : NULL}}};
    enum status status = STATUS_OK;
    if (!room)
        return problem(p, STATUS_MEMORY, "no memory to shrink an input of %zu elements", in->x.n);
    for (bool any = true; any && status == STATUS_OK && by->tries > 0;) {
        any = false;
        status = by_halves(&s, &any, p, leave_out);
        if (status == STATUS_OK)
            status = by_halves(&s, &any, p, simplify_all);
    }
    free(room);
    return status;
}

/* --- with a subject --- */

struct same {
    const struct conformance_subject *subject;
    const char *why;
    unsigned runs;
};

/* A run that fails shows nothing. */
static enum status shows_the_same(void *context, const struct special_input *in, bool *shows,
                                  struct problem *p)
{
    const struct same *s = context;
    struct judgement j;
    (void)p;
    *shows = conformance_try(&j, s->subject, in, s->runs, NULL) == STATUS_OK &&
             j.is == JUDGED_IMPOSSIBLE && strcmp(j.why, s->why) == 0;
    return STATUS_OK;
}

enum status conformance_shrink_subject(struct special_input *in,
                                       const struct conformance_subject *subject,
                                       struct judgement *first, size_t tries, uint64_t until_ns,
                                       struct problem *p)
{
    enum { OFTEN = 5 };
    struct same same = {subject, first->why, subject->method->promise == PROMISE_NONE ? OFTEN : 1};
    struct special_shows by = {shows_the_same, &same, tries, until_ns};
    struct judgement j;
    enum status status = conformance_shrink(in, &by, p);
    if (status == STATUS_OK)
        status = conformance_try(&j, subject, in, 4 * same.runs, p);
    special_product_settle(subject, in);
    if (status == STATUS_OK && j.is == JUDGED_IMPOSSIBLE)
        *first = j;
    return status;
}
