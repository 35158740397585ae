/* What `run atomics` found, in words and as a table: how spreads grow, and whether they are normal.
 */
#include <math.h>

#include "reports/page/report.h"

static void say_normal(struct text *to, const struct report *r)
{
    size_t tested = 0, rejected = 0;
    for (size_t row = 0; row < r->atomics.count; row++) {
        double probability = report_number(&r->atomics, row, ATOMICS_P_NORMAL);
        tested += !isnan(probability);
        rejected += probability < 0.05;
    }
    if (tested == 0)
        return;
    text_add(to, "<li class=\"plain\">");
    html_format(to,
                "Are the results normally distributed? In %zu of the %zu cases with enough "
                "different results the test of D'Agostino and Pearson says no, at 5%%; of normal "
                "ones it would say so of one in 20.",
                rejected, tested);
    text_add(to, "</li>\n");
}

void report_atomics_findings(struct text *to, const struct report *r)
{
    const struct report_rows *g = &r->growth;
    size_t best = g->count;
    for (size_t row = 0; row < g->count; row++)
        if (strcmp(report_cell(g, row, GROWTH_FIGURE), "spread") == 0 &&
            !isnan(report_number(g, row, GROWTH_STANDARD_ERROR)) &&
            (best == g->count ||
             report_number(g, row, GROWTH_POINTS) > report_number(g, best, GROWTH_POINTS)))
            best = row;
    if (best < g->count) {
        text_add(to, "<li class=\"plain\">");
        html_format(to,
                    "The spread of results grows with n: that of %s, %s added in %s, %s, as n to "
                    "the power %.2f +- %.2f, from n = %s to %s.",
                    report_cell(g, best, GROWTH_METHOD), report_cell(g, best, GROWTH_STORAGE),
                    report_cell(g, best, GROWTH_ACCUMULATOR), report_cell(g, best, GROWTH_INPUT),
                    report_number(g, best, GROWTH_EXPONENT),
                    report_number(g, best, GROWTH_STANDARD_ERROR),
                    report_cell(g, best, GROWTH_N_MIN), report_cell(g, best, GROWTH_N_MAX));
        text_add(to, "</li>\n");
    }
    say_normal(to, r);
}

void report_exponents(struct text *to, const struct report *r)
{
    static const enum growth_column column[] = {GROWTH_METHOD, GROWTH_STORAGE, GROWTH_ACCUMULATOR,
                                                GROWTH_INPUT,  GROWTH_LOAD,    GROWTH_FIGURE,
                                                GROWTH_N_MIN,  GROWTH_N_MAX};
    enum { COLUMNS = sizeof column / sizeof *column };
    struct html_table t;
    if (r->growth.count == 0)
        return;
    text_add(to, "<section id=\"exponents\"><h2>How spreads grow</h2>\n<p>The power of n that fits "
                 "best: of `spread`, the largest distance between two results of a case, and of "
                 "`vs_max`, the largest from the fixed order's, relative to it.</p>\n");
    html_table_begin(&t, to, "llllllrrrr");
    for (size_t k = 0; k < COLUMNS; k++)
        html_cell(&t, "%s", growth_column(column[k])->name);
    html_cell(&t, "exponent");
    html_cell(&t, "standard error");
    for (size_t row = 0; row < r->growth.count; row++) {
        double exponent = report_number(&r->growth, row, GROWTH_EXPONENT),
               error = report_number(&r->growth, row, GROWTH_STANDARD_ERROR);
        for (size_t k = 0; !isnan(exponent) && k < COLUMNS; k++)
            html_cell(&t, "%s", report_cell(&r->growth, row, column[k]));
        if (!isnan(exponent))
            html_cell(&t, "%.2f", exponent);
        if (!isnan(exponent) && isnan(error))
            html_cell(&t, "%s", "");
        else if (!isnan(exponent))
            html_cell(&t, "%.2f", error);
    }
    html_table_end(&t);
    text_add(to, "</section>\n");
}
