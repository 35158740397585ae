/* sum/atomic: an atomic addition per element.
 *
 * Order: none that anybody could name. Every element is added to one accumulator, which starts
 * from -0, in the order in which the threads get hold of it. On the CPU real threads contend with
 * compare and exchange. */
#include "kernels/sum/shared_sum.h"

static struct shape resolve(size_t n, enum device_kind device, struct shape asked)
{
    if (device == DEVICE_CPU)
        return (struct shape){.threads = shared_sum_threads(n, 1, asked)};
    unsigned threads = asked.threads ? asked.threads : 256;
    return (struct shape){.threads = threads > THREADS_MAX ? THREADS_MAX : threads};
}

static double itself(enum format f, double *v, size_t count)
{
    (void)f, (void)count;
    return v[0];
}

static enum status cpu(const struct task *t, struct problem *p)
{
    return shared_sum_run(t, 1, itself, p);
}

const struct method sum_atomic = {
    .name = "sum/atomic",
    .summary = "an atomic addition per element",
    .operation = &operation_sum,
    .promise = PROMISE_NONE,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS},
    .resolve = resolve,
    .atomic = true,
    .bound = THEOREM_ANY_ORDER,
    .cpu = cpu,
};
