#include "experiments/studies/says.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/text/table.h"

void says_line(struct text *to, struct text *line)
{
    text_wrapped(to, line, TABLE_COLUMNS, 2);
}

void says_legend(struct text *to, const char *legend)
{
    struct text line = {0};
    text_add(&line, legend);
    text_wrapped(to, &line, TABLE_COLUMNS, 0);
}

bool says_next(struct text *to, size_t *count, const char *before)
{
    if (++*count > SAYS_NAMES)
        return false;
    text_add(to, *count > 1 ? ", " : before);
    return true;
}

void says_rest(struct text *to, size_t count)
{
    if (count > SAYS_NAMES)
        text_format(to, " and %zu more", count - SAYS_NAMES);
}

void says_case(struct text *to, const struct plan *plan, const struct study_case *t)
{
    const struct source *s = &plan->source[t->source];
    text_format(to, "%s/%s, ", format_facts[s->array.format].name,
                format_facts[t->accumulator].name);
    text_visible(to, s->name);
    text_add(to, ", ");
    if (operation_asks(t->method->operation, SETTING_SHAPE))
        setting_says(to, t->method->operation, &t->setting);
    else
        text_format(to, "n = %zu", s->array.n);
}

/* --- Repeats --- */

/* Of a method: its cases that ran more than once. */
struct repeats {
    size_t cases, varied;
    uint64_t most, of_runs; /* the most results of a case, and its runs */
};

static struct repeats repeats_of(const struct plan *plan, const struct method *m)
{
    struct repeats r = {0};
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        const struct summary *s = &t->summary;
        if (t->method != m || !t->finished || !t->supported || s->runs < 2)
            continue;
        r.cases++;
        r.varied += s->distinct > 1;
        if (s->distinct > r.most) {
            r.most = s->distinct;
            r.of_runs = s->runs;
        }
    }
    return r;
}

/* Of all cases that ran more than once, the fewest runs. */
static uint64_t fewest_runs(const struct plan *plan)
{
    uint64_t fewest = 0;
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        if (t->finished && t->supported && t->summary.runs > 1 &&
            (fewest == 0 || t->summary.runs < fewest))
            fewest = t->summary.runs;
    }
    return fewest;
}

static bool any_ran(const struct plan *plan)
{
    bool any = false;
    for (size_t i = 0; i < plan->case_count; i++)
        any |= plan->cases[i].finished && plan->cases[i].supported;
    return any;
}

void says_repeats(struct text *to, const struct plan *plan)
{
    struct text line = {0}, names = {0};
    size_t methods = 0, varied = 0, cases = 0;
    for (size_t i = 0; i < plan->axes->methods; i++) {
        const struct method *m = plan->axes->method[i];
        struct repeats r = repeats_of(plan, m);
        methods += r.cases > 0;
        cases += r.cases;
        if (r.varied == 0 || !says_next(&names, &varied, ""))
            continue;
        text_visible(&names, m->name);
        text_format(&names, " in %zu of %zu case%s (up to %llu results in %llu runs)", r.varied,
                    r.cases, r.cases == 1 ? "" : "s", (unsigned long long)r.most,
                    (unsigned long long)r.of_runs);
    }
    says_rest(&names, varied);
    if (methods == 0) {
        text_add(&line, any_ran(plan) ? "repeats not tried: each case ran once; give --runs"
                                      : "repeats not tried: no case has a result");
    } else if (varied == 0) {
        text_format(&line,
                    "the same bits in every run: %zu method%s, %zu case%s, at least %llu runs each",
                    methods, methods == 1 ? "" : "s", cases, cases == 1 ? "" : "s",
                    (unsigned long long)fewest_runs(plan));
    } else {
        text_format(&line, "%zu of %zu method%s gave other bits when repeated: ", varied, methods,
                    methods == 1 ? "" : "s");
        text_join(&line, &names);
    }
    says_line(to, &line);
    text_free(&names);
}

/* --- Errors --- */

/* A method's worst case. */
struct worst {
    const struct method *method;
    const struct study_case *at; /* of the largest finite error; NULL: there is none */
    double error;
    size_t cases, not_finite;
};

static struct worst worst_of(const struct plan *plan, const struct method *m)
{
    struct worst w = {.method = m};
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        struct figure error = t->summary.err_ulp_max;
        if (t->method != m || !t->finished || !t->supported || !error.known)
            continue;
        w.cases++;
        w.not_finite += !isfinite(error.value);
        if (isfinite(error.value) && (!w.at || error.value > w.error)) {
            w.at = t;
            w.error = error.value;
        }
    }
    return w;
}

/* Is a worse than b? More results that are not finite, or else a larger error. */
static bool worse(const struct worst *a, const struct worst *b)
{
    return a->not_finite != b->not_finite ? a->not_finite > b->not_finite : a->error > b->error;
}

void says_ulps(struct text *to, double error)
{
    text_format(to, error < 99.5 ? "%.2g ulp" : error < 1e5 ? "%.0f ulp" : "%.1e ulp", error);
}

/* "12 ulp", "inf or NaN in 2 of 42 cases, else 12 ulp" */
static void add_worst(struct text *to, const struct worst *w)
{
    if (w->not_finite > 0)
        text_format(to, "inf or NaN in %zu of %zu case%s%s", w->not_finite, w->cases,
                    w->cases == 1 ? "" : "s", w->at ? ", else " : "");
    if (w->at)
        says_ulps(to, w->error);
}

/* Do both read alike in a line? */
static bool reads_alike(const struct worst *a, const struct worst *b)
{
    struct text one = {0}, other = {0};
    add_worst(&one, a);
    add_worst(&other, b);
    const char *x = text_string(&one), *y = text_string(&other);
    bool alike = x && y && strcmp(x, y) == 0;
    text_free(&one);
    text_free(&other);
    return alike;
}

/* The methods of an operation whose errors read as those of `like`, which comes first. Returns how
 * many. */
static size_t add_alike(struct text *to, const struct plan *plan, const struct worst *like)
{
    size_t count = 0;
    if (says_next(to, &count, ""))
        text_visible(to, like->method->name);
    for (size_t i = 0; i < plan->axes->methods; i++) {
        const struct method *m = plan->axes->method[i];
        struct worst w = worst_of(plan, m);
        if (m != like->method && m->operation == like->method->operation && w.cases > 0 &&
            reads_alike(&w, like) && says_next(to, &count, ""))
            text_visible(to, m->name);
    }
    says_rest(to, count);
    return count;
}

/* Of which format an ulp is, where the cases have several. */
static void add_unit(struct text *to, const struct plan *plan, const struct worst *w)
{
    const struct study_case *first = NULL;
    bool several = false;
    for (size_t i = 0; i < plan->case_count; i++) {
        const struct study_case *t = &plan->cases[i];
        if (t->method->operation != w->method->operation || !t->summary.err_ulp_max.known)
            continue;
        first = first ? first : t;
        several |= t->accumulator != first->accumulator;
    }
    if (several && w->at)
        text_format(to, " of %s", format_facts[w->at->accumulator].name);
}

/* A line of an operation; none where all of its results are exact, which is told with others. */
static void errors_line(struct text *to, const struct plan *plan, const struct operation *o,
                        struct text *exact, size_t *exact_operations, size_t *exact_cases)
{
    struct worst least = {0}, most = {0};
    size_t methods = 0, cases = 0;
    for (size_t i = 0; i < plan->axes->methods; i++) {
        struct worst w = worst_of(plan, plan->axes->method[i]);
        if (plan->axes->method[i]->operation != o || w.cases == 0)
            continue;
        bool promises_more = w.method->promise > (least.method ? least.method->promise : 0);
        if (methods == 0 || worse(&least, &w) || (!worse(&w, &least) && promises_more))
            least = w;
        most = methods == 0 || worse(&w, &most) ? w : most;
        methods++;
        cases += w.cases;
    }
    if (methods == 0)
        return;
    if (most.not_finite == 0 && most.error == 0) {
        text_format(exact, "%s%s", *exact_operations ? ", " : "", o->name);
        ++*exact_operations;
        *exact_cases += cases;
        return;
    }
    struct text line = {0};
    text_add(&line, o->name);
    if (cases > 1)
        text_format(&line, ", worst of %zu cases", cases);
    text_add(&line, ": ");
    if (reads_alike(&least, &most)) {
        text_visible(&line, least.method->name);
        if (methods > 1)
            text_format(&line, " and %zu other%s", methods - 1, methods == 2 ? "" : "s");
        text_add(&line, ": ");
        add_worst(&line, &least);
        add_unit(&line, plan, &least);
    } else {
        text_add(&line, add_alike(&line, plan, &least) > 1 ? " err least, " : " errs least, ");
        add_worst(&line, &least);
        add_unit(&line, plan, &least);
        text_add(&line, "; ");
        add_alike(&line, plan, &most);
        text_add(&line, " most, ");
        add_worst(&line, &most);
        add_unit(&line, plan, &most);
    }
    if (most.at) {
        text_add(&line, " (");
        says_case(&line, plan, most.at);
        text_add(&line, ")");
    }
    says_line(to, &line);
}

void says_errors(struct text *to, const struct plan *plan)
{
    struct text exact = {0};
    size_t operations_exact = 0, cases = 0;
    for (size_t i = 0; operations[i]; i++)
        errors_line(to, plan, operations[i], &exact, &operations_exact, &cases);
    if (operations_exact > 0) {
        text_format(&exact, ": exact in all %zu case%s", cases, cases == 1 ? "" : "s");
        says_line(to, &exact);
    }
    text_free(&exact);
}

void says_repeats_and_errors(struct text *to, const struct plan *plan)
{
    bool repeated = fewest_runs(plan) > 0;
    if (repeated)
        says_repeats(to, plan);
    says_errors(to, plan);
    if (!repeated)
        says_repeats(to, plan);
}
