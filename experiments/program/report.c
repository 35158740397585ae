/* ulpscope report: one page of a results directory. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/cases/experiment.h"
#include "reports/page/report.h"
#include "experiments/program/verbs.h"

static enum status run(const struct arguments *a, struct problem *p)
{
    char *path;
    enum status status =
        page_write(&path, a->operand[0], argument_value(a, "out"), experiment_operation, p);
    struct text shown = {0};
    if (path && isatty(STDOUT_FILENO))
        text_visible(&shown, path);
    if (path)
        printf("%s\n", shown.length > 0 && text_string(&shown) ? shown.data : path);
    text_free(&shown);
    free(path);
    return status;
}

const struct verb verb_report = {
    .name = "report",
    .operands = "DIR",
    .least = 1,
    .most = 1,
    .summary = "one HTML page of a results directory: findings, pictures, tables",
    .details =
        "Writes DIR/report/report.html, or report.html in the directory that --out names, a single "
        "file that needs\nno network and no script, and prints its path.\nPictures are drawn by "
        "gnuplot (5.4 or later), those that the study has "
        "the data for: promises kept and\nbroken (`run trial`), what `recommend` tried, error "
        "against "
        "n, error against condition number, correct\ndigits by input and accumulator, results that "
        "differ from run to run and how they spread with n, error\nagainst speed, error along a "
        "scan. "
        "The scripts and their data stay beside the page: change one, and\n`gnuplot NAME.gp` draws "
        "it anew.\n\n"
        "Exit status 0 where the page was made, also of results that break promises or bounds: the "
        "page names\n"
        "them, and the command that measured them had exit status 1. 3 where the directory is not "
        "a whole study, or where there is no gnuplot: the "
        "page then has\nall but the pictures.",
    .examples = "  ulpscope run accuracy --device cpu --quiet --out results --force\n"
                "  ulpscope report results\n"
                "  ulpscope report reports/recorded/h200-trial --out report-trial",
    .run = run,
};
