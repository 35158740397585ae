/* Man pages and completion for shells, from the tables that --help prints. */
#pragma once

#include "experiments/options/options.h"

/* The man page, in roff, of a verb, or of the program where verb is NULL: to standard output. */
void manual_print(const struct verb *verb);

/* The script that completes command lines in `shell` (bash, zsh, fish), to standard output; for
 * `verbs` their names alone, for `names` what `list` takes. STATUS_USAGE for another. */
enum status completion_print(const char *shell, struct problem *p);
