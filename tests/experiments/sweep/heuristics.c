/* Studies of a library's matrix products, whose heuristic is asked for a workspace and an
 * algorithm: their cases, columns and rows. On a CPU none of them runs. */
#include <criterion/criterion.h>

#include "reports/results/gathered.h"
#include "tests/support/study.h"

static study_words words = {{"device", "cpu"},
                            {"method",
                             "cublaslt/product_16,cublaslt/product_16_no_workspace,"
                             "cublaslt/product_16_second,cublas/matrix_product_16,gemm/tiled"},
                            {"storage", "fp16"},
                            {"accumulator", "fp32"},
                            {"shape", "3x4x20"},
                            {"workspace", "32m,0"},
                            {"algorithm", "0..7"},
                            {"runs", "1"},
                            {NULL}};
static study_words unasked = {{"device", "cpu"},
                              {"method", "cublaslt/product_16,gemm/tiled"},
                              {"storage", "fp16"},
                              {"accumulator", "fp32"},
                              {"shape", "3x4x20"},
                              {"runs", "1"},
                              {NULL}};

static struct rows results(const char *out)
{
    return rows_of(out, "results", results_column_of(COLUMNS_OF_PRODUCTS),
                   results_columns(COLUMNS_OF_PRODUCTS));
}

/* Is this among the numbers from 0 on, below `count`; or is it empty, where there are none? */
static bool within(const char *number, unsigned long count)
{
    return count ? *number && strtoul(number, NULL, 10) < count : !*number;
}

/* Each is a case for each of what it reads; what its name says it does not read. */
Test(run_heuristics, rows_say_what_was_asked, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *method;
        size_t rows;
        unsigned long workspaces, algorithms; /* none, or those below */
    } due[] = {{"cublaslt/product_16", 16, 1 + (1 << 25), 8},
               {"cublaslt/product_16_no_workspace", 8, 0, 8},
               {"cublaslt/product_16_second", 2, 1 + (1 << 25), 0},
               {"cublas/matrix_product_16", 1, 0, 0},
               {"gemm/tiled", 1, 0, 0}};
    const char *out = in_folder("out");
    study_run("gemm", words, out);
    struct rows r = results(out);
    cr_expect_eq(r.count, 16 + 8 + 2 + 1 + 1);
    for (size_t k = 0; k < sizeof due / sizeof *due; k++) {
        size_t rows = 0;
        for (size_t i = 0; i < r.count; i++) {
            const char *workspace = case_field(&r, i, CASE_WORKSPACE),
                       *algorithm = case_field(&r, i, CASE_ALGORITHM);
            if (strcmp(case_field(&r, i, CASE_METHOD), due[k].method) != 0)
                continue;
            rows++;
            cr_expect(within(workspace, due[k].workspaces), "%s: '%s'", due[k].method, workspace);
            cr_expect(within(algorithm, due[k].algorithms), "%s: '%s'", due[k].method, algorithm);
            cr_expect_str_eq(field_of(&r, i, RESULTS_STATUS),
                             method_named(due[k].method)->cpu ? "ok" : "unsupported");
        }
        cr_expect_eq(rows, due[k].rows, "%s: %zu", due[k].method, rows);
    }
    for (size_t i = 0; i < r.count; i++)
        for (size_t k = 0; k < i; k++)
            cr_expect_str_neq(field_of(&r, i, RESULTS_CASE_ID), field_of(&r, k, RESULTS_CASE_ID));
    rows_free(&r);
}

/* Where nothing is asked, neither the study nor a row says anything of it. */
Test(run_heuristics, what_is_not_asked_is_not_said, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    json_t *study;
    char path[400];
    struct problem p = {0};
    study_run("gemm", unasked, out);
    struct rows r = results(out);
    cr_expect_eq(r.count, 2);
    for (size_t i = 0; i < r.count; i++)
        cr_expect(!*case_field(&r, i, CASE_WORKSPACE) && !*case_field(&r, i, CASE_ALGORITHM));
    rows_free(&r);
    snprintf(path, sizeof path, "%s/study.json", out);
    cr_assert(study_read(&study, path, &p) == STATUS_OK, "%s", p.text);
    const json_t *axes = json_object_get(study, "axes");
    cr_expect(json_object_get(axes, "promote") && !json_object_get(axes, "workspace") &&
              !json_object_get(axes, "algorithm"));
    json_decref(study);
}

/* study.json has both axes: repeated, nothing is left to do. */
Test(run_heuristics, studies_are_repeated, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    json_t *study;
    char path[400];
    struct problem p = {0};
    struct study s = {0};
    study_run("gemm", words, out);
    cr_expect_eq(study_run("gemm", words, out).runs, 0);
    snprintf(path, sizeof path, "%s/study.json", out);
    cr_assert(study_read(&study, path, &p) == STATUS_OK, "%s", p.text);
    cr_assert(request_repeat(&s.request, experiment_of("gemm"), json_object_get(study, "axes"),
                             path, &p) == STATUS_OK,
              "%s", p.text);
    cr_assert(study_resolve(&s, "gemm") == STATUS_OK, "%s", s.problem.text);
    cr_expect_eq(s.plan.case_count, 28);
    cr_expect(s.axes.setting.workspace.count == 2 && s.axes.setting.algorithm.count == 8);
    json_decref(study);
    study_free(&s);
}

/* Drops fields `from` .. `from` + 1 of each line, and the lines behind the second. */
static void drop(const char *name, size_t from)
{
    struct bytes without = {0}, is = get_file(in_folder(name));
    size_t field = 0, line = 0;
    for (size_t i = 0; i < is.size && line < 2; i++) {
        const bool ends = is.data[i] == ',' || is.data[i] == '\n';
        if (field < from || field > from + 1)
            add_bytes(&without, &is.data[i], 1);
        field = is.data[i] == '\n' ? 0 : field + ends;
        line += is.data[i] == '\n';
    }
    put_file(name, &without);
    clear_bytes(&is);
    clear_bytes(&without);
}

/* A directory of version 2, which has neither column, is read as one of products, and resumed. */
Test(run_heuristics, resume_an_older_version, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    json_t *study;
    char path[400];
    struct problem p = {0};
    struct gathered g = {0};
    study_run("gemm", unasked, out);
    drop("out/results.csv", results_case_column(CASE_WORKSPACE));
    drop("out/summary.csv", summary_case_column(CASE_WORKSPACE));
    snprintf(path, sizeof path, "%s/study.json", out);
    cr_assert(study_read(&study, path, &p) == STATUS_OK, "%s", p.text);
    json_object_set_new(study, "schema_version", json_integer(2));
    cr_assert(study_write(study, path, &p) == STATUS_OK, "%s", p.text);
    json_decref(study);
    cr_assert(gathered_read(&g, out, &p) == STATUS_OK, "%s", p.text);
    cr_expect(g.of == COLUMNS_OF_PRODUCTS && g.count == 1, "%d, %zu cases", (int)g.of, g.count);
    for (size_t i = 0; i < g.count; i++) {
        cr_expect_str_eq(g.item[i].field[CASE_KEYS], "3x4x20");
        cr_expect_str_eq(g.item[i].field[CASE_ALGORITHM], "");
    }
    gathered_free(&g);
    cr_expect_eq(study_run("gemm", unasked, out).runs, 1);
    cr_assert(study_read(&study, path, &p) == STATUS_OK, "%s", p.text);
    cr_expect_eq(json_integer_value(json_object_get(study, "schema_version")), SCHEMA_VERSION);
    json_decref(study);
    struct rows r = results(out);
    cr_expect_eq(r.count, 2);
    rows_free(&r);
}

static enum status resolve_with(const char *method, const char *axis, const char *text,
                                struct problem *p)
{
    const char *const asked[][2] = {{"method", method}, {"device", "cpu"}, {axis, text}, {NULL}};
    struct study s = {0};
    ask(&s.request, asked + !method);
    enum status status = study_resolve(&s, "gemm");
    *p = s.problem;
    study_free(&s);
    return status;
}

/* Where no method that was named, or that the device has, reads it; and what is no number of it. */
Test(run_heuristics, refuses_what_nobody_reads)
{
    static const char *const axis[] = {"workspace", "algorithm"};
    static const struct {
        const char *method, *axis, *text, *says;
    } bad[] = {
        {"gemm/tiled", "workspace", "0", "option --workspace: found '0', which no method"},
        {"gemm/tiled", "algorithm", "3",
         "expected --device cuda and --method with one of cublaslt/"},
        {"cublaslt/product_16_no_workspace", "workspace", "1k", "which no method"},
        {"cublaslt/product_16_second", "algorithm", "1", "which no method"},
        {"cublaslt/product_emulated", "workspace", "1k", "which no method"},
        {NULL, "workspace", "0", "which no method"},
        {NULL, "algorithm", "0", "which no method"},
        {"cublaslt/product_16", "workspace", "32x", "found '32x', expected a number of bytes"},
        {"cublaslt/product_16", "algorithm", "8", "found 8, expected 0 to 7"},
        {"cublaslt/product_16", "algorithm", "7..0", "expected it to ascend"},
    };
    struct problem p = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect(resolve_with(bad[i].method, bad[i].axis, bad[i].text, &p) == STATUS_USAGE &&
                      strstr(p.text, bad[i].says),
                  "%s, --%s %s: %s", bad[i].method ? bad[i].method : "none", bad[i].axis,
                  bad[i].text, p.text);
    for (size_t i = 0; i < 2; i++)
        cr_expect(resolve_with("cublaslt/product_16", axis[i], "0", &p) == STATUS_OK, "%s", p.text);
}
