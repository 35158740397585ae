/* A build without CUDA; object_load has refused by then. */
#include "experiments/subjects/object.h"

enum status object_run_cuda(const struct ulpscope_subject *s, const struct task *t,
                            struct ulpscope_task *call, uint64_t *time_ns, struct problem *p)
{
    (void)t, (void)call, (void)time_ns;
    return problem(p, STATUS_DEVICE, "%s: this program was built without CUDA", s->name);
}
