/* What `check` says of the numbers of rows that --batch asks for. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/check/batches.h"
#include "experiments/check/report.h"
#include "reports/text/table.h"

enum { TABLES = 2, LINES = 12, WIDTH = 80 };

static bool are_told(const struct check_report *r)
{
    return check_is_counted(&r->request, CHECK_BATCH) && r->request.batches->tables > 0;
}

size_t check_batches_tried(const struct check_report *r)
{
    size_t most = 0;
    for (size_t i = 0; are_told(r) && i < r->request.batches->tables; i++)
        if (r->request.batches->table[i].tried > most)
            most = r->request.batches->table[i].tried;
    return most;
}

void check_batches_words(struct text *to, const struct check_report *r)
{
    const struct check_batches *b = r->request.batches;
    if (!check_is_counted(&r->request, CHECK_BATCH) || !r->request.tried[CHECK_BATCH])
        return;
    const uint64_t first = b->rows.item[0], last = b->rows.item[b->rows.count - 1];
    if (b->rows.count == 2)
        text_format(to, ", batches of %llu and %llu rows", (unsigned long long)first,
                    (unsigned long long)last);
    else if (last - first + 1 == b->rows.count)
        text_format(to, ", batches of %llu to %llu rows", (unsigned long long)first,
                    (unsigned long long)last);
    else
        text_format(to, ", batches of %zu numbers of rows from %llu to %llu", b->rows.count,
                    (unsigned long long)first, (unsigned long long)last);
}

static void bits_of(char bits[NUMBER_TEXT], const struct batch_table *t, uint64_t is)
{
    const enum format f = t->at.setting.output;
    number_bits(bits, f, format_decode(f, is));
}

/* --- a table --- */

/* What is multiplied, or summed up, in batches: "Mx8x512:tn, h100", "layout row, 256 terms". */
static void add_what(struct text *to, const struct check_report *r, const struct batch_table *t)
{
    struct setting_word word[SETTING_OPTIONS];
    size_t words = setting_words(word, r->request.method->operation, &t->at.setting);
    for (size_t i = 0; i < words; i++) {
        const char *name = setting_options[word[i].option].name, *text = word[i].text;
        const bool shape = word[i].option == SETTING_SHAPE;
        if (word[i].option == SETTING_ROWS) /* that is what changes */
            text_format(to, "%zu term%s", t->terms, text_s(t->terms));
        else if (shape && text)
            text_format(to, "M%s", text + strspn(text, "0123456789"));
        else if (text)
            text_format(to, "%s %s", name, text);
        else
            text_format(to, "%s %zu", name, word[i].number);
        text_add(to, i + 1 < words ? ", " : "");
    }
}

static void add_head(struct text *to, const struct check_report *r, const struct batch_table *t)
{
    const size_t outputs = t->rows * t->columns;
    char input[INPUT_TEXT];
    struct text line = {0};
    check_input_text(&t->at, input);
    text_format(&line, "batches in %s/%s, ", format_facts[t->at.pair.storage].name,
                format_facts[t->at.pair.accumulator].name);
    add_what(&line, r, t);
    text_format(&line, ", %s: %zu output%s of %zu row%s followed", input, outputs, text_s(outputs),
                t->rows, text_s(t->rows));
    if (t->cases > 1)
        text_format(&line, "; %zu cases tried%s", t->cases,
                    t->least[0] ? ", this one differs most" : "");
    text_wrapped(to, &line, WIDTH, 2);
}

static void add_kind(struct table *table, const struct batch_table *t,
                     const struct batch_range *range, size_t which)
{
    const struct batch_range *is = &range[which];
    char letters[BATCH_LETTERS], bits[2][NUMBER_TEXT];
    if (is->kind == BATCH_UNTRIED) {
        table_cell(table, "not tried");
        table_cell(table, "%s", "");
        return;
    }
    const struct batch_kind *k = &t->is[is->kind - 1];
    check_batch_letters(letters, range, which);
    table_cell(table, "%s", letters);
    if (k->differing == 0) {
        size_t least = range[0].kind == BATCH_UNTRIED ? range[1].first : range[0].first;
        if (k->some)
            table_cell(table, "copies of one row differ");
        else if (least == 1)
            table_cell(table, "as alone");
        else
            table_cell(table, "as with %zu rows", least);
        return;
    }
    bits_of(bits[0], t, k->bits[0]);
    bits_of(bits[1], t, k->bits[1]);
    char column[32] = "";
    if (t->columns > 1)
        snprintf(column, sizeof column, ", column %zu", k->column);
    table_cell(table, "%zu of %zu differ%s: %s, not %s (row %zu%s)", k->differing,
               t->rows * t->columns, k->some ? " (some copies)" : "", bits[1], bits[0], k->row,
               column);
}

static void add_ranges(struct text *to, const struct batch_table *t,
                       const struct batch_range *range, size_t count)
{
    struct table table = {.align = "lrll"};
    const char *const name[] = {"rows", "tried", "bits", "outputs"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        table_cell(&table, "%s", name[i]);
    for (size_t i = 0; i < count && i < LINES; i++) {
        const struct batch_range *is = &range[i];
        if (is->first == is->last)
            table_cell(&table, "%zu", is->first);
        else
            table_cell(&table, "%zu to %zu", is->first, is->last);
        if (is->tried == is->asked || is->tried == 0)
            table_cell(&table, "%zu", is->tried);
        else
            table_cell(&table, "%zu of %zu", is->tried, is->asked);
        add_kind(&table, t, range, i);
    }
    table_draw(to, &table);
    table_free(&table);
    if (count > LINES)
        text_format(to, "and %zu more ranges: --json, or --out FILE, has all\n", count - LINES);
}

static void add_conclusion(struct text *to, const struct batch_table *t)
{
    struct text line = {0};
    if (t->least[0] && t->least[0] == t->least[1])
        text_format(&line, "in a batch of %zu rows copies of one row differ", t->least[0]);
    else if (t->least[0])
        text_format(&line, "smallest pair that differs: %zu and %zu rows", t->least[0],
                    t->least[1]);
    else if (t->tried == t->asked)
        text_format(&line, "all %zu numbers of rows gave the same bits", t->tried);
    else
        text_format(&line, "all %zu of %zu numbers of rows that were tried gave the same bits",
                    t->tried, t->asked);
    text_wrapped(to, &line, WIDTH, 2);
    if (t->tried == t->asked)
        return;
    text_format(&line,
                "time ran out before %zu number%s of rows: about %.0f s more, with --only "
                "batch_invariant/batch, try them",
                t->asked - t->tried, text_s(t->asked - t->tried),
                t->needed_s < 1 ? 1 : t->needed_s);
    text_wrapped(to, &line, WIDTH, 2);
}

static void add_table(struct text *to, const struct check_report *r, const struct batch_table *t)
{
    size_t count;
    add_head(to, r, t);
    struct batch_range *range = check_batch_ranges(r->request.batches, t, &count);
    to->failed |= !range;
    if (range)
        add_ranges(to, t, range, count);
    free(range);
    add_conclusion(to, t);
}

/* Bits that change when the same batch is run again say nothing of numbers of rows. */
static bool add_unsteady(struct text *to, const struct check_batches *b)
{
    struct text line = {0};
    size_t i = 0;
    while (i < b->tables && b->table[i].unsteady == 0)
        i++;
    if (i == b->tables)
        return false;
    text_add(to, "\n");
    text_format(&line,
                "batches: one of %zu row%s gave other bits when it was run again; what differs is "
                "not due to the number of rows alone, and no table is shown",
                b->table[i].unsteady, text_s(b->table[i].unsteady));
    text_wrapped(to, &line, WIDTH, 2);
    return true;
}

/* Those in which bits differ before others; in the order in which they were tried. */
static const struct batch_table *table_at(const struct check_batches *b, size_t which)
{
    for (unsigned differ = 2; differ-- > 0;)
        for (size_t i = 0; i < b->tables; i++)
            if ((b->table[i].least[0] > 0) == differ && which-- == 0)
                return &b->table[i];
    return NULL;
}

void check_batches_text(struct text *to, const struct check_report *r, bool all)
{
    const struct check_batches *b = r->request.batches;
    size_t shown = 0, differ = 0;
    if (!are_told(r) || add_unsteady(to, b))
        return;
    for (; shown < b->tables && (all || shown < TABLES); shown++) {
        text_add(to, "\n");
        add_table(to, r, table_at(b, shown));
    }
    for (size_t i = shown; i < b->tables; i++)
        differ += table_at(b, i)->least[0] > 0;
    if (shown < b->tables)
        text_format(to, "%zu more table%s with --wide, %s\n", b->tables - shown,
                    text_s(b->tables - shown),
                    differ ? "some with bits that differ" : "none with bits that differ");
}

/* --- for programs --- */

static json_t *range_json(const struct batch_table *t, const struct batch_range *range,
                          size_t which)
{
    const struct batch_range *is = &range[which];
    char letters[BATCH_LETTERS], bits[NUMBER_TEXT];
    json_t *o =
        json_pack("{sI sI sI sI}", "first", (json_int_t)is->first, "last", (json_int_t)is->last,
                  "asked", (json_int_t)is->asked, "tried", (json_int_t)is->tried);
    if (is->kind == BATCH_UNTRIED) {
        json_object_set_new(o, "kind", json_null());
        return o;
    }
    const struct batch_kind *k = &t->is[is->kind - 1];
    check_batch_letters(letters, range, which);
    json_object_set_new(o, "kind", json_string(letters));
    json_object_set_new(o, "differing", json_integer((json_int_t)k->differing));
    json_object_set_new(o, "some_copies", json_boolean(k->some));
    if (k->differing == 0)
        return o;
    json_object_set_new(o, "row", json_integer((json_int_t)k->row));
    json_object_set_new(o, "column", json_integer((json_int_t)k->column));
    bits_of(bits, t, k->bits[1]);
    json_object_set_new(o, "bits", json_string(bits));
    bits_of(bits, t, k->bits[0]);
    json_object_set_new(o, "bits_of_a", json_string(bits));
    return o;
}

static json_t *table_json(const struct check_report *r, const struct batch_table *t)
{
    char input[INPUT_TEXT];
    size_t count;
    struct batch_range *range = check_batch_ranges(r->request.batches, t, &count);
    json_t *ranges = json_array();
    check_input_text(&t->at, input);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(ranges, range_json(t, range, i));
    free(range);
    struct setting_word word[SETTING_OPTIONS];
    size_t words = setting_words(word, r->request.method->operation, &t->at.setting);
    json_t *o = json_pack("{ss ss ss sI sI sI sI sI sI sI sI sI sI so}", "storage",
                          format_facts[t->at.pair.storage].name, "accumulator",
                          format_facts[t->at.pair.accumulator].name, "input", input, "n",
                          (json_int_t)t->at.n, "seed", (json_int_t)t->at.seed, "columns",
                          (json_int_t)t->columns, "terms", (json_int_t)t->terms, "row",
                          (json_int_t)t->row, "rows_followed", (json_int_t)t->rows, "cases",
                          (json_int_t)t->cases, "asked", (json_int_t)t->asked, "tried",
                          (json_int_t)t->tried, "kinds", (json_int_t)t->kinds, "ranges", ranges);
    for (size_t i = 0; i < words; i++)
        json_object_set_new(o, setting_options[word[i].option].name,
                            word[i].text ? json_string(word[i].text)
                                         : json_integer((json_int_t)word[i].number));
    json_object_set_new(o, "smallest_pair",
                        t->least[0]
                            ? json_pack("[II]", (json_int_t)t->least[0], (json_int_t)t->least[1])
                            : json_null());
    json_object_set_new(o, "unsteady",
                        t->unsteady ? json_integer((json_int_t)t->unsteady) : json_null());
    return o;
}

json_t *check_batches_json(const struct check_report *r)
{
    json_t *all = json_array();
    for (size_t i = 0; are_told(r) && i < r->request.batches->tables; i++)
        json_array_append_new(all, table_json(r, &r->request.batches->table[i]));
    return all;
}

void check_batches_cell(struct text *to, const struct check_report *r)
{
    for (size_t i = 0; are_told(r) && i < r->request.batches->tables; i++) {
        const struct batch_table *t = &r->request.batches->table[i];
        size_t count;
        struct batch_range *range = check_batch_ranges(r->request.batches, t, &count);
        text_format(to, "%s%s/%s, ", i ? " | " : "", format_facts[t->at.pair.storage].name,
                    format_facts[t->at.pair.accumulator].name);
        add_what(to, r, t);
        text_add(to, ":");
        for (size_t k = 0; k < count; k++) {
            char letters[BATCH_LETTERS] = "-";
            if (range[k].kind != BATCH_UNTRIED)
                check_batch_letters(letters, range, k);
            text_format(to, "%s %zu..%zu %s %zu/%zu", k ? ";" : "", range[k].first, range[k].last,
                        letters, range[k].tried, range[k].asked);
        }
        if (t->unsteady)
            text_format(to, "; unsteady at %zu", t->unsteady);
        free(range);
    }
}
