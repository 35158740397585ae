/* What the files of a study of scans have beyond those of sums: each figure stands in its own
 * column and is read as written. */
#include <math.h>

#include "reports/results/profile.h"
#include "reports/results/results.h"
#include "reports/results/summary.h"
#include "tests/support/study.h"

static void case_named(const char *text[CASE_SCAN_COLUMNS], const char *name)
{
    for (size_t i = 0; i < CASE_SCAN_COLUMNS; i++)
        text[i] = case_columns[i].name;
    text[CASE_INPUT] = name;
}

/* Figures that differ, every fourth one not known. */
static void fill(void *figures, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((struct figure *)figures)[i] =
            i % 4 == 3 ? (struct figure){0} : (struct figure){true, i == 1 ? NAN : 0.1 + (double)i};
}

static void expect_header(const char *out, const char *name, const char *expected)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s.csv", out, name);
    struct bytes b = get_file(path);
    size_t line = (size_t)((unsigned char *)memchr(b.data, '\n', b.size) - b.data);
    cr_expect(line == strlen(expected) && memcmp(b.data, expected, line) == 0, "%s: %.*s", name,
              (int)line, (char *)b.data);
    clear_bytes(&b);
}

/* Is the field this figure? */
static void expect_figure(const struct rows *r, size_t row, size_t column, struct figure f,
                          const char *name)
{
    struct text text = {0};
    text_figure(&text, f);
    cr_expect_str_eq(field_of(r, row, column), text_string(&text), "%s", name);
    text_free(&text);
}

#define CASE_NAMES                                                                                 \
    "method,promise,device,storage,accumulator,input,n,cond_log2,seed,threads,blocks,"

Test(results_scan, rows, .init = make_folder, .fini = remove_folder)
{
    const struct hash128 hash = {{0x0123456789abcdef, 0x1}};
    struct results r;
    struct scan_facts facts;
    struct text value = {0}, scan = {0};
    const char *text[CASE_SCAN_COLUMNS];
    fill(&facts, sizeof facts / sizeof(struct figure));
    case_named(text, "a,b");
    cr_assert_eq(results_open(&r, in_folder("results.csv"), 0, true, NULL), STATUS_OK);
    results_case(&r, text);
    results_hash(&value, (struct figure){true, -1.5}, hash);
    results_scan(&scan, &facts);
    results_append(&r, &(struct results_row){.run = 1, .value = &value, .scan = &scan});
    results_append(&r, &(struct results_row){.run = 2, .outcome = OUTCOME_ERROR});
    text_clear(&value);
    results_hash(&value, (struct figure){0}, (struct hash128){{0, 0}});
    results_append(&r, &(struct results_row){.run = 3, .value = &value});
    cr_assert_eq(results_close(&r, NULL), STATUS_OK);
    text_free(&value);
    text_free(&scan);
    expect_header(folder, "results",
                  "experiment,case_id,run," CASE_NAMES
                  "result,result_hex,result_bits,exact,exact_hex,err_abs,err_rel,err_ulp,"
                  "err_backward,bound,err_over_bound,time_ns,status,added_in,result_format,scan,"
                  "output,segment,"
                  "err_ulp_rms,worst_index,differing,mean_rel_diff,first_diff,decreases,"
                  "run_differing,run_mean_rel_diff,run_first_diff");
    struct rows rows = rows_of(folder, "results", results_column, results_columns(true));
    cr_assert_eq(rows.count, 3);
    for (size_t row = 0; row < 3; row++)
        for (size_t i = 0; i < CASE_SCAN_COLUMNS; i++)
            cr_expect_str_eq(field_of(&rows, row, results_case_column(i)), text[i]);
    cr_expect_str_eq(field_of(&rows, 0, RESULTS_RESULT), "-1.5");
    cr_expect_str_eq(field_of(&rows, 0, RESULTS_RESULT_HEX), "-0x1.8p+0");
    cr_expect_str_eq(field_of(&rows, 0, RESULTS_RESULT_BITS), "0x0123456789abcdef0000000000000001");
    cr_expect_str_eq(field_of(&rows, 2, RESULTS_RESULT), "");
    cr_expect_str_eq(field_of(&rows, 2, RESULTS_RESULT_HEX), "");
    cr_expect_str_eq(field_of(&rows, 2, RESULTS_RESULT_BITS), "0x00000000000000000000000000000000");
    cr_expect_str_eq(field_of(&rows, 1, RESULTS_STATUS), "error");
    for (size_t i = RESULTS_ERR_ULP_RMS; i < RESULTS_SCAN_COLUMNS; i++)
        cr_expect_str_eq(field_of(&rows, 1, i), "");
    const struct {
        enum results_column column;
        struct figure figure;
    } expected[] = {{RESULTS_ERR_ULP_RMS, facts.err_ulp_rms},
                    {RESULTS_WORST_INDEX, facts.worst_index},
                    {RESULTS_DIFFERING, facts.differing},
                    {RESULTS_MEAN_REL_DIFF, facts.mean_rel_diff},
                    {RESULTS_FIRST_DIFF, facts.first_diff},
                    {RESULTS_DECREASES, facts.decreases},
                    {RESULTS_RUN_DIFFERING, facts.run_differing},
                    {RESULTS_RUN_MEAN_REL_DIFF, facts.run_mean_rel_diff},
                    {RESULTS_RUN_FIRST_DIFF, facts.run_first_diff}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        expect_figure(&rows, 0, expected[i].column, expected[i].figure,
                      results_column(expected[i].column)->name);
    struct csv_row row = {.path = "f.csv", .field = (const char *const *)rows.field};
    struct scan_facts back;
    struct hash128 found;
    cr_expect(results_parse_hash(&found, &row, NULL) == STATUS_OK &&
              memcmp(&found, &hash, sizeof hash) == 0);
    cr_expect_eq(results_parse_scan(&back, &row, COLUMNS_OF_SCANS, NULL), STATUS_OK);
    for (size_t i = 0; i < sizeof facts / sizeof(struct figure); i++)
        expect_figure(&rows, 0, RESULTS_ERR_ULP_RMS + i, ((struct figure *)&back)[i], "read");
    rows_free(&rows);
}

Test(results_scan, hashes_that_are_none)
{
    const char *const texts[] = {"",
                                 "0x",
                                 "0x7e00",
                                 "0123456789abcdef0123456789abcdef01",
                                 "0x0123456789abcdef0123456789abcde",
                                 "0x0123456789abcdef0123456789abcdef0",
                                 "0x0123456789abcdef0123456789abcdeg",
                                 "0x-123456789abcdef0123456789abcdef",
                                 "0x 123456789abcdef0123456789abcdef"};
    const char *field[RESULTS_SCAN_COLUMNS];
    struct csv_row row = {.path = "f.csv", .line = 7, .field = field};
    struct problem p = {0};
    struct hash128 hash;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        field[RESULTS_RESULT_BITS] = texts[i];
        cr_expect_eq(results_parse_hash(&hash, &row, &p), STATUS_DATA, "'%s'", texts[i]);
    }
    cr_expect(strstr(p.text, "f.csv: line 7: result_bits: found ''"), "%s", p.text);
}

Test(results_scan, summaries, .init = make_folder, .fini = remove_folder)
{
    struct summary s = {.runs = 9, .distinct = 3}, back = {0};
    struct csv_file file;
    const char *text[CASE_SCAN_COLUMNS];
    fill(&s.scan, sizeof s.scan / sizeof(struct figure));
    s.time_ns_median = (struct figure){true, 77};
    case_named(text, "a,b");
    cr_assert_eq(csv_file_open(&file, in_folder("summary.csv"), 0, summary_column,
                               summary_columns(true), NULL),
                 STATUS_OK);
    summary_row(&file.pending, text, &s, true);
    cr_assert_eq(csv_file_close(&file, NULL), STATUS_OK);
    expect_header(folder, "summary",
                  "experiment,case_id," CASE_NAMES
                  "runs,distinct,mode_share,min,max,mean,stddev,spread_ulp,vs_max,vs_stddev,"
                  "unseen_p95,err_ulp_median,err_ulp_max,err_over_bound_max,time_ns_median,"
                  "added_in,result_format,scan,"
                  "output,segment,err_ulp_rms_max,worst_index,decreases_max,differing_median,"
                  "differing_max,mean_rel_diff_max,first_diff_min,run_differing_median,"
                  "run_differing_max,run_mean_rel_diff_max,run_first_diff_min,"
                  "run_first_diff_median");
    struct rows rows = rows_of(folder, "summary", summary_column, summary_columns(true));
    cr_assert_eq(rows.count, 1);
    const struct scan_summary *f = &s.scan;
    const struct {
        enum summary_column column;
        struct figure figure;
    } expected[] = {{SUMMARY_TIME_NS_MEDIAN, s.time_ns_median},
                    {SUMMARY_ERR_ULP_RMS_MAX, f->err_ulp_rms_max},
                    {SUMMARY_WORST_INDEX, f->worst_index},
                    {SUMMARY_DECREASES_MAX, f->decreases_max},
                    {SUMMARY_DIFFERING_MEDIAN, f->differing_median},
                    {SUMMARY_DIFFERING_MAX, f->differing_max},
                    {SUMMARY_MEAN_REL_DIFF_MAX, f->mean_rel_diff_max},
                    {SUMMARY_FIRST_DIFF_MIN, f->first_diff_min},
                    {SUMMARY_RUN_DIFFERING_MEDIAN, f->run_differing_median},
                    {SUMMARY_RUN_DIFFERING_MAX, f->run_differing_max},
                    {SUMMARY_RUN_MEAN_REL_DIFF_MAX, f->run_mean_rel_diff_max},
                    {SUMMARY_RUN_FIRST_DIFF_MIN, f->run_first_diff_min},
                    {SUMMARY_RUN_FIRST_DIFF_MEDIAN, f->run_first_diff_median}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        expect_figure(&rows, 0, expected[i].column, expected[i].figure,
                      summary_column(expected[i].column)->name);
    for (size_t i = CASE_SCAN; i < CASE_SCAN_COLUMNS; i++)
        cr_expect_str_eq(field_of(&rows, 0, SUMMARY_SCAN + i - CASE_SCAN), text[i]);
    struct csv_row row = {.path = "f.csv", .field = (const char *const *)rows.field};
    cr_expect_eq(summary_parse(&back, &row, true, NULL), STATUS_OK);
    for (size_t i = 0; i < sizeof s.scan / sizeof(struct figure); i++)
        expect_figure(&rows, 0, SUMMARY_ERR_ULP_RMS_MAX + i, ((struct figure *)&back.scan)[i],
                      "read");
    rows_free(&rows);
}

Test(results_scan, profiles, .init = make_folder, .fini = remove_folder)
{
    static struct scan_measure m;
    struct csv_file file;
    const char *text[CASE_SCAN_COLUMNS];
    m.points = 2;
    m.point[0] = (struct scan_point){
        .index = 0, .result = NAN, .err_abs = {true, NAN}, .err_ulp = {true, INFINITY}};
    m.point[1] = (struct scan_point){.index = 12345678901,
                                     .result = -0.5,
                                     .err_abs = {true, 1},
                                     .err_ulp = {true, 2},
                                     .bound = {true, 3},
                                     .err_over_bound = {true, 4}};
    case_named(text, "a,b");
    cr_assert_eq(profile_open(&file, in_folder("profile.csv"), 0, NULL), STATUS_OK);
    profile_append(&file, text, FP16, &m);
    cr_assert_eq(csv_file_close(&file, NULL), STATUS_OK);
    expect_header(folder, "profile",
                  "experiment,case_id,run," CASE_NAMES
                  "scan,output,segment,index,result,result_bits,err_abs,err_ulp,bound,"
                  "err_over_bound");
    struct rows rows = rows_of(folder, "profile", profile_column, PROFILE_COLUMNS);
    cr_assert_eq(rows.count, 2);
    for (size_t row = 0; row < 2; row++)
        for (size_t i = 0; i < CASE_SCAN_COLUMNS; i += i + 1 == CASE_COLUMNS ? 3 : 1)
            cr_expect_str_eq(
                field_of(&rows, row, i < CASE_COLUMNS ? i + (i >= CASE_METHOD) : i - 1), text[i]);
    const char *const expected[][8] = {{"0", "nan", "0x7e00", "nan", "inf", "", ""},
                                       {"12345678901", "-0.5", "0xb800", "1", "2", "3", "4"}};
    for (size_t row = 0; row < 2; row++) {
        cr_expect_str_eq(field_of(&rows, row, RESULTS_RUN), "1");
        for (size_t i = PROFILE_INDEX; i < PROFILE_COLUMNS; i++)
            cr_expect_str_eq(field_of(&rows, row, i), expected[row][i - PROFILE_INDEX], "%s",
                             profile_column(i)->name);
    }
    rows_free(&rows);
}
