/* Three words of a cascade at a speed that vectors give: included once for each width of vectors,
 * LANES doubles, to define the function CASCADE_LANES (a cascade_lanes, cascade.h).
 *
 * The three running sums are chains of additions, each waiting for the one before. They go side by
 * side, each a chunk behind the one that it takes its terms from; what lies between them and behind
 * them is done in vectors, from memory. What the last sum's additions lose is not found out but
 * bounded: half an ulp of each result, so at most 2^-53 of it. */
#include <string.h>

#include "reference/exact/cascade.h"
#include "reference/base/variants.h"

typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef int64_t lanes_bits __attribute__((vector_size(8 * LANES)));

enum { CHUNK = CASCADE_CHUNK };

/* sum[i] is before and sum[i+1] after term i was added. */
struct sums {
    double sum0[CASCADE_MOST + 1], sum1[CASCADE_MOST + 1], sum2[CASCADE_MOST + 1];
    double error0[CASCADE_MOST], error1[CASCADE_MOST]; /* of the additions to sum0, sum1 */
};

INLINE void load(lanes *to, const double *from)
{
    memcpy(to, from, sizeof *to);
}

INLINE void store(double *to, const lanes *from)
{
    memcpy(to, from, sizeof *from);
}

INLINE void size_of(lanes *x)
{
    const lanes_bits zero = {0};
    *x = (lanes)((lanes_bits)*x & (zero + INT64_MAX));
}

/* TwoSum: sum = a + b and its error, itself a double. */
INLINE void two_sum(lanes *sum, lanes *error, const lanes *a, const lanes *b)
{
    lanes s = *a + *b, b_virtual = s - *a;
    *error = (*a - (s - b_virtual)) + (*b - b_virtual);
    *sum = s;
}

INLINE void add_chunk(double *sum, const double *term)
{
    double running = sum[0];
    for (size_t i = 0; i < CHUNK; i++)
        sum[i + 1] = running += term[i];
}

/* The same of three sums at once. */
INLINE void add_chunks(double *sum0, const double *term0, double *sum1, const double *term1,
                       double *sum2, const double *term2)
{
    double running0 = sum0[0], running1 = sum1[0], running2 = sum2[0];
    for (size_t i = 0; i < CHUNK; i++) {
        sum0[i + 1] = running0 += term0[i];
        sum1[i + 1] = running1 += term1[i];
        sum2[i + 1] = running2 += term2[i];
    }
}

INLINE void find_errors(double *error, const double *sum, const double *term)
{
    for (size_t i = 0; i < CHUNK; i += LANES) {
        lanes before, x, after, lost;
        load(&before, sum + i);
        load(&x, term + i);
        two_sum(&after, &lost, &before, &x);
        store(error + i, &lost);
    }
}

/* An upper bound on the rounding errors of the additions that led to sum[1 .. CHUNK]. */
INLINE double lost_at_most(const double *sum)
{
    lanes total = {0};
    double all = 0;
    for (size_t i = 1; i <= CHUNK; i += LANES) {
        lanes x;
        load(&x, sum + i);
        size_of(&x);
        total += x;
    }
    for (int i = 0; i < LANES; i++)
        all += total[i];
    return all * 0x1.1p-53 + 0x1p-1074;
}

/* The pairs of a chunk whose sums these are, each within `slack` > 0; bits of `failed` are set
 * where one cannot be shown to be right. rest: what is left of the last, hi + lo + rest being its
 * sums'.
 *
 * The sum of the words is h + l + z, exact. With w > |z| + slack, l is the nearest to all of l +- w
 * if it is to the ends; then w is less than an ulp of l, l is not 0, and where h is nearest to
 * h + l with l taken an ulp or more farther from 0, it is nearest to every value that the sum can
 * have. */
INLINE void certify(const double *sum0, const double *sum1, const double *sum2, double slack,
                    double *hi, double *lo, lanes_bits *failed, double *rest)
{
    const lanes zero = {0};
    for (size_t i = 0; i < CHUNK; i += LANES) {
        lanes a, b, c, h, l, middle, z;
        load(&a, sum0 + i);
        load(&b, sum1 + i);
        load(&c, sum2 + i);
        two_sum(&h, &middle, &a, &b);
        two_sum(&l, &z, &middle, &c);
        *rest = z[LANES - 1];
        size_of(&z);
        lanes w = (z + (zero + slack)) * (zero + (1 + 0x1p-30));
        lanes farther = l * (zero + (1 + 0x1p-51));
        /* x - x is +0, all zero bits, unless it is a NaN. */
        *failed |=
            (lanes_bits)((l + w) - l) | (lanes_bits)((l - w) - l) | (lanes_bits)((h + farther) - h);
        store(hi + i, &h);
        store(lo + i, &l);
    }
}

bool CASCADE_LANES(struct cascade *c, const double *x, size_t count, double *hi, double *lo)
{
    struct sums s;
    size_t chunks = count / CHUNK;
    lanes_bits failed = {0};
    double slack = c->error, rest = 0;
    s.sum0[0] = c->word[0];
    s.sum1[0] = c->word[1];
    s.sum2[0] = c->word[2];
    for (size_t k = 0; k < chunks + 2; k++) {
        size_t at0 = k * CHUNK, at1 = at0 - CHUNK, at2 = at1 - CHUNK;
        bool on0 = k<chunks, on1 = k> 0 && k <= chunks, on2 = k > 1;
        if (on0 && on2) {
            add_chunks(s.sum0 + at0, x + at0, s.sum1 + at1, s.error0 + at1, s.sum2 + at2,
                       s.error1 + at2);
        } else {
            if (on0)
                add_chunk(s.sum0 + at0, x + at0);
            if (on1)
                add_chunk(s.sum1 + at1, s.error0 + at1);
            if (on2)
                add_chunk(s.sum2 + at2, s.error1 + at2);
        }
        if (on0)
            find_errors(s.error0 + at0, s.sum0 + at0, x + at0);
        if (on1)
            find_errors(s.error1 + at1, s.sum1 + at1, s.error0 + at1);
        if (!on2)
            continue;
        slack += lost_at_most(s.sum2 + at2);
        certify(s.sum0 + at2 + 1, s.sum1 + at2 + 1, s.sum2 + at2 + 1, slack, hi + at2, lo + at2,
                &failed, &rest);
    }
    *c = (struct cascade){{hi[count - 1], lo[count - 1], rest}, slack, c->stage};
    int64_t any = 0;
    for (int i = 0; i < LANES; i++)
        any |= failed[i];
    return any == 0;
}
