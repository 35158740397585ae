/* Independent random elements. */
#include "experiments/inputs/family.h"

#include <float.h>
#include <math.h>

#include "experiments/inputs/portable.h"

static double uniform(const struct fill *f, size_t i)
{
    return f->parameter[0] * random_unit(fill_draw(f, i).word[0]);
}

static bool uniform_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)cond;
    return sum_fits(random_sum(n, in->parameter[0] / 2, in->parameter[0]), storage);
}

const struct input_family input_uniform = {
    .name = "uniform",
    .summary = "uniform on [0, 1), then rounded to the storage format",
    .parameter = {{"scale", 1, DBL_TRUE_MIN, DBL_MAX, "upper end of the interval", false}},
    .uses_seed = true,
    .order_safe = uniform_safe,
    .element = uniform,
};

static double symmetric(const struct fill *f, size_t i)
{
    return f->parameter[0] * fill_symmetric(f, i);
}

const struct input_family input_symmetric = {
    .name = "symmetric",
    .summary = "uniform on (-1, 1): the sum is small beside the magnitudes",
    .parameter = {{"scale", 1, DBL_TRUE_MIN, DBL_MAX, "upper end of the interval", false}},
    .uses_seed = true,
    .order_safe = uniform_safe,
    .element = symmetric,
};

static double normal(const struct fill *f, size_t i)
{
    return f->parameter[0] + f->parameter[1] * random_normal(fill_draw(f, i));
}

static bool normal_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)cond;
    double mean = fabs(in->parameter[0]), sigma = in->parameter[1];
    return sum_fits(random_sum(n, mean + 0.8 * sigma, mean + RANDOM_NORMAL_MOST * sigma), storage);
}

const struct input_family input_normal = {
    .name = "normal",
    .summary = "normal distribution",
    .parameter = {{"mean", 0, -DBL_MAX, DBL_MAX, "mean", false},
                  {"sigma", 1, 0, DBL_MAX, "standard deviation", false}},
    .uses_seed = true,
    .costly_ns = 105,
    .order_safe = normal_safe,
    .element = normal,
};

static double lognormal(const struct fill *f, size_t i)
{
    double x = portable_exp(f->parameter[0] * random_normal(fill_draw(f, i)));
    return x < f->facts->largest ? x : f->facts->largest;
}

static bool lognormal_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)cond;
    double sigma = in->parameter[0], most = portable_exp(RANDOM_NORMAL_MOST * sigma);
    most = most < format_facts[storage].largest ? most : format_facts[storage].largest;
    return sum_fits(random_sum(n, portable_exp(sigma * sigma / 2), most), storage);
}

const struct input_family input_lognormal = {
    .name = "lognormal",
    .summary = "e^(sigma z), z normal: positive with a long tail, cut at the largest number",
    .parameter = {{"sigma", 1, 0, 80, "standard deviation of the logarithm", false}},
    .uses_seed = true,
    .costly_ns = 105,
    .order_safe = lognormal_safe,
    .element = lognormal,
};

static double relu(const struct fill *f, size_t i)
{
    double x = random_normal(fill_draw(f, i)) + f->parameter[0];
    return x > 0 ? x : 0;
}

static bool relu_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)cond;
    double shift = in->parameter[0];
    return sum_fits(random_sum(n, 0.4 + fmax(shift, 0), RANDOM_NORMAL_MOST + fmax(shift, 0)),
                    storage);
}

const struct input_family input_relu = {
    .name = "relu",
    .summary = "normal, negative values replaced by +0: half the elements are zeros",
    .parameter = {{"shift", 0, -8, 8, "added to the normal before; below 0 it gives more zeros",
                   false}},
    .uses_seed = true,
    .costly_ns = 85,
    .order_safe = relu_safe,
    .element = relu,
};
