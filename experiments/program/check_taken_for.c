#include "experiments/program/check_taken_for.h"

#include "experiments/subjects/foreign.h"

static const struct operation *by_options(const struct arguments *a, const struct setting_axes *s)
{
    const char *name = argument_value(a, "operation");
    bool keys = s->keys > 0 || s->bins.count > 0, rows = s->rows.count > 0 || s->layouts > 0;
    return name                        ? operation_named(name)
           : argument_value(a, "scan") ? operation_asking(SETTING_SCAN)
           : keys                      ? operation_asking(SETTING_KEYS)
           : rows                      ? operation_asking(SETTING_ROWS)
           : s->shapes > 0             ? operation_asking(SETTING_SHAPE)
                                       : NULL;
}

const struct operation *check_taken_for(const struct arguments *a, const struct setting_axes *s,
                                        const char *subject)
{
    const struct operation *asked = by_options(a, s), *said = foreign_says(subject);
    if (!said || argument_value(a, "operation"))
        return asked;
    for (enum setting_option i = 0; i < SETTING_OPTIONS; i++)
        if (argument_value(a, setting_options[i].name) && !operation_asks(said, i))
            return asked;
    return said;
}
