#include <inttypes.h>
#include <math.h>

#include "tests/support/factors.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

/* The prime factors of 2^240 - 1, and of 2^210 + 1. */
static const double less[] = {3,  3,   5,   5,          7,         11,         13,         17,
                              31, 41,  61,  151,        241,       331,        1321,       61681,
                              97, 257, 673, 4562284561, 394783681, 4278255361, 46908728641};
static const double more[] = {5,     5,       13,       29,           41,
                              61,    113,     421,      1321,         1429,
                              14449, 7416361, 47392381, 146919792181, 1041815865690181};
enum { LESS = sizeof less / sizeof *less, MORE = sizeof more / sizeof *more };

/* T halfway between numbers of f, and T times what is next to 1: next to halfway. */
static const struct halfway {
    int above;             /* of T: 2^p + that, halfway between 2^p + above - 1 and the next */
    double prime[5];       /* of 2^53 + above, which is no double */
    bool by_less, by_more; /* times 1 - 2^-240, 1 + 2^-210 */
    int due;               /* 2^p + due */
} halfway[] = {
    {3, {5, 7, 11, 1187, 19709623201}, false, false, 4},
    {3, {5, 7, 11, 1187, 19709623201}, true, false, 2},
    {1, {3, 107, 28059810762433, 1, 1}, false, false, 0},
    {1, {3, 107, 28059810762433, 1, 1}, false, true, 2},
    {1, {3, 107, 28059810762433, 1, 1}, true, true, 2},
};

static size_t append(double *x, size_t n, const double *from, size_t count)
{
    memcpy(x + n, from, count * sizeof *x);
    return n + count;
}

bool holds_product_halfway(const struct method *m, char why[WHY])
{
    double x[LESS + MORE + 6];
    for (size_t i = 0; i < sizeof halfway / sizeof *halfway; i++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            const struct halfway *h = &halfway[i];
            double top = ldexp(1, format_facts[f].precision),
                   narrow[] = {top + h->above, 1, 1, 1, 1};
            size_t n = append(x, 0, less, h->by_less ? LESS : 0);
            n = append(x, n, more, h->by_more ? MORE : 0);
            n = append(x, n, f == FP64 ? h->prime : narrow, 5);
            x[n++] = ldexp(1, -240 * h->by_less - 210 * h->by_more - 4);
            struct array in = {FP64, n, x};
            uint64_t got = 0, due = format_encode(f, (top + h->due) / 16);
            if (run_method_once(m, &in, f, (struct shape){0, 0}, &got) != STATUS_OK || got != due)
                return not_held(why, m, FP64, f, n, (struct shape){0, 0},
                                "next to halfway, %zu: %#" PRIx64 ", not %#" PRIx64, i, got, due);
        }
    return true;
}

/* Results next to the smallest number and the largest, of factors far from them. */
bool holds_product_ends(const struct method *m, char why[WHY])
{
    double x[40];
    uint64_t seed = 8;
    mpfr_t product;
    mpfr_init2(product, 4000);
    bool fine = true;
    for (enum format f = 0; fine && f < ACCUMULATORS; f++)
        for (int round = 0; fine && round < 4000; round++) {
            size_t n = 2 + sample_next(&seed) % 38;
            struct array in = {FP64, n, x};
            bool high = sample_next(&seed) & 1;
            int left = high ? format_facts[f].emax + 2 : format_facts[f].emin - 54;
            mpfr_set_ui(product, 1, MPFR_RNDN);
            sample_fill(&in, SAMPLE_NEAR, FP64, sample_next(&seed));
            for (size_t i = 0; i < n; i++)
                mpfr_mul_d(product, product, x[i], MPFR_RNDN);
            left += (int)(sample_next(&seed) % (high ? 4 : 60)) - (int)mpfr_get_exp(product);
            for (size_t i = 0; left != 0; i = (i + 1) % n) {
                int step = left > 300 ? 300 : left < -300 ? -300 : left;
                x[i] = ldexp(x[i], step);
                left -= step;
                mpfr_mul_2si(product, product, step, MPFR_RNDN);
            }
            double due = oracle_round(f, product);
            uint64_t got = 0;
            fine = run_method_once(m, &in, f, (struct shape){0, 0}, &got) == STATUS_OK &&
                   got == format_encode(f, due);
            if (!fine)
                not_held(why, m, FP64, f, n, (struct shape){0, 0},
                         "round %d: %#" PRIx64 ", MPFR says %a", round, got, due);
        }
    mpfr_clear(product);
    return fine;
}
