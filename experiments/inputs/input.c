#include "experiments/inputs/input.h"

#include <math.h>

#include "experiments/inputs/family.h"

const struct input_family *const input_families[] = {
    &input_uniform,   &input_symmetric,     &input_normal,        &input_lognormal,
    &input_ones,      &input_cancellation,  &input_cond,          &input_anderson,
    &input_zero_sum,  &input_kahan_killer,  &input_ladder,        &input_stagnation,
    &input_ties,      &input_sine,          &input_harmonic,      &input_alternating,
    &input_subnormal, &input_near_overflow, &input_wide,          &input_spike,
    &input_relu,      &input_cycle,         &input_full_mantissa, &input_signed_zeros,
    &input_infs,      &input_nans,          &input_plateau,       &input_walk,
    &input_runs,      &input_creep,         &input_inf_segment,   &input_reciprocal,
};
const size_t input_family_count = sizeof input_families / sizeof *input_families;

const struct input_family *const pair_families[] = {
    &input_dot_cond, &input_orthogonal, &input_product_overflow, &input_product_underflow};
const size_t pair_family_count = sizeof pair_families / sizeof *pair_families;

bool input_uses_seed(const struct input *in)
{
    return in->family->uses_seed || in->arrangement == ARRANGED_SHUFFLED;
}

double input_cost(const struct input *in)
{
    enum { RANDOM_NS = 35, PLAIN_NS = 10 }; /* measured on a Xeon of 2023, as costly_ns were */
    return in->family->costly_ns ? in->family->costly_ns
           : input_uses_seed(in) ? RANDOM_NS
                                 : PLAIN_NS;
}

bool input_order_safe(const struct input *in, size_t n, double cond, enum format storage)
{
    return in->family->order_safe(in, n, cond, storage);
}

bool input_reaches(const struct input *in, size_t n, double cond, enum format storage)
{
    return n == 0 || !in->family->reaches || in->family->reaches(in, n, cond, storage);
}

static enum status generate(const struct input *in, const struct array *to, uint64_t seed,
                            double cond, struct problem *p)
{
    struct fill f = {.family = in->family,
                     .parameter = in->parameter,
                     .to = *to,
                     .facts = &format_facts[to->format],
                     .seed = seed,
                     .cond = cond};
    if (in->family->uses_cond && cond != 0 && !(cond >= 1 && isfinite(cond)))
        return problem(p, STATUS_USAGE,
                       "input %s: a condition number of %g; expected at least 1, and finite",
                       in->family->name, cond);
    if (to->n == 0)
        return STATUS_OK;
    enum status status = in->family->element ? fill_elements(&f, in->family->element, p)
                                             : in->family->generate(&f, p);
    return status == STATUS_OK ? input_arrange(to, in->arrangement, seed, p) : status;
}

enum status input_generate(const struct input *in, const struct array *to, uint64_t seed,
                           double cond, struct problem *p)
{
    if (in->family->pair)
        return problem(p, STATUS_USAGE,
                       "input %s: two arrays, for dot products (run dot); expected an input of one",
                       in->family->name);
    return generate(in, to, seed, cond, p);
}

uint64_t pair_seed(uint64_t seed)
{
    return seed ^ UINT64_C(1) << 63;
}

enum status input_generate_pair(const struct input *in, const struct array *to, uint64_t seed,
                                double cond, struct problem *p)
{
    size_t n = to->n / 2;
    struct array first = {to->format, n, to->data};
    struct array second = {to->format, n, (char *)to->data + array_bytes(to->format, n)};
    if (in->family->pair && in->arrangement != ARRANGED_AS_GENERATED)
        return problem(p, STATUS_USAGE, "input %s: order=%s; expected pairs as they are generated",
                       in->family->name, arrangement_name[in->arrangement]);
    if (in->family->pair)
        return generate(in, to, seed, cond, p);
    enum status status = input_generate(in, &first, seed, cond, p);
    return status == STATUS_OK ? input_generate(in, &second, pair_seed(seed), cond, p) : status;
}
