/* What `ulpscope recommend` answers, for tests. */
#pragma once

#include "experiments/studies/recommend/recommend.h"
#include "experiments/program/verbs.h"
#include "tests/support/study.h"

/* Runs the words of a line, without `ulpscope recommend` and `--device cpu --json --out
 * FOLDER/out`. What it prints, as JSON, or NULL; json_decref is due. */
static inline json_t *recommend_line(enum status due, const char *line)
{
    char copy[1024], *words[64] = {"ulpscope", "recommend", "--device", "cpu", "--json", "--out"};
    struct arguments a;
    struct problem p = {0};
    int count = 6;
    words[count++] = (char *)in_folder("out");
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word && count < 63; word = strtok(NULL, " "))
        words[count++] = word;
    cr_assert(freopen(in_folder("printed"), "w", stdout));
    enum status status = arguments_parse(&a, count, words, &p);
    if (status == STATUS_OK)
        status = a.verb->run(&a, &p);
    fflush(stdout);
    cr_expect_eq(status, due, "%s: status %d, expected %d: %s", line, (int)status, (int)due,
                 p.text);
    return json_load_file(in_folder("printed"), 0, NULL);
}

static inline const char *word_of(const json_t *o, const char *name)
{
    const char *text = json_string_value(json_object_get(o, name));
    return text ? text : "";
}

/* A number, inf or nan. */
static inline double number_of(const json_t *o, const char *name)
{
    const json_t *value = json_object_get(o, name);
    return json_is_string(value) ? strtod(json_string_value(value), NULL)
                                 : json_number_value(value);
}

static inline const json_t *candidate_of(const json_t *answer, const char *method,
                                         const char *accumulator)
{
    size_t i;
    const json_t *c;
    json_array_foreach (json_object_get(answer, "candidates"), i, c) {
        if (strcmp(word_of(c, "method"), method) == 0 &&
            strcmp(word_of(c, "accumulator"), accumulator) == 0)
            return c;
    }
    cr_assert_fail("no candidate %s in %s", method, accumulator);
    return NULL;
}

static inline bool holds(const json_t *answer, const char *method, const char *accumulator)
{
    return json_is_true(json_object_get(candidate_of(answer, method, accumulator), "holds"));
}
