/* What a directory says, in sentences. */
#include <math.h>
#include <stdlib.h>

#include "reports/page/report.h"
#include "reports/text/against.h"

/* --- Who errs least and who most, in sentences: of the methods of one operation --- */

struct figure page_err_ulp(const struct gathered_case *c)
{
    bool right = c->right_infinity && isinf(c->err_ulp.value);
    return right ? (struct figure){0} : c->err_ulp;
}

/* The first case with an error in the formats of most interest, of an operation, NULL: of any; NULL
 * where there is none. */
static const struct gathered_case *first_pair(const struct page *r, const struct operation *o)
{
    const struct gathered_case *best = NULL;
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (c->err_ulp.known && (!o || page_operation_of(r, c) == o) &&
            (!best || page_pair_rank(c->field[CASE_STORAGE], c->field[CASE_ACCUMULATOR]) <
                          page_pair_rank(best->field[CASE_STORAGE], best->field[CASE_ACCUMULATOR])))
            best = c;
    }
    return best;
}

enum { RANKED = 3 };
/* Those whose errors are printed alike: of `count` the first few. */
struct ranked {
    const struct gathered_case *item[RANKED];
    double error;
    size_t count;
};

/* The methods of an operation in one pair of formats, by the largest error of each. */
struct ranking {
    const struct gathered_case *pair;
    struct ranked least, most;
    size_t methods, not_finite; /* how many have a result that is not */
};

/* The case of the largest error, which *most becomes; NULL: none is known. */
static const struct gathered_case *largest_error(struct figure *most, const struct page *r,
                                                 const struct gathered_case *like,
                                                 const struct gathered_case *pair)
{
    const struct gathered_case *worst = NULL;
    *most = (struct figure){0};
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (page_same_series(c, like) &&
            strcmp(c->field[CASE_STORAGE], pair->field[CASE_STORAGE]) == 0 &&
            strcmp(c->field[CASE_ACCUMULATOR], pair->field[CASE_ACCUMULATOR]) == 0) {
            struct figure error = page_err_ulp(c);
            worst = error.known && (!worst || figure_worse(error.value, most->value)) ? c : worst;
            gathered_raise(most, error);
        }
    }
    return worst;
}

static bool reads_alike(double a, double b)
{
    struct short_number one = short_number(a), other = short_number(b);
    return strcmp(one.text, other.text) == 0 || (!isfinite(a) && !isfinite(b));
}

static void keep(struct ranked *k, const struct gathered_case *c, double error, bool better)
{
    bool alike = k->count > 0 && reads_alike(error, k->error);
    if (k->count == 0 || (better && !alike))
        *k = (struct ranked){{c}, error, 1};
    else if (alike && k->count++ < RANKED)
        k->item[k->count - 1] = c;
}

static void rank(struct ranking *k, const struct gathered_case *c, double error)
{
    k->methods++;
    k->not_finite += !isfinite(error);
    if (isfinite(error))
        keep(&k->least, c, error, error < k->least.error);
    /* Where no digit is right, how far off a result is says nothing. */
    double lost = 1 / page_unit(k->pair->field[CASE_ACCUMULATOR]);
    error = error > lost && isfinite(error) ? lost : error;
    keep(&k->most, c, error, figure_worse(error, k->most.error));
}

static struct ranking ranking_of(const struct page *r, const struct operation *o)
{
    struct ranking k = {.pair = first_pair(r, o)};
    for (size_t i = 0; k.pair && i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (page_operation_of(r, c) != o || !page_is_first(r, i))
            continue;
        struct figure error;
        const struct gathered_case *worst = largest_error(&error, r, c, k.pair);
        if (worst)
            rank(&k, worst, error.value);
    }
    return k;
}

static void add_ranked(struct text *to, const struct ranked *k)
{
    size_t told = k->count < RANKED ? k->count : RANKED;
    struct text name[RANKED] = {0};
    const char *string[RANKED] = {0};
    for (size_t i = 0; i < told; i++) {
        page_case_name(&name[i], k->item[i]);
        string[i] = text_string(&name[i]) ? name[i].data : "";
    }
    struct text all = {0};
    names_say(&all, string, RANKED, k->count);
    html_text(to, text_string(&all) ? all.data : "");
    text_free(&all);
    for (size_t i = 0; i < told; i++)
        text_free(&name[i]);
}

/* "its worst case (symmetric, n = 4096, a condition number of 2^24)": where the error is that of
 * the input more than of the method, that is said. */
static void add_worst(struct text *to, const struct ranked *k)
{
    enum { WELL = 4 }; /* log2 of a condition number that says little */
    const struct gathered_case *c = k->item[0];
    struct text input = {0};
    page_input(&input, c->field[CASE_INPUT]);
    html_format(to, "%s (%s%s, ", k->count > 1 ? "their worst cases" : "its worst case",
                k->count > 1 ? "the first: " : "", text_string(&input) ? input.data : "");
    const struct method *m = method_named(c->field[CASE_METHOD]);
    if (m && operation_reads_c(m->operation))
        html_text(to, c->field[CASE_KEYS]);
    else
        html_format(to, "n = %.0f", c->n);
    if (c->cond_log2.known && isfinite(c->cond_log2.value) && c->cond_log2.value >= WELL)
        html_format(to, ", condition number 2^%.0f", c->cond_log2.value);
    text_add(to, ")");
    text_free(&input);
}

/* From here on no digit of a result is right. */
static bool nothing_right(const struct ranking *k, double error)
{
    return error * page_unit(k->pair->field[CASE_ACCUMULATOR]) >= 1;
}

/* Nothing of one method, nothing where all err by as much, and nothing where even the best has no
 * digit right: which of them is furthest off says nothing. */
static void say_error(struct text *to, const struct page *r, const struct ranking *k,
                      const struct operation *o)
{
    if (k->methods < 2 || k->least.count == k->methods ||
        (k->least.count && nothing_right(k, k->least.error)))
        return;
    text_add(to, "<li class=\"plain\">");
    page_pair_head(to, r, k->pair);
    if (!k->least.count) {
        html_format(to, "each of the %zu methods of %s has a case whose result is not finite.",
                    k->methods, o->name);
        text_add(to, "</li>\n");
        return;
    }
    const bool several = k->least.count > 1;
    add_ranked(to, &k->least);
    html_format(to, " %s least, %s ulp; ", several ? "err" : "errs",
                short_number(k->least.error).text);
    add_ranked(to, &k->most);
    if (k->not_finite)
        text_format(to, " most, whose result%s not finite.", k->not_finite > 1 ? "s are" : " is");
    else if (nothing_right(k, k->most.error)) {
        text_add(to, " most: no digit is right in ");
        add_worst(to, &k->most);
        text_add(to, ".");
    } else {
        html_format(to, " most, %s ulp", short_number(k->most.error).text);
        if (k->most.count == 1) {
            text_add(to, " in ");
            add_worst(to, &k->most);
        }
        text_add(to, ".");
    }
    text_add(to, "</li>\n");
}

/* Where there is nothing to compare, what it comes to is the answer. */
static void say_only(struct text *to, const struct page *r, const struct ranking *k,
                     const struct operation *o)
{
    const struct ranked *all = k->least.count ? &k->least : &k->most;
    if (k->methods == 0 || (k->least.count && k->least.count != k->methods))
        return;
    text_add(to, "<li class=\"plain\">");
    html_format(to, "%s, ", o->name);
    page_pair_head(to, r, k->pair);
    add_ranked(to, all);
    if (!k->least.count)
        text_format(to, ": a result is not finite.");
    else if (nothing_right(k, all->error))
        text_format(to, ": in the worst case no digit is right.");
    else
        html_format(to, ": the largest error is %s ulp of %s.", short_number(all->error).text,
                    k->pair->field[CASE_ACCUMULATOR]);
    text_add(to, "</li>\n");
}

/* Are errors among the findings that the study leads with? */
static bool says_errors(const struct page *r)
{
    return r->study &&
           (r->study->lead == page_statistic_findings || r->study->lead == page_ranks_findings ||
            r->study->lead == page_product_findings);
}

void page_error_findings(struct text *to, const struct page *r)
{
    size_t before = to->length;
    bool asked = r->study && (r->study->lead == page_error_findings || says_errors(r));
    const struct operation *o;
    for (size_t i = 0; (o = page_operation_at(i)); i++) {
        struct ranking k = ranking_of(r, o);
        if (!operation_moves(o))
            say_error(to, r, &k, o);
    }
    for (size_t i = 0; asked && to->length == before && (o = page_operation_at(i)); i++) {
        struct ranking k = ranking_of(r, o);
        if (!operation_moves(o))
            say_only(to, r, &k, o);
    }
}

/* Of softmax and norms the error is the answer; of a sum alone first what it falls short of. */
void page_statistic_findings(struct text *to, const struct page *r)
{
    bool each = false;
    for (size_t i = 0; i < r->g.count; i++) {
        const struct operation *o = page_operation_of(r, &r->g.item[i]);
        each |= o && operation_of_each(o);
    }
    if (!each)
        page_reach_findings(to, r);
    page_error_findings(to, r);
    if (each)
        page_reach_findings(to, r);
}

static void begin(struct text *to, const char *kind)
{
    text_format(to, "<li class=\"%s\">", kind);
}

static void end(struct text *to)
{
    text_add(to, "</li>\n");
}

static void add_case(struct text *to, const struct gathered_case *c)
{
    struct text place = {0}, name = {0};
    page_case_place(&place, c);
    page_case_name(&name, c);
    html_format(to, "%s, ", text_string(&name) ? name.data : "");
    page_case_formats(to, c, ", ");
    html_text(to, text_string(&place) ? place.data : "");
    text_free(&place);
    text_free(&name);
}

static void say_size(struct text *to, const struct page *r)
{
    unsigned long long runs = 0;
    size_t none = 0, errors = 0;
    for (size_t i = 0; i < r->g.count; i++) {
        runs += r->g.item[i].runs;
        none += r->g.item[i].runs == 0;
        errors += strcmp(r->g.item[i].status, "error") == 0;
    }
    /* Of studies of older versions it is not known. */
    bool unfinished =
        json_object_get(r->g.study, "cases_began") && !json_object_get(r->g.study, "cases_ended");
    begin(to, errors || unfinished ? "bad" : "plain");
    html_format(to, "%zu case%s, %llu result%s, on %s", r->g.count - none,
                text_s(r->g.count - none), runs, text_s(runs), gathered_machine(&r->g));
    if (none > errors)
        html_format(to, "; %zu case%s unsupported", none - errors,
                    none - errors == 1 ? " is" : "s are");
    if (errors)
        html_format(to, "; %zu case%s failed", errors, text_s(errors));
    const char *shard = json_string_value(json_object_get(r->g.study, "shard"));
    if (shard)
        html_format(to, "; shard %s of the study", shard);
    text_add(to, unfinished ? "; the study is not finished." : ".");
    end(to);
}

static void say_bound(struct text *to, const struct page *r)
{
    const struct gathered_case *closest = NULL;
    size_t bounded = 0, broken = 0;
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (!c->err_over_bound.known)
            continue;
        bounded++;
        broken += !(c->err_over_bound.value <= 1);
        if (!closest || figure_worse(c->err_over_bound.value, closest->err_over_bound.value))
            closest = c;
    }
    if (!closest)
        return;
    begin(to, broken ? "bad" : "good");
    if (broken && strcmp(closest->field[CASE_ADDED_IN], "unknown") == 0)
        html_format(to,
                    "In %zu of %zu cases the error exceeds what additions in %s can err, at "
                    "worst ",
                    broken, bounded, closest->field[CASE_ACCUMULATOR]);
    else if (broken)
        html_format(to, "In %zu of %zu cases the error exceeds its method's bound, at worst ",
                    broken, bounded);
    if (broken && isfinite(closest->err_over_bound.value))
        html_format(to, "by a factor of %s (",
                    text_against(closest->err_over_bound.value, 1, 3).value);
    else if (broken)
        text_add(to, "with a result that is not finite (");
    else
        html_format(to,
                    "No error exceeds its method's bound (%zu case%s with one); the largest is "
                    "%s of it (",
                    bounded, bounded > 1 ? "s" : "",
                    text_against(closest->err_over_bound.value, 1, 3).value);
    add_case(to, closest);
    text_add(to, ").");
    end(to);
}

/* Does it promise the same bits from run to run, and did it run often enough to tell? */
static bool promises_runs(const struct gathered_case *c)
{
    return c->runs >= 2 && c->promise >= PROMISE_RUN_TO_RUN;
}

const struct gathered_case *page_first_broken(const struct page *r)
{
    for (size_t i = 0; i < r->g.count; i++)
        if (promises_runs(&r->g.item[i]) && r->g.item[i].distinct > 1)
            return &r->g.item[i];
    return NULL;
}

/* Which promises were broken, and how much the results without one vary. */
void page_distinct_findings(struct text *to, const struct page *r)
{
    const struct gathered_case *most = NULL, *broken = page_first_broken(r);
    size_t kept = 0, breaks = 0;
    uint64_t runs = 0;
    for (size_t i = 0; i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (c->runs < 2)
            continue;
        most = !most || c->distinct > most->distinct ? c : most;
        if (!promises_runs(c))
            continue;
        breaks += c->distinct > 1;
        kept += c->distinct == 1;
        runs = c->distinct == 1 && c->runs > runs ? c->runs : runs;
    }
    if (broken) {
        begin(to, "bad");
        html_format(to,
                    "%zu case%s of methods that promise the same bits from run to run gave "
                    "several results, the first ",
                    breaks, breaks > 1 ? "s" : "");
        add_case(to, broken);
        html_format(to, ": %zu in %llu runs.", broken->distinct, (unsigned long long)broken->runs);
        end(to);
    }
    if (most && most->distinct > 1) {
        begin(to, "plain");
        html_format(to, "Most variation: %zu different results in %llu runs (", most->distinct,
                    (unsigned long long)most->runs);
        add_case(to, most);
        text_add(to, r->atomics.count ? "), on an idle or a busy device." : ").");
        end(to);
    }
    if (kept) {
        begin(to, "good");
        html_format(to,
                    "%s%zu %scase%s of methods that promise the same bits from run to run gave one "
                    "result each, in up to %llu runs.",
                    broken ? "The other " : "", kept, "", kept > 1 ? "s" : "",
                    (unsigned long long)runs);
        end(to);
    }
}

/* Is it the first case of its series in its pair of formats? */
static bool first_of_pair(const struct page *r, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        const struct gathered_case *c = &r->g.item[i], *d = &r->g.item[k];
        if (page_same_series(c, d) && strcmp(c->field[CASE_STORAGE], d->field[CASE_STORAGE]) == 0 &&
            strcmp(c->field[CASE_ACCUMULATOR], d->field[CASE_ACCUMULATOR]) == 0)
            return false;
    }
    return true;
}

/* Of the formats of most interest the first cliff and the last. */
void page_cliff_findings(struct text *to, const struct page *r)
{
    const struct gathered_case *pair = page_has_conditions(r) ? first_pair(r, NULL) : NULL;
    struct ranked first = {0}, last = {0};
    double most = -INFINITY;
    for (size_t i = 0; pair && i < r->g.count; i++) {
        const struct gathered_case *c = &r->g.item[i];
        if (strcmp(c->field[CASE_STORAGE], pair->field[CASE_STORAGE]) != 0 ||
            strcmp(c->field[CASE_ACCUMULATOR], pair->field[CASE_ACCUMULATOR]) != 0 ||
            !first_of_pair(r, i))
            continue;
        double tried, cliff = page_cliff(r, c, &tried);
        if (tried > 0) {
            keep(&first, c, cliff, cliff < first.error);
            keep(&last, c, cliff, cliff > last.error);
        }
        most = fmax(most, tried);
    }
    if (!first.count || isinf(first.error))
        return;
    begin(to, "plain");
    page_pair_head(to, r, pair);
    add_ranked(to, &first);
    html_format(to, " %s no digit right from a condition number of 2^%.0f on",
                first.count > 1 ? "have" : "has", first.error);
    if (last.error > first.error) {
        text_add(to, isinf(last.error) ? ", " : ", the last to lose all ");
        text_add(to, isinf(last.error) ? "" : last.count > 1 ? "are " : "is ");
        add_ranked(to, &last);
    }
    if (isinf(last.error))
        html_format(to, " still %s some at 2^%.0f, the largest tried",
                    last.count > 1 ? "have" : "has", most);
    else if (last.error > first.error)
        html_format(to, ", at 2^%.0f", last.error);
    text_add(to, ".");
    end(to);
}

/* What is broken comes first: items of the class `bad`, then the others, each in their order. */
static void add_items(struct text *to, const char *items, bool bad)
{
    static const char item_end[] = "</li>\n", item_bad[] = "<li class=\"bad\">";
    for (const char *end; (end = strstr(items, item_end)); items = end) {
        end += strlen(item_end);
        if ((strncmp(items, item_bad, strlen(item_bad)) == 0) == bad)
            html_whole_numbers(to, items, (size_t)(end - items));
    }
}

void page_findings(struct text *to, const struct page *r)
{
    static void (*const say[])(struct text *, const struct page *) = {
        page_trial_findings, page_recommended_findings, say_bound,          page_distinct_findings,
        page_error_findings, page_cliff_findings,       page_cost_findings, page_atomics_findings};
    struct text items = {0}, first = {0};
    if (r->study && r->study->lead) /* what was asked of a recommendation comes before any fault */
        r->study->lead(r->candidates > 0 ? &first : &items, r);
    for (size_t i = 0; i < sizeof say / sizeof *say; i++)
        if (!r->study ||
            (say[i] != r->study->lead && !(says_errors(r) && say[i] == page_error_findings)))
            say[i](&items, r);
    if (r->g.count > 0)
        say_size(&items, r);
    text_add(to, "<section id=\"findings\"><h2>Findings</h2>\n<ul>\n");
    const char *all = text_string(&items);
    to->failed |= !all;
    if (first.length > 0 && text_string(&first))
        html_whole_numbers(to, first.data, first.length);
    add_items(to, all ? all : "", true);
    add_items(to, all ? all : "", false);
    text_free(&items);
    text_free(&first);
    text_add(to, "</ul></section>\n");
}
