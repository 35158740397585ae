#include "experiments/conformance/report.h"

#include <stdlib.h>

#include "experiments/conformance/product.h"
#include "experiments/conformance/statistic.h"
#include "experiments/system/shell.h"
#include "reference/format/number.h"
#include "experiments/data/data.h"
#include "experiments/subjects/foreign.h"
#include "experiments/system/memory.h"
#include "reports/text/table.h"

/* --- Commands that show a finding again --- */

const char *conformance_report_class(const struct conformance_report *r, size_t class)
{
    return r->request.data ? "data" : special_class[class]->name;
}

void conformance_file(struct text *to, const struct conformance_report *r, size_t class,
                      const char *folder)
{
    const struct conformance_subject *s = &r->all[class].first->subject;
    text_format(to, "%s/%s%s-%s-%s", folder, r->request.prefix, conformance_report_class(r, class),
                format_facts[s->storage].name, format_facts[s->accumulator].name);
    if (s->device.kind == DEVICE_CUDA)
        text_format(to, "-cuda%d", s->device.index);
    text_add(to, ".npy");
}

enum { LISTED = 16, OTHERS = 8 };

/* Few elements, each in its place; of two arrays, x first, then y. */
static void add_list(struct text *to, const struct special_input *in)
{
    char number[NUMBER_TEXT];
    text_add(to, "printf '%s\\n'");
    for (size_t i = 0; i < in->x.n; i++) {
        number_hex(number, array_get(&in->x, i));
        text_format(to, " %s", number);
    }
    for (size_t i = 0; in->y.data && i < in->y.n; i++) {
        number_hex(number, array_get(&in->y, i));
        text_format(to, " %s", number);
    }
}

/* Many, most of which are alike. */
static void add_loop(struct text *to, const struct array *in)
{
    char number[NUMBER_TEXT], other[NUMBER_TEXT];
    size_t others;
    uint64_t common = special_common(in, &others);
    number_hex(number, format_decode(in->format, common));
    text_format(to, "awk 'BEGIN { for (i = 0; i < %zu; i++) print ", in->n);
    for (size_t i = 0; i < in->n; i++) {
        if (array_bits(in, i) == common)
            continue;
        number_hex(other, array_get(in, i));
        text_format(to, "i == %zu ? \"%s\" : ", i, other);
    }
    text_format(to, "\"%s\" }'", number);
}

static bool is_long(const struct array *in)
{
    size_t others = 0;
    if (in->data && in->n > LISTED)
        special_common(in, &others);
    return others > OTHERS;
}

/* The elements as lines of text. */
static bool add_pipe(struct text *to, const struct special_input *in)
{
    if (in->x.n == 0 || is_long(&in->x) || is_long(&in->y))
        return false;
    if (in->x.n <= LISTED) {
        add_list(to, in);
    } else if (!in->y.data) {
        add_loop(to, &in->x);
    } else {
        text_add(to, "{ ");
        add_loop(to, &in->x);
        text_add(to, "; ");
        add_loop(to, &in->y);
        text_add(to, "; }");
    }
    text_add(to, " | ");
    return true;
}

void conformance_command(struct text *to, const struct conformance_report *r, size_t class,
                         const char *folder)
{
    const struct conformance_finding *f = r->all[class].first;
    const struct conformance_subject *s = &f->subject;
    char device[DEVICE_TEXT];
    device_name(s->device, device);
    bool pipe = !folder && add_pipe(to, &f->in);
    shell_word(to, r->request.program ? r->request.program : "ulpscope");
    text_add(to, " check ");
    shell_word(to, s->method->name);
    text_add(to, " --special");
    if (folder) {
        struct text file = {0};
        conformance_file(&file, r, class, folder);
        const char *path = text_string(&file);
        text_add(to, " --data ");
        shell_word(to, path ? path : folder);
        text_free(&file);
    } else if (pipe) {
        text_add(to, " --data /dev/stdin"); /* `-` with a storage would be raw numbers */
    }
    text_format(to, " --device %s --storage %s --accumulator %s", device,
                format_facts[s->storage].name, format_facts[s->accumulator].name);
    if (s->shape.threads)
        text_format(to, " --threads %u", s->shape.threads);
    if (s->shape.blocks)
        text_format(to, " --blocks %u", s->shape.blocks);
    if (s->chip)
        text_format(to, " --chip %s", s->chip);
    if (special_is_scan(s->method))
        text_format(to, " --scan %s", s->exclusive ? "exclusive" : "inclusive");
    if (s->product && s->product != PRODUCT_UNKNOWN && !special_multiplies(s->method))
        text_format(to, " --product %s", product_name[s->product]);
    if (s->segment)
        text_format(to, " --segment %zu", s->segment);
    if (!folder && !pipe)
        text_format(to, " --seed %ju", (uintmax_t)r->request.seed);
}

struct conformance_tally conformance_report_total(const struct conformance_report *r)
{
    struct conformance_tally total = {0};
    for (size_t k = 0; k < SPECIAL_CLASSES; k++) {
        const struct conformance_tally *t = &r->all[k];
        total.cases += t->cases;
        total.impossible += t->impossible;
        total.noted += t->noted;
        total.failed += t->failed;
        total.left += t->left;
    }
    return total;
}

static size_t conforming(const struct conformance_tally *t)
{
    return t->cases - t->impossible - t->failed;
}

static const char *verdict(const struct conformance_report *r, const struct conformance_tally *t)
{
    return t->impossible                                  ? "impossible"
           : t->failed                                    ? "failed"
           : t->noted                                     ? "noted"
           : t->cases == 0                                ? "not tried"
           : special_numbers_unbounded(r->request.method) ? "no bound"
                                                          : "conforms";
}

/* --- text --- */

static void draw_table(struct text *to, const struct conformance_report *r)
{
    static const char *const header[] = {"class",      "cases",  "conforming", "noted",
                                         "impossible", "failed", "verdict"};
    struct table table = {.align = "lrrrrrl"};
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        table_cell(&table, "%s", header[i]);
    for (size_t k = 0; k < SPECIAL_CLASSES; k++) {
        const struct conformance_tally *t = &r->all[k];
        if (t->cases + t->left == 0)
            continue;
        table_cell(&table, "%s", conformance_report_class(r, k));
        table_cell(&table, "%zu", t->cases);
        table_cell(&table, "%zu", conforming(t));
        table_cell(&table, "%zu", t->noted);
        table_cell(&table, "%zu", t->impossible);
        if (r->failure.status == STATUS_OK)
            table_cell(&table, "%s", "");
        else
            table_cell(&table, "%zu", t->failed);
        table_cell(&table, "%s", verdict(r, t));
    }
    table_draw(to, &table);
    table_free(&table);
}

static bool same_array(const struct array *a, const struct array *b)
{
    return a->format == b->format && a->n == b->n &&
           memcmp(a->data, b->data, array_bytes(a->format, a->n)) == 0;
}

/* The length of a y that is not there says nothing: shrinking sets it, what is not shrunk has 0. */
static bool same_input(const struct special_input *a, const struct special_input *b)
{
    return same_array(&a->x, &b->x) && !a->y.data == !b->y.data &&
           (!a->y.data || same_array(&a->y, &b->y));
}

/* The first class whose finding is the same. */
static size_t same_as(const struct conformance_report *r, size_t class)
{
    const struct conformance_finding *f = r->all[class].first;
    for (size_t k = 0; k < class; k++) {
        const struct conformance_finding *g = r->all[k].first;
        if (g && same_input(&g->in, &f->in) && g->subject.product == f->subject.product &&
            g->subject.accumulator == f->subject.accumulator &&
            g->subject.exclusive == f->subject.exclusive &&
            g->subject.segment == f->subject.segment && g->judgement.why == f->judgement.why)
            return k;
    }
    return class;
}

static void add_finding(struct text *to, const struct conformance_report *r, size_t class,
                        const char *folder)
{
    const struct conformance_finding *f = r->all[class].first;
    char words[INPUT_WORDS], due[POSSIBLE_TEXT], result[NUMBER_TEXT];
    special_input_words(words, &f->in);
    special_due_words(due, &f->judgement);
    number_hex(result, f->judgement.result);
    text_format(to, "\n%s, %s/%s%s%s: %s\n", conformance_report_class(r, class),
                format_facts[f->subject.storage].name, format_facts[f->subject.accumulator].name,
                f->subject.product && !special_multiplies(f->subject.method) ? ", products " : "",
                special_multiplies(f->subject.method) ? "" : product_name[f->subject.product],
                f->judgement.why);
    text_format(to, "  input     %s", words);
    if (f->in.x.n < f->n)
        text_format(to, " (shrunk from n = %zu)", f->n);
    if (special_multiplies(f->subject.method) && !f->subject.method->no_c)
        text_add(to, "; the last one is C");
    text_add(to, "\n  result    ");
    if (special_multiplies(f->subject.method))
        text_format(to, "element %zu of D, ", f->judgement.output);
    if (special_is_scan(f->subject.method))
        text_format(to, "output %zu of the %s scan: ", f->judgement.output,
                    f->subject.exclusive ? "exclusive" : "inclusive");
    else if (operation_of_each(f->subject.method->operation))
        text_format(to, "output %zu: ", f->judgement.output);
    text_format(to, "%s\n  possible  %s\n  again     ", result, due);
    conformance_command(to, r, class, folder);
    bool others = false;
    for (size_t k = class + 1; k < SPECIAL_CLASSES; k++)
        if (r->all[k].first && same_as(r, k) == class) {
            text_format(to, "%s%s", others ? ", " : "\n  also in   ",
                        conformance_report_class(r, k));
            others = true;
        }
    text_add(to, "\n");
}

/* Pairs of formats that were tried: where there are data, of their storage alone. */
static size_t tried_pairs(const struct conformance_report *r)
{
    const struct conformance_request *q = &r->request;
    size_t pairs = 0;
    for (size_t i = 0; i < q->pairs.count; i++) {
        const struct format_pair *pair = &q->pairs.item[i];
        pairs += (!q->data || q->data->x.format == pair->storage) && conformance_runs(q, pair);
    }
    return pairs - r->left_out.count;
}

/* "impossible results: 3 of 5040 inputs, in inf, nan"; what was tried, where all conform. */
static void add_verdict(struct text *to, const struct conformance_report *r)
{
    char device[DEVICE_TEXT];
    struct text line = {0}, classes = {0};
    const struct conformance_tally all = conformance_report_total(r);
    const size_t pairs = tried_pairs(r), cases = all.cases;
    for (size_t k = 0; k < SPECIAL_CLASSES; k++)
        if (r->all[k].impossible > 0)
            text_format(&classes, "%s%s", classes.length ? ", " : "",
                        conformance_report_class(r, k));
    device_name(r->request.device, device);
    text_visible(&line, r->request.method->name);
    text_format(&line, " on %s, %zu pair%s of formats: ", device, pairs, pairs == 1 ? "" : "s");
    if (all.impossible > 0) {
        text_format(&line, "%zu of %zu special inputs give an impossible result: ", all.impossible,
                    cases);
        text_join(&line, &classes);
    } else if (cases == 0 && r->failure.status != STATUS_OK) {
        text_add(&line, "failed on the first special input");
    } else if (all.failed > 0 || r->failure.status != STATUS_OK) {
        text_format(&line, "failed on %zu of %zu special inputs", all.failed, cases);
    } else if (cases == 0) {
        text_add(&line, "nothing was tried");
    } else if (special_numbers_unbounded(r->request.method)) {
        text_format(&line,
                    "NaN, infinities and signs of all results on %zu special input%s are right",
                    cases, cases == 1 ? "" : "s");
    } else {
        text_format(&line, "every result on %zu special input%s is possible", cases,
                    cases == 1 ? "" : "s");
    }
    if (all.impossible == 0 && all.noted > 0)
        text_format(&line, ", %zu of them legal but unusual", all.noted);
    if (all.left > 0)
        text_format(&line, "; %zu inputs not tried", all.left);
    if (r->refused.count > 0)
        text_format(&line, "; %zu length%s refused", r->refused.count,
                    r->refused.count == 1 ? "" : "s");
    text_wrapped(to, &line, TABLE_COLUMNS, 2);
    text_free(&classes);
}

/* "it refused n = 1, 2, 3, not tried there: ValueError: ..." */
void conformance_report_refused(struct text *to, const struct conformance_report *r)
{
    const struct conformance_refusals *of = &r->refused;
    for (size_t i = 0; i < of->count; i++)
        text_format(to, "%s%zu", i == 0 ? "it refused n = " : ", ", of->length[i]);
    if (of->count > 0) {
        text_add(to, ", not tried there: ");
        text_visible(to, foreign_last_words(of->first.text, r->request.method->name));
    }
}

void conformance_report_text(struct text *to, const struct conformance_report *r,
                             const char *folder)
{
    char left_out[PAIRS_TEXT];
    pairs_text(left_out, &r->left_out);
    add_verdict(to, r);
    draw_table(to, r);
    for (size_t k = 0; k < SPECIAL_CLASSES; k++)
        if (r->all[k].note)
            text_format(to, "%s: %zu noted, first: %s\n", conformance_report_class(r, k),
                        r->all[k].noted, r->all[k].note);
    if (special_numbers_unbounded(r->request.method))
        text_add(to,
                 "no bound: NaN, infinities and signs were checked, other numbers were not, since "
                 "nothing is\n  known of how it computes them; `run` tells their errors\n");
    if (conformance_report_total(r).left > 0)
        text_format(to, "not tried, for lack of time: %zu inputs\n",
                    conformance_report_total(r).left);
    if (*left_out)
        text_format(to, "not answered: %s\n", left_out);
    struct text refused = {0};
    conformance_report_refused(&refused, r);
    if (refused.length > 0)
        text_wrapped(to, &refused, TABLE_COLUMNS, 2);
    text_free(&refused);
    if (r->failure.status != STATUS_OK)
        text_format(to, "a run failed: %s\n", r->failure.text);
    for (size_t k = 0; k < SPECIAL_CLASSES; k++)
        if (r->all[k].first && same_as(r, k) == k)
            add_finding(to, r, k, folder);
}

/* Two arrays go into one file, x first, then y. */
static enum status write_input(const char *path, const struct special_input *in, struct problem *p)
{
    if (!in->y.data)
        return data_write_npy(path, &in->x, p);
    struct array both;
    size_t bytes = array_bytes(in->x.format, in->x.n);
    enum status status = memory_array(&both, in->x.format, 2 * in->x.n, path, p);
    if (status != STATUS_OK)
        return status;
    memcpy(both.data, in->x.data, bytes);
    memcpy((char *)both.data + bytes, in->y.data, bytes);
    status = data_write_npy(path, &both, p);
    free(both.data);
    return status;
}

enum status conformance_report_write(const struct conformance_report *r, const char *folder,
                                     struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < SPECIAL_CLASSES && status == STATUS_OK; k++) {
        struct text file = {0};
        if (!r->all[k].first)
            continue;
        conformance_file(&file, r, k, folder);
        const char *path = text_string(&file);
        status = path ? write_input(path, &r->all[k].first->in, p)
                      : problem(p, STATUS_MEMORY, "%s: out of memory", folder);
        text_free(&file);
    }
    return status;
}
