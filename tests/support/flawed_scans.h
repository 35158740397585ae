/* Scans to be measured: a serial one in any formats, with flaws. */
#pragma once

#include <criterion/criterion.h>

#include "reference/measure/scan.h"
#include "reference/exact/prefix.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

/* The theorems that scans name. */
static const enum theorem_kind scan_bound[] = {THEOREM_ANY_ORDER, THEOREM_TREE, THEOREM_COMPENSATED,
                                               THEOREM_CORRECTLY_ROUNDED};
enum { SCAN_BOUNDS = sizeof scan_bound / sizeof *scan_bound };

enum flaw { FLAWLESS, SOME_ULPS, ANY_BITS, ZEROS, ROUNDED_ONCE, FLAWS };

/* A serial scan in the accumulator, rounded to the output; with flaws. */
static inline void scan_serially(const struct scan *s, enum format f, enum flaw flaw,
                                 uint64_t *seed, const struct array *out)
{
    double sum = 0;
    struct exact exact;
    exact_init(&exact);
    for (size_t i = 0; i < s->in.n; i++) {
        bool head = i == 0 || (s->heads && s->heads[i]);
        double x = format_round(f, array_get(&s->in, i));
        if (head) {
            exact_init(&exact);
            sum = 0;
        }
        double before = head ? 0 : sum, due = exact_round(&exact, out->format);
        sum = head ? x : format_add(f, sum, x);
        exact_add(&exact, array_get(&s->in, i));
        double result = format_round(out->format, s->exclusive ? before : sum);
        if (!s->exclusive)
            due = exact_round(&exact, out->format);
        if (flaw == SOME_ULPS)
            for (uint64_t k = sample_next(seed) % 8; k > 4; k--)
                result = format_next_up(out->format, result);
        else if (flaw == ANY_BITS && sample_next(seed) % 16 == 0)
            result = format_decode(out->format, sample_next(seed));
        else if (flaw == ZEROS)
            result = 0;
        else if (flaw == ROUNDED_ONCE)
            result = due;
        array_encode(out, i, 1, &result);
    }
}

static inline double value_of(struct figure f)
{
    return f.known ? f.value : -1;
}

static inline void same_figure(struct figure got, struct figure due, const char *what,
                               const char *name)
{
    cr_assert(got.known == due.known && same_double(value_of(got), value_of(due)),
              "%s: %s is %a, not %a", what, name, value_of(got), value_of(due));
}
