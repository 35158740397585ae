/* Text in a picture: names, quoted for gnuplot and as long as there is room. */
#include <stdio.h>

#include "reports/page/report.h"

void plot_quote(struct text *to, const char *text)
{
    text_add(to, "'");
    for (; *text; text++)
        if ((unsigned char)*text >= ' ')
            text_append(to, *text == '\'' ? "''" : text, *text == '\'' ? 2 : 1);
    text_add(to, "'");
}

/* Is it behind the first byte of a character of UTF-8? */
static bool within_character(char byte)
{
    return (byte & 0xc0) == 0x80;
}

static void shorten(struct text *to, const char *text, size_t longest)
{
    size_t length = strlen(text), half = longest / 2, rest = length - (longest - half - 1);
    if (length <= longest) {
        text_add(to, text);
        return;
    }
    while (half > 0 && within_character(text[half]))
        half--;
    while (within_character(text[rest]))
        rest++;
    text_append(to, text, half);
    text_add(to, "…");
    text_add(to, text + rest);
}

void plot_label(struct text *to, const char *text, size_t longest)
{
    struct text label = {0};
    shorten(&label, text, longest);
    plot_quote(to, text_string(&label) ? text_string(&label) : "");
    text_free(&label);
}

void plot_axis_name(struct text *to, const char *text, size_t longest)
{
    struct text name = {0}, label = {0};
    shorten(&name, text, longest);
    for (const char *at = text_string(&name); at && *at; at++)
        text_append(&label, *at == '%' ? "%%" : at, *at == '%' ? 2 : 1);
    plot_quote(to, text_string(&label) ? text_string(&label) : "");
    text_free(&name);
    text_free(&label);
}

const char *plot_line(struct text *to, const char *text, size_t longest)
{
    char line[128];
    const char *end = text + strnlen(text, longest);
    while (end > text + 1 && within_character(*end))
        end--;
    snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
    plot_quote(to, line);
    return end;
}

/* The width of a text in digits, estimated for the widest font that a browser may choose. */
static double width_of(const char *text)
{
    double width = 0;
    for (; *text; text++)
        width += strchr("mwMW@%", *text)           ? 1.55
                 : strchr("ijlI.,:;'|/() ", *text) ? 0.6
                 : *text >= 'A' && *text <= 'Z'    ? 1.15
                                                   : 1;
    return width;
}

double plot_room(const char *label)
{
    return 0.04 + 7.0 / 420 * width_of(label);
}
