/* What `check` says of a subject: text for people, JSON for programs. */
#pragma once

#include <jansson.h>

#include "experiments/check/check.h"
#include "reference/format/number.h"
#include "reports/text/text.h"

/* A verdict, its evidence, and what shows a break again: the shortest counterexample to the lowest
 * broken rung, or with `all` each. `program` begins the commands. */
void check_text(struct text *to, const struct check_report *r, const char *program, bool all);
/* Rows, as reports/columns/columns.h has them. */
void check_rows(struct text *to, const struct check_report *r, const char *program);
json_t *check_json(const struct check_report *r, const char *program);

/* --- what the files of this folder share --- */

enum { CHECK_TEXT = 256, CHECK_LONG = 2048 };
/* Attempts of each kind, or those of them that differed: "repeat 300, process 20". */
void check_kinds_text(char text[CHECK_TEXT], const struct check_report *r, enum promise rung,
                      bool differing);
/* Kinds without an attempt, and why: "device (no other device runs it), shape (...)". late: those
 * that time did not reach, alone. */
void check_untried_text(char text[CHECK_LONG], const struct check_report *r, enum promise rung,
                        bool late);
/* Was only part of the ladder tried? */
bool check_partly(const struct check_report *r);
/* Of --batch: the most numbers of rows that one case was tried with; ", batches of 1 to 4096 rows";
 * which of them gave which bits, in all tables or the first two; and that for programs. */
size_t check_batches_tried(const struct check_report *r);
void check_batches_words(struct text *to, const struct check_report *r);
void check_batches_text(struct text *to, const struct check_report *r, bool all);
json_t *check_batches_json(const struct check_report *r);
void check_batches_cell(struct text *to, const struct check_report *r);
/* All of them; or the shortest of the lowest rung that is broken, and that to the error bound. */
void check_witnesses_text(struct text *to, const struct check_report *r, const char *program,
                          bool all);
/* One of a witness's results: "0x3c00". */
void check_bits_text(char text[NUMBER_TEXT], const struct check_break *b, size_t which);
