/* transpose/naive: each element to its place.
 *
 * Order: nothing is added. Element c of row r of a matrix in row-major order becomes element r of
 * row c, as it is encoded: NaNs keep their payloads. Either the reads or the writes lie far apart,
 * here the writes. Threads and blocks are a schedule. */
#include "kernels/method/matrix.h"
#include "kernels/scatter/bins.h"
#include "kernels/method/team.h"
#include "kernels/transpose/tile.h"

static void move_share(void *context, unsigned thread)
{
    const struct task *t = context;
    size_t rows = t->of->bins, columns = matrix_length(t->of->in.n, rows);
    struct scatter_share share = scatter_share(0, rows, thread, t->shape.threads);
    for (size_t r = share.begin; r < share.end; r++)
        for (size_t c = 0; c < columns; c++)
            array_set_bits(&t->out, c * rows + r, array_bits(&t->of->in, r * columns + c));
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return team_run(t->shape.threads, move_share, (void *)t, p);
}

const struct method transpose_naive = {
    .name = "transpose/naive",
    .summary = "each element to its place: reads side by side, writes far apart",
    .operation = &operation_transpose,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {TRANSPOSE_PAIRS, TRANSPOSE_PAIRS},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS},
    .resolve = scatter_each_shape,
    .addition = ADDITION_NONE,
    .bound = THEOREM_EXTREMUM,
    .cpu = cpu,
};
