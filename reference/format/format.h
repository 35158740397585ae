/* The floating-point formats on the host: the rows of formats.def, and what follows from them.
 *
 * Every value of every format is carried in a double ("a double that carries a
 * format"). For fp16, bf16 and fp32, format_round(f, a + b) is the correctly
 * rounded sum in f although a + b is itself rounded, because 53 >= 2p + 2
 * (Figueroa 1995), and because a sum that falls in f's subnormal range is exact
 * in double. Rounding is to nearest, ties to even; overflow gives an infinity, or NaN in a format
 * without one.
 * The environment must be the default one: round to nearest, no flush to zero. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* FP16, BF16, ...: one for each row of the table. How many there are is no format, so that a switch
 * which names every format names all. */
enum format {
#define FORMAT(constant, ...) constant,
#include "reference/format/formats.def"
};
/* The formats in which additions are done, with the same numbers: IN_FP16, ... A switch over
 * accumulators is one over (enum accumulator)f, with these names. */
enum accumulator {
#define FORMAT(constant, ...)
#define ACCUMULATOR(constant, ...) IN_##constant = constant,
#include "reference/format/formats.def"
};
enum {
#define FORMAT(constant, ...) +1
    FORMAT_ROWS = 0
#include "reference/format/formats.def"
};
enum {
#define FORMAT(constant, ...)
#define ACCUMULATOR(constant, ...) +1
    ACCUMULATOR_ROWS = 0
#include "reference/format/formats.def"
};
#define FORMATS      ((int)FORMAT_ROWS)
#define ACCUMULATORS ((int)ACCUMULATOR_ROWS) /* a format below it is an accumulator */

struct format_facts {
    const char *name;
    int precision; /* p: significand bits, the implicit one included; u = 2^-p */
    int emin;      /* smallest normal number = 2^emin */
    int emax;      /* largest finite number = (2 - 2^(1-p)) 2^emax; less where that is the NaN */
    int bytes;     /* width of an encoding */
    double unit_roundoff;
    double largest;  /* largest finite number */
    double smallest; /* smallest subnormal, 2^(emin - p + 1) */
    double smallest_normal;
    double too_large;  /* what numbers beyond the largest round to */
    uint64_t specials; /* bits that are all set in infinities and NaNs alone */
    uint64_t last; /* the greatest encoding that is no NaN: +inf, or the largest finite number */
    uint64_t nan;  /* the canonical NaN: positive, quiet, empty payload */
};

/* Everything follows from a row. Here, not in a .c file, so that it is constant in loops that are
 * compiled for one format. */
#define FORMAT_BITS(bits)          ((UINT64_C(1) << ((bits)-1)) - 1) /* all but the sign */
#define FORMAT_FRACTION(precision) ((UINT64_C(1) << ((precision)-1)) - 1)
#define FORMAT_LARGEST(precision, greatest, infinities)                                            \
    ((2 - ((infinities) ? 2 : 4) * 0x1p-##precision) * 0x1p##greatest)
#define FORMAT_TOO_LARGE(precision, greatest, infinities, saturates)                               \
    ((saturates)    ? FORMAT_LARGEST(precision, greatest, infinities)                              \
     : (infinities) ? (double)__builtin_inf()                                                      \
                    : __builtin_nan(""))
#define FORMAT_SPECIALS(bits, precision, infinities)                                               \
    (FORMAT_BITS(bits) & ~((infinities) ? FORMAT_FRACTION(precision) : 0))
#define FORMAT_FACTS(name, bits, precision, least, greatest, infinities, saturates)                \
    {                                                                                              \
        name, precision, -least, greatest, bits / 8, 0x1p-##precision,                             \
            FORMAT_LARGEST(precision, greatest, infinities), 2 * 0x1p-##least * 0x1p-##precision,  \
            0x1p-##least, FORMAT_TOO_LARGE(precision, greatest, infinities, saturates),            \
            FORMAT_SPECIALS(bits, precision, infinities),                                          \
            FORMAT_SPECIALS(bits, precision, infinities) - !(infinities),                          \
            FORMAT_SPECIALS(bits, precision, infinities) | UINT64_C(1) << (precision - 2)          \
    }
static const struct format_facts format_facts[FORMATS] = {
#define FORMAT(constant, ...) FORMAT_FACTS(__VA_ARGS__),
#include "reference/format/formats.def"
};

/* The format with this name ("fp16"), or FORMATS. */
enum format format_named(const char *name);

/* Is every value of `narrow` one of f? */
bool format_holds(enum format f, enum format narrow);

/* The error of rounding x from `from` to f, if x is in f's range: at most relative |x| + absolute.
 * relative is 0 if f has as many digits, absolute is 0 if f reaches as low.
 */
struct conversion {
    double relative, absolute;
};
struct conversion format_conversion(enum format f, enum format from);

/* The accumulator that is next wider: fp32 for fp16 and bf16, fp64 for fp32, fp16 for formats of 8
 * bits; FORMATS for fp64. */
enum format format_wider(enum format f);

/* The value of an encoding, exactly. Bits above the format's width are ignored. */
static inline double format_decode(enum format f, uint64_t bits);

/* The encoding of x rounded to f. Every NaN encodes to the canonical one
 * (positive, quiet, empty payload). */
uint64_t format_encode(enum format f, double x);

/* The encoding with every NaN replaced by the canonical one. */
uint64_t format_canonical(enum format f, uint64_t bits);

/* Distance between the neighbours of x's binade in f: 2^(max(e, emin) - p + 1)
 * for 2^e <= |x| < 2^(e+1). ulp(0) is the smallest subnormal; beyond the
 * largest finite number it is that number's; NaN for NaN and inf. */
double format_ulp(enum format f, double x);

/* The next number of f above (below) x, which must carry f. From the largest
 * finite number upwards this is inf; next_up(-smallest) is -0; both zeros have
 * the neighbours +-smallest; next_up(inf) is inf; NaN stays NaN. */
double format_next_up(enum format f, double x);
double format_next_down(enum format f, double x);

static inline uint64_t double_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double double_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float float_from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* For formats of at most 16 bits whose exponent is narrower than a float's: the fields are moved to
 * their place in a float and corrected by one exact multiplication, which also normalises
 * subnormals; infinities and NaNs get their exponent back. Branch-free. */
static inline float format_decode_narrow(enum format f, uint32_t bits)
{
    const struct format_facts *facts = &format_facts[f];
    const uint32_t sign = 1u << (8 * facts->bytes - 1), specials = (uint32_t)facts->specials;
    const float scale = (float)(0x1p126 * facts->smallest_normal);
    float magnitude = float_from_bits((bits & (sign - 1)) << (24 - facts->precision)) * scale;
    uint32_t result, special = (bits & specials) == specials ? 0x7f800000 : 0;
    memcpy(&result, &magnitude, sizeof result);
    return float_from_bits(result | special | (bits & sign) << (32 - 8 * facts->bytes));
}

static inline double format_decode(enum format f, uint64_t bits)
{
    switch (f) {
    case FP16:
        return format_decode_narrow(FP16, (uint32_t)bits);
    case BF16:
        return float_from_bits((uint32_t)bits << 16);
    case FP32:
        return float_from_bits((uint32_t)bits);
    case FP64:
        break;
    case E4M3:
        return format_decode_narrow(E4M3, (uint32_t)bits);
    case E5M2:
        return format_decode_narrow(E5M2, (uint32_t)bits);
    }
    return double_from_bits(bits);
}

/* Rounds to a format of precision p <= 24. Adding and subtracting 2^52 times the smallest subnormal
 * rounds to a multiple of it. Branch-free, so that loops over it become vector code. */
static inline double format_round_narrow(enum format f, double x)
{
    const struct format_facts *facts = &format_facts[f];
    const int drop = 53 - facts->precision;
    const double magic = 0x1p52 * facts->smallest;
    uint64_t bits = double_bits(x), sign = bits & UINT64_C(1) << 63, size = bits ^ sign;
    uint64_t up = (UINT64_C(1) << (drop - 1)) - 1 + (size >> drop & 1);
    uint64_t rounded = (size + up) & ~((UINT64_C(1) << drop) - 1);
    double magnitude = double_from_bits(size), result = double_from_bits(rounded);
    result = result > facts->largest ? facts->too_large : result;
    result = magnitude < facts->smallest_normal ? (magnitude + magic) - magic : result;
    result = magnitude != magnitude ? magnitude : result;
    return double_from_bits(double_bits(result) | sign);
}

/* Apart, so that format_round is short enough to be compiled into loops. */
static inline double format_round_few_digits(enum format f, double x)
{
    switch (f) {
    case FP16:
        return format_round_narrow(FP16, x);
    case BF16:
        return format_round_narrow(BF16, x);
    case FP32:
    case FP64:
        break;
    case E4M3:
        return format_round_narrow(E4M3, x);
    case E5M2:
        return format_round_narrow(E5M2, x);
    }
    return x;
}

static inline double format_round(enum format f, double x)
{
    return f == FP32 ? (double)(float)x : f == FP64 ? x : format_round_few_digits(f, x);
}

/* hi + lo, |lo| at most half an ulp of hi, rounded once to f. Cut to 53 bits, the last one set
 * where anything was cut off ("to odd"), a number rounds to a format of at most 51 as it did (Boldo
 * and Melquiond 2008). Branch-free. */
static inline double format_round_pair(enum format f, double hi, double lo)
{
    uint64_t bits = double_bits(hi), even = ~bits & 1, inwards = (bits ^ double_bits(lo)) >> 63;
    uint64_t odd = bits + even - 2 * (even & inwards);
    return f == FP64 ? hi : format_round(f, double_from_bits(lo != 0 ? odd : bits));
}

/* The correctly rounded sum in f of two values that carry f. */
static inline double format_add(enum format f, double a, double b)
{
    return format_round(f, a + b);
}

#ifdef __cplusplus
}
#endif
