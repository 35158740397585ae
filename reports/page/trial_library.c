/* Functions of Python's in a trial: which library and mode they are of. */
#include <stdio.h>
#include <string.h>

#include "reports/page/trial.h"

const char trial_calls[] = "ulpscope.calls.";

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool has_word(const char *text, const char *word)
{
    char at[80];
    snprintf(at, sizeof at, "@%s", word);
    return strstr(text, at) != NULL;
}

/* Is it a function of a library, in a mode, by its name: python:torch.bincount@deterministic? */
static bool is_named_of(const char *method, const char *library, const char *mode)
{
    const char *function = method + strlen("python:");
    if (*mode && !has_word(function, mode))
        return false;
    return begins(function, trial_calls)
               ? has_word(function, library)
               : begins(function, library) && function[strlen(library)] == '.';
}

/* What study.json says of a function of Python's. What could not be described is in no other panel
 * than functions of its library and mode are. */
static const json_t *facts_of(const struct page *r, const char *method)
{
    json_t *python = json_object_get(r->g.study, "python"), *other;
    const json_t *own = json_object_get(python, method);
    const char *name;
    if (own || !begins(method, "python:"))
        return own;
    json_object_foreach (python, name, other) {
        const char *library = json_string_value(json_object_get(other, "array")),
                   *mode = json_string_value(json_object_get(other, "mode"));
        if (library && *library && is_named_of(method, library, mode ? mode : ""))
            return other;
    }
    return NULL;
}

const json_t *trial_library_of(const struct page *r, const char *method)
{
    const json_t *facts = facts_of(r, method);
    const char *function = json_string_value(json_object_get(facts, "function")),
               *library = json_string_value(json_object_get(facts, "array"));
    bool is = function && library && *library &&
              (begins(function, trial_calls) ||
               (begins(function, library) && function[strlen(library)] == '.'));
    return is ? facts : NULL;
}

const char *trial_fact(const json_t *facts, const char *name)
{
    const char *word = json_string_value(json_object_get(facts, name));
    return word ? word : "";
}
