#include "reports/columns.h"

const struct column case_columns[CASE_COLUMNS] = {
    [CASE_EXPERIMENT] = {"experiment", "", "the sweep that the row belongs to"},
    [CASE_ID] = {"case_id", "",
                 "16 hexadecimal digits made of everything that makes the case: the same on every "
                 "machine"},
    [CASE_METHOD] = {"method", "", "the method, as `list methods` names it"},
    [CASE_PROMISE] = {"promise", "", "what the method claims of its bits"},
    [CASE_DEVICE] = {"device", "", "cpu, or cuda: and the GPU's number"},
    [CASE_STORAGE] = {"storage", "", "format that the input is kept in"},
    [CASE_ACCUMULATOR] = {"accumulator", "", "format that additions are done in"},
    [CASE_INPUT] = {"input", "", "the generated input's specification, or the data's name"},
    [CASE_N] = {"n", "elements", "length of the input"},
    [CASE_COND_LOG2] = {"cond_log2", "bits",
                        "log2 of the condition number sum|x| / |sum x| of the stored input, "
                        "measured; inf where the exact sum is 0"},
    [CASE_SEED] = {"seed", "", "the seed asked for; empty for data"},
    [CASE_THREADS] = {"threads", "threads",
                      "to a block on a GPU, threads used on the CPU; empty where the method does "
                      "not read it"},
    [CASE_BLOCKS] = {"blocks", "blocks", "in the grid; empty where the method does not read it"},
};

static const struct column run_column = {"run", "", "number of the run within its case, from 1"};

static const struct column result_columns[RESULTS_COLUMNS - RESULTS_RESULT] = {
    {"result", "", "what the method returned, to 17 significant digits (exact to read back)"},
    {"result_hex", "", "the same as a C99 hex float"},
    {"result_bits", "", "its encoding in the accumulator's format; every NaN as the canonical one"},
    {"exact", "", "the exact sum, correctly rounded to 17 significant digits"},
    {"exact_hex", "", "the exact sum, all its bits, as a hex float"},
    {"err_abs", "", "|result - exact|"},
    {"err_rel", "", "err_abs / |exact|; empty where exact is 0"},
    {"err_ulp", "ulp", "err_abs / ulp(exact) in the accumulator's format"},
    {"err_backward", "", "err_abs / sum|x|"},
    {"bound", "",
     "what err_abs cannot exceed by the theorem that holds for the method, rounded up; empty where "
     "the theorem says nothing: an inf or NaN among the input, a result that is not finite"},
    {"err_over_bound", "", "err_abs / bound before either is rounded: above 1 the bound is broken"},
    {"time_ns", "ns",
     "device time of the run, a cold start included; where runs are launched in batches, the "
     "batch's share (for speed see `bench`)"},
    {"status", "",
     "ok; overflow (result not finite although the exact sum is within range); nan; unsupported; "
     "error"},
};

static const struct column statistics_columns[SUMMARY_COLUMNS - SUMMARY_RUNS] = {
    {"runs", "runs", "executions of the case; 0 where it is unsupported"},
    {"distinct", "results", "different results, compared as bits"},
    {"mode_share", "", "share of the runs that gave the most frequent result"},
    {"min", "", "smallest result; nan where any is NaN"},
    {"max", "", "largest result; nan where any is NaN"},
    {"mean", "", "mean of the results, exact, then rounded once"},
    {"stddev", "",
     "sample standard deviation (over runs - 1), exact under the root, then rounded once; empty "
     "for one run"},
    {"spread_ulp", "ulp", "(max - min) / ulp(exact) in the accumulator's format"},
    {"vs_max", "",
     "largest |vs| of a run, vs = 1 - |result / s_fixed|, s_fixed from sum/tiled for the same "
     "input and formats; empty where s_fixed is 0 or not finite"},
    {"vs_stddev", "", "sample standard deviation of vs; empty for one run"},
    {"unseen_p95", "",
     "1 - 0.05^(1/runs): with 95% confidence, a result not seen has at most this probability"},
    {"err_ulp_median", "ulp", "median of err_ulp over the runs (mean of the middle two)"},
    {"err_ulp_max", "ulp", "largest err_ulp; nan where any result is NaN"},
    {"err_over_bound_max", "", "largest err_over_bound"},
    {"time_ns_median", "ns", "median of time_ns (mean of the middle two)"},
};

const struct column *results_column(size_t i)
{
    if (i >= RESULTS_RESULT)
        return &result_columns[i - RESULTS_RESULT];
    return i == RESULTS_RUN ? &run_column : &case_columns[i < RESULTS_RUN ? i : i - 1];
}

const struct column *summary_column(size_t i)
{
    return i < SUMMARY_RUNS ? &case_columns[i] : &statistics_columns[i - SUMMARY_RUNS];
}

size_t results_case_column(size_t i)
{
    return i < CASE_METHOD ? i : i + 1;
}

void columns_header(struct text *t, const struct column *(*column)(size_t), size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_add(t, i ? "," : "");
        text_add(t, column(i)->name);
    }
    text_add(t, "\n");
}
