/* The sweep engine on scans: which cases share what, and what unreliable methods leave behind. (The
 * linker puts __wrap_measure_scan in the place of measure_scan, and so on.) */
#include <math.h>

#include "experiments/runs/runner.h"
#include "reference/format/hash_array.h"
#include "reference/measure/scan.h"
#include "tests/support/study.h"

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
        out[i] = (struct array){r->output, r->of->in.n, calloc(r->of->in.n, 8)};
        cr_assert_eq(__real_runner_once(r, &out[i], p), STATUS_OK);
        hash[i] = hash_array(&out[i]);
    }
    struct runner_results results = {(size_t)runs, hash, time_ns, output_of, out};
    enum status status = digest(context, &results, p);
    for (size_t i = 0; i < runs; i++)
        free(out[i].data);
    return status;
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
    for (size_t i = 0; i < t->of->in.n; i++) {
        sum += array_get(&t->of->in, i);
        double x = sum + (v && i == 8 + (size_t)v ? wrong_by * format_ulp(FP32, sum) : 0);
        array_encode(&t->out, i, 1, &x);
    }
    return STATUS_OK;
}

static const struct method scripted_method = {
    .name = "scan/scripted",
    .operation = &operation_scan,
    .promise = PROMISE_NONE,
    .pairs = {FORMAT_PAIRS([FP32] = IN(FP32))},
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
    m.pairs[DEVICE_CPU] = (struct format_pairs)FORMAT_PAIRS([FP16] = IN(FP16));
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
