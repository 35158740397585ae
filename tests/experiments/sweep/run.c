/* The sweep engine: which rows a study has, and that they come again. */
#include "experiments/runs/truth.h"
#include "tests/support/study.h"

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
    cr_assert_eq(s.plan.case_count, 1);
    case_id_text(id, s.plan.cases[0].id);
    cr_expect_str_eq(id, "88c8b7b2d9f3c7a0");
    cr_expect_eq(plan_find(&s.plan, s.plan.cases[0].id), &s.plan.cases[0]);
    cr_expect_null(plan_find(&s.plan, s.plan.cases[0].id + 1));
    study_free(&s);
}
