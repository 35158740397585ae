/* Where a case ran, of how many terms its outputs are, and what is said of weights that stand
 * still. */
#include <math.h>
#include "tests/support/page_told.h"

/* ---- where a case ran, and what its outputs are of ---- */

static void expect_place(const char *method, const char *keys, const char *bins, double terms,
                         const char *name, const char *due)
{
    struct gathered_case c = {.n = 6000};
    const struct page r = {0};
    struct text told = {0};
    for (size_t k = 0; k < CASE_ALL; k++)
        c.field[k] = "";
    c.field[CASE_METHOD] = (char *)method;
    c.field[CASE_INPUT] = "ones";
    c.field[CASE_DEVICE] = "cpu";
    c.field[CASE_KEYS] = (char *)keys;
    c.field[CASE_BINS] = (char *)bins;
    page_case_place(&told, &c);
    cr_expect_str_eq(text_string(&told), due);
    text_free(&told);
    const struct page_terms of = page_terms(&r, &c);
    cr_expect(of.count == terms && strcmp(of.name, name) == 0, "%s: %g %s", method, of.count,
              of.name);
}

/* An output of a product adds K products, however many elements its matrices have; of ranks one
 * element each; of bins at most all. */
Test(places, and_terms)
{
    expect_place("sum/serial", "", "", 6000, "n", "ones, n = 6000, cpu");
    expect_place("gemm/tiled", "10x20x190", "200", 190, "k", "ones, 10x20x190, cpu");
    expect_place("allreduce/ring", "ranks:3", "2000", 3, "ranks", "ones, n = 6000, 3 ranks, cpu");
    expect_place("rows/tiled", "row", "12", 500, "row_length", "ones, n = 6000, 12 rows, cpu");
    expect_place("scatter/sort", "zipf:s=1.1", "50", 6000, "n",
                 "ones, n = 6000, keys zipf:s=1.1, 50 bins, cpu");
}

/* ---- weights that stand still ---- */

static void expect_steps(const char *const (*row)[3], size_t count, const char *due, bool good)
{
    char *cell[8 * STEPS_COLUMNS];
    struct page r = {.steps = {count, STEPS_COLUMNS, cell}};
    struct text told = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < STEPS_COLUMNS; k++)
            cell[i * STEPS_COLUMNS + k] = "";
        cell[i * STEPS_COLUMNS + STEPS_STEP] = cell[i * STEPS_COLUMNS + STEPS_N] = "100";
        cell[i * STEPS_COLUMNS + STEPS_STILL_FROM] = (char *)row[i][0];
        cell[i * STEPS_COLUMNS + STEPS_PREDICTED] = (char *)row[i][1];
        cell[i * STEPS_COLUMNS + STEPS_STATUS] = (char *)row[i][2];
    }
    page_steps_findings(&told, &r);
    expect_told(&told, due, true);
    expect_told(&told, "<li class=\"good\">", good);
    text_free(&told);
}

/* One that never stands still does not stand still at a step. */
Test(places, weights_that_move_on)
{
    static const char *const as_predicted[][3] = {{"7", "7", "ok"},
                                                  {"", "0", "ok"},
                                                  {"", "0", "ok"},
                                                  {"", "", "ok"}},
                             *const others[][3] = {{"7", "8", "ok"}, {"9", "9", "ok"}},
                             *const beyond[][3] = {{"1", "1", "ok"},
                                                   {"7", "7", "overflow"},
                                                   {"", "0", "overflow"},
                                                   {"7", "", "overflow"},
                                                   {"", "0", "ok"}};
    expect_steps(as_predicted, 4,
                 "3 of 3 plain weights with equal updates do as predicted: 1 stands still from the "
                 "predicted step on, 2 move at every step.",
                 true);
    expect_steps(as_predicted + 1, 2,
                 "2 of 2 plain weights with equal updates do as predicted: 2 "
                 "move at every step.",
                 true);
    expect_steps(others, 2,
                 "1 of 2 plain weights with equal updates do as predicted: 1 stands "
                 "still from the predicted step on.",
                 false);
    expect_steps(beyond, 5,
                 "4 of 4 plain weights with equal updates do as predicted: 1 stands still from the "
                 "predicted step on (1 from the first: no update has an effect), 2 leave the range "
                 "of the format at the predicted step, 1 moves at every step.",
                 true);
    expect_steps(others, 1, "0 of 1 plain weights with equal updates do as predicted: none.",
                 false);
}
