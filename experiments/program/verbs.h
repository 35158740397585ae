/* The verbs, each in a file of its name. */
#pragma once

#include "experiments/options/options.h"

extern const struct verb verb_bench, verb_check, verb_compare, verb_doctor, verb_gate, verb_gen,
    verb_kernels, verb_list, verb_merge, verb_recommend, verb_report, verb_reveal, verb_run,
    verb_serve, verb_sum;

/* STATUS_USAGE where an option names a file to be written that is read, or that another one writes.
 */
enum status inputs_spared(const struct arguments *a, struct problem *p);

/* Is this a rank that has nothing to do for a verb, which says so? *status is the verb's then. */
bool left_to_rank_0(const char *verb, enum status *status, struct problem *p);

/* Finishes the study in `out`, merged from `shards` shards, as `run` does one: table, derived
 * files, verdict. Nothing is run; a case that is missing is STATUS_DATA. The options of `a` say how
 * it is printed. */
enum status run_merged(const struct arguments *a, const char *out, uint32_t shards,
                       struct problem *p);

/* Prints what `list` takes, a line each: sections, the names in them, families of methods. Not the
 * names of devices, which take long to ask for. */
void list_put_names(void);

/* Prints what --help of a verb prints, or of the program where verb is NULL. */
void help_print(const struct verb *verb);
