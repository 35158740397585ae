#include "tests/support/products.h"

#include <math.h>

void product_fill(struct product_case *p, const struct gemm_shape *shape, enum format storage,
                  enum format output, enum sample kind, uint64_t seed)
{
    size_t n = gemm_c_begins(shape);
    p->of = (struct operands){.in = {storage, n, p->in},
                              .gemm = *shape,
                              .bins = shape->m * shape->n,
                              .c = {output, shape->m * shape->n, p->c}};
    struct array wide = {FP64, n, p->c};
    sample_fill(storage < ACCUMULATORS ? &p->of.in : &wide, kind, output, seed);
    for (size_t i = 0; storage >= ACCUMULATORS && i < n; i++)
        array_encode(&p->of.in, i, 1, &(double){p->c[i]});
    sample_fill(&p->of.c, kind, output, seed + 1);
    for (size_t i = 0; i < n; i++) {
        size_t lda = gemm_lda(shape), ldb = gemm_ldb(shape), b = gemm_b_begins(shape);
        if (i < b ? i % lda >= lda - shape->pad : (i - b) % ldb >= ldb - shape->pad)
            array_encode(&p->of.in, i, 1, &(double){NAN});
    }
}

bool product_shape(struct gemm_shape *shape, size_t i)
{
    static const struct gemm_shape shapes[] = {
        {.m = 1, .n = 1, .k = 0},   {.m = 1, .n = 1, .k = 1},   {.m = 2, .n = 3, .k = 5},
        {.m = 3, .n = 1, .k = 17},  {.m = 1, .n = 2, .k = 128}, {.m = 2, .n = 1, .k = 129},
        {.m = 1, .n = 1, .k = 257}, {.m = 0, .n = 3, .k = 4},   {.m = 1, .n = 1, .k = 400}};
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    *shape = shapes[i / 4 < SHAPES ? i / 4 : 0];
    shape->a_column = i & 1;
    shape->b_column = i & 2;
    shape->pad = i % 3;
    return i / 4 < SHAPES;
}

enum status product_run(const struct method *m, const struct product_case *p,
                        enum format accumulator, enum format output, struct shape asked,
                        double out[PRODUCT_ROOM])
{
    double encoded[PRODUCT_ROOM];
    struct task task = {.of = &p->of,
                        .out = {output, p->of.bins, encoded},
                        .accumulator = accumulator,
                        .shape = method_shape(m, DEVICE_CPU, p->of.in.n, asked),
                        .method = m,
                        .device = -1};
    struct problem problem_ = {0};
    enum status status = m->cpu(&task, &problem_);
    for (size_t i = 0; i < p->of.bins; i++)
        out[i] = array_get(&task.out, i);
    return status;
}
