#include "reference/exact/exact.h"

#include <math.h>

#include "reference/exact/bins.h"

static const uint64_t negative_zero = UINT64_C(1) << 63;

void exact_init(struct exact *e)
{
    *e = (struct exact){.empty = true};
}

void exact_add(struct exact *e, double x)
{
    uint64_t bits = double_bits(x), field = bits >> 52 & 0x7ff;
    uint64_t significand = bits & ((UINT64_C(1) << 52) - 1);
    bool negative = bits >> 63;
    e->empty = false;
    e->plain |= bits != negative_zero;
    if (field == 0x7ff) {
        e->nan |= significand != 0;
        e->inf[negative] |= significand == 0;
    } else if (field == 0) {
        fixed_add_at(&e->side[negative], significand, 0);
    } else {
        fixed_add_at(&e->side[negative], significand | UINT64_C(1) << 52, (unsigned)field - 1);
    }
}

void exact_add_integer(struct exact *e, __int128 x, int exponent)
{
    unsigned __int128 size = x < 0 ? -(unsigned __int128)x : (unsigned __int128)x;
    e->empty = false;
    e->plain = true;
    fixed_add_at(&e->side[x < 0], size, (unsigned)(exponent - FIXED_LOWEST));
}

/* Fewer elements are added faster one by one than by clearing and emptying the bins. */
enum { BINS_PAY = 512 };

void exact_add_array(struct exact *e, const struct array *a, size_t begin, size_t count)
{
    if (count < BINS_PAY) {
        for (size_t i = 0; i < count; i++)
            exact_add(e, array_get(a, begin + i));
        return;
    }
    while (count > 0) {
        size_t chunk = count < BINS_MOST ? count : BINS_MOST;
        bins_add(e, a, begin, chunk);
        begin += chunk;
        count -= chunk;
    }
}

void exact_add_terms(struct exact *e, const struct array *a, size_t begin, size_t count,
                     array_term *term)
{
    enum { BLOCK = 16 * ARRAY_BLOCK }; /* large, so that bins are seldom emptied */
    double room[BLOCK];
    struct array block = {a->format, BLOCK, room};
    if (!term)
        exact_add_array(e, a, begin, count);
    for (size_t i = 0, part; term && i < count; i += part) {
        part = count - i < BLOCK ? count - i : BLOCK;
        array_terms(&block, a, begin + i, part, term);
        exact_add_array(e, &block, 0, part);
    }
}

void exact_merge(struct exact *e, const struct exact *from)
{
    for (int s = 0; s < 2; s++) {
        fixed_add(&e->side[s], &from->side[s]);
        e->inf[s] |= from->inf[s];
    }
    e->nan |= from->nan;
    e->empty &= from->empty;
    e->plain |= from->plain;
}

/* Is the sum no finite number, or a zero by the rules of signs? Then it is *value. */
static bool special(const struct exact *e, int sign, double *value)
{
    if (e->nan || (e->inf[0] && e->inf[1]))
        *value = NAN;
    else if (e->inf[0] || e->inf[1])
        *value = e->inf[0] ? INFINITY : -INFINITY;
    else if (sign == 0)
        *value = e->empty || e->plain ? 0.0 : -0.0;
    else
        return false;
    return true;
}

double exact_round(const struct exact *e, enum format f)
{
    struct fixed magnitude;
    int sign = fixed_difference(&magnitude, &e->side[0], &e->side[1]);
    double value;
    if (special(e, sign, &value))
        return format_round(f, value);
    return sign * fixed_round(&magnitude, f);
}
