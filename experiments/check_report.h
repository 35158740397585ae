/* What `check` says of a subject: text for people, JSON for programs. */
#ifndef ULPSCOPE_CHECK_REPORT_H
#define ULPSCOPE_CHECK_REPORT_H

#include <jansson.h>

#include "experiments/check.h"
#include "reports/text.h"

/* "kept", "broken", "failed" (the subject, in an attempt), or "not tried". */
const char *check_verdict(const struct check_report *r, enum promise rung);

/* `program` begins the commands. STATUS_DEVICE when memory is short. */
void check_text(struct text *to, const struct check_report *r, const char *program);
json_t *check_json(const struct check_report *r, const char *program);

#endif
