/* recommend --operation gemm on 8-bit matrices whose scales are in files: D is what these make it,
 * also where a part is tried. */
#include <math.h>

#include "experiments/data/data.h"
#include "tests/support/recommends.h"

enum { SIDE = 192, LONG = 2048, OF_LONG = LONG / 128, OF_SIDE = 2, ONE = 0x38 };

/* A is 1 in its first and last column, B in its first and last row: D[i][j] is the sum of two
 * products of scales. */
static void write_matrices(void)
{
    static uint8_t a[SIDE * LONG], b[LONG * SIDE];
    for (size_t i = 0; i < SIDE; i++)
        a[i * LONG] = a[i * LONG + LONG - 1] = b[i] = b[(LONG - 1) * SIDE + i] = ONE;
    const struct array of_a = {E4M3, SIDE * LONG, a}, of_b = {E4M3, LONG * SIDE, b};
    cr_assert(data_write_npy_rows(in_folder("a.npy"), &of_a, SIDE, NULL) == STATUS_OK);
    cr_assert(data_write_npy_rows(in_folder("b.npy"), &of_b, LONG, NULL) == STATUS_OK);
}

static float scale(size_t i)
{
    return 1 + (float)(i * 37 % 4096) / 4096;
}

static void write_scales(const char *name, size_t rows, size_t columns, size_t first)
{
    static float x[SIDE * OF_LONG];
    cr_assert(rows * columns <= SIDE * OF_LONG);
    for (size_t i = 0; i < rows * columns; i++)
        x[i] = scale(first + i);
    cr_assert(data_write_npy_rows(in_folder(name), &(struct array){FP32, rows * columns, x}, rows,
                                  NULL) == STATUS_OK);
}

/* Of block k (0, or the last) in a row of A, and a column of B, which are both scaled along k, or
 * neither is. */
static double product_of(bool blocks, size_t row, size_t column, size_t k)
{
    return blocks
               ? (double)scale(row * OF_LONG + k) * (double)scale(9000 + k * OF_SIDE + column / 128)
               : (double)scale(row) * (double)scale(9000 + column);
}

static double element(bool blocks, size_t row, size_t column)
{
    return product_of(blocks, row, column, 0) + product_of(blocks, row, column, OF_LONG - 1);
}

static json_t *ask_scaled(enum status due, const char *rest)
{
    char line[1000], path[4][128];
    static const char *const name[] = {"a.npy", "b.npy", "of_a.npy", "of_b.npy"};
    for (size_t i = 0; i < 4; i++)
        snprintf(path[i], sizeof path[i], "%s", in_folder(name[i]));
    snprintf(line, sizeof line,
             "--operation gemm --storage e4m3 --data %s --data %s --scales %s --scales %s "
             "--tolerance 1e-30 --no-adversarial --seconds 2 --force %s",
             path[0], path[1], path[2], path[3], rest);
    return recommend_line(due, line);
}

/* The array that breaks the next one is a product with the scales beside it. */
static void run_again(const char *shape, double due)
{
    struct study s = {0};
    char *file = strdup(in_folder("out/breaks.npy")), *a = strdup(in_folder("out/scales-a.npy")),
         *scales;
    cr_assert(asprintf(&scales, "%s,%s", a, in_folder("out/scales-b.npy")) > 0);
    ask(&s.request, (study_words){{"device", "cpu"},
                                  {"method", "gemm/exact"},
                                  {"data", file},
                                  {"scales", scales},
                                  {"shape", shape},
                                  {"storage", "e4m3"},
                                  {"accumulator", "fp64"},
                                  {"runs", "1"},
                                  {NULL}});
    cr_assert(axes_resolve(&s.axes, experiment_of("gemm"), &s.request, &s.problem) == STATUS_OK &&
                  axes_join(&s.axes, &s.problem) == STATUS_OK &&
                  plan_make(&s.plan, &s.axes, &s.problem) == STATUS_OK,
              "%s", s.problem.text);
    const char *out = in_folder("again");
    cr_assert_eq(study_sweep(&s, out, true), STATUS_OK, "%s", s.problem.text);
    struct rows r = rows_of(out, "results", results_column_of(COLUMNS_OF_PRODUCTS),
                            results_columns(COLUMNS_OF_PRODUCTS));
    cr_assert_eq(r.count, 1);
    cr_expect_eq(strtod(field_of(&r, 0, RESULTS_EXACT), NULL), due, "%s, due %.17g",
                 field_of(&r, 0, RESULTS_EXACT), due);
    rows_free(&r);
    study_free(&s);
    free(file), free(a), free(scales);
}

Test(recommend_scales, of_the_part_that_is_tried, .init = make_folder, .fini = remove_folder)
{
    write_matrices();
    for (int blocks = 0; blocks < 2; blocks++) {
        write_scales("of_a.npy", SIDE, blocks ? OF_LONG : 1, 0);
        write_scales("of_b.npy", blocks ? OF_LONG : 1, blocks ? OF_SIDE : SIDE, 9000);
        json_t *answer = ask_scaled(STATUS_OK, "");
        const json_t *best = json_object_get(answer, "recommended"),
                     *bf16 = candidate_of(answer, "gemm/exact", "bf16"),
                     *broken = json_object_get(bf16, "broken_by");
        cr_expect(strstr(word_of(best, "part_of"), blocks ? ":scale=blocks" : ":scale=outer"));
        cr_assert(json_is_integer(json_object_get(broken, "row")) &&
                  json_is_integer(json_object_get(broken, "column")));
        const size_t row = (size_t)number_of(broken, "row"),
                     column = (size_t)number_of(broken, "column");
        cr_expect_eq(number_of(broken, "exact"), element(blocks, row, column),
                     "%.17g at %zu, %zu, due %.17g", number_of(broken, "exact"), row, column,
                     element(blocks, row, column));
        for (size_t i = 0; i < json_array_size(json_object_get(answer, "candidates")); i++) {
            const json_t *c = json_array_get(json_object_get(answer, "candidates"), i);
            cr_expect(!blocks || (strcmp(word_of(c, "method"), "gemm/serial") != 0 &&
                                  number_of(c, "promote") <= 128));
        }
        run_again(word_of(best, "shape"), element(blocks, 0, 0));
        json_decref(answer);
    }
}

/* Promises are tried on other shapes, for which there are none. */
Test(recommend_scales, no_promises, .init = make_folder, .fini = remove_folder)
{
    write_matrices();
    write_scales("of_a.npy", SIDE, 1, 0);
    write_scales("of_b.npy", 1, SIDE, 9000);
    json_decref(ask_scaled(STATUS_USAGE, "--promise run_to_run"));
    write_scales("of_b.npy", SIDE, 1, 9000);
    json_decref(ask_scaled(STATUS_DATA, ""));
}
