#include "reference/exact/running.h"

#include <math.h>

typedef __int128 wide;

void running_zero(struct running *r)
{
    *r = (struct running){.top = 0, .bottom = FIXED_LIMBS - 1};
}

/* All ones where the sum is negative, else 0: what the limbs above the highest would hold. */
static inline uint64_t fill(const struct running *r)
{
    return (uint64_t)((int64_t)r->limb[FIXED_LIMBS - 1] >> 63);
}

static inline void find_top(struct running *r, int highest_changed)
{
    int top = highest_changed > r->top ? highest_changed : r->top;
    uint64_t sign = fill(r);
    while (top > 0 && r->limb[top] == sign)
        top--;
    r->top = top;
}

/* A negative x is added as its two's complement: all bits flipped, and a carry into the lowest
 * limb. Above the significand the addend's limbs are all zeros or all ones; they change nothing
 * once the carry is equal to the sign. */
static inline void add(struct running *r, double x)
{
    uint64_t bits = double_bits(x), field = bits >> 52 & 0x7ff, negative = bits >> 63;
    uint64_t significand = bits & ((UINT64_C(1) << 52) - 1);
    unsigned position = field ? (unsigned)field - 1 : 0;
    significand |= (uint64_t)(field != 0) << 52;
    unsigned __int128 value = (unsigned __int128)significand << position % 64;
    uint64_t flip = -negative;
    int i = (int)(position / 64);
    r->bottom = i < r->bottom ? i : r->bottom;

    unsigned __int128 sum = (unsigned __int128)r->limb[i] + ((uint64_t)value ^ flip) + negative;
    r->limb[i++] = (uint64_t)sum;
    sum = (sum >> 64) + r->limb[i] + ((uint64_t)(value >> 64) ^ flip);
    r->limb[i] = (uint64_t)sum;
    uint64_t carry = (uint64_t)(sum >> 64);
    for (; carry != negative && i + 1 < FIXED_LIMBS; carry = (uint64_t)(sum >> 64)) {
        sum = (unsigned __int128)r->limb[++i] + flip + carry;
        r->limb[i] = (uint64_t)sum;
    }
    find_top(r, i);
}

void running_add(struct running *r, double x)
{
    add(r, x);
}

static void add_fixed(struct running *r, const struct fixed *x, bool subtract)
{
    uint64_t flip = -(uint64_t)subtract;
    unsigned __int128 sum = subtract;
    for (int i = 0; i < FIXED_LIMBS; i++) {
        sum += (unsigned __int128)r->limb[i] + (x->limb[i] ^ flip);
        r->limb[i] = (uint64_t)sum;
        sum >>= 64;
    }
}

void running_add_exact(struct running *r, const struct exact *e, bool magnitudes)
{
    add_fixed(r, &e->side[0], false);
    add_fixed(r, &e->side[1], !magnitudes);
    r->bottom = 0;
    while (r->bottom < FIXED_LIMBS - 1 && r->limb[r->bottom] == 0)
        r->bottom++;
    find_top(r, FIXED_LIMBS - 1);
}

/* ---- reading ---- */

/* The part not yet read: (window + the limbs below k as a fraction) * 2^(64 k + FIXED_LOWEST).
 * The window is rounded down, towards minus infinity, and the fraction is not negative. */
struct rest {
    wide window;
    int k;
};

/* Significant bits of w + fraction. */
static inline int length(wide w)
{
    unsigned __int128 size = (unsigned __int128)(w < 0 ? ~w : w);
    uint64_t high = (uint64_t)(size >> 64), low = (uint64_t)size;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

static bool any_below(const struct running *r, int k)
{
    for (int i = r->bottom; i < k; i++)
        if (r->limb[i])
            return true;
    return false;
}

/* q * 2^e for |q| <= 2^53 and e >= -1074: a double, or beyond the largest. */
static inline double scaled(int64_t q, int e)
{
    if (e > 1023)
        return (double)q * 0x1p971 * double_from_bits((uint64_t)(e - 971 + 1023) << 52);
    uint64_t power = e < -1022 ? UINT64_C(1) << (e + 1074) : (uint64_t)(e + 1023) << 52;
    return (double)q * double_from_bits(power);
}

/* Takes the nearest double off the rest. Where 54 bits are in the window, those of the fraction
 * matter only in a tie. */
static inline double take(const struct running *r, struct rest *rest)
{
    while (rest->k > r->bottom && length(rest->window) < 54)
        rest->window = (wide)((unsigned __int128)rest->window << 64 | r->limb[--rest->k]);
    int e = 64 * rest->k + FIXED_LOWEST, drop = length(rest->window) - 53;
    if (drop <= 0) { /* then there is no fraction */
        double all = scaled((int64_t)rest->window, e);
        rest->window = 0;
        return all;
    }
    wide kept = rest->window >> drop, half = (wide)1 << (drop - 1);
    rest->window &= ((wide)1 << drop) - 1;
    if (rest->window > half || (rest->window == half && ((kept & 1) || any_below(r, rest->k)))) {
        kept++;
        rest->window -= half << 1;
    }
    return scaled((int64_t)kept, e + drop);
}

static inline struct rest begin(const struct running *r)
{
    return (struct rest){(wide)(int64_t)fill(r), r->top + 1};
}

bool running_read(const struct running *r, double *word, int count)
{
    struct rest rest = begin(r);
    for (int i = 0; i < count; i++) {
        word[i] = take(r, &rest);
        if (isinf(word[i])) {
            for (int j = i + 1; j < count; j++)
                word[j] = 0;
            return false;
        }
    }
    return rest.window != 0 || any_below(r, rest.k);
}

void running_block(struct running *r, const double *x, size_t count, double *hi, double *lo)
{
    for (size_t i = 0; i < count; i++) {
        add(r, x[i]);
        struct rest rest = begin(r);
        hi[i] = take(r, &rest);
        lo[i] = isinf(hi[i]) ? 0 : take(r, &rest);
    }
}
