/* How the names of subjects that are not ours are written. */
#pragma once

#include <stdbool.h>

bool name_is_program(const char *name); /* exec:COMMAND */
bool name_is_python(const char *name);  /* python:MODULE.FUNCTION, python:FILE.py:FUNCTION */
bool name_is_object(const char *name);  /* PATH.so[:NAME] */
bool name_is_mpi(const char *name);     /* mpi/NAME */
bool name_is_foreign(const char *name); /* any of these */

/* Of one that is foreign: does it say beforehand which formats it takes? Of a program all that is
 * known is what it answers. */
bool name_is_described(const char *name);
