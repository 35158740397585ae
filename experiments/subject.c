#include "experiments/subject.h"

#include "experiments/foreign.h"

#include <stdio.h>
#include <string.h>

void subject_names(char *text, size_t size, const struct operation *operation)
{
    *text = 0;
    for (size_t i = 0; i < method_count; i++) {
        size_t used = strlen(text);
        if (!operation || method_registry[i]->operation == operation)
            snprintf(text + used, size - used, "%s%s", used ? ", " : "", method_registry[i]->name);
    }
}

enum status subject_named(const struct method **m, const char *where, const char *name,
                          const struct operation *operation, struct problem *p)
{
    char known[512];
    if (foreign_is(name))
        return foreign_named(m, where, name, operation, p);
    *m = method_named(name);
    if (*m)
        return STATUS_OK;
    subject_names(known, sizeof known, operation);
    return problem(p, STATUS_USAGE,
                   "%s: found '%s', expected one of %s; or exec:COMMAND, or PATH.so:NAME", where,
                   name, known);
}

enum status subject_askable(const struct method **m, const char *where, const char *name,
                            const struct operation *operation, struct problem *p)
{
    enum status status = subject_named(m, where, name, operation, p);
    if (status != STATUS_OK || !(*m)->operation->mask)
        return status;
    return problem(p, STATUS_USAGE,
                   "%s: found %s, which takes %s, expected a method that reads elements, and maybe "
                   "their keys or how rows lie",
                   where, name, operation_takes((*m)->operation));
}

enum status subject_keyless(const struct method **m, const char *where, const char *name,
                            const struct operation *operation, struct problem *p)
{
    enum status status = subject_named(m, where, name, operation, p);
    if (status != STATUS_OK || operation_plain((*m)->operation))
        return status;
    return problem(p, STATUS_USAGE,
                   "%s: found %s, which takes %s, expected a method that reads elements alone",
                   where, name, operation_takes((*m)->operation));
}
