/* What a page says of what recommend found, of candidates made by hand. */
#include <math.h>

#include "tests/support/page_told.h"

/* An error is told beside what the study measured it against; where nothing was timed nothing is
 * called cheaper. */
Test(recommended, what_is_recommended)
{
    static char *cell[2][RECOMMEND_COLUMNS];
    for (int step = 0; step < 4; step++) {
        const bool timed = step == 3;
        struct page_candidate c[2] = {
            {.shown = "one", .quantity = "backward", .limit = known(1e-4), .error = known(0.5)},
            {.shown = "other", .quantity = "backward", .arrays = "7", .limit = known(1e-4)}};
        struct page r = {.candidate = c, .candidates = 2};
        struct text told = {0};
        for (size_t i = 0; i < RECOMMEND_COLUMNS; i++)
            cell[0][i] = cell[1][i] = "";
        cell[0][RECOMMEND_IS] = step == 2 ? "next_narrower" : "next_cheaper";
        cell[0][RECOMMEND_BROKEN_BY] = "normal";
        cell[0][RECOMMEND_BROKEN_ERROR] = "0.5";
        c[1].recommended = true;
        c[1].most = known(1e-7);
        c[1].gb_per_s = timed ? known(100) : (struct figure){0};
        r.recommend = (struct page_rows){2, RECOMMEND_COLUMNS, cell[0]};
        r.g.study = step == 1 ? json_object() : json_pack("{ss}", "error_beside", "max|<result>|");
        page_recommended_findings(&told, &r);
        expect_told(&told,
                    step == 1 ? "is 1e-07 (backward), where" : "is 1e-07 of max|&lt;result&gt;|, w",
                    true);
        expect_told(&told, step == 1 ? "error of 0.5 (backward)" : "error of 0.5 of max|&lt;result",
                    true);
        expect_told(&told, "magnitudes", false);
        expect_told(&told, "cheap", timed);
        expect_told(&told, "not timed, one, breaks on", !timed);
        text_clear(&told);
        page_recommended(&told, &r);
        expect_told(&told,
                    step == 1 ? "0.0001 (backward).</p>" : "0.0001 of max|&lt;result&gt;|.</p>",
                    true);
        text_clear(&told);
        page_say_recommended(&told, &r);
        expect_told(&told, timed ? "other is the cheapest whose" : "other is the first whose",
                    true);
        text_free(&told);
        json_decref(r.g.study);
    }
}

/* What was asked of a recommendation comes first, then what is broken; of arithmetic that nobody
 * knows, what additions can err is broken, and no method's bound. */
Test(recommended, a_recommendation_comes_before_a_bound)
{
    static char *cell[1][RECOMMEND_COLUMNS];
    struct page_candidate c = {.shown = "one", .limit = known(1e-4), .most = known(1e-7)};
    struct gathered_case item = {.err_over_bound = known(3)};
    struct page r = {.candidate = &c,
                     .candidates = 1,
                     .study = page_study("recommend"),
                     .recommend = {1, RECOMMEND_COLUMNS, cell[0]},
                     .g = {.item = &item, .count = 1}};
    struct text told = {0};
    for (size_t i = 0; i < RECOMMEND_COLUMNS; i++)
        cell[0][i] = "";
    for (size_t k = 0; k < CASE_ALL; k++)
        item.field[k] = "";
    item.field[CASE_ADDED_IN] = "unknown";
    item.field[CASE_ACCUMULATOR] = "fp32";
    c.recommended = true;
    r.g.study = json_object();
    page_findings(&told, &r);
    const char *first = strstr(text_string(&told), "Recommended of 1 candidate: one;"),
               *then = strstr(told.data, "In 1 of 1 cases the error exceeds what additions in fp32 "
                                         "can err, at worst by a factor of 3 (");
    cr_expect(first && then && first < then, "%s", told.data);
    text_free(&told);
    json_decref(r.g.study);
}
