/* scatter/atomic: an atomic addition per element.
 *
 * Order: none that anybody could name. Each element is added to the running sum of its bin, which
 * starts from -0, in the order in which the threads get hold of it. This is index_add_ and
 * scatter_add_ of machine learning's libraries on GPUs. On the CPU real threads contend with
 * compare and exchange, each with a consecutive share of the elements. */
#include "kernels/scatter/bins.h"
#include "kernels/method/team.h"

static void add_share(void *context, unsigned thread)
{
    const struct task *t = context;
    scatter_add_atomically(t, &t->out, scatter_share(0, t->of->in.n, thread, t->shape.threads));
}

static enum status cpu(const struct task *t, struct problem *p)
{
    scatter_begin(t);
    return team_run(t->shape.threads, add_share, (void *)t, p);
}

const struct method scatter_atomic = {
    .name = "scatter/atomic",
    .summary = "an atomic addition per element, to its bin",
    .operation = &operation_scatter,
    .promise = PROMISE_NONE,
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS},
    .resolve = scatter_atomic_shape,
    .atomic = true,
    .bound = THEOREM_ANY_ORDER,
    .cpu = cpu,
};
