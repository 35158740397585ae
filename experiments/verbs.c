#include "experiments/verbs.h"

#include <stdio.h>

const struct verb *const verbs[] = {
    &verb_list,  &verb_run,     &verb_gen,       &verb_sum,    &verb_bench,
    &verb_check, &verb_compare, &verb_recommend, &verb_report, &verb_reveal,
    &verb_serve, &verb_kernels, &verb_doctor,    NULL,
};

const char *verb_names(void)
{
    static char names[256];
    *names = 0;
    for (size_t i = 0; verbs[i]; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", verbs[i]->name);
    }
    return names;
}
