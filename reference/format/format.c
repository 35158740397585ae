#include "reference/format/format.h"

#include <math.h>

const struct format_facts format_facts[FORMATS] = {
    [FP16] = {"fp16", 11, -14, 15, 2, 0x1p-11, 0x1.ffcp15, 0x1p-24, 0x1p-14},
    [BF16] = {"bf16", 8, -126, 127, 2, 0x1p-8, 0x1.fep127, 0x1p-133, 0x1p-126},
    [FP32] = {"fp32", 24, -126, 127, 4, 0x1p-24, 0x1.fffffep127, 0x1p-149, 0x1p-126},
    [FP64] = {"fp64", 53, -1022, 1023, 8, 0x1p-53, 0x1.fffffffffffffp1023, 0x1p-1074, 0x1p-1022},
};

enum format format_named(const char *name)
{
    enum format f = 0;
    while (f < FORMATS && strcmp(name, format_facts[f].name) != 0)
        f++;
    return f;
}

bool format_holds(enum format f, enum format narrow)
{
    const struct format_facts *a = &format_facts[f], *b = &format_facts[narrow];
    return a->precision >= b->precision && a->emin <= b->emin && a->emax >= b->emax;
}

struct conversion format_conversion(enum format f, enum format from)
{
    const struct format_facts *a = &format_facts[f], *b = &format_facts[from];
    return (struct conversion){
        .relative = b->precision > a->precision ? a->unit_roundoff : 0,
        .absolute = b->emin - b->precision < a->emin - a->precision ? a->smallest / 2 : 0};
}

enum format format_wider(enum format f)
{
    return f < FP32 ? FP32 : f + 1;
}

static uint32_t encode_single(double x)
{
    float rounded = (float)x;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return bits;
}

static uint32_t encode_half(double rounded)
{
    uint32_t sign = signbit(rounded) ? 0x8000 : 0;
    if (isinf(rounded))
        return sign | 0x7c00;
    return sign | (uint32_t)(double_bits(fabs(rounded) * 0x1p-1008) >> 42);
}

static uint64_t canonical_nan(enum format f)
{
    static const uint64_t nan[FORMATS] = {0x7e00, 0x7fc0, 0x7fc00000, UINT64_C(0x7ff8) << 48};
    return nan[f];
}

uint64_t format_encode(enum format f, double x)
{
    if (isnan(x))
        return canonical_nan(f);
    switch (f) {
    case FP16:
        return encode_half(format_round(FP16, x));
    case BF16:
        return encode_single(format_round(BF16, x)) >> 16;
    case FP32:
        return encode_single(x);
    default:
        return double_bits(x);
    }
}

uint64_t format_canonical(enum format f, uint64_t bits)
{
    return isnan(format_decode(f, bits)) ? canonical_nan(f) : bits;
}

double format_ulp(enum format f, double x)
{
    const struct format_facts *facts = &format_facts[f];
    if (!isfinite(x))
        return NAN;
    int e = x == 0 ? facts->emin : ilogb(x);
    e = e < facts->emin ? facts->emin : e;
    e = e > facts->emax ? facts->emax : e;
    return ldexp(1, e - facts->precision + 1);
}

/* Encodings of one sign are ordered as integers, so a neighbour is one away. */
double format_next_up(enum format f, double x)
{
    if (isnan(x) || x == INFINITY)
        return x;
    if (x == 0)
        return format_facts[f].smallest;
    uint64_t bits = format_encode(f, x);
    return format_decode(f, x > 0 ? bits + 1 : bits - 1);
}

double format_next_down(enum format f, double x)
{
    return -format_next_up(f, -x);
}
