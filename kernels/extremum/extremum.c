#include "kernels/extremum/extremum.h"

#include <math.h>

static int64_t nan_rank(enum exact_value of)
{
    return exact_facts[of].nan_loses ? INT64_MAX : INT64_MIN;
}

/* Encodings of positive numbers are ordered as their values are, those of negative ones the other
 * way round. Those of infinities are the outermost, so NaNs have ranks of their own. */
static int64_t signed_order(int64_t bits)
{
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

int64_t extremum_rank(enum exact_value of, double x)
{
    int64_t rank = signed_order((int64_t)double_bits(x));
    return isnan(x) ? nan_rank(of) : exact_facts[of].largest ? ~rank : rank;
}

double extremum_ranked(enum exact_value of, int64_t rank)
{
    if (rank == nan_rank(of))
        return NAN;
    return double_from_bits((uint64_t)signed_order(exact_facts[of].largest ? ~rank : rank));
}

void extremum_finish(enum exact_value of, const struct task *t, const struct partial *found)
{
    double value;
    if (exact_facts[of].form == FORM_INDEX)
        value = found ? (double)found->index : -1;
    else if (found)
        value = extremum_ranked(of, found->rank);
    else
        value = exact_facts[of].largest ? -INFINITY : INFINITY;
    array_encode(&t->out, 0, 1, &value);
}

static void load(enum exact_value of, struct partial *to, const struct task *t, size_t begin,
                 size_t count)
{
    double x[ARRAY_BLOCK];
    array_decode(&t->of->in, begin, count, x);
    for (size_t i = 0; i < count; i++)
        to[i] = (struct partial){.rank = extremum_rank(of, x[i]), .index = begin + i};
}

static struct partial join(enum format f, struct partial a, struct partial b)
{
    (void)f;
    return b.rank < a.rank || (b.rank == a.rank && b.index < a.index) ? b : a;
}

#define REDUCTION(operation, promise, accumulators)                                                \
    static void operation##_load(struct partial *to, const struct task *t, size_t begin,           \
                                 size_t count)                                                     \
    {                                                                                              \
        load(operation_##operation.of, to, t, begin, count);                                       \
    }                                                                                              \
    static void operation##_finish(const struct task *t, const struct partial *found)              \
    {                                                                                              \
        extremum_finish(operation_##operation.of, t, found);                                       \
    }                                                                                              \
    const struct reduction operation##_reduction = {operation##_load, join, operation##_finish};
EXTREMA(REDUCTION)
