/* recommend.csv and JSON: every candidate, and what was found of it. */
#include <math.h>
#include <stdlib.h>

#include "experiments/studies/recommend/recommend.h"
#include "reference/format/number.h"
#include "reports/results/study.h"

static const char *role(const struct recommend_report *r, size_t i)
{
    if (i == r->chosen)
        return "recommended";
    if (i != r->cheaper)
        return "";
    return r->chosen == SIZE_MAX ? "nearest" : r->narrower ? "next_narrower" : "next_cheaper";
}

/* Whose the array is that broke it. */
static const char *origin(enum recommend_kind kind)
{
    return kind == RECOMMEND_DATA        ? "data"
           : recommend_adversarial(kind) ? "adversarial"
           : kind == RECOMMEND_RESAMPLE  ? "resample"
                                         : "order";
}

static void real(struct text *to, bool known, double value)
{
    text_figure(to, (struct figure){known, value});
}

static void fill_chosen(struct text cell[RECOMMEND_COLUMNS], const struct recommend_report *r)
{
    const struct recommend_growth *g = &r->growth;
    real(&cell[RECOMMEND_UNSEEN], r->candidate[r->chosen].drawn > 0, r->unseen);
    if (g->measured) {
        text_unsigned(&cell[RECOMMEND_LENGTHS], g->lengths);
        text_unsigned(&cell[RECOMMEND_HOLDS_TO], g->holds_to);
    }
    if (g->breaks_at)
        text_unsigned(&cell[RECOMMEND_BREAKS_AT], g->breaks_at);
    if (g->theorem_known)
        text_unsigned(&cell[RECOMMEND_THEOREM_TO], g->theorem_to);
    if (g->likely_known)
        text_unsigned(&cell[RECOMMEND_LIKELY_TO], g->likely_to);
    text_figure(&cell[RECOMMEND_STAGNATES], g->stagnates);
    text_figure(&cell[RECOMMEND_OVERFLOWS], g->overflows);
}

/* Nothing where no promise was asked for. */
static void fill_promise(struct text cell[RECOMMEND_COLUMNS], const struct recommend_report *r,
                         const struct recommend_candidate *c)
{
    const struct recommend_promised *t = &c->promised;
    if (!recommend_promises(r))
        return;
    text_add(&cell[RECOMMEND_ASKED], promise_name[r->request.promise]);
    text_add(&cell[RECOMMEND_KEPT], check_state_name[t->tried ? t->state : CHECK_NOT_TRIED]);
    text_add(&cell[RECOMMEND_REASON], t->tried ? t->reason : "another was found first");
    if (!t->tried)
        return;
    text_unsigned(&cell[RECOMMEND_ATTEMPTS], t->attempts);
    text_unsigned(&cell[RECOMMEND_DIFFERING], t->differing);
    text_unsigned(&cell[RECOMMEND_SHAPES], t->shapes);
    text_unsigned(&cell[RECOMMEND_TRIED_LENGTHS], t->lengths);
    text_unsigned(&cell[RECOMMEND_INPUTS], t->inputs);
}

static void fill(struct text cell[RECOMMEND_COLUMNS], const struct recommend_report *r, size_t i)
{
    const struct recommend_candidate *c = &r->candidate[i];
    const struct recommend_tolerance *t = &r->request.tolerance;
    char device[DEVICE_TEXT], added_in[ADDED_IN_TEXT];
    method_added_in(added_in, c->method, c->accumulator);
    text_add(&cell[RECOMMEND_ADDED_IN], added_in);
    text_add(&cell[RECOMMEND_RESULT_FORMAT], format_facts[c->accumulator].name);
    device_name(c->promoted ? (struct device){DEVICE_CPU, 0} : r->device, device);
    text_add(&cell[RECOMMEND_METHOD], c->method->name);
    text_add(&cell[RECOMMEND_PROMISE], promise_name[c->method->promise]);
    text_add(&cell[RECOMMEND_DEVICE], device);
    text_add(&cell[RECOMMEND_STORAGE], format_facts[r->source->array.format].name);
    text_add(&cell[RECOMMEND_ACCUMULATOR], format_facts[c->accumulator].name);
    text_add(&cell[RECOMMEND_INPUT], r->source->name);
    text_unsigned(&cell[RECOMMEND_N], r->source->array.n);
    text_add(&cell[RECOMMEND_VERDICT], c->failed ? "failed" : c->broken ? "breaks" : "holds");
    text_add(&cell[RECOMMEND_IS], role(r, i));
    text_add(&cell[RECOMMEND_PARETO], c->pareto ? "yes" : "");
    text_add(&cell[RECOMMEND_QUANTITY], recommend_quantity_name[t->quantity]);
    real(&cell[RECOMMEND_LIMIT], true, t->limit);
    real(&cell[RECOMMEND_ERROR], !c->failed, c->error);
    text_add(&cell[RECOMMEND_WORST], c->worst);
    real(&cell[RECOMMEND_DATA_ERROR], !c->failed, c->data_error);
    real(&cell[RECOMMEND_MOST], !c->failed, c->most);
    text_figure(&cell[RECOMMEND_BOUND], c->bound);
    text_unsigned(&cell[RECOMMEND_ARRAYS], c->tried);
    text_unsigned(&cell[RECOMMEND_DRAWN], c->drawn);
    text_unsigned(&cell[RECOMMEND_DRAWN_HELD], c->drawn_held);
    text_add(&cell[RECOMMEND_BROKEN_BY], c->broke.input);
    real(&cell[RECOMMEND_BROKEN_ERROR], c->broken, c->broke.error);
    text_add(&cell[RECOMMEND_BROKEN_CASE], c->broke.id);
    real(&cell[RECOMMEND_RATE], c->rate > 0, c->rate);
    real(&cell[RECOMMEND_OF_RAW], c->rate > 0 && c->raw_ns > 0, c->raw_ns / c->time_ns);
    if (c->time_ns > 0)
        text_unsigned(&cell[RECOMMEND_TIMED_N], c->timed_n);
    text_add(&cell[RECOMMEND_NOTE], c->note);
    text_add(&cell[RECOMMEND_BROKEN_ON], c->broken ? origin(c->broke.kind) : "");
    fill_promise(cell, r, c);
    if (i == r->chosen)
        fill_chosen(cell, r);
}

void recommend_rows(struct text *to, const struct recommend_report *r)
{
    for (size_t i = 0; i < r->count; i++) {
        struct text cell[RECOMMEND_COLUMNS] = {0};
        fill(cell, r, i);
        for (size_t k = 0; k < RECOMMEND_COLUMNS; k++) {
            const char *string = text_string(&cell[k]);
            to->failed |= !string;
            text_add(to, k ? "," : "");
            text_field(to, string ? string : "");
            text_free(&cell[k]);
        }
        text_add(to, "\n");
    }
}

/* JSON has no number for what is not finite. */
static json_t *number(bool known, double value)
{
    char text[NUMBER_TEXT];
    number_decimal(text, value);
    return !known ? json_null() : isfinite(value) ? json_real(value) : json_string(text);
}

static json_t *broken_json(const struct recommend_candidate *c)
{
    const struct recommend_break *b = &c->broke;
    if (!c->broken)
        return json_null();
    return json_pack("{ss ss ss so so so}", "input", b->input, "on", origin(b->kind), "case_id",
                     b->id, "error", number(true, b->error), "result", number(true, b->result),
                     "exact", number(true, b->exact));
}

static json_t *promise_json(const struct recommend_report *r, const struct recommend_candidate *c)
{
    const struct recommend_promised *t = &c->promised;
    if (!recommend_promises(r) || !t->tried)
        return json_null();
    return json_pack("{ss ss sI sI sI sI sI ss so}", "asked", promise_name[r->request.promise],
                     "state", check_state_name[t->state], "attempts", (json_int_t)t->attempts,
                     "differing", (json_int_t)t->differing, "shapes", (json_int_t)t->shapes,
                     "lengths", (json_int_t)t->lengths, "inputs", (json_int_t)t->inputs, "reason",
                     t->reason, "show", t->show ? json_string(t->show) : json_null());
}

static json_t *candidate_json(const struct recommend_report *r, size_t i)
{
    const struct recommend_candidate *c = &r->candidate[i];
    char added_in[ADDED_IN_TEXT];
    method_added_in(added_in, c->method, c->accumulator);
    return json_pack(
        "{ss ss ss ss ss sb ss ss sb so ss so so so sI sI sI so sI so so so ss}", "method",
        c->method->name, "accumulator", format_facts[c->accumulator].name, "added_in", added_in,
        "result_format", format_facts[c->accumulator].name, "promise",
        promise_name[c->method->promise], "holds", !c->broken && !c->failed, "verdict",
        c->failed   ? "failed"
        : c->broken ? "breaks"
                    : "holds",
        "is", role(r, i), "pareto", c->pareto, "error", number(!c->failed, c->error), "worst_input",
        c->worst, "data_error", number(true, c->data_error), "largest_error",
        number(!c->failed, c->most), "bound", number(c->bound.known, c->bound.value), "arrays",
        (json_int_t)c->tried, "drawn", (json_int_t)c->drawn, "drawn_held",
        (json_int_t)c->drawn_held, "gb_per_s", number(c->rate > 0, c->rate), "timed_n",
        (json_int_t)c->timed_n, "of_raw",
        number(c->rate > 0 && c->raw_ns > 0, c->raw_ns / c->time_ns), "broken_by", broken_json(c),
        "promise_tried", promise_json(r, c), "note", c->note);
}

static json_t *growth_json(const struct recommend_report *r)
{
    const struct recommend_growth *g = &r->growth;
    if (!g->measured)
        return json_null();
    return json_pack(
        "{sI sI so so so so so}", "lengths", (json_int_t)g->lengths, "holds_to",
        (json_int_t)g->holds_to, "breaks_at",
        g->breaks_at ? json_integer((json_int_t)g->breaks_at) : json_null(), "theorem_to",
        g->theorem_known ? json_integer((json_int_t)g->theorem_to) : json_null(), "likely_to",
        g->likely_known ? json_integer((json_int_t)g->likely_to) : json_null(), "stagnates_at",
        number(g->stagnates.known, g->stagnates.value), "overflows_at",
        number(g->overflows.known, g->overflows.value));
}

json_t *recommend_json(const struct recommend_report *r, const char *out, const char *command)
{
    const struct recommend_tolerance *t = &r->request.tolerance;
    bool found = r->chosen != SIZE_MAX;
    char device[DEVICE_TEXT];
    json_t *all = json_array();
    device_name(r->device, device);
    for (size_t i = 0; i < r->count; i++)
        json_array_append_new(all, candidate_json(r, i));
    return json_pack("{ss sI ss so ss ss so so ss so so so so sI so ss so so}", "input",
                     r->source->name, "n", (json_int_t)r->source->array.n, "storage",
                     format_facts[r->source->array.format].name, "cond_log2",
                     number(r->cond_log2.known, r->cond_log2.value), "device", device, "quantity",
                     recommend_quantity_name[t->quantity], "limit", number(true, t->limit),
                     "confidence", number(true, r->request.confidence), "tolerance", t->text,
                     "recommended", found ? candidate_json(r, r->chosen) : json_null(), "margin",
                     found ? number(true, t->limit / r->candidate[r->chosen].most) : json_null(),
                     "next", r->cheaper != SIZE_MAX ? candidate_json(r, r->cheaper) : json_null(),
                     "unseen", number(found && r->candidate[r->chosen].drawn > 0, r->unseen),
                     "arrays_for_all", (json_int_t)r->common, "growth", growth_json(r), "command",
                     command, "out", study_path(out), "candidates", all);
}
