/* Signed zeros, infinities, NaN. */
#include "experiments/inputs/family.h"

#include <math.h>

static double signed_zeros(const struct fill *f, size_t i)
{
    return random_unit(fill_draw(f, i).word[0]) < f->parameter[0] ? -0.0 : 0;
}

static bool always_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)n, (void)cond, (void)storage;
    return true;
}

const struct input_family input_signed_zeros = {
    .name = "signed_zeros",
    .summary = "zeros of either sign: the sum is -0 only where all of them are (negative=1)",
    .parameter = {{"negative", 0.5, 0, 1, "share of -0", false}},
    .uses_seed = true,
    .order_safe = always_safe,
    .element = signed_zeros,
};

static bool safe_when_empty(const struct input *in, size_t n, double cond, enum format storage)
{
    (void)in, (void)cond, (void)storage;
    return n == 0;
}

static size_t at_most_n(const struct fill *f, double count)
{
    return count < (double)f->to.n ? (size_t)count : f->to.n;
}

static void put(const struct fill *f, size_t place, double x)
{
    array_encode(&f->to, place, 1, &x);
}

static enum status infs_generate(struct fill *f, struct problem *p)
{
    enum status status = fill_elements(f, fill_symmetric, p);
    if (status != STATUS_OK)
        return status;
    size_t infs = at_most_n(f, f->parameter[1]);
    for (size_t k = 0; k < infs; k++) {
        bool negative = f->parameter[0] < 0 || (f->parameter[0] == 0 && k % 2 == 1);
        put(f, fill_place(f, k, infs), negative ? -INFINITY : INFINITY);
    }
    return STATUS_OK;
}

const struct input_family input_infs = {
    .name = "infs",
    .summary = "infinities among numbers uniform on (-1, 1)",
    .parameter = {{"sign", 1, -1, 1, "of the infinities; 0: they alternate, from +inf", true},
                  {"count", 2, 1, 0x1p53, "how many (at most n)", true}},
    .uses_seed = true,
    .order_safe = safe_when_empty,
    .generate = infs_generate,
};

static enum status nans_generate(struct fill *f, struct problem *p)
{
    enum status status = fill_elements(f, fill_symmetric, p);
    if (status != STATUS_OK)
        return status;
    size_t nans = at_most_n(f, f->parameter[0]),
           all = at_most_n(f, f->parameter[0] + f->parameter[1]);
    for (size_t k = 0; k < all; k++) {
        double inf = (k - nans) % 2 ? -INFINITY : INFINITY;
        put(f, fill_place(f, k, all), k < nans ? NAN : inf);
    }
    return STATUS_OK;
}

const struct input_family input_nans = {
    .name = "nans",
    .summary = "NaN, with infs=K infinities of both signs too, among numbers uniform on (-1, 1)",
    .parameter = {{"count", 1, 1, 0x1p53, "how many NaN (at most n)", true},
                  {"infs", 0, 0, 0x1p53, "how many infinities, their signs alternating", true}},
    .uses_seed = true,
    .order_safe = safe_when_empty,
    .generate = nans_generate,
};
