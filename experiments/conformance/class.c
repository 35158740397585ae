#include "experiments/conformance/class.h"

#include <math.h>

#include "experiments/inputs/philox.h"

const struct special_class *const special_class[SPECIAL_CLASSES] = {
    &special_zeros,    &special_inf,  &special_infs,    &special_nan,     &special_subnormal,
    &special_overflow, &special_way,  &special_power,   &special_pair,    &special_sparse,
    &special_short,    &special_edge, &special_product, &special_factors, &special_masked,
    &special_equal,    &special_mean, &special_squares, &special_scores,
};

const size_t special_length[SPECIAL_LENGTHS] = {
    0,    1,    2,    3,    31,   32,   33,   255,  256,  257,  1023,
    1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193,
};

void special_put(const struct array *to, size_t i, double x)
{
    array_encode(to, i, 1, &x);
}

size_t special_place(size_t n, size_t k, size_t places)
{
    return places < 2 ? (n - 1) / 2 : k * (n - 1) / (places - 1);
}

uint64_t special_draw(const struct conformance_setting *s, size_t k, size_t i)
{
    return random_draw(s->seed, RANDOM_VALUES, (uint64_t)k << 32 | i).word[0];
}

double special_top(const struct conformance_setting *s)
{
    double a = format_facts[s->storage].largest, b = format_facts[s->accumulator].largest;
    /* fp16's has more digits than bf16: what both hold is cut to the shorter. */
    int digits = format_facts[s->storage].precision;
    if (format_facts[s->accumulator].precision < digits)
        digits = format_facts[s->accumulator].precision;
    int exponent;
    frexp(a < b ? a : b, &exponent);
    return ldexp(1 - ldexp(1, -digits), exponent);
}

double special_bottom(const struct conformance_setting *s)
{
    return fmax(format_facts[s->storage].smallest, format_facts[s->accumulator].smallest);
}

/* --- zeros --- */

static size_t zeros_cases(const struct conformance_setting *s)
{
    return s->n > 0 ? 8 : 0;
}

static void zeros_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    size_t odd = special_place(s->n, k % 3, 3); /* the one that is not as the others */
    for (size_t i = 0; i < s->n; i++) {
        bool negative = k == 0   ? false
                        : k == 1 ? true
                        : k == 7 ? special_draw(s, k, i) & 1
                                 : (i == odd) == (k == 2);
        special_put(to, i, negative ? -0.0 : 0.0);
    }
}

const struct special_class special_zeros = {
    .name = "zeros",
    .summary = "all +0, all -0, one among others, mixed",
    .cases = zeros_cases,
    .fill = zeros_fill,
};

/* --- infinities and NaN, among numbers of either sign below 1 --- */

static void fill_numbers(const struct conformance_setting *s, size_t k, const struct array *to)
{
    for (size_t i = 0; i < s->n; i++)
        special_put(to, i, ldexp((double)(int64_t)special_draw(s, k, i), -63));
}

enum { PLACES = 5 };

static size_t inf_cases(const struct conformance_setting *s)
{
    return s->n > 0 ? 2 * PLACES : 0;
}

static void inf_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    fill_numbers(s, k, to);
    special_put(to, special_place(s->n, k / 2, PLACES), k % 2 ? -INFINITY : INFINITY);
}

const struct special_class special_inf = {
    .name = "inf",
    .summary = "one infinity of either sign, first, last and between, among numbers",
    .cases = inf_cases,
    .fill = inf_fill,
};

static size_t infs_cases(const struct conformance_setting *s)
{
    return s->n > 1 ? 7 : 0;
}

static void infs_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    size_t last = s->n - 1, middle = last / 2;
    const size_t place[7][2] = {{0, last},   {last, 0},      {middle, middle + 1}, {middle + 1, 0},
                                {0, middle}, {middle, last}, {last - 1, last}};
    fill_numbers(s, k, to);
    special_put(to, place[k][0], k == 6 ? -INFINITY : INFINITY);
    special_put(to, place[k][1], k == 5 ? INFINITY : -INFINITY);
}

const struct special_class special_infs = {
    .name = "infs",
    .summary = "two infinities of different or the same signs, among numbers",
    .cases = infs_cases,
    .fill = infs_fill,
};

/* Quiet, of either sign, with a payload that shrinks to no infinity when bits of it are cut. */
static uint64_t nan_bits(enum format f, uint64_t payload, bool negative)
{
    int fraction = format_facts[f].precision - 1, width = 8 * format_facts[f].bytes;
    uint64_t quiet = UINT64_C(1) << (fraction - 1);
    uint64_t exponent = ((UINT64_C(1) << (width - 1)) - 1) >> fraction << fraction;
    return exponent | quiet | (payload & (quiet - 1)) | (uint64_t)negative << (width - 1);
}

static size_t nan_cases(const struct conformance_setting *s)
{
    return s->n > 0 ? 2 * PLACES + 2 : 0;
}

static void nan_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    fill_numbers(s, k, to);
    if (k == 2 * PLACES) /* nothing else */
        for (size_t i = 0; i < s->n; i++)
            array_set_bits(to, i, nan_bits(s->storage, special_draw(s, k, i), i % 2));
    if (k == 2 * PLACES + 1) /* with an infinity */
        special_put(to, 0, INFINITY);
    size_t place = k < 2 * PLACES ? special_place(s->n, k / 2, PLACES) : s->n - 1;
    array_set_bits(to, place, nan_bits(s->storage, special_draw(s, k, s->n), k % 2));
}

const struct special_class special_nan = {
    .name = "nan",
    .summary =
        "a quiet NaN with a payload, first, last and between; with an infinity; nothing else",
    .cases = nan_cases,
    .fill = nan_fill,
};
