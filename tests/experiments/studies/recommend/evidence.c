/* What recommend tells is what it tried: lengths, drawn arrays, rates, walls. */
#include <math.h>

#include "experiments/data/data.h"
#include "experiments/studies/recommend/candidates.h"
#include "experiments/runs/runner.h"
#include "tests/support/recommends.h"

/* The error of n elements x of fp16, relative to the exact sum, by the method in fp16. */
static double error_of_many(const struct method *m, double x, size_t n)
{
    static uint16_t bits[10000];
    uint16_t result = 0;
    const struct array in = {FP16, n, bits}, out = {FP16, 1, &result};
    for (size_t i = 0; i < n; i++)
        bits[i] = (uint16_t)format_encode(FP16, x);
    x = format_decode(FP16, bits[0]); /* n of them are a double */
    const struct runner r = {.of = &(struct operands){.in = in},
                             .method = m,
                             .accumulator = FP16,
                             .output = FP16,
                             .shape = method_shape(m, DEVICE_CPU, n, (struct shape){0})};
    cr_assert_eq(runner_once(&r, &out, NULL), STATUS_OK);
    return fabs(format_decode(FP16, result) - (double)n * x) / ((double)n * x);
}

/* What is told of growth is true of every length that results.csv has. */
static void expect_true_growth(const json_t *answer, double limit)
{
    const json_t *growth = json_object_get(answer, "growth");
    uint64_t holds_to = (uint64_t)number_of(growth, "holds_to");
    uint64_t breaks_at = (uint64_t)number_of(growth, "breaks_at");
    size_t lengths = 0, broke = 0;
    struct rows runs = rows_of(in_folder("out"), "results", results_column, RESULTS_COLUMNS);
    for (size_t i = 0; i < runs.count; i++) {
        if (!strstr(field_of(&runs, i, RESULTS_METHOD + CASE_INPUT - CASE_METHOD), ":extended"))
            continue;
        uint64_t n = strtoull(field_of(&runs, i, RESULTS_METHOD + CASE_N - CASE_METHOD), NULL, 10);
        bool holds = strtod(field_of(&runs, i, RESULTS_ERR_REL), NULL) <= limit;
        lengths++;
        broke += n == breaks_at && !holds;
        cr_expect(holds || (breaks_at > 0 && n >= breaks_at), "%llu", (unsigned long long)n);
        cr_expect(!holds || n <= holds_to || (breaks_at > 0 && n > breaks_at), "%llu",
                  (unsigned long long)n);
    }
    cr_expect_eq(number_of(growth, "lengths"), lengths);
    cr_expect_eq(broke, breaks_at > 0);
    cr_expect(breaks_at == 0 || holds_to < breaks_at, "%llu, %llu", (unsigned long long)holds_to,
              (unsigned long long)breaks_at);
    rows_free(&runs);
}

/* Errors of equal elements come and go with the length: a length that holds far out says nothing of
 * those below it. */
Test(recommend_evidence, growth_is_not_monotonic, .init = make_folder, .fini = remove_folder)
{
    const double limit = 0.0008333333;
    const struct method *m = method_named("sum/tiled");
    json_t *answer = recommend_line(
        STATUS_OK, "--input ones:value=0.7 --n 100 --storage fp16 --method sum/tiled --accumulator "
                   "fp16 --tolerance 0.0008333333 --seconds 2 --confidence 0.8");
    const json_t *growth = json_object_get(answer, "growth");
    uint64_t first = 101, ranges = 0;
    while (error_of_many(m, 0.7, first) <= limit)
        first++;
    for (uint64_t n = first; n < 9000; n++)
        ranges += error_of_many(m, 0.7, n) > limit && error_of_many(m, 0.7, n + 1) <= limit;
    cr_expect(first == 102 && ranges > 100, "%llu, %llu", (unsigned long long)first,
              (unsigned long long)ranges);
    cr_expect_eq(number_of(growth, "breaks_at"), first);
    cr_expect_eq(number_of(growth, "holds_to"), first - 1);
    expect_true_growth(answer, limit);
    json_decref(answer);
}

/* Powers of two hold to 8190, and edges of rows below them break. */
Test(recommend_evidence, growth_breaks_below_what_held, .init = make_folder, .fini = remove_folder)
{
    json_t *answer = recommend_line(
        STATUS_OK, "--input ones:value=0.7 --n 300 --storage fp16 --method sum/tiled --accumulator "
                   "fp16 --tolerance 0.0012 --seconds 20 --confidence 0.8");
    cr_expect(number_of(json_object_get(answer, "growth"), "breaks_at") < 8190);
    expect_true_growth(answer, 0.0012);
    json_decref(answer);
}

/* The lengths tried are those that are said: what breaks at an edge alone is found. */
Test(recommend_evidence, lengths_are_dense_at_edges, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *line;
        uint64_t due[7];
    } cases[] = {
        {"--n 100 --method sum/serial --tolerance 1e-4", {101, 164, 255, 257, 1025, 2048, 2049}},
        {"--n 3000 --method sum/exact", {3001, 3064, 3071, 4095, 4097, 8193, 65520}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char line[256];
        bool found[7] = {false};
        /* It takes a second, but is cut off by the clock: on a busy machine 20 s were too few. */
        snprintf(line, sizeof line,
                 "--input ones --storage fp16 --accumulator fp16 --seconds 200 --confidence 0.8 "
                 "--force %s",
                 cases[k].line);
        json_t *answer = recommend_line(STATUS_OK, line);
        struct rows runs = rows_of(in_folder("out"), "results", results_column, RESULTS_COLUMNS);
        for (size_t i = 0; i < runs.count; i++)
            for (size_t d = 0; d < 7; d++)
                found[d] |= strstr(field_of(&runs, i, RESULTS_METHOD + CASE_INPUT - CASE_METHOD),
                                   ":extended") &&
                            strtoull(field_of(&runs, i, RESULTS_METHOD + CASE_N - CASE_METHOD),
                                     NULL, 10) == cases[k].due[d];
        for (size_t d = 0; d < 7; d++)
            cr_expect(found[d], "%llu", (unsigned long long)cases[k].due[d]);
        expect_true_growth(answer, k ? 1e-3 : 1e-4);
        rows_free(&runs);
        json_decref(answer);
    }
}

static bool is_drawn(const char *input)
{
    return strstr(input, ":resample=") || strstr(input, ":shuffle=");
}

/* recommend.csv counts what results.csv shows. */
Test(recommend_evidence, drawn_arrays_are_counted, .init = make_folder, .fini = remove_folder)
{
    json_t *answer = recommend_line(
        STATUS_OK, "--input symmetric --n 500 --storage fp32 --tolerance 1e-6 --seconds 2 "
                   "--confidence 0.9 --method sum/serial,sum/pairwise,sum/tiled,sum/exact "
                   "--accumulator fp16,fp32,fp64");
    struct rows all = rows_of(in_folder("out"), "recommend", recommend_column, RECOMMEND_COLUMNS);
    struct rows runs = rows_of(in_folder("out"), "results", results_column, RESULTS_COLUMNS);
    size_t mixed = 0;
    for (size_t i = 0; i < all.count; i++) {
        uint64_t drawn = 0, held = 0, arrays = 0;
        for (size_t k = 0; k < runs.count; k++) {
            const char *input = field_of(&runs, k, RESULTS_METHOD + CASE_INPUT - CASE_METHOD);
            if (strcmp(field_of(&runs, k, RESULTS_METHOD), field_of(&all, i, RECOMMEND_METHOD)) ||
                strcmp(field_of(&runs, k, RESULTS_METHOD + CASE_ACCUMULATOR - CASE_METHOD),
                       field_of(&all, i, RECOMMEND_ACCUMULATOR)) ||
                strstr(input, ":extended"))
                continue;
            arrays++;
            drawn += is_drawn(input);
            held += is_drawn(input) && strtod(field_of(&runs, k, RESULTS_ERR_REL), NULL) <= 1e-6;
        }
        const char *name = field_of(&all, i, RECOMMEND_METHOD);
        cr_expect_eq(strtoull(field_of(&all, i, RECOMMEND_ARRAYS), NULL, 10), arrays, "%s", name);
        cr_expect_eq(strtoull(field_of(&all, i, RECOMMEND_DRAWN), NULL, 10), drawn, "%s", name);
        cr_expect_eq(strtoull(field_of(&all, i, RECOMMEND_DRAWN_HELD), NULL, 10), held, "%s", name);
        mixed += held > 0 && held < drawn;
    }
    cr_expect(mixed > 0);
    rows_free(&all);
    rows_free(&runs);
    json_decref(answer);
}

/* Of a candidate: arrays that broke it, the user's own and adversarial ones. */
static void count_breaks(size_t broke[2], const struct rows *runs, const char *method,
                         const char *accumulator, double limit)
{
    for (size_t k = 0; k < runs->count; k++) {
        const char *input = case_field(runs, k, CASE_INPUT);
        if (strcmp(case_field(runs, k, CASE_METHOD), method) == 0 &&
            strcmp(case_field(runs, k, CASE_ACCUMULATOR), accumulator) == 0 &&
            !strstr(input, ":extended"))
            broke[strstr(input, ":worst=") != NULL] +=
                !(strtod(field_of(runs, k, RESULTS_ERR_REL), NULL) <= limit);
    }
}

/* What the user's own arrays break is not shown by an adversarial one. */
Test(recommend_evidence, own_arrays_break_first, .init = make_folder, .fini = remove_folder)
{
    json_t *answer = recommend_line(STATUS_OK, "--data " ULPSCOPE_SOURCE
                                               "/tests/data/brain-signals-f16.npy --n 3000 "
                                               "--seconds 3 --confidence 0.9 --method "
                                               "sum/serial,sum/tiled,sum/widened,sum/exact");
    struct rows all = rows_of(in_folder("out"), "recommend", recommend_column, RECOMMEND_COLUMNS);
    struct rows runs = rows_of(in_folder("out"), "results", results_column, RESULTS_COLUMNS);
    size_t own = 0;
    for (size_t i = 0; i < all.count; i++) {
        const char *on = field_of(&all, i, RECOMMEND_BROKEN_ON);
        const char *by = field_of(&all, i, RECOMMEND_BROKEN_BY);
        size_t broke[2] = {0, 0};
        count_breaks(broke, &runs, field_of(&all, i, RECOMMEND_METHOD),
                     field_of(&all, i, RECOMMEND_ACCUMULATOR), 1e-3);
        cr_expect_eq(strcmp(on, "adversarial") == 0, broke[0] == 0 && broke[1] > 0, "%s", by);
        cr_expect_eq(*on != 0, broke[0] + broke[1] > 0, "%s", by);
        cr_expect_eq(strstr(by, ":worst=") != NULL, strcmp(on, "adversarial") == 0, "%s", by);
        own += broke[0] > 0 && broke[1] > 0;
    }
    cr_expect(own > 0);
    rows_free(&all);
    rows_free(&runs);
    json_decref(answer);
}

/* Ones of both signs, and some more: no order of them, and nothing drawn, leads fp16 beyond 2048,
 * where a running sum of ones stands still. Their magnitudes do, which is called by its name. */
Test(recommend_evidence, adversarial_arrays, .init = make_folder, .fini = remove_folder)
{
    enum { N = 2500 };
    uint16_t bits[N];
    for (size_t i = 0; i < N; i++)
        bits[i] = i % 2 == 0 || i > 2400 ? 0x3c00 : 0xbc00;
    const struct array a = {FP16, N, bits};
    char line[512], path[300];
    snprintf(path, sizeof path, "%s/signs.npy", in_folder(""));
    cr_assert_eq(data_write_npy(path, &a, NULL), STATUS_OK);
    for (int without = 0; without <= 1; without++) {
        snprintf(line, sizeof line,
                 "--data %s --method sum/serial --accumulator fp16,fp32 --seconds %d --force "
                 "--confidence 0.9 %s",
                 path, without ? 1 : 6, without ? "--no-adversarial" : "");
        json_t *answer = recommend_line(STATUS_OK, line);
        const json_t *narrow = candidate_of(answer, "sum/serial", "fp16");
        const json_t *by = json_object_get(narrow, "broken_by");
        cr_expect_str_eq(word_of(json_object_get(answer, "recommended"), "accumulator"),
                         without ? "fp16" : "fp32");
        cr_expect_str_eq(word_of(narrow, "is"), without ? "recommended" : "next_cheaper");
        cr_expect_str_eq(word_of(by, "on"), without ? "" : "adversarial");
        cr_expect(without || number_of(narrow, "drawn") >= 22); /* looked for, with confidence */
        struct rows runs = rows_of(in_folder("out"), "results", results_column, RESULTS_COLUMNS);
        size_t worst = 0;
        for (size_t i = 0; i < runs.count; i++)
            worst += strstr(case_field(&runs, i, CASE_INPUT), ":worst=") != NULL;
        cr_expect_eq(worst > 0, !without);
        rows_free(&runs);
        json_decref(answer);
    }
}

/* On few elements all take as long as threads take to begin: the data are repeated, as far as there
 * is time, and how often is told. */
Test(recommend_evidence, times_of_long_arrays, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *seconds;
        bool longer;
    } cases[] = {{"0.001", false}, {"30", true}};
    for (size_t k = 0; k < 2; k++) {
        char line[256];
        snprintf(line, sizeof line,
                 "--input ones --n 20000 --storage fp16 --accumulator fp16 --method sum/tiled "
                 "--confidence 0.8 --force --seconds %s",
                 cases[k].seconds);
        json_t *answer = recommend_line(STATUS_OK, line);
        double n = number_of(candidate_of(answer, "sum/tiled", "fp16"), "timed_n");
        cr_expect(cases[k].longer ? n >= 80000 : n == 20000, "%g", n);
        struct rows times = rows_of(in_folder("out"), "times", times_column, TIMES_COLUMNS);
        cr_expect_eq(times.count, 2);
        for (size_t i = 0; i < times.count; i++)
            cr_expect_eq(strtod(field_of(&times, i, TIMES_N), NULL), n);
        rows_free(&times);
        json_decref(answer);
    }
}

/* What was timed on fewer elements ranks behind what was timed on more, and is on no frontier with
 * it. */
Test(recommend_evidence, times_of_short_arrays_rank_last)
{
    struct recommend_candidate c[] = {
        {.method = method_named("sum/tiled"),
         .accumulator = FP16,
         .rate = 500,
         .error = 0.1,
         .timed_short = true},
        {.method = method_named("sum/tiled"), .accumulator = FP32, .rate = 40, .error = 0.2},
        {.method = method_named("sum/tiled"), .accumulator = FP64, .rate = 100, .error = 0.3},
        {.method = method_named("sum/tiled"), .accumulator = FP32, .error = 0.4}, /* not timed */
    };
    struct recommend_report r = {.candidate = c, .count = 4, .chosen = SIZE_MAX};
    recommend_sort(&r);
    recommend_find_frontier(&r);
    cr_expect(c[0].error == 0.3 && c[1].error == 0.2 && c[2].error == 0.1 && c[3].error == 0.4);
    cr_expect(c[0].pareto && c[1].pareto && !c[2].pareto && !c[3].pareto);
}

/* Rates within a tenth are one; among those that break, the one that breaks by less is nearer, and
 * one without a number is the farthest. */
Test(recommend_evidence, ranks_by_a_tenth)
{
    struct recommend_candidate c[] = {
        {.method = method_named("sum/tiled"), .accumulator = FP16, .rate = 90.5, .error = 3},
        {.method = method_named("sum/tiled"), .accumulator = FP32, .rate = 91.2, .error = 2},
        {.method = method_named("sum/tiled"), .accumulator = FP64, .rate = 100, .error = 1},
    };
    struct recommend_report r = {.candidate = c, .count = 3, .chosen = SIZE_MAX};
    recommend_sort(&r);
    cr_expect(c[0].error == 2 && c[1].error == 1 && c[2].error == 3, "%g, %g, %g", c[0].error,
              c[1].error, c[2].error);

    struct recommend_candidate broken[] = {
        {.method = method_named("sum/tiled"), .accumulator = FP16, .error = NAN, .broken = true},
        {.method = method_named("sum/tiled"), .accumulator = FP16, .error = 7, .broken = true},
        {.method = method_named("sum/tiled"), .accumulator = BF16, .error = 7, .broken = true},
        {.method = method_named("sum/tiled"), .accumulator = FP16, .error = NAN, .broken = true},
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        broken[i].method = method_named("sum/tiled");
    r = (struct recommend_report){
        .candidate = broken, .count = 4, .chosen = SIZE_MAX, .cheaper = SIZE_MAX};
    recommend_find_cheaper(&r);
    cr_expect_eq(r.cheaper, 1, "%zu", r.cheaper);
}

/* The rate over the raw read's: what takes twice the time has half of it. */
Test(recommend_evidence, of_raw_is_a_share)
{
    uint32_t bits[3] = {0x3f800000, 0x3f800000, 0x3f800000};
    struct source source = {.name = (char *)"ones", .array = {FP32, 3, bits}};
    struct recommend_candidate c = {.method = method_named("sum/tiled"),
                                    .accumulator = FP32,
                                    .time_ns = 200,
                                    .raw_ns = 50,
                                    .rate = 3};
    struct recommend_report r = {
        .candidate = &c, .count = 1, .source = &source, .chosen = SIZE_MAX, .cheaper = SIZE_MAX};
    struct text text = {0};
    recommend_rows(&text, &r);
    const char *row = text_string(&text);
    char fields[2048];
    snprintf(fields, sizeof fields, "%s", row ? row : "");
    char *at = fields;
    for (size_t i = 0; at && i < RECOMMEND_OF_RAW; i++)
        strsep(&at, ",");
    cr_expect_str_eq(strsep(&at, ","), "0.25", "%s", row);
    json_t *answer = recommend_json(&r, "out", "again");
    const json_t *first = json_array_get(json_object_get(answer, "candidates"), 0);
    cr_expect_eq(number_of(first, "of_raw"), 0.25);
    json_decref(answer);
    text_free(&text);
}

/* {1, -1/2} 500 times: the mean is 1/4, that of the magnitudes 3/4. A running sum stands still
 * where an element is half a unit of it: 3 times as far out as one of equal elements. */
Test(recommend_evidence, where_running_sums_stand_still)
{
    uint32_t bits[1000];
    for (size_t i = 0; i < 1000; i++)
        bits[i] = i % 2 ? 0xbf000000 : 0x3f800000;
    struct source source = {.name = (char *)"uneven", .array = {FP32, 1000, bits}};
    struct recommend_candidate c = {.method = method_named("sum/serial"), .accumulator = FP32};
    struct recommend_report r = {.candidate = &c, .count = 1, .source = &source};
    struct reference data;
    r.request.tolerance.limit = 1e-3;
    r.request.confidence = 0.99;
    cr_assert_eq(reference_compute(&data, &source.array, REFERENCE_FAST, NULL), STATUS_OK);
    recommend_theory(&r, &data);
    cr_expect(r.growth.stagnates.known && r.growth.stagnates.value == 3 * 0x1p24, "%g",
              r.growth.stagnates.value);
    cr_expect(r.growth.overflows.known &&
                  r.growth.overflows.value == 4 * format_facts[FP32].largest,
              "%g", r.growth.overflows.value);
    reference_free(&data);
}

/* 1 - 2^-60 lies below 1, where units are half as large, though no double tells it from 1. */
Test(recommend_evidence, a_unit_of_the_exact_sum)
{
    uint32_t bits[2] = {0x3f800000, 0xa1800000}; /* 1, -2^-60 */
    const struct array a = {FP32, 2, bits};
    const struct recommend_tolerance t = {.quantity = RECOMMEND_ULP};
    const struct theorem theorem = {.kind = THEOREM_CORRECTLY_ROUNDED};
    struct reference r;
    struct measure m;
    cr_assert_eq(reference_compute(&r, &a, REFERENCE_MPFR, NULL), STATUS_OK);
    measure(&m, &r, FP32, FP64, 1, &theorem);
    cr_expect_eq(recommend_error(&t, &m, &r, FP32), 0x1p-60 / 0x1p-24);
    struct figure bound = recommend_bound(&t, &theorem, &r, FP32, FP32);
    cr_expect(bound.known && fabs(bound.value - 1) < 1e-6, "%g", bound.value);
    reference_free(&r);
}

static enum status take_older(void *context, const struct csv_row *row, struct problem *p)
{
    (void)p;
    cr_expect_str_eq(row->field[RECOMMEND_NOTE], "31");
    cr_expect_str_eq(row->field[RECOMMEND_DRAWN_HELD], "");
    cr_expect_str_eq(row->field[RECOMMEND_COLUMNS - 1], "");
    ++*(size_t *)context;
    return STATUS_OK;
}

/* Files without the columns that were added later are still read; without others they are not. */
Test(recommend_evidence, older_files, .init = make_folder, .fini = remove_folder)
{
    for (size_t columns = RECOMMEND_COLUMNS_FIRST - 1; columns <= RECOMMEND_COLUMNS_FIRST;
         columns++) {
        FILE *file = fopen(in_folder("recommend.csv"), "w");
        size_t rows = 0;
        uint64_t whole;
        cr_assert(file);
        for (size_t i = 0; i < columns; i++)
            fprintf(file, "%s%s", i ? "," : "", recommend_column(i)->name);
        for (size_t i = 0; i < columns; i++)
            fprintf(file, "%s%zu", i ? "," : "\n", i);
        fprintf(file, "\n");
        fclose(file);
        enum status status =
            csv_read_since(in_folder("recommend.csv"), recommend_column, RECOMMEND_COLUMNS_FIRST,
                           RECOMMEND_COLUMNS, take_older, &rows, &whole, NULL);
        cr_expect_eq(status, columns < RECOMMEND_COLUMNS_FIRST ? STATUS_DATA : STATUS_OK);
        cr_expect_eq(rows, columns == RECOMMEND_COLUMNS_FIRST);
    }
}
