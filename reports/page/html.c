#include "reports/page/html.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* How many bytes the character at `c` has; 0 where it is none of UTF-8, or a control character. */
static size_t character(const unsigned char *c)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t bytes = *c < 0x80                 ? 1
                   : *c >= 0xf0 && *c < 0xf5 ? 4
                   : *c >= 0xe0              ? 3
                   : *c >= 0xc2              ? 2
                                             : 0;
    unsigned code = *c < 0x80 ? *c : *c & (0x7fu >> bytes);
    if (*c >= 0xf5)
        return 0;
    for (size_t i = 1; i < bytes; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (c[i] & 0x3f);
    }
    bool control = (code < 0x20 && code != '\t' && code != '\n') || (code >= 0x7f && code < 0xa0),
         surrogate = code >= 0xd800 && code < 0xe000;
    return bytes == 0 || control || surrogate || code < least[bytes] || code > 0x10ffff ? 0 : bytes;
}

void html_text(struct text *to, const char *text)
{
    static const char special[] = "&<>\"'";
    static const char *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    while (*text) {
        const char *found = strchr(special, *text);
        size_t bytes = character((const unsigned char *)text);
        if (found)
            text_add(to, entity[found - special]);
        else if (bytes)
            text_append(to, text, bytes);
        else
            text_add(to, "\xef\xbf\xbd");
        text += bytes ? bytes : 1;
    }
}

static void format_text(struct text *to, const char *format, va_list arguments)
{
    char *plain;
    if (vasprintf(&plain, format, arguments) < 0) {
        to->failed = true;
        return;
    }
    html_text(to, plain);
    free(plain);
}

struct short_number short_number(double value)
{
    struct short_number n;
    snprintf(n.text, sizeof n.text, "%.3g", value);
    if (strchr(n.text, 'e') && fabs(value) >= 1 && fabs(value) < 999500)
        snprintf(n.text, sizeof n.text, "%.0f", strtod(n.text, NULL));
    return n;
}

void html_format(struct text *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    format_text(to, format, arguments);
    va_end(arguments);
}

void html_whole_numbers(struct text *to, const char *html, size_t length)
{
    static const char digits[] = "0123456789.";
    const char *end = html + length, *done = html;
    for (const char *at = html + 1; at + 2 < end; at++) {
        if (at[0] != 'e' || at[1] != '-' || !isdigit((unsigned char)at[-1]) ||
            !isdigit((unsigned char)at[2]))
            continue;
        const char *from = at, *behind = at + 2 + strspn(at + 2, digits);
        while (from > done && strchr(digits, from[-1]))
            from--;
        behind -= behind[-1] == '.'; /* of the sentence */
        text_append(to, done, (size_t)(from - done));
        text_add(to, "<span class=\"o\">");
        text_append(to, from, (size_t)(behind - from));
        text_add(to, "</span>");
        done = at = behind;
    }
    text_append(to, done, (size_t)(end - done));
}

void html_table_begin(struct html_table *t, struct text *to, const char *align)
{
    *t = (struct html_table){.to = to, .align = align};
    /* What a phone has no room for is scrolled to, which is said, and its first column stays. */
    text_format(to, "<div class=\"wide%s\" tabindex=\"0\"><table>\n",
                strlen(align) > 3 ? " many" : "");
}

void html_cell(struct html_table *t, const char *format, ...)
{
    size_t columns = strlen(t->align), column = t->cells % columns;
    bool head = t->cells < columns;
    va_list arguments;
    if (t->cells == 0)
        text_add(t->to, "<thead>");
    if (column == 0)
        text_add(t->to, "<tr>");
    text_add(t->to, head ? "<th" : "<td");
    text_add(t->to, t->align[column] == 'r' ? " class=\"r\">" : ">");
    va_start(arguments, format);
    format_text(t->to, format, arguments);
    va_end(arguments);
    text_add(t->to, head ? "</th>" : "</td>");
    t->cells++;
    if (column + 1 == columns)
        text_add(t->to, "</tr>\n");
    if (t->cells == columns)
        text_add(t->to, "</thead><tbody>\n");
}

void html_table_end(struct html_table *t)
{
    text_add(t->to, "</tbody></table></div>\n");
}
