/* What a chain of blocks loses at most.
 *
 * Theorem. Let every operand stand for its size, but not below its format's smallest normal number
 * where it is not zero: [a], [b], [c]; W = [c] + sum [a][b]; K products in a block, F, and results
 * of p bits behind the point with u = 2^-p toward zero, 2^-(p+1) to nearest. If nothing overflows,
 * then
 *
 *     |d - exact| <= ((1 + theta)^h - 1) W + N eta (1 + theta)^h,
 *     theta = phi + u + phi u,   phi = (K + 1) 2^-F,
 *     eta = (1 + u) phi (2^emin + 2^least) + 2^(emin - p),
 *
 * with N blocks, and additions of C or of promoted sums, h of them at most in a term's way to d.
 *
 * Proof. In a block that continues from d', 2^M is at most the largest [a][b], [d'] or 2^least, so
 * at most w + |d'| + 2^emin + 2^least with w the block's sum of [a][b]. Cutting one of its K + 1
 * terms loses less than 2^(M - F), rounding at most u of what is left, or 2^(emin - p) where that
 * is subnormal. So both |d| and what was lost grow as
 *
 *     |d| <= (1 + theta) (|d'| + w) + eta,   |d - (d' + w's terms)| <= theta (|d'| + w) + eta.
 *
 * An IEEE addition does so with a smaller theta. With B for the first bound, the error is at most
 * B - W, by induction on blocks; and B is at most (1 + theta)^h (W + N eta).
 *
 * With 2^-F = 0 it is the bound of Blanchard, Higham, Lopez, Mary and Pranesh (2020) for a block
 * FMA whose sum is exact; the terms of phi, and what is below emin, are what alignment adds. */
#include "kernels/mma/mma.h"

#include <math.h>
#include <string.h>

static double floored(double x, double least)
{
    const double size = fabs(x);
    return x == 0 ? 0 : size >= least ? size : least;
}

static double smallest_normal(enum mma_element e)
{
    return ldexp(1, mma_elements[e].emin);
}

static double element(enum mma_element e, const void *from, size_t i)
{
    const struct mma_element_facts *facts = &mma_elements[e];
    const size_t bytes = (size_t)facts->bits / 8;
    uint64_t bits = 0;
    memcpy(&bits, (const unsigned char *)from + i * bytes, bytes);
    return format_decode(facts->stored, bits & ~((UINT64_C(1) << facts->ignored) - 1));
}

double mma_weight_of(const struct mma_rule *r, enum mma_element of_b, size_t k, const double *a,
                     const double *b, double c)
{
    const double least = smallest_normal(r->element), least_b = smallest_normal(of_b);
    double sum = floored(c, ldexp(1, format_facts[r->result].emin));
    for (size_t i = 0; i < k; i++)
        sum += floored(a[i], least) * floored(b[i], least_b);
    return sum * (1 + (double)(k + 2) * 0x1p-52);
}

double mma_weight(const struct mma_rule *r, size_t k, const void *a, const void *b, uint64_t c)
{
    const double least = smallest_normal(r->element);
    double sum = floored(format_decode(r->result, c), ldexp(1, format_facts[r->result].emin));
    for (size_t i = 0; i < k; i++)
        sum +=
            floored(element(r->element, a, i), least) * floored(element(r->element, b, i), least);
    return sum * (1 + (double)(k + 2) * 0x1p-52);
}

double mma_bound(const struct mma_rule *r, size_t every, size_t k, double weight)
{
    const bool exact = r->fraction == MMA_EXACT;
    const double emin = format_facts[r->result].emin;
    const double u = ldexp(1, -r->kept - (r->rounding == MMA_NEAREST));
    const double phi = exact ? 0 : ldexp(r->block + 1, -r->fraction);
    const double theta = phi + u + phi * u;
    const double eta = (1 + u) * phi * (exp2(emin) + exp2(r->least)) + exp2(emin - r->kept);
    const size_t whole = (size_t)r->k, size = (size_t)r->block;
    const size_t steps = whole / size + (r->c == MMA_C_LAST);
    const size_t chunk = every == 0 || every > k ? k : every;
    const size_t chunks = chunk ? (k + chunk - 1) / chunk : 0;
    const size_t inside = (chunk + whole - 1) / whole * steps, promoted = every ? chunks : 0;
    const double log_growth = (double)(inside + promoted) * log1p(theta);
    const double all = (double)(chunks * inside + promoted);
    return (expm1(log_growth) * weight + all * eta * exp(log_growth)) * (1 + 0x1p-30);
}
