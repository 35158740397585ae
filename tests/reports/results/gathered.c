/* What is gathered of rows of results.csv, written by hand. */
#include <math.h>
#include <sys/stat.h>

#include "reports/results/gathered.h"
#include "reference/format/number.h"
#include "reports/columns/columns.h"
#include "tests/support/files.h"

struct told {
    enum results_column column;
    const char *text;
};

/* A row of one case of sums; the last of what is told has no text. */
static void add_row(struct bytes *file, const struct told *told, size_t run)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", run);
    const struct told always[] = {{RESULTS_EXPERIMENT, "accuracy"},
                                  {RESULTS_CASE_ID, "00000000000000aa"},
                                  {RESULTS_RUN, number},
                                  {RESULTS_METHOD, "sum/tiled"},
                                  {RESULTS_METHOD + CASE_PROMISE - CASE_METHOD, "none"},
                                  {RESULTS_METHOD + CASE_N - CASE_METHOD, "10"},
                                  {RESULTS_STATUS, "ok"}};
    const char *cell[RESULTS_COLUMNS];
    for (size_t i = 0; i < RESULTS_COLUMNS; i++)
        cell[i] = "";
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        cell[always[i].column] = always[i].text;
    for (; told->text; told++)
        cell[told->column] = told->text;
    char hex[2][NUMBER_TEXT] = {"", ""}; /* a row that contradicts itself is refused */
    if (*cell[RESULTS_RESULT])
        number_hex(hex[0], strtod(cell[RESULTS_RESULT], NULL));
    if (*cell[RESULTS_EXACT])
        number_hex(hex[1], strtod(cell[RESULTS_EXACT], NULL));
    cell[RESULTS_RESULT_HEX] = hex[0];
    cell[RESULTS_EXACT_HEX] = hex[1];
    for (size_t i = 0; i < RESULTS_COLUMNS; i++) {
        add_string(file, cell[i]);
        add_string(file, i + 1 < RESULTS_COLUMNS ? "," : "\n");
    }
}

/* A directory with these rows, read; gathered_free is due. */
static enum status gather(struct gathered *g, const struct told (*row)[8], size_t rows,
                          struct problem *p)
{
    struct bytes study = {0}, file = {0};
    struct text header = {0};
    char line[128];
    snprintf(line, sizeof line,
             "{\"schema_version\": %d, \"experiment\": \"accuracy\", \"axes\": {}}",
             SCHEMA_VERSION);
    add_string(&study, line);
    put_file("study.json", &study);
    columns_header(&header, results_column, RESULTS_COLUMNS);
    add_bytes(&file, header.data, header.length);
    for (size_t i = 0; i < rows; i++)
        add_row(&file, row[i], i + 1);
    put_file("results.csv", &file);
    text_free(&header);
    clear_bytes(&study);
    clear_bytes(&file);
    *g = (struct gathered){0};
    return gathered_read(g, folder, p);
}

static struct gathered_case *gather_one(struct gathered *g, const struct told (*row)[8],
                                        size_t rows)
{
    struct problem p = {0};
    cr_assert(gather(g, row, rows, &p) == STATUS_OK, "%s", p.text);
    cr_assert_eq(g->count, 1);
    return g->item;
}

#define BITS  RESULTS_RESULT_BITS
#define COUNT (sizeof row / sizeof *row)

Test(gathered, distinct_bits, .init = make_folder, .fini = remove_folder)
{
    static const struct told row[][8] = {{{BITS, "0x3f800001"}},
                                         {{BITS, "0x3F800000"}},
                                         {{BITS, ""}, {RESULTS_STATUS, "error"}},
                                         {{BITS, "0x3f800001"}},
                                         {{BITS, "0x3f7fffff"}},
                                         {{BITS, "0x0123456789abcdeffedcba9876543210"}}};
    struct gathered g;
    const struct gathered_case *c = gather_one(&g, row, COUNT);
    bool whole = false;
    cr_expect_eq(c->runs, 5);
    cr_expect_eq(c->distinct, 4);
    cr_expect_str_eq(c->first, "0x3f800001");
    cr_expect_str_eq(c->status, "error");
    for (size_t i = 0; i < c->distinct; i++)
        whole |=
            c->bits[i].word[0] == 0x0123456789abcdef && c->bits[i].word[1] == 0xfedcba9876543210;
    cr_expect(whole);
    gathered_free(&g);
}

Test(gathered, bits_that_are_none, .init = make_folder, .fini = remove_folder)
{
    static const char *const wrong[] = {"0x", "3f800000", "0x3f80000g",
                                        "0x0123456789abcdeffedcba98765432100"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct told row[][8] = {{{BITS, wrong[i]}}};
        struct gathered g;
        struct problem p = {0};
        cr_expect_eq(gather(&g, row, 1, &p), STATUS_DATA, "%s", wrong[i]);
        cr_expect(strstr(p.text, "result_bits"), "%s", p.text);
        gathered_free(&g);
    }
}

/* err_ulp has the sign of what it is off; the largest errors and the least time of all runs. */
Test(gathered, figures_of_runs, .init = make_folder, .fini = remove_folder)
{
    static const struct told row[][8] = {{{BITS, "0x1"},
                                          {RESULTS_RESULT, "1"},
                                          {RESULTS_EXACT, "3"},
                                          {RESULTS_ERR_ULP, "2"},
                                          {RESULTS_ERR_REL, "0.5"},
                                          {RESULTS_ERR_ABS, "7"},
                                          {RESULTS_TIME_NS, "30"}},
                                         {{BITS, "0x2"},
                                          {RESULTS_RESULT, "4"},
                                          {RESULTS_EXACT, "3"},
                                          {RESULTS_ERR_ULP, "1"},
                                          {RESULTS_ERR_REL, "0.25"},
                                          {RESULTS_TIME_NS, "10"}},
                                         {{BITS, "0x3"}, {RESULTS_TIME_NS, "20"}}};
    struct gathered g;
    const struct gathered_case *c = gather_one(&g, row, COUNT);
    cr_expect_eq(c->offset[0], -2);
    cr_expect_eq(c->offset[1], 1);
    cr_expect(isnan(c->offset[2]));
    cr_expect_eq(c->err_ulp.value, 2);
    cr_expect_eq(c->err_rel.value, 0.5);
    cr_expect_eq(c->time_ns.value, 10);
    gathered_free(&g);
}

/* The bound over sum|x|, which the backward error tells, or else the condition number. */
Test(gathered, bound_over_size, .init = make_folder, .fini = remove_folder)
{
    static const enum results_column cond = RESULTS_METHOD + CASE_COND_LOG2 - CASE_METHOD;
    const struct told row[][8] = {{{BITS, "0x1"},
                                   {RESULTS_ERR_ABS, "2"},
                                   {RESULTS_ERR_BACKWARD, "0.5"},
                                   {RESULTS_BOUND, "8"}}},
                      exact[][8] = {{{BITS, "0x1"},
                                     {RESULTS_ERR_ABS, "0"},
                                     {RESULTS_ERR_BACKWARD, "0"},
                                     {RESULTS_EXACT, "-3"},
                                     {cond, "2"},
                                     {RESULTS_BOUND, "6"}}},
                      nothing[][8] = {{{BITS, "0x1"}, {RESULTS_BOUND, "6"}}};
    struct gathered g;
    cr_expect_eq(gather_one(&g, row, 1)->bound.value, 2);
    gathered_free(&g);
    cr_expect_eq(gather_one(&g, exact, 1)->bound.value, 0.5);
    gathered_free(&g);
    cr_expect(!gather_one(&g, nothing, 1)->bound.known);
    gathered_free(&g);
}

Test(gathered, infinities_that_are_right, .init = make_folder, .fini = remove_folder)
{
    static const struct told right[][8] = {{{BITS, "0x7c00"}, {RESULTS_RESULT, "inf"}}},
                             overflow[][8] = {{{BITS, "0x7c00"},
                                               {RESULTS_RESULT, "inf"},
                                               {RESULTS_STATUS, "overflow"}}};
    struct gathered g;
    cr_expect(gather_one(&g, right, 1)->right_infinity);
    gathered_free(&g);
    cr_expect(!gather_one(&g, overflow, 1)->right_infinity);
    gathered_free(&g);
}
