/* The axes of sums of rows, transpositions and compactions. */
#include <stdlib.h>

#include "experiments/cases/axes.h"
#include "experiments/cases/experiment.h"
#include "experiments/inputs/mask.h"

static enum status refuse(const struct axes *axes, const struct request *r, struct problem *p)
{
    char others[128];
    experiments_of(others, sizeof others, &operation_rows);
    for (enum axis axis = AXIS_ROWS; axis <= AXIS_KEEP; axis++)
        if (r->axis[axis].count > 0)
            return problem(p, STATUS_USAGE,
                           "option --%s: found '%s' with %s, which runs no matrices: expected it "
                           "with an experiment that does: %s",
                           axis_name[axis], r->axis[axis].item[0], axes->experiment->name, others);
    return STATUS_OK;
}

static enum status add_layouts(struct axes *axes, const struct list *words, struct problem *p)
{
    enum status status = STATUS_OK;
    axes->layout = calloc(words->count + 1, sizeof *axes->layout);
    if (!axes->layout)
        return problem(p, STATUS_DEVICE, "out of memory for layouts");
    for (size_t i = 0; status == STATUS_OK && i < words->count; i++)
        status = layout_parse(&axes->layout[axes->layouts++], words->item[i], p);
    return status;
}

enum status axes_resolve_rows(struct axes *axes, const struct request *r, struct problem *p)
{
    struct list list;
    const char *rows = axes->experiment->rows ? axes->experiment->rows : "0";
    if (!experiment_matrices(axes->experiment))
        return refuse(axes, r, p);
    enum status status = axes_words(&list, &r->axis[AXIS_LAYOUT], "row,column", p);
    if (status == STATUS_OK)
        status = add_layouts(axes, &list, p);
    list_free(&list);
    if (status == STATUS_OK)
        status =
            axes_numbers(&axes->rows, r, AXIS_ROWS, rows, RANGE_DOUBLING, 0, LAYOUT_ROWS_MAX, p);
    return status == STATUS_OK
               ? axes_numbers(&axes->keep, r, AXIS_KEEP, "50", RANGE_DOUBLING, 0, MASK_ALL, p)
               : status;
}
