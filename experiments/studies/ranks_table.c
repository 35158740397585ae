#include "experiments/studies/ranks_table.h"

#include "experiments/studies/says.h"
#include "experiments/studies/scan_table.h"

/* Whose model has all its bits, in how many cases; a case that has not is named. */
static void says_predicted(struct text *to, const struct plan *plan)
{
    for (size_t k = 0; k < plan->axes->methods; k++) {
        const struct method *m = plan->axes->method[k];
        const struct study_case *other = NULL;
        size_t cases = 0, known = 0, predicted = 0;
        for (size_t i = 0; m->model && i < plan->case_count; i++) {
            const struct study_case *t = &plan->cases[i];
            if (t->method != m || !t->finished || !t->supported)
                continue;
            cases++;
            if (!m->model(m->name, t->setting.ranks, t->setting.bins, t->accumulator))
                continue;
            known++;
            bool equal =
                t->summary.scan.differing_max.known && t->summary.scan.differing_max.value == 0;
            predicted += equal;
            other = equal ? other : t;
        }
        if (cases == 0)
            continue;
        struct text line = {0};
        text_format(&line, "%s: ", m->name);
        if (known > 0)
            text_format(&line, "every bit as predicted in %zu of %zu cases", predicted, known);
        if (known < cases)
            text_format(&line, "%s%zu case%s no model", known ? "; " : "", cases - known,
                        cases - known == 1 ? " has" : "s have");
        if (known < cases && m->unmodelled)
            text_format(&line, ": %s", m->unmodelled);
        if (other) {
            text_add(&line, "; NOT in ");
            says_case(&line, plan, other);
            text_format(&line, ", %zu ranks", other->setting.ranks);
        }
        says_line(to, &line);
    }
}

enum status ranks_table(struct text *to, const struct plan *plan, const char *out,
                        struct problem *p)
{
    struct text legend = {0};
    (void)out;
    says_repeats_and_errors(to, plan);
    says_predicted(to, plan);
    text_add(to, "\n");
    text_format(&legend,
                "n / ranks elements on each rank; the accumulator is what travels. distinct: "
                "different results in how many runs. worst at: the element with the largest "
                "error of any run; that error in ulps, the root mean square over the elements, "
                "and the largest error over its bound. run 1: the largest share of elements "
                "that differ from run 1; from twin: from %s, or of a library's own "
                "from the model of it, with their mean relative difference.",
                plan->axes->experiment->operation[0]->fixed);
    text_wrapped(to, &legend, TABLE_COLUMNS, 0);
    text_add(to, "\n");
    return scan_tables_bins(to, plan, p);
}
