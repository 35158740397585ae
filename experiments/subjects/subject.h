/* From a name on a command line to what is under study. */
#pragma once

#include "kernels/method/method.h"

/* A method of the registry, one compiled with another release (experiments/subjects/release.h), or
 * a foreign one (experiments/subjects/foreign.h). STATUS_USAGE names
 * `where` the name was found and what there is of `operation`, which may be NULL: of any. The
 * method lives as long as the process. */
enum status subject_named(const struct method **m, const char *where, const char *name,
                          const struct operation *operation, struct problem *p);

/* The same of a method that can be asked for one result after another, of elements and maybe their
 * keys; else STATUS_USAGE. */
enum status subject_askable(const struct method **m, const char *where, const char *name,
                            const struct operation *operation, struct problem *p);

/* The fingerprint of the shared object that it was loaded from; NULL where there is none. */
const char *subject_fingerprint(const struct method *m);

/* XXH3-128 of what is in a file, as 32 hexadecimal digits; false: it could not be read, as errno
 * says. */
bool subject_hash_file(char text[33], const char *path);

/* Appends the families of methods, which is what their names say before the '/', of an operation
 * or, where it is NULL, of all: "sum/..., cub/...". What is in the text already is left out. */
void subject_families(char *text, size_t size, const struct operation *operation);
enum { SUBJECT_NAMES = 640 }; /* holds all of these; also the names of the largest family */
