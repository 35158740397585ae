/* Studies of matrix products with scales made from the data, and of A and B from files of their
 * own: rows are computed again from scales.csv and the files. */
#include <criterion/criterion.h>

#include <math.h>

#include "reference/format/number.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"
#include "tests/support/joined_study.h"

enum { BLOCK = 128 };

static struct rows scales_rows(const char *out)
{
    return rows_of(out, "scales", scales_column, SCALES_COLUMNS);
}

static bool exists(const char *out, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", out, name);
    return access(path, F_OK) == 0;
}

/* Methods that nobody named are those that can; each row is within its bound, of a product whose
 * shape says how it is scaled. */
Test(run_scales, rows_within_their_bounds, .init = make_folder, .fini = remove_folder)
{
    static study_words asked = {{"device", "cpu"},
                                {"input", "symmetric,normal"},
                                {"shape", "3x4x300:scale=outer,3x2x300:scale=blocks,2x130x129:nt:"
                                          "mixed:pad=1:scale=blocks,4x2x130:c=0:scale=outer,"
                                          "3x2x300:scale=auto"},
                                {"storage", "e4m3,e5m2"},
                                {"accumulator", "fp16,fp32,fp64"},
                                {"promote", "32,128"},
                                {"output", "accumulator,storage"},
                                {"runs", "1"},
                                {NULL}};
    const char *out = in_folder("out");
    size_t of[3] = {0}, blocks = 0, inexact = 0, promoted = 0;
    struct rows r = joined_run(asked, out);
    for (size_t i = 0; i < r.count; i++) {
        const char *name = case_field(&r, i, CASE_METHOD), *shape = case_field(&r, i, CASE_KEYS);
        cr_expect(strstr(shape, ":scale="), "%s", shape);
        if (strcmp(field_of(&r, i, RESULTS_STATUS), "ok") != 0)
            continue;
        const double over = strtod(field_of(&r, i, RESULTS_ERR_OVER_BOUND), NULL);
        cr_expect(*field_of(&r, i, RESULTS_BOUND) && over <= 1, "%s, %s: %g of its bound", name,
                  shape, over);
        const bool of_blocks = strstr(shape, "blocks");
        of[0] += strcmp(name, "gemm/exact") == 0 && of_blocks;
        of[1] += strcmp(name, "gemm/tiled") == 0 && of_blocks;
        of[2] += strcmp(name, "gemm/serial") == 0 && strstr(shape, "outer");
        promoted += strcmp(name, "gemm/promoted") == 0 && of_blocks;
        blocks += of_blocks;
        inexact += over > 0;
    }
    cr_expect(of[0] > 10 && of[1] > 10 && of[2] > 10 && promoted > 10 && inexact > 100 &&
                  blocks == of[0] + of[1] + promoted,
              "%zu %zu %zu, %zu promoted, %zu inexact, %zu of blocks", of[0], of[1], of[2],
              promoted, inexact, blocks);
    rows_free(&r);
}

static float element(size_t i, uint64_t *seed)
{
    return ldexpf((float)(sample_next(seed) % 20001) - 10000, (int)(i / 50 % 9) - 20);
}

/* The scale of element k, 0 <= line: the row of scales.csv that covers it. */
static float scale_in(const struct rows *r, const char *shape, char matrix, size_t line, size_t k,
                      size_t *used)
{
    float scale = 0;
    for (size_t i = 0; i < r->count; i++) {
        const size_t first = strtoull(field_of(r, i, SCALES_LINE), NULL, 10),
                     lines = strtoull(field_of(r, i, SCALES_LINES), NULL, 10),
                     begin = strtoull(field_of(r, i, SCALES_FIRST_K), NULL, 10),
                     terms = strtoull(field_of(r, i, SCALES_TERMS), NULL, 10);
        if (*field_of(r, i, SCALES_MATRIX) != matrix || line < first || line >= first + lines ||
            k < begin || k >= begin + terms || strcmp(field_of(r, i, SCALES_SHAPE), shape) != 0)
            continue;
        cr_assert_eq(scale, 0, "two scales of %c %zu %zu", matrix, line, k);
        scale = strtof(field_of(r, i, SCALES_SCALE_HEX), NULL);
        cr_expect_eq(strtof(field_of(r, i, SCALES_SCALE), NULL), scale);
        ++*used;
    }
    cr_assert(scale > 0, "no scale of %c %zu %zu", matrix, line, k);
    return scale;
}

/* The file's numbers and scales.csv give the exact element of each row, bit by bit, and the row's
 * bits. */
Test(run_scales, rows_are_recomputed, .init = make_folder, .fini = remove_folder)
{
    enum { M = 2, N = 2, K = 300 };
    static const char *const shapes[] = {"2x2x300:c=0:scale=auto", "2x2x300:c=0:scale=outer",
                                         "2x2x300:c=0:scale=blocks"};
    static float x[M * K + K * N];
    uint64_t seed = 9;
    size_t used = 0;
    for (size_t i = 0; i < M * K + K * N; i++)
        x[i] = element(i, &seed);
    char *file = strdup(in_folder("x.npy"));
    study_words asked = {{"device", "cpu"},
                         {"method", "gemm/exact"},
                         {"data", file},
                         {"convert", "yes"},
                         {"shape", "2x2x300:c=0:scale=auto,2x2x300:c=0:scale=outer,2x2x300:c=0:"
                                   "scale=blocks"},
                         {"storage", "e4m3"},
                         {"accumulator", "fp64"},
                         {"runs", "1"},
                         {NULL}};
    cr_assert(data_write_npy(file, &(struct array){FP32, M * K + K * N, x}, NULL) == STATUS_OK);
    const char *out = in_folder("out");
    struct rows r = joined_run(asked, out), scales = scales_rows(out);
    cr_assert_eq(r.count, 3);
    cr_expect_eq(scales.count, 2 + (M + N) + (M * 3 + 3), "%zu", scales.count);
    for (size_t s = 0; s < 3; s++) {
        mpfr_t sum, term;
        mpfr_inits2(2000, sum, term, (mpfr_ptr)0);
        mpfr_set_zero(sum, 1);
        cr_expect_str_eq(case_field(&r, s, CASE_KEYS), shapes[s]);
        for (size_t k = 0; k < K; k++) { /* element (0,0) is what `exact` is of */
            const float of_a = scale_in(&scales, shapes[s], 'A', 0, k, &used),
                        of_b = scale_in(&scales, shapes[s], 'B', 0, k, &used);
            const volatile float a = x[k] / of_a, b = x[M * K + k * N] / of_b;
            mpfr_set_d(term, format_round(E4M3, fmin(fmax((double)a, -448), 448)), MPFR_RNDN);
            mpfr_mul_d(term, term, (double)of_a, MPFR_RNDN);
            mpfr_mul_d(term, term, format_round(E4M3, fmin(fmax((double)b, -448), 448)), MPFR_RNDN);
            mpfr_mul_d(term, term, (double)of_b, MPFR_RNDN);
            mpfr_add(sum, sum, term, MPFR_RNDN);
        }
        const double due = oracle_round(FP64, sum);
        cr_expect_eq(strtod(field_of(&r, s, RESULTS_EXACT), NULL), due, "%s: %s, due %.17g",
                     shapes[s], field_of(&r, s, RESULTS_EXACT), due);
        char *hex = number_hex_mpfr(sum);
        cr_expect_str_eq(field_of(&r, s, RESULTS_EXACT_HEX), hex);
        free(hex);
        mpfr_clears(sum, term, (mpfr_ptr)0);
    }
    cr_expect_eq(used, 3 * 2 * K);
    rows_free(&r);
    rows_free(&scales);
    free(file);
}

/* scales.csv is there where scales were made alone, also of generated inputs, and goes with what it
 * was made of. */
Test(run_scales, file_where_it_is_due, .init = make_folder, .fini = remove_folder)
{
    static study_words made = {{"device", "cpu"},
                               {"method", "gemm/exact,gemm/tiled"},
                               {"input", "normal"},
                               {"seed", "1,2"},
                               {"shape", "3x4x5:scale=outer"},
                               {"storage", "e4m3,e5m2"},
                               {"accumulator", "fp32"},
                               {"runs", "1"},
                               {NULL}};
    static study_words given = {{"device", "cpu"},   {"method", "gemm/tiled"},
                                {"input", "normal"}, {"shape", "3x4x5:scale=2x3"},
                                {"storage", "e4m3"}, {"accumulator", "fp32"},
                                {"runs", "1"},       {NULL}};
    const char *out = in_folder("out");
    struct rows r = joined_run(made, out), scales = scales_rows(out);
    cr_expect_eq(scales.count, 2 * 2 * 7, "%zu", scales.count);
    size_t first = 0;
    for (size_t i = 0; i < scales.count; i++) {
        const char *seed = field_of(&scales, i, SCALES_SEED);
        first += strcmp(seed, "1") == 0;
        cr_expect_str_eq(field_of(&scales, i, SCALES_INPUT), "normal");
        cr_expect_str_eq(field_of(&scales, i, SCALES_SHAPE), "3x4x5:scale=outer");
        cr_expect_str_eq(field_of(&scales, i, SCALES_N), "47");
    }
    cr_expect_eq(first, 2 * 7);
    rows_free(&scales);
    rows_free(&r);
    r = joined_run(given, out);
    cr_expect(!exists(out, "scales.csv"));
    rows_free(&r);
}

/* Which rows of A, columns of B and k each scale of blocks is of, in order. */
Test(run_scales, places_of_blocks, .init = make_folder, .fini = remove_folder)
{
    static study_words words = {{"device", "cpu"},   {"method", "gemm/exact"},
                                {"input", "normal"}, {"shape", "2x258x130:scale=blocks"},
                                {"storage", "e4m3"}, {"accumulator", "fp32"},
                                {"runs", "1"},       {NULL}};
    static const char *const due[][5] = {
        {"A", "0", "1", "0", "128"},     {"A", "0", "1", "128", "2"},
        {"A", "1", "1", "0", "128"},     {"A", "1", "1", "128", "2"},
        {"B", "0", "128", "0", "128"},   {"B", "0", "128", "128", "2"},
        {"B", "128", "128", "0", "128"}, {"B", "128", "128", "128", "2"},
        {"B", "256", "2", "0", "128"},   {"B", "256", "2", "128", "2"}};
    const char *out = in_folder("out");
    struct rows r = joined_run(words, out), scales = scales_rows(out);
    cr_assert_eq(scales.count, sizeof due / sizeof *due, "%zu", scales.count);
    for (size_t i = 0; i < scales.count; i++)
        for (size_t c = 0; c < 5; c++)
            cr_expect_str_eq(field_of(&scales, i, SCALES_MATRIX + c), due[i][c]);
    rows_free(&r);
    rows_free(&scales);
}

static void refuse(study_words words, const char *says)
{
    struct study s;
    cr_expect_eq(joined_resolve(&s, words), STATUS_USAGE);
    cr_expect(strstr(s.problem.text, says), "%s", s.problem.text);
    cr_expect(!strchr(s.problem.text, '\n'));
    study_free(&s);
}

/* What cannot scale along k, and what promotes across scales, is refused in a line. */
Test(run_scales, what_cannot_is_refused)
{
    refuse((study_words){{"method", "gemm/tiled,gemm/serial"},
                         {"shape", "4x4x256:scale=blocks"},
                         {"device", "cpu"},
                         {NULL}},
           "gemm/serial, which adds up all products before it scales them, expected one of "
           "gemm/tiled, gemm/exact, gemm/promoted");
    refuse(
        (study_words){
            {"method", "gemm/wgmma"}, {"shape", "4x4x256:scale=blocks"}, {"device", "cpu"}, {NULL}},
        "gemm/wgmma");
    refuse(
        (study_words){
            {"promote", "128,48"}, {"shape", "4x4x256:scale=blocks"}, {"device", "cpu"}, {NULL}},
        "option --promote: found 48");
    struct study s;
    cr_expect_eq(joined_resolve(&s, (study_words){{"promote", "128,48"},
                                                  {"method", "gemm/tiled"},
                                                  {"shape", "4x4x256:scale=blocks"},
                                                  {"storage", "e4m3"},
                                                  {"device", "cpu"},
                                                  {NULL}}),
                 STATUS_OK, "%s", s.problem.text);
    study_free(&s);
}

/* --- A and B from files of their own --- */

static char *write_matrix(const char *name, size_t rows, size_t columns, const float *from)
{
    char header[119];
    char *path = strdup(in_folder(name));
    FILE *f = fopen(path, "wb");
    cr_assert(f);
    memset(header, ' ', sizeof header);
    int length =
        snprintf(header, sizeof header,
                 "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu), }", rows, columns);
    header[length] = ' ';
    header[117] = '\n';
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
    fwrite(header, 1, 118, f);
    cr_assert_eq(fwrite(from, sizeof *from, rows * columns, f), rows * columns);
    fclose(f);
    return path;
}

enum { ROWS = 3, COLUMNS = 2, K = 150, OF_A = ROWS * K, OF_B = K * COLUMNS };
static float both[OF_A + OF_B];

static void fill_both(void)
{
    uint64_t seed = 4;
    for (size_t i = 0; i < OF_A + OF_B; i++)
        both[i] = element(i, &seed);
}

/* They are one product, with the bits and scales of the same numbers in one file; the files say the
 * shape. */
Test(run_scales, two_files_are_one_product, .init = make_folder, .fini = remove_folder)
{
    fill_both();
    char *a = write_matrix("a.npy", ROWS, K, both),
         *b = write_matrix("b.npy", K, COLUMNS, both + OF_A);
    char *one = write_matrix("one.npy", 1, OF_A + OF_B, both), *two;
    static const char *const shapes[] = {"3x2x150", "3x2x150:scale=outer", "3x2x150:scale=blocks"};
    cr_assert(asprintf(&two, "%s,%s", a, b) > 0);
    for (size_t i = 0; i < 3; i++) {
        const char *out = in_folder("out");
        char *apart = strdup(in_folder("apart"));
        /* Without scales the files say the shape. */
        study_words joined = {{"device", "cpu"},
                              {"method", "gemm/tiled,gemm/exact,gemm/promoted"},
                              {"data", two},
                              {"convert", "yes"},
                              {"storage", i == 1 ? "e4m3,e5m2" : "e4m3"},
                              {"accumulator", "fp32"},
                              {"runs", "1"},
                              {i == 0 ? NULL : "shape", shapes[i]},
                              {NULL}};
        study_words whole = {{"device", "cpu"},
                             {"method", "gemm/tiled,gemm/exact,gemm/promoted"},
                             {"data", one},
                             {"convert", "yes"},
                             {"storage", i == 1 ? "e4m3,e5m2" : "e4m3"},
                             {"accumulator", "fp32"},
                             {"runs", "1"},
                             {"shape", shapes[i]},
                             {NULL}};
        struct rows r = joined_run(joined, out), due = joined_run(whole, apart);
        cr_assert_eq(r.count, i == 1 ? 6 : 3);
        cr_assert_eq(due.count, r.count);
        for (size_t k = 0; k < r.count; k++) {
            static const size_t same[] = {RESULTS_RESULT_BITS, RESULTS_EXACT_HEX, RESULTS_BOUND,
                                          RESULTS_ERR_ABS};
            cr_expect_str_eq(field_of(&r, k, RESULTS_STATUS), "ok");
            cr_expect_str_eq(case_field(&r, k, CASE_KEYS), shapes[i]);
            cr_expect_str_eq(case_field(&r, k, CASE_INPUT), "a.npy:from=fp32 x b.npy:from=fp32");
            for (size_t c = 0; c < sizeof same / sizeof *same; c++)
                cr_expect_str_eq(field_of(&r, k, same[c]), field_of(&due, k, same[c]));
        }
        if (i > 0) {
            struct rows found = scales_rows(out), expected = scales_rows(apart);
            cr_assert_eq(found.count, expected.count);
            for (size_t k = 0; k < found.count; k++)
                cr_expect_str_eq(field_of(&found, k, SCALES_SCALE_HEX),
                                 field_of(&expected, k, SCALES_SCALE_HEX));
            rows_free(&found);
            rows_free(&expected);
        }
        rows_free(&r);
        rows_free(&due);
        free(apart);
    }
    free(a), free(b), free(one), free(two);
}

/* Repeated from study.json, they are the same study: nothing is left to do. */
Test(run_scales, two_files_are_repeated, .init = make_folder, .fini = remove_folder)
{
    fill_both();
    char *a = write_matrix("a.npy", ROWS, K, both),
         *b = write_matrix("b.npy", K, COLUMNS, both + OF_A);
    char *two, path[400];
    cr_assert(asprintf(&two, "%s,%s", a, b) > 0);
    study_words words = {{"device", "cpu"}, {"method", "gemm/tiled"},
                         {"data", two},     {"accumulator", "fp32"},
                         {"runs", "1"},     {NULL}};
    const char *out = in_folder("out");
    struct rows r = joined_run(words, out);
    cr_expect_eq(r.count, 1);
    rows_free(&r);
    json_t *study;
    struct problem p = {0};
    struct study s = {0};
    snprintf(path, sizeof path, "%s/study.json", out);
    cr_assert(study_read(&study, path, &p) == STATUS_OK, "%s", p.text);
    cr_assert(request_repeat(&s.request, experiment_of("gemm"), json_object_get(study, "axes"),
                             path, &p) == STATUS_OK,
              "%s", p.text);
    cr_assert(axes_resolve(&s.axes, experiment_of("gemm"), &s.request, &p) == STATUS_OK &&
                  axes_join(&s.axes, &p) == STATUS_OK &&
                  plan_make(&s.plan, &s.axes, &p) == STATUS_OK,
              "%s", p.text);
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    cr_expect(s.outcome.runs == 0 && s.outcome.finished == 1, "%llu runs",
              (unsigned long long)s.outcome.runs);
    json_decref(study);
    study_free(&s);
    free(a), free(b), free(two);
}

/* A, B and C in one file have scales from files too: the sums are exact in double. */
Test(run_scales, one_file_with_scales, .init = make_folder, .fini = remove_folder)
{
    enum { IN_ONE = OF_A + OF_B + ROWS * COLUMNS };
    static unsigned char bytes[IN_ONE];
    static float of_a[ROWS] = {0.5f, 4, 1}, of_b[COLUMNS] = {3, 0.25f};
    const struct array all = {E4M3, IN_ONE, bytes};
    char *one = strdup(in_folder("one.npy")), *a = strdup(in_folder("of_a.npy")),
         *b = strdup(in_folder("of_b.npy")), *scales;
    double due = 0;
    cr_assert(asprintf(&scales, "%s,%s", a, b) > 0);
    for (size_t i = 0; i < IN_ONE; i++)
        bytes[i] = (unsigned char)(i * 29 % 100 | (i % 3 ? 0 : 0x80));
    for (size_t k = 0; k < K; k++)
        due += array_get(&all, k) * 0.5 * array_get(&all, OF_A + k * COLUMNS) * 3;
    cr_assert(data_write_npy(one, &all, NULL) == STATUS_OK &&
              data_write_npy(a, &(struct array){FP32, ROWS, of_a}, NULL) == STATUS_OK &&
              data_write_npy(b, &(struct array){FP32, COLUMNS, of_b}, NULL) == STATUS_OK);
    for (size_t no_c = 0; no_c < 2; no_c++) {
        struct rows r = joined_run((study_words){{"device", "cpu"},
                                                 {"method", "gemm/exact"},
                                                 {"data", one},
                                                 {"scales", scales},
                                                 {"storage", "e4m3"},
                                                 {"accumulator", "fp64"},
                                                 {"runs", "1"},
                                                 {"shape", no_c ? "3x2x150:c=0" : "3x2x150"},
                                                 {NULL}},
                                   in_folder("out"));
        cr_assert_eq(r.count, 1);
        cr_expect_str_eq(case_field(&r, 0, CASE_INPUT), "one.npy:scales=of_a.npy,of_b.npy");
        cr_expect_eq(strtod(field_of(&r, 0, RESULTS_EXACT), NULL),
                     due + (no_c ? 0 : array_get(&all, OF_A + OF_B)), "%s",
                     field_of(&r, 0, RESULTS_EXACT));
        rows_free(&r);
    }
    free(one), free(a), free(b), free(scales);
}

/* What is no product is refused, as by recommend. */
Test(run_scales, files_that_are_none, .init = make_folder, .fini = remove_folder)
{
    fill_both();
    char *a = write_matrix("a.npy", ROWS, K, both), *b = write_matrix("b.npy", COLUMNS, K, both);
    char *two, *three;
    struct study s;
    cr_assert(asprintf(&two, "%s,%s", a, b) > 0 && asprintf(&three, "%s,%s,%s", a, b, b) > 0);
    cr_expect_eq(joined_resolve(&s, (study_words){{"data", two}, {"device", "cpu"}, {NULL}}),
                 STATUS_DATA);
    cr_expect(strstr(s.problem.text, "a.npy x b.npy: found matrices of 3 x 150 and 2 x 150") &&
                  strstr(s.problem.text, "if B lies by columns, add --shape 3x2x150:nt"),
              "%s", s.problem.text);
    study_free(&s);
    refuse((study_words){{"data", three}, {"device", "cpu"}, {NULL}},
           "found 3 arrays, expected two");
    refuse((study_words){{"data", two}, {"shape", "3x2x151:nt"}, {"device", "cpu"}, {NULL}},
           "found 3x2x151:nt with a.npy of 450 and b.npy of 300 elements");
    cr_expect_eq(joined_resolve(&s, (study_words){{"data", two},
                                                  {"shape", "3x2x150:nt"},
                                                  {"method", "gemm/tiled"},
                                                  {"device", "cpu"},
                                                  {NULL}}),
                 STATUS_OK, "%s", s.problem.text);
    study_free(&s);
    free(a), free(b), free(two), free(three);
}
