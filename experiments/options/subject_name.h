/* How the names of subjects that are not ours are written. */
#pragma once

#include <stdbool.h>

bool name_is_program(const char *name); /* exec:COMMAND */
bool name_is_object(const char *name);  /* PATH.so[:NAME] */
bool name_is_foreign(const char *name); /* either */
