/* run atomics: its files say what the rows of results.csv come to, and what a person sees is what
 * the files say. */
#include <math.h>

#include "experiments/studies/distribution.h"
#include "experiments/studies/growth.h"
#include "tests/support/study.h"

enum { RUNS = 25, SIZES = 3 };

static study_words words = {{"method", "sum/atomic,sum/tiled"},
                            {"device", "cpu"},
                            {"storage", "fp32"},
                            {"accumulator", "fp32"},
                            {"input", "uniform,uniform:scale=1000"},
                            {"n", "50,500,3000"},
                            {"threads", "2,4"},
                            {"seed", "1,2"},
                            {"load", "idle,busy"},
                            {"runs", "25"},
                            {NULL}};
static const char *const n_text[SIZES] = {"50", "500", "3000"};

static void expect_figure(const char *text, struct figure f, const char *what, size_t row)
{
    struct text due = {0};
    text_figure(&due, f);
    cr_expect_str_eq(text, text_string(&due), "row %zu: %s", row, what);
    text_free(&due);
}

static double number(const struct rows *r, size_t row, size_t column)
{
    return strtod(field_of(r, row, column), NULL);
}

/* The distribution of the rows of results.csv that have this case id. */
static void distribution_in(struct distribution *d, const struct rows *results, const char *id)
{
    struct tally t = {0};
    for (size_t i = 0; i < results->count; i++) {
        if (strcmp(field_of(results, i, RESULTS_CASE_ID), id) != 0)
            continue;
        uint64_t bits = strtoull(field_of(results, i, RESULTS_RESULT_BITS), NULL, 16);
        struct distinct *one = tally_add(&t, (struct hash128){{bits, 0}});
        cr_assert(one);
        one->value = (struct figure){true, number(results, i, RESULTS_RESULT)};
    }
    distribution_of(d, &t);
    tally_free(&t);
}

/* The row of summary.csv of a case. */
static size_t summary_of(const struct rows *summary, const char *id)
{
    size_t i = 0;
    while (i < summary->count && strcmp(field_of(summary, i, CASE_ID), id) != 0)
        i++;
    cr_assert(i < summary->count, "no case %s", id);
    return i;
}

Test(atomics, distributions_are_those_of_the_rows, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    study_run("atomics", words, out);
    struct rows results = rows_read(out, false), summary = rows_read(out, true);
    struct rows atomics = rows_of(out, "atomics", atomics_column, ATOMICS_COLUMNS);
    size_t idle = 0, varied = 0;
    /* Launch shapes are sum/atomic's alone. */
    cr_assert_eq(atomics.count, 2 * SIZES * 2 * 2 * (2 + 1));
    cr_assert_eq(atomics.count, summary.count);
    for (size_t i = 0; i < atomics.count; i++) {
        struct distribution d;
        const char *id = field_of(&atomics, i, CASE_ID);
        size_t s = summary_of(&summary, id);
        distribution_in(&d, &results, id);
        for (size_t c = 0; c < CASE_COLUMNS; c++)
            cr_expect_str_eq(field_of(&atomics, i, c), field_of(&summary, s, c), "row %zu", i);
        cr_expect(number(&atomics, i, ATOMICS_RUNS) == RUNS && d.runs == RUNS, "row %zu", i);
        cr_expect_eq(number(&atomics, i, ATOMICS_DISTINCT), d.distinct, "row %zu", i);
        cr_expect_eq(number(&atomics, i, ATOMICS_SPREAD), /* exact in double */
                     number(&summary, s, SUMMARY_MAX) - number(&summary, s, SUMMARY_MIN));
        expect_figure(field_of(&atomics, i, ATOMICS_SKEWNESS), d.skewness, "skewness", i);
        expect_figure(field_of(&atomics, i, ATOMICS_KURTOSIS), d.kurtosis, "kurtosis", i);
        expect_figure(field_of(&atomics, i, ATOMICS_K2), d.k2, "k2", i);
        expect_figure(field_of(&atomics, i, ATOMICS_P_NORMAL), d.p, "p_normal", i);
        cr_expect_str_eq(field_of(&atomics, i, ATOMICS_NOTE), d.note, "row %zu", i);
        static const size_t same[][2] = {{ATOMICS_SPREAD_ULP, SUMMARY_SPREAD_ULP},
                                         {ATOMICS_VS_MAX, SUMMARY_VS_MAX},
                                         {ATOMICS_VS_STDDEV, SUMMARY_VS_STDDEV}};
        for (size_t c = 0; c < 3; c++)
            cr_expect_str_eq(field_of(&atomics, i, same[c][0]), field_of(&summary, s, same[c][1]),
                             "row %zu: %s", i, atomics_column(same[c][0])->name);
        idle += strcmp(field_of(&atomics, i, ATOMICS_LOAD), "idle") == 0;
        varied += d.distinct > 1;
    }
    cr_expect_eq(idle, atomics.count / 2);
    cr_expect(varied > 0, "nothing varied: nothing was tried");
    rows_free(&results);
    rows_free(&summary);
    rows_free(&atomics);
}

/* The largest figure of the rows of atomics.csv that a row of growth.csv is made of, at an n. */
static double largest(const struct rows *atomics, const struct rows *growth, size_t row,
                      const char *n)
{
    static const size_t same[][2] = {
        {CASE_METHOD, GROWTH_METHOD}, {CASE_INPUT, GROWTH_INPUT}, {ATOMICS_LOAD, GROWTH_LOAD}};
    bool vs = strcmp(field_of(growth, row, GROWTH_FIGURE), "vs_max") == 0;
    double most = -1;
    for (size_t i = 0; i < atomics->count; i++) {
        bool here = strcmp(field_of(atomics, i, CASE_N), n) == 0;
        for (size_t c = 0; c < 3; c++)
            here = here &&
                   strcmp(field_of(atomics, i, same[c][0]), field_of(growth, row, same[c][1])) == 0;
        if (here)
            most = fmax(most, number(atomics, i, vs ? ATOMICS_VS_MAX : ATOMICS_SPREAD));
    }
    return most;
}

Test(atomics, growth_is_that_of_the_largest, .init = make_folder, .fini = remove_folder)
{
    const char *out = in_folder("out");
    study_run("atomics", words, out);
    struct rows atomics = rows_of(out, "atomics", atomics_column, ATOMICS_COLUMNS);
    struct rows growth = rows_of(out, "growth", growth_column, GROWTH_COLUMNS);
    size_t fitted = 0;
    cr_assert_eq(growth.count, 2 * 2 * 2 * 2); /* methods, inputs, loads, figures */
    for (size_t i = 0; i < growth.count; i++) {
        double n[SIZES], y[SIZES];
        struct growth g;
        for (size_t k = 0; k < SIZES; k++) {
            n[k] = strtod(n_text[k], NULL);
            y[k] = largest(&atomics, &growth, i, n_text[k]);
            cr_assert(y[k] >= 0);
        }
        growth_fit(&g, n, y, SIZES);
        cr_expect_eq(number(&growth, i, GROWTH_POINTS), g.points, "row %zu", i);
        cr_expect_eq(number(&growth, i, GROWTH_LEFT_OUT), SIZES - g.points, "row %zu", i);
        expect_figure(field_of(&growth, i, GROWTH_EXPONENT), g.exponent, "exponent", i);
        expect_figure(field_of(&growth, i, GROWTH_STANDARD_ERROR), g.standard_error, "+-", i);
        expect_figure(field_of(&growth, i, GROWTH_FACTOR), g.factor, "factor", i);
        expect_figure(field_of(&growth, i, GROWTH_R_SQUARED), g.r_squared, "r_squared", i);
        if (g.points == SIZES) {
            cr_expect_str_eq(field_of(&growth, i, GROWTH_N_MIN), "50");
            cr_expect_str_eq(field_of(&growth, i, GROWTH_N_MAX), "3000");
        }
        fitted += g.points == SIZES;
    }
    cr_expect(fitted > 0, "nothing was fitted: nothing was tried");
    rows_free(&atomics);
    rows_free(&growth);
}

/* Cut off anywhere in its rows: what was finished before has the same rows afterwards. */
Test(atomics, what_was_finished_stays, .init = make_folder, .fini = remove_folder)
{
    static study_words small = {{"method", "sum/atomic,sum/warp_atomic"},
                                {"device", "cpu"},
                                {"storage", "fp32"},
                                {"accumulator", "fp32"},
                                {"input", "normal"},
                                {"n", "2000"},
                                {"threads", "0"},
                                {"load", "busy,idle"},
                                {"runs", "25"},
                                {NULL}};
    const char *path = in_folder("out/results.csv");
    cr_expect_eq(study_run("atomics", small, in_folder("out")).runs, 4 * RUNS);
    struct bytes was = get_file(in_folder("out/atomics.csv")), rows = get_file(path);
    struct bytes growth = get_file(in_folder("out/growth.csv"));
    cr_assert_eq(truncate(path, (off_t)(rows.size * 7 / 8)), 0); /* within the last case */
    cr_expect(study_run("atomics", small, in_folder("out")).runs < RUNS);
    struct bytes is = get_file(in_folder("out/atomics.csv"));
    size_t same = 0, lines = 0;
    while (same < was.size && same < is.size && was.data[same] == is.data[same])
        lines += was.data[same++] == '\n';
    cr_expect(lines >= 4, "%zu lines are the same", lines);
    clear_bytes(&was);
    clear_bytes(&is);
    /* Whole, and its files lost: they are made again. */
    was = get_file(in_folder("out/atomics.csv"));
    clear_bytes(&growth);
    growth = get_file(in_folder("out/growth.csv"));
    remove(in_folder("out/atomics.csv"));
    remove(in_folder("out/growth.csv"));
    cr_expect_eq(study_run("atomics", small, in_folder("out")).runs, 0);
    is = get_file(in_folder("out/atomics.csv"));
    struct bytes again = get_file(in_folder("out/growth.csv"));
    cr_expect(is.size == was.size && memcmp(is.data, was.data, is.size) == 0);
    cr_expect(again.size == growth.size && memcmp(again.data, growth.data, again.size) == 0);
    clear_bytes(&was);
    clear_bytes(&is);
    clear_bytes(&rows);
    clear_bytes(&growth);
    clear_bytes(&again);
}

/* Without load a case is the one that it is in other experiments; under load it is another. */
Test(atomics, load_makes_another_case)
{
    struct study idle, both;
    static study_words variance = {{"method", "sum/atomic"},
                                   {"device", "cpu"},
                                   {"n", "9"},
                                   {"input", "ones"},
                                   {"runs", "1"},
                                   {"storage", "fp32"},
                                   {NULL}};
    static study_words atomics = {{"method", "sum/atomic"}, {"device", "cpu"}, {"n", "9"},
                                  {"input", "ones"},        {"runs", "1"},     {"storage", "fp32"},
                                  {"load", "busy,idle"},    {"threads", "0"},  {NULL}};
    study_make(&idle, "variance", variance);
    study_make(&both, "atomics", atomics);
    cr_assert(idle.plan.case_count == 1 && both.plan.case_count == 2);
    cr_expect(both.plan.cases[0].load == LOAD_BUSY && both.plan.cases[1].load == LOAD_IDLE);
    cr_expect_eq(both.plan.cases[1].id, idle.plan.cases[0].id);
    cr_expect_eq(idle.plan.cases[0].id, UINT64_C(0x9a3bde1b0477ee0d)); /* as before there was one */
    cr_expect(both.plan.cases[0].id != idle.plan.cases[0].id);
    json_t *axes = axes_json(&both.axes), *without = axes_json(&idle.axes);
    cr_expect_str_eq(json_string_value(json_array_get(json_object_get(axes, "load"), 0)), "busy");
    cr_expect(json_array_size(json_object_get(axes, "load")) == 2);
    cr_expect(json_object_get(without, "load") == NULL);
    json_decref(axes);
    json_decref(without);
    study_free(&idle);
    study_free(&both);
}

Test(atomics, load_is_refused_where_there_is_none)
{
    static const struct {
        const char *experiment, *load, *says;
    } wrong[] = {{"variance", "busy", "which loads nothing"},
                 {"drift", "idle", "which loads nothing"},
                 {"atomics", "loud", "expected idle or busy"}};
    for (size_t i = 0; i < 3; i++) {
        struct study s = {0};
        study_words load = {{"load", wrong[i].load}, {"device", "cpu"}, {NULL}};
        ask(&s.request, load);
        cr_expect_eq(study_resolve(&s, wrong[i].experiment), STATUS_USAGE);
        cr_expect(strstr(s.problem.text, wrong[i].says), "%s", s.problem.text);
        study_free(&s);
    }
}

Test(atomics, table_is_for_a_person, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    const char *out = in_folder("out");
    study_make(&s, "atomics", words);
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    struct text text = table_of(&s, out);
    size_t rows = 0, growing = 0;
    for (const char *at = text.data; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        rows += strncmp(at, "sum/", 4) == 0;
        growing += strncmp(at, "sum/atomic  ", 12) == 0 && strstr(at, " vs_max") &&
                   strstr(at, " vs_max") < at + strcspn(at, "\n");
    }
    /* Two views; each has the cases of the largest n, and two figures for each load. */
    cr_expect_eq(rows, 2 * (2 * 2 * (2 + 1) + 2 * 2), "%zu rows", rows);
    cr_expect_eq(growing, 2 * 2, "%zu rows of growth", growing);
    cr_expect(strstr(text.data, "25 runs of each case; the distribution at n = 3000\n"));
    text_free(&text);
    study_free(&s);
}
