/* How the names of subjects that are not ours are written. */
#pragma once

#include <stdbool.h>

bool name_is_program(const char *name); /* exec:COMMAND */
bool name_is_python(const char *name);  /* python:MODULE.FUNCTION, python:FILE.py:FUNCTION */
bool name_is_object(const char *name);  /* PATH.so[:NAME] */
bool name_is_mpi(const char *name);     /* mpi/NAME, mpich/NAME, nccl/NAME */
bool name_is_foreign(const char *name); /* any of these */

/* Does a foreign subject declare which formats it takes? A program does not: only its answers tell.
 */
bool name_is_described(const char *name);
