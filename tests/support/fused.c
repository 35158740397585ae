#include "tests/support/fused.h"

#include <gmp.h>
#include <math.h>
#include <mpfr.h>
#include <string.h>

static double value(enum mma_element e, const void *from, size_t i)
{
    const size_t bytes = (size_t)mma_elements[e].bits / 8;
    uint64_t bits = 0;
    memcpy(&bits, (const unsigned char *)from + i * bytes, bytes);
    return format_decode(mma_elements[e].stored,
                         bits & ~((UINT64_C(1) << mma_elements[e].ignored) - 1));
}

/* That of x's significand, held at emin. */
static int exponent(double x, int emin)
{
    int e = x == 0 ? emin : ilogb(x);
    return e < emin ? emin : e;
}

static uint64_t nan_of(const struct mma_rule *r)
{
    return UINT64_MAX >> (65 - 8 * format_facts[r->result].bytes);
}

/* to the result's format with `kept` bits behind the point, as MPFR rounds. */
static uint64_t rounded(const struct mma_rule *r, const mpq_t x)
{
    const struct format_facts *facts = &format_facts[r->result];
    mpfr_rnd_t mode = r->rounding == MMA_NEAREST ? MPFR_RNDN : MPFR_RNDZ;
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_t y;
    mpfr_init2(y, r->kept + 1);
    mpfr_set_emin(facts->emin - r->kept + 1);
    mpfr_set_emax(facts->emax + 1);
    int inexact = mpfr_set_q(y, x, mode);
    inexact = mpfr_check_range(y, inexact, mode);
    mpfr_subnormalize(y, inexact, mode);
    double z = mpfr_get_d(y, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clear(y);
    mpq_t limit; /* toward zero, too, overflow gives an infinity */
    mpq_init(limit);
    mpq_set_d(limit, ldexp(1, facts->emax + 1));
    mpq_t size;
    mpq_init(size);
    mpq_abs(size, x);
    if (mpq_cmp(size, limit) >= 0)
        z = mpq_sgn(x) < 0 ? -INFINITY : INFINITY;
    mpq_clears(limit, size, NULL);
    return format_encode(r->result, z == 0 ? 0.0 : z); /* +0, as an H100 gives */
}

static uint64_t block(const struct mma_rule *r, size_t count, const double *x, const double *y,
                      double c)
{
    /* Of MMA_PAIRS operands are fp16 by then. */
    const int least =
        r->order == MMA_PAIRS ? format_facts[FP16].emin : mma_elements[r->element].emin;
    const int emin = format_facts[r->result].emin;
    double check = c; /* finds NaN and infinities: products of these formats are finite in double */
    for (size_t i = 0; i < count; i++)
        check += x[i] * y[i];
    if (isnan(check) || isinf(check))
        return isnan(check) ? nan_of(r) : format_encode(r->result, check);
    int most = r->least;
    if (c != 0 && exponent(c, emin) > most)
        most = exponent(c, emin);
    for (size_t i = 0; i < count; i++) {
        int e = exponent(x[i], least) + exponent(y[i], least);
        if (x[i] * y[i] != 0 && e > most)
            most = e;
    }
    mpq_t term, other;
    mpz_t whole, sum;
    mpq_inits(term, other, NULL);
    mpz_inits(whole, sum, NULL);
    int unit = most - r->fraction; /* of the grid that terms are cut to */
    for (size_t i = 0; i <= count; i++) {
        mpq_set_d(term, i < count ? x[i] : c);
        mpq_set_d(other, i < count ? y[i] : 1);
        mpq_mul(term, term, other);
        if (unit > 0)
            mpq_div_2exp(term, term, (mp_bitcnt_t)unit);
        else
            mpq_mul_2exp(term, term, (mp_bitcnt_t)-unit);
        mpz_set_q(whole, term); /* toward zero */
        mpz_add(sum, sum, whole);
    }
    mpq_set_z(term, sum);
    if (unit > 0)
        mpq_mul_2exp(term, term, (mp_bitcnt_t)unit);
    else
        mpq_div_2exp(term, term, (mp_bitcnt_t)-unit);
    uint64_t bits = rounded(r, term);
    mpq_clears(term, other, NULL);
    mpz_clears(whole, sum, NULL);
    return bits;
}

/* Fused multiply-adds of doubles, as MPFR rounds them. */
static uint64_t fused_adds(size_t k, const void *a, const void *b, uint64_t c)
{
    double sum = double_from_bits(c);
    mpfr_t x, y, z;
    mpfr_inits2(53, x, y, z, (mpfr_ptr)NULL);
    for (size_t i = 0; i < k; i++) {
        mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
        mpfr_set_d(x, value(MMA_FP64, a, i), MPFR_RNDN);
        mpfr_set_d(y, value(MMA_FP64, b, i), MPFR_RNDN);
        mpfr_set_d(z, sum, MPFR_RNDN);
        mpfr_set_emin(-1073);
        mpfr_set_emax(1024);
        int inexact = mpfr_fma(z, x, y, z, MPFR_RNDN);
        mpfr_subnormalize(z, inexact, MPFR_RNDN);
        mpfr_set_emin(emin);
        mpfr_set_emax(emax);
        sum = mpfr_get_d(z, MPFR_RNDN);
    }
    mpfr_clears(x, y, z, (mpfr_ptr)NULL);
    return isnan(sum) ? UINT64_MAX >> 1 : double_bits(sum);
}

/* The IEEE addition of two numbers of the result's format. */
static uint64_t added(const struct mma_rule *r, double x, double y)
{
    double sum = format_add(r->result, x, y);
    return isnan(sum) ? nan_of(r) : format_encode(r->result, sum);
}

uint64_t fused_oracle(const struct mma_rule *r, size_t k, const void *a, const void *b, uint64_t c)
{
    if (r->fraction == MMA_EXACT) { /* -0 does not outlast the zeros behind the last product */
        const uint64_t d = fused_adds(k, a, b, c), negative_zero = UINT64_C(1) << 63;
        return k % (size_t)r->k != 0 && d == negative_zero ? 0 : d;
    }
    size_t whole = (size_t)r->k, size = (size_t)r->block;
    for (size_t first = 0; first < k; first += whole) {
        double x[MMA_BLOCK], y[MMA_BLOCK];
        uint64_t sum = r->c == MMA_C_FIRST ? c : 0;
        for (size_t j = 0; j < whole / size; j++) {
            size_t count = 0;
            for (size_t i = 0; i < whole; i++) {
                bool mine = r->order == MMA_PAIRS     ? i % 4 / 2 == j
                            : r->order == MMA_FORWARD ? i / size == j
                                                      : i / size == whole / size - 1 - j;
                bool there = first + i < k;
                if (mine) {
                    x[count] = there ? value(r->element, a, first + i) : 0;
                    y[count++] = there ? value(r->element, b, first + i) : 0;
                }
            }
            sum = block(r, count, x, y, format_decode(r->result, sum));
        }
        c = r->c == MMA_C_FIRST
                ? sum
                : added(r, format_decode(r->result, c), format_decode(r->result, sum));
    }
    return c;
}
