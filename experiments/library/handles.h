/* What the files of the library share. */
#pragma once

#include "experiments/library/ulpscope.h"
#include "kernels/method/method.h"

/* Hands a problem over; error may be NULL. */
enum ulpscope_status library_failed(struct ulpscope_error *error, const struct problem *p);

/* Fills in a struct of the caller's that has `size` bytes: of the library's, which has `has` and
 * had `least` in 0.2.0. STATUS_USAGE if it has less than that. */
enum status library_give(void *to, size_t size, const void *from, size_t has, size_t least,
                         const char *what, struct problem *p);

/* Up to a member that was the last in 0.2.0, with what padding this needed. */
#define LIBRARY_0_2(type, last, before)                                                            \
    ((offsetof(type, last) + sizeof((type *)0)->last + sizeof(before) - 1) / sizeof(before) *      \
     sizeof(before))

/* STATUS_USAGE unless it is one of the four. */
enum status library_format(enum ulpscope_format f, const char *what, struct problem *p);
enum status library_accumulator(enum ulpscope_format f, const char *what, struct problem *p);

/* The array as the rest of ulpscope knows it. STATUS_USAGE for no format, or no data. */
enum status library_array(struct array *to, const struct ulpscope_array *a, struct problem *p);
