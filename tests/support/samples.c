#include "tests/support/samples.h"

#include <math.h>
#include <stdlib.h>

const char *const sample_name[SAMPLES] = {"near",      "ties", "wide", "cancel",
                                          "subnormal", "zero", "bits"};

uint64_t sample_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A whole number in least .. most. */
static int within(uint64_t *state, int least, int most)
{
    return least + (int)(sample_next(state) % (uint64_t)(most - least + 1));
}

/* x 2^k. A multiplication takes a fraction of the time of ldexp. */
static double scaled(double x, int k)
{
    return k < -1022 || k > 1023 ? ldexp(x, k) : x * double_from_bits((uint64_t)(k + 1023) << 52);
}

/* In [1, 2), 53 bits. */
static double one_to_two(uint64_t *state)
{
    return 1 + (double)(sample_next(state) >> 12) * 0x1p-52;
}

static double halfway(enum format f, uint64_t *state)
{
    int p = format_facts[f].precision;
    double neighbour = (double)(sample_next(state) >> (64 - p));
    return scaled(neighbour + 0.5 + within(state, -1, 1) * 0x1p-28, -p + within(state, 0, 2));
}

/* At least 2^shortfall below the largest. */
static double anywhere(enum format s, enum format f, int shortfall, uint64_t *state)
{
    const struct format_facts *a = &format_facts[s], *b = &format_facts[f];
    int least = a->emin > b->emin ? a->emin : b->emin;
    int most = a->emax < b->emax ? a->emax : b->emax;
    return scaled(one_to_two(state), within(state, least - 2, most - 1 - shortfall));
}

static void fill(const struct array *a, enum sample kind, enum format f, uint64_t seed)
{
    uint64_t state = seed;
    bool all_negative = sample_next(&state) & 1; /* zeros */
    for (size_t i = 0; i < a->n; i++) {
        double x = 0;
        switch (kind) {
        case SAMPLE_NEAR:
            x = scaled(one_to_two(&state), within(&state, -2, 1));
            break;
        case SAMPLE_TIES:
            x = halfway(f, &state);
            break;
        case SAMPLE_WIDE:
            x = anywhere(a->format, f, 0, &state);
            break;
        case SAMPLE_CANCEL:
            x = anywhere(a->format, f, 8, &state);
            break;
        case SAMPLE_SUBNORMAL:
            x = one_to_two(&state) * format_facts[f].smallest_normal / 2;
            x = sample_next(&state) % 8 ? scaled(x, -within(&state, 0, 11)) : 0;
            break;
        case SAMPLE_BITS:
        case SAMPLE_ZERO:
        case SAMPLES:
            break;
        }
        bool negative = sample_next(&state) & 1;
        if (kind == SAMPLE_ZERO)
            negative = negative || all_negative;
        x = negative ? -x : x;
        if (kind == SAMPLE_CANCEL && i >= a->n / 2 && i < a->n / 2 * 2)
            x = -array_get(a, (i + seed % 64) % (a->n / 2));
        if (kind == SAMPLE_BITS)
            array_set_bits(a, i, sample_next(&state));
        else
            array_encode(a, i, 1, &x);
    }
}

/* Long samples, which every method is asked for again: each was drawn in as much time as a method
 * takes to add it up. */
enum { LONG = 1 << 16, KEPT = 24 };

static struct kept {
    struct array array;
    enum sample kind;
    enum format f;
    uint64_t seed;
} kept[KEPT];

static bool is(const struct kept *k, const struct array *a, enum sample kind, enum format f,
               uint64_t seed)
{
    return k->array.data && k->array.format == a->format && k->array.n == a->n && k->kind == kind &&
           k->f == f && k->seed == seed;
}

void sample_fill(const struct array *a, enum sample kind, enum format f, uint64_t seed)
{
    static size_t next;
    size_t bytes = array_bytes(a->format, a->n);
    for (size_t i = 0; a->n >= LONG && i < KEPT; i++)
        if (is(&kept[i], a, kind, f, seed)) {
            memcpy(a->data, kept[i].array.data, bytes);
            return;
        }
    fill(a, kind, f, seed);
    if (a->n < LONG)
        return;
    struct kept *k = &kept[next++ % KEPT];
    free(k->array.data);
    *k = (struct kept){{a->format, a->n, malloc(bytes)}, kind, f, seed};
    if (k->array.data)
        memcpy(k->array.data, a->data, bytes);
}
