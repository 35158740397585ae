/* sum/split against a walk of its own: MPFR rounds each addition, and each sum that is stored. */
#include <criterion/criterion.h>

#include <mpfr.h>

#include "tests/support/holds.h"
#include "tests/support/samples.h"

enum { N = 300 };

/* x in f, by MPFR. Subnormal numbers and overflow too: the ranges of the samples below need them.
 */
static double rounded(enum format f, mpfr_t x)
{
    const struct format_facts *facts = &format_facts[f];
    mpfr_t to;
    mpfr_init2(to, facts->precision);
    mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
    mpfr_set_emin(facts->emin - facts->precision + 2);
    mpfr_set_emax(facts->emax + 1);
    int ternary = mpfr_set(to, x, MPFR_RNDN);
    ternary = mpfr_check_range(to, ternary, MPFR_RNDN);
    mpfr_subnormalize(to, ternary, MPFR_RNDN);
    mpfr_set_emin(least);
    mpfr_set_emax(most);
    double value = mpfr_get_d(to, MPFR_RNDN);
    mpfr_clear(to);
    return value;
}

static double sum_of(enum format f, double a, double b)
{
    mpfr_t exact;
    mpfr_init2(exact, 2200);
    mpfr_set_d(exact, a, MPFR_RNDN);
    mpfr_add_d(exact, exact, b, MPFR_RNDN);
    double sum = rounded(f, exact);
    mpfr_clear(exact);
    return a == 0 && b == 0 ? a + b : sum;
}

static double into(enum format f, double x)
{
    mpfr_t exact;
    mpfr_init2(exact, 53);
    mpfr_set_d(exact, x, MPFR_RNDN);
    double value = rounded(f, exact);
    mpfr_clear(exact);
    return value;
}

/* What is due of `chunks` chunks. */
static double due(const struct array *in, enum format f, size_t chunks)
{
    size_t length = (in->n + chunks - 1) / chunks;
    double total = 0;
    for (size_t i = 0, left = 0; i < in->n; i += left) {
        left = in->n - i < length ? in->n - i : length;
        double part = into(f, array_get(in, i));
        for (size_t k = 1; k < left; k++)
            part = sum_of(f, part, into(f, array_get(in, i + k)));
        part = into(f, into(in->format, part));
        total = i == 0 ? part : sum_of(f, total, part);
    }
    return total;
}

Test(split, each_chunk_is_stored_once)
{
    const struct method *m = method_named("sum/split");
    double data[N];
    uint64_t seed = 5;
    size_t stored = 0;
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (unsigned k = 0; k < 40; k++) {
                struct array in = {s, 1 + sample_next(&seed) % N, data};
                struct shape asked = {0, 1 + (unsigned)(sample_next(&seed) % 20)};
                uint64_t bits = 0;
                sample_fill(&in, SAMPLE_NEAR, f, seed);
                double want = due(&in, f, asked.blocks);
                cr_assert_eq(run_method_once(m, &in, f, asked, &bits), STATUS_OK);
                cr_assert_eq(bits, format_encode(f, want), "%s/%s, n = %zu, %u blocks: %a, due %a",
                             format_facts[s].name, format_facts[f].name, in.n, asked.blocks,
                             format_decode(f, bits), want);
                struct array wide = in;
                stored += want != due(&wide, f, 1);
            }
    cr_assert(stored > 100, "only %zu differ from one chunk", stored);
}

/* Without --blocks, on every device: the least power of two from the root of n on, and 8 at least.
 */
Test(split, usual_chunks)
{
    const struct method *m = method_named("sum/split");
    static const size_t n[] = {0, 1, 64, 65, 256, 257, (size_t)1 << 28, ((size_t)1 << 28) + 1};
    static const unsigned due[] = {8, 8, 8, 16, 16, 32, 1 << 14, 1 << 15};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        for (enum device_kind d = 0; d < DEVICE_KINDS; d++)
            cr_expect(method_shape(m, d, n[i], (struct shape){0, 0}).blocks == due[i], "n = %zu",
                      n[i]);
    cr_expect(method_shape(m, DEVICE_CPU, SIZE_MAX / 2, (struct shape){0, 0}).blocks <= BLOCKS_MAX);
}

/* 256 ones and another one, in two chunks: bf16 has no 257, nor has it 513; in fp32 all is exact.
 */
Test(split, stores_in_the_storage)
{
    const struct method *m = method_named("sum/split");
    uint16_t ones[514];
    struct array in = {BF16, 514, ones};
    uint32_t bits = 0;
    for (size_t i = 0; i < in.n; i++)
        array_encode(&in, i, 1, &(double){1});
    cr_assert_eq(run_method_once(m, &in, FP32, (struct shape){0, 2}, &bits), STATUS_OK);
    cr_assert_eq(format_decode(FP32, bits), 512);
    cr_assert_eq(run_method_once(m, &in, FP32, (struct shape){0, 1}, &bits), STATUS_OK);
    cr_assert_eq(format_decode(FP32, bits), 512);
    in.n = 512;
    cr_assert_eq(run_method_once(m, &in, FP32, (struct shape){0, 2}, &bits), STATUS_OK);
    cr_assert_eq(format_decode(FP32, bits), 512);
}
