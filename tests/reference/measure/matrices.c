/* Errors of matrix products: what is measured of all elements together is what is measured of each
 * alone, from MPFR's numbers; and no method breaks its bound. */
#include <criterion/criterion.h>
#include <math.h>

#include "reference/measure/scan.h"
#include "tests/support/oracle.h"
#include "tests/support/products.h"

static struct product_case a_case;
static double out[PRODUCT_ROOM], encoded[PRODUCT_ROOM];

struct told {
    struct figure abs, ulp, over_bound, backward;
    size_t worst, broken;
    double squares;
    size_t squared;
};

static void take(struct figure *most, struct figure f)
{
    if (f.known && (!most->known || figure_worse(f.value, most->value)))
        *most = f;
}

static size_t height(const void *context, size_t i)
{
    (void)i;
    return *(const size_t *)context;
}

/* Each element alone. */
static struct told one_by_one(const struct matrices_packed *packed, const struct method *m,
                              enum format storage, enum format f, enum format output)
{
    struct told told = {.worst = matrices_outputs(packed)};
    struct theorem theorem = {.kind = m->bound, .product = m->product};
    theorem.height = m->height ? m->height(packed->k + 1, (struct shape){0, 0}) : 0;
    for (size_t i = 0; i < matrices_outputs(packed); i++) {
        struct reference r = {.n = packed->k + 1};
        struct measure one;
        mpfr_inits2(MPFR_PREC_MIN, r.sum, r.sum_abs, (mpfr_ptr)0);
        matrices_mpfr(packed, i, r.sum, r.sum_abs);
        measure_output(&one, &r, storage, f, output, out[i], &theorem);
        if (one.err_ulp.known &&
            (!told.ulp.known || figure_worse(one.err_ulp.value, told.ulp.value)))
            told.worst = i;
        take(&told.abs, one.err_abs);
        take(&told.ulp, one.err_ulp);
        take(&told.over_bound, one.err_over_bound);
        take(&told.backward, one.err_backward);
        told.broken += one.broken;
        mpfr_clears(r.sum, r.sum_abs, (mpfr_ptr)0);
    }
    return told;
}

static bool same(struct figure a, struct figure b)
{
    return a.known == b.known && (!a.known || same_double(a.value, b.value));
}

static size_t hold(const struct method *m, enum format storage, enum format f, enum format output,
                   const char *of)
{
    static struct scan_measure all;
    struct matrices_packed packed;
    struct matrices matrices = gemm_matrices(&a_case.of);
    size_t high = m->height ? m->height(matrices.k + 1, (struct shape){0, 0}) : 0;
    cr_assert(product_run(m, &a_case, f, output, (struct shape){1, 3}, out) == STATUS_OK);
    cr_assert(matrices_pack(&packed, &matrices, NULL) == STATUS_OK);
    struct scan scan = {.in = a_case.of.in, .matrices = &packed};
    struct scan_output o = {.out = {output, a_case.of.bins, encoded},
                            .accumulator = f,
                            .bound = m->bound,
                            .height = height,
                            .context = &high,
                            .product = m->product};
    array_encode(&o.out, 0, o.out.n, out);
    cr_assert(measure_scatter(&all, &o, 1, &scan, 2, NULL) == STATUS_OK);
    struct told told = one_by_one(&packed, m, storage, f, output);
    cr_expect(same(all.err_abs, told.abs) && same(all.err_ulp, told.ulp) &&
                  same(all.err_backward, told.backward),
              "%s, %s in %s, %s: abs %g and %g, ulp %g and %g", m->name, format_facts[storage].name,
              format_facts[f].name, of, all.err_abs.value, told.abs.value, all.err_ulp.value,
              told.ulp.value);
    cr_expect(all.worst_index == told.worst, "%s: worst %zu, due %zu", m->name, all.worst_index,
              told.worst);
    cr_expect_eq(all.broken, told.broken);
    cr_expect(told.broken == 0, "%s, %s in %s to %s, %s: %zu elements over their bound, by %g",
              m->name, format_facts[storage].name, format_facts[f].name, format_facts[output].name,
              of, told.broken, told.over_bound.value);
    matrices_free(&packed);
    return told.over_bound.known && told.over_bound.value > 0.01;
}

static const char *const names[] = {"gemm/serial", "gemm/tiled", "gemm/split_k",
                                    "gemm/split_k_atomic", "gemm/exact"};

Test(measure_matrices, figures_and_bounds)
{
    struct gemm_shape shape;
    size_t turn = 0, near = 0;
    for (size_t i = 0; product_shape(&shape, i); i++)
        for (enum format s = 0; s < FORMATS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++) {
                enum sample kind = (enum sample)(turn % SAMPLES);
                enum format output = turn % 5 == 0 ? s : f;
                product_fill(&a_case, &shape, s, output, kind, turn);
                near += hold(method_named(names[turn % 5]), s, f, output, sample_name[kind]);
                turn++;
            }
    cr_expect(near > 50, "%zu cases come near their bound", near);
}

/* A wrong element is found where it is. */
Test(measure_matrices, a_wrong_element_is_told)
{
    struct gemm_shape shape = {.m = 5, .n = 7, .k = 40};
    struct matrices_packed packed;
    size_t high = 40;
    product_fill(&a_case, &shape, FP32, FP32, SAMPLE_NEAR, 3);
    struct matrices matrices = gemm_matrices(&a_case.of);
    const struct method *m = method_named("gemm/serial");
    cr_assert(product_run(m, &a_case, FP32, FP32, (struct shape){1, 0}, out) == STATUS_OK);
    cr_assert(matrices_pack(&packed, &matrices, NULL) == STATUS_OK);
    for (size_t wrong = 0; wrong < 35; wrong++) {
        static struct scan_measure all;
        struct scan scan = {.in = a_case.of.in, .matrices = &packed};
        struct scan_output o = {.out = {FP32, 35, encoded},
                                .accumulator = FP32,
                                .bound = m->bound,
                                .height = height,
                                .context = &high,
                                .product = m->product};
        array_encode(&o.out, 0, 35, out);
        array_encode(&o.out, wrong, 1, &(double){out[wrong] + 1});
        cr_assert(measure_scatter(&all, &o, 1, &scan, 1, NULL) == STATUS_OK);
        cr_expect(all.worst_index == wrong && all.broken == 1 && all.first_broken == wrong);
    }
    matrices_free(&packed);
}
