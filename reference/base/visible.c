#include "reference/base/visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ESCAPE = 4 }; /* bytes of \xHH */

/* The character's number, and its bytes; 0 bytes where it is no UTF-8. */
static size_t decode(unsigned *code, const unsigned char *at)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t bytes = *at < 0x80 ? 1 : *at < 0xc0 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
    *code = bytes < 2 ? *at : *at & (0xffu >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (at[i] & 0x3fu);
    }
    bool good = *at < 0xf8 && bytes > 0 && *code >= least[bytes] && *code <= 0x10ffff &&
                !(*code >= 0xd800 && *code < 0xe000);
    return good ? bytes : 0;
}

/* Breaks lines, or turns the direction of what follows. */
static bool rearranges(unsigned code)
{
    return code == 0x61c || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

size_t visible_character(const char *text)
{
    unsigned code;
    size_t bytes = decode(&code, (const unsigned char *)text);
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || rearranges(code) ? 0 : bytes;
}

bool visible_all(const char *text)
{
    for (size_t bytes; *text; text += bytes)
        if (!(bytes = visible_character(text)))
            return false;
    return true;
}

static char *escape(char to[ESCAPE + 1], char byte)
{
    snprintf(to, ESCAPE + 1, "\\x%02x", (unsigned char)byte);
    return to;
}

void visible_text(char *to, size_t size, const char *text)
{
    while (*text) {
        char shown[ESCAPE + 1];
        size_t bytes = visible_character(text), length = bytes ? bytes : ESCAPE;
        if (length >= size)
            break;
        if (bytes)
            memcpy(to, text, bytes);
        else
            memcpy(to, escape(shown, *text), ESCAPE);
        text += bytes ? bytes : 1;
        to += length;
        size -= length;
    }
    if (size > 0)
        *to = 0;
}

/* The byte that \xHH stands for; -1 where this is none. */
static int escaped(const char *text)
{
    static const char digits[] = "0123456789abcdef";
    if (text[0] != '\\' || text[1] != 'x' || !text[2] || !text[3])
        return -1;
    const char *high = strchr(digits, text[2]), *low = strchr(digits, text[3]);
    return high && low ? (int)(16 * (high - digits) + (low - digits)) : -1;
}

/* Is it a formula to a spreadsheet? (`-` alone is standard input, and none.) */
static bool is_formula(const char *name)
{
    return *name && strchr("=+-@", *name) && name[1];
}

static char *escape_behind(const char *prefix, const char *text)
{
    char *whole = malloc(strlen(prefix) + ESCAPE * strlen(text) + 1);
    char *to = whole ? stpcpy(whole, prefix) : NULL;
    while (to && *text) {
        size_t bytes = escaped(text) >= 0 ? 0 : visible_character(text);
        if (bytes)
            memcpy(to, text, bytes);
        else
            escape(to, *text);
        to += bytes ? bytes : ESCAPE;
        text += bytes ? bytes : 1;
    }
    if (to)
        *to = 0;
    return whole;
}

char *visible_escape(const char *text)
{
    return escape_behind("", text);
}

char *visible_name(const char *name)
{
    return escape_behind(is_formula(name) ? "./" : "", name);
}

char *visible_unescape(const char *shown)
{
    char *whole = malloc(strlen(shown) + 1), *to = whole;
    for (; whole && *shown; to++) {
        int byte = escaped(shown);
        *to = byte < 0 ? *shown : (char)byte;
        shown += byte < 0 ? 1 : ESCAPE;
    }
    if (whole)
        *to = 0;
    return whole;
}

char *visible_named(const char *shown)
{
    bool formula = strncmp(shown, "./", 2) == 0 && is_formula(shown + 2);
    return visible_unescape(shown + (formula ? 2 : 0));
}
