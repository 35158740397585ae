#include "tests/support/halfway.h"

#include <math.h>
#include <stdlib.h>

#include "tests/support/samples.h"

enum { LAST = 9, UNIT = -20 };

static const int bits_of[ACCUMULATORS] = {[FP16] = 11, [BF16] = 8, [FP32] = 24, [FP64] = 40};

static void put(const struct array *in, size_t i, int64_t units, int exponent)
{
    array_encode(in, i, 1, &(double){ldexp((double)units, exponent + UNIT)});
}

/* Returns their sum. */
static int64_t draw_integers(const struct array *in, size_t count, uint64_t *seed)
{
    int bits = bits_of[in->format];
    int64_t sum = 0, most = (INT64_C(1) << bits) - 1;
    for (size_t i = 0; i < count; i++) {
        int64_t k = (int64_t)sample_next(seed) >> (63 - bits);
        k = k > most ? most : k < -most ? -most : k;
        sum += k;
        put(in, i, k, 0);
    }
    return sum;
}

/* As digits of the base 2^bits, into all that is left but one. */
static void put_missing(const struct array *in, size_t first, int64_t missing)
{
    int bits = bits_of[in->format];
    int64_t base = INT64_C(1) << bits;
    for (size_t i = first; i + 1 < in->n; i++) {
        put(in, i, missing % base, bits * (int)(i - first));
        missing /= base;
    }
}

bool halfway_fill(const struct array *in, enum format f, int below, bool tells, uint64_t seed)
{
    size_t last = in->n - LAST;
    int64_t sum = draw_integers(in, last, &seed), size = llabs(sum);
    int drop = 64 - __builtin_clzll((uint64_t)size | 1) - format_facts[f].precision;
    if (drop <= 0)
        return false;
    int64_t cut = size >> drop, half = (cut << drop) + (INT64_C(1) << (drop - 1));
    put_missing(in, last, (sum < 0 ? -half : half) - sum);

    /* To even is away from 0 where the cut sum is odd. */
    bool away = (cut % 2 == 0) == tells, negative = (sum < 0) == away;
    double tiny = below == 0 ? 0 : ldexp(negative ? -1 : 1, UNIT - below);
    size_t among = sample_next(&seed) % last;
    array_set_bits(in, in->n - 1, array_bits(in, among));
    array_encode(in, among, 1, &tiny);
    return true;
}
