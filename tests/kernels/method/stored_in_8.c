/* Elements of 8 bits are numbers of fp16, too: stored in either, they give a method the same bits.
 * What is held of methods whose elements are stored in fp16 is so held of these. */
#include <criterion/criterion.h>

#include "kernels/method/method.h"
#include "tests/support/samples.h"

enum { MOST = 9000, ROWS = 6 };

static uint8_t narrow[2][MOST], mask[MOST];
static uint16_t wide[2][MOST];
static uint32_t key[MOST];
static double out[2][MOST]; /* room for any format */

/* Random encodings; every other time without what is not finite, which hides all else. The second
 * array is small: its products with the first seldom overflow. */
static void fill(enum format storage, size_t n, uint64_t seed)
{
    for (int k = 0; k < 2; k++) {
        struct array bytes = {storage, n, narrow[k]}, halves = {FP16, n, wide[k]};
        for (size_t i = 0; i < n; i++) {
            uint64_t bits = sample_next(&seed) & 0xff;
            if (seed % 2 == 0 && k == 0)
                bits &= 0xbf;
            narrow[k][i] = (uint8_t)(k == 0 ? bits : bits & 0xbf);
            double x = array_get(&bytes, i);
            if (n % 2 == 0 && x - x != 0)
                narrow[k][i] = 0x80;
            x = array_get(&bytes, i);
            array_encode(&halves, i, 1, &x);
        }
    }
    for (size_t i = 0; i < n; i++) {
        key[i] = (uint32_t)(sample_next(&seed) % ROWS);
        mask[i] = sample_next(&seed) % 3 == 0;
    }
}

static bool moves(const struct method *m)
{
    return m->operation == &operation_transpose || m->operation == &operation_compact;
}

/* The results of the first n elements, stored in 8 bits or in 16. */
static struct array run(const struct method *m, enum format storage, enum format accumulator,
                        size_t n, bool widened)
{
    struct operands of = {
        .in = {widened ? FP16 : storage, n, widened ? (void *)wide[0] : narrow[0]},
        .exclusive = n % 3 == 1,
        .heads = m->segmented ? mask : NULL,
        .mask = m->operation->mask ? mask : NULL,
        .keys = m->operation->keys ? key : NULL,
        .product = m->product,
        .bins = ROWS,
        .stride = n % 4 ? 1 : ROWS};
    if (m->operation->inputs == 2)
        of.in2 = (struct array){of.in.format, n, widened ? (void *)wide[1] : narrow[1]};
    for (size_t i = 0; m->operation->mask && i < n; i++)
        of.bins = (i == 0 ? 0 : of.bins) + mask[i];
    struct task task = {.of = &of,
                        .out = {moves(m) ? of.in.format : accumulator,
                                m->operation->outputs(n, of.bins), out[widened]},
                        .accumulator = moves(m) ? of.in.format : accumulator,
                        .shape = method_shape(m, DEVICE_CPU, n, (struct shape){1, 2}),
                        .method = m,
                        .device = -1};
    memset(out[widened], 0xff, sizeof out[widened]);
    cr_assert(m->cpu(&task, NULL) == STATUS_OK, "%s", m->name);
    return task.out;
}

static void expect_same(const struct method *m, enum format storage, enum format accumulator,
                        size_t n)
{
    struct array of_8 = run(m, storage, accumulator, n, false);
    struct array of_16 = run(m, storage, accumulator, n, true);
    for (size_t i = 0; i < of_8.n; i++)
        cr_assert(format_encode(FP64, array_get(&of_8, i)) ==
                      format_encode(FP64, array_get(&of_16, i)),
                  "%s, %s to %s, n = %zu, output %zu: %a, stored in fp16 %a", m->name,
                  format_facts[storage].name, format_facts[of_8.format].name, n, i,
                  array_get(&of_8, i), array_get(&of_16, i));
}

/* Lengths that rows divide, with and without full tiles. */
Test(stored_in_8, gives_the_bits_of_the_same_numbers_in_fp16)
{
    static const size_t lengths[] = {ROWS, 36, 1020, 3 * 1026, MOST};
    size_t tried = 0;
    for (enum format s = 0; s < FORMATS; s++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths && format_facts[s].bytes == 1;
             l++) {
            fill(s, lengths[l], s + l);
            for (size_t i = 0; i < method_count; i++)
                for (enum format f = 0; f < ACCUMULATORS && method_registry[i]->cpu; f++) {
                    const struct method *m = method_registry[i];
                    if (m->operation->matrices || m->operation->ranks) /* tests/kernels/ */
                        continue;
                    if (moves(m) ? f != 0 : !method_supports(m, DEVICE_CPU, s, f))
                        continue;
                    expect_same(m, s, f, lengths[l]);
                    tried++;
                }
        }
    cr_assert(tried > 10 * 4 * 60, "%zu", tried);
}

/* Whatever adds numbers of fp16 adds those of 8 bits, but for what stores sums in that format. */
Test(stored_in_8, every_method_of_the_cpu_takes_them)
{
    for (size_t i = 0; i < method_count; i++) {
        const struct format_pairs *pairs = method_pairs(method_registry[i], DEVICE_CPU);
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (enum format s = 0; s < FORMATS; s++)
                cr_expect(format_facts[s].bytes != 1 || moves(method_registry[i]) ||
                              !format_pairs_have(pairs, FP16, f) ||
                              method_registry[i]->bound == THEOREM_SPLIT ||
                              format_pairs_have(pairs, s, f),
                          "%s: %s to %s", method_registry[i]->name, format_facts[s].name,
                          format_facts[f].name);
    }
}
