/* Elements that follow a simple pattern. */
#include "experiments/inputs/family.h"

#include <float.h>
#include <math.h>

#include "experiments/inputs/portable.h"

static double ones(const struct fill *f, size_t i)
{
    (void)i;
    return f->parameter[0];
}

static bool ones_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)cond;
    return sum_fits((double)n * fabs(format_round(storage, in->parameter[0])), storage);
}

const struct input_family input_ones = {
    .name = "ones",
    .summary = "one value throughout: a running sum stops growing at 2^p times the value",
    .parameter = {{"value", 1, -DBL_MAX, DBL_MAX, "the value", false}},
    .order_safe = ones_safe,
    .element = ones,
};

static double alternating(const struct fill *f, size_t i)
{
    double size = 1 + random_unit(fill_draw(f, i).word[0]);
    return i & 1 ? -size : size;
}

static bool alternating_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond;
    return sum_fits(random_sum(n, 1.5, 2), storage);
}

const struct input_family input_alternating = {
    .name = "alternating",
    .summary = "signs alternate, magnitudes uniform on [1, 2): neighbours cancel",
    .uses_seed = true,
    .order_safe = alternating_safe,
    .element = alternating,
};

/* The cycle's length is prime and its values are no dyadic fractions, so that no two blocks of a
 * usual size hold the same values, and sums of different order differ in their bits. */
enum { CYCLE = 251 };

static double cycle(const struct fill *f, size_t i)
{
    (void)f;
    return (double)(i % CYCLE + 1) / CYCLE;
}

static bool cycle_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond;
    double whole = (double)(n / CYCLE) * (CYCLE + 1) / 2, rest = (double)(n % CYCLE);
    return sum_fits(1.01 * (whole + rest * (rest + 1) / 2 / CYCLE), storage);
}

const struct input_family input_cycle = {
    .name = "cycle",
    .summary = "1/251, 2/251, ... 251/251 repeated: a prime cycle, which shows swapped blocks",
    .order_safe = cycle_safe,
    .element = cycle,
};

static double sine(const struct fill *f, size_t i)
{
    return portable_sin_turns(i, f->to.n);
}

static bool sine_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond;
    return sum_fits(1.01 * 0.6367 * (double)n + 1, storage); /* the mean of |sin| is 2/pi */
}

const struct input_family input_sine = {
    .name = "sine",
    .summary = "one period of a sine: the running sum grows to n/pi, the exact sum is 0",
    .order_safe = sine_safe,
    .element = sine,
};

static double harmonic(const struct fill *f, size_t i)
{
    (void)f;
    return 1 / (double)(i + 1);
}

static bool harmonic_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond;
    int doublings = n ? ilogb((double)n) : 0;
    return sum_fits(1.01 * (2 + doublings), storage);
}

const struct input_family input_harmonic = {
    .name = "harmonic",
    .summary = "1, 1/2, 1/3, ...: a running sum stops growing while the true one does not",
    .order_safe = harmonic_safe,
    .element = harmonic,
};

static double spike(const struct fill *f, size_t i)
{
    return (double)i == f->common ? f->parameter[0] : 0;
}

static enum status spike_generate(struct fill *f, struct problem *p)
{
    f->common = (double)fill_place(f, 0, 1);
    return fill_elements(f, spike, p);
}

static bool spike_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)cond;
    return n == 0 || sum_fits(fabs(format_round(storage, in->parameter[0])), storage);
}

const struct input_family input_spike = {
    .name = "spike",
    .summary = "zeros, and one other value at a random place",
    .parameter = {{"value", 1, -DBL_MAX, DBL_MAX, "the value", false}},
    .uses_seed = true,
    .order_safe = spike_safe,
    .generate = spike_generate,
};
