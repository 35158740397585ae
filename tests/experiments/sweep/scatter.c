/* Studies of scatter-adds: their cases and columns, rows against figures found bin by bin,
 * resuming, and what is refused. */
#include <criterion/criterion.h>

#include <math.h>

#include "reference/format/hash_array.h"
#include "reference/format/number.h"
#include "tests/support/study.h"

static study_words words = {{"device", "cpu"},
                            {"method", "scatter/sort,scatter/ordered,scatter/exact"},
                            {"input", "symmetric,ones"},
                            {"n", "0,1,500"},
                            {"storage", "fp16,fp64"},
                            {"accumulator", "fp16,fp32"},
                            {"keys", "uniform,zipf,one,sorted"},
                            {"bins", "1,40"},
                            {"runs", "2"},
                            {NULL}};

static struct rows results(const char *out)
{
    return rows_of(out, "results", results_column_of(COLUMNS_OF_SCATTERS),
                   results_columns(COLUMNS_OF_SCATTERS));
}

static double number(const struct rows *r, size_t row, size_t column)
{
    const char *text = field_of(r, row, column);
    return *text ? strtod(text, NULL) : -1;
}

/* One row's case once more, without the engine: keys, elements, method, MPFR. */
static void hold_row(const struct rows *r, size_t row, size_t *worst)
{
    const struct method *m = method_named(case_field(r, row, CASE_METHOD));
    size_t n = strtoul(case_field(r, row, CASE_N), NULL, 10), most = 0, fullest = 0;
    size_t bins = strtoul(case_field(r, row, CASE_BINS), NULL, 10), differing = 0, at = 0;
    enum format s = format_named(case_field(r, row, CASE_STORAGE)),
                f = format_named(case_field(r, row, CASE_ACCUMULATOR));
    double x[500], out[40], twin[40], ulp = -1, absolute = -1, over = -1, due = 0, cond = 0;
    uint32_t key[500];
    struct input input;
    struct keys keys;
    struct array in = {s, n, x}, result = {f, bins, out}, fixed = {f, bins, twin};
    cr_assert(input_parse(&input, case_field(r, row, CASE_INPUT), NULL) == STATUS_OK);
    cr_assert(input_generate(&input, &in, 1, 0, NULL) == STATUS_OK);
    cr_assert(keys_parse(&keys, case_field(r, row, CASE_KEYS), NULL) == STATUS_OK);
    cr_assert(keys_fill(&keys, key, n, bins, 1, NULL) == STATUS_OK);
    keys_free(&keys);
    struct task task = {.of = &(struct operands){.in = in, .keys = key, .bins = bins},
                        .out = result,
                        .accumulator = f,
                        .shape = method_shape(m, DEVICE_CPU, n, (struct shape){0})};
    cr_assert(m->cpu(&task, NULL) == STATUS_OK);
    task.out = fixed;
    cr_assert(method_named("scatter/sort")->cpu(&task, NULL) == STATUS_OK);
    for (size_t b = 0; b < bins; b++) {
        double own[500];
        size_t count = 0, index[500];
        struct reference exact;
        struct measure of;
        for (size_t i = 0; i < n; i++)
            if (key[i] == b) {
                index[count] = i;
                own[count++] = array_get(&in, i);
            }
        struct theorem t = {.kind = m->bound};
        t.height = m->bin_height && count ? m->bin_height(index, count, n, bins) : 0;
        reference_compute(&exact, &(struct array){FP64, count, own}, REFERENCE_MPFR, NULL);
        measure(&of, &exact, s, f, array_get(&result, b), &t);
        if (of.err_ulp.known && of.err_ulp.value > ulp) {
            ulp = of.err_ulp.value;
            at = b;
        }
        absolute = fmax(absolute, of.err_abs.known ? of.err_abs.value : -1);
        over = fmax(over, of.err_over_bound.known ? of.err_over_bound.value : -1);
        differing += array_bits(&result, b) != array_bits(&fixed, b);
        if (b == 0 || count > most) {
            most = count;
            fullest = b;
            due = mpfr_get_d(exact.sum, MPFR_RNDN);
            cond = reference_cond_log2(&exact);
        }
        reference_free(&exact);
    }
    size_t facts = results_facts(COLUMNS_OF_SCATTERS);
    char hash[64];
    struct hash128 h = hash_array(&result);
    snprintf(hash, sizeof hash, "0x%016llx%016llx", (unsigned long long)h.word[0],
             (unsigned long long)h.word[1]);
    cr_expect_str_eq(field_of(r, row, RESULTS_RESULT_BITS), hash, "row %zu", row);
    cr_expect(number(r, row, RESULTS_RESULT) == array_get(&result, fullest), "row %zu", row);
    cr_expect(number(r, row, RESULTS_EXACT) == due, "row %zu: exact", row);
    cr_expect(number(r, row, RESULTS_METHOD + CASE_COND_LOG2 - CASE_METHOD) == cond,
              "row %zu: cond_log2, expected %g", row, cond);
    cr_expect(number(r, row, RESULTS_ERR_ULP) == ulp, "row %zu: err_ulp", row);
    cr_expect(number(r, row, RESULTS_ERR_ABS) == absolute, "row %zu: err_abs", row);
    cr_expect(number(r, row, RESULTS_ERR_OVER_BOUND) == over, "row %zu: err_over_bound", row);
    cr_expect(number(r, row, facts + 1) == (double)at, "row %zu: worst bin %zu", row, at);
    cr_expect(number(r, row, facts + 2) == (double)differing / (double)bins, "row %zu: %zu differ",
              row, differing);
    *worst += at > 0;
}

Test(run_scatter, rows_are_the_worst_bins, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    study_run("scatter", words, out);
    struct rows r = results(out);
    size_t worst = 0;
    for (size_t i = 0; i < r.count; i++) {
        hold_row(&r, i, &worst);
        cr_expect_str_eq(field_of(&r, i, RESULTS_STATUS), "ok", "row %zu", i);
    }
    cr_expect_eq(r.count, 3 * 2 * 3 * 2 * 2 * 4 * 2 * 2);
    cr_expect(worst > 50, "only %zu have a worst bin other than the first", worst);
    cr_expect_str_eq(results_column_of(COLUMNS_OF_SCATTERS)(RESULTS_COLUMNS)->name, "keys");
    rows_free(&r);
    struct rows summary = rows_of(out, "summary", summary_column_of(COLUMNS_OF_SCATTERS),
                                  summary_columns(COLUMNS_OF_SCATTERS));
    cr_expect_eq(summary.count, 3 * 2 * 3 * 2 * 2 * 4 * 2);
    for (size_t i = 0; i < summary.count; i++)
        cr_expect_str_eq(field_of(&summary, i, SUMMARY_DISTINCT), "1", "row %zu", i);
    rows_free(&summary);
}

static char *digest(const char *out)
{
    struct text text = {0};
    digest_rows(&text, results(out), RESULTS_TIME_NS);
    digest_rows(&text,
                rows_of(out, "summary", summary_column_of(COLUMNS_OF_SCATTERS),
                        summary_columns(COLUMNS_OF_SCATTERS)),
                SUMMARY_TIME_NS_MEDIAN);
    char *digest = strdup(text_string(&text));
    text_free(&text);
    return digest;
}

/* Cut anywhere, a study comes to the same end. */
Test(run_scatter, resumes, .init = make_folder, .fini = remove_folder)
{
    static study_words small = {{"device", "cpu"},
                                {"method", "scatter/ordered,scatter/exact"},
                                {"input", "normal"},
                                {"n", "300"},
                                {"storage", "fp32"},
                                {"keys", "uniform,one"},
                                {"bins", "7"},
                                {"runs", "3"},
                                {NULL}};
    char out[320], path[340];
    snprintf(out, sizeof out, "%s", in_folder("out"));
    snprintf(path, sizeof path, "%s/results.csv", out);
    uint64_t runs = study_run("scatter", small, out).runs;
    char *due = digest(out);
    struct bytes was = get_file(path);
    cr_expect(study_run("scatter", small, out).runs == 0, "a finished study runs again");
    for (size_t k = 1; k < 8; k++) {
        FILE *file = fopen(path, "wb");
        cr_assert(file && fwrite(was.data, 1, was.size * k / 8, file) && fclose(file) == 0);
        uint64_t again = study_run("scatter", small, out).runs;
        char *is = digest(out);
        cr_expect(again > 0 && again < runs + (k == 1), "cut at %zu of 8: %llu runs", k,
                  (unsigned long long)again);
        cr_expect_str_eq(is, due, "cut at %zu of 8", k);
        free(is);
    }
    clear_bytes(&was);
    free(due);
}

static void expect_refused(const char *experiment, study_words asked, enum status due,
                           const char *says)
{
    struct study s = {0};
    ask(&s.request, asked);
    cr_expect(study_resolve(&s, experiment) == due, "%s: %s", says, s.problem.text);
    cr_expect(strstr(s.problem.text, says), "'%s' says no '%s'", s.problem.text, says);
    study_free(&s);
}

Test(run_scatter, what_is_refused, .init = make_folder, .fini = remove_folder)
{
    char path[200];
    FILE *raw = fopen(in_folder("keys.bin"), "wb");
    cr_assert(raw && fwrite((uint32_t[]){1, 5, 2}, 4, 3, raw) == 3 && fclose(raw) == 0);
    snprintf(path, sizeof path, "file:%s", in_folder("keys.bin"));
    const char *const few[][2] = {{"device", "cpu"}, {"keys", path}, {"n", "4"}, {NULL, NULL}},
                      *const high[][2] = {{"device", "cpu"},
                                          {"keys", path},
                                          {"n", "3"},
                                          {"bins", "5"},
                                          {NULL, NULL}};
    static study_words dots = {{"device", "cpu"}, {"keys", "one"}, {NULL}},
                       none = {{"device", "cpu"}, {"bins", "0"}, {NULL}},
                       many = {{"device", "cpu"}, {"bins", "2^21"}, {NULL}},
                       kind = {{"device", "cpu"}, {"keys", "two"}, {NULL}},
                       sums = {{"device", "cpu"}, {"method", "sum/tiled"}, {NULL}},
                       other = {{"device", "cpu"}, {"method", "scatter/sort"}, {NULL}};
    struct study s = {0};
    ask(&s.request, few);
    cr_expect(study_resolve(&s, "scatter") == STATUS_USAGE &&
                  strstr(s.problem.text, "found 3 keys, expected one for each of 4 elements"),
              "%s", s.problem.text);
    study_free(&s);
    s = (struct study){0};
    ask(&s.request, high);
    cr_expect(study_resolve(&s, "scatter") == STATUS_DATA &&
                  strstr(s.problem.text, "key 1: found 5, expected less than 5 (--bins)"),
              "%s", s.problem.text);
    study_free(&s);
    expect_refused("dot", dots, STATUS_USAGE, "which runs no scatter-adds: expected it with");
    expect_refused("scatter", none, STATUS_USAGE, "option --bins");
    expect_refused("scatter", many, STATUS_USAGE, "option --bins");
    expect_refused("scatter", kind, STATUS_USAGE, "option --keys: found 'two'");
    expect_refused("scatter", sums, STATUS_USAGE, "sum/tiled");
    expect_refused("accuracy", other, STATUS_USAGE, "scatter/sort, a scatter (see run scatter)");
}
