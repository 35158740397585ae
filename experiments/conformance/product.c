#include "experiments/conformance/product.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/operations/operation.h"
#include "kernels/mma/mma.h"

enum { SIDE = 2 };

bool special_multiplies(const struct method *m)
{
    return operation_reads_c(m->operation);
}

bool special_is_scan(const struct method *m)
{
    return operation_asks(m->operation, SETTING_SCAN);
}

bool special_reads_rows(const struct method *m)
{
    return operation_asks(m->operation, SETTING_ROWS);
}

bool special_reads_two(const struct method *m)
{
    return operation_has(m->operation, OPERAND_IN2) || special_multiplies(m);
}

struct gemm_shape special_product_shape(const struct method *m, size_t n)
{
    return (struct gemm_shape){
        .m = SIDE, .n = SIDE, .k = n > 0 && !m->no_c ? n - 1 : n, .no_c = m->no_c || n == 0};
}

/* Models of instructions read fp32 as tf32, without the low 13 bits: these are 0. */
static void read_as_tf32(const struct array *a)
{
    const uint64_t mask = ~((UINT64_C(1) << mma_elements[MMA_TF32].ignored) - 1);
    for (size_t i = 0; i < a->n; i++)
        if (!isnan(array_get(a, i)))
            array_set_bits(a, i, array_bits(a, i) & mask);
}

void special_product_settle(const struct conformance_subject *s, const struct special_input *in)
{
    if (s->method->of_chip && s->storage == FP32) {
        read_as_tf32(&in->x);
        read_as_tf32(&in->y);
    }
    const size_t last = in->x.n - 1;
    if (!special_multiplies(s->method) || s->method->no_c || in->x.n == 0)
        return;
    const double given = array_get(&in->x, last);
    const double c = format_round(s->accumulator, given);
    array_encode(&in->x, last, 1, &c);
    const double kept = array_get(&in->x, last);
    if (!(isnan(kept) && isnan(c)) && double_bits(kept) != double_bits(c))
        array_encode(&in->x, last, 1, &(double){1});
    array_encode(&in->y, last, 1, &(double){1});
}

void special_product_fill(const struct conformance_subject *s, const struct array *operands,
                          const struct array *c, const struct special_input *in)
{
    const struct gemm_shape shape = special_product_shape(s->method, in->x.n);
    for (size_t k = 0; k < shape.k; k++)
        for (size_t i = 0; i < SIDE; i++) {
            array_set_bits(operands, gemm_a_at(&shape, i, k), array_bits(&in->x, k));
            array_set_bits(operands, gemm_b_at(&shape, k, i), array_bits(&in->y, k));
        }
    const double last = shape.no_c ? 0 : array_get(&in->x, shape.k);
    for (size_t i = 0; i < c->n; i++)
        array_encode(c, i, 1, &last);
}

enum status special_product_bound(double *bound, const struct conformance_subject *s,
                                  const struct special_input *in, struct problem *p)
{
    const struct gemm_shape shape = special_product_shape(s->method, in->x.n);
    const size_t n = gemm_c_begins(&shape);
    double room[SIDE * SIDE] = {0};
    struct operands of = {.in = {s->storage, n, calloc(n + 1, sizeof(double))},
                          .bins = SIDE * SIDE,
                          .gemm = shape,
                          .c = {s->accumulator, SIDE * SIDE, room},
                          .chip = s->chip};
    struct matrices m;
    struct matrices_packed packed;
    *bound = INFINITY;
    if (!of.in.data)
        return problem(p, STATUS_MEMORY, "special: out of memory for %zu elements", n);
    special_product_fill(s, &of.in, &of.c, in);
    enum status status = STATUS_OK;
    if (s->method->given && setting_matrices(&m, s->method->operation, &of)) {
        status = matrices_pack(&packed, &m, p);
        if (status == STATUS_OK) {
            *bound =
                s->method->given(&of, s->accumulator,
                                 method_shape(s->method, s->device.kind, n, s->shape), &packed, 0);
            matrices_free(&packed);
        }
    }
    free(of.in.data);
    return status;
}
