/* What a page says of costs and errors, of cases and times made by hand; and what is gathered of
 * rows written by hand. */
#include <math.h>
#include <sys/stat.h>

#include "reports/page/report.h"
#include "reference/format/number.h"
#include "tests/support/files.h"

static void expect_told(struct text *told, const char *what, bool due)
{
    const char *string = text_string(told);
    cr_expect((strstr(string, what) != NULL) == due, "%s'%s' in: %s", due ? "no " : "", what,
              string);
}

static struct figure known(double value)
{
    return (struct figure){true, value};
}

/* ---- costs ---- */

enum { TIMES = 8, CASES = 8 };

struct costs {
    struct page_time time[TIMES];
    struct gathered_case item[CASES];
    struct page report;
};

static void add_method(struct costs *c, const char *method, enum promise promise)
{
    struct gathered_case *to = &c->item[c->report.g.count++];
    for (size_t k = 0; k < CASE_ALL; k++)
        to->field[k] = "";
    to->field[CASE_METHOD] = (char *)method;
    to->promise = promise;
}

static void add_time(struct costs *c, const char *method, const char *accumulator,
                     const char *input, double of_raw)
{
    struct page_time *to = &c->time[c->report.times++];
    for (size_t k = 0; k < TIMES_COLUMNS; k++)
        to->field[k] = "same";
    to->field[TIMES_METHOD] = (char *)method;
    to->field[TIMES_STORAGE] = "fp32";
    to->field[TIMES_ACCUMULATOR] = (char *)accumulator;
    to->field[TIMES_INPUT] = (char *)input;
    to->gb_per_s = known(100 * of_raw);
    to->of_raw = of_raw > 0 ? known(of_raw) : (struct figure){0};
}

static void make_costs(struct costs *c)
{
    *c = (struct costs){.report = {.time = c->time, .g.item = c->item}};
    add_method(c, "sum/atomic", PROMISE_NONE);
    add_method(c, "sum/shuffle", PROMISE_RUN_TO_RUN);
    add_method(c, "sum/tiled", PROMISE_GPU_TO_GPU);
    add_method(c, "sum/exact", PROMISE_CORRECTLY_ROUNDED);
    add_time(c, "sum/atomic", "fp32", "another", 0.625); /* promises nothing: not the first */
    add_time(c, "sum/shuffle", "fp32", "uniform", 0.5);
    add_time(c, "sum/tiled", "fp32", "uniform", 0.4);
    add_time(c, "sum/tiled", "fp64", "uniform", 0.8); /* other formats */
    add_time(c, "sum/tiled", "fp32", "wide", 0.75);   /* another input */
    add_time(c, "sum/exact", "fp32", "uniform", 0.125);
    add_time(c, "sum/exact", "fp32", "uniform", 0.25);
    add_time(c, "sum/exact", "fp32", "uniform", 0); /* not known */
}

Test(findings, what_promises_cost)
{
    struct costs c;
    struct text told = {0};
    make_costs(&c);
    page_cost_findings(&told, &c.report);
    expect_told(&told, "in raw reads of the same data (uniform, fp32 added in fp32", true);
    expect_told(&told,
                ": run_to_run 2.00 (sum/shuffle), gpu_to_gpu 2.50 (sum/tiled), order_invariant "
                "4.00 (sum/exact), correctly_rounded 4.00 (sum/exact).",
                true);
    text_free(&told);
}

Test(findings, the_fastest)
{
    struct costs c;
    struct text told = {0};
    make_costs(&c);
    page_cost_findings(&told, &c.report);
    expect_told(&told, "Fastest beside a raw read of the same data: sum/tiled, fp32 added in fp64",
                true);
    expect_told(&told, "80 GB/s, 0.80 of the raw read.", true);
    text_free(&told);
}

/* Candidates are of several accumulators, whose costs are no promise's; nothing timed, nothing
 * said. */
Test(findings, costs_that_are_not_told)
{
    struct costs c;
    struct text told = {0};
    make_costs(&c);
    c.report.candidates = 1;
    page_cost_findings(&told, &c.report);
    expect_told(&told, "What each promise costs", false);
    expect_told(&told, "Fastest", true);
    text_clear(&told);
    c.report.times = c.report.candidates = 0;
    page_cost_findings(&told, &c.report);
    cr_expect_eq(told.length, 0);
    text_free(&told);
}

/* ---- errors ---- */

struct said {
    const char *method, *accumulator;
    double err_ulp; /* negative: not known */
};

static struct text errors_of(const struct said *said, size_t count, bool right_infinity)
{
    struct gathered_case item[CASES] = {0};
    struct page r = {.g = {.item = item, .count = count}};
    struct text told = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < CASE_ALL; k++)
            item[i].field[k] = "same";
        item[i].field[CASE_METHOD] = (char *)said[i].method;
        item[i].field[CASE_STORAGE] = "fp32";
        item[i].field[CASE_ACCUMULATOR] = (char *)said[i].accumulator;
        item[i].err_ulp = said[i].err_ulp < 0 ? (struct figure){0} : known(said[i].err_ulp);
        item[i].right_infinity = right_infinity;
    }
    page_error_findings(&told, &r);
    return told;
}

static void expect_errors(const struct said *said, size_t count, const char *due)
{
    struct text told = errors_of(said, count, false);
    if (due)
        expect_told(&told, due, true);
    else
        cr_expect(told.length == 0, "%s", text_string(&told));
    text_free(&told);
}

#define EXPECT_ERRORS(due, ...)                                                                    \
    expect_errors((const struct said[]){__VA_ARGS__},                                              \
                  sizeof((const struct said[]){__VA_ARGS__}) / sizeof(struct said), due)

/* Of those that err by as much the first; the largest error of a method counts. */
Test(findings, least_and_most)
{
    EXPECT_ERRORS("sum/tiled errs least, 3 ulp in its worst case; sum/serial most, 7 ulp.",
                  {"sum/tiled", "fp32", 1}, {"sum/serial", "fp32", 5}, {"sum/tiled", "fp32", 3},
                  {"sum/pairwise", "fp32", 3}, {"sum/serial", "fp32", 7},
                  {"sum/shuffle", "fp32", 7}, {"sum/kahan", "fp32", -1});
}

/* From 2^24 ulps on an fp32 result shares no digit with the exact one: its ulps say nothing more.
 */
Test(findings, no_digit_is_right)
{
    EXPECT_ERRORS("sum/serial most: in its worst case no digit is right.", {"sum/tiled", "fp32", 1},
                  {"sum/serial", "fp32", 16777216});
    EXPECT_ERRORS("sum/serial most, 1.68e+07 ulp.", {"sum/tiled", "fp32", 1},
                  {"sum/serial", "fp32", 16777215});
}

/* What other accumulators lead to is not mixed in, whichever comes first in the alphabet. */
Test(findings, one_pair_of_formats)
{
    static const char *const pair[] = {"fp32", "fp64", "fp16"};
    for (size_t k = 0; k < 3; k++)
        EXPECT_ERRORS("sum/tiled errs least, 2 ulp in its worst case; sum/serial most, 4 ulp.",
                      {"sum/tiled", "fp32", 2}, {"sum/serial", "fp32", 4},
                      {"sum/serial", pair[k], k ? 1000 : 3}, {"sum/tiled", pair[k], k ? 1000 : 1});
}

/* The pair of formats is that of the operation's own cases. */
Test(findings, one_operation)
{
    EXPECT_ERRORS("fp32 added in fp16", {"dot/tiled", "fp32", 1}, {"dot/serial", "fp32", 2},
                  {"sum/tiled", "fp16", 2}, {"sum/serial", "fp16", 4});
}

Test(findings, results_that_are_not_finite)
{
    EXPECT_ERRORS("sum/tiled errs least, 3 ulp in its worst case; sum/serial most, whose result "
                  "is not finite.",
                  {"sum/serial", "fp32", INFINITY}, {"sum/tiled", "fp32", 3});
    EXPECT_ERRORS("sum/serial and 1 other most, whose results are not finite.",
                  {"sum/serial", "fp32", INFINITY}, {"sum/pairwise", "fp32", INFINITY},
                  {"sum/tiled", "fp32", 3});
    EXPECT_ERRORS("sum/kahan and 2 others most, whose results are not finite.",
                  {"sum/serial", "fp32", INFINITY}, {"sum/kahan", "fp32", NAN},
                  {"sum/pairwise", "fp32", INFINITY}, {"sum/tiled", "fp32", 3});
    EXPECT_ERRORS("each of the 2 methods of sum has a case whose result is not finite.",
                  {"sum/serial", "fp32", INFINITY}, {"sum/kahan", "fp32", NAN});
}

/* Of one method, of methods that err by as much, of moves there is nothing to say. */
Test(findings, nothing_to_say)
{
    EXPECT_ERRORS(NULL, {"sum/tiled", "fp32", 3});
    EXPECT_ERRORS(NULL, {"sum/tiled", "fp32", INFINITY});
    EXPECT_ERRORS(NULL, {"sum/tiled", "fp32", 3}, {"sum/serial", "fp32", 3});
    EXPECT_ERRORS(NULL, {"compact/scan", "fp32", 0}, {"cub/select", "fp32", 1});
    EXPECT_ERRORS(NULL, {"transpose/naive", "fp32", 0}, {"transpose/tiled", "fp32", 1});
}

/* An infinity that the exact sum rounds to is no error; a finite error in the same case is. */
Test(findings, infinities_that_are_right)
{
    static const struct said infinite[] = {{"sum/serial", "fp32", INFINITY},
                                           {"sum/tiled", "fp32", INFINITY}},
                             finite[] = {{"sum/serial", "fp32", 5}, {"sum/tiled", "fp32", 2}};
    struct text told = errors_of(infinite, 2, true);
    cr_expect(told.length == 0, "%s", text_string(&told));
    text_free(&told);
    told = errors_of(finite, 2, true);
    expect_told(&told, "sum/tiled errs least, 2 ulp", true);
    text_free(&told);
}

/* ---- what is gathered of results.csv ---- */

struct told {
    enum results_column column;
    const char *text;
};

/* A row of one case of sums; the last of what is told has no text. */
static void add_row(struct bytes *file, const struct told *told)
{
    static const struct told always[] = {{RESULTS_EXPERIMENT, "accuracy"},
                                         {RESULTS_CASE_ID, "00000000000000aa"},
                                         {RESULTS_RUN, "1"},
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
        add_row(&file, row[i]);
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

/* ---- different results ---- */

/* Of what promises the same bits two cases gave two and three results, two gave one. */
Test(findings, how_many_results)
{
    static const struct {
        enum promise promise;
        size_t distinct;
        uint64_t runs;
    } is[] = {{PROMISE_RUN_TO_RUN, 2, 10}, {PROMISE_RUN_TO_RUN, 1, 20}, {PROMISE_NONE, 7, 30},
              {PROMISE_GPU_TO_GPU, 3, 40}, {PROMISE_RUN_TO_RUN, 1, 50}, {PROMISE_RUN_TO_RUN, 1, 5}};
    enum { HAND_MADE = sizeof is / sizeof *is };
    struct gathered_case item[HAND_MADE] = {0};
    struct page r = {.g = {.item = item, .count = HAND_MADE}};
    struct text told = {0};
    for (size_t i = 0; i < HAND_MADE; i++) {
        for (size_t k = 0; k < CASE_ALL; k++)
            item[i].field[k] = "";
        item[i].promise = is[i].promise;
        item[i].distinct = is[i].distinct;
        item[i].runs = is[i].runs;
    }
    page_findings(&told, &r);
    expect_told(&told, "2 cases of methods that promise the same bits from run to run gave several",
                true);
    expect_told(&told, ": 2 in 10 runs.", true);
    expect_told(&told, "gave one result each, in up to 50 runs.", true);
    expect_told(&told, "Most variation: 7 different results in 30 runs (", true);
    text_free(&told);
}

/* A promise that is broken is told before a bound that holds. */
Test(findings, what_is_broken_first)
{
    struct gathered_case item[1] = {
        {.promise = PROMISE_RUN_TO_RUN, .distinct = 2, .runs = 10, .err_over_bound = {true, 0.5}}};
    struct page r = {.g = {.item = item, .count = 1}};
    struct text told = {0};
    for (size_t k = 0; k < CASE_ALL; k++)
        item[0].field[k] = "";
    page_findings(&told, &r);
    expect_told(&told, "<ul>\n<li class=\"bad\">1 case of methods that promise", true);
    expect_told(
        &told,
        "</li>\n<li class=\"good\">No error exceeds its method&#39;s bound (1 case with one); ",
        true);
    text_free(&told);
}

/* ---- cliffs ---- */

/* Of three methods the first to lose all digits and the last; or one that does not. */
Test(findings, first_and_last_cliff)
{
    static const char *const method[] = {"sum/tiled", "sum/serial", "sum/exact"};
    static const double cliff[] = {20, 10, 30}, cond[] = {5, 10, 20, 30};
    enum { METHODS = 3, CONDS = 4 };
    struct gathered_case item[METHODS * CONDS] = {0};
    struct page r = {.g = {.item = item, .count = METHODS * CONDS}};
    for (size_t lasts = 0; lasts < 2; lasts++) {
        struct text told = {0};
        for (size_t i = 0; i < METHODS * CONDS; i++) {
            size_t m = i / CONDS;
            bool lost = cond[i % CONDS] >= cliff[m] && !(lasts && m == 2);
            for (size_t k = 0; k < CASE_ALL; k++)
                item[i].field[k] = "";
            item[i].field[CASE_METHOD] = (char *)method[m];
            item[i].field[CASE_STORAGE] = item[i].field[CASE_ACCUMULATOR] = "fp32";
            item[i].field[CASE_INPUT] = "cond";
            item[i].runs = 1;
            item[i].cond_log2 = known(cond[i % CONDS]);
            item[i].err_rel = known(lost ? 1 : 1e-3);
            item[i].err_ulp = known(lost ? 1e7 : 1e4);
        }
        page_findings(&told, &r);
        expect_told(&told,
                    "sum/serial has no digit right from a condition number of 2^10 on, "
                    "the last to lose all is sum/exact, at 2^30.",
                    !lasts);
        expect_told(&told, "sum/exact still has some at 2^30, the largest tried.", lasts);
        text_free(&told);
    }
}
