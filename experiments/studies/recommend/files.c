#include "experiments/studies/recommend/files.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/studies/recommend/candidates.h"
#include "reference/format/number.h"
#include "reports/results/study.h"
#include "experiments/data/data.h"
#include "experiments/sweep/provenance.h"
#include "reports/text/file.h"

/* --- recommend.csv and JSON: every candidate, and what was found of it --- */

static const char *role(const struct recommend_report *r, size_t i)
{
    if (i == r->chosen)
        return "recommended";
    if (i != r->cheaper)
        return "";
    if (r->dearer)
        return "next_dearer";
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

/* Of sums only what broke. */
static void fill_product(struct text cell[RECOMMEND_COLUMNS], const struct recommend_report *r,
                         const struct recommend_candidate *c)
{
    char shape[SHAPE_NAME];
    real(&cell[RECOMMEND_BROKEN_RESULT], c->broken, c->broke.result);
    real(&cell[RECOMMEND_BROKEN_EXACT], c->broken, c->broke.exact);
    if (c->broken && c->broke.place.sides > 0)
        text_format(&cell[RECOMMEND_BROKEN_AT], "%zu", c->broke.place.row);
    if (c->broken && c->broke.place.sides > 1)
        text_format(&cell[RECOMMEND_BROKEN_AT], ",%zu", c->broke.place.column);
    if (r->setting.shape.n == 0)
        return;
    shape_name(shape, &r->setting.shape);
    text_add(&cell[RECOMMEND_SHAPE], shape);
    if (c->setting.chip)
        text_add(&cell[RECOMMEND_CHIP], c->setting.chip);
    if (c->setting.promote)
        text_unsigned(&cell[RECOMMEND_PROMOTE], c->setting.promote);
    if (c->method->shape_order & SHAPE_BLOCKS)
        text_unsigned(&cell[RECOMMEND_BLOCKS], recommend_slices(r, c));
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
    fill_product(cell, r, c);
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

/* Nothing of sums. */
static void add_product(json_t *to, const struct recommend_report *r,
                        const struct recommend_candidate *c)
{
    char shape[SHAPE_NAME];
    json_t *broken = json_object_get(to, "broken_by");
    if (json_is_object(broken) && c->broke.place.sides > 0)
        json_object_set_new(broken, "row", json_integer((json_int_t)c->broke.place.row));
    if (json_is_object(broken) && c->broke.place.sides > 1)
        json_object_set_new(broken, "column", json_integer((json_int_t)c->broke.place.column));
    if (r->row) {
        json_object_set_new(to, "rows", json_integer((json_int_t)r->setting.bins));
        json_object_set_new(to, "rows_of", json_integer((json_int_t)r->rows));
    }
    if (r->setting.shape.n == 0)
        return;
    shape_name(shape, &r->setting.shape);
    json_object_set_new(to, "shape", json_string(shape));
    if (recommend_is_part(r)) {
        shape_name(shape, &r->whole);
        json_object_set_new(to, "part_of", json_string(shape));
    }
    json_object_set_new(to, "chip", c->setting.chip ? json_string(c->setting.chip) : json_null());
    json_object_set_new(to, "promote",
                        c->setting.promote ? json_integer((json_int_t)c->setting.promote)
                                           : json_null());
    if (c->method->shape_order & SHAPE_BLOCKS)
        json_object_set_new(to, "blocks", json_integer((json_int_t)recommend_slices(r, c)));
}

static json_t *candidate_json(const struct recommend_report *r, size_t i)
{
    const struct recommend_candidate *c = &r->candidate[i];
    char added_in[ADDED_IN_TEXT];
    method_added_in(added_in, c->method, c->accumulator);
    json_t *object = json_pack(
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
    add_product(object, r, c);
    return object;
}

static json_t *growth_json(const struct recommend_report *r)
{
    const struct recommend_growth *g = &r->growth;
    if (!g->measured)
        return json_null();
    return json_pack(
        "{sI sI so so so so so so}", "lengths", (json_int_t)g->lengths, "holds_to",
        (json_int_t)g->holds_to, "breaks_at",
        g->breaks_at ? json_integer((json_int_t)g->breaks_at) : json_null(), "fails_at",
        g->fails_at ? json_integer((json_int_t)g->fails_at) : json_null(), "theorem_to",
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

static json_t *study_of(const struct recommend_request *q, const struct arguments *a)
{
    json_t *study = provenance_study(q->plan->axes, a->argc, a->argv);
    json_t *axes = json_object_get(study, "axes");
    json_object_set_new(axes, "tolerance", json_string(q->tolerance.text));
    json_object_set_new(axes, "quantity",
                        json_string(recommend_quantity_name[q->tolerance.quantity]));
    json_object_set_new(axes, "promise",
                        q->promise != PROMISES ? json_string(promise_name[q->promise])
                                               : json_null());
    json_object_set_new(axes, "confidence", json_real(q->confidence));
    json_object_set_new(axes, "seconds", json_real(q->seconds));
    if (q->no_adversarial)
        json_object_set_new(axes, "adversarial", json_string("no"));
    const struct recommend_use *use = q->use ? q->use : &recommend_sums;
    json_object_set_new(study, "error_beside", json_string(use->unit[q->tolerance.quantity]));
    return study;
}

static enum status no_memory(struct problem *p)
{
    return problem(p, STATUS_MEMORY, "recommend: out of memory");
}

/* Is the directory free, or does it hold an answer to this same question? */
static enum status look(struct recommend_files *f, const struct recommend_request *q,
                        const struct arguments *a, struct problem *p)
{
    bool there;
    json_t *study = study_of(q, a);
    enum status status = directory_look(&f->directory, study, argument_flag(a, "force"), &there, p);
    json_decref(study);
    f->study = study_of(q, a); /* not what the earlier answer noted of its inputs */
    return status;
}

/* Opens FILE.part, which takes the place of FILE when the answer is there. */
static enum status open_part(struct csv_file *f, const char *path,
                             const struct column *(*column)(size_t), size_t columns,
                             struct problem *p)
{
    char *part = file_part(path);
    enum status status = part ? csv_file_open(f, part, 0, column, columns, p) : no_memory(p);
    free(part);
    return status;
}

static enum status open_results(struct recommend_files *f, enum columns_of of, struct problem *p)
{
    char *part = file_part(f->directory.results);
    enum status status = part ? results_open(&f->results, part, 0, of, p) : no_memory(p);
    free(part);
    return status;
}

enum status recommend_files_open(struct recommend_files *f, const char *out,
                                 const struct recommend_request *q, const struct arguments *a,
                                 struct problem *p)
{
    *f = (struct recommend_files){
        .out = out, .results.file.fd = -1, .summary.fd = -1, .times.fd = -1, .rows.fd = -1};
    enum status status = directory_open(&f->directory, out, p);
    if (status == STATUS_OK && (asprintf(&f->recommend, "%s/recommend.csv", out) < 0 ||
                                asprintf(&f->breaks, "%s/breaks.npy", out) < 0))
        status = no_memory(p);
    if (status == STATUS_OK)
        status = look(f, q, a, p);
    if (status == STATUS_OK)
        status = open_results(f, experiment_columns(q->plan->axes->experiment), p);
    if (status == STATUS_OK)
        status = open_part(&f->summary, f->directory.summary, summary_column, SUMMARY_COLUMNS, p);
    if (status == STATUS_OK)
        status = open_part(&f->times, f->directory.times, times_column, TIMES_COLUMNS, p);
    if (status == STATUS_OK)
        status = open_part(&f->rows, f->recommend, recommend_column, RECOMMEND_COLUMNS, p);
    return status;
}

/* study.json gets the fingerprint of what was read. */
static enum status note_input(struct recommend_files *f, const struct source *s, struct problem *p)
{
    char *key = source_key(s);
    json_t *inputs = json_object_get(f->study, "inputs");
    bool noted = key && json_object_set_new(inputs, key, json_string(s->hash)) == 0;
    free(key);
    return noted ? study_write(f->study, f->directory.study, p)
                 : problem(p, STATUS_MEMORY, "recommend: out of memory");
}

/* What breaks the next cheaper one, as a file; an earlier answer's goes. */
static enum status write_break(const struct recommend_files *f, const struct recommend_report *r,
                               struct problem *p)
{
    struct recommend_sample s;
    if (r->cheaper == SIZE_MAX || !r->candidate[r->cheaper].broken) {
        unlink(f->breaks);
        return STATUS_OK;
    }
    const struct recommend_break *b = &r->candidate[r->cheaper].broke;
    enum status status = recommend_use_of(r)->sample(r, &s, b->kind, b->draw, r->source->array.n,
                                                     (struct device){DEVICE_CPU, 0}, p);
    if (status != STATUS_OK)
        return status;
    char *part = file_part(f->breaks);
    status = part ? data_write_npy(part, &s.array, p) : no_memory(p);
    if (status == STATUS_OK && rename(part, f->breaks) != 0)
        status =
            problem(p, STATUS_DATA, "%s: could not be replaced: %s", f->breaks, strerror(errno));
    free(part);
    recommend_sample_free(&s);
    return status;
}

static enum status close_all(struct recommend_files *f, struct problem *p)
{
    enum status closed[] = {results_close(&f->results, p), csv_file_close(&f->summary, p),
                            csv_file_close(&f->times, p), csv_file_close(&f->rows, p)};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        status = status == STATUS_OK ? closed[i] : status;
    return status;
}

const char *const recommend_scales_name[2] = {"scales-a.npy", "scales-b.npy"};

/* The scales of operands.npy and breaks.npy; an earlier answer's go. */
static enum status write_scales(const struct recommend_files *f, const struct recommend_report *r,
                                struct problem *p)
{
    enum status status = STATUS_OK;
    for (int side = 0; side < 2 && status == STATUS_OK; side++) {
        char *path;
        if (asprintf(&path, "%s/%s", f->out, recommend_scales_name[side]) < 0)
            return no_memory(p);
        if (r->setting.shape.given)
            status = scales_write(path, &r->setting.shape, side, p);
        else
            unlink(path);
        free(path);
    }
    return status;
}

enum status recommend_files_finish(struct recommend_files *f, const struct recommend_report *r,
                                   struct problem *p)
{
    const struct directory *d = &f->directory;
    const char *const file[] = {d->results, d->summary, d->times, f->recommend};
    recommend_rows(&f->rows.pending, r);
    enum status status = close_all(f, p);
    if (status == STATUS_OK)
        status = write_break(f, r, p);
    if (status == STATUS_OK && r->operands)
        status = data_write_npy(r->operands, &r->source->array, p);
    if (status == STATUS_OK)
        status = write_scales(f, r, p);
    if (status == STATUS_OK)
        status = directory_replace(d, file, sizeof file / sizeof *file, p);
    return status == STATUS_OK ? note_input(f, &r->request.plan->source[0], p) : status;
}

enum status recommend_files_close(struct recommend_files *f, struct problem *p)
{
    const char *const file[] = {f->directory.results, f->directory.summary, f->directory.times,
                                f->recommend, f->breaks};
    enum status status = close_all(f, p);
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        char *part = file[i] ? file_part(file[i]) : NULL;
        if (part)
            unlink(part); /* of an answer that did not come to its end */
        free(part);
    }
    free(f->recommend);
    free(f->breaks);
    directory_close(&f->directory);
    json_decref(f->study);
    return status;
}
