/* What a comparison says, for people and for programs. */
#include <stdlib.h>

#include "reports/results/compare.h"
#include "reports/results/study.h"
#include "reports/text/table.h"

/* --- A comparison as rows of CSV and as JSON; both have the columns of the dictionary --- */

static void add_case(struct text cell[COMPARE_COLUMNS], const struct compare_pair *pair)
{
    static const struct {
        enum compare_column to;
        enum case_column from;
    } common[] = {{COMPARE_METHOD, CASE_METHOD},
                  {COMPARE_STORAGE, CASE_STORAGE},
                  {COMPARE_ACCUMULATOR, CASE_ACCUMULATOR},
                  {COMPARE_INPUT, CASE_INPUT},
                  {COMPARE_N, CASE_N},
                  {COMPARE_SEED, CASE_SEED},
                  {COMPARE_SCAN, CASE_SCAN},
                  {COMPARE_OUTPUT, CASE_OUTPUT},
                  {COMPARE_SEGMENT, CASE_SEGMENT},
                  {COMPARE_PRODUCT, CASE_PRODUCT},
                  {COMPARE_KEYS, CASE_KEYS},
                  {COMPARE_BINS, CASE_BINS},
                  {COMPARE_CHIP, CASE_CHIP},
                  {COMPARE_PROMOTE, CASE_PROMOTE},
                  {COMPARE_WORKSPACE, CASE_WORKSPACE},
                  {COMPARE_ALGORITHM, CASE_ALGORITHM},
                  {COMPARE_ADDED_IN, CASE_ADDED_IN},
                  {COMPARE_RESULT_FORMAT, CASE_RESULT_FORMAT}};
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        const char *a = pair->of[0] ? pair->of[0]->field[common[i].from] : "";
        /* An older directory does not have all. */
        text_add(&cell[common[i].to], *a || !pair->of[1] ? a : pair->of[1]->field[common[i].from]);
    }
    text_add(&cell[COMPARE_PROMISE], promise_name[pair->promise]);
    text_add(&cell[COMPARE_VERDICT], verdict_name[pair->verdict]);
    text_add(&cell[COMPARE_BROKEN], pair->broken ? "yes" : "no");
    if (pair->of[0] && pair->of[1])
        text_unsigned(&cell[COMPARE_SHARED], pair->shared);
}

/* The columns of A stand before those of B. */
static void add_side_columns(struct text cell[COMPARE_COLUMNS], const struct gathered_case *c,
                             size_t side)
{
    if (!c)
        return;
    text_add(&cell[COMPARE_CASE_ID_A + side], c->field[CASE_ID]);
    text_add(&cell[COMPARE_DEVICE_A + side], c->field[CASE_DEVICE]);
    text_add(&cell[COMPARE_THREADS_A + side], c->field[CASE_THREADS]);
    text_add(&cell[COMPARE_BLOCKS_A + side], c->field[CASE_BLOCKS]);
    text_add(&cell[COMPARE_STATUS_A + side], c->status);
    text_unsigned(&cell[COMPARE_RUNS_A + side], c->runs);
    if (!c->runs)
        return;
    text_unsigned(&cell[COMPARE_DISTINCT_A + side], c->distinct);
    text_add(&cell[COMPARE_RESULT_A + side], c->result);
    text_add(&cell[COMPARE_BITS_A + side], c->first);
    text_figure(&cell[COMPARE_ERR_ULP_A + side], c->err_ulp);
    text_figure(&cell[COMPARE_ERR_OVER_BOUND_A + side], c->err_over_bound);
}

static void fill(struct text cell[COMPARE_COLUMNS], const struct compare_pair *pair)
{
    memset(cell, 0, COMPARE_COLUMNS * sizeof *cell);
    add_case(cell, pair);
    add_side_columns(cell, pair->of[0], 0);
    add_side_columns(cell, pair->of[1], 1);
}

void compare_rows(struct text *to, const struct compare *c)
{
    struct text cell[COMPARE_COLUMNS];
    for (size_t i = 0; i < c->pairs; i++) {
        fill(cell, &c->pair[i]);
        for (size_t k = 0; k < COMPARE_COLUMNS; k++) {
            const char *string = text_string(&cell[k]);
            to->failed |= !string;
            text_add(to, k ? "," : "");
            text_field(to, string ? string : "");
            text_free(&cell[k]);
        }
        text_add(to, "\n");
    }
}

/* Empty fields are left out; all are strings, as the CSV files have them. */
static json_t *pair_json(const struct compare_pair *pair)
{
    struct text cell[COMPARE_COLUMNS];
    json_t *object = json_object();
    bool good = object != NULL;
    fill(cell, pair);
    for (size_t k = 0; k < COMPARE_COLUMNS; k++) {
        const char *string = text_string(&cell[k]);
        if (!string || (*string && json_object_set_new(object, compare_column(k)->name,
                                                       json_string(string)) != 0))
            good = false;
        text_free(&cell[k]);
    }
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *side_json(const struct gathered *side)
{
    return json_pack(
        "{so sI sO? sO? sO? sO?}", "path", study_path(side->path), "cases", (json_int_t)side->count,
        "experiment", json_object_get(side->study, "experiment"), "started",
        json_object_get(side->study, "started"), "program", json_object_get(side->study, "program"),
        "machine", json_object_get(side->study, "machine"));
}

json_t *compare_json(const struct compare *c)
{
    json_t *count = json_object(), *cases = json_array();
    bool good = true;
    for (size_t v = 0; v < VERDICTS; v++)
        good &=
            json_object_set_new(count, verdict_name[v], json_integer((json_int_t)c->count[v])) == 0;
    for (size_t i = 0; i < c->pairs; i++)
        good &= json_array_append_new(cases, pair_json(&c->pair[i])) == 0;
    json_t *all =
        json_pack("{so so sI so so}", "a", side_json(&c->side[0]), "b", side_json(&c->side[1]),
                  "promises_broken", (json_int_t)c->broken, "count", count, "cases", cases);
    if (good)
        return all;
    json_decref(all);
    return NULL;
}

/* The case that a pair's common columns are taken from. */
static const struct gathered_case *one_of(const struct compare_pair *pair)
{
    return pair->of[0] ? pair->of[0] : pair->of[1];
}

/* What is counted of a method. */
struct row {
    const struct compare_pair *first;
    size_t cases, broken, count[VERDICTS];
    struct figure err_ulp[2];
};

static struct row row_of(const struct compare *c, const char *method)
{
    struct row row = {0};
    for (size_t i = 0; i < c->pairs; i++) {
        const struct compare_pair *pair = &c->pair[i];
        if (strcmp(one_of(pair)->field[CASE_METHOD], method) != 0)
            continue;
        row.first = row.first ? row.first : pair;
        row.cases++;
        row.broken += pair->broken;
        row.count[pair->verdict]++;
        for (size_t s = 0; s < 2; s++)
            if (pair->of[s] && pair->verdict <= VERDICT_BROKEN_BOUND)
                gathered_raise(&row.err_ulp[s], pair->of[s]->err_ulp);
    }
    return row;
}

/* Is this the first pair of its method? */
static bool is_first(const struct compare *c, size_t pair)
{
    const char *method = one_of(&c->pair[pair])->field[CASE_METHOD];
    for (size_t i = 0; i < pair; i++)
        if (strcmp(one_of(&c->pair[i])->field[CASE_METHOD], method) == 0)
            return false;
    return true;
}

static void add_heading(struct text *to, const struct compare *c)
{
    for (size_t s = 0; s < 2; s++) {
        const struct gathered *side = &c->side[s];
        const char *runtime = gathered_word(side, "machine", "cuda_runtime");
        struct text line = {0};
        text_format(&line, "%c: %s: %s, %s%s%s, ulpscope %s, %.10s, %zu cases", (int)('A' + s),
                    side->path, gathered_word(side, NULL, "experiment"), gathered_machine(side),
                    *runtime ? ", CUDA " : "", runtime, gathered_word(side, "program", "version"),
                    gathered_word(side, NULL, "started"), side->count);
        if (text_string(&line))
            text_visible(to, line.data);
        text_add(to, "\n");
        text_free(&line);
    }
    text_add(to, "\n");
}

static void add_method(struct table *t, const struct row *row)
{
    static const enum verdict counted[] = {
        VERDICT_SAME,        VERDICT_WITHIN_BOUND, VERDICT_NO_BOUND,  VERDICT_BROKEN_BOUND,
        VERDICT_OTHER_INPUT, VERDICT_MISSING_A,    VERDICT_MISSING_B, VERDICT_NEITHER};
    table_cell(t, "%s", one_of(row->first)->field[CASE_METHOD]);
    table_cell(t, "%s", promise_name[row->first->promise]);
    table_cell(t, "%zu", row->cases);
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        table_count(t, row->count[counted[i]]);
    table_count(t, row->broken);
    table_figure(t, "%.3g", row->err_ulp[0]);
    table_figure(t, "%.3g", row->err_ulp[1]);
}

static void describe(struct text *to, const struct gathered_case *c)
{
    static const enum case_column column[] = {
        CASE_STORAGE, CASE_ACCUMULATOR, CASE_INPUT,   CASE_N,         CASE_SEED,
        CASE_SCAN,    CASE_OUTPUT,      CASE_SEGMENT, CASE_PRODUCT,   CASE_KEYS,
        CASE_BINS,    CASE_CHIP,        CASE_PROMOTE, CASE_WORKSPACE, CASE_ALGORITHM};
    static const char *const before[] = {", ",
                                         "/",
                                         ", ",
                                         ", n = ",
                                         ", seed ",
                                         ", ",
                                         " to ",
                                         ", segments of ",
                                         ", product ",
                                         ", keys ",
                                         ", bins ",
                                         ", chip ",
                                         ", promoted every ",
                                         ", workspace ",
                                         ", algorithm "};
    text_add(to, c->field[CASE_METHOD]);
    for (size_t i = 0; i < sizeof column / sizeof *column; i++)
        if (*c->field[column[i]])
            text_format(to, "%s%s", before[i], c->field[column[i]]);
}

static void add_side(struct text *to, char name, const struct gathered_case *c)
{
    if (!c || !c->runs) {
        text_format(to, "  %c: no result%s%s\n", name, c ? ", " : "", c ? c->status : "");
        return;
    }
    text_format(to, "  %c: %s  %s", name, c->first, c->result);
    if (c->distinct > 1)
        text_format(to, ", and %zu other results in %llu runs", c->distinct - 1,
                    (unsigned long long)c->runs);
    text_format(to, "  (%s", c->field[CASE_DEVICE]);
    if (*c->field[CASE_THREADS])
        text_format(to, ", %s thread%s", c->field[CASE_THREADS],
                    strcmp(c->field[CASE_THREADS], "1") == 0 ? "" : "s");
    if (*c->field[CASE_BLOCKS])
        text_format(to, ", %s blocks", c->field[CASE_BLOCKS]);
    text_add(to, ")\n");
}

/* The first few cases that break a promise or a bound, or had another input. */
static void add_witnesses(struct text *to, const struct compare *c)
{
    enum { MOST = 5 };
    size_t found = 0;
    for (size_t i = 0; i < c->pairs; i++) {
        const struct compare_pair *pair = &c->pair[i];
        bool bound = pair->verdict == VERDICT_BROKEN_BOUND,
             input = pair->verdict == VERDICT_OTHER_INPUT;
        if ((!pair->broken && !bound && !input) || found++ >= MOST)
            continue;
        text_add(to, pair->broken ? "\npromise broken ("
                     : bound      ? "\nbound broken ("
                                  : "\nother input (");
        text_format(to, "%s): ", promise_name[pair->promise]);
        describe(to, one_of(pair));
        text_add(to, "\n");
        add_side(to, 'A', pair->of[0]);
        add_side(to, 'B', pair->of[1]);
    }
    if (found > MOST)
        text_format(to, "\n... and %zu more: --out FILE.csv has a row for each case\n",
                    found - MOST);
}

static void add_sum(struct text *to, const struct compare *c)
{
    static const char *const says[VERDICTS] = {"the same bits",
                                               "other bits within the bound",
                                               "other bits without a bound",
                                               "a bound broken",
                                               "another input",
                                               "missing in A",
                                               "missing in B",
                                               "a result in neither"};
    text_format(to, "%zu pair%s of cases: ", c->pairs, text_s(c->pairs));
    bool first = true;
    for (size_t v = 0; v < VERDICTS; v++) {
        if (!c->count[v])
            continue;
        text_format(to, "%s%zu %s", first ? "" : ", ", c->count[v], says[v]);
        first = false;
    }
    if (c->broken)
        text_format(to, "; %zu promise%s broken\n\n", c->broken, text_s(c->broken));
    else
        text_add(to, "; no promise broken\n\n");
}

/* Runs without a result have no bits: a case of which others have is compared by these. */
static void add_failed(struct text *to, const struct compare *c)
{
    for (size_t s = 0; s < 2; s++) {
        size_t some = 0, all = 0;
        for (size_t i = 0; i < c->side[s].count; i++) {
            const struct gathered_case *k = &c->side[s].item[i];
            some += *k->status && k->runs > 0;
            all += k->runs == 0 && strcmp(k->status, "error") == 0;
        }
        if (some > 0)
            text_format(to,
                        "%c: %zu case%s %s runs without a result: compared by the others alone\n",
                        (int)('A' + s), some, text_s(some), some == 1 ? "has" : "have");
        if (all > 0)
            text_format(to, "%c: %zu case%s failed: no run has a result\n", (int)('A' + s), all,
                        text_s(all));
    }
}

void compare_text(struct text *to, const struct compare *c)
{
    static const char *const header[] = {
        "method",   "promise",        "cases",       "same",      "within bound",
        "no bound", "broken bound",   "other input", "missing A", "missing B",
        "neither",  "promise broken", "err_ulp A",   "err_ulp B"};
    struct table table = {.align = "llrrRRrRRRRrRR"};
    add_sum(to, c);
    add_heading(to, c);
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        table_cell(&table, "%s", header[i]);
    for (size_t i = 0; i < c->pairs; i++) {
        if (!is_first(c, i))
            continue;
        struct row row = row_of(c, one_of(&c->pair[i])->field[CASE_METHOD]);
        add_method(&table, &row);
    }
    table_draw(to, &table);
    to->failed |= table.failed;
    table_free(&table);
    add_failed(to, c);
    add_witnesses(to, c);
}
