/* run extrema: its cases, and what its rows say of them. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "tests/support/study.h"

static const char *const words[][2] = {{"device", "cpu"}, {"n", "300"}, {NULL, NULL}};

static bool is_index(const struct method *m)
{
    return exact_facts[m->operation->of].form == FORM_INDEX;
}

/* The same operation on the same array, in the same formats? */
static bool same_case(const struct rows *r, size_t i, size_t k)
{
    const struct operation *o = method_named(case_field(r, i, CASE_METHOD))->operation;
    bool same = o == method_named(case_field(r, k, CASE_METHOD))->operation;
    for (size_t c = CASE_STORAGE; same && c <= CASE_N; c++)
        same = strcmp(case_field(r, i, c), case_field(r, k, c)) == 0;
    return same;
}

static void expect_row(const struct rows *r, size_t i)
{
    const struct method *m = method_named(case_field(r, i, CASE_METHOD));
    const char *storage = case_field(r, i, CASE_STORAGE), *error = field_of(r, i, RESULTS_ERR_ABS),
               *f = case_field(r, i, CASE_ACCUMULATOR),
               *share = field_of(r, i, RESULTS_ERR_OVER_BOUND);
    bool product = m->operation == &operation_product;
    cr_expect(!is_index(m) || strcmp(f, "fp64") == 0, "%s in %s", m->name, f);
    cr_expect(!*share || strtod(share, NULL) <= 1, "%s: error over bound %s", m->name, share);
    if (!product && *error && format_holds(format_named(f), format_named(storage)))
        cr_expect_str_eq(error, "0", "%s, %s/%s: %s", m->name, storage, f, error);
    if (is_index(m))
        cr_expect_str_eq(field_of(r, i, RESULTS_STATUS), "ok", "%s", m->name);
    if (product && strcmp(case_field(r, i, CASE_INPUT), "reciprocal") == 0)
        cr_expect(fabs(strtod(field_of(r, i, RESULTS_RESULT), NULL) - 1) < 0.9, "%s, %s/%s: %s",
                  m->name, storage, f, field_of(r, i, RESULTS_RESULT));
}

Test(run_extrema, rows, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    study_run("extrema", words, out);
    struct rows r = rows_of(out, "results", results_column_of(COLUMNS_OF_SUMS),
                            results_columns(COLUMNS_OF_SUMS));
    size_t seen[EXACT_VALUES] = {0}, twins = 0;
    for (size_t i = 0; i < r.count; i++) {
        expect_row(&r, i);
        seen[method_named(case_field(&r, i, CASE_METHOD))->operation->of]++;
        for (size_t k = 0; k < i; k++) /* all forms find the same */
            if (same_case(&r, i, k) &&
                method_named(case_field(&r, i, CASE_METHOD))->operation != &operation_product) {
                cr_expect_str_eq(field_of(&r, i, RESULTS_RESULT_BITS),
                                 field_of(&r, k, RESULTS_RESULT_BITS), "%s, %s",
                                 case_field(&r, i, CASE_METHOD), case_field(&r, i, CASE_INPUT));
                twins++;
            }
    }
    for (enum exact_value of = EXACT_PRODUCT; of <= EXACT_ARGMAX; of++)
        cr_expect(seen[of] == (of >= EXACT_ARGMIN ? 4u * 4 * 7 : 8u * 4 * 7), "%d: %zu rows",
                  (int)of, seen[of]);
    cr_expect(twins > 0);
    rows_free(&r);
}
