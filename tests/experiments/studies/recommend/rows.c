/* recommend --operation softmax and its like, on rows whose answers arithmetic tells. */
#include <math.h>
#include <time.h>

#include "experiments/studies/recommend/candidates.h"
#include "experiments/sweep/shared.h"
#include "tests/support/recommends.h"
#include "tests/support/samples.h"

enum { ROWS = 3, LENGTH = 1024, N = ROWS * LENGTH };

static void write_matrix(const char *name, const float *x, int rows, int columns)
{
    char header[119];
    FILE *f = fopen(in_folder(name), "wb");
    cr_assert(f);
    memset(header, ' ', sizeof header);
    int length =
        snprintf(header, sizeof header,
                 "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, columns);
    header[length] = ' ';
    header[117] = '\n';
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
    fwrite(header, 1, 118, f);
    cr_assert_eq(fwrite(x, sizeof *x, (size_t)(rows * columns), f), (size_t)(rows * columns));
    fclose(f);
}

static void write_rows(const char *name, const float *x)
{
    write_matrix(name, x, ROWS, LENGTH);
}

static json_t *ask_rows(enum status due, const char *operation, const char *data, const char *rest)
{
    char line[1000], path[256];
    snprintf(path, sizeof path, "%s", in_folder(data));
    snprintf(line, sizeof line, "--operation %s --data %s --confidence 0.5 --seconds 2 --force %s",
             operation, path, rest);
    return recommend_line(due, line);
}

static json_int_t integer_of(const json_t *o, const char *name)
{
    return json_integer_value(json_object_get(o, name));
}

/* Row 1 alone is all equal: a running sum of ones in bf16 stops at 256. In the others one element
 * is far above the rest, whose exponentials are nothing. The file says how many rows there are. */
Test(recommend_rows, a_denominator_stands_still, .init = make_folder, .fini = remove_folder)
{
    static float x[N];
    for (size_t i = 0; i < N; i++)
        x[i] = i / LENGTH == 1 ? 0 : i % LENGTH == 7 ? 500 : -500;
    write_rows("x.npy", x);
    json_t *answer = ask_rows(STATUS_OK, "sumexp", "x.npy",
                              "--method sumexp/serial --accumulator bf16,fp32 --no-adversarial");
    const json_t *best = json_object_get(answer, "recommended"),
                 *next = json_object_get(answer, "next"),
                 *broken = json_object_get(next, "broken_by");
    cr_expect_str_eq(word_of(best, "method"), "sumexp/serial");
    cr_expect_str_eq(word_of(best, "accumulator"), "fp32");
    cr_expect_str_eq(word_of(next, "accumulator"), "bf16");
    cr_expect_eq(integer_of(broken, "row"), 1);
    cr_expect_null(json_object_get(broken, "column"));
    cr_expect_eq(number_of(broken, "result"), 256);
    cr_expect_eq(number_of(broken, "exact"), LENGTH);
    cr_expect_eq(number_of(broken, "error"), 0.75);
    json_decref(answer);
    json_decref(ask_rows(STATUS_FAILED, "sumexp", "x.npy",
                         "--method sumexp/serial --accumulator bf16 --no-adversarial"));
}

/* Beside the largest of its row: 1/256 where 1/1024 is due errs by three times that. */
Test(recommend_rows, errors_are_beside_the_largest_of_the_row, .init = make_folder,
     .fini = remove_folder)
{
    static float x[N];
    write_rows("x.npy", x);
    json_t *answer =
        ask_rows(STATUS_OK, "softmax", "x.npy",
                 "--method softmax/serial,softmax/tiled --accumulator bf16 --no-adversarial");
    const json_t *best = json_object_get(answer, "recommended"),
                 *broken = json_object_get(json_object_get(answer, "next"), "broken_by");
    cr_expect_str_eq(word_of(best, "method"), "softmax/tiled");
    cr_expect_str_eq(word_of(answer, "quantity"), "backward");
    cr_expect_eq(number_of(best, "error"), 0);
    cr_expect_eq(number_of(broken, "error"), 3);
    cr_expect_eq(integer_of(broken, "row"), 0);
    cr_expect_eq(integer_of(broken, "column"), 0);
    json_decref(answer);
}

/* Columns of the same file: LENGTH rows of three elements, of which one is far above. */
Test(recommend_rows, rows_lie_as_asked, .init = make_folder, .fini = remove_folder)
{
    static float x[N];
    for (size_t i = 0; i < N; i++)
        x[i] = i / LENGTH == 0 ? 300 : 0;
    write_rows("x.npy", x);
    json_t *answer = ask_rows(STATUS_OK, "sumexp", "x.npy",
                              "--layout column --method sumexp/serial --accumulator bf16,fp32 "
                              "--no-adversarial");
    cr_expect_str_eq(word_of(json_object_get(answer, "recommended"), "accumulator"), "bf16");
    json_decref(answer);
}

/* A mean of 1000 leaves a textbook variance no digits in fp32; masked scores are none of softmax's
 * troubles; a row of them has no softmax. */
Test(recommend_rows, what_norms_lose_and_masks_do, .init = make_folder, .fini = remove_folder)
{
    static float x[N];
    for (size_t i = 0; i < N; i++)
        x[i] = 1000 + (float)(i * 7919 % 64) / 1024;
    write_rows("mean.npy", x);
    json_t *answer = ask_rows(STATUS_OK, "layernorm", "mean.npy",
                              "--method layernorm/textbook,layernorm/two_pass --accumulator fp32 "
                              "--tolerance 1e-2");
    cr_expect_str_eq(word_of(json_object_get(answer, "recommended"), "method"),
                     "layernorm/two_pass");
    cr_expect_str_eq(word_of(json_object_get(answer, "next"), "method"), "layernorm/textbook");
    json_decref(answer);
    for (size_t i = 0; i < N; i++)
        x[i] = i % 2 ? -INFINITY : (float)(i * 7919 % 64) / 64;
    write_rows("masked.npy", x);
    answer = ask_rows(STATUS_OK, "softmax", "masked.npy",
                      "--method softmax/online --accumulator fp32 --no-adversarial");
    cr_expect_str_eq(word_of(json_object_get(answer, "recommended"), "method"), "softmax/online");
    json_decref(answer);
    for (size_t i = 0; i < LENGTH; i++)
        x[2 * LENGTH + i] = -INFINITY;
    write_rows("all.npy", x);
    json_decref(ask_rows(STATUS_DATA, "softmax", "all.npy", "--method softmax/online"));
}

/* The seconds asked for are kept: of 64 rows some are tried, and places are those of all rows. Row
 * i lies about 10 i, so that its exact value says which it is. The processor's time counts: all
 * rows take more than ten times as much. */
Test(recommend_rows, more_rows_than_there_is_time_for_are_tried_in_part, .init = make_folder,
     .fini = remove_folder)
{
    enum { MANY = 64, LONG = 4096, SECONDS = 2 };
    static float x[MANY * LONG];
    uint64_t seed = 5;
    for (size_t i = 0; i < MANY * LONG; i++)
        x[i] = (float)(10 * (i / LONG)) + (float)ldexp((double)(sample_next(&seed) >> 40), -24);
    write_matrix("many.npy", x, MANY, LONG);
    clock_t begin = clock();
    json_t *answer = ask_rows(STATUS_OK, "logsumexp", "many.npy", "--no-adversarial");
    double took = (double)(clock() - begin) / CLOCKS_PER_SEC;
    cr_expect(took < 4 * SECONDS, "%g s of the processor", took);
    const json_t *best = json_object_get(answer, "recommended"),
                 *bf16 = candidate_of(answer, "logsumexp/serial", "bf16"),
                 *broken = json_object_get(bf16, "broken_by");
    json_int_t rows = integer_of(best, "rows");
    cr_expect_eq(integer_of(best, "rows_of"), MANY);
    cr_expect(rows >= 1 && rows < MANY, "%lld rows", (long long)rows);
    cr_expect_eq(integer_of(answer, "n"), rows * LONG);
    cr_assert(json_is_object(broken));
    double row = floor((number_of(broken, "exact") - 8) / 10);
    cr_expect_eq(number_of(broken, "row"), row, "%g, not %g", number_of(broken, "row"), row);
    cr_expect(row > 0);
    json_decref(answer);
    /* What was tried is written, and is as long. */
    struct bytes operands = get_file(in_folder("out/operands.npy"));
    cr_expect_eq(operands.size / sizeof *x, (size_t)rows * LONG + 128 / sizeof *x);
    free(operands.data);
}

/* Exact values are made once for all accumulators; what is added in one is made anew. */
Test(recommend_rows, exact_values_are_kept_from_one_accumulator_to_the_next)
{
    static const struct layout row = {LAYOUT_ROW, 0, "row"};
    float x[8] = {1, 2, 3, 4, -1, 0, 1, 2};
    struct source source = {.name = "x", .array = {FP32, 8, x}};
    struct study_case t[3];
    struct shared shared = {0};
    for (size_t i = 0; i < 3; i++) {
        enum format f = i % 2 ? FP16 : BF16;
        t[i] = (struct study_case){.method = method_named("softmax/serial"),
                                   .accumulator = f,
                                   .setting = {.output = f, .bins = i < 2 ? 2 : 4, .layout = &row}};
    }
    cr_assert(shared_begin(&shared, &t[0], &source, REFERENCE_FAST, NULL) == STATUS_OK);
    cr_assert(shared_twin(&shared, &t[0], NULL) == STATUS_OK);
    shared.values.value[0].zeros = 77; /* made anew it is another */
    cr_assert(shared_begin(&shared, &t[1], &source, REFERENCE_FAST, NULL) == STATUS_OK);
    cr_expect(shared.values.value[0].zeros == 77 && shared.like == &t[1]);
    cr_assert(shared_twin(&shared, &t[1], NULL) == STATUS_OK);
    cr_expect_eq(shared.twin.format, FP16);
    cr_expect_not(shared_keep(&shared, &t[2])); /* other rows */
    shared_end(&shared);
}
