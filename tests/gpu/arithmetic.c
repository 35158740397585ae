/* The device converts and adds as reference/format/format.h does, encoding by encoding. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "tests/gpu/arithmetic_kernel.h"
#include "tests/support/samples.h"

enum { ENCODINGS = 65536 };

static void *room(size_t n, enum format f)
{
    void *memory = malloc(n * (size_t)format_facts[f].bytes);
    cr_assert(memory, "no memory for %zu values", n);
    return memory;
}

static void hold_conversion(const struct array *in, enum format to)
{
    enum format from = in->format;
    struct array out = {to, in->n, room(in->n, to)};
    cr_assert_eq(gpu_arithmetic_convert(from, to, in->data, in->n, out.data), 0);
    for (size_t i = 0; i < in->n; i++) {
        uint64_t bits = array_bits(in, i), got = format_canonical(to, array_bits(&out, i));
        uint64_t want = format_encode(to, format_decode(from, bits));
        cr_assert_eq(got, want, "%s %#" PRIx64 " to %s: %#" PRIx64 ", expected %#" PRIx64,
                     format_facts[from].name, bits, format_facts[to].name, got, want);
    }
    free(out.data);
}

Test(gpu_arithmetic, every_narrow_encoding_converts)
{
    static const enum format narrow[] = {FP16, BF16, E4M3, E5M2};
    for (size_t k = 0; k < sizeof narrow / sizeof *narrow; k++) {
        enum format from = narrow[k];
        struct array in = {from, ENCODINGS, room(ENCODINGS, from)};
        for (size_t i = 0; i < ENCODINGS; i++)
            array_set_bits(&in, i, i);
        for (enum format to = 0; to < ACCUMULATORS; to++)
            hold_conversion(&in, to);
        free(in.data);
    }
}

/* Just below, at and just above the middle between each finite value of a narrow format and its
 * neighbour: one rounding gets them right, two do not. */
Test(gpu_arithmetic, boundaries_round_once)
{
    for (enum format from = FP32; from <= FP64; from++)
        for (enum format to = FP16; to <= BF16; to++) {
            struct array in = {from, 3 * ENCODINGS, room(3 * ENCODINGS, from)};
            for (size_t i = 0; i < ENCODINGS; i++) {
                double x = format_decode(to, i), above = format_next_up(to, x);
                double middle = x + (above - x) / 2;
                double around[3] = {format_next_down(from, middle), middle,
                                    format_next_up(from, middle)};
                array_encode(&in, 3 * i, 3, around);
            }
            hold_conversion(&in, to);
            free(in.data);
        }
}

Test(gpu_arithmetic, random_values_convert)
{
    enum { COUNT = 1 << 18 };
    for (enum format from = FP32; from <= FP64; from++)
        for (enum format to = 0; to < ACCUMULATORS; to++)
            for (enum sample kind = 0; kind < SAMPLES; kind++) {
                struct array in = {from, COUNT, room(COUNT, from)};
                sample_fill(&in, kind, to, 1 + kind);
                hold_conversion(&in, to);
                free(in.data);
            }
}

static void hold_sums(const struct array *a, const struct array *b)
{
    enum format f = a->format;
    struct array out = {f, a->n, room(a->n, f)};
    cr_assert_eq(gpu_arithmetic_add(f, a->data, b->data, a->n, out.data), 0);
    for (size_t i = 0; i < a->n; i++) {
        uint64_t x = array_bits(a, i), y = array_bits(b, i);
        uint64_t got = format_canonical(f, array_bits(&out, i));
        uint64_t want = format_encode(f, format_add(f, format_decode(f, x), format_decode(f, y)));
        cr_assert_eq(got, want, "%s %#" PRIx64 " + %#" PRIx64 ": %#" PRIx64 ", expected %#" PRIx64,
                     format_facts[f].name, x, y, got, want);
    }
    free(out.data);
}

/* Every encoding of a narrow format plus each of some: zeros, ones, the edges of the subnormal and
 * of the finite numbers, inf, NaN, and random ones. */
Test(gpu_arithmetic, every_narrow_encoding_adds)
{
    enum { PARTNERS = 48 };
    uint64_t state = 2024;
    for (enum format f = FP16; f <= BF16; f++) {
        struct array a = {f, ENCODINGS, room(ENCODINGS, f)};
        struct array b = {f, ENCODINGS, room(ENCODINGS, f)};
        const struct format_facts *facts = &format_facts[f];
        double edge[] = {0,
                         1,
                         facts->smallest,
                         facts->smallest_normal,
                         facts->largest,
                         INFINITY,
                         NAN,
                         facts->smallest_normal - facts->smallest};
        for (size_t k = 0; k < PARTNERS; k++) {
            uint64_t partner =
                k < 16 ? format_encode(f, k % 2 ? -edge[k / 2] : edge[k / 2]) : sample_next(&state);
            for (size_t i = 0; i < ENCODINGS; i++) {
                array_set_bits(&a, i, i);
                array_set_bits(&b, i, partner);
            }
            hold_sums(&a, &b);
        }
        free(a.data);
        free(b.data);
    }
}

Test(gpu_arithmetic, random_values_add)
{
    enum { COUNT = 1 << 18 };
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (enum sample kind = 0; kind < SAMPLES; kind++) {
            struct array a = {f, COUNT, room(COUNT, f)}, b = {f, COUNT, room(COUNT, f)};
            sample_fill(&a, kind, f, 11 + kind);
            sample_fill(&b, kind, f, 23 + kind);
            hold_sums(&a, &b);
            free(a.data);
            free(b.data);
        }
}
