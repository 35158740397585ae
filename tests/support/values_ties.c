#include <math.h>

#include "tests/support/oracle.h"
#include "tests/support/samples.h"
#include "tests/support/values.h"

/* Two whole numbers whose norm, mean or variance is odd and has one digit more than f, or is half
 * of such a one: halfway between two numbers of f. Legs of a Pythagorean triple; neighbours or not;
 * opposites. */
static void draw_tie(enum exact_value of, enum format f, double x[2], uint64_t *seed)
{
    int p = format_facts[f].precision;
    uint64_t low = UINT64_C(1) << p, size = 0, a = 0, b = 0;
    uint64_t below = of == EXACT_MEAN ? low : (uint64_t)sqrt(2.0 * (double)low) + 1;
    while (size < low || size >= 2 * low || size % 2 == 0) {
        a = sample_next(seed) % below;
        b = of == EXACT_VARIANCE ? 0 : sample_next(seed) % below;
        size = of == EXACT_MEAN ? a + b : a * a + b * b;
        if (of == EXACT_NORM && (b > a || a * a - b * b > low))
            size = 0;
    }
    x[0] = of == EXACT_NORM ? (double)(a * a - b * b) : (double)a;
    x[1] = of == EXACT_NORM ? (double)(2 * a * b) : of == EXACT_MEAN ? (double)b : -(double)a;
}

/* The tie itself; beside it by the last digit of an element; or by so little that fp64 cannot tell,
 * from two elements that are far smaller. In fp64, all of it times a power of two, also such a one
 * that the result is subnormal, where the tie is another. */
bool holds_ties(const struct method *m, char why[WHY])
{
    enum { ROUNDS = 3000 };
    enum exact_value of = m->operation->of;
    uint64_t seed = 2026;
    for (int k = 0; m->promise == PROMISE_CORRECTLY_ROUNDED && k < ROUNDS; k++) {
        enum format f = (enum format)(k % ACCUMULATORS);
        double x[4], due[ACCUMULATORS];
        struct array in = {FP64, k % 5 < 2 ? 4 : 2, x};
        uint64_t drawn = seed;
        draw_tie(of, f, x, &seed);
        x[2] = 0x1p-70;
        x[3] = of == EXACT_NORM ? x[2] : of == EXACT_VARIANCE ? -x[2] : 0;
        if (k % 5 > 0 && k % 5 < 4)
            x[0] = nextafter(x[0], k % 2 ? INFINITY : 0);
        int e = k % 7 == 0 ? format_facts[f].emin : -format_facts[f].precision;
        for (size_t i = 0; i < in.n; i++)
            x[i] = ldexp(x[i], of == EXACT_VARIANCE ? e / 2 : e);
        oracle_values(due, of, &in);
        if (!result_is(m, &in, f, due[f], "a tie or beside it", drawn, why))
            return false;
    }
    return true;
}
