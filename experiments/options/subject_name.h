/* How the names of subjects that are not ours are written. */
#ifndef ULPSCOPE_OPTIONS_SUBJECT_NAME_H
#define ULPSCOPE_OPTIONS_SUBJECT_NAME_H

#include <stdbool.h>

bool name_is_program(const char *name); /* exec:COMMAND */
bool name_is_object(const char *name);  /* PATH.so[:NAME] */
bool name_is_foreign(const char *name); /* either */

#endif
