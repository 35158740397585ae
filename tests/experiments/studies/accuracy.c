/* run accuracy: what a person sees of it by default, held to the rows of results.csv. */
#include <math.h>

#include "experiments/studies/accuracy_says.h"
#include "tests/support/study.h"

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median over the rows of an input, a length and a format that both stores and adds, as a cell
 * has it. */
static void median_of(char cell[16], const struct rows *r, const char *input, const char *n,
                      const char *format)
{
    double digits[64];
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++) {
        double error = strtod(field_of(r, i, RESULTS_ERR_REL), NULL);
        if (strcmp(case_field(r, i, CASE_INPUT), input) == 0 &&
            strcmp(case_field(r, i, CASE_N), n) == 0 &&
            strcmp(case_field(r, i, CASE_STORAGE), format) == 0 &&
            strcmp(case_field(r, i, CASE_ACCUMULATOR), format) == 0)
            digits[count++] = !isfinite(error) ? -1
                              : error == 0     ? INFINITY
                              : error >= 1     ? 0
                                               : -log10(error);
    }
    cr_assert(count > 0);
    qsort(digits, count, sizeof *digits, by_value);
    double low = digits[(count - 1) / 2], high = digits[count / 2];
    double median = low < 0 || isinf(high) ? low : (low + high) / 2;
    snprintf(cell, 16, median < 0 ? "overflow" : isinf(median) ? "exact" : "%.1f", median);
}

/* The words of the table's row of an input and a length. */
static void row_of(char word[7][16], const char *text, const char *input, const char *n)
{
    for (const char *at = strstr(text, "\ninput "); at; at = strchr(at + 1, '\n'))
        if (sscanf(at, "%15s %15s %15s %15s %15s %15s %15s", word[0], word[1], word[2], word[3],
                   word[4], word[5], word[6]) == 7 &&
            strcmp(word[0], input) == 0 && strcmp(word[1], n) == 0)
            return;
    cr_assert(false, "no row of %s, n = %s in: %s", input, n, text);
}

static void expect_shown(const struct text *t, const char *what, bool due)
{
    cr_expect((strstr(t->data, what) != NULL) == due, "%s'%s' in: %s", due ? "no " : "", what,
              t->data);
}

Test(accuracy, cells_are_the_median, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    const char *out = in_folder("out");
    static const char *const input[] = {"uniform", "cancellation", "near_overflow"};
    static const char *const length[] = {"100", "4000"};
    study_make(&s, "accuracy",
               (study_words){{"device", "cpu"},
                             {"method", "sum/serial,sum/tiled,sum/shuffle,sum/exact"},
                             {"storage", "fp16,fp32"},
                             {"accumulator", "fp16,fp32"},
                             {"input", "uniform,cancellation,near_overflow"},
                             {"n", "100,4000"},
                             {NULL}});
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    struct text text = table_of(&s, out);
    struct rows r = rows_read(out, false);
    expect_shown(&text, "median of 4 methods\n", true);
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 2; k++) {
            char word[7][16], fp16[16], fp32[16]; /* pairs: 16/16, 16/32, 32/16, 32/32 */
            row_of(word, text.data, input[i], length[k]);
            median_of(fp16, &r, input[i], length[k], "fp16");
            median_of(fp32, &r, input[i], length[k], "fp32");
            cr_expect_str_eq(word[3], fp16, "%s, n = %s: %s", input[i], length[k], text.data);
            cr_expect_str_eq(word[6], fp32, "%s, n = %s: %s", input[i], length[k], text.data);
        }
    expect_shown(&text, "overflow", true);
    rows_free(&r);
    text_free(&text);
    study_free(&s);
}

/* Where the exact sum is 0, another finite result has no correct digit, and infinitely many ulp of
 * error: it does not overflow. */
Test(accuracy, an_exact_sum_of_0_is_no_overflow, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    const char *out = in_folder("out");
    study_make(&s, "accuracy",
               (study_words){{"device", "cpu"},
                             {"method", "sum/serial,sum/tiled"},
                             {"storage", "fp64"},
                             {"accumulator", "fp64"},
                             {"input", "sine"},
                             {"n", "1000"},
                             {NULL}});
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    struct text text = table_of(&s, out);
    expect_shown(&text, "overflow", false);
    expect_shown(&text, " 0.0\n", true);
    text_free(&text);
    study_free(&s);
}

/* Conclusions follow from what the cases gave: other results, other words. */
Test(accuracy, conclusions_are_of_the_results, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    study_make(&s, "accuracy",
               (study_words){{"device", "cpu"},
                             {"method", "sum/serial,sum/atomic,sum/exact"},
                             {"storage", "fp32"},
                             {"accumulator", "fp16,fp32"},
                             {"input", "uniform,ones:value=2"},
                             {"n", "1000"},
                             {"runs", "3"},
                             {NULL}});
    cr_assert_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
    size_t atomics = 0, other = 0;
    for (size_t i = 0; i < s.plan.case_count; i++) {
        struct study_case *t = &s.plan.cases[i];
        t->err_rel_max = (struct figure){true, t->accumulator == FP16 ? 0.1 : 1e-5};
        t->summary.err_ulp_max = (struct figure){true, 2};
        t->summary.distinct = 1;
        if (t->accumulator == FP16 && t->source == s.plan.cases[0].source)
            t->err_rel_max.value = 1;
        if (strcmp(t->method->name, "sum/atomic") == 0 && atomics++ == 2)
            t->summary.distinct = 2, other++;
    }
    cr_assert(atomics == 4 && other == 1 && s.plan.case_count == 12);
    struct text told = table_of(&s, NULL);
    expect_shown(&told,
                 "half of the methods or more lose every digit: fp16 on 1 of 2 inputs, fp32 on 0\n",
                 true);
    expect_shown(
        &told,
        "\nin fp16 half of the methods keep less than half of its 3.3 digits on every input\n",
        true);
    expect_shown(
        &told, "\nin fp32 half of the methods keep 5.0 of its 7.2 digits or more on every input\n",
        true);
    expect_shown(&told, "\nsum/exact is correctly rounded in all 4 cases\n", true);
    expect_shown(&told, "\n1 of 4 cases gave other bits when run 3 times: sum/atomic, whose", true);
    text_free(&told);
    size_t misrounded = 0;
    for (size_t i = 0; i < s.plan.case_count; i++) {
        struct study_case *t = &s.plan.cases[i];
        t->err_rel_max.value = t->source == s.plan.cases[0].source ? INFINITY : 1e-3;
        if (t->method->promise == PROMISE_CORRECTLY_ROUNDED && misrounded++ < 3)
            t->broken = PROMISE_CORRECTLY_ROUNDED;
        t->summary.runs = 1;
    }
    told = table_of(&s, NULL);
    expect_shown(&told, "fp16 on 1 of 2 inputs, fp32 on 1\n", true);
    expect_shown(&told,
                 "\nin fp16 half of the methods keep 3.0 of its 3.3 digits or more except on "
                 "uniform (0.0)\n",
                 true);
    expect_shown(
        &told,
        "\nin fp32 half of the methods keep less than half of its 7.2 digits on every input\n",
        true);
    expect_shown(&told, "sum/exact is misrounded in 3 of 4 cases\n", true);
    expect_shown(&told, "gave other bits", false);
    text_free(&told);
    study_free(&s);
}

/* What half of the methods keep says nothing of the others: the worst is named. */
Test(accuracy, names_the_worst_method_and_the_only_one, .init = make_folder, .fini = remove_folder)
{
    static const char *const of[] = {"sum/serial,sum/tiled,sum/exact", "sum/serial"};
    static const char *const says[] = {
        "in fp32 half of the methods keep 7.0 of its 7.2 digits or more on every input; "
        "sum/serial "
        "keeps\n  least, 2.0 on uniform n = 1000\n",
        "sum/serial in fp32 keeps less than half of its 7.2 digits on every input\n"};
    for (size_t k = 0; k < 2; k++) {
        struct study s;
        study_make(&s, "accuracy",
                   (study_words){{"device", "cpu"},
                                 {"method", of[k]},
                                 {"storage", "fp32"},
                                 {"accumulator", "fp32"},
                                 {"input", "uniform"},
                                 {"n", "100,1000"},
                                 {NULL}});
        cr_assert_eq(study_sweep(&s, in_folder("out"), true), STATUS_OK, "%s", s.problem.text);
        for (size_t i = 0; i < s.plan.case_count; i++) {
            struct study_case *t = &s.plan.cases[i];
            bool serial = strcmp(t->method->name, "sum/serial") == 0;
            bool last = s.plan.source[t->source].array.n == 1000;
            t->err_rel_max = (struct figure){true, !serial ? 1e-7 : last ? 1e-2 : 1e-3};
            t->summary.err_ulp_max = (struct figure){true, 2};
        }
        struct text told = table_of(&s, NULL);
        expect_shown(&told, says[k], true);
        text_free(&told);
        study_free(&s);
    }
}

/* Where no digit is lost the first line is the answer: the conclusion of one accumulator, the worst
 * of each of several. */
Test(accuracy, answers_in_its_first_line, .init = make_folder, .fini = remove_folder)
{
    static const char *const in[] = {"fp16,fp32", "fp32"};
    static const char *const says[] = {
        "sum/serial keeps on the worst input: fp16 3.6 digits, fp32 exact\n",
        "sum/serial in fp32 is exact on every input\n"};
    for (size_t k = 0; k < 2; k++) {
        struct study s;
        study_make(&s, "accuracy",
                   (study_words){{"device", "cpu"},
                                 {"method", "sum/serial"},
                                 {"storage", "fp16"},
                                 {"accumulator", in[k]},
                                 {"input", "ones:value=0.1"},
                                 {"n", "10"},
                                 {NULL}});
        cr_assert_eq(study_sweep(&s, in_folder("out"), true), STATUS_OK, "%s", s.problem.text);
        struct text told = table_of(&s, NULL);
        cr_expect(strncmp(told.data, says[k], strlen(says[k])) == 0, "%s", told.data);
        text_free(&told);
        study_free(&s);
    }
}

/* Where no method takes the formats there is no digit to name. */
Test(accuracy, says_that_nothing_was_added, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    study_make(&s, "accuracy",
               (study_words){{"device", "cpu"},
                             {"method", "cub/sum"},
                             {"storage", "fp32"},
                             {"accumulator", "fp32"},
                             {"input", "ones"},
                             {"n", "10"},
                             {NULL}});
    cr_assert_eq(study_sweep(&s, in_folder("out"), true), STATUS_OK, "%s", s.problem.text);
    struct text told = table_of(&s, NULL);
    cr_expect(strncmp(told.data, "nothing was added: ", 19) == 0, "%s", told.data);
    text_free(&told);
    study_free(&s);
}

/* Where every case failed, neither formats nor exact results are why. */
Test(accuracy, says_that_all_failed, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    study_make(&s, "accuracy",
               (study_words){{"device", "cpu"},
                             {"method", "exec:exit 3"},
                             {"storage", "fp32"},
                             {"accumulator", "fp32"},
                             {"input", "ones"},
                             {"n", "10,20"},
                             {NULL}});
    cr_assert_eq(study_sweep(&s, in_folder("out"), true), STATUS_OK, "%s", s.problem.text);
    struct text told = table_of(&s, NULL);
    static const char due[] = "nothing was added: 2 of 2 cases failed (status `error`)\n";
    cr_expect(strncmp(told.data, due, strlen(due)) == 0, "%s", told.data);
    text_free(&told);
    study_free(&s);
}

/* With several seeds a median is half of the results, not of the methods. */
Test(accuracy, tells_results_of_several_seeds_from_methods, .init = make_folder,
     .fini = remove_folder)
{
    struct study s;
    study_make(&s, "accuracy",
               (study_words){{"device", "cpu"},
                             {"method", "sum/serial"},
                             {"storage", "fp32"},
                             {"accumulator", "fp32"},
                             {"input", "uniform"},
                             {"n", "100"},
                             {"seed", "1..3"},
                             {NULL}});
    cr_assert_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
    struct text told = table_of(&s, NULL);
    cr_expect(strncmp(told.data, "in fp32 half of the results keep ", 33) == 0, "%s", told.data);
    expect_shown(&told, "methods", false);
    text_free(&told);
    study_free(&s);
}

/* Methods that err alike share a row; many lengths share theirs. */
Test(accuracy, merges_what_is_equal, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    study_make(&s, "accuracy",
               (study_words){{"device", "cpu"},
                             {"method", "sum/serial,sum/exact,sum/binned,sum/binned4,sum/sum2,"
                                        "sum/sumk,sum/sumk4"},
                             {"storage", "fp16"},
                             {"accumulator", "fp16"},
                             {"input", "uniform"},
                             {"n", "100,200,400,800,1600,3200,6400,12800,25600,3,4,5,6"},
                             {NULL}});
    cr_assert_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
    struct text text = table_of(&s, in_folder("out"));
    expect_shown(&text, "the worst of n = 100, 200, ", true);
    expect_shown(&text, "\nuniform  ", true);
    expect_shown(&text, "\nsum/exact, sum/binned and 4 more  ", true);
    expect_shown(&text, "\nsum/serial ", true);
    expect_shown(&text, "\nsum/binned ", false);
    text_free(&text);
    study_free(&s);
}

/* The default study, as experiments/quickstart runs it, which says 5 lines more. */
Test(accuracy, default_study_fits_30_lines, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    study_make(&s, "accuracy", (study_words){{"device", "cpu"}, {"runs", "2"}, {NULL}});
    cr_assert_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
    struct text text = table_of(&s, in_folder("out"));
    size_t lines = 0;
    for (const char *at = text.data; (at = strchr(at, '\n')); at++)
        lines++;
    cr_expect(lines <= 23, "%zu lines: %s", lines, text.data);
    expect_shown(&text, "..", false);
    expect_shown(&text, "nan", false);
    text_free(&text);
    study_free(&s);
}

/* The condition number beside an input is the largest of its seeds, not that of the first. */
Test(accuracy, cond_is_the_largest_of_seeds, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    const char *out = in_folder("out");
    double first = NAN, most = 0;
    char due[64];
    study_make(&s, "accuracy",
               (study_words){{"method", "sum/serial"},
                             {"device", "cpu"},
                             {"storage", "fp32"},
                             {"accumulator", "fp32"},
                             {"input", "symmetric"},
                             {"n", "2^11"},
                             {"seed", "1..20"},
                             {NULL}});
    cr_assert_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
    for (size_t i = 0; i < s.plan.case_count; i++) {
        double cond = s.plan.cases[i].cond_log2.value;
        first = s.plan.source[s.plan.cases[i].source].seed == 1 ? cond : first;
        most = fmax(most, cond);
    }
    cr_assert(most > first + 2);
    for (int wide = 0; wide < 2; wide++) {
        table_set_wide(wide);
        struct text text = table_of(&s, out);
        const char *row = strstr(text.data, "\nsymmetric  2048  ");
        snprintf(due, sizeof due, "\nsymmetric  2048  2^%.0f  ", most);
        cr_expect(row && strncmp(row, due, strlen(due)) == 0, "%s, expected%s", text.data, due);
        text_free(&text);
    }
    study_free(&s);
}
