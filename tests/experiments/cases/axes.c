/* From options and study.json to axes: what is combined, and what is refused. */
#include "tests/support/study.h"

/* An accumulator that is asked for is never left out because the defaults do not pair it. */
Test(axes, accumulators_asked_for_go_with_every_storage, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    bool seen[ACCUMULATORS][ACCUMULATORS] = {0};
    study_make(&s, "accuracy",
               (study_words){{"method", "sum/tiled"},
                             {"device", "cpu"},
                             {"accumulator", "fp16,bf16"},
                             {"input", "ones"},
                             {"n", "10"},
                             {NULL}});
    cr_assert_eq(s.plan.case_count, 2 * ACCUMULATORS);
    for (size_t i = 0; i < s.plan.case_count; i++)
        seen[s.plan.source[s.plan.cases[i].source].array.format][s.plan.cases[i].accumulator] =
            true;
    for (enum format f = 0; f < ACCUMULATORS; f++)
        cr_expect(seen[f][FP16] && seen[f][BF16] && !seen[f][FP32] && !seen[f][FP64], "storage %s",
                  format_facts[f].name);
    study_free(&s);
}

Test(axes, axes_of_a_study_that_are_no_words)
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

Test(axes, words_that_are_refused)
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
                 {"cond", "4..8x0.5", "a factor above 1", STATUS_USAGE},
                 {"cond", "1e", "--cond", STATUS_USAGE},
                 {"cond", "0x10", "--cond", STATUS_USAGE},
                 {"cond", "inf", "--cond", STATUS_USAGE},
                 {"cond", "1000000000000000000000000000000000000000000000000000000000000000000000",
                  "--cond", STATUS_USAGE},
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

/* 1 is a condition number, and a range may be of one; --runs is for every device, unless the study
 * has another number for GPUs; and so are lengths of data. */
Test(axes, words_that_are_taken, .init = make_folder, .fini = remove_folder)
{
    struct study s = {0};
    struct bytes b = {0};
    add_string(&b, "1\n2\n3\n");
    const char *data = put_file("three.txt", &b);
    clear_bytes(&b);
    ask(&s.request, (study_words){{"cond", "1,8..8"},
                                  {"runs", "5"},
                                  {"n", "3"},
                                  {"data", data},
                                  {"input", "ones"},
                                  {"data_n", "2"},
                                  {NULL}});
    cr_assert_eq(study_resolve(&s, "accuracy"), STATUS_OK, "%s", s.problem.text);
    cr_expect(s.axes.conds == 2 && s.axes.cond[0] == 1 && s.axes.cond[1] == 8);
    cr_expect(s.axes.runs[DEVICE_CPU] == 5 && s.axes.runs[DEVICE_CUDA] == 5);
    cr_expect(s.axes.n.item[0] == 3 && s.axes.data_n.count == 1 && s.axes.data_n.item[0] == 2);
    study_free(&s);
}

/* Whether these matrices are multiplied on a GPU, by a method that is named. */
static enum status hold_there(const char *shape, const struct experiment *e, const char *method,
                              bool given, struct problem *p)
{
    const struct matrices_scales none[2] = {{0}};
    const struct method *m = method_named(method);
    struct device device = {DEVICE_CUDA, 0};
    struct gemm_shape s;
    cr_assert_eq(shape_parse_all(&s, shape, NULL), STATUS_OK);
    s.given = given ? none : NULL;
    const struct axes axes = {.experiment = e,
                              .method = &m,
                              .methods = 1,
                              .method_named = true,
                              .device = &device,
                              .devices = 1,
                              .setting = {.shape = &s, .shapes = 1}};
    *p = (struct problem){0};
    return axes_hold_shapes(&axes, p);
}

Test(axes, scaled_matrices_on_a_gpu)
{
    static const struct experiment recommends = {.takes_scales = true};
    static const struct {
        const char *shape, *method, *says; /* NULL: nothing */
        bool given, recommends;
    } cases[] = {{"2x2x300:scale=0.5x2", "gemm/serial", NULL, false, false},
                 {"2x2x300:scale=auto", "gemm/wgmma", NULL, false, false},
                 {"2x2x300:scale=outer", "gemm/exact", NULL, false, false},
                 {"2x2x300:scale=blocks", "gemm/promoted", NULL, false, false},
                 {"2x2x300:scale=outer", "gemm/tiled", NULL, true, false},
                 {"2x2x300:scale=blocks", "gemm/mma", "adds up all products", false, false},
                 {"2x2x300:scale=auto", "cublaslt/product_8", NULL, false, false},
                 {"2x2x300:scale=outer", "cublaslt/product_8", "one scale of each", false, false},
                 {"2x2x300:scale=blocks", "cublaslt/product_8", "one scale of each", false, false},
                 {"2x2x300:mixed", "gemm/tiled", "of two formats", false, false},
                 {"2x2x300:mixed:scale=auto", "gemm/tiled", "of two formats", false, false},
                 {"2x2x300:tf32", "gemm/tiled", "rounded to tf32", false, false},
                 {"2x2x300:scale=outer", "gemm/tiled", "run gemm alone takes scales", true, true}};
    struct problem p;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct experiment *e = cases[i].recommends ? &recommends : experiment_of("gemm");
        cr_expect_eq(hold_there(cases[i].shape, e, cases[i].method, cases[i].given, &p),
                     cases[i].says ? STATUS_USAGE : STATUS_OK, "%s: %s", cases[i].shape, p.text);
        cr_expect(strstr(p.text, cases[i].says ? cases[i].says : ""), "%s: %s", cases[i].shape,
                  p.text);
    }
}
