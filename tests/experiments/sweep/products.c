/* Studies of matrix products by models of chips' instructions: their cases, columns and rows, what
 * a chip lacks, and that they are repeated. */
#include <criterion/criterion.h>

#include <math.h>

#include "kernels/mma/mma.h"
#include "tests/support/study.h"

static study_words words = {{"device", "cpu"},
                            {"method", "gemm/mma,gemm/wgmma,gemm/promoted,gemm/tiled"},
                            {"input", "symmetric,subnormal"},
                            {"shape", "3x4x200,2x2x33:nt"},
                            {"storage", "e4m3,fp16,fp32"},
                            {"accumulator", "fp32"},
                            {"chip", "h100,v100,b200"},
                            {"promote", "32,128"},
                            {"runs", "1"},
                            {NULL}};

static struct rows results(const char *out)
{
    return rows_of(out, "results", results_column_of(COLUMNS_OF_PRODUCTS),
                   results_columns(COLUMNS_OF_PRODUCTS));
}

static const struct mma_instruction *instruction(const struct rows *r, size_t i)
{
    const char *name = case_field(r, i, CASE_METHOD), *chip = case_field(r, i, CASE_CHIP);
    enum mma_element e = mma_element_of(format_named(case_field(r, i, CASE_STORAGE)));
    if (strcmp(name, "gemm/mma") == 0)
        return mma_find(chip, MMA_SYNC, e, FP32);
    if (strcmp(name, "gemm/wgmma") == 0)
        return mma_find(chip, MMA_WGMMA, e, FP32);
    return mma_find(chip, MMA_UNITS, e, FP32);
}

/* Each is a case for each chip that is asked for, and each interval that it reads; those that the
 * table does not have are unsupported, and no others. */
Test(run_products, rows_say_whose_instruction, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    size_t unsupported = 0, of_chip = 0, promoted = 0;
    study_run("gemm", words, out);
    struct rows r = results(out);
    for (size_t i = 0; i < r.count; i++) {
        const struct method *m = method_named(case_field(&r, i, CASE_METHOD));
        const char *chip = case_field(&r, i, CASE_CHIP), *every = case_field(&r, i, CASE_PROMOTE);
        const char *status = field_of(&r, i, RESULTS_STATUS);
        bool has = !m->of_chip || instruction(&r, i);
        cr_expect((m->of_chip != NULL) == (mma_chip_named(chip) != NULL), "%s: '%s'", m->name,
                  chip);
        cr_expect(m->promotes == (*every != 0), "%s: '%s'", m->name, every);
        cr_expect_str_eq(status, has ? "ok" : "unsupported", "%s on %s", m->name, chip);
        if (has) {
            double over = strtod(field_of(&r, i, RESULTS_ERR_OVER_BOUND), NULL);
            cr_expect(over <= 1, "%s on %s: %g of its bound", m->name, chip, over);
            cr_expect(*field_of(&r, i, RESULTS_BOUND), "%s on %s: no bound", m->name, chip);
        }
        unsupported += !has;
        of_chip += m->of_chip != NULL;
        promoted += m->promotes;
    }
    /* Shapes, storage formats and inputs; chips; of promoted sums intervals too. */
    enum { COMMON = 2 * 3 * 2 };
    cr_expect(r.count == COMMON * (1 + 2 * 3 + 2 * 3) && of_chip == COMMON * 12 &&
                  promoted == COMMON * 6,
              "%zu rows, %zu of chips, %zu promoted", r.count, of_chip, promoted);
    cr_expect(unsupported > 0 && unsupported < of_chip, "%zu", unsupported);
    rows_free(&r);
}

/* Ids differ by chip and by interval, and are those of this method before it had chips elsewhere:
 * what has none says nothing of it. */
Test(run_products, cases_are_told_apart, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    size_t differ = 0, alike = 0;
    study_run("gemm", words, out);
    struct rows r = results(out);
    for (size_t i = 0; i < r.count; i++)
        for (size_t k = 0; k < i; k++) {
            cr_expect_str_neq(field_of(&r, i, RESULTS_CASE_ID), field_of(&r, k, RESULTS_CASE_ID));
            bool same = strcmp(case_field(&r, i, CASE_METHOD), case_field(&r, k, CASE_METHOD)) == 0;
            for (size_t c = CASE_STORAGE; same && c <= CASE_N; c++)
                same = strcmp(case_field(&r, i, c), case_field(&r, k, c)) == 0;
            same = same && strcmp(case_field(&r, i, CASE_KEYS), case_field(&r, k, CASE_KEYS)) == 0;
            if (!same || !*field_of(&r, i, RESULTS_RESULT_BITS) ||
                !*field_of(&r, k, RESULTS_RESULT_BITS))
                continue;
            bool bits = strcmp(field_of(&r, i, RESULTS_RESULT_BITS),
                               field_of(&r, k, RESULTS_RESULT_BITS)) != 0;
            differ += bits;
            alike += !bits;
            /* Each chip's bound is its own: K and F of these three rows differ. */
            const char *chip = case_field(&r, i, CASE_CHIP), *other = case_field(&r, k, CASE_CHIP);
            if (strcmp(case_field(&r, i, CASE_METHOD), "gemm/mma") == 0 && *chip != *other &&
                (*chip == 'v' || *other == 'v'))
                cr_expect_str_neq(field_of(&r, i, RESULTS_BOUND), field_of(&r, k, RESULTS_BOUND),
                                  "%s and %s", chip, other);
        }
    cr_expect(differ >= 10, "%zu pairs of chips or intervals differ, %zu do not", differ, alike);
    rows_free(&r);
}

/* study.json has both axes: repeated, nothing is left to do. */
Test(run_products, studies_are_repeated, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    char path[400];
    study_run("gemm", words, out);
    struct sweep_outcome again = study_run("gemm", words, out);
    cr_expect(again.runs == 0 && again.finished > 0, "%llu runs", (unsigned long long)again.runs);
    json_t *study;
    struct problem p = {0};
    snprintf(path, sizeof path, "%s/study.json", out);
    cr_assert(study_read(&study, path, &p) == STATUS_OK, "%s", p.text);
    struct study s = {0};
    cr_assert(request_repeat(&s.request, experiment_of("gemm"), json_object_get(study, "axes"),
                             path, &p) == STATUS_OK,
              "%s", p.text);
    cr_assert(study_resolve(&s, "gemm") == STATUS_OK, "%s", s.problem.text);
    cr_expect_eq(s.plan.case_count, again.finished, "%zu cases", s.plan.case_count);
    cr_expect(s.axes.setting.chips == 3 && s.axes.setting.promote.count == 2);
    json_decref(study);
    study_free(&s);
}

static enum status resolve_with(const char *axis, const char *text, struct problem *p)
{
    const char *const asked[][2] = {{"method", "gemm/promoted"}, {axis, text}, {NULL}};
    struct study s = {0};
    ask(&s.request, asked);
    enum status status = study_resolve(&s, "gemm");
    *p = s.problem;
    study_free(&s);
    return status;
}

/* What no chip is called, and what is no interval, is said in a line. */
Test(run_products, refuses_what_is_no_chip)
{
    struct problem p = {0};
    cr_expect(resolve_with("chip", "h10", &p) == STATUS_USAGE &&
                  strstr(p.text, "did you mean h100"),
              "%s", p.text);
    cr_expect(resolve_with("promote", "0", &p) == STATUS_USAGE && strstr(p.text, "promote"), "%s",
              p.text);
    cr_expect(resolve_with("chip", "ada,h200", &p) == STATUS_OK, "%s", p.text);
}

/* What follows these words; NULL where they are not there. */
static const char *find(const char *text, const char *words)
{
    const char *at = strstr(text, words);
    return at ? at + strlen(words) : NULL;
}

/* The answer stands first: which instruction of the chip errs most, and what the others make of
 * the same product. */
Test(run_products, the_table_begins_with_the_answer, .init = make_folder, .fini = remove_folder)
{
    static study_words asked = {{"device", "cpu"},
                                {"method", "gemm/mma,gemm/wgmma,gemm/promoted,gemm/tiled"},
                                {"input", "uniform"},
                                {"shape", "2x2x4096"},
                                {"storage", "e4m3,fp16"},
                                {"accumulator", "fp32"},
                                {"chip", "h100"},
                                {"runs", "1"},
                                {NULL}};
    static const char begins[] = "h100 errs most, compared with gemm/tiled, when e4m3 is added in "
                                 "fp32: gemm/wgmma by ";
    const char *out = in_folder("out");
    struct study s;
    study_make(&s, "gemm", asked);
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    struct text text = table_of(&s, out);
    double wgmma = 0, mma = 0, promoted = 0;
    for (char *c = text.data; *c && strncmp(c, "\n\n", 2) != 0; c++) /* one line, as it was */
        if (strncmp(c, "\n  ", 3) == 0)
            memmove(c + 1, c + 3, strlen(c + 3) + 1), *c = ' ';
    cr_assert(strncmp(text.data, begins, strlen(begins)) == 0, "%.200s", text.data);
    wgmma = strtod(text.data + strlen(begins), NULL);
    static const char mma_by[] = "gemm/mma by ",
                      every_by[] = "gemm/promoted every 128 products by ";
    const char *at = find(text.data, mma_by), *every = find(text.data, every_by);
    cr_assert(at && every, "%.300s", text.data);
    mma = strtod(at, NULL);
    promoted = strtod(every, NULL);
    cr_expect(wgmma > 10 * promoted && promoted > 10 * mma && mma > 0, "%g, %g, %g: %.200s", wgmma,
              promoted, mma, text.data);
    cr_expect(strstr(text.data, "gemm/promoted h100/128"), "%s", text.data);
    text_free(&text);
    study_free(&s);
}

/* Every row of scaled and rounded matrices has its bound, and its shape says how. */
Test(run_products, rounded_matrices, .init = make_folder, .fini = remove_folder)
{
    static study_words asked = {
        {"device", "cpu"},
        {"method", "gemm/mma,gemm/wgmma,gemm/promoted,gemm/tiled,gemm/serial,gemm/split_k,"
                   "gemm/split_k_atomic,gemm/exact"},
        {"input", "symmetric,normal"},
        {"shape", "3x4x200:scale=0.37x1.5,2x2x33:nt:scale=auto,5x4x32:mixed:pad=1:scale=auto,"
                  "4x4x64:tf32,1x1x9:c=0:scale=1e-20x3e-21,16x16x1:c=0:scale=1.2345678x1.7654321"},
        {"storage", "e4m3,e5m2,fp32"},
        {"accumulator", "fp16,fp32,fp64"},
        {"output", "accumulator,storage"},
        {"runs", "1"},
        {NULL}};
    const char *out = in_folder("out");
    size_t scaled = 0, rounded = 0, inexact = 0;
    study_run("gemm", asked, out);
    struct rows r = results(out);
    for (size_t i = 0; i < r.count; i++) {
        const char *name = case_field(&r, i, CASE_METHOD), *shape = case_field(&r, i, CASE_KEYS);
        const bool fp32 = strcmp(case_field(&r, i, CASE_STORAGE), "fp32") == 0;
        if (strcmp(field_of(&r, i, RESULTS_STATUS), "unsupported") == 0)
            continue;
        cr_expect_eq(strstr(shape, ":tf32") != NULL, fp32, "%s", shape);
        cr_expect_eq(strstr(shape, ":scale=") != NULL, !fp32, "%s", shape);
        if (strcmp(field_of(&r, i, RESULTS_STATUS), "ok") != 0)
            continue;
        const double over = strtod(field_of(&r, i, RESULTS_ERR_OVER_BOUND), NULL);
        cr_expect(*field_of(&r, i, RESULTS_BOUND) && over <= 1, "%s, %s: %g of its bound", name,
                  shape, over);
        /* What an instruction errs itself is below 8 blocks of 9 terms, each cut at 2^-25. */
        const double error = strtod(field_of(&r, i, RESULTS_ERR_BACKWARD), NULL);
        const bool narrow = strcmp(case_field(&r, i, CASE_ACCUMULATOR), "fp16") == 0;
        cr_expect(!fp32 || narrow || error < 0x1p-18, "%s, %s: %g", name, shape, error);
        scaled += !fp32;
        rounded += fp32;
        inexact += over > 0;
    }
    cr_expect(scaled > 200 && rounded > 20 && inexact > 100, "%zu scaled, %zu rounded, %zu inexact",
              scaled, rounded, inexact);
    rows_free(&r);
}

/* Data in fp32 are quantised from fp32: not from the 8 bits that they are converted to. */
Test(run_products, quantised_data, .init = make_folder, .fini = remove_folder)
{
    static float x[] = {1, 3.3f, 0.1f, 7.2f};
    char *file = strdup(in_folder("x.npy"));
    study_words asked = {{"device", "cpu"},
                         {"method", "gemm/exact"},
                         {"data", file},
                         {"convert", "yes"},
                         {"shape", "1x1x2:c=0:scale=auto"},
                         {"storage", "e4m3"},
                         {"accumulator", "fp64"},
                         {"runs", "1"},
                         {NULL}};
    cr_assert(data_write_npy(file, &(struct array){FP32, 4, x}, NULL) == STATUS_OK);
    const char *out = in_folder("out");
    study_run("gemm", asked, out);
    struct rows r = results(out);
    cr_assert_eq(r.count, 1);
    const volatile float a = 3.3f / 448, b = 7.2f / 448, of_a = 1 / a, of_b = 0.1f / b;
    const double sum =
        format_round(E4M3, (double)of_a) * format_round(E4M3, (double)of_b) + 448. * 448;
    const double due = (double)a * (double)b * sum, of_8 = 3.25 * 7;
    const double found = strtod(field_of(&r, 0, RESULTS_EXACT), NULL);
    cr_expect(fabs(found - due) < 1e-15 * due, "%.17g, due %.17g", found, due);
    cr_expect(of_8 < 0.99 * due, "what 8 bits hold of 3.3 x 7.2");
    rows_free(&r);
    free(file);
}
