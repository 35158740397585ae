/* ulpscope report: one page of a results directory. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/cases/experiment.h"
#include "reports/page/report.h"
#include "experiments/program/verbs.h"

/* Is each word of the list a form that pictures have? */
static enum status figures_known(const char *list, struct problem *p)
{
    static const char *const form[] = {"pdf", "svg", "png"};
    while (list) {
        size_t length = strcspn(list, ",");
        bool known = false;
        for (size_t i = 0; i < sizeof form / sizeof *form; i++)
            known |= length == strlen(form[i]) && strncmp(list, form[i], length) == 0;
        if (!known)
            return problem(p, STATUS_USAGE,
                           "--figures: found '%.*s', expected pdf, svg, png, or several of them "
                           "with commas between",
                           (int)(length < 40 ? length : 40), list);
        list = list[length] ? list + length + 1 : NULL;
    }
    return STATUS_OK;
}

static enum status run(const struct arguments *a, struct problem *p)
{
    char *path;
    const struct page_options options = {.out = argument_value(a, "out"),
                                         .index = argument_value(a, "index"),
                                         .figures = argument_value(a, "figures")};
    enum status status = figures_known(options.figures, p);
    if (status == STATUS_OK)
        status = page_write(&path, a->operand[0], &options, experiment_operation, p);
    else
        path = NULL;
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
    .details = "Writes DIR/report/report.html, or report.html in the directory that --out names, a "
               "single file that needs\n"
               "no network and no script, and prints its path. Findings come first, with the "
               "picture that shows them;\n"
               "the page has no picture for what the study did not ask.\n"
               "\n"
               "gnuplot (5.4 or later) draws the pictures. Next to the page are, for each picture, "
               "NAME.csv (its data as\n"
               "measured), NAME.gp and NAME.dat (edit them, and `gnuplot NAME.gp` redraws it) and "
               "NAME-1.svg, ... .\n"
               "--figures pdf,png also writes NAME-1.pdf and NAME-1.png for a paper.\n"
               "\n"
               "Exit status 0: the page was made, even if results break promises or bounds; the "
               "page names them, and\n"
               "the command that measured them had exit status 1. 3: the directory is not a whole "
               "study, or gnuplot is\n"
               "missing, and the page then has everything but the pictures.",
    .examples = "  ulpscope run accuracy --device cpu --quiet --out results --force\n"
                "  ulpscope report results\n"
                "  ulpscope report reports/recorded/h200-trial --out report-trial --figures pdf",
    .run = run,
};
