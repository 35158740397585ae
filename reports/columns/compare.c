/* The columns of what `compare` writes. */
#include "reports/columns/columns.h"

static const struct column compare_columns[COMPARE_COLUMNS] = {
    {"method", "", "the method, as `list methods` names it"},
    {"promise", "", "the guarantee that it claims: the weaker one of both directories"},
    {"verdict", "",
     "same: the same set of results; within_bound: other bits, all within their "
     "bounds; no_bound: other bits that no theorem bounds; broken_bound: a result of "
     "either exceeds its bound; other_input: the inputs differ; missing_a, missing_b: "
     "no result there; neither: in none"},
    {"promise_broken", "",
     "yes if the promise does not allow the difference: results differ although "
     "gpu_to_gpu or more is promised, or runs on one side differ although run_to_run "
     "is"},
    {"storage", "", "format that the input is kept in"},
    {"accumulator", "", "the accumulator asked for"},
    {"input", "", "the generated input's specification, or the data's name"},
    {"n", "elements", "length of the input"},
    {"seed", "", "the seed asked for; empty for data"},
    {"scan", "", "scans: inclusive or exclusive"},
    {"output", "", "scans: format that outputs are rounded to"},
    {"segment", "elements", "scans: length of the segments; empty: there is one"},
    {"product", "", "dot products: as in results.csv"},
    {"keys", "", "scatter-adds: as in results.csv"},
    {"bins", "bins", "scatter-adds: number of bins"},
    {"case_id_a", "", "the case in the first directory"},
    {"case_id_b", "", "the case in the second; ids differ where devices do"},
    {"device_a", "", "cpu, cuda:0, ..."},
    {"device_b", "", "the same of the second"},
    {"threads_a", "threads", "as in results.csv"},
    {"threads_b", "threads", "as in results.csv"},
    {"blocks_a", "blocks", "as in results.csv"},
    {"blocks_b", "blocks", "as in results.csv"},
    {"status_a", "", "why runs of the case have no result: unsupported, error; empty: all have"},
    {"status_b", "", "the same of the second"},
    {"runs_a", "runs", "runs that gave a result"},
    {"runs_b", "runs", "runs that gave a result"},
    {"distinct_a", "results", "different results among them"},
    {"distinct_b", "results", "different results among them"},
    {"shared", "results", "different results that occur in both"},
    {"result_a", "", "result of the first run, for scans the last output"},
    {"result_b", "", "the same of the second"},
    {"result_bits_a", "", "its encoding, for scans the hash of all outputs"},
    {"result_bits_b", "", "the same of the second"},
    {"err_ulp_max_a", "ulp", "largest err_ulp of the runs; nan where any is"},
    {"err_ulp_max_b", "ulp", "the same of the second"},
    {"err_over_bound_max_a", "", "largest err_over_bound of the runs; above 1 the bound is broken"},
    {"err_over_bound_max_b", "", "the same of the second"},
    {"added_in", "", "what additions are done in, as in results.csv"},
    {"result_format", "", "format that the result is rounded to"},
    {"chip", "", "models of matrix instructions: as in results.csv"},
    {"promote", "products", "the same"},
    {"workspace", "bytes", "products of cuBLASLt: as in results.csv"},
    {"algorithm", "", "the same"},
};

const struct column *compare_column(size_t i)
{
    return &compare_columns[i];
}
