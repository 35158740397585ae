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
        c[1].most = c[1].error = known(1e-7);
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
                    step == 1 ? "0.0001 (backward). The table, of 2 rows, scrolls"
                              : "0.0001 of max|&lt;result&gt;|. The table, of 2 rows",
                    true);
        text_clear(&told);
        page_say_recommended(&told, &r);
        expect_told(&told, timed ? "other: the cheapest whose" : "other: the first whose", true);
        text_free(&told);
        json_decref(r.g.study);
    }
}

/* One candidate, with the cells given. */
struct one {
    char *cell[RECOMMEND_COLUMNS];
    struct page_candidate candidate;
    struct page r;
};

static void make_one(struct one *o, json_t *study)
{
    *o = (struct one){.candidate = {.shown = "one",
                                    .quantity = "rel",
                                    .arrays = "77",
                                    .recommended = true,
                                    .limit = {true, 1e-3},
                                    .error = {true, 3.64e-5},
                                    .most = {true, 4.51e-5},
                                    .gb_per_s = {true, 2}}};
    for (size_t i = 0; i < RECOMMEND_COLUMNS; i++)
        o->cell[i] = "";
    o->cell[RECOMMEND_IS] = "recommended";
    o->r = (struct page){.candidate = &o->candidate,
                         .candidates = 1,
                         .recommend = {1, RECOMMEND_COLUMNS, o->cell},
                         .g.study = study};
}

/* Of two errors each is told with what it is over; the title has the one that is drawn. */
Test(recommended, both_errors_by_name)
{
    struct one o;
    struct text told = {0};
    make_one(&o, json_object());
    page_recommended_findings(&told, &o.r);
    expect_told(&told,
                "its largest error on 77 arrays is 4.51e-05 of the exact value (3.64e-05 on those "
                "that all candidates were tried on), where 0.001 is allowed.",
                true);
    text_clear(&told);
    page_say_recommended(&told, &o.r);
    expect_told(&told,
                "is allowed (at most 0.001), 3.6e-05 on the arrays that all were tried on, 4.5e-05 "
                "on all of its own",
                true);
    text_clear(&told);
    o.cell[RECOMMEND_ERROR] = o.cell[RECOMMEND_MOST] = "1";
    page_recommended(&told, &o.r);
    expect_told(&told,
                "<th class=\"r\">error where all were tried</th><th class=\"r\">on all its "
                "arrays</th>",
                true);
    expect_told(&told, "<td class=\"r\">3.64e-05</td><td class=\"r\">4.51e-05</td>", true);
    text_clear(&told);
    o.candidate.most = o.candidate.error;
    page_recommended_findings(&told, &o.r);
    page_say_recommended(&told, &o.r);
    expect_told(&told, "all candidates were", false);
    expect_told(&told, "of its own", false);
    text_free(&told);
    json_decref(o.r.g.study);
}

/* What was drawn says how sure it is; too few say nothing; a promise is told with its evidence. */
Test(recommended, how_sure_it_is)
{
    static const struct {
        char *drawn, *unseen;
        const char *due;
    } is[] = {{"304", "0.015",
               "99% confident that at most 1.5% of arrays like its data break it: 304 were drawn "
               "at random (resamples, shuffles), and none did."},
              {"3", "0.78",
               "3 arrays were drawn at random (resamples, shuffles), and none broke it: too few"},
              {"0", "", "No array was drawn at random (resamples, shuffles): time was up."}};
    struct one o;
    struct text told = {0};
    make_one(&o, json_pack("{s{sf}}", "axes", "confidence", 0.99));
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        o.cell[RECOMMEND_DRAWN] = is[i].drawn;
        o.cell[RECOMMEND_UNSEEN] = is[i].unseen;
        page_recommended_findings(&told, &o.r);
        expect_told(&told, is[i].due, true);
        expect_told(&told, "confident", i == 0);
        expect_told(&told, "Its bits", false);
        text_clear(&told);
    }
    o.cell[RECOMMEND_ASKED] = "gpu_to_gpu";
    o.cell[RECOMMEND_KEPT] = "kept";
    o.cell[RECOMMEND_ATTEMPTS] = "841";
    o.cell[RECOMMEND_SHAPES] = "1";
    o.cell[RECOMMEND_TRIED_LENGTHS] = "6";
    o.cell[RECOMMEND_INPUTS] = "5";
    o.cell[RECOMMEND_REASON] = "on this CPU: no other device was tried";
    page_recommended_findings(&told, &o.r);
    expect_told(&told,
                "Its bits: gpu_to_gpu kept in 841 attempts over 1 launch shape, 6 lengths and 5 "
                "inputs; on this CPU: no other device was tried.",
                true);
    text_free(&told);
    json_decref(o.r.g.study);
}

/* A speed on fewer elements is told, apart from those that compare. */
Test(recommended, timed_on_fewer_elements)
{
    struct one o;
    struct text told = {0};
    make_one(&o, json_object());
    o.cell[RECOMMEND_RATE] = "2.46";
    o.candidate.timed_n = known(1000);
    for (int shorter = 0; shorter < 2; shorter++) {
        o.candidate.gb_per_s = shorter ? (struct figure){0} : known(2.46);
        o.candidate.short_gb_per_s = shorter ? known(2.46) : (struct figure){0};
        page_recommended(&told, &o.r);
        expect_told(&told, "<td class=\"r\">(2.46)</td>", shorter);
        expect_told(&told, "<td class=\"r\">2.46</td>", !shorter);
        expect_told(&told, "timed on fewer elements, say 1000 instead of ", shorter);
        text_clear(&told);
    }
    text_free(&told);
    json_decref(o.r.g.study);
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
