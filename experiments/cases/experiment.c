#include "experiments/cases/experiment.h"
#include "reports/text/near.h"

#include <stdio.h>

bool experiment_takes(const struct experiment *e, const struct operation *o)
{
    bool takes = !e->operation[0] && (e->every || !operation_takes(o));
    for (size_t i = 0; i < EXPERIMENT_OPERATIONS && e->operation[i]; i++)
        takes |= e->operation[i] == o;
    return takes;
}

const struct operation *experiment_only(const struct experiment *e)
{
    return e->operation[1] ? NULL : e->operation[0];
}

const struct operation *experiment_operation(const char *name)
{
    const struct experiment *e;
    return experiment_named(&e, name, NULL) == STATUS_OK ? experiment_only(e) : NULL;
}

bool experiment_conds(const struct experiment *e)
{
    return e->axes[DEVICE_CPU].cond || e->axes[DEVICE_CUDA].cond;
}

bool experiment_times(const struct experiment *e)
{
    return e->axes[DEVICE_CPU].timed || e->axes[DEVICE_CUDA].timed;
}

bool experiment_loads(const struct experiment *e)
{
    return e->axes[DEVICE_CPU].load || e->axes[DEVICE_CUDA].load;
}

bool experiment_reads(const struct experiment *e, enum setting_option option)
{
    for (size_t i = 0; operations[i]; i++)
        if (experiment_takes(e, operations[i]) && operation_asks(operations[i], option))
            return true;
    return false;
}

enum columns_of experiment_columns(const struct experiment *e)
{
    enum columns_of of = COLUMNS_OF_SUMS;
    for (size_t i = 0; operations[i] && of == COLUMNS_OF_SUMS; i++)
        if (experiment_takes(e, operations[i]))
            of = operation_columns(operations[i]);
    return of;
}

void experiments_of(char *text, size_t size, const struct operation *o)
{
    *text = 0;
    for (size_t i = 0; experiments[i]; i++) {
        size_t used = strlen(text);
        if (experiments[i]->operation[0] && !experiments[i]->run &&
            experiment_takes(experiments[i], o))
            snprintf(text + used, size - used, "%s%s", used ? ", " : "", experiments[i]->name);
    }
}

void experiments_that(char *text, size_t size, bool (*are)(const struct experiment *e))
{
    *text = 0;
    for (size_t i = 0; experiments[i]; i++) {
        size_t used = strlen(text);
        if (are(experiments[i]))
            snprintf(text + used, size - used, "%s%s", used ? ", " : "", experiments[i]->name);
    }
}

enum status experiment_named(const struct experiment **e, const char *name, struct problem *p)
{
    struct text known = {0};
    struct near near = {.word = name};
    for (size_t i = 0; experiments[i]; i++) {
        *e = experiments[i];
        if (name && strcmp(name, (*e)->name) == 0) {
            text_free(&known);
            return STATUS_OK;
        }
        text_format(&known, "%s%s", i ? ", " : "", (*e)->name);
        if (name)
            near_try(&near, (*e)->name);
    }
    if (near.found) {
        text_free(&known);
        return problem(p, STATUS_USAGE,
                       "run: found the experiment '%s': did you mean %s? (ulpscope list "
                       "experiments has all)",
                       name, near.found);
    }
    const char *all = text_string(&known);
    enum status status =
        name ? problem(p, STATUS_USAGE,
                       "run: found the experiment '%s', expected one of %s (ulpscope list "
                       "experiments says what they are)",
                       name, all ? all : "")
             : problem(p, STATUS_USAGE,
                       "run: no experiment: expected one of %s (ulpscope list experiments says "
                       "what they are)",
                       all ? all : "");
    text_free(&known);
    return status;
}
