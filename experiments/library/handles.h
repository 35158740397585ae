/* What the files of the library share. */
#pragma once

#include "experiments/library/ulpscope.h"
#include "kernels/method/method.h"

/* Hands a problem over; error may be NULL. */
enum ulpscope_status library_failed(struct ulpscope_error *error, const struct problem *p);

/* STATUS_USAGE unless it is one of the four. */
enum status library_format(enum ulpscope_format f, const char *what, struct problem *p);
enum status library_accumulator(enum ulpscope_format f, const char *what, struct problem *p);

/* The array as the rest of ulpscope knows it. STATUS_USAGE for no format, or no data. */
enum status library_array(struct array *to, const struct ulpscope_array *a, struct problem *p);
