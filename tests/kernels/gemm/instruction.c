/* Models of matrix instructions as methods: every bit against the models asked directly, single
 * elements against fractions, every bound against exact elements. */
#include <criterion/criterion.h>
#include <math.h>

#include "kernels/mma/mma.h"
#include "tests/support/oracle.h"
#include "tests/support/products.h"

static struct product_case a_case;
static double out[PRODUCT_ROOM];

static enum mma_unit unit_of(const struct method *m, const char *chip, enum format storage,
                             enum format accumulator)
{
    if (strcmp(m->name, "gemm/mma") == 0)
        return MMA_SYNC;
    if (strcmp(m->name, "gemm/wgmma") == 0)
        return MMA_WGMMA;
    enum mma_unit found = MMA_UNITS;
    for (size_t i = 0; i < mma_instruction_count; i++) {
        const struct mma_instruction *is = &mma_instructions[i];
        if (strcmp(is->chip, chip) == 0 && is->rule.element == mma_element_of(storage) &&
            is->rule.result == accumulator && (found == MMA_UNITS || is->unit > found))
            found = is->unit;
    }
    return found;
}

/* The element by the shape's own words, in bits, through the model alone. */
static uint64_t due(const struct mma_rule *r, size_t every, enum format accumulator, size_t output)
{
    static unsigned char a[8 * PRODUCT_ROOM], b[8 * PRODUCT_ROOM];
    const struct gemm_shape *s = &a_case.of.gemm;
    struct array x = {a_case.of.in.format, s->k, a}, y = {a_case.of.in.format, s->k, b};
    for (size_t k = 0; k < s->k; k++) {
        array_set_bits(&x, k, array_bits(&a_case.of.in, gemm_a_at(s, output / s->n, k)));
        array_set_bits(&y, k, array_bits(&a_case.of.in, gemm_b_at(s, k, output % s->n)));
    }
    uint64_t c = format_encode(accumulator, array_get(&a_case.of.c, output));
    if (every == 0)
        return mma_dot(r, s->k, a, b, c);
    double sum = format_decode(accumulator, c);
    for (size_t i = 0; i < s->k; i += every) {
        size_t bytes = (size_t)format_facts[x.format].bytes, left = s->k - i;
        uint64_t part = mma_dot(r, left < every ? left : every, a + i * bytes, b + i * bytes, 0);
        sum = format_add(accumulator, sum, format_decode(accumulator, part));
    }
    return format_encode(accumulator, sum);
}

static void expect_element(const struct method *m, const char *chip, enum format accumulator,
                           size_t every, const struct mma_rule *r, size_t i)
{
    uint64_t bits = due(r, every, accumulator, i);
    double is = format_decode(accumulator, bits);
    enum format to = a_case.of.c.format;
    if (to != accumulator)
        is = format_round(to, is);
    cr_assert(same_double(out[i], is), "%s on %s, %s in %s to %s, k = %zu, element %zu: %a, due %a",
              m->name, chip, format_facts[a_case.of.in.format].name, format_facts[accumulator].name,
              format_facts[to].name, a_case.of.gemm.k, i, out[i], is);
}

static void hold(const struct method *m, const char *chip, enum format s, enum format f,
                 size_t turn, size_t every)
{
    struct gemm_shape shape;
    enum mma_unit unit = unit_of(m, chip, s, f);
    const struct mma_instruction *row =
        unit < MMA_UNITS ? mma_find(chip, unit, mma_element_of(s), f) : NULL;
    cr_assert(m->of_chip(chip, s, f) == (row != NULL), "%s on %s", m->name, chip);
    for (size_t i = turn % 4; row && product_shape(&shape, i); i += 4) {
        product_fill(&a_case, &shape, s, turn % 3 == 0 && s != FP32 ? s : f,
                     (enum sample)(turn % SAMPLES), turn + i);
        a_case.of.chip = mma_chip_named(chip);
        a_case.of.promote = every;
        cr_assert(product_run(m, &a_case, f, a_case.of.c.format, (struct shape){1 + turn % 3, 0},
                              out) == STATUS_OK);
        for (size_t o = 0; o < a_case.of.bins; o++)
            expect_element(m, chip, f, m->promotes ? every : 0, &row->rule, o);
    }
}

/* Of every method that asks for a chip, on every chip, in every pair that it has. */
Test(gemm_instruction, bits_are_the_models)
{
    static const size_t interval[] = {128, 1, 33, 64};
    const char *chip;
    size_t turn = 0, held = 0;
    for (size_t i = 0; i < method_count; i++)
        for (size_t c = 0; method_registry[i]->of_chip && (chip = mma_chip(c)); c++)
            for (enum format s = 0; s < FORMATS; s++)
                for (enum format f = 0; f < ACCUMULATORS; f++) {
                    const struct method *m = method_registry[i];
                    if (!method_supports(m, DEVICE_CPU, s, f))
                        continue;
                    held++;
                    for (size_t again = 0; again < 4; again++, turn++)
                        hold(m, chip, s, f, turn, m->promotes ? interval[again] : 0);
                }
    cr_expect(held >= 3 * 6 * 5, "%zu", held);
}

/* Every row of the table is reached by a method, but tcgen05's that promoted sums alone have. */
Test(gemm_instruction, has_every_row)
{
    for (size_t i = 0; i < mma_instruction_count; i++) {
        const struct mma_instruction *row = &mma_instructions[i];
        const struct method *m = method_named(row->unit == MMA_SYNC ? "gemm/mma" : "gemm/wgmma");
        enum format s = mma_elements[row->rule.element].stored, f = row->rule.result;
        if (row->unit == MMA_TCGEN05)
            continue;
        cr_expect(m->of_chip(row->chip, s, f) && method_supports(m, DEVICE_CPU, s, f),
                  "%s has none of %s %s", row->chip, format_facts[s].name, format_facts[f].name);
    }
}

/* --- by hand: Python's fractions, from the rules on the page, not from these sources --- */

static uint64_t generated(enum format f, size_t i, size_t factor, size_t offset)
{
    uint64_t x = i * factor + offset;
    return f == E4M3 ? (x & 0xff & 0xb7) : (x & 0xffff & 0xbbff); /* no infinities and NaNs */
}

Test(gemm_instruction, one_element_is_what_fractions_give)
{
    static const struct {
        const char *method, *chip;
        enum format storage, accumulator;
        size_t every;
        uint64_t bits;
    } due_of[] = {{"gemm/wgmma", "h100", E4M3, FP32, 0, 0x3e25f800},
                  {"gemm/mma", "h100", E4M3, FP32, 0, 0x3e25fa00},
                  {"gemm/mma", "ada", E4M3, FP16, 0, 0x3130},
                  {"gemm/promoted", "h100", E4M3, FP32, 16, 0x3e260000},
                  {"gemm/mma", "ada", FP16, FP32, 0, 0xbf951dfd},
                  {"gemm/mma", "v100", FP16, FP32, 0, 0xbf951dfc}};
    enum { K = 40 };
    uint16_t in[2 * K];
    double c;
    for (size_t i = 0; i < sizeof due_of / sizeof *due_of; i++) {
        enum format s = due_of[i].storage, f = due_of[i].accumulator;
        struct array to = {s, 2 * K, in}, d = {f, 1, &c};
        bool narrow = s == E4M3;
        uint64_t result[1] = {0};
        for (size_t k = 0; k < K; k++) {
            array_set_bits(&to, k, generated(s, k, narrow ? 53 : 20011, narrow ? 17 : 123));
            array_set_bits(&to, K + k, generated(s, k, narrow ? 91 : 31337, narrow ? 5 : 4567));
        }
        array_encode(&d, 0, 1, &(double){0.1875});
        struct operands of = {.in = to,
                              .bins = 1,
                              .gemm = {.m = 1, .n = 1, .k = K},
                              .c = d,
                              .chip = due_of[i].chip,
                              .promote = due_of[i].every};
        struct task t = {.of = &of,
                         .out = {f, 1, result},
                         .accumulator = f,
                         .shape = {1, 0},
                         .method = method_named(due_of[i].method),
                         .device = -1};
        struct problem p = {0};
        cr_assert(t.method->cpu(&t, &p) == STATUS_OK, "%s", p.text);
        cr_expect_eq(array_bits(&t.out, 0), due_of[i].bits, "%s on %s: %#llx, due %#llx",
                     due_of[i].method, due_of[i].chip, (unsigned long long)array_bits(&t.out, 0),
                     (unsigned long long)due_of[i].bits);
    }
}

/* --- bounds --- */

static void expect_own(const struct method *m, const char *chip, enum format f, double bound,
                       size_t output)
{
    static double x[PRODUCT_ROOM], y[PRODUCT_ROOM];
    const enum format s = a_case.of.in.format;
    const struct gemm_shape *shape = &a_case.of.gemm;
    const struct mma_rule *r = &mma_find(chip, unit_of(m, chip, s, f), mma_element_of(s), f)->rule;
    struct array a = {s, shape->k, x}, b = {s, shape->k, y};
    for (size_t k = 0; k < shape->k; k++) {
        array_set_bits(&a, k, array_bits(&a_case.of.in, gemm_a_at(shape, output / shape->n, k)));
        array_set_bits(&b, k, array_bits(&a_case.of.in, gemm_b_at(shape, k, output % shape->n)));
    }
    size_t every = !m->promotes ? 0 : a_case.of.promote ? a_case.of.promote : 128;
    uint64_t c = format_encode(f, array_get(&a_case.of.c, output));
    double due = mma_bound(r, every, shape->k, mma_weight(r, shape->k, x, y, c));
    cr_assert(isnan(due) ? isnan(bound) : due == bound || fabs(bound / due - 1) < 1e-12,
              "%s on %s: bound %g, due %g", m->name, chip, bound, due);
}

static void hold_bounds(const struct method *m, const char *chip, enum format s, enum format f,
                        size_t turn, double *most)
{
    struct gemm_shape shape;
    mpfr_t sum, size;
    mpfr_inits2(PRODUCTS_PRECISION, sum, size, (mpfr_ptr)0);
    for (size_t i = 0; product_shape(&shape, i); i += 4) {
        struct matrices_packed packed;
        struct problem p = {0};
        product_fill(&a_case, &shape, s, f, (enum sample)(turn % SAMPLES), turn + i);
        a_case.of.chip = mma_chip_named(chip);
        a_case.of.promote = turn % 2 ? 16 : 0;
        struct matrices of = gemm_matrices(&a_case.of);
        cr_assert(product_run(m, &a_case, f, f, (struct shape){1, 0}, out) == STATUS_OK);
        cr_assert(matrices_pack(&packed, &of, &p) == STATUS_OK);
        for (size_t o = 0; o < a_case.of.bins; o++) {
            double bound = m->given(&a_case.of, f, (struct shape){1, 0}, &packed, o);
            if (s != FP32) /* but for the digits that tf32 ignores it is the model's own */
                expect_own(m, chip, f, bound, o);
            matrices_mpfr(&packed, o, sum, size);
            if (!mpfr_number_p(sum) || !isfinite(out[o]) || !isfinite(bound))
                continue;
            mpfr_sub_d(sum, sum, out[o], MPFR_RNDA);
            double error = fabs(mpfr_get_d(sum, MPFR_RNDA));
            cr_assert(error <= bound, "%s on %s, %s in %s, k = %zu: off by %g, bound %g", m->name,
                      chip, format_facts[s].name, format_facts[f].name, shape.k, error, bound);
            if (bound > 0 && error / bound > *most)
                *most = error / bound;
        }
        matrices_free(&packed);
    }
    mpfr_clears(sum, size, (mpfr_ptr)0);
}

/* Of every method that names this theorem. No bound is so wide that nothing comes near it. */
Test(gemm_instruction, no_error_is_beyond_its_bound)
{
    const char *chip;
    size_t turn = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        double most = 0;
        if (m->bound != THEOREM_BLOCKS || !m->of_chip) /* split_k_rounded.c holds the others */
            continue;
        for (size_t c = 0; (chip = mma_chip(c)); c++)
            for (enum format s = 0; s < FORMATS; s++)
                for (enum format f = 0; f < ACCUMULATORS; f++)
                    for (size_t again = 0; again < SAMPLES && m->of_chip(chip, s, f) &&
                                           method_supports(m, DEVICE_CPU, s, f);
                         again++)
                        hold_bounds(m, chip, s, f, turn++, &most);
        cr_expect(most > 0.02, "%s: no error above %g of its bound", m->name, most);
    }
}

/* A chip that lacks the instruction: an error in one line, and a bound that says nothing. */
Test(gemm_instruction, says_what_a_chip_lacks)
{
    const struct method *m = method_named("gemm/wgmma");
    struct gemm_shape shape = {.m = 1, .n = 1, .k = 5};
    struct problem p = {0};
    double encoded[1];
    product_fill(&a_case, &shape, FP16, FP32, 0, 1);
    a_case.of.chip = "v100";
    struct task t = {.of = &a_case.of,
                     .out = {FP32, 1, encoded},
                     .accumulator = FP32,
                     .shape = {1, 0},
                     .method = m,
                     .device = -1};
    cr_expect(m->cpu(&t, &p) == STATUS_DEVICE);
    cr_expect(strstr(p.text, "v100") && strstr(p.text, "fp16"), "%s", p.text);
}

/* A chip has one name, at one address; the default is one of them. */
Test(gemm_instruction, chips_are_named_once)
{
    size_t count = 0;
    const char *chip;
    for (; (chip = mma_chip(count)); count++)
        for (size_t i = 0; i <= count; i++)
            cr_expect((strcmp(mma_chip(i), chip) == 0) == (i == count), "%s", chip);
    for (size_t i = 0; i < mma_instruction_count; i++) {
        chip = mma_chip_named(mma_instructions[i].chip);
        cr_expect(chip && strcmp(chip, mma_instructions[i].chip) == 0, "%s",
                  mma_instructions[i].chip);
    }
    cr_expect(count == 6 && mma_chip_named(MMA_CHIP) && !mma_chip_named("h10"), "%zu", count);
}
