/* Shrinking by predicates whose smallest inputs are known. */
#include <criterion/criterion.h>
#include <math.h>

#include "experiments/conformance/shrink.h"
#include "tests/support/samples.h"

enum { N = 500 };

struct question {
    bool (*holds)(const struct special_input *in);
    size_t asked;
};

static enum status shows(void *context, const struct special_input *in, bool *yes,
                         struct problem *p)
{
    struct question *q = context;
    (void)p;
    q->asked++;
    *yes = q->holds(in);
    return STATUS_OK;
}

static bool has_nan(const struct special_input *in)
{
    for (size_t i = 0; i < in->x.n; i++)
        if (isnan(array_get(&in->x, i)))
            return true;
    return false;
}

/* A negative one somewhere before one above 1. */
static bool falls_then_rises(const struct special_input *in)
{
    bool fell = false;
    for (size_t i = 0; i < in->x.n; i++) {
        double x = array_get(&in->x, i);
        if (fell && x > 1)
            return true;
        fell |= x < 0;
    }
    return false;
}

static bool is_long(const struct special_input *in)
{
    return in->x.n >= 257 && array_get(&in->x, 256) != 0;
}

static bool is_low(const struct special_input *in)
{
    for (size_t i = 0; i < in->x.n; i++)
        if (array_get(&in->x, i) <= -2)
            return true;
    return false;
}

static bool always(const struct special_input *in)
{
    (void)in;
    return true;
}

/* What is left of N random numbers, NaN among them. */
static struct array shrunk(bool (*holds)(const struct special_input *in), enum format f,
                           double *data, size_t tries, size_t *asked)
{
    struct special_input in = {.x = {f, N, data}};
    struct question q = {holds, 0};
    struct special_shows by = {shows, &q, tries, UINT64_MAX};
    struct problem p = {0};
    uint64_t seed = 5;
    for (size_t i = 0; i < N; i++) {
        double x = (double)(int64_t)sample_next(&seed) * 0x1p-61;
        array_encode(&in.x, i, 1, i == 321 ? &(double){NAN} : &x);
    }
    cr_assert(holds(&in));
    cr_assert(conformance_shrink(&in, &by, &p) == STATUS_OK, "%s", p.text);
    cr_assert(holds(&in), "it does not show it any more");
    *asked = q.asked;
    return in.x;
}

/* Both arrays: a product above 2, with 1 somewhere before it in either. */
static bool has_large_product(const struct special_input *in)
{
    bool one = false;
    for (size_t i = 0; i < in->x.n; i++) {
        double x = array_get(&in->x, i), y = array_get(&in->y, i);
        if (one && x * y > 2)
            return true;
        one |= y == 1;
    }
    return false;
}

Test(special_shrink, pairs)
{
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        double data[2][N];
        struct special_input in = {{f, N, data[0]}, {f, N, data[1]}};
        struct question q = {has_large_product, 0};
        struct special_shows by = {shows, &q, 10000, UINT64_MAX};
        uint64_t seed = 7;
        for (size_t i = 0; i < N; i++) {
            array_encode(&in.x, i, 1, &(double){(double)(sample_next(&seed) % 64) / 16});
            array_encode(&in.y, i, 1, &(double){i % 7 == 3 ? 1 : 1.5});
        }
        cr_assert(conformance_shrink(&in, &by, NULL) == STATUS_OK);
        cr_expect(in.x.n == 2 && in.y.n == 2, "n = %zu, %zu", in.x.n, in.y.n);
        cr_expect(array_get(&in.x, 0) == 0 && array_get(&in.y, 0) == 1, "%a * %a",
                  array_get(&in.x, 0), array_get(&in.y, 0));
        cr_expect(array_get(&in.x, 1) * array_get(&in.y, 1) > 2 && has_large_product(&in),
                  "%a * %a", array_get(&in.x, 1), array_get(&in.y, 1));
    }
}

Test(special_shrink, stops_in_time)
{
    double data[N];
    struct special_input in = {.x = {FP32, N, memset(data, 0, sizeof data)}};
    struct question q = {always, 0};
    struct special_shows by = {shows, &q, 10000, 0};
    cr_assert(conformance_shrink(&in, &by, NULL) == STATUS_OK);
    cr_expect(q.asked == 0 && in.x.n == N);
}

Test(special_shrink, finds_the_smallest)
{
    double data[N];
    size_t asked;
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        struct array in = shrunk(has_nan, f, data, 10000, &asked);
        cr_expect(in.n == 1, "NaN: n = %zu", in.n);
        in = shrunk(falls_then_rises, f, data, 10000, &asked);
        cr_expect(in.n == 2 && array_get(&in, 0) == -1 && array_get(&in, 1) == 2,
                  "falls, rises: n = %zu, %a, %a", in.n, array_get(&in, 0), array_get(&in, 1));
        in = shrunk(is_long, f, data, 10000, &asked);
        cr_expect(in.n == 257 && array_get(&in, 256) == 1, "long: n = %zu", in.n);
        for (size_t i = 0; i < 256 && i < in.n; i++)
            cr_expect(array_bits(&in, i) == 0, "long: x[%zu] = %a", i, array_get(&in, i));
        in = shrunk(is_low, f, data, 10000, &asked);
        cr_expect(in.n == 1 && array_get(&in, 0) == -2, "low: n = %zu, %a", in.n,
                  array_get(&in, 0));
        in = shrunk(always, f, data, 10000, &asked);
        cr_expect(in.n == 0, "always: n = %zu", in.n);
    }
}

Test(special_shrink, asks_no_more_often_than_it_may)
{
    double data[N], again[N];
    size_t asked, asked_again;
    for (size_t tries = 0; tries < 40; tries += 13) {
        struct array a = shrunk(is_long, FP32, data, tries, &asked);
        struct array b = shrunk(is_long, FP32, again, tries, &asked_again);
        cr_expect(asked <= tries && asked == asked_again, "%zu of %zu, then %zu", asked, tries,
                  asked_again);
        cr_expect(a.n == b.n && memcmp(data, again, array_bytes(FP32, a.n)) == 0, "not the same");
    }
}
