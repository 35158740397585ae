/* The axes of scans. */
#include "experiments/cases/axes.h"
#include "experiments/cases/experiment.h"

enum { NAMES = 2 };
_Static_assert((int)SCAN_KINDS == NAMES && (int)OUTPUT_KINDS == NAMES, "names of an axis");

enum status axes_names(size_t which[NAMES], size_t *count, const char *const name[NAMES],
                       const struct request *r, enum axis axis, const char *otherwise,
                       struct problem *p)
{
    struct list list;
    enum status status = axes_words(&list, &r->axis[axis], otherwise, p);
    *count = 0;
    for (size_t i = 0; status == STATUS_OK && i < list.count; i++) {
        size_t found = 0;
        while (found < NAMES && strcmp(list.item[i], name[found]) != 0)
            found++;
        if (found == NAMES)
            status = problem(p, STATUS_USAGE, "option --%s: found '%s', expected %s or %s",
                             axis_name[axis], list.item[i], name[0], name[1]);
        else if (*count == 0 || (*count == 1 && which[0] != found))
            which[(*count)++] = found;
    }
    list_free(&list);
    return status;
}

static enum status refuse(const struct experiment *e, const struct request *r, struct problem *p)
{
    char others[128];
    experiments_of(others, sizeof others, &operation_scan);
    for (enum axis axis = AXIS_SCAN; axis <= AXIS_SEGMENT; axis++)
        if (r->axis[axis].count > 0)
            return problem(p, STATUS_USAGE,
                           "option --%s: found '%s' with %s, which runs no scans: expected it with "
                           "an experiment that does: %s",
                           axis_name[axis], r->axis[axis].item[0], e->name, others);
    return STATUS_OK;
}

enum status axes_resolve_scans(struct axes *axes, const struct request *r, struct problem *p)
{
    const struct experiment *e = axes->experiment;
    size_t scan[NAMES], output[NAMES];
    if (!experiment_scans(e))
        return refuse(e, r, p);
    enum status status = axes_names(scan, &axes->scans, scan_name, r, AXIS_SCAN, "inclusive", p);
    if (status == STATUS_OK)
        status = axes_names(output, &axes->outputs, output_name, r, AXIS_OUTPUT,
                            e->output ? e->output : "accumulator", p);
    for (size_t i = 0; status == STATUS_OK && i < axes->scans; i++)
        axes->scan[i] = (enum scan_kind)scan[i];
    for (size_t i = 0; status == STATUS_OK && i < axes->outputs; i++)
        axes->output[i] = (enum output_kind)output[i];
    return status == STATUS_OK ? axes_numbers(&axes->segment, r, AXIS_SEGMENT, "1000",
                                              RANGE_DOUBLING, 0, MEMORY_ELEMENTS_MAX, p)
                               : status;
}
