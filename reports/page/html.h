/* HTML: text with what means something to HTML escaped, and tables. */
#pragma once

#include "reports/text/text.h"

/* Appends text for an element or an attribute in double quotes: & < > " ' as entities, control
 * characters and bytes that are no UTF-8 as U+FFFD. */
void html_text(struct text *to, const char *text);

/* Appends what printf makes of it, escaped. */
/* A number to three digits, without an exponent where it has no more than six before the point. */
struct short_number {
    char text[32];
};
struct short_number short_number(double value);

void html_format(struct text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends HTML, with numbers that no line is broken in: after the hyphen of 3.3e-08, say. */
void html_whole_numbers(struct text *to, const char *html, size_t length);

/* A table that is built cell by cell, row after row; the first row is the header. It scrolls
 * sideways by itself where the page is narrow. */
struct html_table {
    struct text *to;
    const char *align; /* a letter for each column: l left, r right */
    size_t cells;
};
void html_table_begin(struct html_table *t, struct text *to, const char *align);
void html_cell(struct html_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void html_table_end(struct html_table *t);
