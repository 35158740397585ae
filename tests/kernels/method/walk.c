/* Every method with an order computes what a plain walk of that order computes. */
#include <criterion/criterion.h>

#include "kernels/blocks/tiled.h"
#include "tests/support/holds.h"
#include "tests/support/samples.h"

Test(walk, every_method_follows_its_order)
{
    char why[WHY] = "";
    size_t walked = 0;
    for (size_t i = 0; i < method_count; i++)
        if (method_registry[i]->order && method_registry[i]->cpu) {
            cr_expect(holds_walk(method_registry[i], why), "%s", why);
            walked++;
        }
    cr_expect(walked >= 10, "only %zu methods with an order", walked);
}

/* Each variant of the fast path, on each kind of sample, against the specification. */
Test(walk, fast_tiles_are_plain_tiles)
{
    enum { TILES = 5 };
    static double data[TILES * TILE], plain[TILES], fast[TILES];
    size_t tried = 0;
    for (size_t v = 0; v < tiled_variants; v++) {
        if (!tiled_variant[v].available())
            continue;
        tried++;
        for (enum format s = 0; s < ACCUMULATORS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++)
                for (uint64_t k = 0; k < 4 * SAMPLES; k++) {
                    struct array in = {s, TILES * TILE, data};
                    sample_fill(&in, k % SAMPLES, f, k);
                    if (k % SAMPLES == SAMPLE_BITS) /* else all sums are NaN */
                        for (size_t i = 0; i < in.n; i++)
                            if (i % (2 * TILE) > 3 && array_get(&in, i) - array_get(&in, i) != 0)
                                array_set_bits(&in, i, i);
                    tiled_plain(&in, f, 1, TILES - 1, plain);
                    tiled_variant[v].sums(&in, f, 1, TILES - 1, fast);
                    for (size_t i = 0; i < TILES - 1; i++)
                        cr_assert_eq(format_encode(f, plain[i]), format_encode(f, fast[i]),
                                     "%s, %s to %s, sample %s, seed %d, tile %zu: %a, plain %a",
                                     tiled_variant[v].name, format_facts[s].name,
                                     format_facts[f].name, sample_name[k % SAMPLES], (int)k, i + 1,
                                     fast[i], plain[i]);
                }
    }
    cr_assert(tried > 0);
}
