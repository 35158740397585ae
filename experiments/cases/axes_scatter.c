/* The axes of scatter-adds. */
#include <stdlib.h>

#include "experiments/cases/axes.h"
#include "experiments/cases/experiment.h"

static enum status refuse(const struct axes *axes, const struct request *r, struct problem *p)
{
    char others[128];
    experiments_of(others, sizeof others, &operation_scatter);
    for (enum axis axis = AXIS_KEYS; axis <= AXIS_BINS; axis++)
        if (r->axis[axis].count > 0)
            return problem(p, STATUS_USAGE,
                           "option --%s: found '%s' with %s, which runs no scatter-adds: expected "
                           "it with an experiment that does: %s",
                           axis_name[axis], r->axis[axis].item[0], axes->experiment->name, others);
    return STATUS_OK;
}

static enum status add_keys(struct axes *axes, const char *text, struct problem *p)
{
    struct keys *k = &axes->key[axes->keys];
    enum status status = keys_parse(k, text, p);
    for (size_t i = 0; status == STATUS_OK && i < axes->keys; i++)
        if (strcmp(axes->key[i].asked, k->asked) == 0) {
            keys_free(k);
            return STATUS_OK;
        }
    axes->keys += status == STATUS_OK;
    return status;
}

enum status axes_resolve_scatters(struct axes *axes, const struct request *r, struct problem *p)
{
    struct list list;
    if (!experiment_scatters(axes->experiment))
        return refuse(axes, r, p);
    enum status status = axes_words(&list, &r->axis[AXIS_KEYS], axes->experiment->keys, p);
    axes->key = calloc(list.count + 1, sizeof *axes->key);
    if (!axes->key)
        status = problem(p, STATUS_DEVICE, "out of memory for keys");
    for (size_t i = 0; status == STATUS_OK && i < list.count; i++)
        status = add_keys(axes, list.item[i], p);
    list_free(&list);
    return status == STATUS_OK ? axes_numbers(&axes->bins, r, AXIS_BINS, "1000", RANGE_DOUBLING, 1,
                                              KEYS_BINS_MAX, p)
                               : status;
}
