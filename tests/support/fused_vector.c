/* Operands that tell models of matrix instructions apart. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/fused.h"

struct chance {
    uint64_t state;
};

/* SplitMix64 (Steele, Lea and Flood 2014). */
static uint64_t draw(struct chance *c)
{
    uint64_t z = c->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int within(struct chance *c, int low, int high)
{
    return low + (int)(draw(c) % (uint64_t)(high - low + 1));
}

static void put(enum mma_element e, void *to, size_t i, double x)
{
    const size_t bytes = (size_t)mma_elements[e].bits / 8;
    uint64_t bits = format_encode(mma_elements[e].stored, x);
    memcpy((unsigned char *)to + i * bytes, &bits, bytes);
}

/* A number of the element's format in binade e, subnormal where that is too low; `ones`: with all
 * bits set. */
static double number(struct chance *c, const struct mma_element_facts *facts, int e, bool ones)
{
    uint64_t last = (UINT64_C(1) << facts->fraction) - 1, low = ones ? last : draw(c) & last;
    int least = facts->emin - facts->fraction, most = facts->emax;
    e = e < least ? least : e > most ? most : e;
    double x = ldexp((double)(low | (last + 1)), e - facts->fraction);
    double grid = ldexp(1, least), largest = format_facts[facts->stored].largest;
    x = trunc(x / grid) * grid;
    x = x == 0 ? grid : x > largest ? largest : x;
    return draw(c) & 1 ? -x : x;
}

/* Two elements whose product lies about in binade e. */
static void product(struct fused_vector *v, struct chance *c, const struct mma_rule *r, size_t i,
                    int e, bool ones)
{
    const struct mma_element_facts *facts = &mma_elements[r->element];
    int half = (e < 0 ? e - 1 : e) / 2, shift = within(c, -2, 2);
    put(r->element, v->a, i, number(c, facts, half + shift, ones));
    put(r->element, v->b, i, number(c, facts, e - half - shift, ones));
}

static void any(struct fused_vector *v, struct chance *c, const struct mma_rule *r, size_t i)
{
    const size_t bytes = (size_t)mma_elements[r->element].bits / 8;
    uint64_t x = draw(c), y = draw(c);
    memcpy(v->a + i * bytes, &x, bytes);
    memcpy(v->b + i * bytes, &y, bytes);
}

/* The product of elements i, negated, as that of j. */
static void opposite(struct fused_vector *v, const struct mma_rule *r, size_t i, size_t j)
{
    const size_t bytes = (size_t)mma_elements[r->element].bits / 8;
    memmove(v->a + j * bytes, v->a + i * bytes, bytes);
    memmove(v->b + j * bytes, v->b + i * bytes, bytes);
    v->b[(j + 1) * bytes - 1] ^= 0x80;
}

static void special(struct fused_vector *v, struct chance *c, const struct mma_rule *r, size_t i)
{
    static const double values[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1, -1};
    enum { COUNT = sizeof values / sizeof *values };
    put(r->element, v->a, i, values[within(c, 0, COUNT - 1)]);
    put(r->element, v->b, i, values[within(c, 0, COUNT - 1)]);
}

static double own(struct chance *c, const struct mma_rule *r, int e)
{
    const struct format_facts *facts = &format_facts[r->result];
    double x = ldexp(1 + (double)(draw(c) >> 12) * 0x1p-52, e);
    x = format_round(r->result, x);
    x = x > facts->largest ? facts->largest : x;
    return draw(c) & 1 ? -x : x;
}

void fused_vector(struct fused_vector *v, const struct mma_rule *r, size_t k, uint64_t count)
{
    const struct mma_element_facts *facts = &mma_elements[r->element];
    const int fraction = r->fraction == MMA_EXACT ? 52 : r->fraction;
    const int low = 2 * (facts->emin - facts->fraction), high = 2 * facts->emax;
    struct chance c = {count * UINT64_C(0x2545f4914f6cdd1d) + 1};
    enum fused_aim aim = (enum fused_aim)(count % FUSED_AIMS);
    /* The large products: so that D is in range, mostly, and small ones are. */
    int top = within(&c, -2, high < fraction ? high : high < 30 ? high : 30);
    top = aim == AIM_OVERFLOW    ? within(&c, format_facts[r->result].emax - 5, high)
          : aim == AIM_SUBNORMAL ? within(&c, low, low + fraction)
                                 : top;
    bool within_block = draw(&c) & 1, lone = draw(&c) & 1;
    /* The large product is zero: one operand is, the other is the largest. */
    bool zero = aim == AIM_ALIGNMENT && within_block && lone;
    top = zero ? facts->emin + facts->emax : top;
    *v = (struct fused_vector){.aim = aim, .k = k};
    size_t large = draw(&c) % k,
           other = within_block ? (large & ~(size_t)1) + !(large & 1) : draw(&c) % k;
    for (size_t i = 0; i < k; i++) {
        int below = fraction + within(&c, -6, 3);
        if (aim == AIM_ANY)
            any(v, &c, r, i);
        else if (aim == AIM_ALIGNMENT || aim == AIM_CARRY || aim == AIM_CANCEL)
            product(v, &c, r, i, top - below, aim == AIM_CARRY);
        else if (aim == AIM_ZERO || (aim == AIM_SPECIAL && draw(&c) % 8 == 0))
            special(v, &c, r, i);
        else
            product(v, &c, r, i, top + within(&c, -3, 3), false);
        if (aim == AIM_ZERO) { /* no infinities, no NaNs */
            bool one = draw(&c) & 1;
            put(r->element, v->a, i, draw(&c) & 1 ? -0.0 : 0.0);
            put(r->element, v->b, i, (draw(&c) & 1 ? -1 : 1) * (one ? 1.0 : 0.0));
        }
    }
    if (aim == AIM_ALIGNMENT || aim == AIM_CARRY || aim == AIM_CANCEL)
        product(v, &c, r, large, top, false);
    if (zero) {
        put(r->element, v->a, large, 0);
        put(r->element, v->b, large, format_facts[facts->stored].largest);
    }
    if ((aim == AIM_CANCEL || aim == AIM_ZERO) && other < k)
        opposite(v, r, large, other);
    int e = aim == AIM_SUBNORMAL ? format_facts[r->result].emin + within(&c, -12, 4)
            : lone               ? top - fraction + within(&c, -3, 3)
                                 : top + within(&c, -3, 3);
    v->c = zero                ? draw(&c) & 1
           : draw(&c) % 4 == 0 ? format_encode(r->result, draw(&c) & 1 ? 0.0 : -0.0)
                               : format_encode(r->result, own(&c, r, e));
    if (aim == AIM_ANY)
        v->c = draw(&c) & (UINT64_MAX >> (64 - 8 * format_facts[r->result].bytes));
}

void fused_text(char text[FUSED_TEXT], const struct fused_vector *v, const struct mma_rule *r)
{
    const size_t bytes = (size_t)mma_elements[r->element].bits / 8;
    int at = snprintf(text, FUSED_TEXT, "aim %d, k = %zu, C %llx, A B", (int)v->aim, v->k,
                      (unsigned long long)v->c);
    for (size_t i = 0; i < v->k && at < FUSED_TEXT - 64; i++) {
        uint64_t x = 0, y = 0;
        memcpy(&x, v->a + i * bytes, bytes);
        memcpy(&y, v->b + i * bytes, bytes);
        at += snprintf(text + at, (size_t)(FUSED_TEXT - at), " %llx*%llx", (unsigned long long)x,
                       (unsigned long long)y);
    }
}
