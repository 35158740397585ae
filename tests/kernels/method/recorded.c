/* What real GPUs gave, the CPU twins give too. */
#include <criterion/criterion.h>

#include <glob.h>

#include "experiments/inputs/input.h"
#include "reference/format/hash_array.h"
#include "tests/support/recorded.h"
#include "tests/support/study.h"

Test(recorded, cpu_twins_give_the_bits_of_gpus)
{
    glob_t found;
    int none =
        glob(ULPSCOPE_SOURCE "/reports/recorded/*/{profile,results}.csv", GLOB_BRACE, NULL, &found);
    for (size_t i = 0; !none && i < found.gl_pathc; i++) {
        struct recorded r = {0};
        struct problem p = {0};
        enum status status = recorded_compare(&r, found.gl_pathv[i], &p);
        cr_log_info("%s: %zu rows of %zu cases compared, %zu too large, %zu without a promise",
                    found.gl_pathv[i], r.compared, r.cases, r.too_large, r.no_promise);
        cr_expect(status == STATUS_OK, "%s", p.text);
        bool of_a_cpu = strstr(found.gl_pathv[i], "/recorded/cpu-") != NULL;
        cr_expect((r.compared > 0) != of_a_cpu, "%s: %zu rows were compared", found.gl_pathv[i],
                  r.compared);
        cr_expect(r.different == 0, "%zu rows differ; %s", r.different, r.first);
    }
    if (!none)
        globfree(&found);
    else
        cr_log_info("nothing is recorded yet");
}

static void add_fields(struct bytes *b, const char *const *field, size_t columns)
{
    for (size_t i = 0; i < columns; i++) {
        add_string(b, i ? "," : "");
        add_string(b, field[i] ? field[i] : "");
    }
    add_string(b, "\n");
}

/* A row as a GPU would have written it. */
static void add_row(struct bytes *b, const char *id, const char *method, const char *accumulator,
                    const char *input, const char *seed, const char *threads, const char *bits)
{
    const char *field[RESULTS_COLUMNS] = {[RESULTS_EXPERIMENT] = "accuracy",
                                          [RESULTS_CASE_ID] = id,
                                          [RESULTS_RUN] = "1",
                                          [RESULTS_RESULT_BITS] = bits,
                                          [RESULTS_STATUS] = "ok"};
    field[results_case_column(CASE_METHOD)] = method;
    field[results_case_column(CASE_DEVICE)] = "cuda:0";
    field[results_case_column(CASE_STORAGE)] = "fp32";
    field[results_case_column(CASE_ACCUMULATOR)] = accumulator;
    field[results_case_column(CASE_INPUT)] = input;
    field[results_case_column(CASE_N)] = "1000";
    field[results_case_column(CASE_SEED)] = seed;
    field[results_case_column(CASE_THREADS)] = threads;
    add_fields(b, field, RESULTS_COLUMNS);
}

static void add_header_of(struct bytes *b, size_t columns)
{
    struct text header = {0};
    columns_header(&header, results_column, columns);
    add_string(b, text_string(&header));
    text_free(&header);
}

static void add_header(struct bytes *b)
{
    add_header_of(b, RESULTS_COLUMNS);
}

/* A thousand ones make 1000, fp32 0x447a0000; added one after the other in bf16 they stop at 256.
 */
Test(recorded, a_wrong_bit_is_caught, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *method, *accumulator, *threads, *bits;
        size_t compared, different;
    } row[] = {
        {"sum/serial", "fp32", "", "0x447a0000", 1, 0},
        {"sum/serial", "fp32", "", "0x447a0001", 1, 1},
        {"sum/serial", "bf16", "", "0x4380", 1, 0},
        {"sum/sequential", "bf16", "64", "0x447a", 1, 0},
        {"sum/tiled", "fp64", "256", "0x408f400000000000", 1, 0},
        {"sum/tiled", "fp64", "256", "0x408f400000000001", 1, 1},
        {"sum/atomic", "fp32", "256", "0x12345678", 0, 0},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct bytes b = {0};
        struct recorded r = {0};
        struct problem p = {0};
        add_header(&b);
        add_row(&b, "0123456789abcdef", row[i].method, row[i].accumulator, "ones", "1",
                row[i].threads, row[i].bits);
        enum status status = recorded_compare(&r, put_file("results.csv", &b), &p);
        cr_expect(status == STATUS_OK, "row %zu: %s", i, p.text);
        cr_expect(r.compared == row[i].compared && r.different == row[i].different,
                  "row %zu: %zu compared, %zu different; %s", i, r.compared, r.different, r.first);
        clear_bytes(&b);
    }
}

/* Where the order depends on the launch shape, the recorded one is used: another gives other bits.
 */
Test(recorded, the_recorded_shape_is_used, .init = make_folder, .fini = remove_folder)
{
    struct input in;
    float data[1000];
    uint64_t bits = 0, usual = 0;
    struct array a = {FP32, 1000, data};
    const struct method *m = method_named("sum/sequential");
    cr_assert(input_parse(&in, "normal", NULL) == STATUS_OK);
    cr_assert(input_generate(&in, &a, 3, 0, NULL) == STATUS_OK);
    cr_assert(run_method_once(m, &a, BF16, (struct shape){33, 0}, &bits) == STATUS_OK);
    cr_assert(run_method_once(m, &a, BF16, method_shape(m, DEVICE_CPU, 1000, (struct shape){0, 0}),
                              &usual) == STATUS_OK);
    cr_assert(bits != usual, "both give %#x", (unsigned)bits);

    char text[24];
    struct bytes b = {0};
    struct recorded r = {0};
    snprintf(text, sizeof text, "0x%04x", (unsigned)bits);
    add_header(&b);
    add_row(&b, "0123456789abcdef", m->name, "bf16", "normal", "3", "33", text);
    cr_expect(recorded_compare(&r, put_file("results.csv", &b), NULL) == STATUS_OK);
    cr_expect(r.compared == 1 && r.different == 0, "%zu compared; %s", r.compared, r.first);
    clear_bytes(&b);
}

/* A thousand ones scanned in fp32 are 1, 2, ...; in segments of 300 they begin anew. */
Test(recorded, a_wrong_bit_of_a_scan_is_caught, .init = make_folder, .fini = remove_folder)
{
    enum { N = 1000 };
    static const struct {
        const char *method, *scan, *segment;
        size_t length; /* of segments */
        int wrong, compared, different;
    } row[] = {{"scan/tiled", "inclusive", "", N, -1, 1, 0},
               {"scan/tiled", "inclusive", "", N, 999, 1, 1},
               {"scan/three_kernel", "exclusive", "", N, -1, 1, 0},
               {"scan/serial", "exclusive", "", N, 0, 1, 1},
               {"scan/segmented", "inclusive", "300", 300, -1, 1, 0},
               {"scan/segmented", "inclusive", "300", 300, 299, 1, 1},
               {"scan/lookback", "inclusive", "", N, 5, 0, 0}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const char *field[RESULTS_SCAN_COLUMNS] = {[RESULTS_CASE_ID] = "0123456789abcdef"};
        float data[N];
        char bits[40];
        struct array out = {FP32, N, data};
        struct bytes b = {0};
        struct recorded r = {0};
        struct problem p = {0};
        for (int k = 0; k < N; k++)
            data[k] =
                (float)((size_t)k % row[i].length + (*row[i].scan == 'i') + (k == row[i].wrong));
        struct hash128 hash = hash_array(&out);
        snprintf(bits, sizeof bits, "0x%016jx%016jx", (uintmax_t)hash.word[0],
                 (uintmax_t)hash.word[1]);
        const struct {
            enum case_column column;
            const char *text;
        } text[] = {{CASE_METHOD, row[i].method},
                    {CASE_DEVICE, "cuda:0"},
                    {CASE_STORAGE, "fp16"},
                    {CASE_ACCUMULATOR, "fp32"},
                    {CASE_INPUT, "ones"},
                    {CASE_N, "1000"},
                    {CASE_SEED, "1"},
                    {CASE_SCAN, row[i].scan},
                    {CASE_OUTPUT, "fp32"},
                    {CASE_SEGMENT, row[i].segment}};
        for (size_t k = 0; k < sizeof text / sizeof *text; k++)
            field[results_case_column(text[k].column)] = text[k].text;
        field[RESULTS_RESULT_BITS] = bits;
        add_header_of(&b, RESULTS_SCAN_COLUMNS);
        add_fields(&b, field, RESULTS_SCAN_COLUMNS);
        enum status status = recorded_compare(&r, put_file("results.csv", &b), &p);
        cr_expect(status == STATUS_OK, "row %zu: %s", i, p.text);
        cr_expect((int)r.compared == row[i].compared && (int)r.different == row[i].different,
                  "row %zu: %zu compared, %zu different; %s", i, r.compared, r.different, r.first);
        clear_bytes(&b);
    }
}

/* ---- a study, made here and passed off as a GPU's ---- */

static void replace_all(const char *name, const char *from, const char *to)
{
    struct bytes old = get_file(in_folder(name)), new = {0};
    char *at = (char *)old.data, *found;
    cr_assert(at);
    for (at[old.size] = 0; (found = strstr(at, from)); at = found + strlen(from)) {
        add_bytes(&new, at, (size_t)(found - at));
        add_string(&new, to);
    }
    add_string(&new, at);
    put_file(name, &new);
    clear_bytes(&old);
    clear_bytes(&new);
}

/* Changes the last digit of a field of a row, not counting the header. */
static void spoil(const char *name, size_t row, size_t column)
{
    struct bytes b = get_file(in_folder(name));
    char *at = (char *)b.data;
    for (size_t i = 0; i <= row; i++)
        at = strchr(at, '\n') + 1;
    for (size_t i = 0; i <= column; i++)
        at = strchr(at, ',') + 1;
    at[-2] = at[-2] == '0' ? '1' : '0'; /* before the comma behind the field */
    put_file(name, &b);
    clear_bytes(&b);
}

static struct recorded compare(const char *name)
{
    struct recorded r = {0};
    struct problem p = {0};
    cr_assert(recorded_compare(&r, in_folder(name), &p) == STATUS_OK, "%s", p.text);
    return r;
}

/* Every row of a method with a promise, all but one of them (NULL: all), and one that was changed.
 */
static void expect_found(const char *name, const struct rows *rows, size_t bits_column,
                         const char *unordered)
{
    size_t promised = 0, cases = 0, last = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (!unordered || strcmp(field_of(rows, i, RESULTS_METHOD), unordered) != 0) {
            cases += promised == 0 || strcmp(field_of(rows, i, RESULTS_CASE_ID),
                                             field_of(rows, last, RESULTS_CASE_ID)) != 0;
            last = i;
            promised++;
        }
    struct recorded r = compare(name);
    cr_expect(r.compared == promised && r.cases == cases && r.different == 0 &&
                  r.no_promise == rows->count - promised &&
                  (promised < rows->count) == (unordered != NULL),
              "%s: %zu of %zu rows, %zu of %zu cases; %s", name, r.compared, promised, r.cases,
              cases, r.first);
    spoil(name, last, bits_column);
    r = compare(name);
    cr_expect(r.different == 1 && strstr(r.first, field_of(rows, last, RESULTS_METHOD)),
              "%s: %zu differ; %s", name, r.different, r.first);
}

Test(recorded, a_study_of_scans, .init = make_folder, .fini = remove_folder)
{
    static const struct experiment twice = {
        .name = "twice",
        .operation = {&operation_scan},
        .axes = {[DEVICE_CPU] = {.formats = "fp32/fp32", .input = "ones", .n = "10", .runs = 2}}};
    static study_words words = {
        {"method", "scan/lookback,scan/tiled,scan/three_kernel,scan/segmented,scan/compensated"},
        {"storage", "fp16,fp64"},
        {"accumulator", "bf16,fp32"},
        {"input", "symmetric"},
        {"n", "1000,9000"},
        {"scan", "inclusive,exclusive"},
        {"output", "accumulator,storage"},
        {"segment", "0,700"},
        {"threads", "64,256"},
        {NULL, NULL}};
    study_run_as(&twice, words, folder);
    struct rows results = rows_of(folder, "results", results_column, RESULTS_SCAN_COLUMNS);
    struct rows profile = rows_of(folder, "profile", profile_column, PROFILE_COLUMNS);
    cr_expect(compare("results.csv").compared == 0 && compare("profile.csv").compared == 0,
              "rows of the CPU are nobody else's");
    replace_all("results.csv", ",cpu,", ",cuda:0,");
    replace_all("profile.csv", ",cpu,", ",cuda:0,");
    expect_found("results.csv", &results, RESULTS_RESULT_BITS, "scan/lookback");
    expect_found("profile.csv", &profile, PROFILE_RESULT_BITS, "scan/lookback");
    rows_free(&results);
    rows_free(&profile);
}

Test(recorded, a_study_of_products_and_extrema, .init = make_folder, .fini = remove_folder)
{
    static study_words words = {
        {"method", "product/atomic,product/serial,product/tree,product/exact,minimum/tree,"
                   "maximum_number/two_kernel,argmax/serial,argmin/atomic"},
        {"storage", "fp16,bf16,fp64"},
        {"accumulator", "fp64"},
        {"input", "reciprocal,nans"},
        {"n", "1000,5000"},
        {"threads", "64,256"},
        {NULL, NULL}};
    study_run_as(&experiment_extrema, words, folder);
    struct rows results = rows_of(folder, "results", results_column, RESULTS_COLUMNS);
    replace_all("results.csv", ",cpu,", ",cuda:0,");
    expect_found("results.csv", &results, RESULTS_RESULT_BITS, "product/atomic");
    rows_free(&results);
}

Test(recorded, a_study_of_scatter_adds, .init = make_folder, .fini = remove_folder)
{
    static study_words words = {
        {"method", "scatter/atomic,scatter/sort,scatter/ordered,scatter/exact"},
        {"storage", "fp16,fp64"},
        {"accumulator", "bf16,fp64"},
        {"input", "symmetric"},
        {"n", "1000,5000"},
        {"keys", "uniform,zipf:s=2,sorted"},
        {"bins", "1,300,5000"},
        {"runs", "2"},
        {NULL, NULL}};
    study_run_as(&experiment_scatter, words, folder);
    struct rows results = rows_of(folder, "results", results_column_of(COLUMNS_OF_SCATTERS),
                                  results_columns(COLUMNS_OF_SCATTERS));
    replace_all("results.csv", ",cpu,", ",cuda:0,");
    expect_found("results.csv", &results, RESULTS_RESULT_BITS, "scatter/atomic");
    rows_free(&results);
}

Test(recorded, a_study_of_rows, .init = make_folder, .fini = remove_folder)
{
    static study_words words = {
        {"method", "rows/serial,rows/tiled,rows/exact,rows/atomic,transpose/naive,compact/scan"},
        {"storage", "fp32"},
        {"accumulator", "fp32"},
        {"input", "symmetric"},
        {"n", "960,4800"},
        {"rows", "1,12,480"},
        {"layout", "row,column"},
        {"keep", "10,50"},
        {"seed", "3"},
        {"runs", "2"},
        {NULL, NULL}};
    study_run_as(&experiment_rows, words, folder);
    struct rows results = rows_of(folder, "results", results_column_of(COLUMNS_OF_SCATTERS),
                                  results_columns(COLUMNS_OF_SCATTERS));
    replace_all("results.csv", ",cpu,", ",cuda:0,");
    expect_found("results.csv", &results, RESULTS_RESULT_BITS, "rows/atomic");
    rows_free(&results);
}

Test(recorded, a_study_of_norms, .init = make_folder, .fini = remove_folder)
{
    static study_words words = {
        {"method", "norm/tiled,norm/scaled,norm/exact,mean/serial,mean/tiled,mean/running,"
                   "variance/textbook,variance/two_pass,variance/chan,variance/exact"},
        {"storage", "fp16,fp64"},
        {"accumulator", "fp32,fp64"},
        {"input", "wide"},
        {"n", "1000,5000"},
        {"threads", "64,256"},
        {NULL, NULL}};
    study_run_as(&experiment_norm, words, folder);
    struct rows results = rows_of(folder, "results", results_column, RESULTS_COLUMNS);
    replace_all("results.csv", ",cpu,", ",cuda:0,");
    expect_found("results.csv", &results, RESULTS_RESULT_BITS, NULL);
    rows_free(&results);
}
