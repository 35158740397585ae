/* Operands that lie in files of their own. */
#include <stdlib.h>

#include "experiments/cases/experiment.h"
#include "reference/base/grow.h"

static enum status read_all(struct data_set *all, const struct axes *axes, struct problem *p)
{
    struct data_options options = {.storage = axes->data_storage.count ? axes->data_storage.item[0]
                                                                       : FORMATS,
                                   .convert = axes->convert,
                                   .saturate = axes->saturate,
                                   .raw = axes->raw};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < axes->data.count && status == STATUS_OK; i++) {
        struct data_set one;
        status = data_read(&one, axes->data.item[i], &options, p);
        for (size_t k = 0; status == STATUS_OK && k < one.count; k++) {
            if (!grow(&all->item, all->count, sizeof *all->item)) {
                status = problem(p, STATUS_MEMORY, "out of memory for %s", one.item[k].name);
                break;
            }
            all->item[all->count++] = one.item[k];
            one.item[k] = (struct data){0};
        }
        if (one.item)
            data_free(&one);
    }
    return status;
}

enum status axes_join(struct axes *axes, struct problem *p)
{
    const struct operation *o = experiment_only(axes->experiment);
    struct data_set all = {0};
    struct data joined = {0};
    if (axes->data.count < 2 || !o || !operation_joins(o))
        return STATUS_OK;
    enum status status = read_all(&all, axes, p);
    if (status == STATUS_OK)
        status = setting_join(&joined, o, all.item, all.count, &axes->setting, p);
    data_free(&all);
    if (status != STATUS_OK)
        return status;
    axes->joined.item = malloc(sizeof joined);
    if (!axes->joined.item) {
        free(joined.name);
        free(joined.array.data);
        return problem(p, STATUS_MEMORY, "out of memory while reading data");
    }
    axes->joined.item[axes->joined.count++] = joined;
    return STATUS_OK;
}
