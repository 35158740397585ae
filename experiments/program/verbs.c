#include "experiments/program/verbs.h"

const struct verb *const verbs[] = {
    &verb_list,    &verb_run,       &verb_gen,    &verb_sum,    &verb_bench,  &verb_check,
    &verb_compare, &verb_recommend, &verb_gate,   &verb_report, &verb_reveal, &verb_serve,
    &verb_kernels, &verb_merge,     &verb_doctor, NULL,
};
