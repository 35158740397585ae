/* Arrays that an order is held to: each kind would show another dependence on the data. */
#include <math.h>

#include "experiments/reveal/hold.h"
#include "reference/base/hash.h"

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

struct reveal_range reveal_range_of(const struct reveal_subject *s)
{
    const struct format_facts *storage = &format_facts[s->in.format];
    const struct format_facts *accumulator = &format_facts[s->accumulator];
    int per = s->squares ? 2 : 1, log = 0;
    while ((size_t)1 << log < s->leaves)
        log++;
    struct reveal_range r = {.digits = least_of(storage->precision, accumulator->precision / per)};
    r.spread = 2 + accumulator->precision / per - r.digits;
    int top = least_of(accumulator->emax, format_facts[s->output].emax);
    r.low = -least_of(-storage->emin, -(accumulator->emin + per * r.digits - 1) / per);
    r.high = least_of(storage->emax, (top - 1 - log) / per) - 1;
    if (r.high < r.low + 2)
        r.low = r.high - 2;
    enum { NEAR = 40 }; /* numbers that people can read, where there is a choice */
    if (r.low < -NEAR && r.high > NEAR / 3)
        r.low = -NEAR;
    r.high = least_of(r.high, NEAR > r.low + 2 ? NEAR : r.low + 2);
    return r;
}

uint64_t reveal_word(uint64_t *state)
{
    return hash_mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

enum kind {
    MIXED,
    POSITIVE,
    NEGATIVE,
    WIDE,
    WIDE_POSITIVE,
    ASCENDING,
    DESCENDING,
    ALTERNATING,
    HALVES,
    CANCELLING,
    FEW_VALUES,
    ONE_LARGE,
    SPARSE,
    NEGATIVE_FIRST,
    ONE_BINADE,
    NEARLY_EQUAL,
    EQUAL,
    WIDE_CANCELLING
};

static const char *const words[REVEAL_KINDS] = {
    [MIXED] = "mixed signs",
    [POSITIVE] = "positive",
    [NEGATIVE] = "negative",
    [WIDE] = "mixed signs and scales",
    [WIDE_POSITIVE] = "positive, of many scales",
    [ASCENDING] = "ascending magnitudes",
    [DESCENDING] = "descending magnitudes",
    [ALTERNATING] = "alternating signs",
    [HALVES] = "positive, then negative",
    [CANCELLING] = "a second half that cancels the first",
    [FEW_VALUES] = "a few values, again and again",
    [ONE_LARGE] = "one large element",
    [SPARSE] = "zeros between",
    [NEGATIVE_FIRST] = "negative first element, all others positive",
    [ONE_BINADE] = "positive, the largest below twice the smallest",
    [NEARLY_EQUAL] = "positive and nearly equal",
    [EQUAL] = "one value throughout",
    [WIDE_CANCELLING] = "many scales, and a second half that cancels the first",
};

const char *reveal_array_words(size_t k)
{
    return words[k % REVEAL_KINDS];
}

static double draw(const struct reveal_range *r, int low, int high, uint64_t *state)
{
    uint64_t word = reveal_word(state), top = UINT64_C(1) << (r->digits - 1);
    int exponent = low + (int)(reveal_word(state) % (uint64_t)(high - low + 1));
    return ldexp((double)(top | (word & (top - 1))), exponent - (r->digits - 1));
}

static bool negative(enum kind kind, size_t i, size_t n, uint64_t word)
{
    switch (kind) {
    case POSITIVE:
    case WIDE_POSITIVE:
    case ONE_BINADE:
    case NEARLY_EQUAL:
    case EQUAL:
        return false;
    case NEGATIVE:
        return true;
    case ALTERNATING:
        return i % 2;
    case HALVES:
        return i >= n / 2;
    case NEGATIVE_FIRST:
        return i == 0;
    case MIXED:
    case WIDE:
    case ASCENDING:
    case DESCENDING:
    case CANCELLING:
    case WIDE_CANCELLING:
    case FEW_VALUES:
    case ONE_LARGE:
    case SPARSE:
        break;
    }
    return word >> 63;
}

/* The exponents that element i is drawn from: a few, or all. */
static void exponents(enum kind kind, size_t i, size_t n, const struct reveal_range *r, int *low,
                      int *high)
{
    int width = least_of(r->high - r->low, 40 + r->spread),
        middle = r->low + (r->high - r->low - width) / 2;
    int at = (int)((double)width * (double)i / (double)n);
    *low = kind == ASCENDING ? middle + at : kind == DESCENDING ? middle + width - at : middle;
    bool wide = kind == WIDE || kind == WIDE_POSITIVE || kind == WIDE_CANCELLING;
    *high = wide ? middle + width : *low;
    if (kind < WIDE || (kind > DESCENDING && kind < ONE_BINADE))
        *high = least_of(*low + r->spread, r->high);
}

void reveal_array(double *x, size_t n, const struct reveal_range *r, size_t k, uint64_t seed)
{
    enum kind kind = k % REVEAL_KINDS;
    uint64_t state = hash_mix(seed) + k;
    double few[4];
    int low, high;
    for (size_t i = 0; i < n; i++) {
        exponents(kind, i, n, r, &low, &high);
        x[i] = draw(r, low, high, &state);
        if (negative(kind, i, n, reveal_word(&state)))
            x[i] = -x[i];
        if (kind == NEARLY_EQUAL && i > 0)
            x[i] = x[0] - ldexp((double)(reveal_word(&state) % 4), ilogb(x[0]) - (r->digits - 1));
        if (kind == EQUAL && i > 0)
            x[i] = x[0];
        if ((kind == CANCELLING || kind == WIDE_CANCELLING) && i >= (n + 1) / 2)
            x[i] = -x[i - (n + 1) / 2];
        if (kind == SPARSE && reveal_word(&state) % 2)
            x[i] = 0;
        if (kind == FEW_VALUES && i < 4)
            few[i] = x[i];
        else if (kind == FEW_VALUES)
            x[i] = few[reveal_word(&state) % 4];
    }
    if (kind == ONE_LARGE)
        x[reveal_word(&state) % n] = draw(r, r->high, r->high, &state);
}

size_t reveal_shuffle(double *x, const struct sum_tree *t, uint64_t *state)
{
    size_t moved = 0;
    for (size_t k = 0; k < t->additions; k++) {
        size_t count = t->begin[k + 1] - t->begin[k], leaves = 0;
        const uint32_t *leaf = t->child + t->begin[k]; /* those below t->leaves */
        for (size_t i = 0; i < count; i++)
            leaves += leaf[i] < t->leaves;
        moved += count > 2 && leaves > 1 ? leaves : 0;
        for (size_t i = count > 2 ? count : 0; i > 1; i--) {
            size_t j = reveal_word(state) % i;
            if (leaf[i - 1] >= t->leaves || leaf[j] >= t->leaves)
                continue;
            double other = x[leaf[j]];
            x[leaf[j]] = x[leaf[i - 1]];
            x[leaf[i - 1]] = other;
        }
    }
    return moved;
}

/* --- factors of dot products --- */

static double factor_of(enum format f, double term, uint64_t word)
{
    double factor = ldexp(1, (int)(word % 7) - 3);
    if (!reveal_same(format_round(f, term / factor), term / factor))
        return 1;
    return term != 0 && word >> 63 ? -factor : factor;
}

void reveal_encode(const struct reveal_subject *s, const double *term)
{
    uint64_t state = 0;
    if (!s->second.data) {
        array_encode(&s->in, 0, s->in.n, term);
        return;
    }
    for (size_t i = 0; i < s->in.n; i++)
        state = hash_mix(state + double_bits(term[i]));
    bool ones = state % 2;
    for (size_t i = 0; i < s->in.n; i++) {
        double factor = ones ? 1 : factor_of(s->in.format, term[i], reveal_word(&state));
        double first = term[i] / factor;
        array_encode(&s->in, i, 1, &first);
        array_encode(&s->second, i, 1, &factor);
    }
}

void reveal_clear_factors(const struct reveal_subject *s)
{
    const double one = 1;
    for (size_t i = 0; s->second.data && i < s->second.n; i++)
        array_encode(&s->second, i, 1, &one);
}
