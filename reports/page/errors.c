/* Who errs least and who most, in sentences: of the methods of one operation. */
#include <math.h>

#include "reports/page/report.h"

/* Of a subject that is not ours as far as its experiment tells; NULL: it is not known. */
static const struct operation *operation_of(const struct report *r, const struct gathered_case *c)
{
    const struct method *m = method_named(c->field[CASE_METHOD]);
    return m ? m->operation : r->only;
}

struct figure report_err_ulp(const struct gathered_case *c)
{
    bool right = c->right_infinity && isinf(c->err_ulp.value);
    return right ? (struct figure){0} : c->err_ulp;
}

const struct gathered_case *report_first_pair(const struct report *r, const struct operation *o)
{
    const struct gathered_case *best = NULL;
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (c->err_ulp.known && (!o || operation_of(r, c) == o) &&
            (!best ||
             report_pair_rank(c->field[CASE_STORAGE], c->field[CASE_ACCUMULATOR]) <
                 report_pair_rank(best->field[CASE_STORAGE], best->field[CASE_ACCUMULATOR])))
            best = c;
    }
    return best;
}

/* The methods of an operation in one pair of formats, by the largest error of each. */
struct ranking {
    const struct gathered_case *pair, *least, *most;
    double least_error, most_error;
    size_t methods, not_finite; /* how many have a result that is not */
};

static struct figure largest_error(const struct report *r, const struct gathered_case *like,
                                   const struct gathered_case *pair)
{
    struct figure most = {0};
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (report_same_series(c, like) &&
            strcmp(c->field[CASE_STORAGE], pair->field[CASE_STORAGE]) == 0 &&
            strcmp(c->field[CASE_ACCUMULATOR], pair->field[CASE_ACCUMULATOR]) == 0)
            gathered_raise(&most, report_err_ulp(c));
    }
    return most;
}

/* Of the first that err by as much. */
static void rank(struct ranking *k, const struct gathered_case *c, double error)
{
    k->methods++;
    k->not_finite += !isfinite(error);
    if (isfinite(error) && (!k->least || error < k->least_error)) {
        k->least = c;
        k->least_error = error;
    }
    if (!k->most || figure_worse(error, k->most_error)) {
        k->most = c;
        k->most_error = error;
    }
}

static struct ranking ranking_of(const struct report *r, const struct operation *o)
{
    struct ranking k = {.pair = report_first_pair(r, o)};
    for (size_t i = 0; k.pair && i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (operation_of(r, c) != o || !report_is_first(r, i))
            continue;
        struct figure error = largest_error(r, c, k.pair);
        if (error.known)
            rank(&k, c, error.value);
    }
    return k;
}

/* Nothing of one method, and nothing where all err by as much. */
static void say_error(struct text *to, const struct ranking *k, const struct operation *o)
{
    if (k->methods < 2 || k->least == k->most)
        return;
    text_add(to, "<li class=\"plain\">");
    html_format(to, "%s added in %s: ", k->pair->field[CASE_STORAGE],
                k->pair->field[CASE_ACCUMULATOR]);
    if (!k->least)
        html_format(to, "each of the %zu methods of %s has a case whose result is not finite.",
                    k->methods, o->name);
    else
        html_format(to, "%s errs least, %.3g ulp in its worst case; %s",
                    k->least->field[CASE_METHOD], k->least_error, k->most->field[CASE_METHOD]);
    if (k->least && k->not_finite > 1)
        html_format(to, " and %zu other%s most, whose results are not finite.", k->not_finite - 1,
                    k->not_finite > 2 ? "s" : "");
    else if (k->least && k->not_finite)
        text_add(to, " most, whose result is not finite.");
    else if (k->least)
        html_format(to, " most, %.3g ulp.", k->most_error);
    text_add(to, "</li>\n");
}

/* What moves elements adds nothing up. */
static bool moves(const struct operation *o)
{
    return o == &operation_transpose || o == &operation_compact;
}

void report_error_findings(struct text *to, const struct report *r)
{
    for (size_t i = 0; operations[i]; i++) {
        if (moves(operations[i]))
            continue;
        struct ranking k = ranking_of(r, operations[i]);
        say_error(to, &k, operations[i]);
    }
}
