/* From a name on a command line to what is under study. */
#ifndef ULPSCOPE_SUBJECT_H
#define ULPSCOPE_SUBJECT_H

#include "kernels/method.h"

/* A method of the registry, or a foreign one (experiments/foreign.h). STATUS_USAGE names `where`
 * the name was found and what there is of `operation`, which may be NULL: of any. The method lives
 * as long as the process. */
enum status subject_named(const struct method **m, const char *where, const char *name,
                          const struct operation *operation, struct problem *p);

/* The same of a method that reads nothing but arrays: where it takes keys too, STATUS_USAGE. */
enum status subject_keyless(const struct method **m, const char *where, const char *name,
                            const struct operation *operation, struct problem *p);

/* The same of a method that can be asked for one result after another, of elements and maybe their
 * keys; else STATUS_USAGE. */
enum status subject_askable(const struct method **m, const char *where, const char *name,
                            const struct operation *operation, struct problem *p);

/* The names in the registry of an operation or, where it is NULL, all, "sum/serial, sum/pairwise",
 * as far as they fit. */
void subject_names(char *text, size_t size, const struct operation *operation);

#endif
