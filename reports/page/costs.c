/* What methods cost, in sentences: what was timed beside a raw read. */
#include "reports/page/report.h"

static void say_speed(struct text *to, const struct report *r)
{
    const struct report_time *best = NULL;
    for (size_t i = 0; i < r->times; i++)
        if (r->time[i].of_raw.known && (!best || r->time[i].of_raw.value > best->of_raw.value))
            best = &r->time[i];
    if (!best)
        return;
    text_add(to, "<li class=\"plain\">");
    html_format(to,
                "Fastest beside a raw read of the same data: %s, %s added in %s, at %.3g GB/s, "
                "%.2f of the raw read.",
                best->field[TIMES_METHOD], best->field[TIMES_STORAGE],
                best->field[TIMES_ACCUMULATOR], best->gb_per_s.known ? best->gb_per_s.value : 0,
                best->of_raw.value);
    text_add(to, "</li>\n");
}

static enum promise promise_of(const struct report *r, const char *method)
{
    for (size_t i = 0; i < r->g.count; i++)
        if (strcmp(r->g.item[i].field[CASE_METHOD], method) == 0)
            return r->g.item[i].promise;
    return PROMISE_NONE;
}

/* The fastest method of those that promise a rung, of what was timed on the input and the formats
 * of the first row. */
static const struct report_time *fastest(const struct report *r, enum promise rung)
{
    static const enum times_column same[] = {TIMES_DEVICE, TIMES_STORAGE, TIMES_ACCUMULATOR,
                                             TIMES_INPUT, TIMES_N};
    const struct report_time *best = NULL, *first = NULL;
    for (size_t i = 0; i < r->times; i++) {
        const struct report_time *t = &r->time[i];
        bool asked = t->of_raw.known && t->of_raw.value > 0 &&
                     promise_of(r, t->field[TIMES_METHOD]) != PROMISE_NONE;
        first = first || !asked ? first : t;
        for (size_t k = 0; asked && k < sizeof same / sizeof *same; k++)
            asked = strcmp(t->field[same[k]], first->field[same[k]]) == 0;
        if (asked && promise_of(r, t->field[TIMES_METHOD]) >= rung &&
            (!best || t->of_raw.value > best->of_raw.value))
            best = t;
    }
    return best;
}

static void say_costs(struct text *to, const struct report *r)
{
    const struct report_time *first = fastest(r, PROMISE_RUN_TO_RUN);
    if (!first)
        return;
    text_add(to, "<li class=\"plain\">");
    html_format(to, "What each promise costs, in raw reads of the same data (%s, %s added in %s):",
                first->field[TIMES_INPUT], first->field[TIMES_STORAGE],
                first->field[TIMES_ACCUMULATOR]);
    for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++) {
        const struct report_time *t = fastest(r, rung);
        if (t)
            html_format(to, "%s %s %.2f (%s)", rung == PROMISE_RUN_TO_RUN ? "" : ",",
                        promise_name[rung], 1 / t->of_raw.value, t->field[TIMES_METHOD]);
    }
    text_add(to, ".");
    text_add(to, "</li>\n");
}

void report_cost_findings(struct text *to, const struct report *r)
{
    if (r->candidates == 0) /* else its formats are not one pair */
        say_costs(to, r);
    say_speed(to, r);
}
