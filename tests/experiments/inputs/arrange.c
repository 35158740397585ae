/* Arrangements: permutations, in the order that was asked for, stable, reproducible. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/inputs/input.h"
#include "experiments/inputs/philox.h"

enum { SEED = 5 };

/* An array with many equal elements, both zeros, subnormals, infinities and NaN of two payloads. */
static struct array mixed(enum format f, size_t n, uint64_t seed)
{
    struct array a = {f, n, malloc(array_bytes(f, n) + 1)};
    uint64_t all = UINT64_MAX >> (64 - 8 * format_facts[f].bytes), sign = all ^ all >> 1;
    uint64_t inf = format_encode(f, INFINITY);
    cr_assert(a.data);
    for (size_t i = 0; i < n; i++) {
        struct draw d = random_draw(seed, RANDOM_VALUES, i);
        const uint64_t kinds[] = {
            d.word[1],           d.word[1] % 5,      inf, inf | 1 | d.word[1] % 4,
            inf - d.word[1] % 3, d.word[1] % 7 << 4, 0};
        uint64_t kind = kinds[d.word[0] % 7] & (all ^ sign);
        array_set_bits(&a, i, kind | (d.word[0] >> 63 ? sign : 0));
    }
    return a;
}

static struct array copy_of(const struct array *a)
{
    struct array copy = *a;
    copy.data = malloc(array_bytes(a->format, a->n) + 1);
    cr_assert(copy.data);
    memcpy(copy.data, a->data, array_bytes(a->format, a->n));
    return copy;
}

static int by_bits(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The encodings of an array, sorted: what a permutation leaves alone. */
static uint64_t *sorted_bits(const struct array *a)
{
    uint64_t *bits = malloc((a->n + 1) * sizeof *bits);
    cr_assert(bits);
    for (size_t i = 0; i < a->n; i++)
        bits[i] = array_bits(a, i);
    qsort(bits, a->n, sizeof *bits, by_bits);
    return bits;
}

/* Must x not come after y? */
static bool in_order(enum arrangement how, double x, double y)
{
    if (isnan(x) || isnan(y))
        return isnan(y);
    if (how == ARRANGED_BY_MAGNITUDE)
        return fabs(x) <= fabs(y);
    if (how == ARRANGED_DESCENDING)
        return x > y || (x == y && signbit(x) <= signbit(y));
    return x < y || (x == y && signbit(x) >= signbit(y));
}

Test(input_arrange, sorted)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (enum arrangement how = ARRANGED_ASCENDING; how <= ARRANGED_BY_MAGNITUDE; how++)
            for (size_t n = 0; n < 6000; n += 1 + n / 2) {
                struct array before = mixed(f, n, SEED), after = copy_of(&before);
                cr_assert_eq(input_arrange(&after, how, 0, NULL), STATUS_OK);
                for (size_t i = 1; i < n; i++)
                    cr_assert(in_order(how, array_get(&after, i - 1), array_get(&after, i)),
                              "%s, %s, n=%zu: element %zu, %a, is before %a", format_facts[f].name,
                              arrangement_name[how], n, i - 1, array_get(&after, i - 1),
                              array_get(&after, i));
                uint64_t *x = sorted_bits(&before), *y = sorted_bits(&after);
                cr_assert(memcmp(x, y, n * sizeof *x) == 0, "%s, %s, n=%zu: other elements",
                          format_facts[f].name, arrangement_name[how], n);
                free(x), free(y), free(before.data), free(after.data);
            }
}

/* Equal elements keep their order: +-x by magnitude, NaN of any payload in each. */
Test(input_arrange, stable)
{
    enum { N = 4000 };
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (enum arrangement how = ARRANGED_ASCENDING; how <= ARRANGED_BY_MAGNITUDE; how++) {
            struct array before = mixed(f, N, SEED), after = copy_of(&before);
            bool taken[N] = {false};
            cr_assert_eq(input_arrange(&after, how, 0, NULL), STATUS_OK);
            /* Each element of the result is the first of its equals that was not taken yet. */
            for (size_t i = 0; i < N; i++) {
                double x = array_get(&after, i);
                size_t j = 0;
                while (j < N && (taken[j] || !in_order(how, array_get(&before, j), x) ||
                                 !in_order(how, x, array_get(&before, j))))
                    j++;
                cr_assert(j < N && array_bits(&before, j) == array_bits(&after, i),
                          "%s, %s: element %zu, %a, is out of its turn", format_facts[f].name,
                          arrangement_name[how], i, x);
                taken[j] = true;
            }
            free(before.data), free(after.data);
        }
}

Test(input_arrange, shuffled)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (size_t n = 0; n < 6000; n += 1 + n / 2) {
            struct array before = mixed(f, n, SEED), once = copy_of(&before),
                         again = copy_of(&before), other = copy_of(&before);
            cr_assert_eq(input_arrange(&once, ARRANGED_SHUFFLED, 1, NULL), STATUS_OK);
            cr_assert_eq(input_arrange(&again, ARRANGED_SHUFFLED, 1, NULL), STATUS_OK);
            cr_assert_eq(input_arrange(&other, ARRANGED_SHUFFLED, 2, NULL), STATUS_OK);
            size_t bytes = array_bytes(f, n);
            cr_assert(memcmp(once.data, again.data, bytes) == 0, "n=%zu: not reproducible", n);
            cr_assert(n < 20 || memcmp(once.data, other.data, bytes) != 0, "n=%zu: no seed", n);
            uint64_t *x = sorted_bits(&before), *y = sorted_bits(&once);
            cr_assert(memcmp(x, y, n * sizeof *x) == 0, "%s, n=%zu: other elements",
                      format_facts[f].name, n);
            free(x), free(y), free(before.data), free(once.data), free(again.data),
                free(other.data);
        }
}

/* Every permutation of 4 elements is equally likely: 24,000 seeds, chi^2 with 23 degrees of freedom
 * exceeds 70 once in 10^6. */
Test(input_arrange, shuffled_uniformly)
{
    enum { EACH = 1000, PERMUTATIONS = 24 };
    unsigned seen[256] = {0};
    for (uint64_t seed = 0; seed < EACH * PERMUTATIONS; seed++) {
        float x[] = {0, 1, 2, 3};
        struct array a = {FP32, 4, x};
        cr_assert_eq(input_arrange(&a, ARRANGED_SHUFFLED, seed, NULL), STATUS_OK);
        seen[(int)(x[0] * 64 + x[1] * 16 + x[2] * 4 + x[3])]++;
    }
    double chi2 = 0;
    int permutations = 0;
    for (int i = 0; i < 256; i++)
        if (seen[i]) {
            permutations++;
            chi2 += ((double)seen[i] - EACH) * ((double)seen[i] - EACH) / EACH;
        }
    cr_assert_eq(permutations, PERMUTATIONS, "%d permutations were seen", permutations);
    cr_assert(chi2 <= 70, "chi^2 = %g", chi2);
}

Test(input_arrange, as_generated)
{
    struct array a = mixed(FP64, 500, SEED), b = copy_of(&a);
    cr_assert_eq(input_arrange(&a, ARRANGED_AS_GENERATED, 1, NULL), STATUS_OK);
    cr_assert(memcmp(a.data, b.data, array_bytes(FP64, 500)) == 0);
    free(a.data), free(b.data);
}
