/* run gemm: how wrong are the elements of matrix products, and which is the worst? */
#include "experiments/cases/experiment.h"
#include "experiments/operations/operation.h"
#include "experiments/studies/gemm_scales.h"
#include "experiments/studies/says.h"
#include "experiments/studies/scan_table.h"

/* Does the case differ from `a` in the method, its chip and its interval alone? */
static bool beside(const struct study_case *a, const struct study_case *b)
{
    return a->source == b->source && a->accumulator == b->accumulator &&
           a->setting.output == b->setting.output &&
           shape_equal(&a->setting.shape, &b->setting.shape) && a->device.kind == b->device.kind;
}

static bool measured(const struct study_case *t)
{
    return t->finished && t->supported && t->summary.err_ulp_max.known;
}

/* gemm/tiled of the same product; NULL: it did not run. */
static const struct study_case *twin_of(const struct plan *plan, const struct study_case *of)
{
    const struct method *m = method_named(setting_twin(of->method->operation, &of->setting));
    for (size_t i = 0; i < plan->case_count; i++)
        if (plan->cases[i].method == m && measured(&plan->cases[i]) && beside(of, &plan->cases[i]))
            return &plan->cases[i];
    return NULL;
}

/* How many times its error; infinite where that has none. */
static double departs(const struct plan *plan, const struct study_case *t)
{
    const struct study_case *twin = twin_of(plan, t);
    double error = t->summary.err_ulp_max.value;
    return error == 0 || !twin ? error : error / twin->summary.err_ulp_max.value;
}

/* The product on which an instruction of the chip departs most; NULL: none ran. */
static const struct study_case *worst_of(const struct plan *plan, const char *chip)
{
    const struct study_case *worst = NULL;
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        if (t->setting.chip != chip || t->setting.promote || !measured(t))
            continue;
        double by = departs(plan, t), most = worst ? departs(plan, worst) : -1;
        if (by > most ||
            (by == most && t->summary.err_ulp_max.value > worst->summary.err_ulp_max.value))
            worst = t;
    }
    return worst;
}

/* "gemm/promoted every 32 products by 772 ulp" */
static void add_one(struct text *line, const struct study_case *t)
{
    text_add(line, t->method->name);
    if (t->setting.promote)
        text_format(line, " every %zu products", t->setting.promote);
    text_add(line, " by ");
    says_ulps(line, t->summary.err_ulp_max.value);
}

/* Of each chip the product in which its instructions err most beside gemm/tiled, and what others
 * make of that. */
static void says_chips(struct text *to, const struct plan *plan)
{
    for (size_t c = 0; c < plan->axes->setting.chips; c++) {
        const char *chip = plan->axes->setting.chip[c];
        const struct study_case *worst = worst_of(plan, chip);
        const struct study_case *twin = worst ? twin_of(plan, worst) : NULL;
        struct text line = {0};
        if (!worst)
            continue;
        text_format(&line, "%s errs most", chip);
        if (twin)
            text_format(&line, ", compared with %s,", twin->method->name);
        text_format(&line, " when %s is added in %s: ",
                    format_facts[plan->source[worst->source].array.format].name,
                    format_facts[worst->accumulator].name);
        add_one(&line, worst);
        for (size_t i = 0; i < plan->case_count; i++) {
            const struct study_case *t = &plan->cases[i];
            if (t->setting.chip == chip && t != worst && measured(t) && beside(worst, t)) {
                text_add(&line, ", ");
                add_one(&line, t);
            }
        }
        if (twin) {
            text_add(&line, "; ");
            add_one(&line, twin);
        }
        says_line(to, &line);
    }
}

/* The most scales that a shape has. */
static enum gemm_scaling scaled(const struct plan *plan)
{
    enum gemm_scaling most = GEMM_UNSCALED;
    for (size_t i = 0; i < plan->axes->setting.shapes; i++)
        if (plan->axes->setting.shape[i].scaling > most)
            most = plan->axes->setting.shape[i].scaling;
    return most;
}

static enum status draw(struct text *to, const struct plan *plan, const char *out,
                        struct problem *p)
{
    (void)out;
    says_chips(to, plan);
    says_repeats_and_errors(to, plan);
    enum status status = gemm_scales_says(to, plan, p);
    if (status != STATUS_OK)
        return status;
    text_add(to, "\n");
    if (scaled(plan) > GEMM_SCALED_BY_AMAX)
        says_legend(to, "D = A B + C of elements times their scales where a shape has scales.");
    else if (scaled(plan))
        says_legend(to, "D = (scale of A) (scale of B) A B + C where a shape has scales.");
    says_legend(
        to,
        "D = A B + C. distinct: different products in how many runs. worst: the element "
        "(row,column) with the largest error, in ulps; rms: over all elements; of bound: above 1 a "
        "bug in the method or in its bound. differ: the share of elements that differ from "
        "gemm/tiled; rel_diff: their mean relative difference. Behind a method the chip whose "
        "matrix instruction it models, fp32 elements as tf32; after the slash, the number of "
        "products between promotions.");
    text_add(to, "\n");
    return scan_tables_product(to, plan, p);
}

#define FORMATS_OF_PRODUCTS "e4m3/fp32,fp16/fp16,fp16/fp32,bf16/fp32,fp32/fp32,fp64/fp64"

const struct experiment experiment_gemm = {
    .name = "gemm",
    .summary = "how wrong the elements of matrix products are, by method, formats and shape",
    .operation = {&operation_gemm},
    .shape = "64x64x256",
    .rounds_matrices = true,
    .axes =
        {
            [DEVICE_CPU] =
                {.formats = FORMATS_OF_PRODUCTS, .input = "symmetric", .n = "1", .runs = 3},
            [DEVICE_CUDA] =
                {.formats = FORMATS_OF_PRODUCTS, .input = "symmetric", .n = "1", .runs = 3},
        },
    .table = draw,
    .derive = gemm_scales_write,
    .derived = gemm_scales_files,
};
