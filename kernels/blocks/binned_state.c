#include "kernels/blocks/binned_state.h"

#include "reference/theorem/name.h"

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int groups(int count, int size)
{
    return (count + size - 1) / size;
}

struct binned_bins binned_bins_of(enum format storage, enum format accumulator, unsigned folds)
{
    const struct format_facts *s = &format_facts[storage];
    int width = accumulator == FP64 ? 50 : 21;
    int digits = theorem_digits(storage, accumulator, folds);
    int lowest = (s->emin - s->precision + 1 - BINNED_LOWEST) / width;
    /* Bins below `end` have a part of 2^(emax+1): bin j's parts end at 2^((j+1) W - 1). */
    int end = groups(s->emax + 2 - BINNED_LOWEST, width);
    struct binned_bins b = {.width = width, .digits = digits, .lowest = lowest};
    b.kept = least(groups(digits + width, width), end - lowest);
    b.end = binned_window(&b, s->emax) + b.kept;
    return b;
}

enum status binned_state_init(struct binned_state *s, enum format storage, enum format accumulator,
                              unsigned folds, struct problem *p)
{
    if (folds < BINNED_FOLDS_LEAST || folds > BINNED_FOLDS_MOST)
        return problem(p, STATUS_USAGE, "binned state: %u folds, expected %d to %d", folds,
                       BINNED_FOLDS_LEAST, BINNED_FOLDS_MOST);
    *s = (struct binned_state){.storage = storage,
                               .accumulator = accumulator,
                               .folds = folds,
                               .bins = binned_bins_of(storage, accumulator, folds),
                               .window = -1};
    return STATUS_OK;
}

void binned_raise(struct binned_state *s, int window)
{
    int kept = s->bins.kept, up = s->window < 0 ? kept : window - s->window;
    for (int k = 0; up > 0 && k < kept; k++)
        s->bin[k] = k + up < kept ? s->bin[k + up] : 0;
    if (up > 0)
        s->window = window;
}

/* m 2^-shift rounded to nearest, ties to even; |m| < 2^53, shift > 0. */
static int64_t nearest(int64_t m, int shift)
{
    if (shift > 60)
        return 0;
    int64_t quotient = m >> shift, half = INT64_C(1) << (shift - 1), rest = m & (2 * half - 1);
    return quotient + (rest > half || (rest == half && (quotient & 1)));
}

static void add_element(struct binned_state *s, double x)
{
    uint64_t bits = double_bits(x), fraction = bits & ((UINT64_C(1) << 52) - 1);
    int field = (int)(bits >> 52 & 0x7ff);
    bool negative = bits >> 63;
    s->plain |= bits != UINT64_C(1) << 63;
    if (field == 0x7ff) {
        s->nan |= fraction != 0;
        s->inf[negative] |= fraction == 0;
        return;
    }
    if (field == 0 && fraction == 0)
        return;
    int64_t left = (int64_t)(field ? fraction | UINT64_C(1) << 52 : fraction);
    left = negative ? -left : left;
    int position = field ? field - 1 : 0; /* of its bit 0, from 2^BINNED_LOWEST */
    binned_raise(s, binned_window(&s->bins, position - 1022));
    for (int k = s->bins.kept - 1; k >= 0; k--) {
        int shift = (s->window + k) * s->bins.width - position;
        if (shift <= 0) {
            s->bin[k] += (__int128)left * ((__int128)1 << -shift);
            return;
        }
        int64_t part = nearest(left, shift);
        s->bin[k] += part;
        left -= part ? part * (INT64_C(1) << shift) : 0;
    }
}

void binned_plain(struct binned_state *s, const struct array *a, size_t begin, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_element(s, array_get(a, begin + i));
    s->terms += count;
}

void binned_state_add(struct binned_state *s, const struct array *a, size_t begin, size_t count)
{
    size_t i = 0;
    while (!binned_variant[i].available())
        i++;
    binned_variant[i].add(s, a, begin, count);
}

enum status binned_state_merge(struct binned_state *to, const struct binned_state *from,
                               struct problem *p)
{
    if (to->storage != from->storage || to->accumulator != from->accumulator ||
        to->folds != from->folds)
        return problem(p, STATUS_USAGE,
                       "binned state: %s to %s in %u folds cannot take in %s to %s in %u folds",
                       format_facts[to->storage].name, format_facts[to->accumulator].name,
                       to->folds, format_facts[from->storage].name,
                       format_facts[from->accumulator].name, from->folds);
    if (from->terms > INT64_MAX - to->terms)
        return problem(p, STATUS_DATA, "binned state: more than 2^63 - 1 elements");
    to->terms += from->terms;
    to->nan |= from->nan;
    to->inf[0] |= from->inf[0];
    to->inf[1] |= from->inf[1];
    to->plain |= from->plain;
    if (from->window < 0)
        return STATUS_OK;
    binned_raise(to, from->window);
    for (int k = 0; k < from->bins.kept; k++) {
        int place = from->window + k - to->window;
        if (place >= 0)
            to->bin[place] += from->bin[k];
    }
    return STATUS_OK;
}

double binned_state_finish(const struct binned_state *s)
{
    const struct format_facts *f = &format_facts[s->accumulator];
    if (s->nan || (s->inf[0] && s->inf[1]))
        return NAN;
    if (s->inf[0] || s->inf[1])
        return s->inf[0] ? INFINITY : -INFINITY;
    if (s->window < 0)
        return s->terms > 0 && !s->plain ? -0.0 : 0.0;
    return binned_total(s->bin, s->bins.kept, s->bins.width, binned_unit(&s->bins, s->window),
                        (struct binned_rounding){f->precision, f->emin, f->emax});
}
