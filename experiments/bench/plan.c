#include "experiments/bench/plan.h"

#include <stdlib.h>

struct planning {
    struct bench_plan *plan;
    const struct axes *axes;
    enum device_kind device;
    enum format storage;
    size_t n;
};

/* Of one method, and what it is asked for, rows differ in the launch shape and segment alone. */
static bool repeated(const struct bench_plan *plan, size_t from, const struct bench_row *row)
{
    for (size_t i = from; i < plan->count; i++) {
        const struct bench_row *r = &plan->row[i];
        if (r->shape.threads == row->shape.threads && r->shape.blocks == row->shape.blocks &&
            setting_equal(&r->setting, &row->setting))
            return true;
    }
    return false;
}

static enum status add(struct bench_plan *plan, size_t from, const struct bench_row *row,
                       struct problem *p)
{
    if (repeated(plan, from, row))
        return STATUS_OK;
    if (plan->count == plan->capacity) {
        size_t capacity = 2 * plan->capacity + 64;
        struct bench_row *grown = realloc(plan->row, capacity * sizeof *grown);
        if (!grown)
            return problem(p, STATUS_DEVICE, "out of memory for a plan of %zu rows", capacity);
        plan->row = grown;
        plan->capacity = capacity;
    }
    plan->row[plan->count++] = *row;
    return STATUS_OK;
}

/* One method with every launch shape and segment. */
static enum status add_method(const struct planning *to, struct bench_row row, struct problem *p)
{
    const struct axes *axes = to->axes;
    const struct numbers *threads = &axes->threads, *blocks = &axes->blocks;
    size_t from = to->plan->count, segments = row.method->segmented ? axes->segment.count : 1;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < threads->count * blocks->count; i++)
        for (size_t s = 0; s < segments && status == STATUS_OK; s++) {
            struct shape asked = {(unsigned)threads->item[i / blocks->count],
                                  (unsigned)blocks->item[i % blocks->count]};
            row.shape = method_shape(row.method, to->device, to->n, asked);
            row.setting.segment = row.method->segmented ? axes->segment.item[s] : 0;
            status = add(to->plan, from, &row, p);
        }
    return status;
}

/* The methods of an operation; the vendor's routine first. */
static enum status add_methods(const struct planning *to, const struct operation *operation,
                               struct bench_row row, struct problem *p)
{
    const struct axes *axes = to->axes;
    enum status status = STATUS_OK;
    for (int vendor = 1; vendor >= 0; vendor--)
        for (size_t i = 0; i < axes->methods && status == STATUS_OK; i++) {
            row.method = axes->method[i];
            if (row.method->operation == operation && bench_is_vendor(row.method) == vendor &&
                (axes->method_named ||
                 method_supports(row.method, to->device, to->storage, row.accumulator)))
                status = add_method(to, row, p);
        }
    return status;
}

/* Matrices of so many rows, which lie so, or masks. */
static enum status add_matrices(const struct planning *to, const struct operation *o,
                                struct bench_row row, struct problem *p)
{
    static const struct layout rows = {LAYOUT_ROW, 0, "row"};
    const struct axes *axes = to->axes;
    const struct numbers *each = o->mask ? &axes->keep : &axes->rows;
    size_t layouts = o == &operation_rows ? axes->layouts : 1, stride;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < each->count; i++)
        for (size_t k = 0; k < layouts && status == STATUS_OK; k++) {
            row.setting.keep = o->mask ? (size_t)each->item[i] : 0;
            row.setting.bins = o->mask ? 0 : layout_rows(to->n, (size_t)each->item[i]);
            row.setting.layout = o == &operation_rows ? &axes->layout[k] : NULL;
            if (o->matrix)
                status = layout_stride(&stride, row.setting.layout ? row.setting.layout : &rows,
                                       to->n, row.setting.bins, p);
            if (status == STATUS_OK)
                status = add_methods(to, o, row, p);
        }
    return status;
}

/* With products formed as asked for, or each method's own way; the vendor's routine first. */
static enum status add_dots(const struct planning *to, struct bench_row row, struct problem *p)
{
    static const enum product_kind own = PRODUCT_UNKNOWN;
    const struct axes *axes = to->axes;
    const enum product_kind *way = axes->products ? axes->product : &own;
    size_t ways = axes->products ? axes->products : 1;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < 2 * axes->methods && status == STATUS_OK; i++) {
        row.method = axes->method[i % axes->methods];
        if (row.method->operation != &operation_dot ||
            bench_is_vendor(row.method) != (i < axes->methods) ||
            !(axes->method_named ||
              method_supports(row.method, to->device, to->storage, row.accumulator)))
            continue;
        bool is_own = way == &own || row.method->product == PRODUCT_UNKNOWN;
        for (size_t k = 0; k < (is_own ? 1 : ways) && status == STATUS_OK; k++) {
            row.setting.product = is_own ? row.method->product : way[k];
            if (row.method->products & 1u << row.setting.product)
                status = add_method(to, row, p);
        }
    }
    return status;
}

static enum status add_scans(const struct planning *to, struct bench_row row, struct problem *p)
{
    const struct axes *axes = to->axes;
    bool same = row.accumulator == to->storage;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < axes->scans; i++)
        for (size_t k = 0; k < (same ? 1 : axes->outputs) && status == STATUS_OK; k++) {
            row.setting.exclusive = axes->scan[i] == SCAN_EXCLUSIVE;
            row.setting.output = axes->output[k] == OUTPUT_STORAGE ? to->storage : row.accumulator;
            status = add_methods(to, &operation_scan, row, p);
        }
    return status;
}

static enum status plan_all(const struct planning *to, bool keys, struct problem *p)
{
    struct formats accumulator;
    enum status status = STATUS_OK;
    *to->plan = (struct bench_plan){0};
    pairs_with(&accumulator, &to->axes->pairs, to->storage);
    for (size_t i = 0; i < accumulator.count && status == STATUS_OK; i++) {
        enum format f = accumulator.item[i];
        const struct bench_row row = {.kind = BENCH_METHOD, .accumulator = f, .setting.output = f};
        for (size_t k = 0; operations[k] && status == STATUS_OK; k++)
            if (operations[k]->keys == keys)
                status = operations[k] == &operation_scan  ? add_scans(to, row, p)
                         : operations[k] == &operation_dot ? add_dots(to, row, p)
                         : operations[k]->keys || operation_plain(operations[k])
                             ? add_methods(to, operations[k], row, p)
                             : add_matrices(to, operations[k], row, p);
    }
    return status;
}

enum status bench_plan(struct bench_plan *plan, const struct axes *axes, enum device_kind device,
                       enum format storage, size_t n, struct problem *p)
{
    return plan_all(&(struct planning){plan, axes, device, storage, n}, false, p);
}

enum status bench_plan_keys(struct bench_plan *plan, const struct axes *axes,
                            enum device_kind device, enum format storage, size_t n,
                            struct problem *p)
{
    return plan_all(&(struct planning){plan, axes, device, storage, n}, true, p);
}

void bench_plan_free(struct bench_plan *plan)
{
    free(plan->row);
    *plan = (struct bench_plan){0};
}
