/* recommend --promise: what a candidate declares is tried, and only what is kept is enough. */
#include "experiments/subjects/foreign.h"
#include "tests/support/recommends.h"

#define LIAR(name)     LIARS_OBJECT ":" name
#define PRODUCTS(name) EXAMPLE_PRODUCT ":" name

/* Shared objects are run by the program. */
static void begin(void)
{
    foreign_server(ULPSCOPE_PROGRAM);
    make_folder();
}

static const json_t *tried_of(const json_t *answer, const char *method)
{
    return json_object_get(candidate_of(answer, method, "fp32"), "promise_tried");
}

/* Each is as exact as it need be: nothing but its promise is wrong. */
Test(recommend_promise, liars_are_not_enough, .init = begin, .fini = remove_folder)
{
    static const struct {
        const char *method, *promise;
    } cases[] = {
        {LIAR("claims_exact"), "correctly_rounded"}, /* a plain loop */
        {LIAR("claims_run_to_run"), "run_to_run"},
        {LIAR("claims_gpu_to_gpu"), "gpu_to_gpu"},
        {LIAR("claims_order_invariant"), "order_invariant"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[512];
        snprintf(line, sizeof line,
                 "--input symmetric --n 3000 --storage fp32 --accumulator fp32 --seconds 1 --force "
                 "--confidence 0.8 --promise %s --method %s",
                 cases[i].promise, cases[i].method);
        json_t *answer = recommend_line(STATUS_FAILED, line);
        const json_t *tried = tried_of(answer, cases[i].method);
        cr_expect(json_is_null(json_object_get(answer, "recommended")), "%s", line);
        cr_expect(holds(answer, cases[i].method, "fp32"), "%s", line);
        cr_expect_str_eq(word_of(tried, "state"), "broken", "%s", line);
        cr_expect_str_eq(word_of(tried, "asked"), cases[i].promise);
        cr_expect(strstr(word_of(tried, "show"), " check "), "%s", word_of(tried, "show"));
        json_decref(answer);
    }
}

/* Beside them, what keeps its promise is found, with what it was tried over. */
Test(recommend_promise, what_is_kept_is_enough, .init = begin, .fini = remove_folder)
{
    json_t *answer = recommend_line(
        STATUS_OK,
        "--input symmetric --n 3000 --storage fp32 --accumulator fp32 --seconds 2 "
        "--confidence 0.8 --promise correctly_rounded --method sum/exact," LIAR("claims_exact"));
    const json_t *chosen = json_object_get(answer, "recommended");
    const json_t *tried = json_object_get(chosen, "promise_tried");
    cr_expect_str_eq(word_of(chosen, "method"), "sum/exact");
    cr_expect_str_eq(word_of(tried, "state"), "kept");
    cr_expect(number_of(tried, "attempts") >= 1 && number_of(tried, "differing") == 0);
    cr_expect(number_of(tried, "lengths") >= 1 && number_of(tried, "inputs") >= 1);
    cr_expect(number_of(tried, "shapes") >= 1);
    struct rows all = rows_of(in_folder("out"), "recommend", recommend_column, RECOMMEND_COLUMNS);
    size_t kept = 0;
    for (size_t i = 0; i < all.count; i++) {
        const char *state = field_of(&all, i, RECOMMEND_KEPT);
        cr_expect_str_eq(field_of(&all, i, RECOMMEND_ASKED), "correctly_rounded");
        if (strcmp(state, "kept") != 0) {
            cr_expect(*field_of(&all, i, RECOMMEND_REASON) || strcmp(state, "broken") == 0);
            continue;
        }
        kept++;
        cr_expect_str_eq(field_of(&all, i, RECOMMEND_IS), "recommended");
        cr_expect_eq(strtod(field_of(&all, i, RECOMMEND_ATTEMPTS), NULL),
                     number_of(tried, "attempts"));
    }
    cr_expect_eq(kept, 1);
    rows_free(&all);
    json_decref(answer);
}

/* Of a program nobody knows a launch shape or where its input lies: gpu_to_gpu cannot be tried of
 * it on the CPU alone, and is not called kept. A program declares nothing, and may keep what can
 * be. */
Test(recommend_promise, what_is_not_tried_is_not_kept, .init = begin, .fini = remove_folder)
{
    const char *name = "exec:" ULPSCOPE_PROGRAM "${IFS}serve${IFS}sum/tiled";
    static const struct {
        const char *promise, *state;
        enum status due;
    } cases[] = {{"run_to_run", "kept", STATUS_OK}, {"gpu_to_gpu", "not tried", STATUS_FAILED}};
    for (size_t i = 0; i < 2; i++) {
        char line[1024];
        snprintf(line, sizeof line,
                 "--input symmetric --n 1000 --storage fp32 --accumulator fp32 --seconds 1 --force "
                 "--confidence 0.8 --promise %s --method %s",
                 cases[i].promise, name);
        json_t *answer = recommend_line(cases[i].due, line);
        const json_t *tried = tried_of(answer, name);
        cr_expect_str_eq(word_of(tried, "state"), cases[i].state, "%s", word_of(tried, "reason"));
        cr_expect(i == 0 || *word_of(tried, "reason"));
        json_decref(answer);
    }
}

/* Where no promise is asked for none is tried, and nothing is said of any. */
Test(recommend_promise, nothing_is_said_unasked, .init = begin, .fini = remove_folder)
{
    json_t *answer = recommend_line(
        STATUS_OK, "--input symmetric --n 1000 --storage fp32 --accumulator fp32 --seconds 0.2 "
                   "--confidence 0.8 --method sum/exact");
    cr_expect(json_is_null(tried_of(answer, "sum/exact")));
    struct rows all = rows_of(in_folder("out"), "recommend", recommend_column, RECOMMEND_COLUMNS);
    for (size_t column = RECOMMEND_ASKED; column <= RECOMMEND_REASON; column++)
        cr_expect_str_eq(field_of(&all, 0, column), "");
    rows_free(&all);
    json_decref(answer);
}

/* Beside the ladder: a product that splits k where D has few rows, and one that does not. */
Test(recommend_promise, batches_of_products_are_tried, .init = begin, .fini = remove_folder)
{
    static const char *const split = PRODUCTS("few_rows"), *const whole = PRODUCTS("in_order");
    char line[1024];
    snprintf(line, sizeof line,
             "--operation gemm --input uniform --storage fp32 --accumulator fp32 --shape 4x4x500 "
             "--seconds 4 --confidence 0.5 --promise batch_invariant --method %s,%s",
             split, whole);
    json_t *answer = recommend_line(STATUS_OK, line);
    const json_t *chosen = json_object_get(answer, "recommended"),
                 *tried = json_object_get(chosen, "promise_tried");
    cr_expect_str_eq(word_of(chosen, "method"), whole);
    cr_expect_str_eq(word_of(tried, "state"), "kept", "%s", word_of(tried, "reason"));
    cr_expect_str_eq(word_of(tried, "asked"), "batch_invariant");
    cr_expect(number_of(tried, "attempts") >= 10);
    tried = tried_of(answer, split);
    cr_expect(holds(answer, split, "fp32"), "its errors are small");
    cr_expect_str_eq(word_of(tried, "state"), "broken", "%s", word_of(tried, "reason"));
    cr_expect(strstr(word_of(tried, "show"), " check "), "%s", word_of(tried, "show"));
    json_decref(answer);
}

/* What cannot be promised of an operation is not asked for. */
Test(recommend_promise, promises_are_of_operations, .init = begin, .fini = remove_folder)
{
    json_decref(recommend_line(STATUS_USAGE, "--input uniform --n 100 --storage fp32 --promise "
                                             "batch_invariant"));
    json_decref(recommend_line(STATUS_USAGE,
                               "--operation gemm --input uniform --storage fp32 --shape 2x2x8 "
                               "--promise rank_invariant"));
}
