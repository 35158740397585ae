/* What recommend is made of: tolerances, arrays, two-level accumulation, files, exit statuses. */
#include <math.h>

#include "experiments/subjects/foreign.h"
#include "experiments/studies/recommend/candidates.h"
#include "experiments/runs/runner.h"
#include "tests/support/recommends.h"

Test(recommend_parts, tolerances)
{
    static const struct {
        const char *text, *quantity;
        enum status status;
        enum recommend_quantity is;
        double limit;
    } cases[] = {
        {"1e-3", NULL, STATUS_OK, RECOMMEND_REL, 1e-3},
        {"2^-10", NULL, STATUS_OK, RECOMMEND_REL, 0x1p-10},
        {"1e-1ulp", NULL, STATUS_OK, RECOMMEND_ULP, 0.1},
        {"0", "backward", STATUS_OK, RECOMMEND_BACKWARD, 0},
        {"4ulp", NULL, STATUS_OK, RECOMMEND_ULP, 4},
        {"4", "ulp", STATUS_OK, RECOMMEND_ULP, 4},
        {"0bits", NULL, STATUS_OK, RECOMMEND_ULP, 0.5},
        {"3bits", "ulp", STATUS_OK, RECOMMEND_ULP, 4},
        {"4ulp", "rel", STATUS_USAGE, 0, 0},
        {"4 ulp", NULL, STATUS_USAGE, 0, 0},
        {"-1", NULL, STATUS_USAGE, 0, 0},
        {"nan", NULL, STATUS_USAGE, 0, 0},
        {"inf", NULL, STATUS_USAGE, 0, 0},
        {"", NULL, STATUS_USAGE, 0, 0},
        {"ulp", NULL, STATUS_USAGE, 0, 0},
        {"1e", NULL, STATUS_USAGE, 0, 0},
        {"1e999", NULL, STATUS_USAGE, 0, 0},
        {"0x1p-3", NULL, STATUS_USAGE, 0, 0},
        {"nanulp", NULL, STATUS_USAGE, 0, 0},
        {" 1", NULL, STATUS_USAGE, 0, 0},
        {"1e-3", "absolute", STATUS_USAGE, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recommend_tolerance t;
        struct problem p = {0};
        enum status status = recommend_tolerance_parse(&t, cases[i].text, cases[i].quantity, &p);
        cr_expect_eq(status, cases[i].status, "'%s': %s", cases[i].text, p.text);
        if (status == STATUS_OK)
            cr_expect(t.quantity == cases[i].is && t.limit == cases[i].limit, "'%s': %g",
                      cases[i].text, t.limit);
    }
}

/* Of a few elements, with what they are. */
static void make_source(struct source *s, const struct array *a)
{
    struct data data = {.name = "few", .array = *a};
    cr_assert_eq(source_data(s, &data, a->n, NULL), STATUS_OK);
}

/* 2049 ones and -1/2, in fp16: the sum is 2048.5, ulp 2; sum|x| is 2049.5. */
Test(recommend_parts, errors)
{
    uint16_t bits[2050];
    for (size_t i = 0; i < 2050; i++)
        bits[i] = i < 2049 ? 0x3c00 : 0xb800;
    const struct array a = {FP16, 2050, bits};
    struct reference r;
    cr_assert_eq(reference_compute(&r, &a, REFERENCE_MPFR, NULL), STATUS_OK);
    const struct theorem theorem = {.kind = THEOREM_CORRECTLY_ROUNDED};
    const double due[] = {0.5 / 2048.5, 0.5 / 2049.5, 0.25};
    for (enum recommend_quantity q = 0; q < RECOMMEND_QUANTITIES; q++) {
        const struct recommend_tolerance t = {.quantity = q};
        struct measure m;
        measure(&m, &r, FP16, FP32, 2048, &theorem);
        cr_expect_eq(recommend_error(&t, &m, &r, FP16), due[q], "%s", recommend_quantity_name[q]);
        measure(&m, &r, FP16, FP32, 2048.5, &theorem);
        cr_expect_eq(recommend_error(&t, &m, &r, FP16), 0);
        measure(&m, &r, FP16, FP32, INFINITY, &theorem);
        cr_expect_eq(recommend_error(&t, &m, &r, FP16), INFINITY);
        measure(&m, &r, FP16, FP32, NAN, &theorem);
        cr_expect(!recommend_holds(&t, recommend_error(&t, &m, &r, FP16)));
        struct figure bound = recommend_bound(&t, &theorem, &r, FP16, FP16);
        cr_expect(bound.known && bound.value >= due[q] / 0.5 * 2048.5 * 0x1p-11 * 0.999999 &&
                      bound.value <= due[q] / 0.5 * 2048.5 * 0x1p-11 * 1.000001,
                  "%s: %g", recommend_quantity_name[q], bound.value);
    }
    reference_free(&r);
}

/* How often each encoding is among the elements. */
static void count_bits(size_t count[65536], const struct array *a)
{
    memset(count, 0, 65536 * sizeof *count);
    for (size_t i = 0; i < a->n; i++)
        count[array_bits(a, i)]++;
}

Test(recommend_parts, arrays)
{
    enum { N = 3001 };
    static size_t before[65536], after[65536];
    uint16_t bits[N];
    struct array a = {FP16, N, bits};
    struct input in;
    struct source from;
    struct recommend_sample s[RECOMMEND_KINDS], other;
    input_parse(&in, "normal", NULL);
    cr_assert_eq(input_generate(&in, &a, 7, 0, NULL), STATUS_OK);
    make_source(&from, &a);
    count_bits(before, &a);
    for (enum recommend_kind k = 0; k < RECOMMEND_KINDS; k++) {
        size_t n = k == RECOMMEND_EXTENDED ? 2 * N : N;
        struct problem p = {0};
        cr_assert_eq(recommend_sample_make(&s[k], &from, k, 1, n, 7, (struct device){0}, &p),
                     STATUS_OK, "%s", p.text);
        cr_expect_eq(s[k].array.n, n);
        count_bits(after, &s[k].array);
        bool drawn = k == RECOMMEND_RESAMPLE || k == RECOMMEND_EXTENDED;
        bool signs = k >= RECOMMEND_ONE_SIGN && k <= RECOMMEND_RETURN;
        if (!drawn && !signs)
            cr_expect(memcmp(before, after, sizeof before) == 0, "%s", s[k].source.name);
        for (size_t x = 0; x < 65536; x++) {
            cr_expect(!drawn || before[x] > 0 || after[x] == 0, "%s", s[k].source.name);
            cr_expect(!signs || x >= 32768 ||
                          before[x] + before[x + 32768] == after[x] + after[x + 32768],
                      "%s", s[k].source.name);
        }
    }
    const mpfr_t *all = &s[RECOMMEND_DATA].truth.reference.sum_abs;
    cr_expect(mpfr_equal_p(s[RECOMMEND_ONE_SIGN].truth.reference.sum, *all));
    cr_expect(mpfr_equal_p(s[RECOMMEND_CLIMB].truth.reference.sum, *all));
    cr_expect(mpfr_cmp_d(s[RECOMMEND_RETURN].truth.reference.sum, 8) < 0 &&
              mpfr_cmp_d(s[RECOMMEND_RETURN].truth.reference.sum, -8) > 0);
    for (size_t i = 1; i < N; i++)
        cr_expect(array_get(&s[RECOMMEND_ASCENDING].array, i - 1) <=
                      array_get(&s[RECOMMEND_ASCENDING].array, i) &&
                  fabs(array_get(&s[RECOMMEND_LARGE].array, i - 1)) >=
                      fabs(array_get(&s[RECOMMEND_LARGE].array, i)) &&
                  fabs(array_get(&s[RECOMMEND_SMALL].array, i - 1)) <=
                      fabs(array_get(&s[RECOMMEND_SMALL].array, i)) &&
                  array_get(&s[RECOMMEND_CLIMB].array, i - 1) >=
                      array_get(&s[RECOMMEND_CLIMB].array, i));
    cr_expect(memcmp(s[RECOMMEND_EXTENDED].array.data, bits, sizeof bits) == 0);
    for (enum recommend_kind k = RECOMMEND_RESAMPLE; k <= RECOMMEND_SHUFFLE; k++)
        for (uint64_t draw = 1; draw <= 2; draw++) {
            recommend_sample_make(&other, &from, k, draw, N, 7, (struct device){0}, NULL);
            cr_expect_eq(memcmp(other.array.data, s[k].array.data, sizeof bits) == 0, draw == 1,
                         "%s", other.source.name);
            recommend_sample_free(&other);
        }
    /* A shorter extension is the beginning of a longer one. */
    recommend_sample_make(&other, &from, RECOMMEND_EXTENDED, 1, N + 100, 7, (struct device){0},
                          NULL);
    cr_expect(memcmp(other.array.data, s[RECOMMEND_EXTENDED].array.data, 2 * (N + 100)) == 0);
    recommend_sample_free(&other);
    for (enum recommend_kind k = 0; k < RECOMMEND_KINDS; k++)
        recommend_sample_free(&s[k]);
    source_free(&from);
}

/* Ones: fp16 stops at 2048 and bf16 at 256 within a chunk, and the chunks are added in fp32. */
Test(recommend_parts, two_level)
{
    enum { N = 10000 };
    uint16_t bits[N];
    for (size_t i = 0; i < N; i++)
        bits[i] = 0x3c00;
    const struct array a = {FP16, N, bits};
    for (size_t i = 0; i < recommend_promoted_count; i++) {
        const struct recommend_promoted *c = &recommend_promoted[i];
        size_t stop = c->partial == FP16 ? 2048 : 256, rest = N % c->chunk;
        double due = (double)(N / c->chunk * (c->chunk < stop ? c->chunk : stop) +
                              (rest < stop ? rest : stop));
        float sum = 0;
        const struct array out = {FP32, 1, &sum};
        const struct runner r = {.of = &(struct operands){.in = a},
                                 .method = &c->method,
                                 .accumulator = FP32,
                                 .output = FP32};
        cr_assert_eq(runner_once(&r, &out, NULL), STATUS_OK);
        cr_expect_eq(sum, due, "%s: %g, expected %g", c->method.name, (double)sum, due);
    }
    /* An element is rounded to the partial sums' format first, and the sum of nothing is +0. */
    double big = 65520, *x = &big;
    float sum = 0;
    const struct array one = {FP64, 1, x}, out = {FP32, 1, &sum};
    struct runner r = {.of = &(struct operands){.in = one},
                       .method = &recommend_promoted[0].method,
                       .accumulator = FP32,
                       .output = FP32};
    cr_assert_eq(runner_once(&r, &out, NULL), STATUS_OK);
    cr_expect(isinf(sum));
    r.of = &(struct operands){.in = {FP64, 0, x}};
    cr_assert_eq(runner_once(&r, &out, NULL), STATUS_OK);
    cr_expect(sum == 0 && !signbit(sum));
}

/* Candidates in the order of cost, what is named beside the chosen one, and the frontier. */
Test(recommend_parts, order_of_cost)
{
    struct recommend_candidate c[] = {
        {.accumulator = FP32, .promoted = &recommend_promoted[1], .error = 0.1},
        {.accumulator = FP64, .rate = 50, .error = 1e-9},
        {.accumulator = FP16, .error = 0.5, .broken = true}, /* not timed */
        {.accumulator = FP32, .rate = 97, .error = 1e-3},
        {.accumulator = FP16, .rate = 95, .error = 0.25, .broken = true},
        {.accumulator = FP64, .rate = 100, .error = 1e-4},
        {.accumulator = FP32, .rate = 40, .error = NAN, .broken = true},
        {.accumulator = FP32, .promoted = &recommend_promoted[0], .error = 0.2},
        {.accumulator = BF16, .rate = 40, .error = INFINITY, .broken = true},
    };
    enum { COUNT = sizeof c / sizeof *c };
    static const double due[COUNT] = {0.25, 1e-3, 1e-4, 1e-9, INFINITY, NAN, 0.5, 0.2, 0.1};
    static const bool frontier[COUNT] = {false, false, true, true};
    struct recommend_report r = {.candidate = c, .count = COUNT, .chosen = 3, .cheaper = SIZE_MAX};
    for (size_t i = 0; i < COUNT; i++)
        c[i].method = method_named("sum/tiled");
    recommend_sort(&r);
    recommend_find_frontier(&r);
    for (size_t i = 0; i < COUNT; i++) {
        cr_expect(c[i].error == due[i] || (isnan(due[i]) && isnan(c[i].error)), "%zu: %g", i,
                  c[i].error);
        cr_expect_eq(c[i].pareto, frontier[i], "%zu", i);
    }
    /* The one before it that breaks, though others lie between that nobody chose. */
    recommend_find_cheaper(&r);
    cr_expect(r.cheaper == 0 && !r.narrower);
    /* Nothing before it: of the narrower ones the nearest to holding. */
    c[0].broken = false;
    r.chosen = 1;
    r.cheaper = SIZE_MAX;
    recommend_find_cheaper(&r);
    cr_expect(r.cheaper == 6 && r.narrower, "%zu", r.cheaper);
    r.chosen = r.cheaper = SIZE_MAX;
    recommend_find_cheaper(&r);
    cr_expect(r.cheaper == 6 && !r.narrower, "%zu", r.cheaper);
}

/* Every number has its row, and what breaks the next cheaper candidate breaks it. */
Test(recommend_parts, files, .init = make_folder, .fini = remove_folder)
{
    /* What breaks is sum/tiled in fp32, with a result that is the order's. */
    const char *line = "--input symmetric --n 3000 --storage fp64 --tolerance 1e-9 "
                       "--seconds 1 --confidence 0.8 --method sum/tiled "
                       "--accumulator fp32,fp64";
    json_t *answer = recommend_line(STATUS_OK, line);
    struct rows all = rows_of(in_folder("out"), "recommend", recommend_column, RECOMMEND_COLUMNS);
    struct rows runs = rows_of(in_folder("out"), "results", results_column, RESULTS_COLUMNS);
    struct rows times = rows_of(in_folder("out"), "times", times_column, TIMES_COLUMNS);
    struct rows cases = rows_read(in_folder("out"), true);
    size_t tried = 0;
    cr_expect_eq(cases.count, runs.count); /* a run for each */
    cr_expect_eq(all.count, 2);
    for (size_t i = 0; i < all.count; i++) {
        const char *id = field_of(&all, i, RECOMMEND_BROKEN_CASE);
        size_t found = 0;
        tried += (size_t)atoi(field_of(&all, i, RECOMMEND_ARRAYS));
        for (size_t k = 0; k < runs.count; k++)
            found += strcmp(field_of(&runs, k, RESULTS_CASE_ID), id) == 0;
        cr_expect(!*id || found == 1, "%s: %zu", id, found);
    }
    cr_expect(runs.count > tried, "%zu, with growth beside %zu", runs.count, tried);
    cr_expect_eq(times.count, 3); /* with the raw read */

    const json_t *next = json_object_get(answer, "next");
    const json_t *by = json_object_get(next, "broken_by");
    char path[400], line_again[512];
    snprintf(path, sizeof path, "%s/breaks.npy", in_folder("out"));
    struct data_set set = expect_data(path, FP64, false, "breaks.npy");
    const struct method *m = method_named(word_of(next, "method"));
    enum format f = format_named(word_of(next, "accumulator"));
    cr_expect(m == method_named("sum/tiled") && f == FP32);
    uint64_t bits = 0;
    const struct array out = {f, 1, &bits};
    const struct runner r = {.of = &(struct operands){.in = set.item[0].array},
                             .method = m,
                             .accumulator = f,
                             .output = f,
                             .shape = method_shape(m, DEVICE_CPU, 3000, (struct shape){0})};
    cr_assert_eq(runner_once(&r, &out, NULL), STATUS_OK);
    cr_expect_eq(array_get(&out, 0), number_of(by, "result"), "%g", array_get(&out, 0));
    data_free(&set);
    json_decref(answer);

    /* The same command starts over; another is refused. */
    json_decref(recommend_line(STATUS_OK, line));
    struct rows again = rows_of(in_folder("out"), "recommend", recommend_column, RECOMMEND_COLUMNS);
    cr_expect_eq(again.count, all.count);
    snprintf(line_again, sizeof line_again, "%s --seed 2", line);
    json_decref(recommend_line(STATUS_USAGE, line_again));
    rows_free(&all);
    rows_free(&again);
    rows_free(&runs);
    rows_free(&cases);
    rows_free(&times);
}

Test(recommend_parts, exit_statuses, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *line;
        enum status due;
    } cases[] = {
        {"--input ones --n 4097 --storage fp16 --accumulator fp16 --tolerance 0", STATUS_FAILED},
        {"--input infs --n 10 --storage fp32", STATUS_DATA},
        {"--input nans --n 10 --storage fp32", STATUS_DATA},
        {"--data nowhere.npy", STATUS_DATA},
        {"--n 10", STATUS_USAGE},
        {"--input ones --n 10", STATUS_USAGE},
        {"--input ones --n 0 --storage fp16", STATUS_USAGE},
        {"--input ones --n 10,20 --storage fp16", STATUS_USAGE},
        {"--input ones --n 10 --storage fp16 --seed 1,2", STATUS_USAGE},
        {"--input ones --n 10 --storage fp16 --confidence 1", STATUS_USAGE},
        {"--input ones --n 10 --storage fp16 --confidence nan", STATUS_USAGE},
        {"--input ones --n 10 --storage fp16 --confidence 0x1p-1", STATUS_USAGE},
        {"--input ones --n 10 --storage fp16 --promise always", STATUS_USAGE},
        {"--input ones --n 10 --storage fp16 --method scan/tiled", STATUS_USAGE},
        {"--input ones --n 10 --storage fp16 --method sum/atomic --promise run_to_run",
         STATUS_USAGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line, "%s --force --seconds 0.2", cases[i].line);
        json_decref(recommend_line(cases[i].due, line));
    }
}

/* Whatever the time, what is recommended was tried on every order and on the worst: in a running
 * sum 2^24 swallows the ones behind it, but not where it comes last. */
Test(recommend_parts, no_time, .init = make_folder, .fini = remove_folder)
{
    json_t *answer = recommend_line(
        STATUS_OK, "--input stagnation:order=ascending --n 3000 --storage fp32 --accumulator fp32 "
                   "--method sum/serial,sum/exact --tolerance 1e-6 --seconds 0.000001");
    const json_t *chosen = json_object_get(answer, "recommended");
    cr_expect_str_eq(word_of(chosen, "method"), "sum/exact");
    cr_expect(json_integer_value(json_object_get(chosen, "arrays")) >= RECOMMEND_RETURN);
    cr_expect_eq(json_integer_value(json_object_get(answer, "arrays_for_all")), 1);
    json_decref(answer);
    answer = recommend_line(
        STATUS_FAILED, "--input stagnation:order=ascending --n 3000 --storage fp32 --accumulator "
                       "fp32 --method sum/serial --tolerance 1e-6 --seconds 0.000001 --force");
    cr_expect(
        strstr(word_of(json_object_get(json_object_get(answer, "next"), "broken_by"), "input"),
               "order=descending"));
    json_decref(answer);
}

/* A subject that is not ours is held to the same: by its own process, whose words a shell parts. */
Test(recommend_parts, foreign, .init = make_folder, .fini = remove_folder)
{
    const char *name = "exec:" ULPSCOPE_PROGRAM "${IFS}serve${IFS}sum/serial";
    char line[1024];
    snprintf(line, sizeof line,
             "--input stagnation --n 1000 --storage fp32 --accumulator fp32,fp64 --tolerance 1e-6 "
             "--seconds 2 --confidence 0.8 --method %s",
             name);
    json_t *answer = recommend_line(STATUS_OK, line);
    cr_expect_not(holds(answer, name, "fp32"));
    cr_expect(holds(answer, name, "fp64"));
    /* It answers `time`. */
    cr_expect(number_of(candidate_of(answer, name, "fp64"), "gb_per_s") > 0);
    json_decref(answer);
}

/* A promise asked for leaves out what does not make it. */
Test(recommend_parts, promises, .init = make_folder, .fini = remove_folder)
{
    foreign_server(ULPSCOPE_PROGRAM); /* fresh processes are tried, too */
    json_t *answer = recommend_line(STATUS_OK, "--input uniform --n 1000 --storage fp32 --promise "
                                               "order_invariant --seconds 0.5 --confidence 0.8");
    size_t i;
    const json_t *c;
    json_array_foreach (json_object_get(answer, "candidates"), i, c) {
        const char *promise = word_of(c, "promise");
        cr_expect(strcmp(promise, "order_invariant") == 0 ||
                      strcmp(promise, "correctly_rounded") == 0,
                  "%s", promise);
    }
    cr_expect(i > 2);
    json_decref(answer);
}
