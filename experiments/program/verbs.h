/* The verbs, each in a file of its name. */
#pragma once

#include "experiments/options/options.h"

extern const struct verb verb_bench, verb_check, verb_compare, verb_doctor, verb_gen, verb_kernels,
    verb_list, verb_recommend, verb_report, verb_reveal, verb_run, verb_serve, verb_sum;

/* Prints what --help of a verb prints, or of the program where verb is NULL. */
void help_print(const struct verb *verb);
