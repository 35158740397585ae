/* Which options say something to which subjects. */
#include <string.h>

#include "experiments/check/check.h"
#include "experiments/options/options.h"

enum status check_computes(const struct method *m, const char *verb, const struct arguments *a,
                           struct problem *p)
{
    const char *name = argument_value(a, "operation");
    if (!name || strcmp(name, m->operation->name) == 0)
        return STATUS_OK;
    return problem(p, STATUS_USAGE,
                   "%s: found %s, of operation %s, with --operation %s, which is for exec: and "
                   "python: subjects: expected no --operation",
                   verb, m->name, m->operation->name, name);
}

enum status check_takes(const struct method *m, const struct arguments *a, struct problem *p)
{
    for (enum setting_option i = 0; i < SETTING_OPTIONS; i++)
        if (argument_value(a, setting_options[i].name) && !setting_read(m, i))
            return problem(p, STATUS_USAGE, "check: found %s with --%s, expected %s", m->name,
                           setting_options[i].name, setting_options[i].method);
    if (argument_value(a, "batch") && operation_sides(m->operation) == 0)
        return problem(p, STATUS_USAGE,
                       "check: found %s with --batch, expected a matrix product, or sums or "
                       "statistics of rows",
                       m->name);
    return check_computes(m, "check", a, p);
}
