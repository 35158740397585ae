/* Matrix products of a shared object under the scope: one in order of k, one that splits k in two
 * where D has few rows, as libraries do so that all of a machine's cores have work.
 *
 *     cc -O2 -shared -fPIC -Ikernels experiments/examples/product.c -o build/product.so
 *     build/ulpscope check build/product.so:in_order build/product.so:few_rows --device cpu
 *     build/ulpscope run gemm --device cpu --method build/product.so:in_order,gemm/tiled
 */
#include "ulpscope_subject.h" /* in kernels/; `cmake --install` puts it into include/ */

/* Products `from` .. `to` - 1 of element (i, j), onto `sum`. */
static float onto(float sum, const struct ulpscope_matrices *x, size_t i, size_t j, size_t from,
                  size_t to)
{
    const float *a = x->a, *b = x->b;
    for (size_t k = from; k < to; k++)
        sum += a[x->a_column ? k * x->lda + i : i * x->lda + k] *
               b[x->b_column ? j * x->ldb + k : k * x->ldb + j];
    return sum;
}

static int product(const struct ulpscope_task *t, int halves)
{
    const struct ulpscope_matrices *x = t->matrices;
    const float *c = x->c;
    float *out = t->out;
    for (size_t i = 0; i < x->m; i++)
        for (size_t j = 0; j < x->n; j++) {
            size_t at = i * x->n + j, half = halves ? x->k / 2 : x->k;
            float sum = onto(c ? c[at] : 0, x, i, j, 0, half);
            out[at] = halves ? sum + onto(0, x, i, j, half, x->k) : sum;
        }
    return 0;
}

static int in_order(const struct ulpscope_task *t)
{
    return product(t, 0);
}

static int few_rows(const struct ulpscope_task *t)
{
    return product(t, t->matrices->m < 16);
}

static const struct ulpscope_subject subject[] = {
    {
        .name = "in_order",
        .summary = "each element's products one after the other, onto C",
        .operation = ULPSCOPE_GEMM,
        .memory = ULPSCOPE_HOST,
        .promise = ULPSCOPE_GPU_TO_GPU,
        .pairs = ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP32),
        .reads = ULPSCOPE_BATCH_INVARIANT, /* a claim, beside its promise */
        .run = in_order,
    },
    {
        .name = "few_rows",
        .summary = "the same, in two halves of k for fewer than 16 rows",
        .operation = ULPSCOPE_GEMM,
        .memory = ULPSCOPE_HOST,
        .promise = ULPSCOPE_RUN_TO_RUN,
        .pairs = ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP32),
        .run = few_rows,
    },
};

const struct ulpscope_subjects ulpscope_subjects = {ULPSCOPE_SUBJECT_VERSION,
                                                    sizeof subject / sizeof *subject, subject};
