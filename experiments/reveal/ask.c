#include "experiments/reveal/ask.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "experiments/inputs/philox.h"
#include "reference/base/hash.h"

enum { AGAIN = 16 };

/* --- masks and units --- */

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

/* Masks as large as can be, units as small as can be, normal numbers or not. All units together
 * are at most half the distance of the mask's neighbours below it: even then rounding to nearest
 * gives the mask, which is even. */
/* Where the output is a quotient, of a sum of units by `divisor`, it has to be a normal number with
 * some digits more, by which the sum can be told. */
static bool mask_window(struct reveal_window *w, const enum format f[3], size_t divisor,
                        bool normal)
{
    int log = 0, digits = format_facts[f[2]].precision - (divisor > 0 ? REVEAL_QUOTIENT_DIGITS : 0);
    while (divisor > (size_t)1 << log)
        log++;
    int top = least_of(format_facts[f[0]].emax, format_facts[f[1]].emax);
    int precision = format_facts[f[1]].precision, low = -2000;
    for (size_t i = 0; i < 3; i++) {
        bool quotient = i == 2 && divisor > 0;
        int below = normal || quotient ? 0 : format_facts[f[i]].precision - 1;
        int least = format_facts[f[i]].emin - below + (quotient ? log : 0);
        low = least > low ? least : low;
    }
    int bits = least_of(top - precision - 1 - low, least_of(precision, digits));
    *w = (struct reveal_window){REVEAL_BY_MASKS, ldexp(1, top), ldexp(1, low), (unsigned)bits};
    return bits >= 1;
}

size_t reveal_windows(struct reveal_window window[3], enum format storage, enum format accumulator,
                      enum format output, size_t divisor)
{
    const enum format f[3] = {storage, accumulator, output};
    size_t count = 0;
    for (int normal = 1; normal >= 0; normal--)
        count += mask_window(&window[count], f, divisor, normal);
    if (count == 2 && window[1].bits > window[0].bits) {
        struct reveal_window more = window[1];
        window[1] = window[0];
        window[0] = more;
    }
    if (count == 0 && divisor > 0)
        return 0; /* with units, a sum has to show first */
    /* An output that cannot hold L does not tell L from infinity. */
    int most = format_facts[accumulator].emax;
    if (format_facts[storage].emax >= most && format_facts[output].emax >= most)
        window[count++] = (struct reveal_window){REVEAL_BY_OVERFLOW,
                                                 ldexp(1, format_facts[accumulator].emax), 0, 1};
    return count;
}

/* M = 1.5 * 2^a: its term, M or 2.25 * 4^a, is even, and half of its last digit is h. The unit's
 * term is h, or 25/32 h where h is to be a square and is none: M's and h is a tie, that goes to
 * M's, and twice the unit's is more than h, and no more than 2h. The root of M^2 + 2h is M and two
 * thirds of its last digit, so that it shows. a such that units are near 1, as far as M's term is
 * finite. */
bool reveal_tie_window(struct reveal_window *w, const struct reveal_subject *of)
{
    const struct format_facts *s = &format_facts[of->in.format],
                              *f = &format_facts[of->accumulator];
    int p = f->precision, per = of->squares ? 2 : 1;
    int a = least_of((p + 1) / 2, least_of(s->emax - 1, (f->emax - 2) / per));
    int exponent = a - (per == 2 ? p / 2 : p); /* of h, or of its root, rounded down */
    double unit = ldexp(per == 2 && p % 2 == 0 ? 1.25 : 1, exponent);
    *w = (struct reveal_window){REVEAL_BY_TIES, ldexp(1.5, a), unit, 1};
    return format_round(of->in.format, unit) == unit && of->term(unit) >= f->smallest_normal;
}

/* --- calls --- */

static void put(const struct reveal_asker *a, uint32_t leaf, double value)
{
    array_encode(&a->subject->in, a->subject->first + leaf, 1, &value);
}

void reveal_asker_open(struct reveal_asker *a, const struct reveal_subject *s, uint64_t seed,
                       char *words, size_t words_size)
{
    *a = (struct reveal_asker){
        .subject = s, .random = seed, .words = words, .words_size = words_size};
    memset(s->in.data, 0, array_bytes(s->in.format, s->in.n));
}

void reveal_clear(struct reveal_asker *a)
{
    if (!a->called)
        return;
    for (unsigned k = 0; k < a->pairs; k++) {
        put(a, a->pair[k][0], 0);
        put(a, a->pair[k][1], 0);
    }
    for (unsigned k = 0; k < a->units; k++)
        put(a, a->unit[k], 0);
    a->pairs = a->units = 0;
    a->called = false;
}

void reveal_mask(struct reveal_asker *a, uint32_t i, uint32_t j)
{
    reveal_clear(a);
    a->pair[a->pairs][0] = i;
    a->pair[a->pairs++][1] = j;
    const struct reveal_window *w = &a->window;
    double value = w->means == REVEAL_BY_TIES ? w->unit : w->mask;
    put(a, i, value);
    put(a, j, w->means == REVEAL_BY_MASKS ? -value : value);
}

void reveal_unit(struct reveal_asker *a, uint32_t leaf)
{
    reveal_clear(a);
    const struct reveal_window *w = &a->window;
    put(a, leaf,
        w->means == REVEAL_BY_MASKS      ? ldexp(w->unit, (int)(a->units + a->shift))
        : w->means == REVEAL_BY_OVERFLOW ? -w->mask
                                         : w->mask);
    a->unit[a->units++] = leaf;
}

/* What the subject gives where M alone counts. */
static double sum_of_mask(const struct reveal_asker *a)
{
    return a->subject->root ? a->window.mask : a->subject->term(a->window.mask);
}

enum status reveal_call(struct reveal_asker *a, struct problem *p)
{
    if (a->calls == a->most)
        reveal_contradict(a, "no tree after %llu calls", (unsigned long long)a->calls);
    if (a->contradiction)
        return STATUS_OK;
    a->calls++;
    a->called = true;
    enum status status = a->subject->evaluate(a->subject->context, &a->result, p);
    if (a->window.means != REVEAL_BY_MASKS) {
        bool ties = a->window.means == REVEAL_BY_TIES;
        a->outside = ties ? a->result > sum_of_mask(a) : !isfinite(a->result);
        return status;
    }
    double whole = a->result / ldexp(a->window.unit, (int)a->shift), most = ldexp(1, (int)a->units);
    if (status == STATUS_OK && !(whole >= 0 && whole < most && whole == floor(whole))) {
        char text[256];
        reveal_call_words(a, text, sizeof text);
        reveal_contradict(a, "%s, where the smallest is 1, the next 2, ...", text);
    } else {
        a->outside = (uint64_t)whole;
    }
    return status;
}

enum status reveal_call_again(struct reveal_asker *a, bool *changed, struct problem *p)
{
    char before[128], after[128];
    uint64_t bits = double_bits(a->result);
    enum status status = STATUS_OK;
    reveal_call_words(a, before, sizeof before);
    for (size_t k = 0; k < AGAIN && status == STATUS_OK && !*changed; k++) {
        a->calls++;
        status = a->subject->evaluate(a->subject->context, &a->result, p);
        *changed = status == STATUS_OK && double_bits(a->result) != bits;
    }
    if (!*changed)
        return status;
    reveal_call_words(a, after, sizeof after);
    a->contradiction = false;
    reveal_contradict(a, "%s; asked again, %s", before, after);
    return status;
}

enum status reveal_ask(struct reveal_asker *a, uint32_t i, uint32_t j, uint32_t leaf, bool *outside,
                       struct problem *p)
{
    reveal_mask(a, i, j);
    reveal_unit(a, leaf);
    enum status status = reveal_call(a, p);
    *outside = a->outside & 1;
    return status;
}

/* --- words --- */

void reveal_contradict(struct reveal_asker *a, const char *format, ...)
{
    va_list arguments;
    if (a->contradiction)
        return;
    va_start(arguments, format);
    vsnprintf(a->words, a->words_size, format, arguments);
    va_end(arguments);
    a->contradiction = true;
}

void reveal_call_words(const struct reveal_asker *a, char *text, size_t size)
{
    bool masks = a->window.means == REVEAL_BY_MASKS, ties = a->window.means == REVEAL_BY_TIES;
    size_t first = a->subject->first;
    int used = 0;
    *text = 0;
    if (a->pairs > 1)
        used =
            snprintf(text, size, "%s in %u pairs of elements", masks ? "+M and -M" : "L", a->pairs);
    else if (a->pairs == 1)
        used = snprintf(text, size,
                        masks  ? "+M in %zu, -M in %zu"
                        : ties ? "units in %zu and %zu"
                               : "L in %zu and %zu",
                        first + a->pair[0][0], first + a->pair[0][1]);
    if (a->units == 1)
        used += snprintf(text + used, size - (size_t)used, "%s%s in %zu", used ? ", " : "",
                         masks  ? "a unit"
                         : ties ? "M"
                                : "-L",
                         first + a->unit[0]);
    else
        used +=
            snprintf(text + used, size - (size_t)used, "%s%u units", used ? ", " : "", a->units);
    double units = masks ? a->result / ldexp(a->window.unit, (int)a->shift) : NAN;
    if (a->pairs > 0 && a->units == 1 && (units == 0 || units == 1)) {
        snprintf(text + used, size - (size_t)used, units == 0 ? ": lost" : ": left");
        return;
    }
    if (a->pairs > 0 && units >= 0 && units < ldexp(1, (int)a->units) && units == floor(units))
        snprintf(text + used, size - (size_t)used, ": %d of %u left",
                 __builtin_popcountll((uint64_t)units), a->units);
    else if (fabs(units) < 0x1p64)
        snprintf(text + used, size - (size_t)used, ": %.17g units", units);
    else
        snprintf(text + used, size - (size_t)used, ": %.17g", a->result);
}

uint32_t reveal_random(struct reveal_asker *a, size_t bound)
{
    a->random += UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)random_below(hash_mix(a->random), bound);
}
