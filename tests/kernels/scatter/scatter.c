/* Scatter-adds. What every method is held to, holds.h holds them to as well, bin by bin. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "kernels/scatter/ordered.h"
#include "kernels/blocks/tiled.h"
#include "reference/exact/by_bin.h"
#include "tests/support/samples.h"
#include "tests/mutants/caught.h"
#include "tests/support/scatter_case.h"

Test(scatter, fixed_orders_and_rounding_bit_by_bit)
{
    char why[WHY] = "";
    size_t checked = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (m->operation != &operation_scatter || m->promise < PROMISE_GPU_TO_GPU)
            continue;
        cr_expect(holds_scatter_bits(m, why), "%s", why);
        checked++;
    }
    cr_expect(checked >= 3);
}

Test(scatter, every_mutant_is_caught)
{
    mutants_expect_caught(scatter_mutants, scatter_mutant_count);
}

/* At most 4096 pieces, of whole rows; short arrays have pieces of 1024. */
Test(scatter, pieces)
{
    static const size_t n[] = {
        0, 1, 1024, 1025, 4096 * 1024, 4096 * 1024 + 1, 1 << 26, 3 << 24, SIZE_MAX, SIZE_MAX / 2};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        size_t piece = ordered_piece(n[i]);
        cr_expect(piece % (ORDERED_ROW * ORDERED_ROWS) == 0 && (piece & (piece - 1)) == 0);
        cr_expect((n[i] ? (n[i] - 1) / piece + 1 : 0) <= ORDERED_PIECES, "n = %zu: %zu", n[i],
                  piece);
        cr_expect(piece == 1024 || (n[i] - 1) / (piece / 2) + 1 > ORDERED_PIECES, "n = %zu", n[i]);
    }
}

/* Every index once, with its own key, ascending in its bin. */
Test(scatter, stable_order_of_keys)
{
    enum { N = 700 };
    static const size_t bins[] = {1, 2, 30, 5000};
    uint32_t key[N];
    for (size_t k = 0; k < 4; k++)
        for (enum scatter_keys how = 0; how < SCATTER_KEYS; how++) {
            struct by_bin b;
            size_t seen = 0, most = 0, n = how == SCATTER_SKEWED && k == 0 ? 0 : N;
            scatter_keys_fill(key, n, bins[k], how, k);
            cr_assert(by_bin_make(&b, key, n, bins[k], NULL) == STATUS_OK);
            for (size_t bin = 0; bin < bins[k]; bin++) {
                size_t count = by_bin_count(&b, bin);
                most = count > most ? count : most;
                for (size_t i = b.start[bin]; i < b.start[bin + 1]; i++, seen++)
                    cr_assert(key[b.element[i]] == bin &&
                                  (i == b.start[bin] || b.element[i - 1] < b.element[i]),
                              "%zu bins, %d: place %zu", bins[k], (int)how, i);
            }
            cr_expect(seen == n && b.start[0] == 0 && b.start[bins[k]] == n);
            size_t fullest = by_bin_fullest(&b);
            cr_expect(by_bin_count(&b, fullest) == most);
            for (size_t bin = 0; bin < fullest; bin++)
                cr_expect(by_bin_count(&b, bin) < most, "%zu before %zu", bin, fullest);
            by_bin_free(&b);
        }
}

/* What no rounding hides: sums of small whole numbers, and -0 in bins of nothing else, by every
 * method, with a bin of more than a tile, by several threads, over what was there before. */
Test(scatter, nothing_is_lost_and_zeros_keep_their_sign)
{
    enum { BIG = TILE + 5, N = BIG + 300, BINS = 5 };
    for (size_t k = 0; k < 3 * method_count; k++) {
        const struct method *m = method_registry[k / 3];
        unsigned threads = 1 + k % 3;
        char why[WHY] = "";
        if (m->operation != &operation_scatter || !m->cpu)
            continue;
        struct scatter *s = scatter_new(m);
        s->in.format = s->accumulator = s->out.format = FP32;
        s->in.n = N;
        s->bins = BINS;
        s->shape = (struct shape){threads, threads};
        scatter_shape(s);
        double due[BINS] = {0, 0, 0, -0.0, 0};
        for (size_t i = 0; i < N; i++) {
            s->key[i] = i < BIG ? 0 : 1 + (uint32_t)i % 3;
            double x = s->key[i] == 3 ? -0.0 : 1 + (double)(i % 4);
            array_encode(&s->in, i, 1, &x);
            due[s->key[i]] += x;
        }
        memset(s->out.data, 0x55, array_bytes(FP32, BINS));
        cr_assert(scatter_run(s, why), "%s: %s", m->name, why);
        for (size_t b = 0; b < BINS; b++)
            cr_expect(format_encode(FP32, array_get(&s->out, b)) == format_encode(FP32, due[b]),
                      "%s, %u threads: bin %zu is %g, expected %g", m->name, threads, b,
                      array_get(&s->out, b), due[b]);
        scatter_free(s, true);
    }
}
