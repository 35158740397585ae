/* What gnuplot draws, made fit to stand with other pictures in one page. */
#include <stdio.h>

#include "reports/page/report.h"

/* Behind the white space at `at`. */
static const char *past_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static bool begins(const char *at, const char *with)
{
    return strncmp(at, with, strlen(with)) == 0;
}

/* Behind the definition of a mark that nothing in the picture refers to; `at` where there is none.
 */
static const char *past_mark(const char *svg, const char *at)
{
    const char *end = *at == '<' ? strchr(at, '>') : NULL, *id = end ? strstr(at, " id='gp") : NULL;
    char reference[32];
    if (!id || id > end)
        return at;
    id += strlen(" id='");
    snprintf(reference, sizeof reference, "'#%.*s'", (int)strcspn(id, "'"), id);
    return strstr(svg, reference) ? at : past_space(end + 1);
}

/* Behind what says nothing at `at`: groups of nothing, attributes that have the default's value, a
 * font that browsers do not know by this name, so that the page's is better, filters for text in
 * boxes, of which no picture of ours has any; `at` where there is none. */
static const char *past_nothing(const char *at)
{
    static const char *const attribute[] = {" stroke-linecap=\"butt\"",
                                            " stroke-linejoin=\"miter\"", " stroke-width=\"1.00\"",
                                            " font-family=\"sans\""};
    const char *end = begins(at, "<filter") ? strstr(at, "</filter>") : NULL;
    if (end)
        return past_space(end + strlen("</filter>"));
    end = begins(at, "<g ") ? strchr(at, '>') : NULL;
    if (end && begins(past_space(end + 1), "</g>"))
        return past_space(past_space(end + 1) + strlen("</g>"));
    for (size_t i = 0; i < sizeof attribute / sizeof *attribute; i++)
        if (begins(at, attribute[i]))
            return at + strlen(attribute[i]);
    return at;
}

void plot_svg(struct text *to, const char *svg, const char *name, size_t panel)
{
    static const char *const id[] = {"gpPt", "gpDot", "gnuplot_canvas"};
    for (const char *at = svg; *at;) {
        const char *next = past_mark(svg, past_nothing(at));
        if (next > at) {
            at = next;
            continue;
        }
        bool quoted = at > svg && strchr("'\"#", at[-1]);
        for (size_t i = 0; quoted && i < sizeof id / sizeof *id; i++)
            if (begins(at, id[i]))
                text_format(to, "%s%zu-", name, panel);
        text_append(to, at++, 1);
    }
}
