/* Matrix products of subjects that are not ours: of every layout, with C and without, they are
 * given the matrices that ours are given. */
#include <math.h>
#include <stdio.h>

#include <criterion/criterion.h>

#include "experiments/operations/operation.h"
#include "experiments/subjects/foreign.h"
#include "experiments/subjects/subject.h"
#include "experiments/subjects/wire.h"
#include "experiments/options/pairs.h"
#include "tests/support/products.h"

#define SERVED   "exec:" ULPSCOPE_PROGRAM " serve gemm/tiled --device cpu"
#define SUBJECTS "python:" ULPSCOPE_SOURCE "/tests/support/subjects.py:"

static void begin(void)
{
    foreign_server(ULPSCOPE_PROGRAM);
    foreign_timeout(60);
}

static const struct method *subject(const char *name)
{
    struct problem p = {0};
    const struct method *m;
    cr_assert(subject_named(&m, "test", name, &operation_gemm, &p) == STATUS_OK, "%s", p.text);
    cr_assert(m->operation == &operation_gemm, "%s", name);
    return m;
}

typedef double element(const struct product_case *p, size_t i, size_t j);

static double read_in(const struct product_case *p, size_t at)
{
    return array_get(&p->of.in, at);
}

static double c_of(const struct product_case *p, size_t i, size_t j)
{
    return p->of.gemm.no_c ? 0 : array_get(&p->of.c, i * p->of.gemm.n + j);
}

/* Onto C, in fp32, one after the other: an object's. */
static double in_order(const struct product_case *p, size_t i, size_t j)
{
    const struct gemm_shape *s = &p->of.gemm;
    float sum = (float)c_of(p, i, j);
    for (size_t k = 0; k < s->k; k++) {
        float product =
            (float)read_in(p, gemm_a_at(s, i, k)) * (float)read_in(p, gemm_b_at(s, k, j));
        sum += product;
    }
    return sum;
}

/* Of whole numbers, whose sums are exact in any order: Python's. */
static double exact(const struct product_case *p, size_t i, size_t j)
{
    const struct gemm_shape *s = &p->of.gemm;
    double sum = c_of(p, i, j);
    for (size_t k = 0; k < s->k; k++)
        sum += read_in(p, gemm_a_at(s, i, k)) * read_in(p, gemm_b_at(s, k, j));
    return sum;
}

static void fill_whole(struct product_case *p)
{
    const struct gemm_shape *s = &p->of.gemm;
    for (size_t i = 0; i < s->m; i++)
        for (size_t k = 0; k < s->k; k++)
            array_encode(&p->of.in, gemm_a_at(s, i, k), 1,
                         &(double){(double)((7 * i + 3 * k) % 11) - 5});
    for (size_t k = 0; k < s->k; k++)
        for (size_t j = 0; j < s->n; j++)
            array_encode(&p->of.in, gemm_b_at(s, k, j), 1,
                         &(double){(double)((5 * j + 2 * k) % 13) - 6});
    for (size_t i = 0; i < p->of.c.n; i++)
        array_encode(&p->of.c, i, 1, &(double){(double)i + 1});
}

static void put_zeros(struct product_case *p)
{
    memset(p->c, 0, sizeof p->c);
}

/* All shapes of tests, in fp32 or in fp64, with C where it is taken. */
static void expect_products(const char *name, enum format f, element *due, bool whole, bool with_c)
{
    static struct product_case p;
    struct gemm_shape shape;
    double out[PRODUCT_ROOM];
    const struct method *m = subject(name);
    size_t held = 0;
    cr_expect(m->no_c == !with_c, "%s takes C: %d", name, !m->no_c);
    for (size_t i = 0; product_shape(&shape, i); i++) {
        if (whole && (shape.k == 0 || shape.m == 0)) /* no lists of rows have this shape */
            continue;
        shape.no_c = !with_c || i % 5 == 0;
        product_fill(&p, &shape, f, f, SAMPLE_NEAR, i);
        if (whole)
            fill_whole(&p);
        if (shape.no_c)
            put_zeros(&p);
        cr_assert(product_run(m, &p, f, f, (struct shape){0}, out) == STATUS_OK, "%s: %zu", name,
                  i);
        for (size_t o = 0; o < p.of.bins; o++, held++)
            cr_expect(out[o] == due(&p, o / shape.n, o % shape.n),
                      "%s, shape %zu: D[%zu] is %a, expected %a", name, i, o, out[o],
                      due(&p, o / shape.n, o % shape.n));
    }
    cr_expect_geq(held, 60);
}

Test(foreign_products, an_object_is_given_the_matrices, .init = begin)
{
    expect_products(EXAMPLE_PRODUCT ":in_order", FP32, in_order, false, true);
}

Test(foreign_products, functions_of_python_are, .init = begin)
{
    expect_products(SUBJECTS "product@array@gemm", FP64, exact, true, false);
    expect_products(SUBJECTS "product_onto@array@gemm", FP64, exact, true, true);
}

/* B's rows stand for its columns: the way to call it that is right for it gives B's transpose. */
Test(foreign_products, a_wrong_function_is_called_as_it_is, .init = begin)
{
    static struct product_case p;
    struct gemm_shape shape = {.m = 2, .n = 2, .k = 2, .no_c = true};
    double out[PRODUCT_ROOM];
    const struct method *m = subject(SUBJECTS "product_turned@array@gemm");
    product_fill(&p, &shape, FP64, FP64, SAMPLE_NEAR, 1);
    fill_whole(&p);
    put_zeros(&p);
    cr_assert(product_run(m, &p, FP64, FP64, (struct shape){0}, out) == STATUS_OK);
    cr_expect(m->no_c && out[1] != exact(&p, 0, 1));
}

/* N x M in place of M x N has as many elements. */
Test(foreign_products, a_result_of_another_shape_is_refused, .init = begin)
{
    static struct product_case p;
    struct gemm_shape shape = {.m = 2, .n = 2, .k = 4, .no_c = true};
    double out[PRODUCT_ROOM];
    const struct method *m = subject(SUBJECTS "product_flipped@array@gemm");
    for (; shape.n <= 3; shape.n++) {
        product_fill(&p, &shape, FP64, FP64, SAMPLE_NEAR, 1);
        fill_whole(&p);
        put_zeros(&p);
        enum status status = product_run(m, &p, FP64, FP64, (struct shape){0}, out);
        cr_expect_eq(status == STATUS_OK, shape.n == shape.m, "2 x %zu: status %d", shape.n,
                     (int)status);
    }
}

/* What a program of ours answers is what the method gives here, in all formats. */
Test(foreign_products, a_served_method_has_its_bits, .init = begin)
{
    static struct product_case p;
    static const struct format_pair pairs[] = {{FP32, FP32}, {FP16, FP32}, {BF16, BF16},
                                               {FP64, FP64}, {E4M3, FP32}, {E5M2, FP16}};
    const struct method *served = subject(SERVED), *own = method_named("gemm/tiled");
    double out[PRODUCT_ROOM], due[PRODUCT_ROOM];
    struct gemm_shape shape;
    size_t held = 0;
    for (size_t i = 0; product_shape(&shape, i); i++) {
        const struct format_pair pair = pairs[i % 6];
        const enum format output =
            i % 4 == 0 && pair.storage < ACCUMULATORS ? pair.storage : pair.accumulator;
        shape.no_c = i % 5 == 0;
        product_fill(&p, &shape, pair.storage, output, SAMPLE_NEAR, i);
        if (shape.no_c)
            put_zeros(&p);
        cr_assert(product_run(own, &p, pair.accumulator, output, (struct shape){0}, due) ==
                  STATUS_OK);
        cr_assert(product_run(served, &p, pair.accumulator, output, (struct shape){0}, out) ==
                  STATUS_OK);
        for (size_t o = 0; o < p.of.bins; o++, held++)
            cr_expect(out[o] == due[o], "shape %zu: D[%zu] is %a, expected %a", i, o, out[o],
                      due[o]);
    }
    cr_expect_geq(held, 60);
}

Test(foreign_products, requests_that_are_none_are_refused)
{
    static const char *const good[] = {
        "gemm 16 fp32 fp32 fp32 2 2 4 nn 4 2 0", "gemm 16 fp16 fp32 fp16 2 2 4 tt 2 4 4",
        "gemm 22 e4m3 fp32 fp32 2 2 4 nn 5 3 4", "gemm 0 fp64 fp64 fp64 0 3 0 nn 0 3 0",
        "gemm 15 fp32 fp32 fp32 2 1 5 nt 5 5 2"};
    static const char *const bad[] = {
        "gemm 16 fp32 fp32",
        "gemm 16 fp32 fp32 fp32 2 2 4 nn 4 2",                     /* no C */
        "gemm 16 fp32 fp32 fp32 2 2 4 nn 4 2 0 0",                 /* one number more */
        "gemm 17 fp32 fp32 fp32 2 2 4 nn 4 2 0",                   /* another length */
        "gemm 16 fp32 fp32 fp32 2 2 4 nx 4 2 0",                   /* no layout */
        "gemm 16 fp32 fp32 fp32 2 2 4 n 4 2 0",                    /* half of one */
        "gemm 16 fp32 fp32 fp32 2 2 4 nn 3 2 0",                   /* rows overlap */
        "gemm 16 fp32 fp32 fp32 2 2 4 nn 4 3 0",                   /* one matrix has gaps */
        "gemm 16 fp32 fp32 fp32 2 2 4 nn 4 2 3",                   /* part of C */
        "gemm 16 fp32 fp32 fp33 2 2 4 nn 4 2 0",                   /* no format */
        "gemm 16 fp32 fp32 fp32 -2 2 4 nn 4 2 0",                  /* no number */
        "gemm 4194304 fp32 fp32 fp32 1 1 2097152 nn 2097152 1 0"}; /* beyond SHAPE_MOST */
    struct wire_request r;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char line[WIRE_LINE];
        struct problem p = {0};
        cr_assert(wire_parse(&r, good[i], &p) == STATUS_OK, "%s", p.text);
        wire_write(line, &r);
        line[strlen(line) - 1] = 0;
        cr_expect_str_eq(line, good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect(wire_parse(&r, bad[i], NULL) == STATUS_DATA, "%s", bad[i]);
}
