#include "experiments/studies/steady.h"

/* With no more cases than this, each is shown. */
enum { ALL_SHOWN = 40 };

/* Cases of the method, those that gave one result, and their runs. */
static size_t steady_cases(const struct plan *plan, const struct method *m, size_t *cases,
                           uint64_t *runs)
{
    size_t steady = 0;
    *cases = 0;
    *runs = 0;
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        if (t->method != m || !t->finished || !t->supported)
            continue;
        (*cases)++;
        *runs += t->summary.runs;
        steady += t->summary.distinct == 1 && !t->broken;
    }
    return steady;
}

bool steady_left_out(const struct plan *plan, const struct method *m)
{
    size_t cases;
    uint64_t runs;
    return plan->case_count > ALL_SHOWN && steady_cases(plan, m, &cases, &runs) == cases;
}

void steady_lines(struct text *to, const struct plan *plan)
{
    for (size_t i = 0; plan->case_count > ALL_SHOWN && i < plan->axes->methods; i++) {
        size_t cases;
        uint64_t runs;
        const struct method *m = plan->axes->method[i];
        if (steady_cases(plan, m, &cases, &runs) == cases && cases > 0)
            text_format(to, "%s: %zu cases, %llu runs: one result in each case (promise: %s)\n",
                        m->name, cases, (unsigned long long)runs, promise_name[m->promise]);
    }
}
