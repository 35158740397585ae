/* The verbs, each in its verb_NAME.c. */
#ifndef ULPSCOPE_VERBS_H
#define ULPSCOPE_VERBS_H

#include "experiments/options.h"

extern const struct verb verb_bench, verb_check, verb_compare, verb_doctor, verb_gen, verb_kernels,
    verb_list, verb_recommend, verb_report, verb_reveal, verb_run, verb_serve, verb_sum;

/* "list, run, ..." */
const char *verb_names(void);

/* Does this verb take this option? */
bool option_of(const struct option_spec *spec, const struct verb *verb);

#endif
