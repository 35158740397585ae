/* Files of results: only regular ones are read, and what is written whole replaces what was there.
 */
#pragma once

#include <stdio.h>

#include "reference/base/problem.h"

/* Opens a file for reading. STATUS_DATA where it cannot be, or is no regular file: a FIFO or a
 * device would keep the reader waiting for ever. */
enum status file_open(FILE **file, const char *path, struct problem *p);

/* Writes a file under a temporary name beside `path` (file_part) and renames that, so that at any
 * moment there is a whole file, also where several processes write it. STATUS_DATA leaves what was
 * there. */
enum status file_replace(const char *path, const char *bytes, size_t count, struct problem *p);
/* Could it be, as far as is known before there is something to write? */
enum status file_writable(const char *path, struct problem *p);

/* The same of a file that is of use to running processes alone: nobody waits until it is on the
 * disk. */
enum status file_replace_passing(const char *path, const char *bytes, size_t count,
                                 struct problem *p);

/* PATH.part, which a process that was killed may have left. The caller frees it; NULL when memory
 * is short. */
char *file_part(const char *path);
