/* What a page says of costs and errors, of cases and times made by hand. */
#include <math.h>

#include "tests/support/page_told.h"

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
    to->field[TIMES_ACCUMULATOR] = to->field[TIMES_ADDED_IN] = (char *)accumulator;
    to->field[TIMES_IN_CACHE] = to->field[TIMES_RESULT_FORMAT] = "";
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

/* A single method adds in what it says; a pair of formats is that of all its methods. Beside a raw
 * read of the cache it is said to be one. */
Test(findings, what_the_fastest_adds_in_and_where_it_reads)
{
    struct costs c;
    struct text told = {0};
    make_costs(&c);
    for (size_t i = 0; i < c.report.times; i++) {
        c.time[i].field[TIMES_ADDED_IN] = "fp64 pairs";
        c.time[i].field[TIMES_IN_CACHE] = "yes";
    }
    c.time[3].field[TIMES_ADDED_IN] = "bf16";
    page_cost_findings(&told, &c.report);
    expect_told(&told,
                "in raw reads of the same data (uniform, fp32 added in fp32, cached):", true);
    expect_told(&told, "sum/tiled, fp32 added in bf16, result in fp64, at ", true);
    expect_told(&told, "80 GB/s, 0.80 of the raw read, cached.", true);
    text_clear(&told);
    c.time[3].field[TIMES_ADDED_IN] = "exact";
    c.time[3].field[TIMES_RESULT_FORMAT] = "fp16";
    c.time[3].field[TIMES_IN_CACHE] = "";
    page_cost_findings(&told, &c.report);
    expect_told(&told, "sum/tiled, fp32 added exactly, result in fp16, at ", true);
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

/* The method, and behind it its chip and interval, where it has any: "gemm/promoted ada 32". */
struct words {
    char word[3][32];
};

static struct words words_of(const char *method)
{
    struct words w = {{"", "", ""}};
    sscanf(method, "%31s %31s %31s", w.word[0], w.word[1], w.word[2]);
    return w;
}

static struct text errors_of(const struct said *said, size_t count, bool right_infinity)
{
    struct gathered_case item[CASES] = {0};
    struct words words[CASES];
    struct page r = {.g = {.item = item, .count = count}};
    struct text told = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < CASE_ALL; k++)
            item[i].field[k] = k == CASE_WORKSPACE || k == CASE_ALGORITHM ? "" : "same";
        words[i] = words_of(said[i].method);
        item[i].field[CASE_METHOD] = words[i].word[0];
        item[i].field[CASE_CHIP] = words[i].word[1];
        item[i].field[CASE_PROMOTE] = words[i].word[2];
        item[i].field[CASE_STORAGE] = "fp32";
        item[i].field[CASE_ACCUMULATOR] = (char *)said[i].accumulator;
        item[i].field[CASE_INPUT] = "ones";
        item[i].n = 4096;
        item[i].cond_log2 = known(said[i].err_ulp >= 16777216 ? 30 : 1);
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

/* The largest error of a method counts. */
Test(findings, least_and_most)
{
    EXPECT_ERRORS(
        "sum/tiled errs least, 3 ulp; sum/serial most, 7 ulp in its worst case (ones, n = 4096).",
        {"sum/tiled", "fp32", 1}, {"sum/serial", "fp32", 5}, {"sum/tiled", "fp32", 3},
        {"sum/pairwise", "fp32", 4}, {"sum/serial", "fp32", 7}, {"sum/kahan", "fp32", -1});
}

/* Those whose errors are printed alike are named together, the first three of them. */
Test(findings, ties)
{
    EXPECT_ERRORS(
        "sum/tiled and sum/pairwise err least, 3 ulp; sum/serial and sum/shuffle most, 7 ulp.",
        {"sum/tiled", "fp32", 1}, {"sum/serial", "fp32", 5}, {"sum/tiled", "fp32", 3},
        {"sum/pairwise", "fp32", 3.001}, {"sum/serial", "fp32", 7}, {"sum/shuffle", "fp32", 7},
        {"sum/kahan", "fp32", -1});
    EXPECT_ERRORS("sum/tiled, sum/kahan, sum/sum2 and 1 more err least, 0.5 ulp; sum/serial most, "
                  "7 ulp in its worst case",
                  {"sum/serial", "fp32", 7}, {"sum/tiled", "fp32", 0.5}, {"sum/kahan", "fp32", 0.5},
                  {"sum/sum2", "fp32", 0.5}, {"sum/exact", "fp32", 0.5});
}

/* From 2^24 ulps on an fp32 result shares no digit with the exact one: its ulps say nothing more,
 * neither which of two is further off nor, where all are so far off, which is the best. */
Test(findings, no_digit_is_right)
{
    EXPECT_ERRORS("sum/serial most: no digit is right in its worst case (ones, n = 4096, condition "
                  "number 2^30).",
                  {"sum/tiled", "fp32", 1}, {"sum/serial", "fp32", 16777216});
    EXPECT_ERRORS("sum/serial and sum/pairwise most: no digit is right in their worst cases (the "
                  "first: ones, n = 4096, condition number 2^30).",
                  {"sum/tiled", "fp32", 1}, {"sum/serial", "fp32", 16777216},
                  {"sum/pairwise", "fp32", 1e20});
    EXPECT_ERRORS(NULL, {"sum/sum2", "fp32", 1e8}, {"sum/serial", "fp32", 1e20});
    EXPECT_ERRORS("sum/serial most, 1.68e+07 ulp in its worst case (ones, n = 4096).",
                  {"sum/tiled", "fp32", 1}, {"sum/serial", "fp32", 16777215});
}

/* Chips and intervals of promotion are told apart. */
Test(findings, of_chips)
{
    EXPECT_ERRORS("gemm/promoted (h100, every 32) errs least, 2 ulp; gemm/mma (ada) most, 9 ulp in "
                  "its worst case",
                  {"gemm/mma h100", "fp32", 5}, {"gemm/mma ada", "fp32", 9},
                  {"gemm/promoted h100 32", "fp32", 2}, {"gemm/promoted h100 128", "fp32", 4});
}

/* What a heuristic was asked for tells series apart, and is named. */
Test(findings, of_algorithms)
{
    static const struct {
        const char *workspace, *algorithm, *due;
    } asked[] = {{"", "", "cublaslt/product_16"},
                 {"0", "", "cublaslt/product_16 (workspace 0)"},
                 {"", "3", "cublaslt/product_16 (algorithm 3)"},
                 {"0", "3", "cublaslt/product_16 (workspace 0, algorithm 3)"}};
    struct gathered_case c[4] = {0};
    for (size_t i = 0; i < 4; i++) {
        struct text name = {0};
        for (size_t k = 0; k < CASE_ALL; k++)
            c[i].field[k] = "";
        c[i].field[CASE_METHOD] = "cublaslt/product_16";
        c[i].field[CASE_WORKSPACE] = (char *)asked[i].workspace;
        c[i].field[CASE_ALGORITHM] = (char *)asked[i].algorithm;
        page_case_name(&name, &c[i]);
        cr_expect_str_eq(text_string(&name), asked[i].due);
        for (size_t k = 0; k <= i; k++)
            cr_expect_eq(page_same_method(&c[i], &c[k]), i == k, "%zu and %zu", i, k);
        text_free(&name);
    }
}

/* What other accumulators lead to is not mixed in, whichever comes first in the alphabet. */
Test(findings, one_pair_of_formats)
{
    static const char *const pair[] = {"fp32", "fp64", "fp16"};
    for (size_t k = 0; k < 3; k++)
        EXPECT_ERRORS("sum/tiled errs least, 2 ulp; sum/serial most, 4 ulp in its worst case",
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
    EXPECT_ERRORS("sum/tiled errs least, 3 ulp; sum/serial most, whose result is not finite.",
                  {"sum/serial", "fp32", INFINITY}, {"sum/tiled", "fp32", 3});
    EXPECT_ERRORS("sum/serial and sum/pairwise most, whose results are not finite.",
                  {"sum/serial", "fp32", INFINITY}, {"sum/pairwise", "fp32", INFINITY},
                  {"sum/tiled", "fp32", 3});
    EXPECT_ERRORS("sum/serial, sum/kahan and sum/pairwise most, whose results are not finite.",
                  {"sum/serial", "fp32", INFINITY}, {"sum/kahan", "fp32", NAN},
                  {"sum/pairwise", "fp32", INFINITY}, {"sum/tiled", "fp32", 3});
    EXPECT_ERRORS("each of the 2 methods of sum has a case whose result is not finite.",
                  {"sum/serial", "fp32", INFINITY}, {"sum/kahan", "fp32", NAN});
}

/* What is not known to add in the accumulator is not told to: neither alone, nor beside others. */
Test(findings, arithmetic_that_is_unknown)
{
    static const char *const added_in[] = {"fp32", "unknown", "undocumented"};
    for (size_t k = 0; k < 3; k++) {
        struct gathered_case item[2] = {{.err_over_bound = {true, 2}, .err_ulp = {true, 3}},
                                        {.err_over_bound = {true, 0.5}, .err_ulp = {true, 2}}};
        struct page r = {.g = {.item = item, .count = 2}};
        struct page_time time = {.of_raw = known(0.5)};
        struct text told = {0};
        const char *due = k ? "fp16 with fp32 asked for" : "fp16 added in fp32",
                   *not_due = k ? "added in" : "asked for";
        for (size_t i = 0; i < 2; i++) {
            for (size_t c = 0; c < CASE_ALL; c++)
                item[i].field[c] = "";
            item[i].field[CASE_METHOD] = i ? "sum/tiled" : "sum/serial";
            item[i].field[CASE_STORAGE] = "fp16";
            item[i].field[CASE_ACCUMULATOR] = "fp32";
            item[i].field[CASE_ADDED_IN] = i ? "fp32" : (char *)added_in[k];
        }
        page_findings(&told, &r);
        expect_told(&told, k ? "(sum/serial, fp16 with fp32 asked for, " : "fp16 added in fp32, ",
                    true);
        expect_told(&told, k ? "fp16 with fp32 asked for: sum/tiled errs least" : ": sum/tiled",
                    true);
        expect_told(&told, not_due, false);
        text_clear(&told);
        for (size_t c = 0; c < TIMES_COLUMNS; c++)
            time.field[c] = "";
        time.field[TIMES_STORAGE] = "fp16";
        time.field[TIMES_ACCUMULATOR] = "fp32";
        time.field[TIMES_ADDED_IN] = (char *)added_in[k];
        r = (struct page){.time = &time, .times = 1};
        page_cost_findings(&told, &r);
        expect_told(&told, due, true);
        expect_told(&told, not_due, false);
        text_clear(&told);
        page_case_formats(&told, &item[1], "");
        cr_expect_str_eq(text_string(&told), "fp16 added in fp32");
        text_free(&told);
    }
}

Test(findings, names_of_files_without_their_folders)
{
    static const char *const names[][2] = {
        {"python:experiments/examples/f.py:sum@numpy in fp32", "python:f.py:sum@numpy in fp32"},
        {"build/loss.so:atomic", "loss.so:atomic"},
        {"exec:python3 a/b.py", "exec:python3 a/b.py"},
        {"python:torch.sum", "python:torch.sum"},
        {"sum/tiled in fp32", "sum/tiled in fp32"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct text name = {0};
        page_short_name(&name, names[i][0]);
        cr_expect_str_eq(text_string(&name), names[i][1]);
        text_free(&name);
    }
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

/* ---- how much of the study there is ---- */

Test(findings, of_a_part_of_a_study)
{
    static const struct {
        const char *study, *due;
    } row[] = {
        {"{}", ", on a machine that study.json does not name."},
        {"{\"cases_began\": \"a\", \"cases_ended\": \"b\"}",
         ", on a machine that study.json does not name."},
        {"{\"cases_began\": \"a\"}", "; the study is not finished."},
        {"{\"shard\": \"2/3\"}", "; shard 2/3 of the study."},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct gathered_case item[1] = {{.runs = 1}};
        struct page r = {
            .g = {.item = item, .count = 1, .study = json_loads(row[i].study, 0, NULL)}};
        struct text told = {0};
        for (size_t k = 0; k < CASE_ALL; k++)
            item[0].field[k] = "";
        page_findings(&told, &r);
        expect_told(&told, row[i].due, true);
        text_free(&told);
        json_decref(r.g.study);
    }
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

/* A share of a bound that it does not reach is not told as 1. */
Test(findings, nearly_a_bound)
{
    static const double share[] = {0.9996, 1.0004};
    static const char *const due[] = {"the largest is 0.9996 of it (",
                                      "at worst by a factor of 1.0004 ("};
    for (size_t i = 0; i < 2; i++) {
        struct gathered_case item[1] = {{.runs = 1, .err_over_bound = {true, share[i]}}};
        struct page r = {.g = {.item = item, .count = 1}};
        struct text told = {0};
        for (size_t k = 0; k < CASE_ALL; k++)
            item[0].field[k] = "";
        page_findings(&told, &r);
        expect_told(&told, due[i], true);
        text_free(&told);
    }
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
