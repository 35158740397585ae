/* The results directories of the ranks that share a study: OUT/ranks/0, OUT/ranks/1, ... */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reference/base/problem.h"

/* OUT/ranks, where they meet. The caller frees it; NULL when memory is short. */
char *fold_folder(const char *out);
/* OUT/ranks/2. The same. */
char *fold_rank(const char *out, uint32_t index);

/* Waits a moment for ranks of an earlier job that are about to end: STATUS_DATA where they do not.
 */
enum status fold_wait(const char *out, struct problem *p);

/* Removes the files by which they met: nothing is then left of the folder. */
void fold_end(const char *out);

/* Removes what ranks left there. */
enum status fold_drop(const char *out, struct problem *p);

struct part {
    uint32_t rank;
    char *path;
    json_t *study; /* NULL where it has none, and so no rows */
    size_t cases;  /* finished ones whose rows are taken from it; of a trial, subjects */
    size_t begun;  /* the same, not finished */
};

struct parts {
    struct part *part; /* ascending by rank */
    size_t count;
};

/* Those that are there, each of the same study. parts_free is due, also after failure. STATUS_DATA,
 * STATUS_USAGE. */
enum status parts_find(struct parts *f, const char *out, const json_t *study, struct problem *p);
void parts_free(struct parts *f);

/* Is there one of number `from` or above? */
bool parts_any(const struct parts *f, uint32_t from);

/* Adds what the study.json of those from number `from` on say of inputs and machines to `study`,
 * which is written to `path`. STATUS_DATA where inputs differ. */
enum status parts_join(const struct parts *f, json_t *study, const char *path, uint32_t from,
                       struct problem *p);

enum status parts_remove(const struct parts *f, uint32_t from, struct problem *p);
