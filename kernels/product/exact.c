/* product/exact: the exact product of the elements as they are stored, rounded once to the
 * accumulator, to nearest, ties to even.
 *
 * Order: none. The result is the same for every order of products; so it keeps every promise.
 *
 * Significands are multiplied as odd whole numbers, of which the first 256 bits are kept, exponents
 * apart. What was cut off is known to be less than a bound; where the product rounds differently
 * with it and without it, twice as many bits are kept, until it does not or nothing is cut (Ziv
 * 1991). That ends, as no number has more bits than all of its factors together.
 *
 * It has no CUDA side: numbers that in the worst case are as long as the whole input have no room
 * in a kernel's workspace but at that cost for every input. */
#include <math.h>
#include <stdlib.h>

#include "kernels/method/method.h"

/* The magnitude is limbs 2^exponent, 64 bits each, the lowest first; where it was cut, it is more
 * than that, by less than 2 in the second limb for each cut. */
struct running {
    uint64_t *limb;
    size_t room, used;
    int64_t exponent;
    uint64_t cuts;
};

/* A cut takes the lowest limb, less than 2^-64(room-1) of the product. */
static void multiply(struct running *to, uint64_t odd)
{
    unsigned __int128 carry = 0;
    for (size_t i = 0; i < to->used; i++) {
        carry += (unsigned __int128)to->limb[i] * odd;
        to->limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
    if (carry == 0)
        return;
    if (to->used == to->room) {
        memmove(to->limb, to->limb + 1, --to->used * sizeof *to->limb);
        to->exponent += 64;
        to->cuts++;
    }
    to->limb[to->used++] = (uint64_t)carry;
}

static void multiply_all(struct running *to, const struct array *in)
{
    double block[ARRAY_BLOCK];
    to->limb[0] = to->used = 1;
    to->exponent = to->cuts = 0;
    for (size_t begin = 0; begin < in->n; begin += ARRAY_BLOCK) {
        size_t count = in->n - begin < ARRAY_BLOCK ? in->n - begin : ARRAY_BLOCK;
        array_decode(in, begin, count, block);
        for (size_t i = 0; i < count; i++) {
            int exponent;
            uint64_t odd = (uint64_t)ldexp(frexp(fabs(block[i]), &exponent), 53);
            int zeros = __builtin_ctzll(odd);
            multiply(to, odd >> zeros);
            to->exponent += exponent - 53 + zeros;
        }
    }
}

/* The first 64 bits, the last one set where any bit behind them is; *exponent: of the last one. */
static uint64_t leading(const struct running *of, int64_t *exponent)
{
    uint64_t top = of->limb[of->used - 1], below = of->used > 1 ? of->limb[of->used - 2] : 0;
    int zeros = __builtin_clzll(top);
    uint64_t bits = zeros ? top << zeros | below >> (64 - zeros) : top;
    uint64_t rest = zeros ? below << zeros : below;
    for (size_t i = 0; i + 2 < of->used; i++)
        rest |= of->limb[i];
    *exponent = of->exponent + 64 * (int64_t)(of->used - 1) - zeros;
    return bits | (rest != 0);
}

/* bits 2^exponent, bits >= 2^63, rounded once to f. */
static double rounded(enum format f, uint64_t bits, int64_t exponent)
{
    const struct format_facts *facts = &format_facts[f];
    int64_t above = facts->emin - (exponent + 63); /* of the smallest normal number */
    int64_t drop = 64 - facts->precision + (above > 0 ? above : 0);
    if (exponent + 63 > facts->emax)
        return INFINITY;
    if (drop > 64)
        return 0;
    uint64_t whole = drop == 64 ? 0 : bits >> drop, half = UINT64_C(1) << (drop - 1);
    uint64_t rest = drop == 64 ? bits : bits & (2 * half - 1);
    whole += rest > half || (rest == half && (whole & 1));
    double value = ldexp((double)whole, (int)(exponent + drop));
    return value > facts->largest ? INFINITY : value;
}

/* Adds what the cuts may have taken. */
static void add_cuts(struct running *to)
{
    uint64_t more = 2 * to->cuts;
    for (size_t i = 1; i < to->used && more; i++) {
        to->limb[i] += more;
        more = to->limb[i] < more;
    }
    if (more) { /* all limbs above the first were at their most */
        to->limb[to->used - 1] = UINT64_C(1) << 63;
        to->exponent++;
    }
}

/* Returns whether what was kept tells. */
static bool round_running(double *value, struct running *of, enum format f)
{
    int64_t exponent;
    uint64_t bits = leading(of, &exponent) | (of->cuts > 0);
    *value = rounded(f, bits, exponent);
    if (of->cuts == 0)
        return true;
    add_cuts(of);
    bits = leading(of, &exponent);
    return rounded(f, bits, exponent) == *value;
}

static enum status round_product(double *value, const struct task *t, struct problem *p)
{
    struct running product = {.room = 4};
    enum status status = STATUS_OK;
    bool sure = false;
    for (; status == STATUS_OK && !sure; product.room *= 2) {
        product.limb = malloc(product.room * sizeof *product.limb);
        if (!product.limb) {
            status = problem(p, STATUS_MEMORY, "device cpu: no memory for a product of %zu words",
                             product.room);
            break;
        }
        multiply_all(&product, &t->of->in);
        sure = round_running(value, &product, t->accumulator);
        free(product.limb);
    }
    return status;
}

/* If an element is 0 or not finite, the product is 0, infinite or NaN. */
static bool is_special(double *value, const struct array *in)
{
    double block[ARRAY_BLOCK], product = 1;
    bool special = false;
    for (size_t begin = 0; begin < in->n; begin += ARRAY_BLOCK) {
        size_t count = in->n - begin < ARRAY_BLOCK ? in->n - begin : ARRAY_BLOCK;
        array_decode(in, begin, count, block);
        for (size_t i = 0; i < count; i++) {
            bool plain = isfinite(block[i]) && block[i] != 0;
            product *= plain ? copysign(1, block[i]) : block[i];
            special |= !plain;
        }
    }
    *value = product;
    return special;
}

static enum status cpu(const struct task *t, struct problem *p)
{
    double value = 0, sign;
    enum status status = STATUS_OK;
    if (is_special(&sign, &t->of->in))
        value = sign;
    else
        status = round_product(&value, t, p);
    if (status == STATUS_OK)
        array_encode(&t->out, 0, 1, &(double){isnan(value) ? value : copysign(value, sign)});
    return status;
}

const struct method product_exact = {
    .name = "product/exact",
    .summary = "the exact product, rounded once: its first 256 bits, more where these do not tell",
    .operation = &operation_product,
    .promise = PROMISE_CORRECTLY_ROUNDED,
    .pairs = {FORMAT_PAIRS_ALL},
    .addition = ADDITION_EXACT,
    .bound = THEOREM_CORRECTLY_ROUNDED,
    .cpu = cpu,
};
