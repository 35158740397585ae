/* All generated inputs: the same bits every time, within their array, and order-safe where they say
 * so. */
#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "experiments/inputs/philox.h"
#include "tests/support/generated.h"
#include "tests/support/golden_inputs.h"
#include "tests/support/oracle.h"

static const size_t sizes[] = {0, 1, 2, 3, 4, 7, 8, 64, 251, 1000, 1023, 1024, 1025, 4097};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Generates twice, over memory that held something else, with guards around: the same bits, and
 * nothing outside touched. */
static void generate_twice(const struct input *in, enum format f, size_t n, uint64_t seed)
{
    enum { GUARD = 64 };
    char name[INPUT_TEXT];
    input_name(in, name);
    size_t bytes = array_bytes(f, n);
    unsigned char *memory[2];
    enum status status[2];
    for (int k = 0; k < 2; k++) {
        memory[k] = malloc(bytes + 2 * GUARD);
        cr_assert(memory[k]);
        memset(memory[k], k ? 0xff : 0, bytes + 2 * GUARD);
        struct array a = {f, n, memory[k] + GUARD};
        struct problem p = {0};
        status[k] = input_generate(in, &a, seed, 0, &p);
        cr_assert(status[k] == STATUS_OK || (status[k] == STATUS_USAGE && strstr(p.text, name)),
                  "%s, n=%zu, %s: status %d: %s", name, n, format_facts[f].name, status[k], p.text);
        for (size_t i = 0; i < GUARD; i++)
            cr_assert(memory[k][i] == (k ? 0xff : 0) &&
                          memory[k][GUARD + bytes + i] == (k ? 0xff : 0),
                      "%s, n=%zu, %s: wrote outside", name, n, format_facts[f].name);
    }
    cr_assert_eq(status[0], status[1]);
    cr_assert(status[0] != STATUS_OK || memcmp(memory[0] + GUARD, memory[1] + GUARD, bytes) == 0,
              "%s, n=%zu, %s, seed %ju: other bits the second time", name, n, format_facts[f].name,
              (uintmax_t)seed);
    cr_assert(status[0] == STATUS_OK, "%s refuses n=%zu, %s", name, n, format_facts[f].name);
    free(memory[0]);
    free(memory[1]);
}

Test(input, same_bits_twice)
{
    for (size_t i = 0; i < input_family_count; i++) {
        struct input in;
        cr_assert_eq(input_parse(&in, input_families[i]->name, NULL), STATUS_OK);
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (int k = 0; k < SIZES; k++)
                for (uint64_t seed = 0; seed < 3; seed++) {
                    in.arrangement = seed ? ARRANGED_AS_GENERATED : ARRANGED_SHUFFLED;
                    generate_twice(&in, f, sizes[k], seed);
                }
    }
}

/* The seed is read where, and only where, the family says so. */
Test(input, seeds)
{
    enum { N = 1000 };
    for (size_t i = 0; i < input_family_count; i++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            const char *name = input_families[i]->name;
            struct array a = generated(name, f, N, 1, 0), b = generated(name, f, N, 2, 0);
            bool same = memcmp(a.data, b.data, array_bytes(f, N)) == 0;
            cr_assert_eq(same, !input_families[i]->uses_seed, "%s, %s: the seed %s", name,
                         format_facts[f].name, same ? "is not read" : "is read");
            free(a.data);
            free(b.data);
        }
}

/* Families whose elements do not depend on n: a longer array begins with a shorter one. */
Test(input, prefix)
{
    static const char *const specification[] = {
        "uniform", "symmetric",    "normal",     "lognormal", "ones",          "alternating",
        "cycle",   "harmonic",     "stagnation", "ties",      "full_mantissa", "subnormal",
        "relu",    "signed_zeros", "runs",       "creep"};
    for (size_t i = 0; i < sizeof specification / sizeof *specification; i++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            struct array whole = generated(specification[i], f, 5000, 3, 0);
            for (int k = 0; k < SIZES; k++) {
                struct array part = generated(specification[i], f, sizes[k], 3, 0);
                cr_assert(memcmp(part.data, whole.data, array_bytes(f, sizes[k])) == 0,
                          "%s, %s: n=%zu is no prefix of n=5000", specification[i],
                          format_facts[f].name, sizes[k]);
                free(part.data);
            }
            free(whole.data);
        }
}

static double sum_abs(const char *specification, enum format f, size_t n, double cond)
{
    struct array a = generated(specification, f, n, 1, cond);
    mpfr_t sum;
    mpfr_init2(sum, 53);
    oracle_sum(sum, &a, true);
    double rounded_up = mpfr_get_d(sum, MPFR_RNDU);
    mpfr_clear(sum);
    free(a.data);
    return rounded_up;
}

/* The largest n below 2^17 for which an input says that it is order-safe. */
static size_t last_safe(const struct input *in, enum format f)
{
    size_t safe = 0, hazard = (size_t)1 << 17;
    while (hazard - safe > 1) {
        size_t n = safe + (hazard - safe) / 2;
        *(input_order_safe(in, n, 0, f) ? &safe : &hazard) = n;
    }
    return safe;
}

/* Where order-safety is promised, the magnitudes add up to a finite number of the format. And the
 * promise is not withheld without need: with 4 times as many elements it would be broken. */
Test(input, order_safe)
{
    /* Safe for tails of 2^-128 is far from safe on average. */
    static const char *const heavy_tail = "lognormal";
    for (size_t i = 0; i < input_family_count; i++) {
        struct input in;
        const char *name = input_families[i]->name;
        cr_assert_eq(input_parse(&in, name, NULL), STATUS_OK);
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            double largest = format_facts[f].largest;
            size_t last = last_safe(&in, f);
            for (size_t n = last; n > last / 3; n -= 1 + n / 3) {
                double sum = input_order_safe(&in, n, 0, f) ? sum_abs(name, f, n, 0) : 0;
                cr_assert(sum <= largest, "%s, n=%zu, %s is not order-safe: %g", name, n,
                          format_facts[f].name, sum);
            }
            if (last + 1 < (size_t)1 << 17 && strcmp(name, heavy_tail) != 0) {
                double sum = sum_abs(name, f, 4 * last + 4, 0);
                cr_assert(!(sum <= largest), "%s, n=%zu, %s is order-safe, and not said to be: %g",
                          name, 4 * last + 4, format_facts[f].name, sum);
            }
        }
    }
}

/* With parameters that are not the default ones, too. */
Test(input, order_safe_with_parameters)
{
    static const char *const specification[] = {"uniform:scale=60000",
                                                "symmetric:scale=700",
                                                "normal:mean=30:sigma=5",
                                                "lognormal:sigma=2",
                                                "lognormal:sigma=80",
                                                "ones:value=-65504",
                                                "ones:value=70.3",
                                                "relu:shift=3",
                                                "relu:shift=-3",
                                                "cancellation:gap=4",
                                                "kahan_killer:gap=1",
                                                "ladder:rungs=2",
                                                "ladder:rungs=4",
                                                "spike:value=-65504",
                                                "ties:negative=1",
                                                "subnormal:sign=1",
                                                "cond:sum=-1000",
                                                "cond:sum=65504",
                                                "infs:sign=0",
                                                "nans:infs=3",
                                                "signed_zeros:negative=1",
                                                "plateau:gap=4",
                                                "plateau:gap=1:before=0",
                                                "walk:drift=1:returns=5",
                                                "runs:length=5:binades=0",
                                                "runs:length=3000:binades=1",
                                                "creep:step=1e6",
                                                "inf_segment:nan=1"};
    for (size_t i = 0; i < sizeof specification / sizeof *specification; i++) {
        struct input in;
        cr_assert_eq(input_parse(&in, specification[i], NULL), STATUS_OK);
        size_t last = last_safe(&in, FP16);
        for (size_t n = last; n > 0; n /= 2) {
            double sum = sum_abs(specification[i], FP16, n, 0);
            cr_assert(!input_order_safe(&in, n, 0, FP16) || sum <= format_facts[FP16].largest,
                      "%s, n=%zu, fp16 is not order-safe: %g", specification[i], n, sum);
        }
    }
}

/* Asked for more than a format holds: refused, with a line that names family and format. */
Test(input, refuses)
{
    static const struct {
        const char *specification;
        enum format f;
        size_t n;
        double cond;
    } cases[] = {
        {"uniform:scale=1e6", FP16, 100, 0},
        {"symmetric:scale=1e39", BF16, 100, 0},
        {"normal:mean=70000", FP16, 1, 0},
        {"ones:value=65520", FP16, 3, 0},
        {"ones:value=-1e300", FP32, 3, 0},
        {"spike:value=1e39", FP32, 3000, 0},
        {"cancellation:gap=5", FP16, 2, 0},
        {"plateau:gap=5", FP16, 2, 0},
        {"plateau:gap=1000", FP64, 2, 0},
        {"kahan_killer:gap=120", BF16, 8, 0},
        {"ladder:rungs=5", FP16, 9, 0},
        {"ladder:rungs=34", BF16, 67, 0},
        {"cond:sum=0", FP64, 10, 0},
        {"cond:sum=0.1", FP16, 10, 0},
        {"cond:sum=2^-150", FP32, 10, 0},
        {"cond", FP16, 1, 2},
        {"cond", FP32, 2, 1e10},
        {"cond", FP16, 1000, 1e12},
        {"cond", FP64, 10, 0.5},
        {"cond", FP64, 10, NAN},
        {"cond", FP64, 10, INFINITY},
        {"cond", FP64, 10, -1},
        {"cond:sum=1e308", FP64, 10, 1e308},
        {"cond:sum=1.0009765626", FP32, 1, 1},
        {"normal:sigma=1e308", FP64, 1000, 0},
        {"ones:value=1e6", E4M3, 3, 0}, /* a format without infinity has NaN there */
        {"uniform:scale=1e6", E5M2, 100, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct input in;
        struct problem p = {0};
        struct array a = {cases[i].f, cases[i].n, malloc(array_bytes(cases[i].f, cases[i].n))};
        cr_assert_eq(input_parse(&in, cases[i].specification, &p), STATUS_OK, "%s", p.text);
        cr_assert_eq(input_generate(&in, &a, 1, cases[i].cond, &p), STATUS_USAGE,
                     "%s, n=%zu, %s, cond %g is taken", cases[i].specification, cases[i].n,
                     format_facts[cases[i].f].name, cases[i].cond);
        cr_assert(strstr(p.text, in.family->name), "%s: %s", cases[i].specification, p.text);
        cr_assert(strstr(p.text, "expected") || strstr(p.text, "at most") ||
                      strstr(p.text, "choose") || strstr(p.text, "has room for") ||
                      strstr(p.text, "out of reach"),
                  "%s: no word of what is expected: %s", cases[i].specification, p.text);
        free(a.data);
    }
}

/* What it says is in reach is so. */
Test(input, dot_cond_tells_its_reach)
{
    size_t refused = 0;
    for (enum format f = 0; f < FORMATS; f++)
        for (size_t n = 1; n < 200; n++) {
            struct input in;
            struct problem p = {0};
            struct array a = {f, 2 * n, malloc(array_bytes(f, 2 * n))};
            cr_assert_eq(input_parse(&in, "dot_cond", &p), STATUS_OK);
            enum status status = input_generate_pair(&in, &a, 1, 0x1p1000, &p);
            const char *reach = strstr(p.text, "; expected at most 2^");
            cr_assert(status == STATUS_OK || reach || strstr(p.text, "; expected a greater n"),
                      "%s", p.text);
            refused += status != STATUS_OK;
            if (reach) {
                double cond = ldexp(1, atoi(reach + strlen("; expected at most 2^")));
                cr_expect_eq(input_generate_pair(&in, &a, 1, cond, &p), STATUS_OK, "%s, n=%zu: %g",
                             format_facts[f].name, n, cond);
            }
            free(a.data);
        }
    cr_expect_gt(refused, 600);
}

/* The bits themselves, as they were when they were first published. A change of bits is a change
 * of every result ever computed from them: it needs a reason, and a new table. The row to put
 * there is printed. */
Test(input, golden)
{
    size_t rows = sizeof golden_inputs / sizeof *golden_inputs;
    for (size_t i = 0; i < input_family_count; i++) {
        size_t row = 0;
        while (row < rows && strcmp(golden_inputs[row].specification, input_families[i]->name) != 0)
            row++;
        cr_expect(row < rows, "no row for %s; generate one with any hashes",
                  input_families[i]->name);
    }
    for (size_t row = 0; row < rows; row++) {
        unsigned long long hash[ACCUMULATORS];
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            struct array a =
                generated(golden_inputs[row].specification, f, GOLDEN_N, GOLDEN_SEED, 0);
            hash[f] = XXH3_64bits(a.data, array_bytes(f, GOLDEN_N));
            free(a.data);
        }
        const char *name = golden_inputs[row].specification;
        cr_expect(memcmp(hash, golden_inputs[row].hash, sizeof hash) == 0,
                  "{\"%s\", {0x%016llx, 0x%016llx, 0x%016llx, 0x%016llx}},", name, hash[FP16],
                  hash[BF16], hash[FP32], hash[FP64]);
    }
}
