/* What `check` says, for programs: JSON, and rows of CSV. */
#include <stdlib.h>

#include "experiments/check/batches.h"
#include "experiments/check/report.h"
#include "experiments/subjects/mpi.h"
#include "reports/columns/columns.h"

static void set_setting(json_t *o, const struct check_report *r, const struct check_break *b)
{
    struct setting_word word[SETTING_OPTIONS];
    size_t words = setting_words(word, r->request.method->operation, &b->at.setting);
    for (size_t i = 0; i < words; i++)
        json_object_set_new(o, setting_options[word[i].option].name,
                            word[i].text ? json_string(word[i].text)
                                         : json_integer((json_int_t)word[i].number));
}

static json_t *witness_json(const struct check_report *r, enum check_kind kind, const char *program)
{
    const struct check_tried *t = &r->tried[kind];
    const struct check_break *b = &t->witness;
    char input[INPUT_TEXT], bits[2][NUMBER_TEXT], *command = check_command(r, kind, program);
    check_input_text(&b->at, input);
    check_bits_text(bits[0], b, 0);
    check_bits_text(bits[1], b, 1);
    json_t *o = json_pack("{ss ss ss ss sI sI ss ss ss ss ss}", "attempt", check_kinds[kind].name,
                          "storage", format_facts[b->at.pair.storage].name, "accumulator",
                          format_facts[b->at.pair.accumulator].name, "input", input, "n",
                          (json_int_t)b->at.n, "seed", (json_int_t)b->at.seed, "bits", bits[0],
                          "is", b->is[0], "other_bits", bits[1], "other_is", b->is[1], "command",
                          command ? command : "");
    if (b->at.data)
        json_object_set_new(o, "data",
                            b->at.data->second
                                ? json_pack("[ss]", b->at.data->asked, b->at.data->second)
                                : json_string(b->at.data->asked));
    json_object_set_new(o, "threads", json_integer(b->at.shape.threads));
    json_object_set_new(o, "blocks", json_integer(b->at.shape.blocks));
    set_setting(o, r, b);
    if (operation_makes_array(r->request.method->operation))
        json_object_set_new(o, "index", json_integer((json_int_t)b->index));
    size_t owner = setting_owner(r->request.method->operation, &b->at.setting, b->index);
    if (owner != OWNED_BY_NONE)
        json_object_set_new(o, "rank", json_integer((json_int_t)owner));
    free(command);
    return o;
}

static json_t *length_json(const struct check_rung *is, size_t n)
{
    return is->lengths ? json_integer((json_int_t)n) : json_null();
}

/* Runs that are repeated are a sample; what is varied was chosen, and proves no share. */
static bool sample_kept(const struct check_rung *is, enum promise rung)
{
    return is->state == CHECK_KEPT && rung == PROMISE_RUN_TO_RUN;
}

static json_t *rung_json(const struct check_report *r, enum promise rung, const char *program)
{
    struct check_rung is = check_rung(r, rung);
    json_t *tried = json_object(), *differed = json_object(), *untried = json_object(),
           *witnesses = json_array();
    for (size_t kind = 0; kind < CHECK_KINDS; kind++) {
        if (!check_kind_of(kind, rung))
            continue;
        json_object_set_new(tried, check_kinds[kind].name,
                            json_integer((json_int_t)r->tried[kind].attempts));
        if (r->tried[kind].differing)
            json_object_set_new(differed, check_kinds[kind].name,
                                json_integer((json_int_t)r->tried[kind].differing));
        if (*r->tried[kind].untried)
            json_object_set_new(untried, check_kinds[kind].name,
                                json_string(r->tried[kind].untried));
        if (r->tried[kind].broken)
            json_array_append_new(witnesses, witness_json(r, kind, program));
    }
    json_t *json = json_pack(
        "{ss sI sI so ss ss so so so so so ss sI sI so so sI sb}", "name", promise_name[rung],
        "attempts", (json_int_t)is.attempts, "differing", (json_int_t)is.differing, "distinct",
        is.distinct ? json_integer((json_int_t)is.distinct) : json_null(), "counts", is.counts,
        "verdict", check_state_name[is.state], "unseen_p95",
        sample_kept(&is, rung) ? json_real(is.unseen_p95) : json_null(), "tried", tried, "differed",
        differed, "not_tried", untried, "witnesses", witnesses, "reason", is.reason, "shapes",
        (json_int_t)is.shapes, "lengths", (json_int_t)is.lengths, "least_n",
        length_json(&is, is.least_n), "most_n", length_json(&is, is.most_n), "inputs",
        (json_int_t)is.inputs, "held", check_holds(&r->request, rung));
    const struct check_set *ranks = &r->over[rung].ranks;
    if (operation_asks(r->request.method->operation, SETTING_RANKS)) {
        json_t *list = json_array();
        for (size_t i = 0; i < ranks->count; i++)
            json_array_append_new(list, json_integer((json_int_t)ranks->item[i]));
        json_object_set_new(json, "ranks", list);
    }
    if (operation_sides(r->request.method->operation) > 0) {
        json_object_set_new(json, "batches", json_integer((json_int_t)is.batches));
        json_object_set_new(json, "followed", json_integer((json_int_t)is.followed));
    }
    return json;
}

json_t *check_json(const struct check_report *r, const char *program)
{
    const struct check_request *q = &r->request;
    char device[DEVICE_TEXT], left_out[PAIRS_TEXT];
    json_t *rungs = json_array();
    device_name(q->device, device);
    for (enum promise rung = check_next(q->method->operation, 0); rung < PROMISES_ALL;
         rung = check_next(q->method->operation, rung))
        json_array_append_new(rungs, rung_json(r, rung, program));
    pairs_text(left_out, &r->left_out);
    json_t *json =
        json_pack("{ss ss ss ss so sb so so so}", "method", q->method->name, "device", device,
                  "claimed", promise_name[q->method->promise], "held_to", check_held_name(q),
                  "kept", check_partly(r) ? json_null() : json_string(promise_name[r->kept]),
                  "broken", check_broken(r), "error",
                  r->failure.status == STATUS_OK ? json_null() : json_string(r->failure.text),
                  "not_answered", *left_out ? json_string(left_out) : json_null(), "rungs", rungs);
    const struct check_tried *exact = &r->tried[CHECK_EXACT];
    json_object_set_new(json, "over_bound",
                        exact->attempts > 0 ? json_integer((json_int_t)exact->exceeding)
                                            : json_null());
    json_t *hosts = mpi_hosts(q->method);
    if (hosts)
        json_object_set_new(json, "hosts", hosts);
    char refused[CHECK_REFUSED];
    check_refused_text(refused, r);
    json_object_set_new(json, "refused", *refused ? json_string(refused) : json_null());
    if (check_is_counted(q, CHECK_BATCH))
        json_object_set_new(json, "batches", check_batches_json(r));
    return json;
}

/* --- CSV --- */

static void fill_witness(struct text cell[CHECK_COLUMNS], const struct check_report *r,
                         enum check_kind kind, const char *program)
{
    const struct check_break *b = &r->tried[kind].witness;
    struct setting_columns setting;
    char input[INPUT_TEXT], bits[NUMBER_TEXT], added_in[ADDED_IN_TEXT],
        *command = check_command(r, kind, program);
    check_input_text(&b->at, input);
    text_add(&cell[CHECK_BROKEN_BY], check_kinds[kind].name);
    text_add(&cell[CHECK_STORAGE], format_facts[b->at.pair.storage].name);
    text_add(&cell[CHECK_ACCUMULATOR], format_facts[b->at.pair.accumulator].name);
    method_added_in(added_in, r->request.method, b->at.pair.accumulator);
    text_add(&cell[CHECK_ADDED_IN], added_in);
    text_add(&cell[CHECK_RESULT_FORMAT], format_facts[b->at.setting.output].name);
    text_add(&cell[CHECK_INPUT], input);
    text_unsigned(&cell[CHECK_N], b->at.n);
    text_unsigned(&cell[CHECK_SEED], b->at.seed);
    setting_columns(&setting, r->request.method->operation, &b->at.setting);
    text_add(&cell[CHECK_SCAN], setting.column[CASE_SCAN]);
    text_add(&cell[CHECK_KEYS], setting.column[CASE_KEYS]);
    text_add(&cell[CHECK_BINS], setting.column[CASE_BINS]);
    if (operation_makes_array(r->request.method->operation))
        text_unsigned(&cell[CHECK_INDEX], b->index);
    check_bits_text(bits, b, 0);
    text_add(&cell[CHECK_BITS], bits);
    text_add(&cell[CHECK_IS], b->is[0]);
    check_bits_text(bits, b, 1);
    text_add(&cell[CHECK_OTHER_BITS], bits);
    text_add(&cell[CHECK_OTHER_IS], b->is[1]);
    text_add(&cell[CHECK_COMMAND], command ? command : "");
    free(command);
}

static void fill_subject(struct text cell[CHECK_COLUMNS], const struct check_report *r)
{
    char device[DEVICE_TEXT], left_out[PAIRS_TEXT];
    device_name(r->request.device, device);
    pairs_text(left_out, &r->left_out);
    text_add(&cell[CHECK_METHOD], r->request.method->name);
    text_add(&cell[CHECK_ON], device);
    text_add(&cell[CHECK_PROMISE], promise_name[r->request.method->promise]);
    text_add(&cell[CHECK_HELD_TO], check_held_name(&r->request));
    text_add(&cell[CHECK_KEEPS], check_partly(r) ? "" : promise_name[r->kept]);
    if (*left_out)
        text_format(&cell[CHECK_NOTE], "not answered: %s", left_out);
    if (r->failure.status != STATUS_OK)
        text_format(&cell[CHECK_NOTE], "%s%s", *left_out ? "; " : "", r->failure.text);
}

static void fill_rung(struct text cell[CHECK_COLUMNS], const struct check_report *r,
                      enum promise rung)
{
    char tried[CHECK_TEXT], differed[CHECK_TEXT], untried[CHECK_LONG];
    struct check_rung is = check_rung(r, rung);
    check_kinds_text(tried, r, rung, false);
    text_add(&cell[CHECK_RUNG], promise_name[rung]);
    text_add(&cell[CHECK_VERDICT], check_state_name[is.state]);
    text_unsigned(&cell[CHECK_ATTEMPTS], is.attempts);
    text_unsigned(&cell[CHECK_DIFFERING], is.differing);
    if (is.distinct)
        text_unsigned(&cell[CHECK_DISTINCT], is.distinct);
    text_add(&cell[CHECK_DISTINCT_COUNTS], is.counts);
    if (sample_kept(&is, rung))
        text_figure(&cell[CHECK_UNSEEN_P95], (struct figure){true, is.unseen_p95});
    text_add(&cell[CHECK_TRIED], tried);
    check_kinds_text(differed, r, rung, true);
    text_add(&cell[CHECK_DIFFERED], differed);
    if (rung == PROMISE_CORRECTLY_ROUNDED && r->tried[CHECK_EXACT].attempts > 0)
        text_unsigned(&cell[CHECK_EXCEEDING], r->tried[CHECK_EXACT].exceeding);
    check_untried_text(untried, r, rung, false);
    text_add(&cell[CHECK_REASON_IS], is.reason);
    text_add(&cell[CHECK_NOT_TRIED_KINDS], untried);
    text_unsigned(&cell[CHECK_OVER_SHAPES], is.shapes);
    text_unsigned(&cell[CHECK_OVER_LENGTHS], is.lengths);
    text_unsigned(&cell[CHECK_OVER_INPUTS], is.inputs);
    text_unsigned(&cell[CHECK_PROMISED], method_promises(r->request.method, rung));
    if (operation_sides(r->request.method->operation) > 0)
        text_unsigned(&cell[CHECK_OVER_BATCHES], is.batches);
    if (rung == PROMISE_BATCH_INVARIANT)
        check_batches_cell(&cell[CHECK_ROWS_KINDS], r);
}

void check_rows(struct text *to, const struct check_report *r, const char *program)
{
    const struct operation *o = r->request.method->operation;
    for (enum promise rung = check_next(o, 0); rung < PROMISES_ALL; rung = check_next(o, rung)) {
        struct text cell[CHECK_COLUMNS] = {0};
        enum check_kind kind = 0;
        fill_subject(cell, r);
        fill_rung(cell, r, rung);
        while (kind < CHECK_KINDS && !(check_kind_of(kind, rung) && r->tried[kind].broken))
            kind++;
        if (kind < CHECK_KINDS)
            fill_witness(cell, r, kind, program);
        for (size_t i = 0; i < CHECK_COLUMNS; i++) {
            const char *string = text_string(&cell[i]);
            to->failed |= !string;
            text_add(to, i ? "," : "");
            text_field(to, string ? string : "");
            text_free(&cell[i]);
        }
        text_add(to, "\n");
    }
}
