/* study.json: what a results directory describes.
 *
 * An object with `schema_version`, `experiment`, `axes` (resolved: they alone say what is run),
 * `objects` where shared objects are among the methods (the fingerprints of their files),
 * `arguments`, `program`, `machine`, `inputs`, `started`, and `resumed` where that happened. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "reference/base/problem.h"

/* Reads and checks the schema version and the two entries that make a study. The caller
 * json_decrefs it. STATUS_DATA. */
enum status study_read(json_t **study, const char *path, struct problem *p);

/* Does a merge that has not ended write its rows? */
bool study_merging(const json_t *study);

/* False: out of memory. */
bool study_set_merging(json_t *study, bool merging);

/* Writes it under a temporary name beside `path` and renames that, so that at any moment there is
 * a whole file. */
enum status study_write(const json_t *study, const char *path, struct problem *p);

/* A path as study.json and other JSON has it (visible_escape); NULL when memory is short. */
json_t *study_path(const char *path);

/* STATUS_USAGE, with the first axis in which they differ, or the shared objects, where the studies
 * are not the same. */
enum status study_same(const json_t *found, const json_t *asked, const char *path,
                       struct problem *p);
