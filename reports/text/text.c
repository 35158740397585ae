#include "reports/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/format/number.h"
#include "reference/base/visible.h"

/* Room for `count` more bytes and a terminating zero. */
static bool reserve(struct text *t, size_t count)
{
    if (t->failed || count < t->capacity - t->length)
        return !t->failed;
    size_t capacity = 2 * t->capacity + count + 64;
    char *grown = realloc(t->data, capacity);
    t->failed = !grown;
    if (!grown)
        return false;
    t->data = grown;
    t->capacity = capacity;
    return true;
}

void text_append(struct text *t, const char *bytes, size_t count)
{
    if (count == 0 || !reserve(t, count))
        return;
    memcpy(t->data + t->length, bytes, count);
    t->length += count;
}

void text_add(struct text *t, const char *string)
{
    text_append(t, string, strlen(string));
}

void text_join(struct text *t, const struct text *from)
{
    t->failed |= from->failed;
    text_append(t, from->data, from->length);
}

void text_unsigned(struct text *t, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    text_append(t, digits + at, sizeof digits - at);
}

void text_format(struct text *t, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length >= 0 && reserve(t, (size_t)length)) {
        vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
        t->length += (size_t)length;
    }
    t->failed |= length < 0;
    va_end(again);
    va_end(arguments);
}

void text_field(struct text *t, const char *value)
{
    size_t length = strlen(value);
    bool blank = length > 0 && (strchr(" \t", value[0]) || strchr(" \t", value[length - 1]));
    if (!blank && !value[strcspn(value, ",\"\r\n")]) {
        text_append(t, value, length);
        return;
    }
    text_add(t, "\"");
    for (const char *c = value; *c; c++)
        text_append(t, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    text_add(t, "\"");
}

void text_visible(struct text *t, const char *string)
{
    size_t size = 4 * strlen(string) + 1;
    if (!reserve(t, size))
        return;
    visible_text(t->data + t->length, size, string);
    t->length += strlen(t->data + t->length);
}

void text_figure(struct text *t, struct figure f)
{
    char digits[NUMBER_TEXT];
    if (!f.known)
        return;
    number_decimal(digits, f.value);
    text_add(t, digits);
}

void text_wrapped(struct text *t, struct text *line, size_t width, size_t indent)
{
    const char *words = text_string(line);
    t->failed |= !words;
    words = words ? words : "";
    size_t column = strspn(words, " "), begin = column; /* of the words of this line */
    text_append(t, words, column);
    for (const char *at = words + column; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (column > begin && column + 1 + length > width) {
            text_format(t, "\n%*s", (int)indent, "");
            column = begin = indent;
        } else if (column > begin) {
            text_add(t, " ");
            column++;
        }
        text_append(t, at, length);
        column += length;
        at += length;
    }
    text_add(t, "\n");
    text_free(line);
}

const char *text_string(struct text *t)
{
    if (!reserve(t, 1))
        return NULL;
    t->data[t->length] = 0;
    return t->data;
}

void text_clear(struct text *t)
{
    t->length = 0;
    t->failed = false;
}

void text_free(struct text *t)
{
    free(t->data);
    *t = (struct text){0};
}
