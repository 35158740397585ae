/* bench: which rows a request makes. */
#include <criterion/criterion.h>

#include "experiments/bench/plan.h"
#include "experiments/cases/experiment.h"

static size_t planned_rows(const struct bench_plan *plan, const char *method)
{
    size_t rows = 0;
    for (size_t i = 0; i < plan->count; i++)
        rows += strcmp(plan->row[i].method->name, method) == 0;
    return rows;
}

/* Each method with all that it reads, once. */
Test(bench_plan, plan_of_an_input)
{
    static const char *const word[AXES] = {
        [AXIS_METHOD] = "sum/serial,sum/tiled,scan/serial,scan/segmented,cub/scan",
        [AXIS_METHOD_NAMED] = "yes",
        [AXIS_DEVICE] = "cpu",
        [AXIS_STORAGE] = "fp16,fp64",
        [AXIS_ACCUMULATOR] = "fp16,fp32",
        [AXIS_THREADS] = "1,2,8",
        [AXIS_SCAN] = "inclusive,exclusive",
        [AXIS_SEGMENT] = "0,10,20",
        [AXIS_OUTPUT] = "accumulator,storage",
        [AXIS_BLOCKS] = "7,9",
    };
    static const struct experiment any = {
        .name = "any", .axes = {[DEVICE_CPU] = {.formats = "all", .input = "ones", .n = "9"}}};
    struct request request = {0};
    struct axes axes;
    struct bench_plan plan;
    struct problem p = {0};
    for (size_t i = 0; i < AXES; i++)
        if (word[i])
            cr_assert(list_split(&request.axis[i], word[i], &p) == STATUS_OK);
    cr_assert(axes_resolve(&axes, &any, &request, &p) == STATUS_OK, "%s", p.text);
    cr_assert(bench_plan(&plan, &axes, DEVICE_CPU, FP16, 1 << 20, &p) == STATUS_OK);
    /* fp16/fp16 has one output format, fp16/fp32 two: with either kind of scan 6 in all. */
    cr_expect(planned_rows(&plan, "sum/serial") == 2);
    cr_expect(planned_rows(&plan, "sum/tiled") == 2 * 3);
    cr_expect(planned_rows(&plan, "scan/serial") == 6);
    cr_expect(planned_rows(&plan, "scan/segmented") == 6 * 3 * 3);
    cr_expect(planned_rows(&plan, "cub/scan") == 6, "asked for by name it is a row");
    cr_expect(plan.count == 2 + 6 + 6 + 54 + 6, "%zu rows", plan.count);
    for (size_t i = 0; i < plan.count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct bench_row *a = &plan.row[i], *b = &plan.row[k];
            bool same = a->method == b->method && a->accumulator == b->accumulator &&
                        a->setting.output == b->setting.output &&
                        a->setting.exclusive == b->setting.exclusive &&
                        a->setting.segment == b->setting.segment &&
                        a->shape.threads == b->shape.threads;
            cr_assert(!same, "%s: rows %zu and %zu", a->method->name, k, i);
            /* The vendor's routine comes before the others of its kind. */
            cr_assert(!(a->method->vendor && b->method->operation == &operation_scan &&
                        a->accumulator == b->accumulator &&
                        a->setting.output == b->setting.output &&
                        a->setting.exclusive == b->setting.exclusive));
        }
    bench_plan_free(&plan);
    struct keys keys[2];
    uint64_t bins[] = {10, 20};
    for (size_t i = 0; i < 2; i++)
        cr_assert(keys_parse(&keys[i], i ? "one" : "uniform", &p) == STATUS_OK);
    axes.method[0] = method_named("scatter/sort");
    axes.setting.key = keys;
    axes.setting.keys = 2;
    axes.setting.bins = (struct numbers){2, bins};
    cr_assert(bench_plan(&plan, &axes, DEVICE_CPU, FP16, 1 << 20, &p) == STATUS_OK);
    cr_expect(planned_rows(&plan, "scatter/sort") == 2 * 2 * 2 * 3, "%zu rows", plan.count);
    size_t groups = 1;
    for (size_t i = 1; i < plan.count; i++)
        groups += !setting_same_keys(&plan.row[i - 1].setting, &plan.row[i].setting);
    cr_expect(groups == 1 + 2 * 2, "found %zu groups of the same keys", groups);
    bench_plan_free(&plan);
    axes.setting.keys = 0;
    axes.setting.key = NULL;
    axes.setting.bins = (struct numbers){0};
    for (size_t i = 0; i < 2; i++)
        keys_free(&keys[i]);
    axes.method_named = false;
    cr_assert(bench_plan(&plan, &axes, DEVICE_CPU, FP16, 1 << 20, &p) == STATUS_OK);
    cr_expect(planned_rows(&plan, "cub/scan") == 0, "unsupported, and nobody asked for it");
    bench_plan_free(&plan);
    axes_free(&axes);
    request_free(&request);
}
