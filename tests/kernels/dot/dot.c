/* Dot products beyond sums: how products are formed, in which order they are added, what bounds
 * them. (That a dot product with ones is a sum in every respect, the tests that walk the registry
 * hold.) MPFR multiplies. */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/inputs/input.h"
#include "kernels/blocks/product.h"
#include "kernels/dot/tiled.h"
#include "kernels/blocks/tiled.h"
#include "reference/measure/measure.h"
#include "tests/support/dots.h"
#include "tests/mutants/caught.h"
#include "tests/support/oracle.h"

Test(dot, products_are_those_of_mpfr)
{
    uint64_t seed = 17;
    mpfr_t x, y, sum, product;
    mpfr_inits2(4400, x, y, sum, product, (mpfr_ptr)0);
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (int round = 0; round < 30000; round++) {
                double value[3], data[1];
                struct array one = {s, 1, data};
                for (int i = 0; i < 2; i++) {
                    enum sample kind = (enum sample)(sample_next(&seed) % SAMPLES);
                    sample_fill(&one, kind, f, sample_next(&seed));
                    value[i] = array_get(&one, 0);
                }
                double rounded = product_rounded(f, value[0], value[1]);
                one.format = f;
                sample_fill(&one, (enum sample)(round % SAMPLES), f, sample_next(&seed));
                value[2] = round % 5 ? array_get(&one, 0) : -rounded; /* what is left of it */
                double fused = product_fused(f, value[2], value[0], value[1]);
                mpfr_set_d(x, value[0], MPFR_RNDN);
                mpfr_set_d(y, value[1], MPFR_RNDN);
                mpfr_mul(product, x, y, MPFR_RNDN);
                mpfr_set_d(sum, value[2], MPFR_RNDN);
                mpfr_add(sum, product, sum, MPFR_RNDN);
                double due = oracle_round(f, product), due_fused = oracle_round(f, sum);
                cr_assert(same_double(rounded, due), "%s to %s: %a %a is %a, MPFR says %a",
                          format_facts[s].name, format_facts[f].name, value[0], value[1], rounded,
                          due);
                cr_assert(same_double(fused, due_fused), "%s to %s: %a %a + %a is %a, MPFR says %a",
                          format_facts[s].name, format_facts[f].name, value[0], value[1], value[2],
                          fused, due_fused);
                if (format_holds(f, s) && isfinite(rounded)) {
                    mpfr_set_d(sum, rounded, MPFR_RNDN);
                    mpfr_sub(sum, product, sum, MPFR_RNDN);
                    double error = product_error(f, rounded, value[0], value[1]);
                    cr_assert(error == oracle_round(f, sum), "%s to %s: %a %a: error %a",
                              format_facts[s].name, format_facts[f].name, value[0], value[1],
                              error);
                }
            }
    mpfr_clears(x, y, sum, product, (mpfr_ptr)0);
}

/* Each variant of the fast path, on each kind of sample, against the specification. */
Test(dot, fast_tiles_are_plain_tiles)
{
    enum { TILES = 3 };
    static double x[TILES * TILE], y[TILES * TILE], plain[TILES], fast[TILES];
    size_t tried = 0;
    for (size_t v = 0; v < dot_variants; v++)
        for (enum format s = 0; dot_variant[v].available() && s < ACCUMULATORS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++)
                for (uint64_t k = 0; k < 6 * SAMPLES; k++) {
                    struct task t = {.of = &(struct operands){.in = {s, TILES * TILE, x},
                                                              .in2 = {s, TILES * TILE, y},
                                                              .product = PRODUCT_ROUNDED},
                                     .accumulator = f};
                    if (!dot_tiles_fast(&t))
                        continue;
                    tried++;
                    sample_fill(&t.of->in, k % SAMPLES, f, k);
                    sample_fill(&t.of->in2, k % 4 ? SAMPLE_NEAR : k % SAMPLES, f, ~k);
                    for (size_t i = 0; i < t.of->in.n; i++) /* else all sums are NaN */
                        if (!isfinite(array_get(&t.of->in, i) * array_get(&t.of->in2, i)) &&
                            i % (2 * TILE) > 3) {
                            array_set_bits(&t.of->in, i, i);
                            array_set_bits(&t.of->in2, i, i);
                        }
                    dot_tiles_plain(&t, 1, TILES - 1, plain);
                    dot_variant[v].tiles(&t, 1, TILES - 1, fast);
                    for (size_t i = 0; i < TILES - 1; i++)
                        cr_assert_eq(format_encode(f, plain[i]), format_encode(f, fast[i]),
                                     "%s, %s to %s, sample %s, seed %d: %a, plain %a",
                                     dot_variant[v].name, format_facts[s].name,
                                     format_facts[f].name, sample_name[k % SAMPLES], (int)k,
                                     fast[i], plain[i]);
                }
    cr_expect(tried > 400, "%zu", tried);
}

static size_t each(bool (*check)(const struct method *m, char why[WHY]))
{
    size_t checked = 0;
    char why[WHY] = "";
    for (size_t i = 0; i < method_count; i++)
        if (method_registry[i]->operation == &operation_dot && method_registry[i]->cpu) {
            cr_expect(check(method_registry[i], why), "%s", why);
            checked++;
        }
    return checked;
}

Test(dot, every_method_follows_its_order)
{
    cr_expect(each(holds_dot_walk) >= 6);
}

Test(dot, every_method_keeps_its_promise)
{
    cr_expect(each(holds_dot_promise) >= 6);
}

Test(dot, no_method_breaks_its_theorem)
{
    cr_expect(each(holds_dot_bound) >= 6);
}

Test(dot, correctly_rounded_is_what_mpfr_says)
{
    cr_expect(each(holds_dot_rounded) >= 6);
}

/* Infinity times zero, zeros of either sign, infinities that products make. */
Test(dot, special_products)
{
    static const struct {
        double x[2], y[2], due;
    } special[] = {
        {{INFINITY, 1}, {0, 1}, NAN},
        {{-0.0, -0.0}, {1, 2}, -0.0},
        {{-0.0, 0}, {-1, 1}, 0},
        {{-0.0, 0}, {1, 1}, 0},
        {{INFINITY, 1}, {-2, 1}, -INFINITY},
        {{INFINITY, INFINITY}, {2, -2}, NAN},
        {{NAN, 1}, {0, 1}, NAN},
        {{2, 3}, {4, 5}, 23},
    };
    for (size_t i = 0; i < method_count; i++)
        for (size_t k = 0; k < sizeof special / sizeof *special; k++)
            for (enum format s = 0; s < ACCUMULATORS; s++)
                for (enum format f = 0; f < ACCUMULATORS; f++) {
                    const struct method *m = method_registry[i];
                    double x[2], y[2], out = 0;
                    struct array a = {s, 2, x}, b = {s, 2, y}, to = {f, 1, &out};
                    if (m->operation != &operation_dot || !method_supports(m, DEVICE_CPU, s, f))
                        continue;
                    array_encode(&a, 0, 2, special[k].x);
                    array_encode(&b, 0, 2, special[k].y);
                    for (enum product_kind how = 1; how < PRODUCTS; how++)
                        if (m->products & 1u << how) {
                            cr_assert(dot_run(m, how, &a, &b, f, (struct shape){1, 1}, &to) ==
                                      STATUS_OK);
                            cr_expect(same_double(array_get(&to, 0), special[k].due),
                                      "%s, %s to %s, case %zu: %a", m->name, format_facts[s].name,
                                      format_facts[f].name, k, array_get(&to, 0));
                        }
                }
}

/* The condition number is what was asked for, and orthogonal is. */
Test(dot, inputs_are_what_they_are_called)
{
    static double both[10000];
    size_t made = 0;
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (int e = 0; e < 600; e += e < 40 ? 3 : 60)
            for (size_t n = 100; n <= 5000; n *= 7) {
                struct array whole = {f, 2 * n, both}, a = {f, n, both};
                struct array b = {f, n, (char *)both + array_bytes(f, n)};
                struct input in;
                struct reference r;
                struct problem p = {0};
                cr_assert(input_parse(&in, "dot_cond", NULL) == STATUS_OK);
                bool reaches = input_reaches(&in, n, ldexp(1, e), f);
                enum status status =
                    input_generate_pair(&in, &whole, n + (size_t)e, ldexp(1, e), &p);
                cr_expect((status == STATUS_OK) == reaches, "%s, 2^%d: %s", format_facts[f].name, e,
                          p.text);
                if (status != STATUS_OK)
                    continue;
                made++;
                cr_assert(reference_compute_of(&r, EXACT_DOT, &a, &b, REFERENCE_FAST, NULL) ==
                          STATUS_OK);
                double cond = reference_cond_log2(&r);
                cr_expect(fabs(cond - e) < (e < 3 ? 0.5 : 0.1), "%s, n = %zu, 2^%d: 2^%g",
                          format_facts[f].name, n, e, cond);
                cr_expect(mpfr_cmp_d(r.sum_abs, format_facts[f].largest) < 0);
                reference_free(&r);
                cr_assert(input_parse(&in, "orthogonal", NULL) == STATUS_OK);
                cr_assert(input_generate_pair(&in, &whole, n, 0, NULL) == STATUS_OK);
                cr_assert(reference_compute_of(&r, EXACT_DOT, &a, &b, REFERENCE_FAST, NULL) ==
                          STATUS_OK);
                cr_expect(mpfr_zero_p(r.sum) && !mpfr_zero_p(r.sum_abs));
                reference_free(&r);
            }
    cr_expect(made > 60, "%zu", made);
}

/* Methods that are right but for one thing: each must be caught. */
Test(dot, every_mutant_is_caught)
{
    mutants_expect_caught(dot_mutants, dot_mutant_count);
}
