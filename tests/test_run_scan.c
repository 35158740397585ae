/* The sweep engine on scans: every figure of every row is that of what the row names, computed
 * apart; which cases share what; and what unreliable methods leave behind. (The linker puts
 * __wrap_measure_scan in the place of measure_scan, and so on.)
 */
#include <math.h>

#include "experiments/heads.h"
#include "experiments/runner.h"
#include "reference/exact_mpfr.h"
#include "reference/hash_array.h"
#include "reference/measure_scan.h"
#include "reference/number.h"
#include "tests/study.h"

/* ---- what is counted, and made to fail ---- */

static size_t measures, twins, measures_until_failure = SIZE_MAX;

enum status __real_measure_scan(struct scan_measure *m, const struct scan_output *out,
                                size_t outputs, const struct scan *scan, unsigned threads,
                                struct problem *p);
enum status __wrap_measure_scan(struct scan_measure *m, const struct scan_output *out,
                                size_t outputs, const struct scan *scan, unsigned threads,
                                struct problem *p);
enum status __real_runner_once(const struct runner *r, const struct array *out, struct problem *p);
enum status __wrap_runner_once(const struct runner *r, const struct array *out, struct problem *p);

enum status __wrap_measure_scan(struct scan_measure *m, const struct scan_output *out,
                                size_t outputs, const struct scan *scan, unsigned threads,
                                struct problem *p)
{
    measures++;
    if (measures_until_failure-- == 0)
        return problem(p, STATUS_DEVICE, "out of rulers");
    return __real_measure_scan(m, out, outputs, scan, threads, p);
}

enum status __wrap_runner_once(const struct runner *r, const struct array *out, struct problem *p)
{
    twins++;
    return __real_runner_once(r, out, p);
}

/* Plays a device that makes all runs before any is looked at. */
static bool batched;
static volatile sig_atomic_t *stopped;
static size_t outputs_until_stop;

static enum status output_of(void *source, size_t i, const struct array *to, struct problem *p)
{
    const struct array *out = source;
    (void)p;
    memcpy(to->data, out[i].data, array_bytes(to->format, to->n));
    if (stopped && --outputs_until_stop == 0)
        *stopped = 1;
    return STATUS_OK;
}

enum status __real_runner_run(const struct runner *r, uint64_t runs, runner_digest digest,
                              void *context, struct problem *p);
enum status __wrap_runner_run(const struct runner *r, uint64_t runs, runner_digest digest,
                              void *context, struct problem *p);

enum status __wrap_runner_run(const struct runner *r, uint64_t runs, runner_digest digest,
                              void *context, struct problem *p)
{
    enum { MOST = 16 };
    struct array out[MOST];
    struct hash128 hash[MOST];
    uint64_t time_ns[MOST] = {0};
    if (!batched)
        return __real_runner_run(r, runs, digest, context, p);
    cr_assert(runs <= MOST);
    for (size_t i = 0; i < runs; i++) {
        out[i] = (struct array){r->output, r->in->n, calloc(r->in->n, 8)};
        cr_assert_eq(__real_runner_once(r, &out[i], p), STATUS_OK);
        hash[i] = hash_array(&out[i]);
    }
    struct runner_results results = {(size_t)runs, hash, time_ns, output_of, out};
    enum status status = digest(context, &results, p);
    for (size_t i = 0; i < runs; i++)
        free(out[i].data);
    return status;
}

/* ---- rows, computed anew ---- */

static const char *case_field(const struct rows *r, size_t row, enum case_column column)
{
    return field_of(r, row, results_case_column(column));
}

/* What a row names, and what comes of it. */
struct anew {
    struct array in, out, twin;
    uint8_t *heads;
    struct trial t;
    struct scan_measure m;
};

static void run_method(struct anew *a, const struct method *m, struct array *out)
{
    size_t bytes = array_bytes(a->t.output, a->in.n);
    *out = (struct array){a->t.output, a->in.n, calloc(bytes + 1, 1)};
    struct task task = {.in = a->in,
                        .out = *out,
                        .accumulator = a->t.accumulator,
                        .shape = method_shape(m, DEVICE_CPU, a->in.n, (struct shape){0}),
                        .exclusive = a->t.exclusive,
                        .heads = a->heads};
    cr_assert(out->data && m->cpu(&task, NULL) == STATUS_OK, "%s", m->name);
}

static size_t height(const void *context, size_t i)
{
    const struct anew *a = context;
    const struct method *m = a->t.method;
    return m->prefix_height(i, a->in.n, method_shape(m, DEVICE_CPU, a->in.n, (struct shape){0}),
                            a->t.exclusive);
}

static void compute_anew(struct anew *a, const struct rows *r, size_t row)
{
    struct input in;
    size_t n = (size_t)atoi(case_field(r, row, CASE_N));
    *a = (struct anew){.in = {format_named(case_field(r, row, CASE_STORAGE)), n, calloc(n + 1, 8)},
                       .t = {.method = method_named(case_field(r, row, CASE_METHOD)),
                             .accumulator = format_named(case_field(r, row, CASE_ACCUMULATOR)),
                             .exclusive = strcmp(case_field(r, row, CASE_SCAN), "exclusive") == 0,
                             .output = format_named(case_field(r, row, CASE_OUTPUT)),
                             .segment = (size_t)atoi(case_field(r, row, CASE_SEGMENT))}};
    cr_assert(input_parse(&in, case_field(r, row, CASE_INPUT), NULL) == STATUS_OK &&
              input_generate(&in, &a->in, strtoull(case_field(r, row, CASE_SEED), NULL, 10), 0,
                             NULL) == STATUS_OK);
    cr_assert_eq(heads_make(&a->heads, n, a->t.segment, NULL), STATUS_OK);
    run_method(a, a->t.method, &a->out);
    run_method(a, method_named(a->t.segment ? "scan/segmented" : "scan/tiled"), &a->twin);
    struct scan scan = {a->in, a->t.exclusive, a->heads};
    struct scan_output out = {.out = a->out,
                              .accumulator = a->t.accumulator,
                              .bound = a->t.method->bound,
                              .height = height,
                              .context = a,
                              .twin = {&a->twin, &a->out}};
    cr_assert_eq(__real_measure_scan(&a->m, &out, 1, &scan, 1, NULL), STATUS_OK);
}

static void free_anew(struct anew *a)
{
    free(a->in.data);
    free(a->out.data);
    free(a->twin.data);
    free(a->heads);
}

static void expect_text(const struct rows *r, size_t row, size_t column, const char *due)
{
    cr_expect_str_eq(field_of(r, row, column), due, "row %zu (%s, %s to %s, %s, n = %s): %s", row,
                     case_field(r, row, CASE_METHOD), case_field(r, row, CASE_ACCUMULATOR),
                     case_field(r, row, CASE_OUTPUT), case_field(r, row, CASE_SCAN),
                     case_field(r, row, CASE_N), results_column(column)->name);
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
    for (size_t i = first; i < a->in.n - a->t.exclusive; i++)
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
        number_bits(bits, a->t.output, point->result);
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

Test(run_scan, each_row_speaks_for_itself, .init = make_folder, .fini = remove_folder)
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

/* ---- what is done once ---- */

/* Methods one behind the other; what they share is computed once for each way to scan. */
Test(run_scan, cases_that_scan_alike_share_a_twin, .init = make_folder, .fini = remove_folder)
{
    twins = measures = 0;
    struct sweep_outcome o = study_run_as(
        scan_experiment(),
        (study_words){{"method", "scan/serial,scan/segmented,scan/tiled,scan/blelloch"},
                      {"storage", "fp16,fp32"},
                      {"accumulator", "fp16,fp32"},
                      {"output", "accumulator,storage"},
                      {"scan", "inclusive,exclusive"},
                      {"segment", "0,5"},
                      {"device", "cpu"},
                      {"input", "uniform"},
                      {"n", "33"},
                      {"runs", "40"},
                      {NULL}},
        in_folder("out"));
    /* 6 ways to add and round: fp16 and fp32 in themselves have one output format each. Twice for
     * what is covered, twice for segments, of which one method makes anything. */
    const size_t ways = (2 + 4) * 2;
    cr_expect_eq(o.finished, ways * (4 + 1), "%zu cases", o.finished);
    cr_expect_eq(twins, ways * 2, "%zu twins", twins);
    cr_expect_eq(measures, ways * (4 + 1), "%zu outputs were measured", measures);
}

/* ---- a method whose runs differ ---- */

static const int *script; /* what each run gives: 0 as it is due, v > 0: output 8 + v is wrong */
static double wrong_by;   /* so many ulps */

static enum status scripted(const struct task *t, struct problem *p)
{
    double sum = 0;
    int v = *script++;
    (void)p;
    for (size_t i = 0; i < t->in.n; i++) {
        sum += array_get(&t->in, i);
        double x = sum + (v && i == 8 + (size_t)v ? wrong_by * format_ulp(FP32, sum) : 0);
        array_encode(&t->out, i, 1, &x);
    }
    return STATUS_OK;
}

static const struct method scripted_method = {
    .name = "scan/scripted",
    .operation = &operation_scan,
    .promise = PROMISE_NONE,
    .pairs = {FORMAT_PAIR(FP32, FP32), 0},
    .bound = THEOREM_ANY_ORDER,
    .cpu = scripted,
};

/* 16 ones, scanned by it and by scan/tiled. */
static void scripted_study(struct study *s, const struct method *m, const char *runs)
{
    *s = (struct study){0};
    ask(&s->request, (study_words){{"method", "scan/serial,scan/tiled"},
                                   {"device", "cpu"},
                                   {"input", "ones"},
                                   {"n", "16"},
                                   {"runs", runs},
                                   {NULL}});
    cr_assert_eq(axes_resolve(&s->axes, scan_experiment(), &s->request, &s->problem), STATUS_OK);
    s->axes.method[0] = m;
    cr_assert_eq(plan_make(&s->plan, &s->axes, &s->problem), STATUS_OK);
    measures_until_failure = SIZE_MAX;
    measures = 0;
    wrong_by = 1;
}

Test(run_scan, runs_are_held_to_the_twin_and_to_run_1, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    script = (const int[]){1, 2, 1, 0, 2};
    scripted_study(&s, &scripted_method, "5");
    cr_assert_eq(study_sweep(&s, folder, false), STATUS_OK, "%s", s.problem.text);
    cr_expect_eq(s.outcome.broken, 0, "%s", s.outcome.first_broken);
    cr_expect_eq(measures, 3 + 1, "%zu outputs were measured", measures);
    study_free(&s);
    struct rows r = rows_of(folder, "results", results_column, results_columns(true));
    static const char *const twin[] = {"0.0625", "0.0625", "0.0625", "0", "0.0625"};
    static const char *const first[] = {"9", "10", "9", "", "10"};
    static const char *const run_1[] = {"0", "0.125", "0", "0.0625", "0.125"};
    static const char *const first_of_run_1[] = {"", "9", "", "9", "9"};
    cr_assert_eq(r.count, 10);
    for (size_t i = 0; i < 5; i++) {
        expect_text(&r, i, RESULTS_DIFFERING, twin[i]);
        expect_text(&r, i, RESULTS_FIRST_DIFF, first[i]);
        expect_text(&r, i, RESULTS_RUN_DIFFERING, run_1[i]);
        expect_text(&r, i, RESULTS_RUN_FIRST_DIFF, first_of_run_1[i]);
    }
    double mean = strtod(field_of(&r, 1, RESULTS_MEAN_REL_DIFF), NULL), due = 0x1p-20 / 11 / 16;
    cr_expect(fabs(mean - due) < 1e-15 * due, "an ulp of 11 in one of 16: %g", mean);
    mean = strtod(field_of(&r, 1, RESULTS_RUN_MEAN_REL_DIFF), NULL);
    due = (0x1p-20 / (10 + 0x1p-20) + 0x1p-20 / 11) / 16;
    cr_expect(fabs(mean - due) < 1e-15 * due, "and an ulp of 10 of run 1's: %g", mean);
    rows_free(&r);
    r = rows_of(folder, "summary", summary_column, summary_columns(true));
    const struct {
        enum summary_column column;
        const char *due;
    } summary[] = {{SUMMARY_DISTINCT, "3"},
                   {SUMMARY_WORST_INDEX, "9"},
                   {SUMMARY_DECREASES_MAX, "0"},
                   {SUMMARY_DIFFERING_MEDIAN, "0.0625"},
                   {SUMMARY_FIRST_DIFF_MIN, "9"},
                   {SUMMARY_RUN_DIFFERING_MEDIAN, "0.0625"},
                   {SUMMARY_RUN_DIFFERING_MAX, "0.125"},
                   {SUMMARY_RUN_FIRST_DIFF_MIN, "9"},
                   {SUMMARY_RUN_FIRST_DIFF_MEDIAN, "9"}};
    for (size_t i = 0; i < sizeof summary / sizeof *summary; i++)
        cr_expect_str_eq(field_of(&r, 0, summary[i].column), summary[i].due, "%s",
                         summary_column(summary[i].column)->name);
    rows_free(&r);
}

/* Whether each output is looked at before the next is made, or a batch later, rows are the same. */
Test(run_scan, batches_of_outputs, .init = make_folder, .fini = remove_folder)
{
    char *digest[2];
    for (int k = 0; k < 2; k++) {
        struct study s;
        batched = k == 1;
        script = (const int[]){1, 2, 1, 0, 2};
        scripted_study(&s, &scripted_method, "5");
        cr_assert_eq(study_sweep(&s, in_folder(k ? "b" : "a"), false), STATUS_OK, "%s",
                     s.problem.text);
        cr_expect_eq(measures, 3 + 1, "%zu outputs were measured", measures);
        study_free(&s);
        digest[k] = study_digest_of(in_folder(k ? "b" : "a"), true);
    }
    cr_expect_str_eq(digest[0], digest[1]);
    free(digest[0]);
    free(digest[1]);
}

/* Behind the second output that was fetched; it is kept. */
Test(run_scan, stopped_within_a_batch, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    batched = true;
    script = (const int[]){1, 1, 2, 3, 4};
    scripted_study(&s, &scripted_method, "5");
    stopped = &s.stop;
    outputs_until_stop = 2;
    cr_expect_eq(study_sweep(&s, folder, false), STATUS_INTERRUPTED);
    cr_expect(s.outcome.runs == 3 && s.outcome.finished == 0, "%ju runs",
              (uintmax_t)s.outcome.runs);
    study_free(&s);
    struct rows r = rows_of(folder, "results", results_column, results_columns(true));
    cr_expect_eq(r.count, 3);
    rows_free(&r);
    script = (const int[]){3, 4};
    scripted_study(&s, &scripted_method, "5");
    stopped = NULL;
    cr_assert_eq(study_sweep(&s, folder, false), STATUS_OK, "%s", s.problem.text);
    cr_expect(s.outcome.runs == 2 + 5 && s.outcome.finished == 2);
    study_free(&s);
}

Test(run_scan, a_wrong_output_is_reported, .init = make_folder, .fini = remove_folder)
{
    for (int again = 0; again < 2; again++) {
        struct study s;
        script = (const int[]){0, 3, 3};
        scripted_study(&s, &scripted_method, "3");
        wrong_by = 40; /* the bound of output 11 is 11 u 12 = 8.25 ulp */
        cr_assert_eq(study_sweep(&s, folder, false), STATUS_OK, "%s", s.problem.text);
        cr_expect_eq(s.outcome.broken, 2);
        cr_expect(strstr(s.outcome.first_broken, "(scan/scripted), run 2"), "%s",
                  s.outcome.first_broken);
        cr_expect(again || strstr(s.outcome.first_broken, "index 11"), "%s",
                  s.outcome.first_broken);
        cr_expect_eq(sweep_verdict(&s.outcome, &s.plan, "out", &s.problem), STATUS_FAILED);
        study_free(&s);
    }
    struct rows r = rows_of(folder, "results", results_column, results_columns(true));
    cr_expect_gt(strtod(field_of(&r, 1, RESULTS_ERR_OVER_BOUND), NULL), 1);
    expect_text(&r, 1, RESULTS_ERR_ULP, "40");
    expect_text(&r, 1, RESULTS_WORST_INDEX, "11");
    expect_text(&r, 1, RESULTS_DECREASES, "0");
    rows_free(&r);
}

/* Also where the last outputs differ, in units of what is due in the output's format. */
Test(run_scan, a_finished_study_is_left_as_it_is, .init = make_folder, .fini = remove_folder)
{
    for (int again = 0; again < 2; again++) {
        struct study s;
        script = (const int[]){0, 7};
        scripted_study(&s, &scripted_method, "2");
        twins = 0;
        cr_assert_eq(study_sweep(&s, folder, false), STATUS_OK, "%s", s.problem.text);
        cr_expect(again ? twins == 0 && measures == 0 : twins == 1 && measures == 3,
                  "%zu twins, %zu measures", twins, measures);
        study_free(&s);
        struct rows r = rows_of(folder, "summary", summary_column, summary_columns(true));
        cr_expect_str_eq(field_of(&r, 0, SUMMARY_SPREAD_ULP), "1");
        cr_expect_str_eq(field_of(&r, 0, SUMMARY_MIN), "16");
        cr_expect_str_eq(field_of(&r, 0, SUMMARY_VS_MAX), "1.1920928955078125e-07");
        rows_free(&r);
    }
}

/* Runs 3 and on in another process, to which run 1's output comes back with run 5. */
Test(run_scan, resumed_without_the_output_of_run_1, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    script = (const int[]){1, 2, 3};
    scripted_study(&s, &scripted_method, "8");
    measures_until_failure = 2;
    cr_assert_eq(study_sweep(&s, folder, false), STATUS_OK, "%s", s.problem.text);
    cr_expect(s.outcome.failed == 1 && strstr(s.notes, "run 3: out of rulers"), "%s", s.notes);
    study_free(&s);
    scripted_study(&s, &scripted_method, "8");
    script = (const int[]){2, 3, 1, 3, 2, 0};
    cr_assert_eq(study_sweep(&s, folder, false), STATUS_OK, "%s", s.problem.text);
    cr_expect_eq(measures, 4 + 1, "%zu measured: the third again, once run 1 was there", measures);
    study_free(&s);
    struct rows r = rows_of(folder, "results", results_column, results_columns(true));
    static const char *const share[] = {"0", "0.125", "0.125", "", "0", "0.125", "0.125", "0.0625"};
    cr_assert_eq(r.count, 16);
    for (size_t i = 0; i < 16; i++)
        if (strcmp(case_field(&r, i, CASE_METHOD), scripted_method.name) == 0)
            expect_text(&r, i, RESULTS_RUN_DIFFERING,
                        share[atoi(field_of(&r, i, RESULTS_RUN)) - 1]);
    rows_free(&r);
    for (int again = 0; again < 2; again++) { /* the second time from results.csv alone */
        r = rows_of(folder, "summary", summary_column, summary_columns(true));
        size_t row = strcmp(field_of(&r, 0, CASE_METHOD), scripted_method.name) != 0;
        cr_expect_str_eq(field_of(&r, row, SUMMARY_DISTINCT), "4");
        cr_expect_str_eq(field_of(&r, row, SUMMARY_RUN_DIFFERING_MEDIAN), "0.125");
        cr_expect_str_eq(field_of(&r, row, SUMMARY_RUN_FIRST_DIFF_MEDIAN), "9");
        rows_free(&r);
        remove(in_folder("summary.csv"));
        scripted_study(&s, &scripted_method, "8");
        cr_assert_eq(study_sweep(&s, folder, false), STATUS_OK, "%s", s.problem.text);
        cr_expect(s.outcome.runs == 0 && measures == 0);
        study_free(&s);
    }
    r = rows_of(folder, "profile", profile_column, PROFILE_COLUMNS);
    cr_expect_eq(r.count, 2 * 14, "run 1 alone has a profile: %zu rows", r.count);
    cr_expect_str_eq(field_of(&r, 9, PROFILE_ERR_ULP), "1", "of run 1");
    rows_free(&r);
}

/* An output that cannot be measured is a failure of its case, tried again by the next process. */
Test(run_scan, no_memory_to_measure, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    script = (const int[]){0, 0};
    scripted_study(&s, &scripted_method, "2");
    measures_until_failure = 0;
    cr_assert_eq(study_sweep(&s, folder, false), STATUS_OK, "%s", s.problem.text);
    cr_expect(s.outcome.failed == 1 && s.outcome.finished == 1);
    cr_expect(strstr(s.notes, "scan/scripted") && strstr(s.notes, "run 1: out of rulers"), "%s",
              s.notes);
    study_free(&s);
    struct rows r = rows_of(folder, "results", results_column, results_columns(true));
    expect_text(&r, 0, RESULTS_STATUS, "error");
    expect_text(&r, 0, RESULTS_RESULT_BITS, "");
    expect_text(&r, 0, RESULTS_EXACT, "16");
    expect_text(&r, 0, RESULTS_SCAN, "inclusive");
    expect_text(&r, 0, RESULTS_RUN_DIFFERING, "");
    rows_free(&r);
    script = (const int[]){0, 0};
    scripted_study(&s, &scripted_method, "2");
    cr_assert_eq(study_sweep(&s, folder, false), STATUS_OK, "%s", s.problem.text);
    cr_expect(s.outcome.failed == 0 && s.outcome.finished == 2 && s.outcome.runs == 2);
    study_free(&s);
}

Test(run_scan, what_a_method_does_not_support, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    struct method m = scripted_method;
    m.pairs[DEVICE_CPU] = FORMAT_PAIR(FP16, FP16);
    for (int again = 0; again < 2; again++) {
        scripted_study(&s, &m, "2");
        cr_assert_eq(study_sweep(&s, folder, false), STATUS_OK, "%s", s.problem.text);
        cr_expect(s.outcome.finished == 2 && s.outcome.failed == 0);
        study_free(&s);
    }
    struct rows r = rows_of(folder, "results", results_column, results_columns(true));
    expect_text(&r, 0, RESULTS_STATUS, "unsupported");
    expect_text(&r, 0, RESULTS_EXACT, "16");
    expect_text(&r, 0, RESULTS_OUTPUT, "fp32");
    rows_free(&r);
}

/* More than any machine has: a row, and the rest goes on. */
Test(run_scan, more_than_memory_holds, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    study_make_as(
        &s, scan_experiment(),
        (study_words){
            {"method", "scan/tiled,scan/segmented"}, {"device", "cpu"}, {"n", "2^50,10"}, {NULL}});
    cr_expect_eq(study_sweep(&s, folder, false), STATUS_OK, "%s", s.problem.text);
    cr_expect(s.outcome.failed == 2 && s.outcome.finished == 2);
    study_free(&s);
    struct rows r = rows_of(folder, "results", results_column, results_columns(true));
    cr_assert_eq(r.count, 4);
    expect_text(&r, 0, RESULTS_STATUS, "error");
    expect_text(&r, 0, RESULTS_EXACT, "");
    expect_text(&r, 3, RESULTS_STATUS, "ok");
    rows_free(&r);
}
