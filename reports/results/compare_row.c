/* A comparison as rows of CSV and as JSON; both have the columns of the dictionary. */
#include <stdlib.h>

#include "reports/results/compare.h"
#include "reports/results/study.h"

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
static void add_side(struct text cell[COMPARE_COLUMNS], const struct gathered_case *c, size_t side)
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
    add_side(cell, pair->of[0], 0);
    add_side(cell, pair->of[1], 1);
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
