/* What a page says of subjects on trial, of rows made by hand. */
#include <math.h>

#include "tests/support/page_told.h"

enum { ROWS_MOST = 16 };

struct rows {
    char *cell[ROWS_MOST][CHECK_COLUMNS];
    struct page r;
};

static void begin_rows(struct rows *rows)
{
    *rows = (struct rows){.r.trial = {.columns = CHECK_COLUMNS}};
    rows->r.trial.cell = rows->cell[0];
}

/* Returns the row, so that more can be said of it. */
static char **add_row(struct rows *rows, const char *method, const char *promise, const char *kept,
                      const char *rung, const char *verdict, const char *attempts,
                      const char *differing)
{
    char **cell = rows->cell[rows->r.trial.count++];
    for (size_t i = 0; i < CHECK_COLUMNS; i++)
        cell[i] = "";
    cell[CHECK_METHOD] = (char *)method;
    cell[CHECK_ON] = "cpu";
    cell[CHECK_PROMISE] = (char *)promise;
    cell[CHECK_KEEPS] = (char *)kept;
    cell[CHECK_RUNG] = (char *)rung;
    cell[CHECK_VERDICT] = (char *)verdict;
    cell[CHECK_ATTEMPTS] = (char *)attempts;
    cell[CHECK_DIFFERING] = (char *)differing;
    cell[CHECK_PROMISED] = "0";
    return cell;
}

static void expect_findings(struct rows *rows, const char *what, bool due)
{
    struct text told = {0};
    page_trial_findings(&told, &rows->r);
    expect_told(&told, what, due);
    text_free(&told);
}

static bool leads(struct rows *rows, const char *what)
{
    struct text told = {0};
    page_trial_findings(&told, &rows->r);
    const char *all = text_string(&told), *item = all ? strchr(all, '>') : NULL;
    bool is = item && strncmp(item + 1, what, strlen(what)) == 0;
    text_free(&told);
    return is;
}

/* What was found leads: whose bits differ; where nobody's do, that no attempt broke any, over how
 * many. That they promise nothing is no finding of its own. */
Test(trial_page, what_promises_nothing)
{
    struct rows rows;
    begin_rows(&rows);
    add_row(&rows, "a", "none", "run_to_run", "run_to_run", "kept", "400", "0");
    char **other = add_row(&rows, "b", "none", "run_to_run", "run_to_run", "kept", "10", "0");
    cr_expect(leads(&rows, "No attempt broke run_to_run of any of 2 subjects that promise "
                           "nothing. Least tried: run_to_run of b, 10 attempts, 95% confident "
                           "that fewer than 26% of such runs differ."));
    other[CHECK_VERDICT] = "not tried";
    other[CHECK_KEEPS] = "none";
    expect_findings(&rows,
                    "nothing; of 1 it was not tried often enough to say that it is kept. Least "
                    "tried: run_to_run of a, 400 attempts",
                    true);
    other[CHECK_VERDICT] = "broken";
    other[CHECK_DIFFERING] = "3";
    cr_expect(leads(&rows, "1 of 2 subjects that promise nothing gave other bits run after run: b "
                           "(3 of 10)."));
    other[CHECK_TRIED] = "repeat 5, process 3, load 2";
    other[CHECK_DIFFERED] = "process 3";
    cr_expect(leads(&rows, "1 of 2 subjects that promise nothing gave other bits run after run: b "
                           "(fresh processes: 3 of 3)."));
    other[CHECK_DIFFERED] = "process 2, load 1";
    cr_expect(leads(&rows, "1 of 2 subjects that promise nothing gave other bits run after run: b "
                           "(3 of 10)."));
    other[CHECK_DIFFERED] = "proc 3"; /* no kind that was tried */
    cr_expect(leads(&rows, "1 of 2 subjects that promise nothing gave other bits run after run: b "
                           "(3 of 10)."));
    expect_findings(&rows, "No attempt", false);
}

/* How a subject of a user's adds is not known: only what is not finite is held to a bound. */
Test(trial_page, what_breaks_an_error_bound)
{
    struct rows rows;
    begin_rows(&rows);
    char **row = add_row(&rows, "a", "none", "none", "correctly_rounded", "broken", "10", "10");
    row[CHECK_EXCEEDING] = "2";
    row[CHECK_ADDED_IN] = "fp32";
    expect_findings(&rows, "in 2 cases a result exceeds it, or is not finite where nothing", true);
    row[CHECK_ADDED_IN] = "unknown";
    expect_findings(&rows, "in 2 cases a result is not finite where nothing can overflow.", true);
}

/* What is kept above a promise is no wider than what was tried: attempts, what they varied, and
 * what that leaves open; of several the least tried. */
Test(trial_page, a_verdict_is_no_wider_than_its_evidence)
{
    struct rows rows;
    begin_rows(&rows);
    add_row(&rows, "a", "none", "gpu_to_gpu", "run_to_run", "kept", "868", "0");
    char **kept = add_row(&rows, "a", "none", "gpu_to_gpu", "gpu_to_gpu", "kept", "82", "0");
    kept[CHECK_TRIED] = "environment 1, offset 81";
    kept[CHECK_REASON_IS] = "on this CPU: no other device runs it";
    add_row(&rows, "b", "none", "run_to_run", "run_to_run", "kept", "10", "0");
    expect_findings(&rows,
                    "2 subjects keep more than promised, as far as was tried here; the first: a "
                    "promises none and keeps gpu_to_gpu in 82 attempts (number of threads 1, "
                    "alignment 81; on this CPU: no other device runs it). Least tried: run_to_run "
                    "of b, 10 attempts, 95% confident that fewer than 26% of such runs differ.",
                    true);
}

/* Of repeated runs there is a percentage; launch shapes, orders and inputs are not drawn alike. */
Test(trial_page, a_percentage_of_repeated_runs_alone)
{
    struct rows rows;
    begin_rows(&rows);
    add_row(&rows, "a", "gpu_to_gpu", "gpu_to_gpu", "run_to_run", "kept", "30", "0");
    char **shapes =
        add_row(&rows, "a", "gpu_to_gpu", "gpu_to_gpu", "gpu_to_gpu", "kept", "20", "0");
    add_row(&rows, "b", "none", "none", "run_to_run", "failed", "0", "0");
    expect_findings(
        &rows,
        "1 of 1 promises are kept, in 50 attempts to break them. Least tried: gpu_to_gpu of a, 20 "
        "attempts.</li>",
        true);
    shapes[CHECK_ATTEMPTS] = "40";
    expect_findings(&rows,
                    "Least tried: run_to_run of a, 30 attempts, 95% confident that fewer "
                    "than 9.5% of such runs differ.</li>",
                    true);
}

/* A promise that was not tried in full is told with its attempts. */
Test(trial_page, what_was_tried_in_part)
{
    struct rows rows;
    begin_rows(&rows);
    add_row(&rows, "a", "gpu_to_gpu", "run_to_run", "run_to_run", "kept", "30", "0");
    add_row(&rows, "a", "gpu_to_gpu", "run_to_run", "gpu_to_gpu", "not tried", "3", "0");
    expect_findings(&rows,
                    "1 of 1 promises was not tried as far as promised; the first: gpu_to_gpu of a, "
                    "3 attempts.",
                    true);
}

/* The table has columns that some row has a cell in. */
Test(trial_page, columns_without_a_cell)
{
    struct rows rows;
    for (int promises = 0; promises < 2; promises++) {
        struct text told = {0};
        begin_rows(&rows);
        add_row(&rows, "a", promises ? "run_to_run" : "none", "run_to_run", "run_to_run", "kept",
                "30", "0");
        add_row(&rows, "a", promises ? "run_to_run" : "none", "run_to_run", "batch_invariant",
                "kept", "40", "0");
        page_subjects(&told, &rows.r);
        expect_told(&told, "<th>run_to_run</th><th>batch_invariant</th></tr>", true);
        expect_told(&told, "rank_invariant", false);
        expect_told(&told, "<th>device</th>", false);
        expect_told(&told, "<th>promises</th>", promises);
        expect_told(&told, "No subject promises any rung of the ladder.", !promises);
        expect_told(&told, "<td>kept 30</td><td>kept 40</td></tr>", true);
        text_clear(&told);
        rows.r.several_devices = true;
        page_subjects(&told, &rows.r);
        expect_told(&told, "<th>device</th>", true);
        text_free(&told);
    }
}
