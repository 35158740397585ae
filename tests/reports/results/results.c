/* results.csv and summary.csv: what is written is read, what is torn is known, what is not ours is
 * refused. */
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "reports/results/results.h"
#include "reports/results/summary.h"
#include "tests/support/files.h"

/* Names as users' files may have them. */
static const char *const names[] = {
    "plain",        "with,comma",   "with \"quotes\"",  "\"",
    " blank ends ", "line\nbreak",  "carriage\rreturn", "",
    "tab\tinside",  "\ttab before", "caf\xc3\xa9",      "#1,\"\n,\""};
enum { NAMES = sizeof names / sizeof *names };

static void case_named(const char *text[CASE_SCAN_COLUMNS], const char *name)
{
    for (size_t i = 0; i < CASE_SCAN_COLUMNS; i++)
        text[i] = case_columns[i].name;
    text[CASE_INPUT] = name;
}

static struct measure some_measure(size_t i)
{
    return (struct measure){.err_abs = {true, 0.1 * (double)i},
                            .err_rel = {i % 2, 0.1},
                            .err_ulp = {true, NAN},
                            .bound = {true, INFINITY}};
}

static void write_results(const char *path)
{
    struct results r;
    struct problem p = {0};
    struct text exact = {0};
    cr_assert_eq(results_open(&r, path, 0, false, &p), STATUS_OK, "%s", p.text);
    results_exact(&exact, "0.5", "0x1p-1");
    for (size_t i = 0; i < NAMES; i++) {
        const char *text[CASE_SCAN_COLUMNS];
        struct text value = {0}, errors = {0};
        struct measure m = some_measure(i);
        case_named(text, names[i]);
        results_case(&r, text);
        results_value(&value, FP16, i == 3 ? NAN : -1.5);
        results_errors(&errors, &m);
        results_append(&r, &(struct results_row){.run = i + 1,
                                                 .value = i == 2 ? NULL : &value,
                                                 .exact = i == 2 ? NULL : &exact,
                                                 .errors = i == 2 ? NULL : &errors,
                                                 .timed = i != 2,
                                                 .time_ns = UINT64_MAX - i,
                                                 .outcome = i == 2 ? OUTCOME_ERROR : OUTCOME_OK});
        text_free(&value);
        text_free(&errors);
    }
    cr_assert_eq(results_close(&r, &p), STATUS_OK, "%s", p.text);
    text_free(&exact);
}

struct seen {
    size_t rows;
    uint64_t end;
};

static void expect_field(const struct csv_row *row, size_t column, const char *expected)
{
    cr_expect_str_eq(row->field[column], expected, "row of '%s', column %s",
                     row->field[results_case_column(CASE_INPUT)], results_column(column)->name);
}

static enum status hold_row(void *context, const struct csv_row *row, struct problem *p)
{
    struct seen *seen = context;
    size_t i = seen->rows++;
    struct figure f;
    uint64_t run;
    (void)p;
    cr_assert(i < NAMES);
    cr_expect(row->begin >= seen->end && row->end > row->begin, "row %zu: bytes", i);
    seen->end = row->end;
    for (size_t k = 0; k < CASE_COLUMNS; k++)
        expect_field(row, results_case_column(k),
                     k == CASE_INPUT ? names[i] : case_columns[k].name);
    cr_expect(csv_whole(row, RESULTS_RUN, "run", &run, NULL) == STATUS_OK && run == i + 1);
    expect_field(row, RESULTS_STATUS, i == 2 ? "error" : "ok");
    if (i == 2) {
        for (size_t k = RESULTS_RESULT; k < RESULTS_STATUS; k++)
            expect_field(row, k, "");
        return STATUS_OK;
    }
    expect_field(row, RESULTS_RESULT, i == 3 ? "nan" : "-1.5");
    expect_field(row, RESULTS_RESULT_HEX, i == 3 ? "nan" : "-0x1.8p+0");
    expect_field(row, RESULTS_RESULT_BITS, i == 3 ? "0x7e00" : "0xbe00");
    expect_field(row, RESULTS_EXACT, "0.5");
    expect_field(row, RESULTS_EXACT_HEX, "0x1p-1");
    expect_field(row, RESULTS_ERR_REL, i % 2 ? "0.10000000000000001" : "");
    expect_field(row, RESULTS_ERR_ULP, "nan");
    expect_field(row, RESULTS_ERR_BACKWARD, "");
    expect_field(row, RESULTS_BOUND, "inf");
    expect_field(row, RESULTS_ERR_OVER_BOUND, "");
    cr_expect(csv_figure(row, RESULTS_ERR_ABS, "err_abs", &f, NULL) == STATUS_OK && f.known &&
              f.value == 0.1 * (double)i);
    cr_expect(csv_whole(row, RESULTS_TIME_NS, "time_ns", &run, NULL) == STATUS_OK &&
              run == UINT64_MAX - i);
    return STATUS_OK;
}

Test(results, every_name_and_number_is_read_as_written, .init = make_folder, .fini = remove_folder)
{
    const char *path = in_folder("results.csv");
    struct seen seen = {0};
    struct problem p = {0};
    uint64_t whole;
    write_results(path);
    cr_assert_eq(csv_read(path, results_column, RESULTS_COLUMNS, hold_row, &seen, &whole, &p),
                 STATUS_OK, "%s", p.text);
    struct bytes b = get_file(path);
    cr_expect(seen.rows == NAMES && whole == b.size && seen.end == b.size, "%zu rows", seen.rows);
    cr_expect(memmem(b.data, b.size, ",\" blank ends \",", 16), "blank ends need quotes");
    const char header[] =
        "experiment,case_id,run,method,promise,device,storage,accumulator,input,n,cond_log2,seed,"
        "threads,blocks,result,result_hex,result_bits,exact,exact_hex,err_abs,err_rel,err_ulp,"
        "err_backward,bound,err_over_bound,time_ns,status,added_in,result_format\n";
    cr_expect(memcmp(b.data, header, sizeof header - 1) == 0, "the header");
    cr_expect(!memchr(b.data, '\r',
                      (size_t)((char *)memmem(b.data, b.size, "carriage", 8) - (char *)b.data)),
              "line breaks are LF");
    clear_bytes(&b);
}

static enum status count_row(void *context, const struct csv_row *row, struct problem *p)
{
    (void)row, (void)p;
    ++*(size_t *)context;
    return STATUS_OK;
}

/* However the end is torn: the rows before are read, and where they end is known. */
Test(results, a_torn_end_is_told_at_every_byte, .init = make_folder, .fini = remove_folder)
{
    const char *path = in_folder("results.csv");
    uint64_t end[NAMES + 2] = {0}, whole;
    write_results(path);
    struct bytes b = get_file(path);
    size_t rows = 0;
    bool quoted = false;
    for (size_t i = 0; i < b.size; i++) {
        quoted ^= b.data[i] == '"';
        if (b.data[i] == '\n' && !quoted)
            end[++rows] = i + 1;
    }
    cr_assert(rows == NAMES + 1 && end[rows] == b.size);
    for (size_t size = b.size, last = rows; size-- > 0;) {
        size_t found = 0;
        struct problem p = {0};
        cr_assert_eq(truncate(path, (off_t)size), 0);
        while (end[last] > size)
            last--;
        enum status status =
            csv_read(path, results_column, RESULTS_COLUMNS, count_row, &found, &whole, &p);
        cr_assert(status == STATUS_OK && whole == end[last] && found == (last ? last - 1 : 0),
                  "%zu bytes: status %d, %zu rows, whole %ju: %s", size, (int)status, found,
                  (uintmax_t)whole, p.text);
    }
    clear_bytes(&b);
}

/* Each statistic stands in its own column. */
static enum status take_summary(void *context, const struct csv_row *row, struct problem *p)
{
    struct summary *s = context;
    enum status status = summary_parse(s, row, false, p);
    const struct {
        enum summary_column column;
        struct figure figure;
    } expected[] = {{SUMMARY_MODE_SHARE, s->mode_share},
                    {SUMMARY_MIN, s->min},
                    {SUMMARY_MAX, s->max},
                    {SUMMARY_MEAN, s->mean},
                    {SUMMARY_STDDEV, s->stddev},
                    {SUMMARY_SPREAD_ULP, s->spread_ulp},
                    {SUMMARY_VS_MAX, s->vs_max},
                    {SUMMARY_VS_STDDEV, s->vs_stddev},
                    {SUMMARY_UNSEEN_P95, s->unseen_p95},
                    {SUMMARY_ERR_ULP_MEDIAN, s->err_ulp_median},
                    {SUMMARY_ERR_ULP_MAX, s->err_ulp_max},
                    {SUMMARY_ERR_OVER_BOUND_MAX, s->err_over_bound_max},
                    {SUMMARY_TIME_NS_MEDIAN, s->time_ns_median}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct figure f;
        cr_expect(csv_figure(row, expected[i].column, "", &f, p) == STATUS_OK &&
                      f.known == expected[i].figure.known && f.value == expected[i].figure.value,
                  "column %s", summary_column(expected[i].column)->name);
    }
    return status;
}

Test(results, a_summary_is_read_as_written, .init = make_folder, .fini = remove_folder)
{
    struct summary s, back;
    struct csv_file file;
    struct problem p = {0};
    const char *text[CASE_SCAN_COLUMNS], *path = in_folder("summary.csv");
    uint64_t whole;
    memset(&s, 0, sizeof s);
    struct figure *figure[] = {&s.mode_share,     &s.min,         &s.max,
                               &s.mean,           &s.stddev,      &s.spread_ulp,
                               &s.vs_max,         &s.vs_stddev,   &s.unseen_p95,
                               &s.err_ulp_median, &s.err_ulp_max, &s.err_over_bound_max,
                               &s.time_ns_median};
    for (size_t i = 0; i < sizeof figure / sizeof *figure; i++)
        if (i % 4)
            *figure[i] = (struct figure){true, i == 5 ? INFINITY : 1 / (3.0 + (double)i)};
    s.runs = 1000;
    s.distinct = 17;
    case_named(text, "a,b");
    cr_assert_eq(csv_file_open(&file, path, 0, summary_column, SUMMARY_COLUMNS, &p), STATUS_OK);
    summary_row(&file.pending, text, &s, false);
    cr_assert_eq(csv_file_close(&file, &p), STATUS_OK, "%s", p.text);
    memset(&back, 0, sizeof back);
    cr_assert_eq(csv_read(path, summary_column, SUMMARY_COLUMNS, take_summary, &back, &whole, &p),
                 STATUS_OK, "%s", p.text);
    cr_expect(back.runs == 1000 && back.distinct == 17);
    cr_expect_arr_eq(&back.mode_share, &s.mode_share,
                     sizeof s - offsetof(struct summary, mode_share), "figures");
    struct bytes b = get_file(path);
    const char header[] = "experiment,case_id,method,promise,device,storage,accumulator,input,n,"
                          "cond_log2,seed,threads,blocks,runs,distinct,mode_share,min,max,mean,"
                          "stddev,spread_ulp,vs_max,vs_stddev,unseen_p95,err_ulp_median,"
                          "err_ulp_max,err_over_bound_max,time_ns_median,added_in,result_format\n";
    cr_expect(memcmp(b.data, header, sizeof header - 1) == 0, "the header");
    clear_bytes(&b);
}

/* A disk that is full at any byte leaves whole rows, as many as fit. */
Test(results, a_write_that_fails_leaves_whole_rows, .init = make_folder, .fini = remove_folder)
{
    const char *path = in_folder("results.csv"), *full = in_folder("whole.csv");
    signal(SIGXFSZ, SIG_IGN);
    write_results(full);
    struct bytes b = get_file(full);
    const char *end_of_header = memchr(b.data, '\n', b.size);
    size_t header = (size_t)(end_of_header - (char *)b.data) + 1;
    for (size_t limit = 0; limit < b.size; limit += 37) {
        struct csv_file file;
        struct problem p = {0};
        struct rlimit most = {.rlim_cur = limit, .rlim_max = RLIM_INFINITY};
        struct stat facts;
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &most), 0);
        enum status status = csv_file_open(&file, path, 0, results_column, RESULTS_COLUMNS, &p);
        cr_expect_eq(status, limit < header ? STATUS_DATA : STATUS_OK, "limit %zu: %s", limit,
                     p.text);
        if (status == STATUS_OK) {
            text_append(&file.pending, (char *)b.data + header, b.size - header);
            cr_expect_eq(csv_file_flush(&file, &p), STATUS_DATA, "limit %zu", limit);
            cr_expect(strstr(p.text, "results.csv: could not be written: File too large"), "%s",
                      p.text);
        }
        csv_file_close(&file, &p);
        cr_assert_eq(stat(path, &facts), 0);
        struct bytes left = get_file(path);
        size_t rows = 0;
        uint64_t whole;
        cr_expect(left.size <= limit &&
                      memcmp(left.data ? left.data : b.data, b.data, left.size) == 0,
                  "limit %zu: other bytes", limit);
        cr_expect(csv_read(path, results_column, RESULTS_COLUMNS, count_row, &rows, &whole, NULL) ==
                          STATUS_OK &&
                      whole == left.size,
                  "limit %zu: %ju of %zu bytes are whole rows", limit, (uintmax_t)whole, left.size);
        cr_expect(left.size == 0 || left.size + 700 > limit, "limit %zu: only %zu bytes", limit,
                  left.size);
        clear_bytes(&left);
    }
    clear_bytes(&b);
}
