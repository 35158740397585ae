/* Special inputs of statistics of rows: what softmax and norms get wrong where they do. */
#include <math.h>

#include "experiments/conformance/class.h"

/* A number that the storage holds: what lies beyond its range becomes the largest. */
static void put(const struct conformance_setting *s, const struct array *to, size_t i, double x)
{
    double most = format_facts[s->storage].largest;
    special_put(to, i, fmax(-most, fmin(x, most)));
}

/* In [-1, 1). */
static double draw(const struct conformance_setting *s, size_t k, size_t i)
{
    return ldexp((double)(int64_t)special_draw(s, k, i), -63);
}

/* --- masked elements, -inf --- */

enum masks {
    MASK_ALL,
    MASK_ALL_BUT_FIRST,
    MASK_ALL_BUT_MIDDLE,
    MASK_ALL_BUT_LAST,
    MASK_ALL_BUT_TWO, /* alike */
    MASK_ODD,
    MASK_FIRST_HALF,
    MASK_SECOND_HALF,
    MASK_DRAWN,
    MASK_DRAWN_LARGE, /* the others at the end of the range */
    MASK_AND_INF,
    MASK_AND_NAN,
    MASKS
};

static bool is_masked(const struct conformance_setting *s, size_t k, size_t i)
{
    size_t middle = (s->n - 1) / 2;
    switch ((enum masks)k) {
    case MASK_ALL:
        return true;
    case MASK_ALL_BUT_FIRST:
        return i != 0;
    case MASK_ALL_BUT_MIDDLE:
        return i != middle;
    case MASK_ALL_BUT_LAST:
        return i != s->n - 1;
    case MASK_ALL_BUT_TWO:
        return i != middle && i != s->n - 1;
    case MASK_FIRST_HALF:
        return i < s->n / 2;
    case MASK_SECOND_HALF:
        return i >= s->n / 2;
    case MASK_ODD:
    case MASK_AND_INF:
    case MASK_AND_NAN:
        return i % 2 == 1;
    case MASK_DRAWN:
    case MASK_DRAWN_LARGE:
    case MASKS:
        break;
    }
    return special_draw(s, k, s->n + i) & 1;
}

static size_t masked_cases(const struct conformance_setting *s)
{
    return s->rows && s->n > 0 ? MASKS : 0;
}

static void masked_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    for (size_t i = 0; i < s->n; i++) {
        double x = k == MASK_ALL_BUT_TWO   ? 0.75
                   : k == MASK_DRAWN_LARGE ? special_top(s) * (1 - 0x1p-6 * (double)(i % 3))
                                           : 4 * draw(s, k, i);
        if (is_masked(s, k, i))
            special_put(to, i, -INFINITY);
        else
            put(s, to, i, x);
    }
    if (k == MASK_AND_INF || k == MASK_AND_NAN)
        special_put(to, s->n - 1, k == MASK_AND_INF ? INFINITY : NAN);
}

const struct special_class special_masked = {
    .name = "masked",
    .summary = "-inf among scores: all, all but one or two, half, beside +inf and NaN",
    .cases = masked_cases,
    .fill = masked_fill,
};

/* --- all equal --- */

enum { EQUALS = 8 };

static size_t equal_cases(const struct conformance_setting *s)
{
    return s->rows && s->n > 1 ? EQUALS : 0;
}

static void equal_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    const struct format_facts *f = &format_facts[s->storage];
    const double value[EQUALS] = {
        1, -0.7, 1000, special_top(s), -special_top(s), special_bottom(s), f->smallest_normal, 3};
    for (size_t i = 0; i < s->n; i++)
        put(s, to, i, value[k]);
    if (k == EQUALS - 1) /* but for one, by an ulp */
        put(s, to, s->n / 2, value[k] + format_ulp(s->storage, value[k]));
}

const struct special_class special_equal = {
    .name = "equal",
    .summary = "all elements equal, from the smallest to the largest; one that differs by an ulp",
    .cases = equal_cases,
    .fill = equal_fill,
};

/* --- a mean that is large beside the deviations from it --- */

enum { MEANS = 6 };

static size_t mean_cases(const struct conformance_setting *s)
{
    return s->rows && s->n > 1 ? MEANS : 0;
}

static void mean_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    static const double mean[MEANS] = {1, 100, -100, 1000, -1000, 0x1p14};
    static const double deviation[MEANS] = {0x1p-6, 1, 0.1, 1, 0.02, 0};
    for (size_t i = 0; i < s->n; i++)
        put(s, to, i,
            k < MEANS - 1 ? mean[k] + deviation[k] * draw(s, k, i)
                          : mean[k] + format_ulp(s->storage, mean[k]) * (double)(i % 2));
}

const struct special_class special_mean = {
    .name = "mean",
    .summary = "a mean that is large beside the deviations from it",
    .cases = mean_cases,
    .fill = mean_fill,
};

/* --- squares at the ends of the range --- */

enum { SQUARES = 10 };

static size_t squares_cases(const struct conformance_setting *s)
{
    return s->rows && s->n > 0 ? SQUARES : 0;
}

static void squares_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    double top = sqrt(special_top(s)), bottom = sqrt(special_bottom(s));
    double share = top / sqrt((double)s->n);
    const double size[SQUARES] = {top,    2 * top,      0.9 * share,  1.1 * share, 0.4 * share,
                                  bottom, 0.5 * bottom, 0.1 * bottom, 1e-3,        300};
    for (size_t i = 0; i < s->n; i++)
        put(s, to, i, size[k] * (i % 2 ? -1 : 1) * (1 + 0x1p-4 * draw(s, k, i)));
    if (k == SQUARES - 1) /* one alone */
        for (size_t i = 0; i + 1 < s->n; i++)
            put(s, to, i, draw(s, k, i));
}

const struct special_class special_squares = {
    .name = "squares",
    .summary = "squares, and their sums, that overflow, underflow, or are as small as epsilon",
    .cases = squares_cases,
    .fill = squares_fill,
};

/* --- scores far apart --- */

enum { SCORES = 10 };

static size_t scores_cases(const struct conformance_setting *s)
{
    return s->rows && s->n > 0 ? SCORES : 0;
}

/* Where exp(-d) ceases to be normal, and to be any number, in the accumulator. */
static double score(const struct conformance_setting *s, size_t k, size_t i)
{
    const struct format_facts *f = &format_facts[s->accumulator];
    double normal = -log(f->smallest_normal), least = -log(f->smallest);
    double at = (double)i, n = (double)s->n, spread = draw(s, k, i);
    switch (k) {
    case 0: /* each greater than those before: a sum is rescaled at every one */
        return at / 8;
    case 1:
        return -at / 8;
    case 2: /* so that what is rescaled underflows */
        return at * (least / 3);
    case 3:
        return i == 0 ? 0 : -normal + spread;
    case 4:
        return i == 0 ? 0 : -least + spread;
    case 5: /* the greatest comes last */
        return i + 1 == s->n ? 0 : -normal + 4 * spread;
    case 6: /* exp overflows, unless the greatest is taken away first */
        return 1000 + 4 * spread;
    case 7:
        return -1000 + 4 * spread;
    case 8: /* differences overflow */
        return i == s->n / 2 ? special_top(s) : -special_top(s) * (1 - at / n / 2);
    default:
        return (least + 8) * spread;
    }
}

static void scores_fill(const struct conformance_setting *s, size_t k, const struct array *to)
{
    for (size_t i = 0; i < s->n; i++)
        put(s, to, i, score(s, k, i));
}

const struct special_class special_scores = {
    .name = "scores",
    .summary = "scores that rise, fall, are large, or lie so far apart that exponentials underflow",
    .cases = scores_cases,
    .fill = scores_fill,
};
