/* What is wrong in a manifest, and where. */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "reference/base/problem.h"

/* Where in the manifest: "gate.json: subjects[2].promise". */
struct gate_place {
    const char *path;
    size_t index; /* SIZE_MAX: the manifest's own members */
    const char *member;
};
void gate_place_text(char text[512], const struct gate_place *at);

/* Each is STATUS_USAGE, with the place in front. A member: */
enum status gate_wrong(const struct gate_place *at, struct problem *p, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The value of a member, where `what` was expected: */
enum status gate_expected(const struct gate_place *at, const json_t *value, const char *what,
                          struct problem *p);
/* A word that is not among `known`, with the nearest of these: */
enum status gate_not_among(const struct gate_place *at, const char *word, const char *const *known,
                           size_t count, struct problem *p);
