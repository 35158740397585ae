/* The verdicts of experiments, from results made up: other results, other words. */
#include <math.h>

#include "tests/support/study.h"

static struct figure figure(double value)
{
    return (struct figure){true, value};
}

/* Gives every case one result of so many runs, with an error of so many ulps. */
static void make_up(struct study *s, uint64_t runs, double err_ulp)
{
    for (size_t i = 0; i < s->plan.case_count; i++) {
        struct study_case *t = &s->plan.cases[i];
        t->finished = true;
        t->summary = (struct summary){.runs = runs, .distinct = 1, .err_ulp_max = figure(err_ulp)};
    }
}

/* The next case of a method, behind `after`. */
static struct study_case *case_of(struct study *s, const char *method,
                                  const struct study_case *after)
{
    size_t i = after ? (size_t)(after - s->plan.cases) + 1 : 0;
    while (i < s->plan.case_count && strcmp(s->plan.cases[i].method->name, method) != 0)
        i++;
    cr_assert(i < s->plan.case_count, "no case of %s", method);
    return &s->plan.cases[i];
}

/* What is said begins with this. */
static void expect_first(struct study *s, const char *due)
{
    struct text text = table_of(s, NULL);
    cr_expect(strncmp(text.data, due, strlen(due)) == 0, "%s\nexpected first: %s", text.data, due);
    text_free(&text);
}

static void expect_told(struct study *s, const char *due)
{
    struct text text = table_of(s, NULL);
    cr_expect(strstr(text.data, due), "%s\nexpected in it: %s", text.data, due);
    text_free(&text);
}

#define SUMS "sum/atomic,sum/warp_atomic,sum/tiled"

Test(says, repeats)
{
    struct study s;
    study_make(&s, "variance",
               (study_words){{"device", "cpu"},
                             {"method", SUMS},
                             {"formats", "fp32/fp32"},
                             {"input", "uniform"},
                             {"n", "10,20"},
                             {NULL}});
    make_up(&s, 7, 1);
    expect_first(&s, "the same bits in every run: 3 methods, 6 cases, at least 7 runs each\n");
    make_up(&s, 1, 1);
    expect_first(&s, "repeats not tried: each case ran once; give --runs\n");
    for (size_t i = 0; i < s.plan.case_count; i++)
        s.plan.cases[i].finished = false;
    expect_first(&s, "repeats not tried: no case has a result\n");
    make_up(&s, 7, 1);
    struct study_case *one = case_of(&s, "sum/atomic", NULL), *two = case_of(&s, "sum/atomic", one);
    one->summary.distinct = 3;
    one->summary.spread_ulp = figure(12.4);
    two->summary.distinct = 2;
    two->summary.spread_ulp = figure(1234.4);
    expect_first(&s, "1 of 3 methods gave other bits when repeated: sum/atomic in 2 of 2 cases "
                     "(up to 3 results in 7 runs)\n\nmethod ");
    expect_told(&s, "\nwidest spread: sum/atomic, 2 results in 7 runs, up to 1234 ulp apart "
                    "(fp32/fp32, uniform, n = 20)\n");
    study_free(&s);
}

/* Of many names the first few are told. */
Test(says, how_many_more)
{
    struct study s;
    study_make(&s, "variance",
               (study_words){{"device", "cpu"},
                             {"method", "sum/serial,sum/tiled,sum/kahan,sum/sum2,sum/sumk,"
                                        "sum/neumaier,sum/exact,sum/atomic"},
                             {"formats", "fp32/fp32"},
                             {"input", "uniform"},
                             {"n", "10"},
                             {NULL}});
    make_up(&s, 2, 1);
    for (size_t i = 0; i < s.plan.case_count; i++)
        s.plan.cases[i].summary.distinct = 2;
    struct text text = table_of(&s, NULL);
    cr_expect(strncmp(text.data, "8 of 8 methods gave ", 20) == 0 &&
                  strstr(text.data, "sum/neumaier in 1 of 1 case (up to 2 results in 2 runs) and 2 "
                                    "more\n\nmethod "),
              "%s", text.data);
    text_free(&text);
    study_free(&s);
}

Test(says, errors)
{
    struct study s;
    study_make(&s, "rows",
               (study_words){{"device", "cpu"},
                             {"method", "rows/tiled,rows/exact,transpose/tiled"},
                             {"formats", "fp32/fp32"},
                             {"input", "uniform"},
                             {"n", "64"},
                             {"rows", "4"},
                             {"layout", "row"},
                             {NULL}});
    make_up(&s, 3, 0);
    expect_first(&s, "the same bits in every run: 3 methods, 3 cases, at least 3 runs each\n"
                     "rows, transpose: exact in all 3 cases\n\n");
    struct study_case *tiled = case_of(&s, "rows/tiled", NULL),
                      *exact = case_of(&s, "rows/exact", NULL);
    tiled->summary.err_ulp_max = figure(250000);
    exact->summary.err_ulp_max = figure(0.5);
    expect_told(&s, "\nrows, worst of 2 cases: rows/exact errs least, 0.5 ulp; rows/tiled most, "
                    "2.5e+05 ulp (fp32/fp32,\n  uniform, n = 64)\n"
                    "transpose: exact in all 1 case\n");
    tiled->summary.err_ulp_max = figure(0.5);
    expect_told(&s, "\nrows, worst of 2 cases: rows/exact and 1 other: 0.5 ulp (fp32/fp32, "
                    "uniform, n = 64)\n");
    tiled->summary.err_ulp_max = figure(0.501); /* which is printed alike */
    expect_told(&s, "\nrows, worst of 2 cases: rows/exact and 1 other: 0.5 ulp (fp32/fp32, "
                    "uniform, n = 64)\n");
    tiled->summary.err_ulp_max = figure(INFINITY);
    expect_told(&s, "\nrows, worst of 2 cases: rows/exact errs least, 0.5 ulp; rows/tiled most, "
                    "inf or NaN in 1 of 1 case\n"
                    "transpose");
    study_free(&s);
}

/* Those whose errors print alike are named together, the one that promises most first. That
 * nothing was repeated comes after what was found, once. */
Test(says, ties)
{
    struct study s;
    study_make(&s, "rows",
               (study_words){{"device", "cpu"},
                             {"method", "rows/serial,rows/tiled,rows/atomic,rows/exact"},
                             {"formats", "fp32/fp32"},
                             {"input", "uniform"},
                             {"n", "64"},
                             {"rows", "4"},
                             {"layout", "row"},
                             {NULL}});
    make_up(&s, 1, 0);
    case_of(&s, "rows/serial", NULL)->summary.err_ulp_max = figure(7);
    case_of(&s, "rows/tiled", NULL)->summary.err_ulp_max = figure(0.5);
    case_of(&s, "rows/atomic", NULL)->summary.err_ulp_max = figure(7);
    case_of(&s, "rows/exact", NULL)->summary.err_ulp_max = figure(0.5);
    expect_first(&s, "rows, worst of 4 cases: rows/exact, rows/tiled err least, 0.5 ulp; "
                     "rows/serial, rows/atomic most, 7\n  ulp (fp32/fp32, uniform, n = 64)\n"
                     "repeats not tried: each case ran once; give --runs\n\n");
    study_free(&s);
}

/* An experiment draws its conclusions first, and nothing of it is wider than 100 columns: see
 * table_of. */
Test(says, where_a_scan_falls, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    study_make(&s, "drift",
               (study_words){{"device", "cpu"},
                             {"method", "scan/serial,scan/tiled"},
                             {"formats", "fp16/fp16"},
                             {"input", "uniform"},
                             {"n", "2^9,2^10"},
                             {NULL}});
    cr_assert_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
    make_up(&s, 1, 2);
    case_of(&s, "scan/tiled", NULL)->summary.scan.decreases_max = figure(7);
    case_of(&s, "scan/tiled", case_of(&s, "scan/tiled", NULL))->summary.scan.decreases_max =
        figure(0);
    struct text text = table_of(&s, in_folder("out"));
    static const char due[] =
        "scan, worst of 4 cases: scan/serial and 1 other: 2 ulp (fp16/fp16, uniform, n = 512)\n"
        "outputs fall although nothing negative is added: scan/tiled (1 of 2 cases)\n\n";
    cr_expect(strncmp(text.data, due, sizeof due - 1) == 0, "%s", text.data);
    text_free(&text);
    study_free(&s);
}

Test(says, default_studies_fit_100_columns, .init = make_folder, .fini = remove_folder)
{
    static const char *const name[] = {"dot",     "norm",  "extrema",       "rows",
                                       "scatter", "drift", "scan-variance", "variance"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct study s;
        study_make(&s, name[i],
                   (study_words){{"device", "cpu"}, {"n", "60,300"}, {"runs", "2"}, {NULL}});
        cr_assert_eq(study_sweep(&s, in_folder(name[i]), false), STATUS_OK, "%s", s.problem.text);
        struct text text = table_of(&s, in_folder(name[i])); /* holds the width */
        cr_expect(text.length > 200, "%s: %s", name[i], text.data);
        text_free(&text);
        study_free(&s);
    }
}
