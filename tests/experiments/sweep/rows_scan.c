/* Rows of scans: every figure of every row is that of what the row names, computed apart. */
#include <math.h>

#include "experiments/inputs/heads.h"
#include "reference/exact/mpfr.h"
#include "reference/format/hash_array.h"
#include "reference/measure/scan.h"
#include "reference/format/number.h"
#include "tests/support/study.h"

/* What a row names, and what comes of it. */
struct anew {
    struct array in, out, twin;
    uint8_t *heads;
    struct study_case t;
    struct scan_measure m;
};

static void run_method(struct anew *a, const struct method *m, struct array *out)
{
    size_t bytes = array_bytes(a->t.setting.output, a->in.n);
    *out = (struct array){a->t.setting.output, a->in.n, calloc(bytes + 1, 1)};
    struct task task = {
        .of =
            &(struct operands){.in = a->in, .exclusive = a->t.setting.exclusive, .heads = a->heads},
        .out = *out,
        .accumulator = a->t.accumulator,
        .shape = method_shape(m, DEVICE_CPU, a->in.n, (struct shape){0})};
    cr_assert(out->data && m->cpu(&task, NULL) == STATUS_OK, "%s", m->name);
}

static size_t height(const void *context, size_t i)
{
    const struct anew *a = context;
    const struct method *m = a->t.method;
    static uint16_t cut[1 << 16];
    if (a->heads && m->segment_heights) {
        cr_assert(a->in.n <= 1 << 16);
        cr_assert(m->segment_heights(cut, a->in.n, a->t.setting.exclusive, a->heads, NULL) ==
                  STATUS_OK);
        return cut[i];
    }
    return m->prefix_height(i, a->in.n, method_shape(m, DEVICE_CPU, a->in.n, (struct shape){0}),
                            a->t.setting.exclusive);
}

static void compute_anew(struct anew *a, const struct rows *r, size_t row)
{
    struct input in;
    size_t n = (size_t)atoi(case_field(r, row, CASE_N));
    *a = (struct anew){
        .in = {format_named(case_field(r, row, CASE_STORAGE)), n, calloc(n + 1, 8)},
        .t = {.method = method_named(case_field(r, row, CASE_METHOD)),
              .accumulator = format_named(case_field(r, row, CASE_ACCUMULATOR)),
              .setting.exclusive = strcmp(case_field(r, row, CASE_SCAN), "exclusive") == 0,
              .setting.output = format_named(case_field(r, row, CASE_OUTPUT)),
              .setting.segment = (size_t)atoi(case_field(r, row, CASE_SEGMENT))}};
    cr_assert(input_parse(&in, case_field(r, row, CASE_INPUT), NULL) == STATUS_OK &&
              input_generate(&in, &a->in, strtoull(case_field(r, row, CASE_SEED), NULL, 10), 0,
                             NULL) == STATUS_OK);
    cr_assert_eq(heads_make(&a->heads, n, a->t.setting.segment, NULL), STATUS_OK);
    run_method(a, a->t.method, &a->out);
    run_method(a, method_named(a->t.setting.segment ? "scan/segmented" : "scan/tiled"), &a->twin);
    struct scan scan = {.in = a->in, .exclusive = a->t.setting.exclusive, .heads = a->heads};
    struct scan_output out = {.out = a->out,
                              .accumulator = a->t.accumulator,
                              .bound = a->t.method->bound,
                              .height = height,
                              .context = a,
                              .twin = {&a->twin, &a->out}};
    cr_assert_eq(measure_scan(&a->m, &out, 1, &scan, 1, NULL), STATUS_OK);
}

static void free_anew(struct anew *a)
{
    free(a->in.data);
    free(a->out.data);
    free(a->twin.data);
    free(a->heads);
}

static void expect_figure(const struct rows *r, size_t row, size_t column, struct figure f)
{
    char digits[NUMBER_TEXT] = "";
    if (f.known)
        number_decimal(digits, f.value);
    expect_text(r, row, column, digits);
}

static void expect_index(const struct rows *r, size_t row, size_t column, size_t index, size_t n)
{
    expect_figure(r, row, column, (struct figure){index < n, (double)index});
}

/* The exact sum of what the last output covers. */
static void expect_exact(const struct anew *a, const struct rows *r, size_t row)
{
    mpfr_t sum;
    char decimal[NUMBER_TEXT];
    struct exact exact;
    size_t first = a->in.n - 1;
    exact_init(&exact);
    while (first > 0 && !(a->heads && a->heads[first]))
        first--;
    for (size_t i = first; i < a->in.n - a->t.setting.exclusive; i++)
        exact_add(&exact, array_get(&a->in, i));
    mpfr_init2(sum, MPFR_PREC_MIN);
    exact_get(sum, &exact);
    char *hex = number_hex_mpfr(sum);
    number_decimal_mpfr(decimal, sum);
    expect_text(r, row, RESULTS_EXACT, decimal);
    expect_text(r, row, RESULTS_EXACT_HEX, hex);
    free(hex);
    mpfr_clear(sum);
}

static void expect_errors(const struct anew *a, const struct rows *r, size_t row)
{
    const struct scan_measure *m = &a->m;
    expect_figure(r, row, RESULTS_ERR_ABS, m->err_abs);
    expect_figure(r, row, RESULTS_ERR_REL, m->err_rel);
    expect_figure(r, row, RESULTS_ERR_ULP, m->err_ulp);
    expect_figure(r, row, RESULTS_ERR_BACKWARD, m->err_backward);
    expect_figure(r, row, RESULTS_BOUND, m->point[m->points - 1].bound);
    expect_figure(r, row, RESULTS_ERR_OVER_BOUND, m->err_over_bound);
    expect_text(r, row, RESULTS_STATUS, outcome_name[m->outcome]);
}

static void expect_facts(const struct anew *a, const struct rows *r, size_t row)
{
    size_t n = a->in.n;
    const struct scan_measure *m = &a->m;
    expect_figure(r, row, RESULTS_ERR_ULP_RMS, m->err_ulp_rms);
    expect_index(r, row, RESULTS_WORST_INDEX, m->worst_index, n);
    expect_figure(r, row, RESULTS_DIFFERING, m->difference[0].differing);
    expect_figure(r, row, RESULTS_MEAN_REL_DIFF, m->difference[0].mean_rel_diff);
    expect_index(r, row, RESULTS_FIRST_DIFF, m->difference[0].first_diff, n);
    expect_figure(r, row, RESULTS_DECREASES, m->decreases);
    expect_text(r, row, RESULTS_RUN_DIFFERING, "0");
    expect_figure(r, row, RESULTS_RUN_MEAN_REL_DIFF, m->difference[1].mean_rel_diff);
    expect_text(r, row, RESULTS_RUN_FIRST_DIFF, "");
}

static void expect_row(const struct anew *a, const struct rows *r, size_t row)
{
    char text[48];
    struct hash128 hash = hash_array(&a->out);
    double last = array_get(&a->out, a->in.n - 1);
    snprintf(text, sizeof text, "0x%016jx%016jx", (uintmax_t)hash.word[0], (uintmax_t)hash.word[1]);
    expect_text(r, row, RESULTS_RESULT_BITS, text);
    number_decimal(text, last);
    expect_text(r, row, RESULTS_RESULT, text);
    number_hex(text, last);
    expect_text(r, row, RESULTS_RESULT_HEX, text);
    expect_exact(a, r, row);
    expect_errors(a, r, row);
    expect_facts(a, r, row);
}

/* The rows of a case in profile.csv, from row *at on. */
static void expect_profile(const struct anew *a, const struct rows *r, size_t row,
                           const struct rows *profile, size_t *at)
{
    for (size_t k = 0; k < a->m.points; k++, ++*at) {
        struct text text = {0};
        char digits[NUMBER_TEXT], bits[NUMBER_TEXT];
        const struct scan_point *point = &a->m.point[k];
        cr_assert(*at < profile->count, "row %zu: only %zu points", row, k);
        for (size_t i = 0; i <= RESULTS_BLOCKS; i++)
            cr_expect_str_eq(field_of(profile, *at, i), field_of(r, row, i));
        for (size_t i = 0; i < 3; i++)
            cr_expect_str_eq(field_of(profile, *at, PROFILE_SCAN + i),
                             field_of(r, row, RESULTS_SCAN + i));
        number_decimal(digits, point->result);
        number_bits(bits, a->t.setting.output, point->result);
        text_format(&text, "%zu,%s,%s", point->index, digits, bits);
        const struct figure figure[] = {point->err_abs, point->err_ulp, point->bound,
                                        point->err_over_bound};
        for (size_t i = 0; i < 4; i++) {
            text_add(&text, ",");
            text_figure(&text, figure[i]);
        }
        const char *due = text_string(&text);
        for (size_t i = PROFILE_INDEX; i < PROFILE_COLUMNS; i++) {
            size_t length = strcspn(due, ",");
            const char *field = field_of(profile, *at, i);
            cr_expect(strlen(field) == length && memcmp(field, due, length) == 0,
                      "row %zu: point %zu: %s %s", row, k, profile_column(i)->name, field);
            due += length + (due[length] == ',');
        }
        text_free(&text);
    }
}

/* Of no elements there is no output, and nothing to say of it. */
static void expect_nothing(const struct rows *r, size_t row)
{
    expect_text(r, row, RESULTS_RESULT_BITS, "0x00000000000000000000000000000000");
    expect_text(r, row, RESULTS_STATUS, "ok");
    for (size_t i = RESULTS_RESULT; i < RESULTS_SCAN_COLUMNS; i++)
        if (i != RESULTS_RESULT_BITS && i != RESULTS_TIME_NS &&
            (i < RESULTS_STATUS || i >= RESULTS_ERR_ULP_RMS))
            expect_text(r, row, i, "");
}

Test(rows_scan, each_row_speaks_for_itself, .init = make_folder, .fini = remove_folder)
{
    enum { RUNS = 2 };
    const char *out = in_folder("out");
    study_run_as(scan_experiment(),
                 (study_words){{"method", "scan/serial,scan/blelloch,scan/three_kernel,scan/tiled,"
                                          "scan/compensated,scan/segmented"},
                               {"storage", "fp16,bf16,fp32,fp64"},
                               {"accumulator", "fp16,fp32,fp64"},
                               {"output", "accumulator,storage"},
                               {"scan", "inclusive,exclusive"},
                               {"segment", "0,7"},
                               {"device", "cpu"},
                               {"input", "uniform,symmetric,infs"},
                               {"n", "0,1,700"},
                               {"seed", "7"},
                               {"runs", "2"},
                               {NULL}},
                 out);
    struct rows r = rows_of(out, "results", results_column, results_columns(true));
    struct rows profile = rows_of(out, "profile", profile_column, PROFILE_COLUMNS);
    size_t points = 0;
    cr_assert_gt(r.count, 1000);
    for (size_t i = 0; i < r.count; i += RUNS) {
        struct anew a;
        compute_anew(&a, &r, i);
        for (size_t k = 0; k < RUNS && a.in.n > 0; k++)
            expect_row(&a, &r, i + k);
        for (size_t k = 0; k < RUNS && a.in.n == 0; k++)
            expect_nothing(&r, i + k);
        expect_profile(&a, &r, i, &profile, &points);
        free_anew(&a);
    }
    cr_expect(points == profile.count, "%zu rows of profile.csv, %zu points", profile.count,
              points);
    rows_free(&r);
    rows_free(&profile);
}
