/* What the upper rungs of the promise ladder add: other orders and partitions of the elements, and
 * the exact sum. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/blocks/tiled.h"
#include "tests/support/holds.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

/* Orders that decide what a running sum, or a running maximum, meets first; then any. */
enum arranged { ASCENDING, DESCENDING, REVERSED, ROTATED, SHUFFLED, ARRANGEMENTS_TRIED = 7 };
static const char *const arranged_name[] = {"ascending magnitudes", "descending magnitudes",
                                            "reversed", "rotated", "shuffled"};

struct element {
    uint64_t size, bits; /* encodings of one sign are ordered as their values are */
};

static int by_size(const void *a, const void *b)
{
    const struct element *x = a, *y = b;
    return x->size != y->size ? (x->size > y->size) - (x->size < y->size)
                              : (x->bits > y->bits) - (x->bits < y->bits);
}

/* Where `element` holds those of the array in their first order, writes them in another. */
static void arrange(const struct array *to, struct element *element, enum arranged how,
                    uint64_t *seed)
{
    size_t n = to->n, turn = n ? sample_next(seed) % n : 0;
    if (how <= DESCENDING)
        qsort(element, n, sizeof *element, by_size);
    for (size_t i = n; how >= SHUFFLED && i > 1; i--) {
        size_t j = sample_next(seed) % i;
        struct element last = element[i - 1];
        element[i - 1] = element[j];
        element[j] = last;
    }
    for (size_t i = 0; i < n; i++) {
        bool back = how == DESCENDING || how == REVERSED;
        size_t from = back ? n - 1 - i : how == ROTATED ? (i + turn) % n : i;
        array_set_bits(to, i, element[from].bits);
    }
}

static void remember(struct element *element, const struct array *a)
{
    uint64_t magnitude = ~UINT64_C(0) >> (65 - 8 * format_facts[a->format].bytes);
    for (size_t i = 0; i < a->n; i++) {
        element[i].bits = array_bits(a, i);
        element[i].size = element[i].bits & magnitude;
    }
}

/* Every arrangement, each with a partition among threads at random, gives the bits of the first. */
static bool holds_orders(const struct method *m, const struct array *in, enum format f,
                         struct element *element, enum sample kind, uint64_t seed, char why[WHY])
{
    struct shape shape[SHAPES_TRIED];
    size_t shapes = shapes_tried(m, in->n, shape);
    uint64_t due = 0, got = 0, state = seed;
    if (run_method_once(m, in, f, shape[0], &due) != STATUS_OK)
        return not_held(why, m, in->format, f, in->n, shape[0], "it could not be run");
    for (int how = 0; how < ARRANGEMENTS_TRIED; how++) {
        struct shape own = shape[sample_next(&state) % shapes];
        remember(element, in);
        arrange(in, element, how < SHUFFLED ? (enum arranged)how : SHUFFLED, &state);
        if (run_method_once(m, in, f, own, &got) != STATUS_OK)
            return not_held(why, m, in->format, f, in->n, own, "it could not be run");
        if (got != due)
            return not_held(why, m, in->format, f, in->n, own,
                            "sample %s, seed %" PRIu64 ": %s %#" PRIx64 ", as they came %#" PRIx64,
                            sample_name[kind], seed, arranged_name[how < SHUFFLED ? how : SHUFFLED],
                            got, due);
    }
    return true;
}

/* The oracle's exact value, rounded once; of a dot product with ones, the sum. */
static bool holds_rounding(const struct method *m, const struct array *in, enum format f,
                           const char *what, uint64_t seed, char why[WHY])
{
    struct shape shape = method_shape(m, DEVICE_CPU, in->n, (struct shape){0, 0});
    uint64_t got = 0;
    double value[ACCUMULATORS];
    oracle_values(value, value_due(m), in);
    uint64_t due = format_encode(f, value[f]);
    if (run_method_once(m, in, f, shape, &got) != STATUS_OK)
        return not_held(why, m, in->format, f, in->n, shape, "it could not be run");
    if (format_canonical(f, got) != due)
        return not_held(why, m, in->format, f, in->n, shape,
                        "sample %s, seed %" PRIu64 ": %#" PRIx64 ", correctly rounded %#" PRIx64,
                        what, seed, got, due);
    return true;
}

/* Sums halfway between two numbers of the accumulator but for little: 2^p + 1 + 2^-60, and with
 * other signs, which a sum rounded to fp64 first takes for halfway. */
static bool holds_halfway(const struct method *m, enum format s, enum format f, char why[WHY])
{
    double data[3];
    struct array in = {s, 3, data};
    for (uint64_t signs = 0; signs < 8; signs++) {
        const double size[] = {ldexp(1, format_facts[f].precision), 1, ldexp(1, -60)};
        for (size_t i = 0; i < 3; i++)
            array_encode(&in, i, 1, &(double){signs >> i & 1 ? -size[i] : size[i]});
        if (!holds_rounding(m, &in, f, "halfway", signs, why))
            return false;
    }
    return true;
}

bool holds_permuted(const struct method *m, char why[WHY])
{
    static const size_t lengths[] = {2, 3, 30, 257, 1025, TILE + 1, 5 * TILE + 300};
    enum { MOST = 5 * TILE + 300 };
    double *data = malloc(MOST * sizeof *data);
    struct element *element = malloc(MOST * sizeof *element);
    bool fine = data && element;
    not_held(why, m, FORMATS, FORMATS, 0, (struct shape){0, 0}, "memory ran out");
    for (size_t i = 0; fine && i < sizeof lengths / sizeof *lengths; i++)
        for (enum format s = 0; fine && s < ACCUMULATORS; s++)
            for (enum format f = 0; fine && f < ACCUMULATORS; f++) {
                if (i == 0 && m->promise >= PROMISE_CORRECTLY_ROUNDED &&
                    method_supports(m, DEVICE_CPU, s, f))
                    fine = holds_halfway(m, s, f, why);
                for (enum sample kind = 0; fine && kind < SAMPLES; kind++) {
                    size_t share = lengths[i] > TILE ? SAMPLES : lengths[i] > 1000 ? 3 : 1;
                    if (!method_supports(m, DEVICE_CPU, s, f) || (kind + s + f + i) % share != 0)
                        continue;
                    struct array in = {s, lengths[i], data};
                    uint64_t seed = 100 * lengths[i] + 10 * kind + 4 * s + f;
                    sample_fill(&in, kind, f, seed);
                    fine = holds_orders(m, &in, f, element, kind, seed, why);
                    if (fine && m->promise >= PROMISE_CORRECTLY_ROUNDED)
                        fine = holds_rounding(m, &in, f, sample_name[kind], seed, why);
                }
            }
    free(element);
    free(data);
    return fine;
}
