/* Operands that lie in files of their own. */
#include <stdlib.h>

#include "experiments/cases/experiment.h"
#include "reference/base/grow.h"

static enum status read_all(struct data_set *all, const struct axes *axes, enum format storage,
                            struct problem *p)
{
    struct data_options options = {.storage = storage,
                                   .convert = axes->convert,
                                   .keep = axes_quantise(axes),
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

static enum status keep_both(struct request *r, enum axis axis, const struct arguments *a,
                             const struct experiment *e, struct problem *p)
{
    struct list *files = &r->axis[axis];
    size_t times;
    enum status status = argument_items(a, axis_name[axis], &times, p);
    if (status != STATUS_OK)
        return status;
    if (!axes_joins(e, times) || files->count == times)
        return STATUS_OK;
    return times == 2 && files->count == 1
               ? list_append(files, files->item[0], strlen(files->item[0]), p)
               : problem(p, STATUS_USAGE,
                         "option --%s: found %zu files, of which %zu differ, expected two, or "
                         "one file twice",
                         axis_name[axis], times, files->count);
}

/* Lists name each file once; a product of a matrix with itself needs it twice. */
enum status request_keep_both(struct request *r, const struct arguments *a,
                              const struct experiment *e, struct problem *p)
{
    enum status status = keep_both(r, AXIS_DATA, a, e, p);
    return status == STATUS_OK ? keep_both(r, AXIS_SCALES, a, e, p) : status;
}

bool axes_joins(const struct experiment *e, size_t files)
{
    const struct operation *o = experiment_only(e);
    return files >= 2 && o && operation_joins(o);
}

static enum status join_in(struct axes *axes, enum format storage, struct problem *p)
{
    struct data_set all = {0};
    struct data joined = {0};
    enum status status = read_all(&all, axes, storage, p);
    if (status == STATUS_OK)
        status = setting_join(&joined, experiment_only(axes->experiment), all.item, all.count,
                              &axes->setting, p);
    data_free(&all);
    if (status != STATUS_OK)
        return status;
    if (!grow(&axes->joined.item, axes->joined.count, sizeof joined)) {
        free(joined.name);
        free(joined.array.data);
        free(joined.wide.data);
        return problem(p, STATUS_MEMORY, "out of memory while reading data");
    }
    axes->joined.item[axes->joined.count++] = joined;
    return STATUS_OK;
}

enum status axes_join(struct axes *axes, struct problem *p)
{
    const struct formats *storage = &axes->data_storage;
    enum status status = STATUS_OK;
    if (!axes_joins(axes->experiment, axes->data.count) && axes->setting.scales.count == 0)
        return STATUS_OK;
    for (size_t i = 0; i < (storage->count ? storage->count : 1) && status == STATUS_OK; i++)
        status = join_in(axes, storage->count ? storage->item[i] : FORMATS, p);
    return status == STATUS_OK && axes->setting.given ? axes_hold_shapes(axes, p) : status;
}
