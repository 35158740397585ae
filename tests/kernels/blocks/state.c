/* States of sums that merge: any tree over any partition of any permutation gives the same bytes
 * and the same sum, in this process or another. */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/blocks/binned_state.h"
#include "kernels/blocks/exact_state.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

enum { MOST = 3000, PARTS = 12, BYTES_MOST = EXACT_STATE_BYTES };

/* ---- either kind of state ---- */

struct state {
    bool is_exact;
    struct binned_state binned;
    struct exact_state exact;
};

struct kind {
    bool is_exact;
    enum format storage, accumulator;
    unsigned folds;
};

static void begin(struct state *s, const struct kind *k)
{
    s->is_exact = k->is_exact;
    if (k->is_exact)
        exact_state_init(&s->exact);
    else
        cr_assert(binned_state_init(&s->binned, k->storage, k->accumulator, k->folds, NULL) ==
                  STATUS_OK);
}

static void add(struct state *s, const struct array *a, size_t first, size_t count)
{
    if (s->is_exact)
        exact_state_add(&s->exact, a, first, count);
    else
        binned_state_add(&s->binned, a, first, count);
}

static void merge(struct state *to, const struct state *from)
{
    enum status status = to->is_exact ? exact_state_merge(&to->exact, &from->exact, NULL)
                                      : binned_state_merge(&to->binned, &from->binned, NULL);
    cr_assert(status == STATUS_OK);
}

static size_t size_of(const struct state *s)
{
    return s->is_exact ? EXACT_STATE_BYTES : BINNED_STATE_BYTES;
}

static void put(const struct state *s, unsigned char bytes[BYTES_MOST])
{
    if (s->is_exact)
        exact_state_write(&s->exact, bytes);
    else
        binned_state_write(&s->binned, bytes);
}

static enum status get(struct state *s, const void *bytes, size_t size, struct problem *p)
{
    return s->is_exact ? exact_state_read(&s->exact, bytes, size, p)
                       : binned_state_read(&s->binned, bytes, size, p);
}

static double finish(const struct state *s, enum format f)
{
    return s->is_exact ? exact_state_finish(&s->exact, f) : binned_state_finish(&s->binned);
}

/* ---- random search ---- */

/* Through the bytes, into a state that held something else. */
static void travel(struct state *s)
{
    unsigned char bytes[BYTES_MOST + 1];
    struct problem p = {0};
    size_t offset = s->exact.terms % 2; /* bytes need no alignment */
    put(s, bytes);
    memmove(bytes + offset, bytes, size_of(s));
    struct state fresh = {.is_exact = s->is_exact};
    memset(&fresh.binned, 0xa5, sizeof fresh.binned);
    memset(&fresh.exact, 0x5a, sizeof fresh.exact);
    cr_assert(get(&fresh, bytes + offset, size_of(s), &p) == STATUS_OK, "%s", p.text);
    *s = fresh;
}

static void shuffle(const struct array *a, uint64_t *seed)
{
    for (size_t i = a->n; i > 1; i--) {
        size_t j = sample_next(seed) % i;
        uint64_t here = array_bits(a, i - 1);
        array_set_bits(a, i - 1, array_bits(a, j));
        array_set_bits(a, j, here);
    }
}

/* Cuts a shuffled array into parts, adds each in runs, and merges them two by two. */
static void by_parts(struct state *to, const struct kind *k, const struct array *a, uint64_t *seed)
{
    struct state part[PARTS];
    size_t parts = 1 + sample_next(seed) % PARTS, first = 0;
    shuffle(a, seed);
    for (size_t i = 0; i < parts; i++) {
        size_t count = sample_next(seed) % (a->n - first + 1);
        count = i + 1 == parts ? a->n - first : count;
        begin(&part[i], k);
        for (size_t run; count > 0; first += run, count -= run) {
            run = 1 + sample_next(seed) % count;
            add(&part[i], a, first, run);
        }
    }
    for (; parts > 1; parts--) {
        size_t i = sample_next(seed) % parts, j = sample_next(seed) % (parts - 1);
        j += j >= i;
        if (sample_next(seed) & 1)
            travel(&part[j]);
        merge(&part[i], &part[j]);
        part[j] = part[parts - 1];
        if (i == parts - 1)
            i = j;
        (void)i;
    }
    *to = part[0];
}

static void expect_same(const struct kind *k, const struct array *a, uint64_t *seed,
                        const char *what)
{
    unsigned char one[BYTES_MOST], other[BYTES_MOST];
    uint64_t own = *seed;
    struct state whole, merged;
    begin(&whole, k);
    add(&whole, a, 0, a->n);
    by_parts(&merged, k, a, seed);
    put(&whole, one);
    put(&merged, other);
    double sum = finish(&whole, k->accumulator), again = finish(&merged, k->accumulator);
    cr_assert(memcmp(one, other, size_of(&whole)) == 0 && same_double(sum, again),
              "%s state, %s, %s to %s, K = %u, n = %zu, seed %" PRIu64 ": %a at once, %a merged",
              k->is_exact ? "exact" : "binned", what, format_facts[a->format].name,
              format_facts[k->accumulator].name, k->folds, a->n, own, sum, again);
    if (!k->is_exact)
        return;
    mpfr_t due;
    mpfr_init2(due, 53);
    oracle_sum(due, a, false);
    double rounded = oracle_round(k->accumulator, due);
    if (a->n == 0)
        rounded = 0;
    cr_assert(same_double(sum, rounded),
              "exact state, %s, %s to %s, n = %zu, seed %" PRIu64 ": %a, MPFR says %a", what,
              format_facts[a->format].name, format_facts[k->accumulator].name, a->n, own, sum,
              rounded);
    mpfr_clear(due);
}

/* Any encodings; with NaN and infinities, few of them, or none. */
static void fill(const struct array *a, enum format f, uint64_t *seed)
{
    enum sample kind = sample_next(seed) % SAMPLES;
    uint64_t keep = sample_next(seed) % 3;
    sample_fill(a, kind, f, sample_next(seed));
    for (size_t i = 0; i < a->n; i++)
        if (!isfinite(array_get(a, i)) && (keep == 0 || (keep == 1 && sample_next(seed) % 1024)))
            array_set_bits(
                a, i, array_bits(a, i) & ~(UINT64_C(1) << (format_facts[a->format].precision - 1)));
}

Test(state, merges_in_any_tree_over_any_partition)
{
    static double data[MOST];
    uint64_t seed = 41;
    for (int round = 0; round < 80; round++)
        for (enum format s = 0; s < ACCUMULATORS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++)
                for (unsigned folds = 1; folds <= 4; folds++) { /* 1: the exact state */
                    struct kind k = {folds == 1, s, f, folds};
                    struct array a = {s, sample_next(&seed) % (round % 4 ? 60 : MOST), data};
                    fill(&a, f, &seed);
                    expect_same(&k, &a, &seed, "random");
                }
}

/* Windows far apart: parts of a state below another's window are forgotten, in whatever order. */
Test(state, merges_of_magnitudes_far_apart)
{
    static double data[MOST];
    uint64_t seed = 43;
    for (int round = 0; round < 80; round++)
        for (enum format s = 0; s < ACCUMULATORS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++) {
                struct kind k = {round % 4 == 3, s, f, 2 + (unsigned)round % 3};
                const struct format_facts *facts = &format_facts[s];
                struct array a = {s, 1 + sample_next(&seed) % 40, data};
                for (size_t i = 0; i < a.n; i++) {
                    int range = facts->emax - facts->emin + facts->precision;
                    int e = facts->emin - facts->precision + 1 +
                            (int)(sample_next(&seed) % (uint64_t)range);
                    double x = ldexp(1 + (double)(sample_next(&seed) >> 12) * 0x1p-52, e);
                    x = sample_next(&seed) % 3 == 0 && i > 0 ? -array_get(&a, i - 1) : x;
                    array_encode(&a, i, 1, &x);
                }
                expect_same(&k, &a, &seed, "far apart");
            }
}

/* An infinity beside a NaN does not show in the sum, but in the bytes: many elements at once must
 * find both, as one by one does. */
Test(state, finds_infinities_beside_nans)
{
    enum { N = 1200 };
    static double data[N];
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (unsigned kinds = 1; kinds < 16; kinds++) { /* NaN, inf, -NaN, -inf */
            const double special[] = {NAN, INFINITY};
            struct array a = {f, N, data};
            struct exact_state whole, single;
            unsigned char at_once[EXACT_STATE_BYTES], one_by_one[EXACT_STATE_BYTES];
            memset(data, 0, sizeof data);
            for (unsigned k = 0; k < 4; k++)
                if (kinds >> k & 1) {
                    uint64_t sign = (uint64_t)(k / 2) << (8 * format_facts[f].bytes - 1);
                    array_encode(&a, 700 - 100 * k, 1, &special[k % 2]);
                    array_set_bits(&a, 700 - 100 * k, array_bits(&a, 700 - 100 * k) | sign);
                }
            exact_state_init(&whole);
            exact_state_init(&single);
            exact_state_add(&whole, &a, 0, N);
            for (size_t i = 0; i < N; i++)
                exact_state_add(&single, &a, i, 1);
            exact_state_write(&whole, at_once);
            exact_state_write(&single, one_by_one);
            cr_expect(memcmp(at_once, one_by_one, sizeof at_once) == 0,
                      "%s, kinds %u: flags %d at once, %d one by one", format_facts[f].name, kinds,
                      at_once[5], one_by_one[5]);
        }
}

Test(state, what_does_not_go_together_is_refused)
{
    struct binned_state a, b;
    struct exact_state c, d;
    struct problem p = {0};
    cr_expect(binned_state_init(&a, FP32, FP32, 1, &p) == STATUS_USAGE);
    cr_expect(strstr(p.text, "1 folds, expected 2 to 4"), "%s", p.text);
    cr_expect(binned_state_init(&a, FP32, FP32, 5, NULL) == STATUS_USAGE);
    binned_state_init(&a, FP32, FP32, 3, NULL);
    const struct kind others[] = {
        {false, FP16, FP32, 3}, {false, FP32, FP64, 3}, {false, FP32, FP32, 2}};
    for (size_t i = 0; i < 3; i++) {
        p = (struct problem){0};
        binned_state_init(&b, others[i].storage, others[i].accumulator, others[i].folds, NULL);
        cr_expect(binned_state_merge(&a, &b, &p) == STATUS_USAGE);
        cr_expect(strstr(p.text, "fp32 to fp32 in 3 folds cannot take in"), "%s", p.text);
        cr_expect(binned_state_merge(&b, &a, NULL) == STATUS_USAGE, "%zu, the other way round", i);
    }
    binned_state_init(&b, FP32, FP32, 3, NULL);
    a.terms = INT64_MAX;
    b.terms = 1;
    cr_expect(binned_state_merge(&a, &b, NULL) == STATUS_DATA && a.terms == INT64_MAX);
    exact_state_init(&c);
    exact_state_init(&d);
    c.terms = INT64_MAX;
    d.terms = 1;
    cr_expect(exact_state_merge(&c, &d, NULL) == STATUS_DATA && c.terms == INT64_MAX);
    a.terms = INT64_MAX - 1;
    c.terms = INT64_MAX - 1;
    cr_expect(binned_state_merge(&a, &b, NULL) == STATUS_OK && a.terms == INT64_MAX);
    cr_expect(exact_state_merge(&c, &d, NULL) == STATUS_OK && c.terms == INT64_MAX);
}

/* ---- bytes ---- */

/* The layout is a promise to other machines: these bytes were written down by hand. */
Test(state, layouts_by_hand)
{
    float x[] = {1, -0.5f};
    struct array a = {FP32, 2, x};
    struct state s;
    unsigned char bytes[BYTES_MOST], due[BYTES_MOST] = {'u', 'l', 'p', 'b', 1, 2, 2, 3, 2};
    begin(&s, &(struct kind){false, FP32, FP32, 3});
    add(&s, &a, 0, 2);
    put(&s, bytes);
    /* Windows of 72 digits below 2^0: 2^-71, the next multiple of 21 below from -1074 on is -87. */
    due[16] = 8;
    due[18] = 47;         /* 21 47 - 1074 = -87 */
    due[24 + 16 * 4] = 4; /* bin 51, from 2^-3 on: 8 - 4; nothing is left for those below */
    cr_expect(memcmp(bytes, due, BINNED_STATE_BYTES) == 0);

    /* J is no lower than the bin of the storage's smallest number, which here is all there is. */
    uint16_t smallest = 1;
    unsigned char due16[BINNED_STATE_BYTES] = {'u', 'l', 'p', 'b', 1, 0, 2, 3, 1};
    begin(&s, &(struct kind){false, FP16, FP32, 3});
    add(&s, &(struct array){FP16, 1, &smallest}, 0, 1);
    put(&s, bytes);
    due16[16] = 8;
    due16[18] = 50; /* 21 50 - 1074 = -24 */
    due16[24] = 1;
    cr_expect(memcmp(bytes, due16, BINNED_STATE_BYTES) == 0);

    unsigned char exact_due[EXACT_STATE_BYTES] = {'u', 'l', 'p', 'e', 1, 8, 0, 0, 2};
    begin(&s, &(struct kind){.is_exact = true});
    add(&s, &a, 0, 2);
    put(&s, bytes);
    exact_due[16 + 1074 / 8] = 1 << 1074 % 8;
    exact_due[288 + 1073 / 8] = 1 << 1073 % 8;
    cr_expect(memcmp(bytes, exact_due, EXACT_STATE_BYTES) == 0);
}
