/* Rows that contradict themselves: whoever reads a results directory says where. */
#include <jansson.h>

#include "reports/results/results.h"
#include "tests/support/program.h"

struct edit {
    const char *column, *to, *says; /* which column the message names */
};

/* Writes results.csv with the last row's column changed, as a spreadsheet or a hand would. */
static void change(const char *from, const char *to, size_t column, const char *value)
{
    struct bytes rows = get_file(in_folder(from)), edited = {0};
    add_number(&rows, 0, 1);
    char *text = (char *)rows.data, *last = text + strlen(text) - 1;
    while (last > text && last[-1] != '\n')
        last--;
    add_bytes(&edited, text, (size_t)(last - text));
    for (size_t i = 0; *last; i++) {
        size_t length = strcspn(last, ",\n");
        if (i == column)
            add_string(&edited, value);
        else
            add_bytes(&edited, last, length);
        add_bytes(&edited, last + length, 1);
        last += length + 1;
    }
    put_file(to, &edited);
    clear_bytes(&edited);
    clear_bytes(&rows);
}

static size_t column_named(const char *name)
{
    size_t i = 0;
    while (strcmp(results_column(i)->name, name) != 0)
        i++;
    return i;
}

/* Every reader of `study` sees each edit, and none sees one in the rows as they are. */
static void expect_seen(const char *study, const struct edit *edit, size_t edits)
{
    char options[600], says[100];
    const char *reader[3][2] = {{"run", options}, {"report", "b"}, {"compare", "a b"}};
    snprintf(options, sizeof options, "%s --out a", study);
    cr_assert_eq(run_program("run", options), 0);
    snprintf(options, sizeof options, "%s --out b", study);
    cr_assert_eq(run_program("run", options), 0);
    for (size_t i = 0; i <= edits; i++) {
        if (i < edits)
            change("a/results.csv", "b/results.csv", column_named(edit[i].column), edit[i].to);
        else
            change("a/results.csv", "b/results.csv", SIZE_MAX, "");
        for (size_t r = 0; r < 3; r++) {
            int due = i < edits ? 3 : 0;
            if (r == 1 && i == edits)
                continue; /* pictures are drawn by who has gnuplot */
            cr_expect_eq(run_program(reader[r][0], reader[r][1]), due, "%s: %s", reader[r][0],
                         i < edits ? edit[i].column : "as it was");
            if (i == edits)
                continue;
            snprintf(says, sizeof says, ": %s: found '", edit[i].says);
            expect_said("err", "b/results.csv: line ");
            expect_said("err", says);
            expect_said("err", "expected '");
        }
    }
}

Test(contradictions, of_sums, .init = make_folder, .fini = remove_folder)
{
    static const struct edit edit[] = {
        {"method", "sum/serial", "case_id"},
        {"device", "cuda:0", "case_id"},
        {"storage", "fp64", "case_id"},
        {"input", "ones", "case_id"},
        {"n", "101", "case_id"},
        {"seed", "2", "case_id"},
        {"threads", "7", "case_id"},
        {"result", "1.5", "result"},
        {"result_hex", "0x1p+0", "result_hex"},
        {"result_bits", "0x3f800000", "result"},
        {"exact", "1.5", "exact"},
        {"exact_hex", "0x1.8p+4", "exact"},
        {"err_abs", "0", "err_abs"},
        {"err_abs", "", "err_abs"},
        {"err_rel", "nan", "err_rel"},
        {"err_ulp", "0.5", "err_ulp"},
        {"bound", "1e-300", "err_over_bound"},
        {"bound", "inf", "err_over_bound"},
        {"bound", "nan", "bound"},
        {"bound", "", "err_over_bound"},
        {"err_over_bound", "2", "err_over_bound"},
        {"err_over_bound", "", "err_over_bound"},
        {"status", "overflow", "status"},
    };
    expect_seen("accuracy --device cpu --method sum/tiled --input uniform --n 100 --storage fp32 "
                "--accumulator fp32 --quiet",
                edit, sizeof edit / sizeof *edit);
}

/* The variance's bits do not end: exact_hex has the first of them, and the error is of all. */
Test(contradictions, of_values_that_are_cut, .init = make_folder, .fini = remove_folder)
{
    static const char study[] = "norm --device cpu --method variance/textbook,norm/tiled --data "
                                "x.txt --storage fp64 --accumulator fp64 --quiet --out a";
    struct bytes data = {0};
    add_string(&data, "1\n4.94065645841246544e-324\n");
    put_file("x.txt", &data);
    clear_bytes(&data);
    cr_expect_eq(run_program("run", study), 0);
    cr_expect_eq(run_program("run", study), 0);
    cr_expect_eq(run_program("compare", "a a"), 0);
    change("a/results.csv", "a/results.csv", column_named("err_rel"), "1e-70");
    cr_expect_eq(run_program("compare", "a a"), 3);
    expect_said("err", "err_rel: found '1e-70', expected '");
}

/* Nor is a row of another experiment one of the study's. */
Test(contradictions, of_the_experiment, .init = make_folder, .fini = remove_folder)
{
    static const char study[] = "accuracy --device cpu --method sum/tiled --input uniform --n 100 "
                                "--storage fp64 --accumulator fp64 --quiet --out a";
    cr_expect_eq(run_program("run", study), 0);
    change("a/results.csv", "a/results.csv", column_named("experiment"), "norm");
    cr_expect_eq(run_program("compare", "a a"), 3);
    expect_said("err", "experiment: found 'norm', expected 'accuracy', as study.json says: edited");
}

/* Rows of one case are of one case. */
Test(contradictions, of_further_runs, .init = make_folder, .fini = remove_folder)
{
    static const struct edit edit[] = {{"result", "1.5", "result"}};
    expect_seen("variance --device cpu --method sum/tiled --input uniform --n 100 --runs 3 --quiet "
                "--storage fp32 --accumulator fp32",
                edit, 1);
    change("a/results.csv", "b/results.csv", column_named("method"), "sum/serial");
    cr_expect_eq(run_program("compare", "a b"), 3);
    expect_said("err", "b/results.csv: line 4: method: found 'sum/serial', expected 'sum/tiled'");
}

/* A status that there is none of, or of runs without a result; runs are counted from 1. */
Test(contradictions, of_status_and_run, .init = make_folder, .fini = remove_folder)
{
    static const char study[] = "accuracy --device cpu --method sum/tiled --input uniform --n 100 "
                                "--storage fp32 --accumulator fp32 --quiet";
    static const struct edit edit[] = {
        {"status", "great", "status: found 'great', expected ok, overflow or nan"},
        {"status", "error", "status: found 'error', expected ok, overflow or nan"},
        {"status", "", "status: found '', expected ok, overflow or nan"},
        {"run", "0", "run: found '0', expected "},
    };
    char options[600];
    for (const char *out = "ab"; *out; out++) {
        snprintf(options, sizeof options, "%s --out %c", study, *out);
        cr_assert_eq(run_program("run", options), 0);
    }
    for (size_t i = 0; i < sizeof edit / sizeof *edit; i++) {
        change("a/results.csv", "b/results.csv", column_named(edit[i].column), edit[i].to);
        cr_expect_eq(run_program("compare", "a b"), 3, "compare, %s", edit[i].to);
        expect_said("err", edit[i].says);
        cr_expect_eq(run_program("report", "b"), 3, "report, %s", edit[i].to);
        expect_said("err", edit[i].says);
        if (strcmp(edit[i].to, "error") != 0) /* is run again */
            cr_expect_eq(run_program("run", options), 3, "run, %s", edit[i].to);
    }
}

/* A row that stands twice would count as two runs. Rows may be in any order. */
Test(contradictions, of_rows_that_stand_twice, .init = make_folder, .fini = remove_folder)
{
    static const char study[] = "variance --device cpu --method sum/tiled --input uniform --n 100 "
                                "--runs 3 --quiet --storage fp32 --accumulator fp32";
    char options[600];
    for (const char *out = "ab"; *out; out++) {
        snprintf(options, sizeof options, "%s --out %c", study, *out);
        cr_assert_eq(run_program("run", options), 0);
    }
    char *rows = content("a/results.csv"), *line[4];
    for (size_t i = 0; i < 4; i++)
        line[i] = strtok(i ? NULL : rows, "\n");
    static const size_t order[][4] = {{3, 1, 2, 0}, {1, 2, 3, 2}, {2, 2, 0, 0}};
    for (size_t i = 0; i < 3; i++) {
        struct bytes edited = {0};
        add_string(&edited, line[0]);
        add_string(&edited, "\n");
        for (size_t k = 0; k < 4 && order[i][k] > 0; k++) {
            add_string(&edited, line[order[i][k]]);
            add_string(&edited, "\n");
        }
        put_file("b/results.csv", &edited);
        clear_bytes(&edited);
        cr_expect_eq(run_program("compare", "a b"), i > 0 ? 3 : 0, "%zu", i);
        if (i > 0)
            expect_said("err", i == 1 ? "b/results.csv: line 5: run: found '2', which line 3 has "
                                        "too, expected each once: edited"
                                      : "b/results.csv: line 3: run: found '2', which line 2");
        if (i > 0)
            cr_expect_eq(run_program("report", "b"), 3);
    }
    free(rows);
}

/* Operations have columns of their own. */
Test(contradictions, of_other_operations, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *study;
        struct edit edit[4];
        size_t edits;
    } of[] = {
        {"drift --device cpu --method scan/segmented --input uniform --n 100 --segment 7",
         {{"scan", "exclusive", "case_id"},
          {"segment", "8", "case_id"},
          {"result", "1", "result"},
          {"exact", "1", "exact"}},
         4},
        {"scatter --device cpu --method scatter/ordered --input uniform --n 100 --keys zipf:s=1.5",
         {{"n", "99", "n"}, {"result", "1", "result"}},
         2},
        {"rows --device cpu --method rows/tiled --input uniform --n 100 --rows 10 --layout column",
         {{"n", "99", "n"}},
         1},
        {"dot --device cpu --method dot/tiled --input uniform --n 100",
         {{"seed", "3", "case_id"}, {"result", "1", "result"}},
         2},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char study[400];
        snprintf(study, sizeof study, "%s --storage fp32 --accumulator fp32 --quiet --force",
                 of[i].study);
        char options[600];
        for (const char *out = "ab"; *out; out++) {
            snprintf(options, sizeof options, "%s --out %c", study, *out);
            cr_assert_eq(run_program("run", options), 0, "%s", of[i].study);
        }
        for (size_t k = 0; k < of[i].edits; k++) {
            char says[100];
            const struct edit *e = &of[i].edit[k];
            size_t column = column_named(e->column);
            change("a/results.csv", "b/results.csv", column, e->to);
            cr_expect_eq(run_program("compare", "a b"), 3, "%s: %s", of[i].study, e->column);
            snprintf(says, sizeof says, ": %s: found '", e->says);
            expect_said("err", says);
        }
    }
}

static size_t check_column_named(const char *name)
{
    size_t i = 0;
    while (strcmp(check_column(i)->name, name) != 0)
        i++;
    return i;
}

/* The row that is changed is the last: sum/exact keeps its rung, sum/serial breaks it. */
Test(contradictions, of_verdicts, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        const char *from, *column, *to, *says;
    } edit[] = {
        {"k", "verdict", "great", "verdict: found 'great', expected kept, broken"},
        {"k", "verdict", "broken", "kept: found 'correctly_rounded', expected no rung that"},
        {"k", "attempts", "1", "attempts: found '1', expected '"},
        {"k", "differing", "1", "verdict: found 'kept', expected 'broken'"},
        {"k", "differing", "1000000", "differing: found '1000000', expected no more than"},
        {"k", "promise", "none", "promise: found 'none', expected what promised says"},
        {"k", "promise", "all", "promise: found 'all', expected none or a rung"},
        {"k", "tried", "exact 3", "attempts: found '"},
        {"b", "verdict", "kept", "verdict: found 'kept', expected 'broken'"},
        {"b", "differing", "0", "differing: found '0', expected '"},
        {"b", "kept", "correctly_rounded", "kept: found 'correctly_rounded', expected no"}};
    char options[200];
    static const char study[] =
        "trial --device cpu --seconds 2 --n 2^6..2^12 --input uniform,symmetric "
        "--storage fp32 --accumulator fp32 --quiet";
    for (size_t i = 0; i < 2; i++) {
        snprintf(options, sizeof options, "%s --method %s --out %s", study,
                 i ? "sum/serial" : "sum/exact", i ? "b" : "k");
        cr_assert_eq(run_program("run", options), 0);
    }
    for (size_t i = 0; i < sizeof edit / sizeof *edit; i++) {
        char command[1000], path[40];
        snprintf(command, sizeof command, "cd '%s' && rm -rf e && cp -r %s e", folder,
                 edit[i].from);
        cr_assert_eq(system(command), 0);
        snprintf(path, sizeof path, "%s/trial.csv", edit[i].from);
        change(path, "e/trial.csv", check_column_named(edit[i].column), edit[i].to);
        snprintf(options, sizeof options, "%s --method %s --out e", study,
                 *edit[i].from == 'b' ? "sum/serial" : "sum/exact");
        cr_expect_eq(run_program("report", "e"), 3, "%s", edit[i].says);
        expect_said("err", edit[i].says);
        cr_expect_eq(run_program("run", options), 3, "%s", edit[i].says);
        expect_said("err", edit[i].says);
    }
}
