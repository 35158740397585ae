#include "tests/support/rational.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1000 };
static mpq_t number[MOST];
static size_t numbers;

static mpq_ptr another(void)
{
    if (numbers == MOST) {
        fputs("too many rational numbers\n", stderr);
        abort();
    }
    mpq_init(number[numbers]);
    return number[numbers++];
}

void rational_forget(void)
{
    while (numbers > 0)
        mpq_clear(number[--numbers]);
}

rational whole(unsigned long x)
{
    mpq_ptr to = another();
    mpq_set_ui(to, x, 1);
    return to;
}

rational from_double(double x)
{
    mpq_ptr to = another();
    mpq_set_d(to, x);
    return to;
}

rational from_mpfr(const mpfr_t x)
{
    mpq_ptr to = another();
    mpfr_get_q(to, x);
    return to;
}

rational plus(rational a, rational b)
{
    mpq_ptr to = another();
    mpq_add(to, a, b);
    return to;
}

rational minus(rational a, rational b)
{
    mpq_ptr to = another();
    mpq_sub(to, a, b);
    return to;
}

rational times(rational a, rational b)
{
    mpq_ptr to = another();
    mpq_mul(to, a, b);
    return to;
}

rational over(rational a, rational b)
{
    mpq_ptr to = another();
    mpq_div(to, a, b);
    return to;
}

rational to_power(rational a, unsigned long k)
{
    mpq_ptr to = another();
    mpz_pow_ui(mpq_numref(to), mpq_numref(a), k);
    mpz_pow_ui(mpq_denref(to), mpq_denref(a), k);
    return to;
}

rational size_of(rational a)
{
    mpq_ptr to = another();
    mpq_abs(to, a);
    return to;
}

rational lesser(rational a, rational b)
{
    return mpq_cmp(a, b) < 0 ? a : b;
}

rational greater(rational a, rational b)
{
    return mpq_cmp(a, b) > 0 ? a : b;
}
