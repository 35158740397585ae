/* Text that grows, and the fields of a CSV row in it. */
#pragma once

#include "reference/measure/measure.h"

/* Zero-initialised is empty. After a failed allocation `failed` stays set and appending does
 * nothing: whoever uses the text asks once, at the end. */
struct text {
    char *data; /* not terminated; text_string gives it as a C string */
    size_t length, capacity;
    bool failed;
};

void text_append(struct text *t, const char *bytes, size_t count);
void text_add(struct text *t, const char *string);
void text_join(struct text *t, const struct text *from);
void text_unsigned(struct text *t, uint64_t value);
void text_format(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What a noun ends with: "1 row", "2 rows". */
static inline const char *text_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* A field as RFC 4180 has it: in quotes, quotes doubled, where it holds a comma, a quote, a line
 * break, or a blank at either end (which readers may strip). */
void text_field(struct text *t, const char *value);

/* What comes from outside, for a terminal: \xHH for what is not to be shown. */
void text_visible(struct text *t, const char *string);

/* A number as the columns have it, or nothing where it is not known. */
void text_figure(struct text *t, struct figure f);

/* Moves a line over, and a line break: broken at blanks so that no line is wider, all but the
 * first, which keeps the blanks that it begins with, indented. A word that is wider stands alone.
 */
void text_wrapped(struct text *t, struct text *line, size_t width, size_t indent);

/* The text with a terminating zero, or NULL where it failed. Valid until the next append. */
const char *text_string(struct text *t);

void text_clear(struct text *t); /* empty, memory kept */
void text_free(struct text *t);
