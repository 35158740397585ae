/* Promises that the results of a study refute. Results that agree are no proof: that a promise is
 * kept only `check` says, which tries to break it. */
#pragma once

#include <jansson.h>

#include "experiments/cases/plan.h"
#include "reports/text/text.h"

struct tally;

/* Notes what the runs of one case refute: run_to_run by several results, correctly_rounded by an
 * error of more than half an ulp. */
void breaks_note(struct study_case *t, const struct tally *tally);

/* Notes what the finished cases refute beside each other: run_to_run by other results while the
 * device has other work, gpu_to_gpu by those of another launch shape or device, order_invariant by
 * those of the same elements in another order. */
void breaks_find(struct plan *plan);

/* "!" behind the results of a case, or the name of a method, that breaks its promise; else "". */
const char *breaks_mark(const struct study_case *t);
const char *breaks_mark_method(const struct plan *plan, const struct method *m);

/* Appends a line that names the methods that break their promise; nothing where none does. */
void breaks_headline(struct text *to, const struct plan *plan);

/* Appends a line for each method that breaks its promise: how its first case does, and how many
 * others do. */
void breaks_lines(struct text *to, const struct plan *plan);
/* The same for programs: an array; NULL when memory is short. */
json_t *breaks_json(const struct plan *plan);

/* STATUS_FAILED names the first method that breaks its promise. */
enum status breaks_status(const struct plan *plan, const char *out, struct problem *p);
