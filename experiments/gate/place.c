#include "experiments/gate/place.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "reports/text/near.h"

void gate_place_text(char text[512], const struct gate_place *at)
{
    if (at->index == SIZE_MAX)
        snprintf(text, 512, "%.300s%s%.64s", at->path, *at->member ? ": " : "", at->member);
    else
        snprintf(text, 512, "%.300s: subjects[%zu]%s%.64s", at->path, at->index,
                 *at->member ? "." : "", at->member);
}

enum status gate_wrong(const struct gate_place *at, struct problem *p, const char *format, ...)
{
    char where[512], what[480];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    gate_place_text(where, at);
    return problem(p, STATUS_USAGE, "%s: %s", where, what);
}

/* A value as the manifest has it, cut off where it is long. */
static void value_text(char text[64], const json_t *value)
{
    const char *string = json_string_value(value);
    if (string)
        snprintf(text, 64, "'%.50s%s'", string, strlen(string) > 50 ? "..." : "");
    else if (json_is_array(value) || json_is_object(value))
        snprintf(text, 64, "%s",
                 json_is_object(value)         ? "an object"
                 : json_array_size(value) == 0 ? "an empty list"
                                               : "a list");
    else if (json_is_integer(value))
        snprintf(text, 64, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        snprintf(text, 64, "%.6g", json_real_value(value));
    else
        snprintf(text, 64, "%s",
                 json_is_true(value)    ? "true"
                 : json_is_false(value) ? "false"
                                        : "null");
}

enum status gate_expected(const struct gate_place *at, const json_t *value, const char *what,
                          struct problem *p)
{
    char found[64];
    value_text(found, value);
    return gate_wrong(at, p, "found %s, expected %s", found, what);
}

enum status gate_not_among(const struct gate_place *at, const char *word, const char *const *known,
                           size_t count, struct problem *p)
{
    struct near near = {.word = word};
    char all[400] = "";
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(all);
        near_try(&near, known[i]);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", known[i]);
    }
    if (near.found)
        return gate_wrong(at, p, "found '%.60s', did you mean %s? It takes %s", word, near.found,
                          all);
    return gate_wrong(at, p, "found '%.60s', expected %s", word, all);
}
