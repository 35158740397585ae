#include "reports/columns/columns.h"

static const struct column times_columns[BENCH_COLUMNS] = {
    {"device", "", "cpu, cuda:0, ..."},
    {"method", "", "name of the method; `raw read` only reads the input, `copy` copies it"},
    {"storage", "", "format of the input"},
    {"accumulator", "", "the accumulator asked for; what additions are done in is added_in"},
    {"input", "", "specification of the generated input"},
    {"n", "", "elements"},
    {"threads", "", "threads to a block (GPU), CPU threads where the method uses them"},
    {"blocks", "", "blocks in the grid"},
    {"time_us", "us", "time of one execution, median over the repetitions"},
    {"time_us_min", "us", "time of one execution, least over the repetitions"},
    {"gb_per_s", "10^9 bytes/s",
     "bytes over the median time: of the input; for copies and operations with an array of results "
     "also of the output, and of head flags or a mask (1 byte per element) or keys (4)"},
    {"of_raw", "",
     "operations with one result, and sums of rows: rate over that of the raw read, with as many "
     "CPU threads, in the same round"},
    {"of_vendor", "",
     "rate over that of the vendor's routine for the same formats and outputs, in the same round"},
    {"repetitions", "", "timed repetitions"},
    {"runs", "", "executions in one repetition, one after the other"},
    {"in_cache", "", "yes if the input fits in the device's last-level cache"},
    {"note", "", "why there is no figure, or a remark on it"},
    {"scan", "", "scans: inclusive or exclusive"},
    {"output", "", "scans: format that outputs are rounded to"},
    {"segment", "elements", "scans: length of the segments; empty: there is one"},
    {"round", "", "rows of one round were timed in turn, repetition by repetition"},
    {"copy_ns", "ns",
     "scans, scatter-adds, transpositions and compactions: median time of a copy of the input, "
     "with "
     "as many CPU threads, in the same round"},
    {"of_copy", "",
     "rows with copy_ns: rate over that of the copy, which reads the input and writes as many "
     "bytes"},
    {"memory_bytes", "bytes",
     "memory that a run takes besides input and output, on the GPU, and host memory that it uses; "
     "empty on the CPU, where it is not measured"},
    {"case_id", "", "in a results directory: that of the case, as results.csv would have it"},
    {"added_in", "", "what additions are done in, as in results.csv; empty of yardsticks"},
    {"result_format", "", "format that the result is rounded to"},
    {"keys", "",
     "scatter-adds and their copy: where bins come from, as --keys says it; sums of rows, "
     "transpositions and compactions: as in results.csv, batch:4, transposed, keep:50"},
    {"bins", "bins",
     "scatter-adds and their copy: how many bins there are; sums of rows and transpositions: rows "
     "of the matrix"},
    {"elements_per_ns", "10^9 elements/s", "elements of the input over the median time"},
    {"time_us_low", "us",
     "lower end of the median's 95% confidence interval, from order statistics; assumes i.i.d. "
     "repetitions; empty for fewer than 6"},
    {"time_us_high", "us", "upper end of that interval"},
};

const struct column *times_column(size_t i)
{
    return &times_columns[i];
}

size_t bench_place(size_t i)
{
    enum { BEHIND = BENCH_TIME_LOW - TIMES_COLUMNS };
    if (i < TIMES_ADDED_IN || i >= BENCH_TIME_LOW)
        return i;
    return i < TIMES_ADDED_IN + BEHIND ? i - TIMES_ADDED_IN + TIMES_COLUMNS : i - BEHIND;
}

const struct column *bench_column(size_t i)
{
    return times_column(bench_place(i));
}
