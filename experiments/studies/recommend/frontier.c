/* The candidates in a table: errors against speed. */
#include <stdio.h>

#include "experiments/cases/added_in.h"
#include "experiments/studies/recommend/candidates.h"
#include "reports/text/against.h"

/* Of the error, and of the promise where one is asked for. */
static const char *verdict_of(const struct recommend_report *r, const struct recommend_candidate *c)
{
    if (c->failed)
        return "failed";
    if (c->broken)
        return "breaks";
    if (!recommend_promises(r) || c->promised.state == CHECK_KEPT)
        return "holds";
    return c->promised.state == CHECK_BROKEN   ? "breaks promise"
           : c->promised.state == CHECK_FAILED ? "fails"
                                               : "promise not tried";
}

/* All have a row in a wide table. */
static bool is_shown(const struct recommend_report *r, size_t i)
{
    const struct recommend_candidate *c = &r->candidate[i];
    return table_wide() || recommend_use_of(r)->stands_in || c->pareto || i == r->chosen ||
           i == r->cheaper || c->method->foreign;
}

static void add_table(struct text *to, const struct recommend_report *r)
{
    struct table table = {.align = "lLLrrrL"};
    const char *const head[] = {"  method", "added in", "result",   "of raw",
                                "error",    "verdict",  "breaks on"};
    char added_in[ADDED_IN_TEXT];
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < r->count; i++) {
        const struct recommend_candidate *c = &r->candidate[i];
        if (!is_shown(r, i))
            continue;
        struct text cell = {0};
        text_add(&cell, i == r->chosen ? "* " : c->pareto || recommend_costs(r) ? "  " : "- ");
        recommend_cell(&cell, c);
        const char *string = text_string(&cell);
        table_cell(&table, "%s", string ? string : "");
        text_free(&cell);
        method_added_in(added_in, c->method, c->accumulator);
        table_cell(&table, "%s", added_in);
        table_cell(&table, "%s", format_facts[c->accumulator].name);
        if (c->rate > 0 && c->raw_ns > 0)
            table_cell(&table, "%.2f", c->raw_ns / c->time_ns);
        else
            table_cell(&table, "%s", c->method->foreign && !c->failed ? "not timed" : "");
        if (c->failed)
            table_cell(&table, "%s", "");
        else
            table_cell(&table, "%s", text_against(c->error, r->request.tolerance.limit, 3).value);
        table_cell(&table, "%s", verdict_of(r, c));
        table_cell(&table, "%s", c->broke.input);
    }
    const char *costs = recommend_costs(r);
    if (costs)
        text_format(
            to, "\nerror in %s, the largest of %zu arrays; in the order below; *: recommended\n",
            recommend_unit(r), r->common);
    else
        text_format(to,
                    "\nfrontier: error (in %s, the largest of %zu arrays) against speed\n"
                    "*: recommended, -: not on it\n",
                    recommend_unit(r), r->common);
    table_draw(to, &table);
    table_free(&table);
}

/* "41 break, 27 hold": of the candidates that have no row. */
static void add_others(struct text *to, const struct recommend_report *r, const char *out)
{
    static const char *const verdict[][2] = {
        {"breaks", "break"}, {"breaks promise", "break the promise"},          {"failed", "failed"},
        {"fails", "fail"},   {"promise not tried", "have an untried promise"}, {"holds", "hold"}};
    size_t others = 0;
    struct text counts = {0};
    for (size_t k = 0; k < sizeof verdict / sizeof *verdict; k++) {
        size_t count = 0;
        for (size_t i = 0; i < r->count; i++)
            count += !is_shown(r, i) && strcmp(verdict_of(r, &r->candidate[i]), verdict[k][0]) == 0;
        if (count > 0)
            text_format(&counts, "%s%zu %s", others ? ", " : "", count, verdict[k][1]);
        others += count;
    }
    if (others > 0) {
        text_format(to, "%zu more candidate%s (--wide, ", others, others == 1 ? "" : "s");
        text_visible(to, out);
        text_add(to, "/recommend.csv): ");
        text_join(to, &counts);
        text_add(to, "\n");
    }
    text_free(&counts);
}

/* Data whose sums need no rounding refute no candidate. */
static void add_exact(struct text *to, const struct recommend_report *r)
{
    size_t answered = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (!r->candidate[i].failed && r->candidate[i].data_error != 0)
            return;
        answered += !r->candidate[i].failed;
    }
    if (answered > 1)
        text_format(to,
                    "note: all %zu candidates add the data without error: only the other arrays "
                    "tell them apart\n",
                    answered);
}

void recommend_frontier(struct text *to, const struct recommend_report *r, const char *out)
{
    add_table(to, r);
    add_others(to, r, out);
    add_exact(to, r);
}
