#include "tests/support/oracle.h"

#include "tests/support/extremes.h"

#include <math.h>

/* Bits of any sum of doubles, 2^-1074 .. 2^1025 and room for n; of their squares, and more. */
enum { SUMS = 2200, SQUARES = 4600, SCATTER = 9400 };

bool same_double(double a, double b)
{
    return double_bits(a) == double_bits(b) || (isnan(a) && isnan(b));
}

void oracle_decode(mpfr_t to, enum format f, uint64_t bits)
{
    const struct format_facts *facts = &format_facts[f];
    int fraction_bits = facts->precision - 1, width = 8 * facts->bytes;
    uint64_t fraction = bits & ((UINT64_C(1) << fraction_bits) - 1);
    int field = (int)(bits >> fraction_bits & ((1u << (width - 1 - fraction_bits)) - 1));
    mpfr_set_prec(to, 64);
    bool ieee = f != E4M3;
    if (!ieee && (bits & 0x7f) == 0x7f)
        mpfr_set_nan(to);
    else if (ieee && field == facts->emax - facts->emin + 2)
        fraction ? mpfr_set_nan(to) : mpfr_set_inf(to, 1);
    else if (field == 0)
        mpfr_set_ui_2exp(to, fraction, facts->emin - fraction_bits, MPFR_RNDN);
    else
        mpfr_set_ui_2exp(to, fraction | UINT64_C(1) << fraction_bits,
                         facts->emin + field - 1 - fraction_bits, MPFR_RNDN);
    mpfr_setsign(to, to, bits >> (width - 1) & 1, MPFR_RNDN);
}

/* y, which has f's precision, was rounded as `ternary` says, in MPFR's own range. */
static double in_range(enum format f, mpfr_t y, int ternary)
{
    const struct format_facts *facts = &format_facts[f];
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    /* MPFR's significands lie in [1/2, 1). */
    mpfr_set_emin(facts->emin - facts->precision + 2);
    mpfr_set_emax(facts->emax + 1);
    ternary = mpfr_check_range(y, ternary, MPFR_RNDN);
    mpfr_subnormalize(y, ternary, MPFR_RNDN);
    double rounded = mpfr_get_d(y, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clear(y);
    return f == E4M3 && fabs(rounded) > 448 ? NAN : rounded; /* its 480 would be S.1111.111 */
}

double oracle_round(enum format f, const mpfr_t x)
{
    mpfr_t y;
    mpfr_init2(y, format_facts[f].precision);
    return in_range(f, y, mpfr_set(y, x, MPFR_RNDN));
}

double oracle_root(enum format f, const mpfr_t x)
{
    mpfr_t y;
    mpfr_init2(y, format_facts[f].precision);
    return in_range(f, y, mpfr_sqrt(y, x, MPFR_RNDN));
}

double oracle_quotient(enum format f, const mpfr_t a, const mpfr_t b)
{
    mpfr_t y;
    mpfr_init2(y, format_facts[f].precision);
    return in_range(f, y, mpfr_div(y, a, b, MPFR_RNDN));
}

double oracle_add(enum format f, double a, double b)
{
    MPFR_DECL_INIT(x, 53);
    MPFR_DECL_INIT(y, 53);
    mpfr_t sum;
    mpfr_init2(sum, format_facts[f].precision);
    mpfr_set_d(x, a, MPFR_RNDN);
    mpfr_set_d(y, b, MPFR_RNDN);
    return in_range(f, sum, mpfr_add(sum, x, y, MPFR_RNDN));
}

double oracle_multiply(enum format f, double a, double b)
{
    MPFR_DECL_INIT(x, 53);
    MPFR_DECL_INIT(y, 53);
    mpfr_t product;
    mpfr_init2(product, format_facts[f].precision);
    mpfr_set_d(x, a, MPFR_RNDN);
    mpfr_set_d(y, b, MPFR_RNDN);
    return in_range(f, product, mpfr_mul(product, x, y, MPFR_RNDN));
}

double oracle_multiply_add(enum format f, double a, double b, double c)
{
    MPFR_DECL_INIT(x, 53);
    MPFR_DECL_INIT(y, 53);
    MPFR_DECL_INIT(z, 53);
    mpfr_t sum;
    mpfr_init2(sum, format_facts[f].precision);
    mpfr_set_d(x, a, MPFR_RNDN);
    mpfr_set_d(y, b, MPFR_RNDN);
    mpfr_set_d(z, c, MPFR_RNDN);
    return in_range(f, sum, mpfr_fma(sum, x, y, z, MPFR_RNDN));
}

mpfr_prec_t oracle_precision(const struct array *a)
{
    int low = 1024, high = -1075;
    for (size_t i = 0; i < a->n; i++) {
        int field = (int)(double_bits(array_get(a, i)) >> 52 & 2047);
        if (field == 2047)
            continue; /* no number */
        int exponent = field > 0 ? field - 1023 : -1022;
        low = exponent - 52 < low ? exponent - 52 : low;
        high = exponent > high ? exponent : high;
    }
    return high < low ? 64 : high - low + 1 + 64;
}

void oracle_sum(mpfr_t to, const struct array *a, bool magnitudes)
{
    mpfr_prec_t bits = oracle_precision(a);
    mpfr_t term;
    mpfr_init2(term, bits < 192 ? bits : 53); /* MPFR adds short ones alike faster */
    mpfr_set_prec(to, bits);
    mpfr_set_zero(to, 1);
    for (size_t i = 0; i < a->n; i++) {
        double x = array_get(a, i);
        mpfr_set_d(term, magnitudes ? fabs(x) : x, MPFR_RNDN);
        if (i == 0)
            mpfr_set(to, term, MPFR_RNDN);
        else
            mpfr_add(to, to, term, MPFR_RNDN);
    }
    mpfr_prec_round(to, SUMS, MPFR_RNDN);
    mpfr_clear(term);
}

static void sum_squares(mpfr_t to, const struct array *a)
{
    mpfr_t square;
    mpfr_set_prec(to, 2 * oracle_precision(a));
    mpfr_set_zero(to, 1);
    mpfr_init2(square, 106);
    for (size_t i = 0; i < a->n; i++) {
        mpfr_set_d(square, array_get(a, i), MPFR_RNDN);
        mpfr_sqr(square, square, MPFR_RNDN);
        mpfr_add(to, to, square, MPFR_RNDN);
    }
    mpfr_prec_round(to, SQUARES, MPFR_RNDN);
    mpfr_clear(square);
}

/* Between bounds, of more and more bits until both round alike; NaN where they are one. */
static void product_values(double due[ACCUMULATORS], const struct array *a)
{
    bool sure = false;
    for (mpfr_prec_t bits = 1000; !sure; bits *= 2) {
        mpfr_t low, high;
        mpfr_inits2(bits, low, high, (mpfr_ptr)0);
        mpfr_set_ui(low, 1, MPFR_RNDN);
        mpfr_set_ui(high, 1, MPFR_RNDN);
        for (size_t i = 0; i < a->n; i++) {
            mpfr_mul_d(low, low, array_get(a, i), MPFR_RNDZ);
            mpfr_mul_d(high, high, array_get(a, i), MPFR_RNDA);
        }
        sure = true;
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            due[f] = oracle_round(f, low);
            sure &= same_double(due[f], oracle_round(f, high));
        }
        mpfr_clears(low, high, (mpfr_ptr)0);
    }
}

/* Sums, whose terms are elements or their magnitudes, and what follows from sums. */
static void sum_values(double due[ACCUMULATORS], enum exact_value of, const struct array *a)
{
    enum exact_form form = exact_facts[of].form;
    mpfr_t sum, squares, n;
    mpfr_inits2(SCATTER, sum, squares, n, (mpfr_ptr)0);
    if (form != FORM_ROOT)
        oracle_sum(sum, a, exact_facts[of].term != NULL);
    if (form == FORM_ROOT || form == FORM_MOMENTS)
        sum_squares(squares, a);
    mpfr_set_ui(n, a->n, MPFR_RNDN);
    if (form == FORM_MOMENTS) { /* n sum x^2 - (sum x)^2, by n^2 */
        mpfr_prec_round(squares, SCATTER, MPFR_RNDN);
        mpfr_mul(squares, squares, n, MPFR_RNDN);
        mpfr_prec_round(sum, SCATTER, MPFR_RNDN);
        mpfr_sqr(sum, sum, MPFR_RNDN);
        mpfr_sub(sum, squares, sum, MPFR_RNDN);
        mpfr_sqr(n, n, MPFR_RNDN);
    }
    for (enum format f = 0; f < ACCUMULATORS; f++)
        due[f] = form == FORM_SUM    ? oracle_round(f, sum)
                 : form == FORM_ROOT ? oracle_root(f, squares)
                                     : oracle_quotient(f, sum, n);
    mpfr_clears(sum, squares, n, (mpfr_ptr)0);
}

void oracle_values(double due[ACCUMULATORS], enum exact_value of, const struct array *a)
{
    double extreme;
    switch (exact_facts[of].form) {
    case FORM_SUM:
    case FORM_ROOT:
    case FORM_QUOTIENT:
    case FORM_MOMENTS:
        sum_values(due, of, a);
        return;
    case FORM_PRODUCT:
        product_values(due, a);
        return;
    case FORM_ELEMENT:
    case FORM_INDEX:
    case FORM_ROW:
        extreme = extreme_due(of, a);
        for (enum format f = 0; f < ACCUMULATORS; f++)
            due[f] = format_round(f, extreme);
    }
}

bool same_mpfr(const mpfr_t a, const mpfr_t b)
{
    if (mpfr_nan_p(a) || mpfr_nan_p(b))
        return mpfr_nan_p(a) && mpfr_nan_p(b);
    return mpfr_equal_p(a, b) && !mpfr_signbit(a) == !mpfr_signbit(b);
}

/* A finite number is significand * 2^exponent; the lowest exponent belongs to subnormals too. */
struct unpacked {
    uint64_t significand;
    int exponent;
};

static struct unpacked unpack(uint64_t magnitude, int fraction_bits)
{
    int field = (int)(magnitude >> fraction_bits);
    uint64_t fraction = magnitude & ((UINT64_C(1) << fraction_bits) - 1);
    if (field == 0)
        return (struct unpacked){fraction, 0};
    return (struct unpacked){fraction | UINT64_C(1) << fraction_bits, field - 1};
}

/* Rounds value * 2^(exponent - guard), not 0, to an encoding; fields beyond `inf` become inf. */
static uint64_t pack(unsigned __int128 value, int exponent, int guard, int fraction_bits,
                     uint64_t inf)
{
    uint64_t high = (uint64_t)(value >> 64), low = (uint64_t)value;
    int length = high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll(low);
    int drop = length - (fraction_bits + 1); /* to a normal number, or fewer to a subnormal one */
    drop = drop < guard - exponent ? guard - exponent : drop;
    uint64_t kept;
    if (drop > 0) {
        unsigned __int128 rest = value & (((unsigned __int128)1 << drop) - 1);
        unsigned __int128 half = (unsigned __int128)1 << (drop - 1);
        kept = (uint64_t)(value >> drop);
        kept += rest > half || (rest == half && (kept & 1));
    } else {
        kept = (uint64_t)(value << -drop);
    }
    /* The implicit bit adds 1 to the field; so does a carry out of the fraction. */
    uint64_t bits = ((uint64_t)(exponent - guard + drop) << fraction_bits) + kept;
    return bits > inf ? inf : bits;
}

uint64_t integer_add(enum format f, uint64_t a, uint64_t b)
{
    const int fraction_bits = format_facts[f].precision - 1, width = 8 * format_facts[f].bytes;
    const uint64_t sign = UINT64_C(1) << (width - 1);
    const uint64_t inf = (sign - 1) >> fraction_bits << fraction_bits;
    const uint64_t nan = inf | UINT64_C(1) << (fraction_bits - 1);
    if ((a & ~sign) < (b & ~sign)) {
        uint64_t swap = a;
        a = b;
        b = swap;
    }
    bool opposite = (a ^ b) & sign;
    if ((a & ~sign) > inf || ((b & ~sign) == inf && opposite))
        return nan;
    if ((a & ~sign) == inf)
        return a;
    struct unpacked large = unpack(a & ~sign, fraction_bits);
    struct unpacked small = unpack(b & ~sign, fraction_bits);
    /* What the smaller one loses behind p + 3 guard bits is replaced by one bit that stands for it
     * in every comparison with a half. */
    int guard = fraction_bits + 4, shift = large.exponent - small.exponent;
    unsigned __int128 sum = (unsigned __int128)large.significand << guard;
    unsigned __int128 term = (unsigned __int128)small.significand << guard;
    unsigned __int128 moved = shift < 120 ? term >> shift : 0;
    bool lost = shift < 120 ? moved << shift != term : term != 0;
    moved |= lost;
    sum = opposite ? sum - moved : sum + moved;
    if (sum == 0) /* of equal signs: that zero; by cancellation: +0 */
        return opposite ? 0 : a & sign;
    return (a & sign) | pack(sum, large.exponent, guard, fraction_bits, inf);
}
