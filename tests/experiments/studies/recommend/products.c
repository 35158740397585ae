/* recommend --operation gemm on products whose answers arithmetic tells. */
#include <math.h>

#include "experiments/data/data.h"
#include "experiments/studies/recommend/candidates.h"
#include "experiments/system/clock.h"
#include "tests/support/recommends.h"

/* H100's wgmma keeps 13 bits of e4m3 products: a sum of ones stands still at 2^14, where one is
 * less than its last bit. In fp32 there is room for 2^24. */
enum { STOPS = 1 << 14, K = 1 << 15, ONE = 0x38 };

static void write_bytes(const char *name, size_t rows, size_t columns, const uint8_t *bytes)
{
    char header[119];
    FILE *f = fopen(in_folder(name), "wb");
    cr_assert(f);
    memset(header, ' ', sizeof header);
    int length =
        snprintf(header, sizeof header,
                 "{'descr': '|u1', 'fortran_order': False, 'shape': (%zu, %zu), }", rows, columns);
    header[length] = ' ';
    header[117] = '\n';
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
    fwrite(header, 1, 118, f);
    cr_assert_eq(fwrite(bytes, 1, rows * columns, f), rows * columns);
    fclose(f);
}

/* A of 2 x K and B of K x 3: element (1,2) alone is a sum of K ones, all others have one. */
static void write_ones(void)
{
    static uint8_t a[2 * K], b[3 * K];
    for (size_t k = 0; k < K; k++) {
        a[k] = k == 0 ? ONE : 0;
        a[K + k] = ONE;
        b[3 * k] = b[3 * k + 1] = k == 0 ? ONE : 0;
        b[3 * k + 2] = ONE;
    }
    write_bytes("a.npy", 2, K, a);
    write_bytes("b.npy", K, 3, b);
    b[3 * K - 1] = ONE | 0x80;
    write_bytes("minus.npy", K, 3, b);
    write_bytes("short.npy", K - 1, 3, b);
    a[7] = 0x7f;
    write_bytes("nan.npy", 2, K, a);
}

static json_t *ask_product(enum status due, const char *a, const char *b, const char *rest)
{
    char line[1000], path[256];
    snprintf(path, sizeof path, "%s", in_folder(a));
    snprintf(line, sizeof line,
             "--operation gemm --storage e4m3 --data %s --data %s --confidence 0.5 --force %s",
             path, in_folder(b), rest);
    return recommend_line(due, line);
}

static json_int_t integer_of(const json_t *o, const char *name)
{
    return json_integer_value(json_object_get(o, name));
}

/* The interval that holds, the next longer one that breaks, and the element where it does. */
Test(recommend_products, ones_stop_a_chain, .init = make_folder, .fini = remove_folder)
{
    static const char *const quantities[] = {"rel", "backward"};
    write_ones();
    for (size_t i = 0; i < 2; i++) {
        char rest[200];
        snprintf(rest, sizeof rest,
                 "--promote 16384,32768,8192 --accumulator fp32 --seconds 4 --no-adversarial "
                 "--method gemm/wgmma,gemm/mma,gemm/promoted --quantity %s",
                 quantities[i]);
        json_t *answer = ask_product(STATUS_OK, "a.npy", "b.npy", rest);
        const json_t *best = json_object_get(answer, "recommended"),
                     *next = json_object_get(answer, "next"),
                     *broken = json_object_get(next, "broken_by");
        cr_expect_str_eq(word_of(best, "method"), "gemm/promoted");
        cr_expect_str_eq(word_of(best, "chip"), "h100");
        cr_expect_str_eq(word_of(best, "shape"), "2x3x32768");
        cr_expect_eq(integer_of(best, "promote"), STOPS);
        cr_expect_eq(number_of(best, "largest_error"), 0);
        cr_expect_eq(integer_of(next, "promote"), K);
        cr_expect_eq(integer_of(broken, "row"), 1);
        cr_expect_eq(integer_of(broken, "column"), 2);
        cr_expect_eq(number_of(broken, "result"), STOPS);
        cr_expect_eq(number_of(broken, "exact"), K);
        cr_expect_eq(number_of(broken, "error"), 0.5);
        cr_expect_not(holds(answer, "gemm/wgmma", "fp32"));
        cr_expect(holds(answer, "gemm/mma", "fp32"), "25 bits are enough for 2^15");
        json_decref(answer);
    }
}

/* In units of the last place of 2^15, beyond e4m3's range as within it. */
Test(recommend_products, errors_are_counted_in_ulps, .init = make_folder, .fini = remove_folder)
{
    write_ones();
    json_t *answer =
        ask_product(STATUS_OK, "a.npy", "b.npy",
                    "--promote 16384,32768 --accumulator fp32 --seconds 2 --tolerance 1ulp "
                    "--method gemm/promoted");
    const json_t *broken = json_object_get(json_object_get(answer, "next"), "broken_by");
    cr_expect_eq(number_of(broken, "error"), STOPS / format_ulp(E4M3, K));
    json_decref(answer);
}

/* K - 1 ones and a last -1: they are K - 2, of K in magnitude. */
Test(recommend_products, errors_are_beside_what_was_asked, .init = make_folder,
     .fini = remove_folder)
{
    static const struct {
        const char *quantity;
        double due;
    } cases[] = {{"rel", (K - 2.0 - STOPS) / (K - 2)}, {"backward", (K - 2.0 - STOPS) / K}};
    write_ones();
    for (size_t i = 0; i < 2; i++) {
        char rest[200];
        snprintf(rest, sizeof rest,
                 "--promote 16384,32768 --accumulator fp32 --seconds 1 --no-adversarial "
                 "--method gemm/promoted --quantity %s",
                 cases[i].quantity);
        json_t *answer = ask_product(STATUS_OK, "a.npy", "minus.npy", rest);
        double error = number_of(json_object_get(answer, "next"), "data_error");
        cr_expect(error >= cases[i].due && error <= nextafter(cases[i].due, 1), "%s: %.17g",
                  cases[i].quantity, error);
        json_decref(answer);
    }
}

/* What is cheaper is what breaks: what breaks again from the file, and by the same element. */
Test(recommend_products, what_breaks_is_written, .init = make_folder, .fini = remove_folder)
{
    struct data_set set;
    const struct data_options options = {.storage = E4M3};
    write_ones();
    json_decref(
        ask_product(STATUS_OK, "a.npy", "b.npy",
                    "--promote 16384,32768 --accumulator fp32 --seconds 2 --method gemm/promoted"));
    cr_assert_eq(data_read(&set, in_folder("out/breaks.npy"), &options, NULL), STATUS_OK);
    cr_assert_eq(set.item[0].array.n, 5 * K);
    for (size_t k = 0; k < K; k++) {
        cr_assert_eq(array_get(&set.item[0].array, K + k), 1);
        cr_assert_eq(array_get(&set.item[0].array, 2 * K + 3 * k + 2), 1);
    }
    data_free(&set);
}

Test(recommend_products, what_does_not_fit_is_refused, .init = make_folder, .fini = remove_folder)
{
    write_ones();
    json_decref(ask_product(STATUS_DATA, "a.npy", "short.npy", ""));
    json_decref(ask_product(STATUS_DATA, "b.npy", "b.npy", ""));
    json_decref(ask_product(STATUS_DATA, "nan.npy", "b.npy", "--method gemm/tiled"));
    json_decref(ask_product(STATUS_USAGE, "a.npy", "b.npy", "--shape 2x3x32767"));
    json_decref(ask_product(STATUS_USAGE, "a.npy", "b.npy", "--chip h100,a100"));
    json_decref(recommend_line(STATUS_USAGE, "--operation gemm --input ones --storage e4m3"));
    json_decref(recommend_line(STATUS_USAGE, "--operation gemm --input ones --storage e4m3 --force "
                                             "--shape 4x0x4"));
    json_decref(recommend_line(STATUS_USAGE, "--operation dot --input ones --storage e4m3"));
    json_decref(recommend_line(STATUS_USAGE, "--input ones --storage e4m3 --shape 1x1x4"));
}

/* A file that is named twice is both factors. */
Test(recommend_products, a_square_times_itself, .init = make_folder, .fini = remove_folder)
{
    static const uint8_t square[4] = {ONE, ONE, 0, ONE};
    write_bytes("s.npy", 2, 2, square);
    json_t *answer = ask_product(STATUS_OK, "s.npy", "s.npy", "--seconds 1");
    cr_expect_str_eq(word_of(answer, "input"), "s.npy x s.npy");
    cr_expect_str_eq(word_of(json_object_get(answer, "recommended"), "shape"), "2x2x2");
    /* On the CPU too: a product there stands for one on a GPU, whose slices are its blocks. */
    cr_expect(holds(answer, "gemm/split_k", "fp32"));
    json_decref(answer);
}

/* Column k of A stays beside row k of B in whatever order, and however drawn. */
Test(recommend_products, pairs_stay_together)
{
    enum { M = 2, N = 3, PARTS = 7, ALL = (M + N) * PARTS };
    static const double part[PARTS] = {3, -1, 5, 2, -6, 4, 7};
    double all[ALL];
    uint64_t seed = 1;
    for (size_t k = 0; k < PARTS; k++) {
        for (size_t i = 0; i < M; i++)
            all[i * PARTS + k] = part[k];
        for (size_t j = 0; j < N; j++)
            all[M * PARTS + k * N + j] = 2 * fabs(part[k]);
    }
    struct setting setting = {.output = FP64, .bins = M * N, .shape = {.m = M, .n = N, .k = PARTS}};
    struct recommend_candidate c = {
        .method = method_named("gemm/serial"), .accumulator = FP64, .setting = setting};
    struct axes axes = {.seed = {.item = &seed, .count = 1}};
    struct plan plan = {.axes = &axes};
    const struct data data = {.name = "few", .array = {FP64, ALL, all}};
    struct source source;
    cr_assert_eq(source_data(&source, &data, ALL, NULL), STATUS_OK);
    const struct recommend_report r = {.request = {.use = &recommend_products, .plan = &plan},
                                       .source = &source,
                                       .setting = setting,
                                       .candidate = &c,
                                       .count = 1};
    for (enum recommend_kind kind = 0; kind < RECOMMEND_EXTENDED; kind++) {
        struct recommend_sample s;
        double last = -INFINITY, magnitude = 0, sum = 0;
        bool moved = false;
        cr_assert_eq(recommend_products.sample(&r, &s, kind, 1, ALL, (struct device){0}, NULL),
                     STATUS_OK);
        for (size_t k = 0; k < PARTS; k++) {
            double a = array_get(&s.array, k), b = array_get(&s.array, M * PARTS + k * N);
            cr_assert_eq(fabs(a), b / 2, "%d: %g beside %g", kind, a, b);
            cr_assert_eq(array_get(&s.array, PARTS + k), a);
            cr_assert_eq(array_get(&s.array, M * PARTS + k * N + N - 1), b);
            cr_expect(kind != RECOMMEND_ASCENDING || a >= last, "%g behind %g", a, last);
            cr_expect(kind != RECOMMEND_DESCENDING || k == 0 || a <= last);
            cr_expect((kind != RECOMMEND_SMALL && kind != RECOMMEND_RETURN) || b >= magnitude);
            cr_expect((kind != RECOMMEND_LARGE && kind != RECOMMEND_CLIMB) || k == 0 ||
                      b <= magnitude);
            cr_expect((kind != RECOMMEND_ONE_SIGN && kind != RECOMMEND_CLIMB) || a > 0);
            moved |= a != part[k];
            last = a;
            magnitude = b;
            sum += a * b;
        }
        cr_expect_eq(moved, kind != RECOMMEND_DATA, "%d", kind);
        cr_expect(kind != RECOMMEND_RETURN || sum < 150, "out and back: %g", sum);
        recommend_sample_free(&s);
    }
    source_free(&source);
}

/* --- more elements than there is time for --- */

enum { SIDE = 192, LONG = 2048 };

/* fp16: D[i][j] = 1 + 2 i + 256 j, which bf16 does not hold for j > 0. */
static void write_places(void)
{
    static uint16_t a[SIDE * LONG], b[LONG * SIDE];
    for (size_t i = 0; i < SIDE; i++) {
        a[i * LONG] = (uint16_t)format_encode(FP16, (double)i);
        a[i * LONG + LONG - 1] = (uint16_t)format_encode(FP16, 256);
        a[i * LONG + 1] = b[SIDE + i] = (uint16_t)format_encode(FP16, 1);
        b[i] = (uint16_t)format_encode(FP16, 2);
        b[(LONG - 1) * SIDE + i] = (uint16_t)format_encode(FP16, (double)i);
    }
    const struct array of_a = {FP16, SIDE * LONG, a}, of_b = {FP16, SIDE * LONG, b};
    struct problem p = {0};
    cr_assert(data_write_npy(in_folder("a.npy"), &of_a, &p) == STATUS_OK, "%s", p.text);
    cr_assert(data_write_npy(in_folder("b.npy"), &of_b, &p) == STATUS_OK, "%s", p.text);
}

/* The time asked for is kept, a part is tried, and places are those of all of D. */
Test(recommend_products, large_ones_are_tried_in_part, .init = make_folder, .fini = remove_folder)
{
    enum { SECONDS = 6 };
    char line[1000];
    write_places();
    snprintf(line, sizeof line,
             "--operation gemm --storage fp16 --data %s --data %s --shape 192x192x2048:c=0 "
             "--seconds %d --tolerance 1e-30 --no-adversarial --force",
             in_folder("a.npy"), in_folder("b.npy"), SECONDS);
    uint64_t begin = clock_ns();
    json_t *answer = recommend_line(STATUS_OK, line);
    double took = (double)(clock_ns() - begin) / 1e9;
    const json_t *best = json_object_get(answer, "recommended"),
                 *bf16 = candidate_of(answer, "gemm/exact", "bf16"),
                 *broken = json_object_get(bf16, "broken_by");
    cr_expect(took < 1.5 * SECONDS, "%g s", took);
    cr_expect_str_eq(word_of(best, "part_of"), "192x192x2048:c=0", "%s", word_of(best, "shape"));
    cr_assert(json_is_object(broken));
    double row = number_of(broken, "row"), column = number_of(broken, "column");
    cr_expect_eq(number_of(broken, "exact"), 1 + 2 * row + 256 * column, "%g at %g, %g",
                 number_of(broken, "exact"), row, column);
    cr_expect(row + column > 0);
    json_decref(answer);
    /* The operands that were tried are written. */
    struct bytes operands = get_file(in_folder("out/operands.npy"));
    cr_expect(operands.size > 2 * 2 * LONG && operands.size < 2 * 2 * SIDE * LONG);
    free(operands.data);
}
