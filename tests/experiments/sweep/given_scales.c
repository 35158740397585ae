/* Studies of matrix products with scales from files: exact elements are computed from the
 * numbers in the files, and a study whose files have changed is refused. */
#include <criterion/criterion.h>

#include <math.h>

#include "experiments/sweep/resume.h"
#include "tests/support/joined_study.h"

enum { M = 3, N = 130, K = 260, OF_K = 3, OF_N = 2, MOST = K * N };

/* columns 0: one dimension, and rows 0 too: none. */
static void write_npy(const char *name, const char *descr, size_t width, size_t rows,
                      size_t columns, const void *from)
{
    char header[119], shape[64] = "";
    FILE *f = fopen(in_folder(name), "wb");
    cr_assert(f);
    if (columns > 0)
        snprintf(shape, sizeof shape, "%zu, %zu", rows, columns);
    else if (rows > 0)
        snprintf(shape, sizeof shape, "%zu,", rows);
    memset(header, ' ', sizeof header);
    int length = snprintf(header, sizeof header,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape);
    header[length] = ' ';
    header[117] = '\n';
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
    fwrite(header, 1, 118, f);
    const size_t count = (rows > 0 ? rows : 1) * (columns > 0 ? columns : 1);
    cr_assert_eq(fwrite(from, width, count, f), count);
    fclose(f);
}

/* --- a product: its bytes, and number i of a file of scales --- */

static unsigned char of_a(size_t i, size_t k)
{
    const size_t at = i * K + k;
    return (unsigned char)(at * 37 % 127 | (at % 3 == 0 ? 0x80 : 0));
}

static unsigned char of_b(size_t k, size_t j)
{
    const size_t at = k * N + j;
    return (unsigned char)(at * 53 % 127 | (at % 5 == 0 ? 0x80 : 0));
}

static float number(size_t i)
{
    return ldexpf(1 + (float)(i * 29 % 97) / 128, (int)(i % 7) - 3);
}

/* a.npy and b.npy, by rows, or by columns where that is asked for. */
static void write_matrices(bool a_column, bool b_column)
{
    static unsigned char a[M * K], b[K * N];
    for (size_t k = 0; k < K; k++) {
        for (size_t i = 0; i < M; i++)
            a[a_column ? k * M + i : i * K + k] = of_a(i, k);
        for (size_t j = 0; j < N; j++)
            b[b_column ? j * K + k : k * N + j] = of_b(k, j);
    }
    write_npy("a.npy", "|u1", 1, a_column ? K : M, a_column ? M : K, a);
    write_npy("b.npy", "|u1", 1, b_column ? N : K, b_column ? K : N, b);
}

/* Scales from number `first` on, by rows; where their matrix lies by columns, so do they. */
static void write_scales(const char *name, size_t first, size_t rows, size_t columns, bool column)
{
    static float x[MOST];
    const size_t r = rows > 0 ? rows : 1, c = columns > 0 ? columns : 1;
    cr_assert(r * c <= MOST);
    for (size_t i = 0; i < r; i++)
        for (size_t k = 0; k < c; k++)
            x[column ? k * r + i : i * c + k] = number(first + i * c + k);
    write_npy(name, "<f4", 4, column && columns > 0 ? columns : rows,
              column && columns > 0 ? rows : columns, x);
}

/* "FOLDER/NAME,FOLDER/OTHER". The caller frees it. */
static char *two(const char *name, const char *other)
{
    char *first = strdup(in_folder(name)), *both;
    cr_assert(asprintf(&both, "%s,%s", first, in_folder(other)) > 0);
    free(first);
    return both;
}

/* The product with scales of these names; NULL: without. */
static enum status resolve_files(struct study *s, const char *of_a, const char *of_b)
{
    char *data = two("a.npy", "b.npy"), *scales = of_a ? two(of_a, of_b) : NULL;
    enum status status = joined_resolve(s, (study_words){{"device", "cpu"},
                                                         {"data", data},
                                                         {"storage", "e4m3"},
                                                         {"accumulator", "fp32"},
                                                         {scales ? "scales" : NULL, scales},
                                                         {NULL}});
    free(data);
    free(scales);
    return status;
}

/* --- exact elements --- */

static const struct {
    size_t a[2], b[2]; /* lengths of the arrays */
    const char *shape;
    const char *exact;   /* element (0,0), and how far the fp32 nearest to an element is off, */
    const char *err_abs; /* at most: by Python's fractions */
} known[] = {{{1, 1}, {1, 1}, "0.125x13.875", "-0x1.1fe8d87df4p+15", "0.060614585876464844"},
             {{0, 0}, {1, 0}, "0.125x13.875", "-0x1.1fe8d87df4p+15", "0.060614585876464844"},
             {{M, 1}, {1, N}, "outer", "-0x1.1fe8d87df4p+15", "0.23731112480163574"},
             {{M, 0}, {N, 0}, "outer", "-0x1.1fe8d87df4p+15", "0.23731112480163574"},
             {{1, 1}, {1, N}, "outer", "-0x1.1fe8d87df4p+15", "0.020498275756835938"},
             {{M, OF_K}, {OF_K, OF_N}, "blocks", "0x1.ba58cf0d60558p+16", "1.9987981358863181"},
             {{M, OF_K}, {OF_K, N}, "blocks", "0x1.3abe83aa6263p+16", "1.4790494649787433"},
             {{M, 1}, {OF_K, OF_N}, "blocks", "0x1.db66c1e606ep+16", "0.12118954269681126"},
             {{M, OF_K}, {1, 1}, "blocks", "-0x1.21622e4c2e3p+18", "1.9583103563636541"}};
enum { KNOWN = sizeof known / sizeof *known };

/* Each of scales.csv is the number of its file that lies there. */
static void hold_scales(size_t i, const char *out, bool a_column, bool b_column)
{
    struct rows r = rows_of(out, "scales", scales_column, SCALES_COLUMNS);
    size_t covered[2] = {0, 0};
    for (size_t row = 0; row < r.count; row++) {
        const size_t side = *field_of(&r, row, SCALES_MATRIX) == 'B';
        size_t at[4];
        for (size_t c = 0; c < 4; c++)
            at[c] = strtoull(field_of(&r, row, SCALES_LINE + c), NULL, 10);
        const size_t lines = side ? N : M, *is = side ? known[i].b : known[i].a;
        const bool flat = is[1] == 0, k_first = side && !flat;
        const size_t along = flat ? 1 : is[!k_first], rest = flat ? is[0] : is[k_first];
        const size_t line = rest <= 1       ? 0
                            : rest == lines ? at[0]
                                            : at[0] / 128,
                     k = along <= 1 ? 0 : at[2] / 128;
        const size_t due = k_first ? k * rest + line : line * along + k;
        cr_expect_eq(strtof(field_of(&r, row, SCALES_SCALE_HEX), NULL), number(side * 1000 + due),
                     "%zu%s%s, %c %zu %zu: %s", i, a_column ? " t" : " n", b_column ? "t" : "n",
                     "AB"[side], at[0], at[2], field_of(&r, row, SCALES_SCALE_HEX));
        covered[side] += at[1] * at[3];
    }
    cr_expect(covered[0] == M * K && covered[1] == N * K);
    rows_free(&r);
}

/* However the files lie, the exact elements are those of A and B times their scales. */
Test(run_given_scales, exact_elements, .init = make_folder, .fini = remove_folder)
{
    size_t compared = 0, inexact = 0;
    for (size_t turn = 0; turn < 4 * KNOWN; turn++) {
        const size_t i = turn / 4;
        const bool a_column = turn & 1, b_column = turn & 2;
        char shape[128], asked[64];
        write_matrices(a_column, b_column);
        write_scales("of_a.npy", 0, known[i].a[0], known[i].a[1], a_column);
        write_scales("of_b.npy", 1000, known[i].b[0], known[i].b[1], b_column);
        snprintf(asked, sizeof asked, "3x130x260%s",
                 a_column   ? b_column ? ":tt" : ":tn"
                 : b_column ? ":nt"
                            : "");
        snprintf(shape, sizeof shape, "%s:scale=%s", asked, known[i].shape);
        char *data = two("a.npy", "b.npy"), *scales = two("of_a.npy", "of_b.npy");
        const char *out = in_folder("out");
        study_words words = {{"device", "cpu"},
                             {"data", data},
                             {"scales", scales},
                             {"storage", "e4m3"},
                             {"runs", "1"},
                             {"accumulator", "fp32"},
                             {turn % 4 ? "shape" : NULL, asked},
                             {NULL}};
        struct rows r = joined_run(words, out);
        cr_expect_eq(r.count, strstr(shape, "blocks") ? 3 : 8, "%zu: %zu", i, r.count);
        for (size_t k = 0; k < r.count; k++) {
            const double over = strtod(field_of(&r, k, RESULTS_ERR_OVER_BOUND), NULL);
            cr_expect_str_eq(case_field(&r, k, CASE_INPUT),
                             "a.npy x b.npy:scales=of_a.npy,of_b.npy");
            cr_expect_str_eq(case_field(&r, k, CASE_KEYS), shape);
            cr_expect_str_eq(field_of(&r, k, RESULTS_STATUS), "ok");
            cr_expect_str_eq(field_of(&r, k, RESULTS_EXACT_HEX), known[i].exact, "%s: %s", shape,
                             field_of(&r, k, RESULTS_EXACT_HEX));
            cr_expect(*field_of(&r, k, RESULTS_BOUND) && over <= 1, "%s %s: %g of its bound",
                      case_field(&r, k, CASE_METHOD), shape, over);
            inexact += over > 0;
            if (strcmp(case_field(&r, k, CASE_METHOD), "gemm/exact") != 0)
                continue;
            cr_expect_str_eq(field_of(&r, k, RESULTS_ERR_ABS), known[i].err_abs, "%s: %s", shape,
                             field_of(&r, k, RESULTS_ERR_ABS));
            compared++;
        }
        rows_free(&r);
        hold_scales(i, out, a_column, b_column);
        free(data);
        free(scales);
    }
    cr_expect(compared == 4 * KNOWN && inexact > 4 * KNOWN, "%zu, %zu inexact", compared, inexact);
}

/* Formats that fp32 has all numbers of, and one file for both. */
Test(run_given_scales, other_files, .init = make_folder, .fini = remove_folder)
{
    const uint16_t half[M] = {0x3c00, 0x0001, 0x7bff}; /* 1, 2^-24, 65504 */
    write_matrices(false, false);
    write_npy("half.npy", "<f2", 2, M, 1, half);
    write_scales("one.npy", 4, 0, 0, false);
    char *data = two("a.npy", "b.npy"), *mixed = two("half.npy", "one.npy"),
         *twice = two("one.npy", "one.npy");
    const char *out = in_folder("out");
    struct rows r = joined_run((study_words){{"device", "cpu"},
                                             {"method", "gemm/exact"},
                                             {"data", data},
                                             {"scales", mixed},
                                             {"storage", "e4m3,e5m2"},
                                             {"accumulator", "fp64"},
                                             {"runs", "1"},
                                             {NULL}},
                               out);
    cr_assert_eq(r.count, 2);
    cr_expect_str_eq(case_field(&r, 1, CASE_INPUT),
                     "a.npy x b.npy:scales=half.npy:from=fp16,one.npy");
    rows_free(&r);
    r = rows_of(out, "scales", scales_column, SCALES_COLUMNS);
    cr_assert_eq(r.count, 2 * (M + 1), "%zu", r.count);
    cr_expect_str_eq(field_of(&r, 1, SCALES_SCALE_HEX), "0x1p-24");
    cr_expect_str_eq(field_of(&r, 2, SCALES_SCALE_HEX), "0x1.ffcp+15");
    rows_free(&r);
    r = joined_run((study_words){{"device", "cpu"},
                                 {"method", "gemm/exact"},
                                 {"data", data},
                                 {"scales", twice},
                                 {"storage", "e4m3"},
                                 {"accumulator", "fp64"},
                                 {"runs", "1"},
                                 {NULL}},
                   out);
    cr_assert_eq(r.count, 1);
    cr_expect_str_eq(case_field(&r, 0, CASE_KEYS), "3x130x260:scale=2.296875x2.296875");
    rows_free(&r);
    free(data);
    free(mixed);
    free(twice);
}

/* --- what was recorded --- */

static enum status repeat(struct study *s, const char *out, struct problem *p)
{
    char path[400];
    json_t *study;
    *s = (struct study){0};
    snprintf(path, sizeof path, "%s/study.json", out);
    enum status status = study_read(&study, path, p);
    cr_assert_eq(status, STATUS_OK);
    const struct experiment *e = experiment_of("gemm");
    status = request_repeat(&s->request, e, json_object_get(study, "axes"), path, p);
    if (status == STATUS_OK)
        status = axes_resolve(&s->axes, e, &s->request, p);
    if (status == STATUS_OK)
        status = axes_join(&s->axes, p);
    if (status == STATUS_OK)
        status = plan_make(&s->plan, &s->axes, p);
    if (status == STATUS_OK)
        status = resume_inputs(&s->plan, study, path, false, p);
    json_decref(study);
    return status;
}

/* From study.json it is the same study, with nothing left to do; other scales are another. */
Test(run_given_scales, repeated, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        size_t a[2], b[2];
        const char *of_b;
    } are[] = {{{M, OF_K}, {OF_K, OF_N}, "of_b.npy"},
               {{M, 1}, {1, N}, "of_b.npy"},
               {{0, 0}, {0, 0}, "of_a.npy"}};
    for (size_t i = 0; i < sizeof are / sizeof *are; i++) {
        char *out = strdup(in_folder("out"));
        struct study s;
        write_matrices(false, false);
        write_scales("of_a.npy", 0, are[i].a[0], are[i].a[1], false);
        write_scales("of_b.npy", 9, are[i].b[0], are[i].b[1], false);
        char *data = two("a.npy", "b.npy"), *scales = two("of_a.npy", are[i].of_b);
        study_words words = {{"device", "cpu"},       {"method", "gemm/tiled"},
                             {"data", data},          {"scales", scales},
                             {"storage", "e4m3"},     {"runs", "1"},
                             {"accumulator", "fp32"}, {NULL}};
        struct rows r = joined_run(words, out);
        cr_assert_eq(r.count, 1);
        rows_free(&r);
        struct problem p = {0};
        cr_assert_eq(repeat(&s, out, &p), STATUS_OK, "%s", p.text);
        cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
        cr_expect(s.outcome.runs == 0 && s.outcome.finished == 1);
        study_free(&s);
        /* One number of the last file is another. */
        write_scales(are[i].of_b, 10, are[i].b[0], are[i].b[1], false);
        p = (struct problem){0};
        if (i < 2) {
            cr_expect_eq(repeat(&s, out, &p), STATUS_DATA);
            cr_expect(strstr(p.text, "found other elements or scales than"), "%s", p.text);
        } else { /* the shape names them */
            cr_expect_eq(repeat(&s, out, &p), STATUS_USAGE);
            cr_expect(strstr(p.text, "with --scales, which are others"), "%s", p.text);
        }
        study_free(&s);
        free(out);
        free(data);
        free(scales);
    }
}

/* A study without them has no word of them, and they are hashed with the elements. */
Test(run_given_scales, hashed, .init = make_folder, .fini = remove_folder)
{
    struct study plain, scaled, others;
    float ones[M] = {1, 1, 1};
    write_matrices(false, false);
    write_npy("one.npy", "<f4", 4, 1, 0, ones);
    write_npy("rows.npy", "<f4", 4, M, 1, ones);
    cr_assert_eq(resolve_files(&plain, NULL, NULL), STATUS_OK);
    cr_assert_eq(resolve_files(&scaled, "one.npy", "one.npy"), STATUS_OK);
    cr_assert_eq(resolve_files(&others, "rows.npy", "one.npy"), STATUS_OK);
    json_t *without = axes_json(&plain.axes), *with = axes_json(&scaled.axes);
    cr_expect(!json_object_get(without, "scales"));
    cr_expect_eq(json_array_size(json_object_get(with, "scales")), 2);
    cr_expect_str_neq(plain.plan.source[0].hash, scaled.plan.source[0].hash);
    cr_expect_str_neq(others.plan.source[0].hash, scaled.plan.source[0].hash);
    cr_expect_str_eq(plain.plan.source[0].name, "a.npy x b.npy");
    json_decref(without);
    json_decref(with);
    study_free(&plain);
    study_free(&scaled);
    study_free(&others);
}

/* --- what is refused --- */

static void hold(enum status due, enum status status, struct study *s, const char *says)
{
    cr_expect_eq(status, due, "%d: %s", (int)status, s->problem.text);
    cr_expect(strstr(s->problem.text, says), "%s", s->problem.text);
    cr_expect(!strchr(s->problem.text, '\n'));
    study_free(s);
}

static void refuse(enum status due, study_words words, const char *says)
{
    struct study s;
    const enum status status = joined_resolve(&s, words);
    hold(due, status, &s, says);
}

static void refuse_files(const char *a, const char *b, const char *says)
{
    struct study s;
    const enum status status = resolve_files(&s, a, b);
    hold(STATUS_DATA, status, &s, says);
}

/* Files of another type or shape, and numbers that are no scales. */
Test(run_given_scales, files_that_are_none, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        float x;
        const char *says;
    } none[] = {{NAN, "bad.npy: found scale (0,7), of B, to be nan"},
                {-1, "to be -1, expected a finite number above 0"},
                {0, "to be 0, expected"},
                {-0.0f, "to be -0, expected"},
                {INFINITY, "to be inf, expected"}};
    static float x[N];
    static const double wide[M] = {1, 1, 1};
    static const int32_t whole[M] = {1, 1, 1};
    write_matrices(false, false);
    write_scales("rows.npy", 0, M, 1, false);
    write_scales("columns.npy", 0, 1, N, false);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        for (size_t k = 0; k < N; k++)
            x[k] = k == 7 ? none[i].x : 0x1p-149f;
        write_npy("bad.npy", "<f4", 4, 1, N, x);
        refuse_files("rows.npy", "bad.npy", none[i].says);
    }
    x[7] = 3.4028235e38f; /* as those of 2^-149, it is one */
    write_npy("bad.npy", "<f4", 4, 1, N, x);
    struct study s;
    cr_expect_eq(resolve_files(&s, "rows.npy", "bad.npy"), STATUS_OK, "%s", s.problem.text);
    study_free(&s);
    refuse_files("columns.npy", "columns.npy",
                 "columns.npy: found 1 x 130 scales for A of 3 x 260, expected 1 number, 3 x 1 "
                 "(one per row), 3 x 3 (one per 128 along k) or 1 x 3 (one per 128 x 128)");
    refuse_files("rows.npy", "rows.npy",
                 "rows.npy: found 3 x 1 scales for B of 260 x 130, expected 1 number, 1 x 130 (one "
                 "per column), 3 x 130 (one per 128 along k) or 3 x 2 (one per 128 x 128)");
    write_npy("flat.npy", "<f4", 4, OF_N, 0, x);
    refuse_files("rows.npy", "flat.npy", "flat.npy: found 2 scales for B");
    write_npy("wide.npy", "<f8", 8, M, 1, wide);
    refuse_files("wide.npy", "columns.npy",
                 "wide.npy: found scales of fp64, expected fp32, fp16 or bf16");
    write_npy("whole.npy", "<i4", 4, M, 1, whole);
    refuse_files("whole.npy", "columns.npy", "whole.npy: found dtype '<i4', expected");
    write_npy("bytes.npy", "|u1", 1, M, 1, whole);
    refuse_files("bytes.npy", "columns.npy", "found dtype '|u1', bytes of no type");
    refuse_files("none.npy", "columns.npy", "none.npy: could not be opened");
}

/* What stands beside them: no matrices of 8 bits, other scales, methods that cannot. */
Test(run_given_scales, words_that_do_not_fit, .init = make_folder, .fini = remove_folder)
{
    static float x[MOST];
    write_matrices(false, false);
    write_scales("rows.npy", 0, M, 1, false);
    write_scales("columns.npy", 0, 1, N, false);
    write_scales("of_a.npy", 0, M, OF_K, false);
    write_scales("of_b.npy", 0, OF_K, OF_N, false);
    write_npy("wide_a.npy", "<f4", 4, M, K, x);
    write_npy("wide_b.npy", "<f4", 4, K, N, x);
    char *data = two("a.npy", "b.npy"), *wide = two("wide_a.npy", "wide_b.npy"),
         *outer = two("rows.npy", "columns.npy"), *blocks = two("of_a.npy", "of_b.npy"),
         *one = strdup(in_folder("rows.npy")), *a = strdup(in_folder("a.npy"));
#define CPU {"device", "cpu"}, {"storage", "e4m3"}
    refuse(STATUS_USAGE, (study_words){CPU, {"data", data}, {"scales", one}, {NULL}},
           "option --scales: found 1 file, expected two");
    refuse(STATUS_USAGE, (study_words){CPU, {"data", a}, {"scales", outer}, {NULL}},
           "with 0 shapes of one --data, expected one --shape MxNxK");
    refuse(STATUS_USAGE, (study_words){CPU, {"shape", "3x130x260"}, {"scales", outer}, {NULL}},
           "without --data, expected --data A.npy --data B.npy");
    refuse(STATUS_USAGE,
           (study_words){CPU, {"input", "uniform"}, {"data", data}, {"scales", outer}, {NULL}},
           "with --input beside --data, expected");
    refuse(STATUS_USAGE,
           (study_words){CPU, {"convert", "yes"}, {"data", wide}, {"scales", outer}, {NULL}},
           "option --convert: found it with --scales, and wide_a.npy");
    refuse(STATUS_DATA, (study_words){{"device", "cpu"}, {"data", wide}, {"scales", outer}, {NULL}},
           "wide_a.npy: found elements of fp32, expected e4m3 or e5m2");
    refuse(STATUS_USAGE,
           (study_words){
               CPU, {"data", data}, {"scales", outer}, {"shape", "3x130x260:scale=blocks"}, {NULL}},
           "found '3x130x260:scale=blocks' with --scales, which are others, expected "
           "'3x130x260:scale=outer'");
    refuse(STATUS_USAGE,
           (study_words){
               CPU, {"data", data}, {"scales", outer}, {"shape", "3x130x260:scale=auto"}, {NULL}},
           "which are others");
    refuse(
        STATUS_USAGE,
        (study_words){CPU, {"data", data}, {"scales", blocks}, {"method", "gemm/serial"}, {NULL}},
        "gemm/serial, which adds up all products before it scales them");
    refuse(STATUS_USAGE,
           (study_words){CPU, {"data", data}, {"scales", blocks}, {"promote", "96"}, {NULL}},
           "option --promote: found 96");
    struct study s = {0};
    ask(&s.request, (study_words){{"device", "cpu"}, {"scales", one}, {NULL}});
    cr_expect_eq(axes_resolve(&s.axes, experiment_of("accuracy"), &s.request, &s.problem),
                 STATUS_USAGE);
    cr_expect(strstr(s.problem.text, "accuracy, which runs no matrix products"), "%s",
              s.problem.text);
    study_free(&s);
    free(data), free(wide), free(outer), free(blocks), free(one), free(a);
}
