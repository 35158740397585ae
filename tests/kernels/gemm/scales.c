/* Scales of rows and columns, and of blocks: the exact element, what each method makes of it, its
 * bound, and which methods cannot take them. Indices, sums and scales are those of this file. */
#include <criterion/criterion.h>
#include <math.h>

#include "experiments/operations/operation.h"
#include "kernels/mma/mma.h"
#include "reference/exact/mpfr.h"
#include "tests/support/oracle.h"
#include "tests/support/products.h"

enum { BLOCK = 128, SCALES = 2 * PRODUCT_ROOM };

static struct product_case a_case;
static double out[PRODUCT_ROOM], x[PRODUCT_ROOM], y[PRODUCT_ROOM];
static float scales[SCALES];

static const struct {
    const char *name;
    enum mma_unit unit;
    bool blocks; /* takes them */
} methods[] = {{"gemm/exact", MMA_UNITS, true},           {"gemm/serial", MMA_UNITS, false},
               {"gemm/tiled", MMA_UNITS, true},           {"gemm/split_k", MMA_UNITS, false},
               {"gemm/split_k_atomic", MMA_UNITS, false}, {"gemm/mma", MMA_SYNC, false},
               {"gemm/wgmma", MMA_WGMMA, false},          {"gemm/promoted", MMA_WGMMA, true}};
enum { METHODS = sizeof methods / sizeof *methods };

/* As product_shape, and more with several blocks on every side. */
static bool shape_at(struct gemm_shape *shape, size_t i)
{
    static const struct gemm_shape more[] = {
        {.m = 1, .n = 130, .k = 9}, {.m = 2, .n = 129, .k = 20}, {.m = 130, .n = 1, .k = 17},
        {.m = 3, .n = 2, .k = 300}, {.m = 1, .n = 2, .k = 500},  {.m = 1, .n = 1, .k = 640}};
    enum { MORE = sizeof more / sizeof *more };
    size_t first = 0;
    while (product_shape(shape, first))
        first++;
    if (product_shape(shape, i))
        return true;
    *shape = more[(i - first) / 4 < MORE ? (i - first) / 4 : 0];
    shape->a_column = i & 1;
    shape->b_column = i & 2;
    shape->pad = i % 3;
    return (i - first) / 4 < MORE;
}

/* The scale of element k in row `line` of A (0) or in column `line` of B (1). */
static float scale_of(const struct gemm_shape *s, int side, size_t line, size_t k)
{
    const size_t along = s->k == 0 ? 1 : (s->k + BLOCK - 1) / BLOCK;
    if (s->scaling == GEMM_SCALED_OUTER)
        return scales[side == 0 ? line : s->m + line];
    return scales[side == 0 ? line * along + k / BLOCK
                            : s->m * along + line / BLOCK * along + k / BLOCK];
}

/* Scales that say where they belong: near one, of any size, or none but one. */
enum kind { NEAR, WIDE, ONES, KINDS };
static void draw_scales(enum kind kind, uint64_t *seed)
{
    for (size_t i = 0; i < SCALES; i++) {
        const uint64_t bits = sample_next(seed);
        const float near = 1 + (float)(bits % (1 << 23)) * 0x1p-23f;
        const int exponent = (int)(bits >> 32) % (bits >> 63 ? 120 : 30);
        scales[i] = kind == ONES ? 1 : kind == NEAR ? near : ldexpf(near, exponent);
    }
}

static void fill(const struct gemm_shape *shape, enum format of_a, enum format output,
                 enum sample kind, uint64_t seed)
{
    cr_assert(gemm_c_begins(shape) <= PRODUCT_ROOM);
    product_fill(&a_case, shape, of_a, output, kind, seed);
    a_case.of.scales = scales;
}

static void factors(size_t output)
{
    const struct gemm_shape *s = &a_case.of.gemm;
    const struct array *in = &a_case.of.in;
    const struct array b = {gemm_format_of_b(s, in->format), in->n, in->data};
    for (size_t k = 0; k < s->k; k++) {
        x[k] = array_get(in, gemm_a_at(s, output / s->n, k));
        y[k] = array_get(&b, gemm_b_at(s, k, output % s->n));
    }
}

/* The exact element and the sum of its magnitudes: by MPFR, scales last. */
static void exact(mpfr_t sum, mpfr_t sum_abs, size_t output)
{
    const struct gemm_shape *s = &a_case.of.gemm;
    mpfr_t term;
    mpfr_init2(term, PRODUCTS_PRECISION);
    mpfr_set_d(sum, array_get(&a_case.of.c, output), MPFR_RNDN);
    mpfr_abs(sum_abs, sum, MPFR_RNDN);
    for (size_t k = 0; k < s->k; k++) {
        mpfr_set_d(term, x[k], MPFR_RNDN);
        mpfr_mul_d(term, term, y[k], MPFR_RNDN);
        mpfr_mul_d(term, term, (double)scale_of(s, 0, output / s->n, k), MPFR_RNDN);
        mpfr_mul_d(term, term, (double)scale_of(s, 1, output % s->n, k), MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
        mpfr_abs(term, term, MPFR_RNDN);
        mpfr_add(sum_abs, sum_abs, term, MPFR_RNDN);
    }
    mpfr_clear(term);
}

/* Products begin .. end-1 as gemm/serial adds them. */
static double in_order(enum format f, size_t begin, size_t end)
{
    double sum = oracle_multiply(f, x[begin], y[begin]);
    for (size_t k = begin + 1; k < end; k++)
        sum = oracle_multiply_add(f, x[k], y[k], sum);
    return sum;
}

static double by_instruction(size_t m, enum format f, size_t every, size_t begin, size_t end)
{
    const enum format of_a = a_case.of.in.format, of_b = gemm_format_of_b(&a_case.of.gemm, of_a);
    unsigned char a[PRODUCT_ROOM], b[PRODUCT_ROOM];
    const size_t k = end - begin;
    array_encode(&(struct array){of_a, k, a}, 0, k, x + begin);
    array_encode(&(struct array){of_b, k, b}, 0, k, y + begin);
    const struct mma_instruction *is = mma_find(MMA_CHIP, methods[m].unit, mma_element_of(of_a), f);
    return format_decode(f, mma_promoted(&is->rule, mma_element_of(of_b), every, k, a, b, 0));
}

/* What the method is due to give: scales multiply sums in the machine's own float or double, those
 * of blocks fused into the additions. NaN: its order is not fixed, or not walked here. */
static double due_of(size_t m, enum format f, size_t output)
{
    const struct gemm_shape *s = &a_case.of.gemm;
    const bool blocks = s->scaling == GEMM_SCALED_BLOCKS, tiled = strstr(methods[m].name, "tiled"),
               promoted = strstr(methods[m].name, "promoted");
    const size_t every = promoted ? (a_case.of.promote ? a_case.of.promote : GEMM_PROMOTE) : 0,
                 row = output / s->n, column = output % s->n,
                 part = !blocks && !tiled ? s->k
                        : promoted        ? every
                                          : BLOCK;
    const double c = array_get(&a_case.of.c, output);
    double sum = 0, unscaled = 0;
    if (s->k == 0)
        return c;
    if (strstr(methods[m].name, "split_k"))
        return NAN;
    for (size_t k = 0; k < s->k; k += part) {
        const size_t end = k + part < s->k ? k + part : s->k;
        const double one = methods[m].unit < MMA_UNITS
                               ? by_instruction(m, f, blocks ? 0 : every, k, end)
                               : in_order(f, k, end);
        const float of_a = scale_of(s, 0, row, k), of_b = scale_of(s, 1, column, k);
        unscaled = k == 0 ? one : oracle_add(f, unscaled, one);
        if (f == FP64) {
            volatile double both = (double)of_a * (double)of_b, scaled = both * one;
            sum = k == 0 ? scaled : fma(both, one, sum);
        } else {
            volatile float both = of_a * of_b, scaled = both * (float)one;
            sum = (double)(k == 0 ? scaled : fmaf(both, (float)one, (float)sum));
        }
    }
    if (!blocks && f == FP64) {
        volatile double both = (double)scale_of(s, 0, row, 0) * (double)scale_of(s, 1, column, 0),
                        scaled = both * unscaled;
        sum = scaled;
    } else if (!blocks) {
        volatile float both = scale_of(s, 0, row, 0) * scale_of(s, 1, column, 0),
                       scaled = both * (float)unscaled;
        sum = (double)scaled;
    }
    if (f == FP64)
        return sum + c;
    volatile float last = (float)sum + (float)c;
    return (double)last;
}

struct count {
    size_t held, near, rounded, special, changing;
};

static void hold(size_t m, enum format f, enum format output, struct count *count)
{
    const struct method *method = method_named(methods[m].name);
    const struct shape launch = {2, 3};
    struct matrices_packed packed;
    struct matrices of = gemm_matrices(&a_case.of);
    mpfr_t sum, sum_abs, term;
    mpfr_inits2(PRODUCTS_PRECISION, sum, sum_abs, term, (mpfr_ptr)0);
    cr_assert(matrices_pack(&packed, &of, NULL) == STATUS_OK);
    cr_assert(product_run(method, &a_case, f, output, launch, out) == STATUS_OK);
    const bool once = strcmp(method->name, "gemm/exact") == 0;
    for (size_t o = 0; o < a_case.of.bins; o++) {
        factors(o);
        exact(sum, sum_abs, o);
        const double due = once ? oracle_round(output, sum) : due_of(m, f, o);
        /* A NaN that is due is one; where no order is walked, the bound alone holds it. */
        if (once || !strstr(method->name, "split_k"))
            cr_assert(same_double(out[o], format_round(output, due)),
                      "%s, %s in %s to %s, %zux%zux%zu, %zu: %a, due %a", method->name,
                      format_facts[a_case.of.in.format].name, format_facts[f].name,
                      format_facts[output].name, a_case.of.gemm.m, a_case.of.gemm.n,
                      a_case.of.gemm.k, o, out[o], format_round(output, due));
        if (once || !mpfr_number_p(sum) || !isfinite(out[o]) || output != f) {
            count->special += !isfinite(out[o]);
            continue;
        }
        const double bound = method->given(&a_case.of, f, launch, &packed, o);
        mpfr_sub_d(term, sum, out[o], MPFR_RNDA);
        const double error = fabs(mpfr_get_d(term, MPFR_RNDA));
        cr_assert(error <= bound, "%s, %s, %zux%zux%zu, %zu: %g, bound %g", method->name,
                  format_facts[f].name, a_case.of.gemm.m, a_case.of.gemm.n, a_case.of.gemm.k, o,
                  error, bound);
        count->held++;
        count->near += bound > 0 && error > 0.1 * bound;
        count->rounded += error > 0;
        count->changing += a_case.of.gemm.k > BLOCK && error > 0;
    }
    matrices_free(&packed);
    mpfr_clears(sum, sum_abs, term, (mpfr_ptr)0);
}

static void hold_all(enum gemm_scaling scaling, struct count *count)
{
    static const enum format eight[] = {E4M3, E5M2};
    static const size_t every[] = {0, 32, 64, 128, 1, 48};
    struct gemm_shape shape;
    uint64_t state = 1;
    for (size_t i = 0; shape_at(&shape, i); i++)
        for (size_t m = 0, turns = shape.k > BLOCK ? 4 : 1; m < METHODS * turns; m++)
            for (enum format f = 0; f < ACCUMULATORS; f++) {
                const uint64_t drawn = sample_next(&state);
                const enum format of_a = eight[drawn & 1];
                const struct method *method = method_named(methods[m % METHODS].name);
                const enum format output = drawn & 2 ? f : of_a;
                if (!method_supports(method, DEVICE_CPU, of_a, f) ||
                    (method->of_chip && !method->of_chip(MMA_CHIP, of_a, f)) ||
                    (scaling == GEMM_SCALED_BLOCKS && !methods[m % METHODS].blocks))
                    continue;
                shape.mixed = drawn & 4;
                shape.scaling = scaling;
                draw_scales((enum kind)((drawn >> 4) % KINDS), &state);
                fill(&shape, of_a, output, (enum sample)((drawn >> 8) % SAMPLES), drawn >> 16);
                a_case.of.promote = every[(drawn >> 12) % (scaling == GEMM_SCALED_BLOCKS ? 5 : 6)];
                if (drawn & 8)
                    memset(a_case.c, 0, sizeof a_case.c);
                hold(m % METHODS, f, output, count);
            }
}

Test(gemm_scales, rows_and_columns)
{
    struct count count = {0};
    hold_all(GEMM_SCALED_OUTER, &count);
    cr_expect(count.held > 1500 && count.near > 50 && count.rounded > 500 && count.special > 50,
              "%zu held, %zu near their bound, %zu rounded, %zu special", count.held, count.near,
              count.rounded, count.special);
}

Test(gemm_scales, blocks)
{
    struct count count = {0};
    hold_all(GEMM_SCALED_BLOCKS, &count);
    cr_expect(count.held > 400 && count.near > 20 && count.rounded > 200 && count.special > 20 &&
                  count.changing > 40,
              "%zu held, %zu near their bound, %zu rounded, %zu special, %zu of several blocks",
              count.held, count.near, count.rounded, count.special, count.changing);
}

/* Parts of one product each: what is off is the epilogue's alone, up to more than a rounding for
 * each part, and the bound is no wider than these need. */
Test(gemm_scales, the_bound_is_of_the_parts)
{
    struct gemm_shape shape = {.m = 4, .n = 4, .k = 7 * BLOCK, .scaling = GEMM_SCALED_BLOCKS};
    enum { PARTS = 7 };
    double worst = 0, over = 0;
    uint64_t state = 3;
    mpfr_t sum, sum_abs;
    mpfr_inits2(PRODUCTS_PRECISION, sum, sum_abs, (mpfr_ptr)0);
    for (uint64_t seed = 1; seed < 60; seed++) {
        static unsigned char stored[8 * PRODUCT_ROOM];
        shape.no_c = true;
        draw_scales(NEAR, &state);
        a_case.of = (struct operands){.in = {E4M3, gemm_c_begins(&shape), stored},
                                      .gemm = shape,
                                      .bins = 16,
                                      .c = {FP32, 16, a_case.c},
                                      .scales = scales};
        memset(stored, 0, sizeof stored);
        memset(a_case.c, 0, sizeof a_case.c);
        for (size_t part = 0; part < PARTS; part++)
            for (size_t i = 0; i < 4; i++) {
                const double of_a = 1 + (double)(sample_next(&state) % 8) / 8, of_b = 1.5;
                array_encode(&a_case.of.in, gemm_a_at(&shape, i, part * BLOCK), 1, &of_a);
                array_encode(&a_case.of.in, gemm_b_at(&shape, part * BLOCK, i), 1, &of_b);
            }
        const struct method *method = method_named("gemm/tiled");
        struct matrices_packed packed;
        struct matrices of = gemm_matrices(&a_case.of);
        cr_assert(matrices_pack(&packed, &of, NULL) == STATUS_OK);
        cr_assert(product_run(method, &a_case, FP32, FP32, (struct shape){1, 0}, out) == STATUS_OK);
        for (size_t o = 0; o < 16; o++) {
            factors(o);
            exact(sum, sum_abs, o);
            const double size = mpfr_get_d(sum_abs, MPFR_RNDN);
            mpfr_sub_d(sum, sum, out[o], MPFR_RNDA);
            const double error = fabs(mpfr_get_d(sum, MPFR_RNDA));
            const double bound = method->given(&a_case.of, FP32, (struct shape){1, 0}, &packed, o);
            cr_assert(error <= bound, "%g, bound %g", error, bound);
            worst = fmax(worst, error / (size * 0x1p-24));
            over = fmax(over, bound / (size * 0x1p-24));
        }
        matrices_free(&packed);
    }
    mpfr_clears(sum, sum_abs, (mpfr_ptr)0);
    /* Each part's scale is rounded, and each sum of parts, of which the last is the largest; the
     * sums of 128 products, zeros but one, are bounded as if they had 127 roundings of their own.
     */
    cr_expect(worst > 1.5, "%g roundings", worst);
    cr_expect(over < PARTS + 2 + BLOCK, "%g roundings", over);
}

/* Each part but the first is a little more than half of the last bit of the sum before it, and is
 * rounded up to all of it: as many roundings of the sum as there are parts, which the bound has. */
Test(gemm_scales, parts_add_up)
{
    enum { PARTS = 30 };
    static unsigned char stored[2 * PARTS * BLOCK];
    const struct gemm_shape shape = {
        .m = 1, .n = 1, .k = PARTS * BLOCK, .no_c = true, .scaling = GEMM_SCALED_BLOCKS};
    const struct method *method = method_named("gemm/tiled");
    struct matrices_packed packed;
    struct gemm_scaled bound = {0};
    mpfr_t sum, sum_abs;
    mpfr_inits2(PRODUCTS_PRECISION, sum, sum_abs, (mpfr_ptr)0);
    a_case.of = (struct operands){.in = {E4M3, 2 * PARTS * BLOCK, stored},
                                  .gemm = shape,
                                  .bins = 1,
                                  .c = {FP32, 1, a_case.c},
                                  .scales = scales};
    memset(a_case.c, 0, sizeof a_case.c);
    for (size_t part = 0; part < PARTS; part++) {
        scales[part] = part == 0 ? 1 : 0x1.00001p-24f;
        scales[PARTS + part] = 1;
        array_encode(&a_case.of.in, part * BLOCK, 1, &(double){1});
        array_encode(&a_case.of.in, (PARTS + part) * BLOCK, 1, &(double){1});
    }
    struct matrices of = gemm_matrices(&a_case.of);
    cr_assert(matrices_pack(&packed, &of, NULL) == STATUS_OK);
    cr_assert(product_run(method, &a_case, FP32, FP32, (struct shape){1, 0}, out) == STATUS_OK);
    cr_expect_eq(out[0], 1 + (PARTS - 1) * 0x1p-23);
    factors(0);
    exact(sum, sum_abs, 0);
    mpfr_sub_d(sum, sum, out[0], MPFR_RNDA);
    const double error = fabs(mpfr_get_d(sum, MPFR_RNDA));
    for (size_t part = 0; part < PARTS; part++) /* sums of one product: nothing is off */
        gemm_scaled_add(&bound, FP32, &packed, 0, part * BLOCK, (part + 1) * BLOCK, 0);
    const double most = gemm_scaled_end(&bound, FP32, 0);
    cr_expect(error <= most && error > 0.8 * most, "%g, bound %g", error, most);
    matrices_free(&packed);
    mpfr_clears(sum, sum_abs, (mpfr_ptr)0);
}

/* All ways to the exact element and to its magnitudes. */
Test(gemm_scales, references)
{
    static double of_a[PRODUCT_ROOM], of_b[PRODUCT_ROOM];
    struct gemm_shape shape;
    size_t turn = 0, whole = 0;
    uint64_t state = 2;
    mpfr_t sum, sum_abs, found;
    mpfr_inits2(PRODUCTS_PRECISION, sum, sum_abs, found, (mpfr_ptr)0);
    for (size_t i = 0; shape_at(&shape, i); i++)
        for (enum gemm_scaling how = GEMM_SCALED_OUTER; how <= GEMM_SCALED_BLOCKS; how++) {
            struct problem p = {0};
            struct matrices_packed packed;
            turn++;
            shape.scaling = how;
            shape.mixed = turn % 3 == 0;
            draw_scales((enum kind)(turn % KINDS), &state);
            fill(&shape, turn % 2 ? E5M2 : E4M3, FP32, (enum sample)(turn % SAMPLES), turn);
            struct matrices of = gemm_matrices(&a_case.of);
            cr_assert(matrices_pack(&packed, &of, NULL) == STATUS_OK);
            cr_expect(matrices_check(&packed, "scaled", &p) == STATUS_OK, "%s", p.text);
            for (size_t o = 0; o < a_case.of.bins; o++) {
                struct exact narrow;
                struct products wide;
                factors(o);
                exact(sum, sum_abs, o);
                matrices_factors(&packed, o, of_a, of_b);
                for (size_t k = 0; k < shape.k; k++)
                    cr_assert(
                        same_double(of_a[k], x[k] * (double)scale_of(&shape, 0, o / shape.n, k)) &&
                            same_double(of_b[k],
                                        y[k] * (double)scale_of(&shape, 1, o % shape.n, k)),
                        "%zux%zux%zu, %zu, k = %zu", shape.m, shape.n, shape.k, o, k);
                matrices_products(&packed, o, &wide);
                products_get(found, &wide);
                cr_expect(same_mpfr(found, sum), "k = %zu, %zu", shape.k, o);
                matrices_mpfr(&packed, o, found, sum_abs);
                cr_expect(same_mpfr(found, sum), "k = %zu, %zu", shape.k, o);
                if (!matrices_sum(&packed, o, &narrow))
                    continue;
                exact_get(found, &narrow);
                cr_expect(same_mpfr(found, sum), "k = %zu, %zu", shape.k, o);
                whole++;
            }
            matrices_free(&packed);
        }
    mpfr_clears(sum, sum_abs, found, (mpfr_ptr)0);
    cr_expect(whole > 100, "%zu", whole);
}

/* Where all scales are alike, bits are those of one scale a matrix; of blocks, up to one of them.
 */
Test(gemm_scales, alike_they_are_one)
{
    static double one[PRODUCT_ROOM];
    struct gemm_shape shape;
    size_t compared = 0;
    for (size_t i = 0; shape_at(&shape, i); i++)
        for (size_t m = 0; m < METHODS; m++)
            for (enum gemm_scaling how = GEMM_SCALED_OUTER; how <= GEMM_SCALED_BLOCKS; how++) {
                const struct method *method = method_named(methods[m].name);
                if (how == GEMM_SCALED_BLOCKS && (!methods[m].blocks || shape.k > BLOCK))
                    continue;
                for (size_t k = 0; k < SCALES; k++)
                    scales[k] = 0.37f;
                shape.scaling = GEMM_SCALED;
                shape.scale[0] = shape.scale[1] = 0.37f;
                fill(&shape, E4M3, FP32, SAMPLE_NEAR, i + 1);
                cr_assert(product_run(method, &a_case, FP32, FP32, (struct shape){1, 3}, one) ==
                          STATUS_OK);
                a_case.of.gemm.scaling = how;
                cr_assert(product_run(method, &a_case, FP32, FP32, (struct shape){1, 3}, out) ==
                          STATUS_OK);
                for (size_t o = 0; o < a_case.of.bins; o++, compared++)
                    cr_expect(same_double(out[o], one[o]), "%s, k = %zu: %a, due %a", method->name,
                              shape.k, out[o], one[o]);
            }
    cr_expect(compared > 1000, "%zu", compared);
}

/* Who has one sum of all products takes no scales of blocks, nor who promotes across them. */
Test(gemm_scales, methods_without_parts)
{
    struct setting s = {.shape = {.m = 1, .n = 1, .k = 300}};
    static const size_t fit[] = {0, 1, 32, 64, 128}, no_fit[] = {48, 127, 129, 256, 512};
    for (size_t m = 0; m < METHODS; m++) {
        const struct method *method = method_named(methods[m].name);
        s.shape.scaling = GEMM_SCALED_OUTER;
        cr_expect(setting_can(method, &s, E4M3, FP32), "%s", method->name);
        cr_expect(!setting_can(method, &s, FP16, FP32), "%s", method->name);
        s.shape.scaling = GEMM_SCALED_BLOCKS;
        cr_expect_eq(setting_can(method, &s, E4M3, FP32), methods[m].blocks, "%s", method->name);
        cr_expect(!setting_can(method, &s, FP16, FP32), "%s", method->name);
        cr_expect_eq(method->parts, methods[m].blocks);
    }
    for (size_t i = 0; i < 5; i++) {
        s.promote = fit[i];
        cr_expect(setting_can(method_named("gemm/promoted"), &s, E4M3, FP32), "%zu", fit[i]);
        s.promote = no_fit[i];
        cr_expect(!setting_can(method_named("gemm/promoted"), &s, E4M3, FP32), "%zu", no_fit[i]);
        cr_expect(setting_can(method_named("gemm/tiled"), &s, E4M3, FP32));
    }
    struct method foreign = *method_named("gemm/tiled");
    foreign.foreign = true;
    s.promote = 0;
    cr_expect(!setting_can(&foreign, &s, E4M3, FP32));
}
