#include "reports/columns/columns.h"

const struct column case_columns[CASE_ALL] = {
    [CASE_EXPERIMENT] = {"experiment", "", "the experiment of the row"},
    [CASE_ID] = {"case_id", "",
                 "16 hexadecimal digits, a hash of everything that defines the case: the same on "
                 "every machine"},
    [CASE_METHOD] = {"method", "", "the method, as `list methods` names it"},
    [CASE_PROMISE] = {"promise", "", "the reproducibility guarantee that the method claims"},
    [CASE_DEVICE] = {"device", "", "cpu, or cuda:N for GPU N"},
    [CASE_STORAGE] = {"storage", "", "format that the input is kept in"},
    [CASE_ACCUMULATOR] =
        {"accumulator", "",
         "the accumulator asked for; added_in has the arithmetic of the additions"},
    [CASE_INPUT] = {"input", "", "specification of the generated input, or name of the data file"},
    [CASE_N] = {"n", "elements", "length of the input"},
    [CASE_COND_LOG2] =
        {"cond_log2", "bits",
         "log2 of the condition number sum|x| / |sum x| of the stored input, measured; inf "
         "if the exact sum is 0. Dot products: that of the products, sum|x y| / |sum x y|, "
         "here and in all columns. Norms, means, variances: A / |exact|, with A the norm "
         "itself, sum|x| / n, sum x^2 / n. Products of all elements, extrema and indices: "
         "0, with A = |exact|; so are sums of exponentials, softmax and norms of rows; "
         "logsumexp: A = |max x| + log sum exp(x - max x). Where a run has several outputs: that "
         "of the output in the column exact"},
    [CASE_SEED] = {"seed", "", "the seed asked for; empty for data"},
    [CASE_THREADS] = {"threads", "threads",
                      "threads per block on a GPU, threads used on the CPU; empty if the method "
                      "does not read it"},
    [CASE_BLOCKS] =
        {"blocks", "blocks",
         "blocks in the grid, for NCCL its channels; empty if the method does not read it"},
    [CASE_ADDED_IN] =
        {"added_in", "",
         "the arithmetic of the additions: a format; `fp32 pairs`, `triples` and so on: rounding "
         "errors are carried in further words of the format; `fp32 bins`: elements are cut at "
         "fixed places and their parts added exactly; `fp32 then pairs`: by level; exact; none: "
         "nothing is added; undocumented: the vendor does not say; unknown: a user's subject"},
    [CASE_RESULT_FORMAT] = {"result_format", "", "format that the result is rounded to"},
    [CASE_SCAN] = {"scan", "",
                   "inclusive (output i covers elements 0 .. i) or exclusive (0 .. i-1; the first "
                   "output is 0)"},
    [CASE_OUTPUT] = {"output", "", "format that the outputs are rounded to, once"},
    [CASE_SEGMENT] = {"segment", "elements",
                      "length of the segments, each scanned by itself; empty where there is one"},
    [CASE_PRODUCT] = {"product", "",
                      "how products x y are formed: rounded (to the accumulator, before the "
                      "addition), fused (into the addition: one rounding), exact, or unknown"},
    [CASE_KEYS] = {"keys", "",
                   "the keys of a scatter-add, as in --keys; the layout of the rows in a sum of "
                   "rows, as in --layout (the bins are the rows); transposed for a transposition; "
                   "keep:P for a compaction that keeps about P percent; the shape of a matrix "
                   "product, as in --shape (the bins are elements of D); ranks:P for an all-reduce "
                   "or a reduce-scatter (the bins are the elements of a rank)"},
    [CASE_CHIP] = {"chip", "",
                   "models of matrix instructions: the chip, as `list chips` names it; empty for "
                   "other methods"},
    [CASE_PROMOTE] =
        {"promote", "products",
         "gemm/promoted: the number of products after which a chain ends and its sum is "
         "added in the accumulator"},
    [CASE_WORKSPACE] = {"workspace", "bytes",
                        "products of cuBLASLt: the most workspace that an algorithm may take, as "
                        "in --workspace; empty where the method's own holds"},
    [CASE_ALGORITHM] = {"algorithm", "",
                        "products of cuBLASLt: which of the algorithms that the heuristic names, "
                        "from 0, as in --algorithm; empty where the method's own holds"},
    [CASE_BINS] =
        {"bins", "bins",
         "number of bins, each with one result; rows of a matrix; elements of D; empty for "
         "compactions"},
};

static const struct column run_column = {"run", "", "number of the run within its case, from 1"};

/* Where a sum has one result, a scan has n: of these, result and its like are of the last. Of the
 * bins of a scatter-add they are of the fullest. */
static const struct column result_columns[RESULTS_ADDED_IN - RESULTS_RESULT] = {
    {"result", "",
     "the result of the method, to 17 significant digits (exact to read back); for a "
     "scan its last output, for a scatter-add the sum of the first bin with the most "
     "elements, for a matrix product its first element"},
    {"result_hex", "", "the same as a C99 hex float"},
    {"result_bits", "",
     "its encoding in the accumulator's format; for operations with several outputs "
     "(scans, bins, rows, matrix products, all-reduces) a 128-bit hash of the encodings of all "
     "outputs; every NaN as the canonical one"},
    {"exact", "",
     "the exact sum (norm, mean, ... by the method's operation), correctly rounded to "
     "17 significant digits; of several outputs that of one: of a scan the last, of bins, rows "
     "and all-reduces the first with the most elements, of a matrix product, and of rows with an "
     "output for each element, the first"},
    {"exact_hex", "",
     "the same with all its bits, as a hex float; for a norm, a mean or a variance "
     "whose bits do not end within 640, or a product of more than 4096 bits, the first "
     "256 bits, truncated; for sums of exponentials, their logarithms and softmax the "
     "first 192 or more. A softmax closer to 0 than 2^-10000 stands here, and in exact, as "
     "2^-10000"},
    {"err_abs", "",
     "|result - exact|; of several outputs, here and in the other columns of errors, the "
     "largest, each compared with its own exact value"},
    {"err_rel", "", "err_abs / |exact|; empty where exact is 0"},
    {"err_ulp", "ulp",
     "err_abs / ulp(exact) in the accumulator's format, for a scan in the output's; "
     "inf if the result is infinite, or the quotient is beyond the doubles; empty if "
     "exact is not a number"},
    {"err_backward", "", "err_abs / sum|x|; for other operations over the numerator in cond_log2"},
    {"bound", "",
     "the bound on err_abs from the method's theorem, rounded up; inf if it is beyond the doubles; "
     "of several outputs that of the one in the column exact; empty if the theorem does not apply: "
     "an inf or NaN in the "
     "input, or a result that is not finite where an order of additions may overflow"},
    {"err_over_bound", "",
     "err_abs / bound, from both before they are rounded; of several outputs the largest; inf for "
     "a result that is not finite where no order of additions overflows; above 1: a bug in the "
     "method or in its bound"},
    {"time_ns", "ns",
     "device time of the run, including a cold start; a run's share if runs are "
     "launched in batches (for speed see `bench`)"},
    {"status", "",
     "ok; overflow (result not finite although the exact sum is within range, or "
     "infinite with the wrong sign); nan; unsupported; error"},
};

static const struct column scan_columns[RESULTS_SCAN_COLUMNS - RESULTS_ERR_ULP_RMS] = {
    {"err_ulp_rms", "ulp",
     "root mean square of err_ulp over the outputs that have one, empty bins included; "
     "if the largest is not finite, that one"},
    {"worst_index", "",
     "the output, from 0, with the largest err_ulp, NaN above all; the first if "
     "several are equal as doubles; for a scatter-add its bin, for a matrix product "
     "row * N + column of D; empty if no output has an err_ulp"},
    {"differing", "",
     "share of the outputs whose bits differ from the fixed-order twin: scan/tiled on "
     "the CPU, or scan/segmented if there are segments; for a scatter-add "
     "scatter/sort, for sums of rows rows/tiled, for matrix products gemm/tiled, for "
     "all-reduces allreduce/rank_order, for reduce-scatters reduce_scatter/rank_order, "
     "for MPI's own the model that predicts its bits if there is one, for "
     "transpositions and compactions transpose/naive and compact/scan"},
    {"mean_rel_diff", "",
     "mean over the outputs of |output - twin's| / |twin's|, 0 where the bits are the same; "
     "outputs that differ from a 0, inf or NaN are left out"},
    {"first_diff", "", "the first output that differs from the twin's; empty where none does"},
    {"decreases", "outputs",
     "outputs that are smaller than the previous one, are NaN or follow a NaN, not "
     "counting heads of segments; empty if an element is negative or NaN, and for "
     "scatter-adds"},
    {"run_differing", "",
     "as differing, against run 1 of the case; empty if that is no longer available: for results "
     "first seen after a study was resumed"},
    {"run_mean_rel_diff", "", "as mean_rel_diff, against run 1"},
    {"run_first_diff", "", "as first_diff, against run 1"},
};

static const struct column statistics_columns[SUMMARY_ADDED_IN - SUMMARY_RUNS] = {
    {"runs", "runs", "executions of the case; 0 if it is unsupported"},
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
     "largest |vs| of the runs, vs = 1 - |result / s_fixed|; s_fixed is the result of the "
     "fixed-order CPU twin on the same input and formats: sum/tiled, dot/tiled, norm/tiled, "
     "mean/tiled, variance/two_pass, product/tree, NAME/tree for extrema and indices; for scans, "
     "bins and rows the output of the twin named in `differing` at the same place as `result`; "
     "empty if s_fixed is 0 or not finite"},
    {"vs_stddev", "", "sample standard deviation of vs; empty for one run"},
    {"unseen_p95", "",
     "1 - 0.05^(1/runs): with 95% confidence, a result not seen has at most this probability"},
    {"err_ulp_median", "ulp", "median of err_ulp over the runs (mean of the middle two)"},
    {"err_ulp_max", "ulp",
     "largest err_ulp; nan if one is NaN (a result of NaN although the exact value is a number); "
     "empty if a run has none"},
    {"err_over_bound_max", "", "largest err_over_bound"},
    {"time_ns_median", "ns", "median of time_ns (mean of the middle two)"},
};

/* Over the runs whose rows in results.csv have the figure. */
static const struct column scan_statistics_columns[SUMMARY_SCAN_COLUMNS -
                                                   SUMMARY_ERR_ULP_RMS_MAX] = {
    {"err_ulp_rms_max", "ulp", "largest err_ulp_rms; nan where any is NaN"},
    {"worst_index", "", "that of the first run with the largest err_ulp, NaN above all"},
    {"decreases_max", "outputs", "largest decreases"},
    {"differing_median", "", "median of differing over the runs (mean of the middle two)"},
    {"differing_max", "", "largest differing"},
    {"mean_rel_diff_max", "", "largest mean_rel_diff; nan where any is NaN"},
    {"first_diff_min", "", "smallest first_diff"},
    {"run_differing_median", "", "median of run_differing"},
    {"run_differing_max", "", "largest run_differing"},
    {"run_mean_rel_diff_max", "", "largest run_mean_rel_diff; nan where any is NaN"},
    {"run_first_diff_min", "", "smallest run_first_diff"},
    {"run_first_diff_median", "", "median of run_first_diff over the runs that differ from run 1"},
};

static const struct column profile_columns[PROFILE_COLUMNS - PROFILE_INDEX] = {
    {"index", "", "index of the output, from 0: prefixes of 10^(k/20) elements, and the last"},
    {"result", "", "the output, to 17 significant digits (exact to read back)"},
    {"result_bits", "", "its encoding in the output's format; every NaN as the canonical one"},
    {"err_abs", "", "|result - exact|, exact being the exact sum of the elements that it covers"},
    {"err_ulp", "ulp", "err_abs / ulp(exact) in the output's format"},
    {"bound", "",
     "what err_abs cannot exceed by the theorem that holds for the method, rounded up"},
    {"err_over_bound", "", "err_abs / bound before either is rounded"},
};

const struct column *results_column(size_t i)
{
    if (i >= RESULTS_ERR_ULP_RMS)
        return &scan_columns[i - RESULTS_ERR_ULP_RMS];
    if (i >= RESULTS_ADDED_IN)
        return &case_columns[CASE_ADDED_IN + i - RESULTS_ADDED_IN];
    if (i >= RESULTS_RESULT)
        return &result_columns[i - RESULTS_RESULT];
    return i == RESULTS_RUN ? &run_column : &case_columns[i < RESULTS_RUN ? i : i - 1];
}

const struct column *summary_column(size_t i)
{
    if (i >= SUMMARY_ERR_ULP_RMS_MAX)
        return &scan_statistics_columns[i - SUMMARY_ERR_ULP_RMS_MAX];
    if (i >= SUMMARY_ADDED_IN)
        return &case_columns[CASE_ADDED_IN + i - SUMMARY_ADDED_IN];
    return i < SUMMARY_RUNS ? &case_columns[i] : &statistics_columns[i - SUMMARY_RUNS];
}

const struct column *profile_column(size_t i)
{
    if (i >= PROFILE_INDEX)
        return &profile_columns[i - PROFILE_INDEX];
    return i >= PROFILE_SCAN ? &case_columns[CASE_SCAN + i - PROFILE_SCAN] : results_column(i);
}

void columns_case_behind(enum columns_of of, size_t *begin, size_t *end)
{
    static const size_t has[COLUMNS_KINDS][2] = {
        [COLUMNS_OF_SUMS] = {CASE_SCAN, CASE_SCAN},
        [COLUMNS_OF_SCANS] = {CASE_SCAN, CASE_SCAN_COLUMNS},
        [COLUMNS_OF_DOTS] = {CASE_PRODUCT, CASE_KEYS},
        [COLUMNS_OF_SCATTERS] = {CASE_KEYS, CASE_CHIP},
        [COLUMNS_OF_PRODUCTS] = {CASE_KEYS, CASE_ALL},
    };
    *begin = has[of][0];
    *end = has[of][1];
}

bool columns_case_has(enum columns_of of, size_t i)
{
    size_t begin, end;
    columns_case_behind(of, &begin, &end);
    return i < CASE_SCAN || (begin <= i && i < end);
}

int column_since(const struct column *column)
{
    static const struct {
        const char *name;
        int version;
    } later[] = {{"added_in", 2}, {"result_format", 2}, {"workspace", 3}, {"algorithm", 3}};
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        if (strcmp(column->name, later[i].name) == 0)
            return later[i].version;
    return 1;
}

size_t columns_until(int version, column_at *column, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += column_since(column(i)) <= version;
    return found;
}

/* Those of the case behind what sums have. */
static size_t behind(enum columns_of of)
{
    size_t begin, end;
    columns_case_behind(of, &begin, &end);
    return end - begin;
}

size_t results_facts(enum columns_of of)
{
    return RESULTS_COLUMNS + (columns_of_arrays(of) ? behind(of) : behind(COLUMNS_OF_SCANS));
}

size_t summary_facts(enum columns_of of)
{
    return SUMMARY_COLUMNS + (columns_of_arrays(of) ? behind(of) : behind(COLUMNS_OF_SCANS));
}

static const struct column *results_dot_column(size_t i)
{
    return i < RESULTS_COLUMNS ? results_column(i) : &case_columns[CASE_PRODUCT];
}

static const struct column *summary_dot_column(size_t i)
{
    return i < SUMMARY_COLUMNS ? summary_column(i) : &case_columns[CASE_PRODUCT];
}

static const struct column *results_own(enum columns_of of, size_t i)
{
    size_t facts = results_facts(of);
    if (i < RESULTS_COLUMNS)
        return results_column(i);
    return i < facts ? &case_columns[CASE_KEYS + i - RESULTS_COLUMNS] : &scan_columns[i - facts];
}

static const struct column *summary_own(enum columns_of of, size_t i)
{
    size_t facts = summary_facts(of);
    if (i < SUMMARY_COLUMNS)
        return summary_column(i);
    return i < facts ? &case_columns[CASE_KEYS + i - SUMMARY_COLUMNS]
                     : &scan_statistics_columns[i - facts];
}

static const struct column *results_scatter_column(size_t i)
{
    return results_own(COLUMNS_OF_SCATTERS, i);
}

static const struct column *summary_scatter_column(size_t i)
{
    return summary_own(COLUMNS_OF_SCATTERS, i);
}

static const struct column *results_product_column(size_t i)
{
    return results_own(COLUMNS_OF_PRODUCTS, i);
}

static const struct column *summary_product_column(size_t i)
{
    return summary_own(COLUMNS_OF_PRODUCTS, i);
}

column_at *results_column_of(enum columns_of of)
{
    static column_at *const kind[COLUMNS_KINDS] = {results_column, results_column,
                                                   results_dot_column, results_scatter_column,
                                                   results_product_column};
    return kind[of];
}

column_at *summary_column_of(enum columns_of of)
{
    static column_at *const kind[COLUMNS_KINDS] = {summary_column, summary_column,
                                                   summary_dot_column, summary_scatter_column,
                                                   summary_product_column};
    return kind[of];
}

size_t results_columns(enum columns_of of)
{
    size_t facts = columns_of_arrays(of) ? RESULTS_SCAN_COLUMNS - RESULTS_ERR_ULP_RMS : 0;
    return RESULTS_COLUMNS + behind(of) + facts;
}

size_t summary_columns(enum columns_of of)
{
    size_t facts = columns_of_arrays(of) ? SUMMARY_SCAN_COLUMNS - SUMMARY_ERR_ULP_RMS_MAX : 0;
    return SUMMARY_COLUMNS + behind(of) + facts;
}

/* Its place among those of its kind of study. */
static size_t place(size_t i)
{
    return i >= CASE_KEYS ? i - CASE_KEYS : i >= CASE_PRODUCT ? i - CASE_PRODUCT : i - CASE_SCAN;
}

size_t results_case_column(size_t i)
{
    if (i >= CASE_SCAN)
        return RESULTS_COLUMNS + place(i);
    if (i >= CASE_ADDED_IN)
        return RESULTS_ADDED_IN + i - CASE_ADDED_IN;
    return i < CASE_METHOD ? i : i + 1;
}

size_t summary_case_column(size_t i)
{
    if (i >= CASE_SCAN)
        return SUMMARY_COLUMNS + place(i);
    return i >= CASE_ADDED_IN ? SUMMARY_ADDED_IN + i - CASE_ADDED_IN : i;
}

void columns_header(struct text *t, const struct column *(*column)(size_t), size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_add(t, i ? "," : "");
        text_add(t, column(i)->name);
    }
    text_add(t, "\n");
}
