/* compare: which cases stand against which, what is said of them, and what no comparison is made
 * of. Directories are made by hand, so that each difference is known. */
#include <criterion/criterion.h>

#include <sys/stat.h>

#include "reports/results/compare.h"
#include "experiments/cases/plan.h"
#include "reference/format/number.h"
#include "tests/support/study.h"

/* A row, as far as it matters. */
struct line {
    const char *id, *method, *promise, *device, *input, *threads, *bits, *share, *status, *product,
        *ulp;
};

static void put_study(const char *side, const char *text)
{
    char name[64];
    struct bytes b = {0};
    mkdir(in_folder(side), 0777);
    snprintf(name, sizeof name, "%s/study.json", side);
    add_string(&b, text);
    put_file(name, &b);
    clear_bytes(&b);
}

#define STUDY(inputs)                                                                              \
    "{\"schema_version\":1,\"experiment\":\"accuracy\",\"axes\":{},\"inputs\":{" inputs "}}"

/* The id that the columns make, and the numbers that the bits are. */
static void make_whole(const char *field[RESULTS_SCAN_COLUMNS], enum columns_of of)
{
    static char id[CASE_ID_TEXT], result[NUMBER_TEXT], hex[NUMBER_TEXT];
    static const struct case_rest rest = {"", "", "1", ""};
    const char *column[CASE_ALL], *bits = field[RESULTS_RESULT_BITS];
    size_t begin, end;
    columns_case_behind(of, &begin, &end);
    for (size_t i = 0; i < CASE_ALL; i++) {
        bool there = i < CASE_COLUMNS || (begin <= i && i < end);
        column[i] = there && field[results_case_column(i)] ? field[results_case_column(i)] : "";
    }
    case_id_text(id, case_id_columns(column, &rest));
    field[RESULTS_CASE_ID] = id;
    if (!bits || !*bits || strlen(bits) > 10)
        return;
    double value = strlen(bits) == 10 ? format_decode(FP32, strtoull(bits, NULL, 16)) : 1;
    number_decimal(result, value);
    number_hex(hex, value);
    field[RESULTS_RESULT] = result;
    field[RESULTS_RESULT_HEX] = hex;
}

/* Writes the rows, and behind them `torn`. */
static void put_results(const char *side, const struct line *line, enum columns_of of,
                        const char *torn)
{
    char name[64];
    struct bytes b = {0};
    struct text header = {0};
    columns_header(&header, results_column_of(of), results_columns(of));
    add_string(&b, text_string(&header));
    text_free(&header);
    for (size_t row = 1; line->id; line++, row++) {
        char run[24]; /* which may have gaps, and stands once */
        snprintf(run, sizeof run, "%zu", row);
        const char *field[RESULTS_SCAN_COLUMNS] = {[RESULTS_EXPERIMENT] = "accuracy",
                                                   [RESULTS_CASE_ID] = line->id,
                                                   [RESULTS_RUN] = run,
                                                   [RESULTS_RESULT_BITS] = line->bits,
                                                   [RESULTS_ERR_ULP] =
                                                       line->ulp ? line->ulp : "0.25",
                                                   [RESULTS_ERR_OVER_BOUND] = line->share,
                                                   [RESULTS_STATUS] = line->status};
        if (of == COLUMNS_OF_SCANS)
            field[RESULTS_OUTPUT] = "fp32";
        if (of == COLUMNS_OF_DOTS)
            field[results_case_column(CASE_PRODUCT)] = line->product ? line->product : "exact";
        field[results_case_column(CASE_METHOD)] = line->method;
        field[results_case_column(CASE_PROMISE)] = line->promise;
        field[results_case_column(CASE_DEVICE)] = line->device;
        field[results_case_column(CASE_STORAGE)] = "fp32";
        field[results_case_column(CASE_ACCUMULATOR)] = "fp32";
        field[results_case_column(CASE_INPUT)] = line->input;
        field[results_case_column(CASE_N)] = "1000";
        field[results_case_column(CASE_SEED)] = "1";
        field[results_case_column(CASE_THREADS)] = line->threads;
        make_whole(field, of);
        for (size_t i = 0; i < results_columns(of); i++) {
            add_string(&b, i ? "," : "");
            add_string(&b, field[i] ? field[i] : "");
        }
        add_string(&b, "\n");
    }
    add_string(&b, torn);
    snprintf(name, sizeof name, "%s/results.csv", side);
    put_file(name, &b);
    clear_bytes(&b);
}

static enum status read_both(struct compare *c, struct problem *p)
{
    static char a[320], b[320]; /* a comparison keeps them */
    snprintf(a, sizeof a, "%s", in_folder("a"));
    snprintf(b, sizeof b, "%s", in_folder("b"));
    *p = (struct problem){0};
    return compare_read(c, (const char *const[]){a, b}, p);
}

/* Two files, and what their only pair is to be. */
static struct compare compare_lines(const struct line *a, const struct line *b, enum columns_of of)
{
    struct compare c;
    struct problem p;
    put_study("a", STUDY(""));
    put_study("b", STUDY(""));
    put_results("a", a, of, "");
    put_results("b", b, of, "");
    cr_assert(read_both(&c, &p) == STATUS_OK, "%s", p.text);
    return c;
}

#define ROW(id, method, promise, device, threads, bits)                                            \
    {                                                                                              \
        id, method, promise, device, "ones", threads, bits, "0.5", "ok", NULL, NULL                \
    }
#define TILED(bits)                                                                                \
    {                                                                                              \
        ROW("01", "sum/tiled", "gpu_to_gpu", "cpu", "", bits),                                     \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

Test(compare, verdicts, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *promise, *a, *b, *share_a, *share_b, *status_b;
        enum verdict verdict;
        bool broken;
        enum status status;
    } due[] = {
        {"gpu_to_gpu", "0x1", "0x1", "0.5", "0.5", "ok", VERDICT_SAME, false, STATUS_OK},
        {"gpu_to_gpu", "0x1", "0x00000001", "", "", "ok", VERDICT_SAME, false, STATUS_OK},
        {"gpu_to_gpu", "0x1", "0x2", "0.5", "0.5", "ok", VERDICT_WITHIN_BOUND, true, STATUS_FAILED},
        {"correctly_rounded", "0x1", "0x2", "1", "0", "ok", VERDICT_WITHIN_BOUND, true,
         STATUS_FAILED},
        {"run_to_run", "0x1", "0x2", "0.5", "0.5", "ok", VERDICT_WITHIN_BOUND, false, STATUS_OK},
        {"none", "0x1", "0x2", "0.5", "", "ok", VERDICT_NO_BOUND, false, STATUS_OK},
        {"none", "0x1", "0x2", "1.0000001", "0.5", "ok", VERDICT_BROKEN_BOUND, false,
         STATUS_FAILED},
        {"none", "0x1", "0x1", "0.5", "nan", "ok", VERDICT_BROKEN_BOUND, false, STATUS_FAILED},
        {"none", "0x1", "", "0.5", "", "unsupported", VERDICT_MISSING_B, false, STATUS_DATA},
        {"none", "", "0x1", "", "0.5", "ok", VERDICT_MISSING_A, false, STATUS_DATA},
        {"none", "", "", "", "", "error", VERDICT_NEITHER, false, STATUS_DATA},
    };
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        struct line a[] = {ROW("01", "m", due[i].promise, "cpu", "", due[i].a), {0}},
                    b[] = {ROW("01", "m", due[i].promise, "cpu", "", due[i].b), {0}};
        struct problem p = {0};
        a[0].status = *due[i].a ? "ok" : "error";
        a[0].share = due[i].share_a;
        b[0].share = due[i].share_b;
        b[0].status = due[i].status_b;
        struct compare c = compare_lines(a, b, COLUMNS_OF_SUMS);
        cr_expect(c.pairs == 1 && c.pair[0].verdict == due[i].verdict &&
                      c.pair[0].broken == due[i].broken && c.broken == due[i].broken &&
                      c.count[due[i].verdict] == 1,
                  "%zu: %zu pairs, %s, %d", i, c.pairs, verdict_name[c.pair[0].verdict],
                  c.pair[0].broken);
        cr_expect(compare_status(&c, &p) == due[i].status, "%zu: %s", i, p.text);
        compare_free(&c);
    }
}

/* The lesser promise counts: an order that one side does not promise may be another. */
Test(compare, the_lesser_promise_counts, .init = make_folder, .fini = remove_folder)
{
    static const struct line a[] = TILED("0x1"),
                             b[] = {ROW("01", "sum/tiled", "run_to_run", "cpu", "", "0x2"), {0}};
    struct compare c = compare_lines(a, b, COLUMNS_OF_SUMS),
                   d = compare_lines(b, a, COLUMNS_OF_SUMS);
    cr_expect(c.pair[0].promise == PROMISE_RUN_TO_RUN && !c.pair[0].broken);
    cr_expect(d.pair[0].promise == PROMISE_RUN_TO_RUN && !d.pair[0].broken);
    compare_free(&c);
    compare_free(&d);
}

/* Other devices have other ids; the columns but the device join, each case once. */
Test(compare, devices_are_joined_by_columns, .init = make_folder, .fini = remove_folder)
{
    static const struct line a[] =
        {ROW("01", "sum/sequential", "run_to_run", "cuda:0", "64", "0x1"),
         ROW("02", "sum/sequential", "run_to_run", "cuda:0", "128", "0x2"),
         ROW("03", "sum/sequential", "run_to_run", "cuda:1", "128", "0x3"),
         ROW("04", "sum/atomic", "none", "cuda:0", "64", "0x4"),
         {0}},
                             b[] = {ROW("14", "sum/atomic", "none", "cpu", "64", "0x4"),
                                    ROW("12", "sum/sequential", "run_to_run", "cpu", "128", "0x2"),
                                    ROW("11", "sum/sequential", "run_to_run", "cpu", "64", "0x1"),
                                    ROW("15", "sum/sequential", "run_to_run", "cpu", "256", "0x5"),
                                    {0}};
    struct compare c = compare_lines(a, b, COLUMNS_OF_SUMS);
    cr_expect(c.pairs == 5 && c.count[VERDICT_SAME] == 3 && c.count[VERDICT_MISSING_A] == 1 &&
                  c.count[VERDICT_MISSING_B] == 1,
              "%zu pairs, %zu same", c.pairs, c.count[VERDICT_SAME]);
    for (size_t i = 0; i < c.pairs; i++)
        if (c.pair[i].of[0] && c.pair[i].of[1])
            cr_expect_str_eq(c.pair[i].of[0]->first, c.pair[i].of[1]->first);
    compare_free(&c);
}

/* What promises run_to_run is held against its own launch shape, the rest against any. */
Test(compare, only_run_to_run_is_bound_to_shapes, .init = make_folder, .fini = remove_folder)
{
    static const struct line a[] = {ROW("01", "sum/tiled", "gpu_to_gpu", "cuda:0", "64", "0x1"),
                                    ROW("02", "sum/tiled", "gpu_to_gpu", "cuda:0", "128", "0x2"),
                                    ROW("03", "sum/shuffle", "run_to_run", "cuda:0", "64", "0x3"),
                                    ROW("04", "sum/atomic", "none", "cuda:0", "64", "0x4"),
                                    {0}},
                             b[] = {ROW("11", "sum/tiled", "gpu_to_gpu", "cpu", "", "0x1"),
                                    ROW("13", "sum/shuffle", "run_to_run", "cpu", "32", "0x3"),
                                    ROW("14", "sum/atomic", "none", "cpu", "2", "0x4"),
                                    {0}};
    struct compare c = compare_lines(a, b, COLUMNS_OF_SUMS),
                   d = compare_lines(b, a, COLUMNS_OF_SUMS);
    cr_expect(c.count[VERDICT_SAME] == 2 && c.count[VERDICT_WITHIN_BOUND] == 1 && c.broken == 1 &&
                  c.count[VERDICT_MISSING_A] == 1 && c.count[VERDICT_MISSING_B] == 1,
              "%zu same, %zu broken", c.count[VERDICT_SAME], c.broken);
    cr_expect(d.count[VERDICT_SAME] + d.count[VERDICT_WITHIN_BOUND] == 3, "%zu same",
              d.count[VERDICT_SAME]);
    cr_expect(d.broken == 1, "one of both broke it, found %zu", d.broken);
    compare_free(&c);
    compare_free(&d);
}

/* One side's promise alone binds a case to its launch shape. */
Test(compare, either_promise_binds_to_the_shape, .init = make_folder, .fini = remove_folder)
{
    static const struct line a[] = {ROW("01", "sum/mine", "gpu_to_gpu", "cpu", "64", "0x1"), {0}},
                             b[] = {ROW("02", "sum/mine", "run_to_run", "cpu", "32", "0x2"), {0}};
    struct compare c = compare_lines(a, b, COLUMNS_OF_SUMS),
                   d = compare_lines(b, a, COLUMNS_OF_SUMS);
    cr_expect(c.pairs == 2 && c.count[VERDICT_MISSING_A] == 1 && c.count[VERDICT_MISSING_B] == 1,
              "%zu pairs", c.pairs);
    cr_expect(d.pairs == 2 && d.count[VERDICT_MISSING_A] == 1 && d.count[VERDICT_MISSING_B] == 1,
              "%zu pairs", d.pairs);
    compare_free(&c);
    compare_free(&d);
}

/* Many runs are a set: their order and how often each came are no difference. */
Test(compare, runs_are_sets, .init = make_folder, .fini = remove_folder)
{
    static const struct line a[] = {ROW("01", "m", "none", "cpu", "", "0x1"),
                                    ROW("02", "k", "run_to_run", "cpu", "", "0x7"),
                                    ROW("01", "m", "none", "cpu", "", "0x2"),
                                    ROW("01", "m", "none", "cpu", "", "0x1"),
                                    ROW("02", "k", "run_to_run", "cpu", "", "0x8"),
                                    {0}},
                             b[] = {ROW("02", "k", "run_to_run", "cpu", "", "0x7"),
                                    ROW("02", "k", "run_to_run", "cpu", "", "0x8"),
                                    ROW("01", "m", "none", "cpu", "", "0x2"),
                                    ROW("01", "m", "none", "cpu", "", "0x1"),
                                    {0}};
    static const struct line other[] = {
        ROW("01", "m", "none", "cpu", "", "0x2"), ROW("01", "m", "none", "cpu", "", "0x3"), {0}};
    struct compare c = compare_lines(a, b, COLUMNS_OF_SUMS);
    cr_expect(c.count[VERDICT_SAME] == 2 && c.pair[0].of[0]->runs == 3 && c.pair[0].shared == 2);
    cr_expect(c.broken == 1 && c.pair[1].broken,
              "runs of one case differ, although promised not to");
    compare_free(&c);
    struct compare d =
        compare_lines(b, a + 3, COLUMNS_OF_SUMS); /* a part of the set is another set */
    cr_expect(d.pair[1].verdict == VERDICT_WITHIN_BOUND && d.pair[1].shared == 1);
    compare_free(&d);
    c = compare_lines(a, other, COLUMNS_OF_SUMS);
    cr_expect(c.pair[0].verdict == VERDICT_WITHIN_BOUND && c.pair[0].shared == 1 &&
              c.pair[0].of[1]->distinct == 2);
    compare_free(&c);
}

/* A case of which some runs failed is compared by the others, which is said. */
Test(compare, failed_runs_are_said, .init = make_folder, .fini = remove_folder)
{
    static const struct line a[] = {
        ROW("01", "m", "none", "cpu", "", "0x1"), ROW("02", "k", "none", "cpu", "", "0x7"), {0}};
    struct line b[] = {ROW("01", "m", "none", "cpu", "", "0x1"),
                       ROW("01", "m", "none", "cpu", "", ""),
                       ROW("02", "k", "none", "cpu", "", ""),
                       {0}};
    b[1].status = b[2].status = "error";
    struct compare c = compare_lines(a, b, COLUMNS_OF_SUMS);
    struct text text = {0};
    cr_expect(c.count[VERDICT_SAME] == 1 && c.count[VERDICT_MISSING_B] == 1);
    compare_text(&text, &c);
    const char *said = text_string(&text);
    cr_expect(said &&
                  strstr(said, "\nB: 1 case has runs without a result: compared by the others "
                               "alone\nB: 1 case failed: no run has a result\n") &&
                  !strstr(said, "A: 1 case"),
              "%s", said);
    text_free(&text);
    compare_free(&c);
}

/* Of scans, hashes are compared, to their last digit. */
Test(compare, scans, .init = make_folder, .fini = remove_folder)
{
    static const char *const hash[] = {"0x4ba44ae8eb5387e3269bdcc03d37f1c5",
                                       "0x4ba44ae8eb5387e3269bdcc03d37f1c4",
                                       "0x5ba44ae8eb5387e3269bdcc03d37f1c5"};
    for (size_t i = 0; i < 3; i++) {
        struct line a[] = TILED(hash[0]), b[] = TILED(hash[i]);
        struct compare c = compare_lines(a, b, COLUMNS_OF_SCANS);
        cr_expect(c.broken == (i > 0), "%s, %s", hash[0], hash[i]);
        compare_free(&c);
    }
}

/* Dot products that differ in how products are taken are different cases. */
Test(compare, dot_products, .init = make_folder, .fini = remove_folder)
{
    struct line a[] = {ROW("01", "dot/tiled", "gpu_to_gpu", "cuda:0", "", "0x1"),
                       ROW("02", "dot/tiled", "gpu_to_gpu", "cuda:0", "", "0x2"),
                       {0}},
                b[] = {ROW("12", "dot/tiled", "gpu_to_gpu", "cpu", "", "0x2"),
                       ROW("11", "dot/tiled", "gpu_to_gpu", "cpu", "", "0x1"),
                       {0}};
    a[1].product = b[0].product = "rounded";
    struct compare c = compare_lines(a, b, COLUMNS_OF_DOTS);
    cr_expect(c.pairs == 2 && c.count[VERDICT_SAME] == 2 && c.broken == 0, "%zu same",
              c.count[VERDICT_SAME]);
    compare_free(&c);
}

Test(compare, other_inputs_are_said, .init = make_folder, .fini = remove_folder)
{
    static const struct line a[] = TILED("0x1"), b[] = TILED("0x2");
    struct compare c = compare_lines(a, b, COLUMNS_OF_SUMS);
    struct problem p = {0};
    compare_free(&c);
    put_study("a", STUDY("\"ones fp32 n=1000 seed=1\":\"aa\""));
    put_study("b", STUDY("\"ones fp32 n=1000 seed=1\":\"bb\""));
    cr_assert(read_both(&c, &p) == STATUS_OK);
    cr_expect(c.count[VERDICT_OTHER_INPUT] == 1 && c.broken == 0);
    cr_expect(compare_status(&c, &p) == STATUS_DATA);
    cr_expect(strstr(p.text, "ones fp32 n=1000 seed=1: found hash aa and bb"), "%s", p.text);
    compare_free(&c);
}

/* Of a method's cases the largest error; once one is NaN, that, whatever comes behind it. */
Test(compare, nan_is_the_largest_error, .init = make_folder, .fini = remove_folder)
{
    static const char *const ulp[][3] = {{"nan", "2", "0"}, {"2", "nan", "inf"}, {"0", "1", "nan"}};
    for (size_t i = 0; i < sizeof ulp / sizeof *ulp; i++) {
        struct line a[] = {ROW("01", "m", "none", "cpu", "", "0x1"),
                           ROW("02", "m", "none", "cpu", "", "0x1"),
                           ROW("03", "m", "none", "cpu", "", "0x1"),
                           {0}},
                    b[4];
        struct text text = {0};
        memcpy(b, a, sizeof b);
        for (size_t k = 0; k < 3; k++)
            a[k].ulp = ulp[i][k];
        struct compare c = compare_lines(a, b, COLUMNS_OF_SUMS);
        compare_text(&text, &c);
        cr_expect(strstr(text_string(&text), "      nan       0.25\n"), "%zu: %s", i,
                  text_string(&text));
        text_free(&text);
        compare_free(&c);
    }
}

/* What is not a whole results directory is refused with the file, the row and what is wrong. */
Test(compare, what_is_refused, .init = make_folder, .fini = remove_folder)
{
    static const struct line good[] = TILED("0x1");
    static const struct {
        const char *study, *bits, *promise, *torn, *says;
    } due[] = {
        {STUDY(""), "0x1", "gpu_to_gpu", "accuracy,01,2",
         "/b/results.csv: found 13 bytes of a torn row"},
        {STUDY(""), "0x1", "gpu_to_gpu", "accuracy,01\n",
         "/b/results.csv: line 3: found 2 fields, expected 29"},
        {STUDY(""), "xyz", "gpu_to_gpu", "", "/b/results.csv: line 2: result_bits: found 'xyz'"},
        {STUDY(""), "0x1", "sure", "",
         "/b/results.csv: line 2: promise: found 'sure', expected none"},
        {"{\"schema_version\":4}", "0x1", "gpu_to_gpu", "",
         "/b/study.json: found schema version 4, expected 1 to 3"},
        {"{", "0x1", "gpu_to_gpu", "", "/b/study.json: line 1"},
    };
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        const struct line bad[] = {ROW("01", "m", due[i].promise, "cpu", "", due[i].bits), {0}};
        struct compare c;
        struct problem p;
        put_study("a", STUDY(""));
        put_study("b", due[i].study);
        put_results("a", good, COLUMNS_OF_SUMS, "");
        put_results("b", bad, COLUMNS_OF_SUMS, due[i].torn);
        cr_expect(read_both(&c, &p) == STATUS_DATA && strstr(p.text, due[i].says), "%zu: %s", i,
                  p.text);
        compare_free(&c);
    }
    struct compare c;
    struct problem p;
    put_study("b", "{\"schema_version\":2,\"experiment\":\"trial\",\"axes\":{},\"inputs\":{}}");
    remove(in_folder("b/results.csv"));
    cr_expect(
        read_both(&c, &p) == STATUS_DATA &&
            strstr(p.text, "/b/results.csv: found no such file beside a study.json of `trial`"),
        "%s", p.text);
    compare_free(&c);
    remove(in_folder("b/study.json"));
    cr_expect(read_both(&c, &p) == STATUS_DATA && strstr(p.text, "/b/study.json: No such file"),
              "%s", p.text);
    compare_free(&c);
}

/* Real studies: the CPU gives what it gave, but for the atomic sum; the CSV reads back. */
Test(compare, a_study_twice, .init = make_folder, .fini = remove_folder)
{
    static study_words words = {{"method", "sum/tiled,sum/exact,sum/atomic"},
                                {"storage", "fp16,fp32"},
                                {"accumulator", "fp32"},
                                {"input", "symmetric,ones"},
                                {"n", "1000,5000"},
                                {NULL, NULL}};
    struct compare c;
    struct problem p;
    struct text text = {0};
    study_run("accuracy", words, in_folder("a"));
    study_run("accuracy", words, in_folder("b"));
    cr_assert(read_both(&c, &p) == STATUS_OK, "%s", p.text);
    cr_expect(c.pairs == 24 && c.count[VERDICT_SAME] >= 16 &&
              c.count[VERDICT_SAME] + c.count[VERDICT_WITHIN_BOUND] == 24);
    cr_expect(compare_status(&c, &p) == STATUS_OK, "%s", p.text);
    compare_text(&text, &c);
    cr_expect(strstr(text_string(&text), "sum/tiled   gpu_to_gpu"), "%s", text_string(&text));
    text_clear(&text);
    columns_header(&text, compare_column, COMPARE_COLUMNS);
    compare_rows(&text, &c);
    struct bytes b = {0};
    add_string(&b, text_string(&text));
    put_file("compare.csv", &b);
    clear_bytes(&b);
    struct rows rows = rows_of(folder, "compare", compare_column, COMPARE_COLUMNS);
    cr_expect(rows.count == c.pairs);
    for (size_t i = 0; i < rows.count; i++)
        if (strcmp(field_of(&rows, i, COMPARE_METHOD), "sum/exact") == 0)
            cr_expect_str_eq(field_of(&rows, i, COMPARE_VERDICT), "same");
    json_t *json = compare_json(&c);
    cr_expect(json_array_size(json_object_get(json, "cases")) == c.pairs);
    json_decref(json);
    rows_free(&rows);
    text_free(&text);
    compare_free(&c);
}

/* A side without a result has no columns of results; results are shared where there are two sides.
 */
Test(compare, columns_of_what_there_is)
{
    struct gathered_case a = {.runs = 3,
                              .distinct = 2,
                              .result = (char *)"1",
                              .first = (char *)"0x1"},
                         b = {.status = "error", .result = (char *)"", .first = (char *)""};
    struct compare_pair pair[] = {{.of = {&a, &b}, .shared = 0}, {.of = {&a, NULL}, .shared = 5}};
    struct compare c = {.pair = pair, .pairs = 2};
    struct text text = {0};
    for (size_t k = 0; k < CASE_ALL; k++)
        a.field[k] = b.field[k] = (char *)"";
    a.field[CASE_SCAN] = (char *)"exclusive";
    a.field[CASE_OUTPUT] = (char *)"fp16";
    compare_rows(&text, &c);
    cr_assert(text_string(&text));
    char *at = text.data;
    for (size_t i = 0; i < 2; i++) {
        char *line = strsep(&at, "\n"), *field[COMPARE_COLUMNS];
        for (size_t k = 0; k < COMPARE_COLUMNS; k++)
            cr_assert(field[k] = strsep(&line, ","));
        cr_expect_str_eq(field[COMPARE_SHARED], i == 0 ? "0" : "");
        cr_expect_str_eq(field[COMPARE_SCAN], "exclusive");
        cr_expect_str_eq(field[COMPARE_OUTPUT], "fp16");
        cr_expect_str_eq(field[COMPARE_DISTINCT_A], "2");
        cr_expect_str_eq(field[COMPARE_RUNS_A + 1], i == 0 ? "0" : "");
        cr_expect_str_eq(field[COMPARE_DISTINCT_A + 1], "");
    }
    text_free(&text);
}
