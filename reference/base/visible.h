/* Text that a terminal shows as it is: no control characters (ASCII and C1), no bytes that are not
 * UTF-8, nothing that breaks lines or turns the direction of writing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many bytes make the character that the text begins with; 0 where it is not to be shown, or
 * the text is empty. */
size_t visible_character(const char *text);

bool visible_all(const char *text);

/* Writes the text with \xHH for each byte that is not to be shown, cut between characters to fit.
 * What is visible stays as it is. */
void visible_text(char *to, size_t size, const char *text);

/* The same so that it can be undone, as JSON has paths: \xHH, too, for a backslash that would else
 * begin such an escape. The caller frees it; NULL when memory is short. */
char *visible_escape(const char *text);
char *visible_unescape(const char *shown);

/* A file's name for tables and CSV, and back: escaped, and ./ before one that a spreadsheet would
 * take for a formula: it begins with = + - @, and is more than that. */
char *visible_name(const char *name);
char *visible_named(const char *shown);

#ifdef __cplusplus
}
#endif
