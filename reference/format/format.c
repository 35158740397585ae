#include "reference/format/format.h"

#include <math.h>

#include "reference/format/encode.h"

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
    switch (f) {
    case FP16:
    case BF16:
        return FP32;
    case FP32:
        return FP64;
    case FP64:
        break;
    case E4M3:
    case E5M2:
        return FP16;
    }
    return FORMATS;
}

uint64_t format_encode(enum format f, double x)
{
    switch (f) {
    case FP16:
        return encode_narrow(FP16, x);
    case BF16:
        return encode_bf16(x);
    case FP32:
        return isnan(x) ? format_facts[f].nan : encode_single(x);
    case FP64:
        break;
    case E4M3:
        return encode_narrow(E4M3, x);
    case E5M2:
        return encode_narrow(E5M2, x);
    }
    return isnan(x) ? format_facts[f].nan : double_bits(x);
}

uint64_t format_canonical(enum format f, uint64_t bits)
{
    return isnan(format_decode(f, bits)) ? format_facts[f].nan : bits;
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
    if (x == format_facts[f].largest)
        return INFINITY;
    if (x == -INFINITY)
        return -format_facts[f].largest;
    uint64_t bits = format_encode(f, x);
    return format_decode(f, x > 0 ? bits + 1 : bits - 1);
}

double format_next_down(enum format f, double x)
{
    return -format_next_up(f, -x);
}
