/* Tallies as rows of special.csv and as JSON. */
#include "experiments/conformance/report.h"
#include "experiments/conformance/statistic.h"

#include <stdio.h>

#include "reference/format/number.h"

static const struct column columns[SPECIAL_COLUMNS] = {
    {"method", "", "the subject's name"},
    {"device", "", "what it ran on"},
    {"class", "", "of special inputs; `data` where one was given"},
    {"storage", "", "format of the input"},
    {"accumulator", "", "the accumulator asked for"},
    {"threads", "", "asked for; empty: the method's choice"},
    {"blocks", "", "asked for; empty: the method's choice"},
    {"cases", "", "inputs tried"},
    {"conforming", "", "results that are possible, noted ones included"},
    {"noted", "", "results that are possible, and yet worth a word"},
    {"impossible", "", "results that no order of rounded additions gives"},
    {"failed", "", "runs without a result"},
    {"not_tried", "", "inputs for which time was too short"},
    {"note", "", "what the first noted one is"},
    {"why", "", "what the first impossible one is"},
    {"n", "elements", "of the smallest input found that shows it, or the first"},
    {"output", "", "of a scan, the first output that shows it"},
    {"result", "", "what came out"},
    {"result_hex", "", "the same, as a hex float"},
    {"possible", "", "what may come out, in words"},
    {"elements", "", "the input, in words"},
    {"input", "", "its file"},
    {"added_in", "", "what additions are done in, as in results.csv"},
    {"result_format", "", "format that the result is rounded to"},
};

const struct column *special_column(size_t i)
{
    return &columns[i];
}

struct cell {
    enum { CELL_NONE, CELL_TEXT, CELL_WHOLE } kind;
    char text[INPUT_WORDS];
    size_t whole;
};

static void set_text(struct cell *c, const char *text)
{
    c->kind = text && *text ? CELL_TEXT : CELL_NONE;
    snprintf(c->text, sizeof c->text, "%s", text ? text : "");
}

static void set_whole(struct cell *c, size_t whole)
{
    *c = (struct cell){.kind = CELL_WHOLE, .whole = whole};
}

/* The pair's first finding; the shrunk one, where that is of this pair. */
static const struct conformance_finding *finding_of(const struct conformance_report *r, size_t pair,
                                                    size_t class, bool *shrunk)
{
    const struct conformance_finding *all = r->all[class].first, *own = r->tally[pair][class].first;
    const struct format_pair *formats = &r->request.pairs.item[pair];
    *shrunk = own && all->subject.storage == formats->storage &&
              all->subject.accumulator == formats->accumulator;
    return *shrunk ? all : own;
}

static void fill_finding(struct cell *c, const struct conformance_finding *f)
{
    char words[INPUT_WORDS], due[POSSIBLE_TEXT], number[NUMBER_TEXT];
    set_text(&c[0], f->judgement.why);
    set_whole(&c[1], f->in.x.n);
    if (operation_makes_array(f->subject.method->operation))
        set_whole(&c[2], f->judgement.output);
    number_decimal(number, f->judgement.result);
    set_text(&c[3], number);
    number_hex(number, f->judgement.result);
    set_text(&c[4], number);
    special_due_words(due, &f->judgement);
    set_text(&c[5], due);
    special_input_words(words, &f->in);
    set_text(&c[6], words);
}

static void fill(struct cell cell[SPECIAL_COLUMNS], const struct conformance_report *r, size_t pair,
                 size_t class, const char *folder)
{
    const struct conformance_tally *t = &r->tally[pair][class];
    const struct format_pair *formats = &r->request.pairs.item[pair];
    char device[DEVICE_TEXT], added_in[ADDED_IN_TEXT];
    device_name(r->request.device, device);
    memset(cell, 0, SPECIAL_COLUMNS * sizeof *cell);
    set_text(&cell[0], r->request.method->name);
    set_text(&cell[1], device);
    set_text(&cell[2], conformance_report_class(r, class));
    set_text(&cell[3], format_facts[formats->storage].name);
    set_text(&cell[4], format_facts[formats->accumulator].name);
    if (r->request.shape.threads)
        set_whole(&cell[5], r->request.shape.threads);
    if (r->request.shape.blocks)
        set_whole(&cell[6], r->request.shape.blocks);
    set_whole(&cell[7], t->cases);
    set_whole(&cell[8], t->cases - t->impossible - t->failed);
    set_whole(&cell[9], t->noted);
    set_whole(&cell[10], t->impossible);
    set_whole(&cell[11], t->failed);
    set_whole(&cell[12], t->left);
    set_text(&cell[13], t->note);
    method_added_in(added_in, r->request.method, formats->accumulator);
    set_text(&cell[22], added_in);
    set_text(&cell[23], format_facts[formats->accumulator].name);
    bool shrunk;
    const struct conformance_finding *f = finding_of(r, pair, class, &shrunk);
    if (f)
        fill_finding(&cell[14], f);
    if (shrunk && folder) {
        struct text file = {0};
        conformance_file(&file, r, class, folder);
        set_text(&cell[21], text_string(&file));
        text_free(&file);
    }
}

static bool was_due(const struct conformance_tally *t)
{
    return t->cases + t->left > 0;
}

void conformance_report_csv(struct text *to, const struct conformance_report *r, const char *folder)
{
    struct cell cell[SPECIAL_COLUMNS];
    for (size_t pair = 0; pair < r->request.pairs.count; pair++)
        for (size_t class = 0; class < SPECIAL_CLASSES; class ++) {
            if (!was_due(&r->tally[pair][class]))
                continue;
            fill(cell, r, pair, class, folder);
            for (size_t i = 0; i < SPECIAL_COLUMNS; i++) {
                text_add(to, i ? "," : "");
                if (cell[i].kind == CELL_WHOLE)
                    text_unsigned(to, cell[i].whole);
                else
                    text_field(to, cell[i].text);
            }
            text_add(to, "\n");
        }
}

static json_t *row_json(const struct conformance_report *r, size_t pair, size_t class,
                        const char *folder)
{
    struct cell cell[SPECIAL_COLUMNS];
    json_t *row = json_object();
    fill(cell, r, pair, class, folder);
    for (size_t i = 0; i < SPECIAL_COLUMNS; i++)
        json_object_set_new(row, columns[i].name,
                            cell[i].kind == CELL_WHOLE  ? json_integer((json_int_t)cell[i].whole)
                            : cell[i].kind == CELL_TEXT ? json_string(cell[i].text)
                                                        : json_null());
    const struct conformance_finding *first = r->all[class].first;
    const struct format_pair *formats = &r->request.pairs.item[pair];
    if (first && first->subject.storage == formats->storage &&
        first->subject.accumulator == formats->accumulator) {
        struct text command = {0};
        conformance_command(&command, r, class, folder);
        json_object_set_new(row, "command", json_string(text_string(&command)));
        text_free(&command);
    }
    return row;
}

json_t *conformance_report_json(const struct conformance_report *r, const char *folder)
{
    char device[DEVICE_TEXT], left_out[PAIRS_TEXT];
    json_t *rows = json_array();
    device_name(r->request.device, device);
    for (size_t pair = 0; pair < r->request.pairs.count; pair++)
        for (size_t class = 0; class < SPECIAL_CLASSES; class ++)
            if (was_due(&r->tally[pair][class]))
                json_array_append_new(rows, row_json(r, pair, class, folder));
    const struct conformance_tally all = conformance_report_total(r);
    bool failed = r->failure.status != STATUS_OK;
    bool bounded = !special_numbers_unbounded(r->request.method);
    pairs_text(left_out, &r->left_out);
    struct text refused = {0};
    conformance_report_refused(&refused, r);
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:b, s:I, s:I, s:s*, s:s*, s:s*, s:o}", "method",
                  r->request.method->name, "device", device, "verdict",
                  all.impossible   ? "impossible"
                  : failed         ? "failed"
                  : all.cases == 0 ? "not tried"
                  : bounded        ? "conforms"
                                   : "no bound",
                  "numbers_bounded", bounded, "impossible", (json_int_t)all.impossible, "not_tried",
                  (json_int_t)all.left, "not_answered", *left_out ? left_out : NULL, "refused",
                  refused.length > 0 ? text_string(&refused) : NULL, "error",
                  failed ? r->failure.text : NULL, "rows", rows);
    text_free(&refused);
    return json;
}
