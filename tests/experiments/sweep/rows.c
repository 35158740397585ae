/* Rows of sums: every number in them is right, computed anew from what the row itself says. */
#include <gmp.h>
#include <math.h>

#include "tests/support/study.h"

static size_t rows_with(const struct rows *r, size_t column, const char *value)
{
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++)
        count += strcmp(field_of(r, i, column), value) == 0;
    return count;
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
    struct array a = {storage, (size_t)atoi(case_field(r, row, CASE_N)), NULL};
    mpq_t term;
    mpq_init(term);
    mpq_set_ui(sum, 0, 1);
    mpq_set_ui(sum_abs, 0, 1);
    a.data = calloc(a.n + 1, 8);
    cr_assert(a.data && input_parse(&in, case_field(r, row, CASE_INPUT), NULL) == STATUS_OK);
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

static void hold_row(const struct rows *r, size_t row)
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
Test(rows, each_row_speaks_for_itself, .init = make_folder, .fini = remove_folder)
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
        hold_row(&r, i);
        checked++;
    }
    cr_expect(checked > 800 && ill == rows_with(&r, RESULTS_METHOD + CASE_N - CASE_METHOD, "1") / 5,
              "%zu rows checked, %zu not: one element cannot have a condition of 100", checked,
              ill);
    rows_free(&r);
}
