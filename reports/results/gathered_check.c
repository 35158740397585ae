/* Rows that contradict the case they say they are of. */
#include <stdio.h>
#include <stdlib.h>

#include "reports/results/gathered.h"
#include "kernels/gpu/load.h"
#include "reports/results/case_id.h"

static enum status contradicts(const struct csv_row *row, size_t column, const char *found,
                               const char *expected, const char *why, struct problem *p)
{
    return problem(p, STATUS_DATA, "%s: line %zu: %s: found '%s', expected '%s', as %s: edited",
                   row->path, row->line, case_columns[column].name, found, expected, why);
}

static enum status check_same(const struct gathered *g, const struct gathered_case *c,
                              const struct csv_row *row, size_t (*field)(size_t), struct problem *p)
{
    for (size_t i = 0; i < CASE_ALL; i++) {
        const char *found = columns_case_has(g->of, i) ? row->field[field(i)] : "";
        struct text shown = {0};
        if (strcmp(found, c->field[i]) == 0)
            continue;
        text_visible(&shown, found);
        bool same = text_string(&shown) && strcmp(shown.data, c->field[i]) == 0;
        text_free(&shown);
        if (!same)
            return contradicts(row, i, found, c->field[i], "other rows of the case say", p);
    }
    return STATUS_OK;
}

/* The hash of data that study.json has, by the key that source_key makes; NULL where there is none.
 */
static const char *data_hash(const struct gathered *g, const struct gathered_case *c)
{
    char *key = NULL;
    if (asprintf(&key, "%s %s n=%s", c->field[CASE_INPUT], c->field[CASE_STORAGE],
                 c->field[CASE_N]) < 0)
        return NULL;
    const char *hash = json_string_value(json_object_get(json_object_get(g->study, "inputs"), key));
    free(key);
    return hash;
}

/* Keys of data are of the study's first seed. */
static const char *first_seed(const struct gathered *g)
{
    const json_t *seeds = json_object_get(json_object_get(g->study, "axes"), "seed");
    const char *seed = json_string_value(json_array_get(seeds, 0));
    return seed ? seed : "";
}

/* Files of keys have hashes that no directory tells. */
static bool is_known(const struct gathered_case *c, const struct case_rest *rest)
{
    return (*c->field[CASE_SEED] || rest->hash) && strncmp(c->field[CASE_KEYS], "file:", 5) != 0;
}

static enum status check_id(const struct gathered *g, const struct gathered_case *c,
                            const struct csv_row *row, struct problem *p)
{
    char id[CASE_ID_TEXT], idle[CASE_ID_TEXT];
    const char *seed = c->field[CASE_SEED];
    struct case_rest rest = {.hash = *seed ? NULL : data_hash(g, c),
                             .keys_hash = "",
                             .key_seed = *seed ? seed : first_seed(g),
                             .load = ""};
    if (!is_known(c, &rest))
        return STATUS_OK;
    case_id_text(idle, case_id_columns((const char *const *)c->field, &rest));
    for (size_t load = LOAD_IDLE; load < LOAD_KINDS; load++) { /* which has no column here */
        rest.load = load == LOAD_IDLE ? "" : load_name[load];
        case_id_text(id, case_id_columns((const char *const *)c->field, &rest));
        if (strcmp(id, c->field[CASE_ID]) == 0)
            return STATUS_OK;
    }
    return contradicts(row, CASE_ID, c->field[CASE_ID], idle,
                       "method, device, formats, input, n, seed and shape make it", p);
}

enum status gathered_check(const struct gathered *g, const struct gathered_case *c,
                           const struct csv_row *row, size_t (*field)(size_t), bool first,
                           struct problem *p)
{
    return first ? check_id(g, c, row, p) : check_same(g, c, row, field, p);
}
