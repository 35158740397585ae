/* rows/atomic: atomic additions to the sum of each row.
 *
 * Order: depends on timing. Partial sums are added to the running sum of their row, which starts
 * from -0, in the order in which the threads reach them: a row's sum may depend on everything that
 * runs beside it. On the CPU they are single elements, and real threads contend with compare and
 * exchange, each with a consecutive share of the elements. On a GPU atomic.cu says what they are.
 */
#include "kernels/rows/rows.h"
#include "kernels/scatter/bins.h"
#include "kernels/blocks/shared_add.h"
#include "kernels/method/team.h"

static void add_share(void *context, unsigned thread)
{
    const struct task *t = context;
    enum format f = t->out.format;
    size_t width = (size_t)format_facts[f].bytes, length = matrix_length(t->of->in.n, t->of->bins),
           count;
    struct scatter_share share = scatter_share(0, t->of->in.n, thread, t->shape.threads);
    double block[ARRAY_BLOCK];
    for (size_t i = share.begin; i < share.end; i += count) {
        count = share.end - i < ARRAY_BLOCK ? share.end - i : ARRAY_BLOCK;
        array_decode(&t->of->in, i, count, block);
        for (size_t j = 0; j < count; j++)
            shared_add(f, (char *)t->out.data + width * matrix_row(i + j, length, t->of->stride),
                       format_round(f, block[j]));
    }
}

static enum status cpu(const struct task *t, struct problem *p)
{
    double identity = t->of->in.n > 0 ? -0.0 : 0;
    for (size_t r = 0; r < t->of->bins; r++)
        array_encode(&t->out, r, 1, &identity);
    return team_run(t->shape.threads, add_share, (void *)t, p);
}

const struct method rows_atomic = {
    .name = "rows/atomic",
    .summary = "atomic additions to the sum of each row",
    .operation = &operation_rows,
    .promise = PROMISE_NONE,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS},
    .resolve = scatter_atomic_shape,
    .atomic = true,
    .bound = THEOREM_ANY_ORDER,
    .cpu = cpu,
};
