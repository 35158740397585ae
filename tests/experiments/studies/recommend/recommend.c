/* recommend on data where theory knows the answer. */
#include <math.h>

#include "tests/support/recommends.h"

/* A running sum of ones stops at 2^p; a tree of them does not, but where the format ends. */
Test(recommend, ones_stop_a_running_sum, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *line, *accumulator;
        json_int_t stops;
    } cases[] = {
        {"--input ones --n 1500 --storage fp16 --tolerance 1e-4 --seconds 60", "fp16", 2048},
        {"--input ones --n 200 --storage bf16 --tolerance 1e-3 --seconds 60", "bf16", 256},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line, "%s --force --method sum/serial --accumulator %s",
                 cases[i].line, cases[i].accumulator);
        json_t *answer = recommend_line(STATUS_OK, line);
        const json_t *growth = json_object_get(answer, "growth");
        cr_expect_str_eq(word_of(json_object_get(answer, "recommended"), "method"), "sum/serial");
        cr_expect_eq(json_integer_value(json_object_get(growth, "holds_to")), cases[i].stops);
        cr_expect_eq(json_integer_value(json_object_get(growth, "breaks_at")), cases[i].stops + 1);
        cr_expect_eq(number_of(growth, "stagnates_at"), (double)cases[i].stops);
        json_decref(answer);
    }
}

Test(recommend, ones_need_a_tree, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *line, *accumulator;
    } cases[] = {
        {"--input ones --n 4096 --storage fp16 --seconds 2", "fp16"},
        {"--input ones --n 512 --storage bf16 --seconds 2", "bf16"},
        {"--input ones --n 16777218 --storage fp32 --tolerance 1e-8 --seconds 0.01", "fp32"},
        {"--input stagnation --n 3000 --storage fp32 --tolerance 1e-5 --seconds 2", "fp32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line,
                 "%s --force --method sum/serial,sum/tiled --accumulator %s --confidence 0.9",
                 cases[i].line, cases[i].accumulator);
        json_t *answer = recommend_line(STATUS_OK, line);
        cr_expect_not(holds(answer, "sum/serial", cases[i].accumulator), "%s", line);
        cr_expect_str_eq(word_of(json_object_get(answer, "recommended"), "method"), "sum/tiled",
                         "%s", line);
        json_decref(answer);
    }
}

/* 65504 is fp16's largest number, and what all below 65520 round to. In the tree of sum/tiled 2027
 * ones in the last of 32 tiles are rounded up on every level, 4076, 8172, 16368, 32752, and then
 * there are too many; 2026 are not. */
Test(recommend, a_tree_ends_where_its_format_does, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *method;
        json_int_t holds_to;
    } cases[] = {{"sum/exact", 65519}, {"sum/tiled", 31 * 2048 + 2026}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line,
                 "--input ones --n 3000 --storage fp16 --accumulator fp16 --method %s "
                 "--confidence 0.9 --seconds 60 --force", /* of which it needs few */
                 cases[i].method);
        json_t *answer = recommend_line(STATUS_OK, line);
        const json_t *growth = json_object_get(answer, "growth");
        cr_expect_eq(json_integer_value(json_object_get(growth, "holds_to")), cases[i].holds_to);
        cr_expect_eq(json_integer_value(json_object_get(growth, "breaks_at")),
                     cases[i].holds_to + 1);
        cr_expect(json_integer_value(json_object_get(growth, "theorem_to")) <= 65504);
        json_decref(answer);
    }
}

/* Of positive elements, in fp32: (n-1) u <= 1e-4 up to n = 1678; and with lambda = sqrt(2 ln 200),
 * lambda sqrt(n) u <= 1e-4 up to (1e-4 / (lambda u))^2. A running sum of them stands still at 2^24.
 */
Test(recommend, theory_of_growth, .init = make_folder, .fini = remove_folder)
{
    json_t *answer =
        recommend_line(STATUS_OK, "--input uniform --n 1000 --storage fp32 --accumulator fp32 "
                                  "--method sum/serial --tolerance 1e-4 --seconds 1");
    const json_t *growth = json_object_get(answer, "growth");
    double likely = pow(1e-4 / (sqrt(2 * log(200)) * 0x1p-24), 2);
    cr_expect_float_eq(number_of(growth, "theorem_to"), 1678, 1);
    cr_expect_float_eq(number_of(growth, "likely_to"), likely, likely / 100);
    cr_expect_eq(number_of(growth, "stagnates_at"), 0x1p24);
    json_int_t breaks = json_integer_value(json_object_get(growth, "breaks_at"));
    cr_expect(breaks == 0 || breaks > 1678);
    json_decref(answer);
}

/* Errors of the data alone: relative to the exact sum, k times what they are to sum|x|. */
Test(recommend, condition_numbers_are_paid_for, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *cond;
        bool tiled_32, sum2_32, tiled_64, sum2_64, exact_32;
    } cases[] = {
        {"2^8", true, true, true, true, true},
        {"2^20", false, true, true, true, true},
        {"2^45", false, false, false, true, true},
        {"2^100", false, false, false, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line,
                 "--input cond --cond %s --n 1000 --storage fp32 --force --seconds 2 "
                 "--confidence 0.8 --tolerance 1e-5 --method sum/tiled,sum/sum2,sum/exact",
                 cases[i].cond);
        json_t *answer = recommend_line(STATUS_OK, line);
        cr_expect_eq(holds(answer, "sum/tiled", "fp32"), cases[i].tiled_32, "%s", line);
        cr_expect_eq(holds(answer, "sum/sum2", "fp32"), cases[i].sum2_32, "%s", line);
        cr_expect_eq(holds(answer, "sum/tiled", "fp64"), cases[i].tiled_64, "%s", line);
        cr_expect_eq(holds(answer, "sum/sum2", "fp64"), cases[i].sum2_64, "%s", line);
        cr_expect_eq(holds(answer, "sum/exact", "fp32"), cases[i].exact_32, "%s", line);
        cr_expect_not(holds(answer, "sum/exact", "fp16"), "%s", line);
        json_decref(answer);
    }
}

/* The sum of what a mean was taken from is what rounding left: nothing to a plain fp32 sum, but not
 * beside the magnitudes. */
Test(recommend, a_mean_subtracted, .init = make_folder, .fini = remove_folder)
{
    const char *line = "--input anderson --n 5000 --storage fp32 --force --seconds 2 "
                       "--confidence 0.8 --method sum/serial,sum/tiled,sum/sum2,sum/exact ";
    char words[512];
    snprintf(words, sizeof words, "%s--tolerance 1e-3", line);
    json_t *answer = recommend_line(STATUS_OK, words);
    cr_expect_not(holds(answer, "sum/serial", "fp32"));
    cr_expect_not(holds(answer, "sum/tiled", "fp32"));
    cr_expect(holds(answer, "sum/exact", "fp32"));
    cr_expect(holds(answer, "sum/tiled", "fp64"));
    json_decref(answer);
    snprintf(words, sizeof words, "%s--tolerance 1e-6 --quantity backward", line);
    answer = recommend_line(STATUS_OK, words);
    cr_expect(holds(answer, "sum/tiled", "fp32"));
    json_decref(answer);
}

/* What must hold by its theorem does. What is recommended is the first that holds in the order of
 * cost, and everything named for being cheaper breaks. */
Test(recommend, of_all_candidates, .init = make_folder, .fini = remove_folder)
{
    json_t *answer = recommend_line(STATUS_OK, "--data " ULPSCOPE_SOURCE
                                               "/tests/data/brain-signals-f16.npy --n 5000 "
                                               "--seconds 4 --confidence 0.9 --tolerance 4ulp");
    const json_t *all = json_object_get(answer, "candidates"), *c;
    const json_t *chosen = json_object_get(answer, "recommended");
    size_t i, recommended = 0, timed = 0;
    bool before = true;
    json_array_foreach (all, i, c) {
        bool is = strcmp(word_of(c, "is"), "recommended") == 0;
        bool broke = json_is_false(json_object_get(c, "holds"));
        recommended += is;
        before &= !is;
        timed += json_is_number(json_object_get(c, "of_raw"));
        cr_expect(broke || number_of(c, "largest_error") <= 4);
        cr_expect(!broke || !(number_of(json_object_get(c, "broken_by"), "error") <= 4));
        cr_expect(broke || !before || strstr(word_of(c, "method"), "two-level"));
        const json_t *bound = json_object_get(c, "bound");
        cr_expect(!json_is_number(bound) || json_number_value(bound) > 4 ||
                      number_of(c, "data_error") <= 4,
                  "%s in %s", word_of(c, "method"), word_of(c, "accumulator"));
    }
    cr_expect(recommended == 1 && timed > 20, "%zu, %zu", recommended, timed);
    cr_expect_eq(json_integer_value(json_object_get(chosen, "drawn")), 22); /* ln 0.1 / ln 0.9 */
    cr_expect(number_of(answer, "unseen") <= 0.1 && number_of(answer, "unseen") > 0.09);
    /* Of a candidate that never errs, both are inf. */
    double margin = number_of(answer, "margin"), due = 4 / number_of(chosen, "largest_error");
    cr_expect(margin == due || fabs(margin - due) <= 1e-9, "%g, not %g", margin, due);
    json_decref(answer);
}
