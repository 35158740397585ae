/* What recommend tells of hand-made findings: errors, theory, rows and JSON. */
#include <math.h>

#include "experiments/recommend_private.h"
#include "tests/recommends.h"

/* What the theorem says of growth, for n elements of a format. */
static struct recommend_growth theory_of(const char *method, enum format accumulator,
                                         const struct array *a, double limit)
{
    struct source source = {.name = (char *)"few", .array = *a};
    struct recommend_candidate c = {.method = method_named(method), .accumulator = accumulator};
    struct recommend_report r = {.candidate = &c, .count = 1, .source = &source};
    struct reference data;
    r.request.tolerance.limit = limit;
    r.request.confidence = 0.99;
    cr_assert_eq(reference_compute(&data, a, REFERENCE_FAST, NULL), STATUS_OK);
    recommend_theory(&r, &data);
    reference_free(&data);
    return r.growth;
}

/* (n-1) u <= 1e-4 up to n = 1678 with u = 2^-24; with lambda = sqrt(2 ln 200), lambda sqrt(n-1) <=
 * 1677 up to n = 1 + (1677 / lambda)^2, to a part in 4096. */
Test(recommend_told, theory_of_growth)
{
    float ones[] = {1, 1, 1};
    const struct array a = {FP32, 3, ones};
    double likely = 1 + pow(1677 / sqrt(2 * log(200)), 2);
    struct recommend_growth g = theory_of("sum/serial", FP32, &a, 1e-4);
    cr_expect(g.theorem_known && g.likely_known);
    cr_expect_eq(g.theorem_to, 1678);
    cr_expect_float_eq((double)g.likely_to, likely, likely / 4000, "%llu, expected %g",
                       (unsigned long long)g.likely_to, likely);
    g = theory_of("sum/widened", FP32, &a, 1e-4);
    cr_expect(g.likely_known && g.likely_to >= g.theorem_to && g.theorem_to > 1678);
    cr_expect_not(theory_of("sum/exact", FP32, &a, 1e-4).likely_known);
}

/* A guarantee ends where sum|x| may leave the range: for ones of both signs long before the sum
 * does. */
Test(recommend_told, walls_of_growth)
{
    double wide[] = {1000, -900, 1000, -900}, beyond[] = {1.5e308, -1e308, 1.5e308, -1.5e308};
    struct recommend_growth g = theory_of("sum/exact", FP16, &(struct array){FP64, 4, wide}, 0.5);
    cr_expect_eq(g.theorem_to, (uint64_t)(65504 / 950.0), "%llu", (unsigned long long)g.theorem_to);
    cr_expect_eq(g.overflows.value, 65504 / 50.0);
    /* sum|x| is no double: nothing is said. */
    g = theory_of("sum/exact", FP64, &(struct array){FP64, 4, beyond}, 0.5);
    cr_expect(!g.stagnates.known && !g.overflows.known);
}

/* Of a sum that is 0: any error is infinite, none is none, and so are bounds. */
Test(recommend_told, errors_of_a_sum_of_zero)
{
    double opposite[] = {1, -1};
    const struct array a = {FP64, 2, opposite};
    const struct recommend_tolerance t = {.quantity = RECOMMEND_REL};
    const struct theorem rounded = {.kind = THEOREM_CORRECTLY_ROUNDED},
                         tree = {.kind = THEOREM_TREE, .height = 1};
    struct reference r;
    struct measure m;
    cr_assert_eq(reference_compute(&r, &a, REFERENCE_MPFR, NULL), STATUS_OK);
    measure(&m, &r, FP64, FP64, 1, &rounded);
    cr_expect_eq(recommend_error(&t, &m, &r, FP64), INFINITY);
    measure(&m, &r, FP64, FP64, 0, &rounded);
    cr_expect_eq(recommend_error(&t, &m, &r, FP64), 0);
    measure(&m, &r, FP64, FP64, NAN, &rounded);
    cr_expect(isnan(recommend_error(&t, &m, &r, FP64)));
    struct figure bound = recommend_bound(&t, &rounded, &r, FP64, FP64);
    cr_expect(bound.known && bound.value == 0, "%g", bound.value);
    bound = recommend_bound(&t, &tree, &r, FP64, FP64);
    cr_expect(bound.known && bound.value == INFINITY, "%g", bound.value);
    reference_free(&r);
}

/* Two candidates: the one after the other is recommended, the one before breaks. */
static void describe(struct recommend_report *r, struct recommend_candidate c[3],
                     struct source *source)
{
    static float one = 1;
    *source = (struct source){.name = (char *)"one", .array = {FP32, 1, &one}};
    for (size_t i = 0; i < 3; i++)
        c[i] = (struct recommend_candidate){
            .method = method_named("sum/tiled"), .accumulator = FP32, .error = 0.5, .most = 0.25};
    c[0].broken = true;
    c[2].failed = true;
    c[2].most = 0.125;
    *r = (struct recommend_report){
        .request = {.tolerance = {.limit = 1, .text = "1"}, .promise = PROMISES},
        .source = source,
        .candidate = c,
        .count = 3,
        .chosen = 1,
        .cheaper = 0};
    r->growth = (struct recommend_growth){
        .measured = true, .lengths = 7, .holds_to = 10, .breaks_at = 20, .theorem_known = true};
    r->growth.stagnates = (struct figure){true, INFINITY};
}

static struct rows rows_as_read(const struct recommend_report *r)
{
    struct text text = {0};
    struct bytes b = {0};
    columns_header(&text, recommend_column, RECOMMEND_COLUMNS);
    recommend_rows(&text, r);
    add_string(&b, text_string(&text));
    put_file("recommend.csv", &b);
    clear_bytes(&b);
    text_free(&text);
    return rows_of(folder, "recommend", recommend_column, RECOMMEND_COLUMNS);
}

/* The verdict, what a candidate is, and what is told of the chosen one and of one that failed. */
Test(recommend_told, rows, .init = make_folder, .fini = remove_folder)
{
    struct recommend_candidate c[3];
    struct recommend_report r;
    struct source source;
    describe(&r, c, &source);
    for (int narrower = 0; narrower <= 1; narrower++) {
        static const char *const due[3][8] = {
            {"breaks", "", "0.5", "0.25", "", "", "", ""},
            {"holds", "recommended", "0.5", "0.25", "7", "10", "20", "inf"},
            {"failed", "", "", "", "", "", "", ""}};
        static const size_t column[8] = {
            RECOMMEND_VERDICT, RECOMMEND_IS,       RECOMMEND_ERROR,     RECOMMEND_MOST,
            RECOMMEND_LENGTHS, RECOMMEND_HOLDS_TO, RECOMMEND_BREAKS_AT, RECOMMEND_STAGNATES};
        r.narrower = narrower;
        struct rows rows = rows_as_read(&r);
        cr_assert_eq(rows.count, 3);
        for (size_t i = 0; i < 3; i++)
            for (size_t k = 0; k < 8; k++)
                if (i > 0 || k != 1)
                    cr_expect_str_eq(field_of(&rows, i, column[k]), due[i][k], "%zu: %s", i,
                                     recommend_column(column[k])->name);
        cr_expect_str_eq(field_of(&rows, 0, RECOMMEND_IS),
                         narrower ? "next_narrower" : "next_cheaper");
        rows_free(&rows);
    }
}

/* The same as JSON: numbers that it has none for are words. */
Test(recommend_told, json)
{
    struct recommend_candidate c[3];
    struct recommend_report r;
    struct source source;
    describe(&r, c, &source);
    json_t *answer = recommend_json(&r, "out", "again");
    const json_t *next = json_object_get(answer, "next");
    const json_t *growth = json_object_get(answer, "growth");
    cr_expect_eq(number_of(answer, "margin"), 4);
    cr_expect_str_eq(word_of(next, "is"), "next_cheaper");
    cr_expect_str_eq(word_of(next, "verdict"), "breaks");
    cr_expect_str_eq(word_of(growth, "stagnates_at"), "inf");
    cr_expect_eq(number_of(growth, "breaks_at"), 20);
    json_decref(answer);
    r.chosen = SIZE_MAX;
    r.growth = (struct recommend_growth){0};
    answer = recommend_json(&r, "out", "again");
    cr_expect_str_eq(word_of(json_object_get(answer, "next"), "is"), "nearest");
    cr_expect(json_is_null(json_object_get(answer, "margin")));
    json_decref(answer);
}
