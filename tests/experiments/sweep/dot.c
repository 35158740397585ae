/* Studies of dot products: their cases, columns and rows, data against itself, and that recorded
 * ones are compared with their CPU twins. */
#include <criterion/criterion.h>

#include <math.h>

#include "reference/format/number.h"
#include "tests/support/recorded.h"
#include "tests/support/study.h"

static const char *const words[][2] = {
    {"device", "cpu"},
    {"method", "dot/serial,dot/two_kernel,dot/tiled,dot/compensated,dot/exact"},
    {"input", "symmetric,orthogonal,product_underflow,ones"},
    {"n", "1,300"},
    {"storage", "fp16,fp64"},
    {"accumulator", "fp16,fp64"},
    {NULL, NULL}};

static const char *const every_way[][2] = {
    {"device", "cpu"},
    {"method", "dot/serial,dot/two_kernel,dot/tiled,dot/compensated,dot/exact"},
    {"input", "symmetric,normal"},
    {"n", "3000"},
    {"storage", "fp32"},
    {"accumulator", "bf16,fp32"},
    {"product", "rounded,fused,exact"},
    {NULL, NULL}};

static struct rows results(const char *out)
{
    return rows_of(out, "results", results_column_of(COLUMNS_OF_DOTS),
                   results_columns(COLUMNS_OF_DOTS));
}

/* Each method forms products as its source does unless it is asked. */
Test(run_dot, rows_say_how_products_are_formed, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    study_run("dot", words, out);
    struct rows r = results(out);
    size_t unsupported = 0;
    for (size_t i = 0; i < r.count; i++) {
        const struct method *m = method_named(case_field(&r, i, CASE_METHOD));
        cr_expect_str_eq(case_field(&r, i, CASE_PRODUCT), product_name[m->product], "%s", m->name);
        cr_expect_str_eq(results_column_of(COLUMNS_OF_DOTS)(r.columns - 1)->name, "product");
        unsupported += strcmp(field_of(&r, i, RESULTS_STATUS), "unsupported") == 0;
    }
    cr_expect(r.count == 5 * 4 * 2 * 4 && unsupported == 8, "%zu rows, %zu", r.count, unsupported);
    rows_free(&r);
    struct rows summary = rows_of(out, "summary", summary_column_of(COLUMNS_OF_DOTS),
                                  summary_columns(COLUMNS_OF_DOTS));
    cr_expect_eq(summary.count, 160);
    rows_free(&summary);
}

/* What the experiment's own inputs need more elements for is left out; what is asked for fails. */
Test(run_dot, own_inputs_that_n_is_too_small_for_are_left_out, .init = make_folder,
     .fini = remove_folder)
{
    enum { DOT_COND = 1, OVERFLOW = 2 };
    static const struct {
        const char *n, *input, *cond;
        int out; /* families */
    } few[] = {{"1", NULL, NULL, DOT_COND | OVERFLOW},
               {"1", NULL, "16", OVERFLOW},
               {"2", NULL, NULL, DOT_COND},
               {"1000", NULL, NULL, 0},
               {"2", "dot_cond", NULL, 0}};
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
        const char *const asked[][2] = {{"device", "cpu"},
                                        {"method", "dot/serial"},
                                        {"storage", "fp32"},
                                        {"accumulator", "fp32"},
                                        {"n", few[i].n},
                                        {few[i].input  ? "input"
                                         : few[i].cond ? "cond"
                                                       : NULL,
                                         few[i].input ? few[i].input : few[i].cond},
                                        {NULL, NULL}};
        bool fails = few[i].input || few[i].cond;
        struct study s;
        int out = 0;
        study_make(&s, "dot", asked);
        for (size_t k = 0; k < s.plan.families_out; k++)
            out |= strcmp(s.plan.family_out[k]->name, "dot_cond") == 0 ? DOT_COND : OVERFLOW;
        cr_expect(out == few[i].out && s.plan.left_out == s.plan.families_out, "%zu: %d", i, out);
        cr_assert_eq(study_sweep(&s, in_folder("out"), true), STATUS_OK, "%s", s.problem.text);
        cr_expect(s.outcome.failed == fails, "%zu: %zu failed", i, s.outcome.failed);
        study_free(&s);
    }
}

/* Three ways make three cases of a method that knows two, one of which is another result. */
Test(run_dot, ways_are_cases, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    size_t rounded = 0, differ = 0;
    study_run("dot", every_way, out);
    struct rows r = results(out);
    for (size_t i = 0; i < r.count; i++)
        for (size_t k = 0; k < r.count; k++) {
            bool pair = strcmp(case_field(&r, i, CASE_PRODUCT), "rounded") == 0 &&
                        strcmp(case_field(&r, k, CASE_PRODUCT), "fused") == 0;
            for (size_t c = CASE_METHOD; pair && c < CASE_COLUMNS; c++)
                pair = strcmp(case_field(&r, i, c), case_field(&r, k, c)) == 0;
            if (!pair || *field_of(&r, i, RESULTS_RESULT_BITS) == 0 ||
                *field_of(&r, k, RESULTS_RESULT_BITS) == 0)
                continue;
            rounded++;
            cr_expect_str_neq(field_of(&r, i, RESULTS_CASE_ID), field_of(&r, k, RESULTS_CASE_ID));
            differ += strcmp(field_of(&r, i, RESULTS_RESULT_BITS),
                             field_of(&r, k, RESULTS_RESULT_BITS)) != 0;
        }
    cr_expect(rounded == 3 * 2 * 2 && differ >= 3, "%zu, %zu differ", rounded, differ);
    rows_free(&r);
}

/* An input of two arrays is none of one. */
Test(run_dot, pairs_are_refused_where_one_array_is_due)
{
    double data[8];
    struct array a = {FP64, 8, data};
    for (size_t i = 0; i < pair_family_count; i++) {
        struct problem p = {0};
        struct input in;
        cr_assert(input_parse(&in, pair_families[i]->name, &p) == STATUS_OK, "%s", p.text);
        cr_expect(input_generate(&in, &a, 1, 0, &p) == STATUS_USAGE && strstr(p.text, "two arrays"),
                  "%s", p.text);
    }
}

/* A study's rows as if a GPU had written them, with every `what` replaced. */
static struct recorded as_recorded(const char *out, const char *what, const char *by)
{
    char path[400], line[4096];
    struct bytes b = {0};
    struct recorded recorded = {0};
    struct problem p = {0};
    snprintf(path, sizeof path, "%s/results.csv", out);
    FILE *file = fopen(path, "r");
    cr_assert(file);
    while (fgets(line, sizeof line, file)) {
        char *device = strstr(line, ",cpu,"), *at = strstr(line, what);
        if (device && at) {
            struct text text = {0};
            text_append(&text, line, (size_t)(device - line));
            text_add(&text, ",cuda:0,");
            text_append(&text, device + 5, (size_t)(at - device - 5));
            text_add(&text, by);
            text_add(&text, at + strlen(what));
            add_string(&b, text_string(&text));
            text_free(&text);
        } else {
            add_string(&b, line);
        }
    }
    fclose(file);
    cr_assert(recorded_compare(&recorded, put_file("recorded.csv", &b), &p) == STATUS_OK, "%s",
              p.text);
    clear_bytes(&b);
    return recorded;
}

/* The same command has nothing left to do. Bits recorded on a GPU are held to what the CPU gives:
 * of products that were formed in this way. */
Test(run_dot, studies_resume_and_are_compared, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    study_run("dot", every_way, out);
    struct sweep_outcome again = study_run("dot", every_way, out);
    cr_expect(again.runs == 0 && again.finished > 0, "%llu runs", (unsigned long long)again.runs);
    struct recorded right = as_recorded(out, ",fused", ",fused");
    cr_expect(right.compared == 12 && right.different == 0, "%zu compared, %zu differ: %s",
              right.compared, right.different, right.first);
    struct recorded wrong = as_recorded(out, ",fused", ",rounded");
    cr_expect(wrong.compared == 12 && wrong.different >= 3, "%zu compared, %zu differ",
              wrong.compared, wrong.different);
    struct recorded exact = as_recorded(out, ",exact", ",exact");
    cr_expect(exact.compared == 6 && exact.different == 0, "%zu compared, %zu differ: %s",
              exact.compared, exact.different, exact.first);
}

/* Data 1 2 3 4: against themselves 30; turned by one 2 + 6 + 12 + 4 = 24; by two 22. */
Test(run_dot, data_against_itself, .init = make_folder, .fini = remove_folder)
{
    char path[400];
    struct bytes b = {0};
    add_string(&b, "1\n2\n3\n4\n");
    snprintf(path, sizeof path, "%s", put_file("four.txt", &b));
    const char *const of_data[][2] = {
        {"device", "cpu"},   {"method", "dot/tiled,dot/exact"}, {"data", path},
        {"storage", "fp32"}, {"accumulator", "fp32"},           {"shift", "0,1,2,5"},
        {NULL, NULL}};
    static const char *const due[] = {"30", "24", "22", "24"};
    const char *out = in_folder("out");
    study_run("dot", of_data, out);
    struct rows r = results(out);
    cr_expect_eq(r.count, 8);
    for (size_t i = 0; i < r.count; i++) {
        expect_text(&r, i, RESULTS_RESULT, due[i / 2]);
        expect_text(&r, i, RESULTS_EXACT, due[i / 2]);
        cr_expect(strstr(case_field(&r, i, CASE_INPUT), ":shift="), "%s",
                  case_field(&r, i, CASE_INPUT));
    }
    rows_free(&r);
    clear_bytes(&b);
}

static void expect_refused(const char *experiment, study_words words_of, const char *said)
{
    struct study s = {0};
    ask(&s.request, words_of);
    enum status status = study_resolve(&s, experiment);
    cr_expect(status == STATUS_USAGE && strstr(s.problem.text, said), "%s", s.problem.text);
    axes_free(&s.axes);
    request_free(&s.request);
}

Test(run_dot, what_is_of_dot_products_is_refused_elsewhere)
{
    expect_refused("accuracy", (const char *const[][2]){{"product", "fused"}, {NULL, NULL}},
                   "--product: found 'fused' with accuracy");
    expect_refused("accuracy", (const char *const[][2]){{"shift", "3"}, {NULL, NULL}}, "--shift");
    expect_refused("accuracy", (const char *const[][2]){{"input", "orthogonal"}, {NULL, NULL}},
                   "two arrays");
    expect_refused("dot", (const char *const[][2]){{"product", "twice"}, {NULL, NULL}},
                   "found 'twice', expected rounded, fused or exact");
    expect_refused("dot", (const char *const[][2]){{"method", "sum/tiled"}, {NULL, NULL}},
                   "sum/tiled, a sum");
    expect_refused("dot", (const char *const[][2]){{"segment", "7"}, {NULL, NULL}}, "no scans");
}
