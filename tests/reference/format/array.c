/* Arrays in their storage format: blocks at any place, bits, sizes. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "reference/format/array.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

/* Every encoding of 16 bits, in blocks of every alignment and small odd sizes. */
Test(array, decodes_blocks_at_any_place)
{
    uint64_t seed = 51;
    for (enum format f = 0; f < FORMATS; f++) {
        struct array a = {f, 70000, malloc(array_bytes(f, 70000))};
        for (size_t i = 0; i < a.n; i++)
            array_set_bits(&a, i, f <= BF16 ? i : sample_next(&seed));
        double block[ARRAY_BLOCK + 1];
        for (size_t begin = 0, step = 0; begin < a.n; begin += step) {
            step = 1 + sample_next(&seed) % (begin < 4000 ? 40 : ARRAY_BLOCK);
            step = step < a.n - begin ? step : a.n - begin;
            block[step] = 12345;
            array_decode(&a, begin, step, block);
            cr_assert(block[step] == 12345, "%s: wrote beyond the block", format_facts[f].name);
            for (size_t i = 0; i < step; i++) {
                double due = format_decode(f, array_bits(&a, begin + i));
                cr_assert(same_double(block[i], due), "%s [%zu]: %a, not %a", format_facts[f].name,
                          begin + i, block[i], due);
                cr_assert(same_double(array_get(&a, begin + i), due), "%s [%zu]: array_get",
                          format_facts[f].name, begin + i);
            }
        }
        free(a.data);
    }
}

Test(array, encodes_what_it_is_given_and_nothing_beside)
{
    uint64_t seed = 52;
    for (enum format f = 0; f < FORMATS; f++) {
        struct array a = {f, 64, malloc(array_bytes(f, 64))};
        for (int round = 0; round < 2000; round++) {
            for (size_t i = 0; i < a.n; i++)
                array_set_bits(&a, i, i + 1);
            double in[64];
            size_t begin = sample_next(&seed) % 64, count = sample_next(&seed) % (65 - begin);
            for (size_t i = 0; i < count; i++)
                in[i] = double_from_bits(sample_next(&seed));
            array_encode(&a, begin, count, in);
            for (size_t i = 0; i < a.n; i++) {
                bool inside = i >= begin && i < begin + count;
                uint64_t due = inside ? format_encode(f, in[i - begin]) : i + 1;
                cr_assert(array_bits(&a, i) == due, "%s [%zu]", format_facts[f].name, i);
            }
        }
        free(a.data);
    }
}

Test(array, sizes_that_do_not_fit_are_told)
{
    cr_expect(array_bytes(FP16, 0) == 0);
    cr_expect(array_bytes(FP16, 3) == 6 && array_bytes(BF16, 3) == 6);
    cr_expect(array_bytes(FP32, 3) == 12 && array_bytes(FP64, 3) == 24);
    cr_expect(array_bytes(FP64, SIZE_MAX / 8) == SIZE_MAX / 8 * 8);
    cr_expect(array_bytes(FP64, SIZE_MAX / 8 + 1) == SIZE_MAX);
    cr_expect(array_bytes(FP16, SIZE_MAX) == SIZE_MAX);
}
