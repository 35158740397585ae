#include "experiments/studies/steady.h"

#include <stdlib.h>

#include "experiments/studies/says.h"
#include "reports/text/table.h"

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

/* Of a method all of whose cases gave one result. */
struct steady {
    const struct method *method; /* NULL: not so */
    size_t cases;
    uint64_t runs;
};

static bool alike(const struct steady *a, const struct steady *b)
{
    return a->method && b->method && a->cases == b->cases && a->runs == b->runs &&
           a->method->promise == b->method->promise;
}

/* Those of a promise, as many cases and runs share a line; --wide gives each its own. */
static void steady_line(struct text *to, struct steady *list, size_t count, size_t first)
{
    const struct steady like = list[first];
    struct text line = {0};
    text_format(&line, "one result in each of %zu case%s, %llu runs (promise %s): ", like.cases,
                like.cases == 1 ? "" : "s", (unsigned long long)like.runs,
                promise_name[like.method->promise]);
    for (size_t i = first, named = 0; i < count; i++) {
        if (!alike(&list[i], &like) || (named > 0 && table_wide()))
            continue;
        text_add(&line, named++ ? ", " : "");
        text_visible(&line, list[i].method->name);
        list[i].method = NULL;
    }
    says_line(to, &line);
}

void steady_lines(struct text *to, const struct plan *plan)
{
    const size_t methods = plan->axes->methods;
    struct steady *list = calloc(methods + 1, sizeof *list);
    to->failed |= !list;
    for (size_t i = 0; list && plan->case_count > ALL_SHOWN && i < methods; i++) {
        const struct method *m = plan->axes->method[i];
        size_t steady = steady_cases(plan, m, &list[i].cases, &list[i].runs);
        list[i].method = steady == list[i].cases && steady > 0 ? m : NULL;
    }
    for (size_t i = 0; list && i < methods; i++)
        if (list[i].method)
            steady_line(to, list, methods, i);
    free(list);
}
