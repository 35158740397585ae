/* What is said of a subject on special inputs: a table for people, JSON, CSV, and files with what
 * shows a finding. */
#pragma once

#include <jansson.h>

#include "experiments/conformance/run.h"
#include "reports/csv/file.h"
#include "reports/text/text.h"

/* Appends the table, what was noted, and every finding with the command that shows it again.
 * folder: where conformance_report_write put the inputs, or NULL. */
void conformance_report_text(struct text *to, const struct conformance_report *r,
                             const char *folder);

/* Appends which lengths were refused and why; nothing where none was. */
void conformance_report_refused(struct text *to, const struct conformance_report *r);

/* The same as an object; NULL when memory is short. */
json_t *conformance_report_json(const struct conformance_report *r, const char *folder);

/* special.csv: a row for each class in each pair of formats. */
extern const struct column *special_column(size_t i);
enum { SPECIAL_COLUMNS = 24 };
void conformance_report_csv(struct text *to, const struct conformance_report *r,
                            const char *folder);

/* Writes the shrunk inputs into a folder that is there. */
enum status conformance_report_write(const struct conformance_report *r, const char *folder,
                                     struct problem *p);

/* Appends the command that runs and judges a finding's input again: its file or, without a folder,
 * a pipe that prints it; all of the check, where no pipe of bearable length does. */
void conformance_command(struct text *to, const struct conformance_report *r, size_t class,
                         const char *folder);
/* The file of a finding's input. */
void conformance_file(struct text *to, const struct conformance_report *r, size_t class,
                      const char *folder);

/* Writes a program that shows the first finding without ulpscope
 * (experiments/check/reproducer/reproducer.h). */
struct reproducer_said;
enum status conformance_reproduce(const char *file, const struct conformance_report *r,
                                  struct reproducer_said *said, struct problem *p);

/* A class's name, or that of the input asked for. */
const char *conformance_report_class(const struct conformance_report *r, size_t class);
/* Of all classes: how many, without a note or a finding. */
struct conformance_tally conformance_report_total(const struct conformance_report *r);
