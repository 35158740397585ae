/* The axes of dot products. */
#include "experiments/cases/axes.h"
#include "experiments/cases/experiment.h"

static enum status refuse(const struct axes *axes, const struct request *r, struct problem *p)
{
    char others[128];
    experiments_of(others, sizeof others, &operation_dot);
    for (enum axis axis = AXIS_PRODUCT; axis <= AXIS_SHIFT; axis++)
        if (r->axis[axis].count > 0)
            return problem(p, STATUS_USAGE,
                           "option --%s: found '%s' with %s, which runs no dot products: expected "
                           "it with an experiment that does: %s",
                           axis_name[axis], r->axis[axis].item[0], axes->experiment->name, others);
    for (size_t i = 0; i < axes->inputs; i++)
        if (axes->input[i].family->pair)
            return problem(p, STATUS_USAGE,
                           "option --input: found %s, two arrays, with %s, which runs no dot "
                           "products: expected it with an experiment that does: %s",
                           axes->input[i].family->name, axes->experiment->name, others);
    return STATUS_OK;
}

static enum status add_product(struct axes *axes, const char *name, struct problem *p)
{
    enum product_kind k = PRODUCT_ROUNDED;
    while (k <= PRODUCT_EXACT && strcmp(name, product_name[k]) != 0)
        k++;
    for (size_t i = 0; i < axes->products; i++)
        if (axes->product[i] == k)
            return STATUS_OK;
    if (k > PRODUCT_EXACT)
        return problem(p, STATUS_USAGE,
                       "option --product: found '%s', expected rounded, fused or exact", name);
    axes->product[axes->products++] = k;
    return STATUS_OK;
}

enum status axes_resolve_dots(struct axes *axes, const struct request *r, struct problem *p)
{
    struct list list;
    if (!experiment_dots(axes->experiment))
        return refuse(axes, r, p);
    enum status status = axes_words(&list, &r->axis[AXIS_PRODUCT], NULL, p);
    for (size_t i = 0; status == STATUS_OK && i < list.count; i++)
        status = add_product(axes, list.item[i], p);
    list_free(&list);
    return status == STATUS_OK ? axes_numbers(&axes->shift, r, AXIS_SHIFT, "1", RANGE_DOUBLING, 0,
                                              MEMORY_ELEMENTS_MAX, p)
                               : status;
}
