/* The axis of load. */
#include "experiments/cases/axes.h"
#include "experiments/cases/experiment.h"

enum status axes_resolve_load(struct axes *axes, const struct request *r, const char *otherwise,
                              struct problem *p)
{
    const struct experiment *e = axes->experiment;
    size_t which[LOAD_KINDS];
    char others[128];
    axes->load[0] = LOAD_IDLE;
    axes->loads = 1;
    experiments_that(others, sizeof others, experiment_loads);
    if (!otherwise)
        return r->axis[AXIS_LOAD].count == 0
                   ? STATUS_OK
                   : problem(p, STATUS_USAGE,
                             "option --load: found '%s' with %s, which loads nothing: expected it "
                             "with an experiment that does: %s",
                             r->axis[AXIS_LOAD].item[0], e->name, others);
    enum status status = axes_names(which, &axes->loads, load_name, r, AXIS_LOAD, otherwise, p);
    for (size_t i = 0; status == STATUS_OK && i < axes->loads; i++)
        axes->load[i] = (enum load_kind)which[i];
    return status;
}
