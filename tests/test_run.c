/* The sweep engine: which rows a study has, and that every number in them is right. */
#include <gmp.h>
#include <math.h>

#include "experiments/truth.h"
#include "experiments/verbs.h"
#include "tests/study.h"

static size_t rows_with(const struct rows *r, size_t column, const char *value)
{
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++)
        count += strcmp(field_of(r, i, column), value) == 0;
    return count;
}

Test(run, a_row_for_each_combination, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    struct sweep_outcome o = study_run("variance",
                                       (study_words){{"method", "sum/serial,sum/two_kernel"},
                                                     {"device", "cpu"},
                                                     {"storage", "fp16,fp32"},
                                                     {"accumulator", "fp32,fp64"},
                                                     {"input", "uniform,cond,cond:target=64"},
                                                     {"n", "0,100..200,100"},
                                                     {"cond", "2^3..2^4"},
                                                     {"seed", "4..5"},
                                                     {"threads", "32,64"},
                                                     {"blocks", "2"},
                                                     {"runs", "3"},
                                                     {NULL}},
                                       out);
    /* inputs (1 + 2 conds + 1) x n 3 x seeds 2 x formats 4 x (serial 1 + two_kernel 2 shapes) */
    const size_t cases = 4 * 3 * 2 * 4 * 3;
    struct rows r = rows_read(out, false), s = rows_read(out, true);
    cr_expect(r.count == 3 * cases && s.count == cases && o.finished == cases &&
                  o.runs == 3 * cases,
              "%zu rows, %zu summaries, %zu cases", r.count, s.count, o.finished);
    cr_expect_eq(rows_with(&s, CASE_METHOD, "sum/serial"), cases / 3);
    cr_expect_eq(rows_with(&s, CASE_THREADS, "32"), cases / 3);
    cr_expect_eq(rows_with(&s, CASE_THREADS, "64"), cases / 3);
    cr_expect_eq(rows_with(&s, CASE_BLOCKS, "2"), 2 * cases / 3);
    cr_expect_eq(rows_with(&s, CASE_THREADS, ""), cases / 3, "serial reads no shape");
    cr_expect_eq(rows_with(&s, CASE_INPUT, "cond:target=16"), cases / 4);
    cr_expect_eq(rows_with(&s, CASE_INPUT, "cond:target=64"), cases / 4);
    cr_expect_eq(rows_with(&s, CASE_SEED, "5"), cases / 2);
    cr_expect_eq(rows_with(&s, CASE_N, "200"), cases / 3);
    for (size_t i = 0; i < r.count; i++)
        cr_expect(atoi(field_of(&r, i, RESULTS_RUN)) == (int)(i % 3) + 1, "row %zu", i);
    rows_free(&r);
    rows_free(&s);
}

/* What the field says, as a rational; false for what is no number. */
static bool rational(mpq_t to, const char *hex)
{
    mpfr_t x;
    mpfr_init2(x, 8000);
    bool good = mpfr_set_str(x, hex, 0, MPFR_RNDN) == 0 && mpfr_number_p(x);
    if (good)
        mpfr_get_q(to, x);
    mpfr_clear(x);
    return good;
}

/* Is the field the double nearest to exact / unit? */
static void expect_ratio(const struct rows *r, size_t row, size_t column, const mpq_t exact,
                         const mpq_t unit)
{
    const char *field = field_of(r, row, column), *name = results_column(column)->name;
    if (mpq_sgn(unit) == 0) {
        cr_expect_str_eq(field, "", "row %zu: %s of nothing", row, name);
        return;
    }
    mpq_t ratio;
    mpfr_t rounded;
    mpq_init(ratio);
    mpfr_init2(rounded, 53);
    mpq_div(ratio, exact, unit);
    mpfr_set_q(rounded, ratio, MPFR_RNDN);
    double expected = mpfr_get_d(rounded, MPFR_RNDN);
    cr_expect(*field && strtod(field, NULL) == expected, "row %zu: %s %s, expected %.17g", row,
              name, field, expected);
    mpq_clear(ratio);
    mpfr_clear(rounded);
}

/* sum x and sum |x| of what the row names as its input. */
static void sums_of(mpq_t sum, mpq_t sum_abs, const struct rows *r, size_t row, enum format storage)
{
    struct input in;
    struct array a = {storage,
                      (size_t)atoi(field_of(r, row, RESULTS_METHOD + CASE_N - CASE_METHOD)), NULL};
    mpq_t term;
    mpq_init(term);
    mpq_set_ui(sum, 0, 1);
    mpq_set_ui(sum_abs, 0, 1);
    a.data = calloc(a.n + 1, 8);
    cr_assert(a.data &&
              input_parse(&in, field_of(r, row, RESULTS_METHOD + CASE_INPUT - CASE_METHOD), NULL) ==
                  STATUS_OK);
    uint64_t seed = strtoull(field_of(r, row, RESULTS_METHOD + CASE_SEED - CASE_METHOD), NULL, 10);
    cr_assert_eq(input_generate(&in, &a, seed, 0, NULL), STATUS_OK);
    for (size_t i = 0; i < a.n; i++) {
        mpq_set_d(term, array_get(&a, i));
        mpq_add(sum, sum, term);
        mpq_abs(term, term);
        mpq_add(sum_abs, sum_abs, term);
    }
    free(a.data);
    mpq_clear(term);
}

static void check_row(const struct rows *r, size_t row)
{
    mpq_t sum, sum_abs, exact, result, one, ulp;
    mpq_inits(sum, sum_abs, exact, result, one, ulp, (mpq_ptr)0);
    mpq_set_ui(one, 1, 1);
    enum format storage =
                    format_named(field_of(r, row, RESULTS_METHOD + CASE_STORAGE - CASE_METHOD)),
                f = format_named(field_of(r, row, RESULTS_METHOD + CASE_ACCUMULATOR - CASE_METHOD));
    sums_of(sum, sum_abs, r, row, storage);
    cr_assert(rational(exact, field_of(r, row, RESULTS_EXACT_HEX)) && mpq_equal(exact, sum),
              "row %zu: exact_hex %s", row, field_of(r, row, RESULTS_EXACT_HEX));
    cr_assert(rational(result, field_of(r, row, RESULTS_RESULT_HEX)), "row %zu", row);
    double value = strtod(field_of(r, row, RESULTS_RESULT), NULL);
    cr_expect(format_round(f, value) == value &&
                  strtoull(field_of(r, row, RESULTS_RESULT_BITS), NULL, 16) ==
                      format_encode(f, value) &&
                  strtod(field_of(r, row, RESULTS_RESULT_HEX), NULL) == value,
              "row %zu: the result's three forms", row);
    mpq_sub(result, result, exact);
    mpq_abs(result, result);
    mpq_abs(exact, exact);
    expect_ratio(r, row, RESULTS_ERR_ABS, result, one);
    expect_ratio(r, row, RESULTS_ERR_REL, result, exact);
    expect_ratio(r, row, RESULTS_ERR_BACKWARD, result, sum_abs);
    mpq_set_d(ulp, format_ulp(f, mpq_get_d(exact))); /* mpq_get_d truncates: the same binade */
    expect_ratio(r, row, RESULTS_ERR_ULP, result, ulp);
    if (mpq_sgn(sum) != 0) {
        mpq_div(sum_abs, sum_abs, exact);
        double cond = strtod(field_of(r, row, RESULTS_METHOD + CASE_COND_LOG2 - CASE_METHOD), NULL);
        cr_expect(fabs(cond - log2(mpq_get_d(sum_abs))) <= 1e-12 * (1 + cond),
                  "row %zu: cond_log2 %g", row, cond);
    }
    mpq_clears(sum, sum_abs, exact, result, one, ulp, (mpq_ptr)0);
}

/* Everything is computed anew from what the row itself says: input, n, seed, storage. */
Test(run, each_row_speaks_for_itself, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    study_run("accuracy",
              (study_words){{"method", "sum/serial,sum/pairwise,sum/tiled"},
                            {"device", "cpu"},
                            {"storage", "fp16,bf16,fp32,fp64"},
                            {"accumulator", "fp16,bf16,fp32,fp64"},
                            {"input", "uniform,symmetric:order=descending,cond,zero_sum,subnormal"},
                            {"n", "0,1,50,333"},
                            {"cond", "100"},
                            {"seed", "7"},
                            {NULL}},
              out);
    struct rows r = rows_read(out, false);
    cr_assert_gt(r.count, 900);
    size_t checked = 0, ill = 0;
    for (size_t i = 0; i < r.count; i++) {
        const char *status = field_of(&r, i, RESULTS_STATUS);
        if (strcmp(status, "ok") != 0) {
            ill++;
            continue;
        }
        check_row(&r, i);
        checked++;
    }
    cr_expect(checked > 800 && ill == rows_with(&r, RESULTS_METHOD + CASE_N - CASE_METHOD, "1") / 5,
              "%zu rows checked, %zu not: one element cannot have a condition of 100", checked,
              ill);
    rows_free(&r);
}

Test(run, the_same_bits_again_and_from_study_json, .init = make_folder, .fini = remove_folder)
{
    study_words words = {{"method", "sum/serial,sum/shuffle,sum/tiled"},
                         {"device", "cpu"},
                         {"input", "uniform,cond"},
                         {"n", "500"},
                         {"threads", "64"},
                         {"seed", "3"},
                         {NULL}};
    char path[400];
    json_t *json;
    struct study s = {0};
    study_run("variance", words, in_folder("a"));
    study_run("variance", words, in_folder("b"));
    snprintf(path, sizeof path, "%s/a/study.json", folder);
    cr_assert_eq(study_read(&json, path, &s.problem), STATUS_OK, "%s", s.problem.text);
    cr_assert_eq(request_repeat(&s.request, experiment_of("variance"),
                                json_object_get(json, "axes"), path, &s.problem),
                 STATUS_OK, "%s", s.problem.text);
    cr_assert_eq(study_resolve(&s, "variance"), STATUS_OK, "%s", s.problem.text);
    cr_assert_eq(study_sweep(&s, in_folder("c"), false), STATUS_OK, "%s", s.problem.text);
    json_t *axes = axes_json(&s.axes);
    cr_expect(json_equal(axes, json_object_get(json, "axes")), "other axes");
    json_decref(axes);
    study_free(&s);
    json_decref(json);
    char *a = study_digest(in_folder("a")), *b = study_digest(in_folder("b")),
         *c = study_digest(in_folder("c"));
    cr_expect_str_eq(a, b, "twice the same command");
    cr_expect_str_eq(a, c, "--from");
    free(a);
    free(b);
    free(c);
}

Test(run, data_is_read_by_its_elements, .init = make_folder, .fini = remove_folder)
{
    struct bytes b = {0};
    for (int i = 0; i < 10; i++)
        add_string(&b, i % 2 ? "0.25\n" : "-1\n");
    char path[300];
    snprintf(path, sizeof path, "%s", put_file("my \"data\".txt", &b));
    clear_bytes(&b);
    const char *out = in_folder("out");
    study_run(
        "accuracy",
        (study_words){
            {"method", "sum/tiled"}, {"device", "cpu"}, {"data", path}, {"n", "4,10"}, {NULL}},
        out);
    struct rows r = rows_read(out, false);
    cr_assert_eq(r.count, 2);
    const size_t at = RESULTS_METHOD - CASE_METHOD;
    cr_expect_str_eq(field_of(&r, 0, at + CASE_INPUT), "my \"data\".txt");
    cr_expect_str_eq(field_of(&r, 0, at + CASE_SEED), "", "data has no seed");
    cr_expect_str_eq(field_of(&r, 0, at + CASE_STORAGE), "fp64");
    cr_expect_str_eq(field_of(&r, 0, RESULTS_EXACT), "-1.5");
    cr_expect_str_eq(field_of(&r, 1, RESULTS_RESULT), "-3.75");
    rows_free(&r);
    struct study s = {0};
    ask(&s.request, (study_words){{"data", path}, {"n", "11"}, {"device", "cpu"}, {NULL}});
    cr_expect_eq(study_resolve(&s, "accuracy"), STATUS_USAGE, "more than there is");
    cr_expect(strstr(s.problem.text, "11") && strstr(s.problem.text, "10 elements"), "%s",
              s.problem.text);
    study_free(&s);
}

/* A reference that is off by one bit is found. */
Test(run, the_reference_is_held_to_mpfr)
{
    double x[] = {1, 0x1p-60, -3};
    const struct array a = {FP64, 3, x};
    struct truth t;
    struct problem p = {0};
    cr_assert_eq(truth_make(&t, "three", &a, REFERENCE_FAST, &p), STATUS_OK, "%s", p.text);
    cr_expect_eq(truth_check(&t, "three", &a, &p), STATUS_OK, "%s", p.text);
    mpfr_nextabove(t.reference.sum);
    cr_expect_eq(truth_check(&t, "three", &a, &p), STATUS_FAILED);
    cr_expect(strstr(p.text, "three") && strstr(p.text, "disagree"), "%s", p.text);
    truth_free(&t);
}

/* Ids are the same on every machine, in every build: this one was computed apart. */
Test(run, a_case_has_its_id, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    char id[CASE_ID_TEXT];
    study_make(&s, "accuracy",
               (study_words){{"method", "sum/two_kernel"},
                             {"device", "cpu"},
                             {"storage", "fp16"},
                             {"accumulator", "fp32"},
                             {"input", "cond"},
                             {"cond", "2^20"},
                             {"n", "1000"},
                             {"seed", "42"},
                             {"threads", "128"},
                             {"blocks", "3"},
                             {NULL}});
    cr_assert_eq(s.plan.trials, 1);
    case_id_text(id, s.plan.trial[0].id);
    cr_expect_str_eq(id, "88c8b7b2d9f3c7a0");
    cr_expect_eq(plan_find(&s.plan, s.plan.trial[0].id), &s.plan.trial[0]);
    cr_expect_null(plan_find(&s.plan, s.plan.trial[0].id + 1));
    study_free(&s);
}

/* An accumulator that is asked for is never left out because the defaults do not pair it. */
Test(run, accumulators_asked_for_go_with_every_storage, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    bool seen[FORMATS][FORMATS] = {0};
    study_make(&s, "accuracy",
               (study_words){{"method", "sum/tiled"},
                             {"device", "cpu"},
                             {"accumulator", "fp16,bf16"},
                             {"input", "ones"},
                             {"n", "10"},
                             {NULL}});
    cr_assert_eq(s.plan.trials, 2 * FORMATS);
    for (size_t i = 0; i < s.plan.trials; i++)
        seen[s.plan.source[s.plan.trial[i].source].array.format][s.plan.trial[i].accumulator] =
            true;
    for (enum format f = 0; f < FORMATS; f++)
        cr_expect(seen[f][FP16] && seen[f][BF16] && !seen[f][FP32] && !seen[f][FP64], "storage %s",
                  format_facts[f].name);
    study_free(&s);
}

Test(run, axes_of_a_study_that_are_no_words)
{
    const struct {
        const char *axes, *found;
    } bad[] = {{"{\"method\": [\"sum/tiled\", 5]}", "axis 'method': entry 2: found a JSON number"},
               {"{\"method\": [null]}", "axis 'method': entry 1: found a JSON value of another"},
               {"{\"method\": 3}", "axis 'method': found none, expected a list"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct request request = {0};
        struct problem p = {0};
        json_t *axes = json_loads(bad[i].axes, 0, NULL);
        cr_expect_eq(request_repeat(&request, experiment_of("accuracy"), axes, "study.json", &p),
                     STATUS_DATA);
        cr_expect(strstr(p.text, bad[i].found), "%s: %s", bad[i].axes, p.text);
        json_decref(axes);
        request_free(&request);
    }
}

Test(run, words_that_are_refused)
{
    const struct {
        const char *axis, *word, *said;
        enum status status;
    } words[] = {{"method", "sum/none", "sum/serial", STATUS_USAGE},
                 {"device", "gpu", "cuda:N", STATUS_USAGE},
                 {"device", "cuda:99", "cuda:99", STATUS_DEVICE},
                 {"storage", "fp8", "bf16", STATUS_USAGE},
                 {"accumulator", "double", "fp64", STATUS_USAGE},
                 {"input", "unifrom", "uniform", STATUS_USAGE},
                 {"n", "ten", "--n", STATUS_USAGE},
                 {"n", "200..100", "--n", STATUS_USAGE},
                 {"cond", "0.5", "--cond", STATUS_USAGE},
                 {"cond", "8..4", "ascend", STATUS_USAGE},
                 {"runs", "0", "--runs", STATUS_USAGE},
                 {"runs", "3,4", "expected one", STATUS_USAGE},
                 {"threads", "1025", "--threads", STATUS_USAGE},
                 {"blocks", "65536", "--blocks", STATUS_USAGE},
                 {"reference", "exact", "mpfr", STATUS_USAGE},
                 {"data", "/none/there.npy", "/none/there.npy", STATUS_DATA}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct study s = {0};
        ask(&s.request, (study_words){{words[i].axis, words[i].word}, {NULL}});
        enum status status = study_resolve(&s, "accuracy");
        cr_expect(status == words[i].status && strstr(s.problem.text, words[i].said),
                  "--%s %s: status %d: %s", words[i].axis, words[i].word, (int)status,
                  s.problem.text);
        study_free(&s);
    }
}

/* The verb itself, with what it prints going nowhere. */
static enum status verb(struct problem *p, int argc, const char *const *argv)
{
    struct arguments a;
    *p = (struct problem){0};
    enum status status = arguments_parse(&a, argc, (char **)argv, p);
    return status == STATUS_OK ? a.verb->run(&a, p) : status;
}

Test(run, the_verb, .init = make_folder, .fini = remove_folder)
{
    struct problem p;
    const char *out = in_folder("out"), *printed = in_folder("printed");
    const char *words[] = {"ulpscope", "run",       "accuracy", "--device", "cpu",
                           "--method", "sum/tiled", "--n",      "10",       "--out",
                           out,        "--json",    "--dry-run"};
    cr_assert(freopen(printed, "w", stdout));
    cr_expect_eq(verb(&p, 13, words), STATUS_OK, "%s", p.text);
    cr_expect(access(out, F_OK) != 0, "--dry-run writes nothing");
    fflush(stdout);
    json_t *dry = json_load_file(printed, 0, NULL);
    cr_assert(freopen(printed, "w", stdout));
    cr_expect_eq(verb(&p, 12, words), STATUS_OK, "%s", p.text);
    fflush(stdout);
    json_t *report = json_load_file(printed, 0, NULL);
    json_int_t cases = json_integer_value(json_object_get(dry, "cases"));
    cr_expect(cases > 0 &&
              cases == (json_int_t)json_array_size(json_object_get(dry, "case_list")) &&
              cases == (json_int_t)json_array_size(json_object_get(report, "summary")) &&
              cases == json_integer_value(json_object_get(report, "finished")));
    cr_assert(freopen(printed, "w", stdout));
    cr_expect_eq(verb(&p, 11, words), STATUS_OK, "%s", p.text);
    fflush(stdout);
    char line[512] = "", text[16384] = "";
    FILE *file = fopen(printed, "r");
    while (file && fgets(line, sizeof line, file))
        strncat(text, line, sizeof text - strlen(text) - 1);
    fclose(file);
    cr_expect(strstr(text, "fp16/fp32") && strstr(text, "sum/tiled") && strstr(line, out) &&
                  strstr(line, "all there before"),
              "%s", text);
    words[11] = "--quiet";
    cr_assert(freopen(printed, "w", stdout));
    cr_expect_eq(verb(&p, 12, words), STATUS_OK, "%s", p.text);
    cr_expect_eq(ftell(stdout), 0, "--quiet");
    words[8] = "11";
    cr_expect_eq(verb(&p, 12, words), STATUS_USAGE, "another study: %s", p.text);
    words[2] = "precision";
    cr_expect_eq(verb(&p, 12, words), STATUS_USAGE);
    cr_expect(strstr(p.text, "accuracy") && strstr(p.text, "variance"), "%s", p.text);
    json_decref(dry);
    json_decref(report);
}
