/* Pictures: a script and its data, which stay, and what gnuplot makes of them. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reports/page/report.h"
#include "reports/text/file.h"

/* --- What gnuplot draws, made fit to stand with other pictures in one page --- */

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

/* What a page writes shorter than gnuplot does, the longer of two that begin alike first: groups by
 * a class, colours by the page's names for them, so that a dark page has others; nothing for an
 * attribute with the default's value, a font that browsers do not know by this name, white space.
 */
static const struct {
    const char *from, *to;
} shorter[] = {
    {"<g fill=\"none\" color=\"black\" stroke=\"currentColor\"", "<g class=\"k\""},
    {"<g fill=\"none\" color=\"gray\" stroke=\"currentColor\"", "<g class=\"k\""},
    {" stroke=\"none\" fill=\"black\"", " class=\"t\""},
    {" stroke=\"none\" fill=\"rgb(0,0,1)\"", " class=\"d\""},
    {"  '/>", "'/>"},
    {"fill = ", "fill="},
    {"points = ", "points="},
    {" '/>", "'/>"},
    {"rgb(  0, 114, 178)", "var(--c1)"},
    {"rgb(204,  78,   0)", "var(--c2)"},
    {"rgb(  0, 143, 105)", "var(--c3)"},
    {"rgb(190,  90, 146)", "var(--c4)"},
    {"rgb( 58, 150, 204)", "var(--c5)"},
    {"rgb(186, 126,   0)", "var(--c6)"},
    {"rgb(  0,   0,   0)", "var(--ink)"},
    {"rgb(118, 118, 118)", "var(--c8)"},
    {"rgb(122,  68, 160)", "var(--c9)"},
    {"rgb(  0,  57,  89)", "var(--d1)"},
    {"rgb(102,  39,   0)", "var(--d2)"},
    {"rgb(  0,  72,  52)", "var(--d3)"},
    {"rgb( 95,  45,  73)", "var(--d4)"},
    {"rgb( 29,  75, 102)", "var(--d5)"},
    {"rgb( 93,  63,   0)", "var(--d6)"},
    {"rgb( 89,  89,  89)", "var(--d7)"},
    {"rgb( 59,  59,  59)", "var(--d8)"},
    {"rgb( 61,  34,  80)", "var(--d9)"},
    {"rgb(187, 187, 187)", "var(--other)"},
    {"rgb(170, 170, 170)", "var(--line)"},
    {"rgb(136, 136, 136)", "var(--dim)"},
    {" stroke-linecap=\"butt\"", ""},
    {" stroke-linejoin=\"miter\"", ""},
    {" stroke-width=\"1.00\"", ""},
    {" font-family=\"sans\"", ""},
    {" class=\"gridline\"", ""},
    {"<tspan >", "<tspan>"},
    {"xlink:href", "href"},
    {"\n\t\t", "\n"},
    {"\n\t", "\n"},
    {"\n\n", "\n"},
};

/* Behind what says nothing at `at`: groups and text of nothing, filters for text in boxes, of which
 * no picture of ours has any, gnuplot's title and description; `at` where there is none. */
static const char *past_nothing(const char *at)
{
    static const char *const element[][2] = {
        {"<filter", "</filter>"}, {"<title>", "</title>"}, {"<desc>", "</desc>"}};
    static const char *const empty[][2] = {{"<g ", "</g>"}, {"<tspan ", "</tspan>"}};
    for (size_t i = 0; i < sizeof element / sizeof *element; i++) {
        const char *end = begins(at, element[i][0]) ? strstr(at, element[i][1]) : NULL;
        if (end)
            return past_space(end + strlen(element[i][1]));
    }
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        const char *end = begins(at, empty[i][0]) ? strchr(at, '>') : NULL;
        if (end && begins(past_space(end + 1), empty[i][1]))
            return past_space(past_space(end + 1) + strlen(empty[i][1]));
    }
    return at;
}

/* Writes shorter what is at `at`, and returns what is behind it; `at` where that is as it was. */
static const char *add_shorter(struct text *to, const char *at)
{
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++)
        if (begins(at, shorter[i].from)) {
            text_add(to, shorter[i].to);
            return at + strlen(shorter[i].from);
        }
    return at;
}

/* Behind a fraction of two digits in a tag, of which the first is enough; `at` where there is none.
 */
static const char *add_fraction(struct text *to, const char *at)
{
    bool two = *at == '.' && isdigit((unsigned char)at[1]) && isdigit((unsigned char)at[2]) &&
               !isdigit((unsigned char)at[3]);
    if (two && at[1] != '0')
        text_append(to, at, 2);
    return two ? at + 3 : at;
}

/* Marks of one colour that follow each other: it is said once, by a group around them. */
struct marks {
    const char *colour; /* in gnuplot's text, up to a quote; NULL: there is no group */
};

static const char mark_colour[] = " color='";

/* Where the colour of the mark at `at` is said; NULL: there is no mark. */
static const char *colour_of(const char *at)
{
    const char *end = begins(at, "<use ") ? strchr(at, '>') : NULL,
               *colour = end ? strstr(at, mark_colour) : NULL;
    return colour && colour < end ? colour + strlen(mark_colour) : NULL;
}

/* Ends and begins groups at a tag. */
static void group_marks(struct text *to, struct marks *m, const char *at)
{
    const char *colour = colour_of(at);
    size_t length = colour ? strcspn(colour, "'") + 1 : 0;
    if (colour && m->colour && strncmp(colour, m->colour, length) == 0)
        return;
    text_add(to, m->colour ? "</g>" : "");
    m->colour = colour;
    if (!colour)
        return;
    text_add(to, "<g color='");
    for (const char *end = colour + length; colour < end;) {
        const char *next = add_shorter(to, colour);
        if (next == colour)
            text_append(to, next++, 1);
        colour = next;
    }
    text_add(to, ">");
}

/* Appends the picture of a panel, from what follows "<svg" on: ids that gnuplot gives in every file
 * get names of their own, and what says nothing is left out. */
static void plot_svg(struct text *to, const char *svg, const char *name, size_t panel)
{
    static const char *const id[][2] = {{"gpPt", "p"}, {"gpDot", "d"}, {"gnuplot_canvas", "c"}};
    struct marks marks = {0};
    bool tag = true;
    for (const char *at = svg; *at;) {
        const char *next = past_mark(svg, past_nothing(at));
        tag = *at == '<' || (tag && *at != '>');
        if (next == at && *at == '<')
            group_marks(to, &marks, at);
        if (next == at && marks.colour && begins(at, mark_colour))
            next = at + strlen(mark_colour) + strcspn(at + strlen(mark_colour), "'") + 1;
        bool quoted = at > svg && strchr("'\"#", at[-1]);
        for (size_t i = 0; next == at && quoted && i < sizeof id / sizeof *id; i++)
            if (begins(at, id[i][0])) {
                text_format(to, "%s%zu-%s", name, panel, id[i][1]);
                next += strlen(id[i][0]);
            }
        if (next == at && tag)
            next = add_fraction(to, at);
        if (next == at)
            next = add_shorter(to, at);
        if (next == at)
            text_append(to, next++, 1);
        at = next;
    }
}

/* Colours after Okabe and Ito, which the colour-blind tell apart too, each dark enough on a light
 * page; the page has its own for dark ones (`shorter`). Marks differ as well. `form` may be given:
 * gnuplot -e "form='pdf'" NAME.gp. A pdf or png has the size of the page's picture in points. */
static const char preamble[] =
    "# Written by `ulpscope report`. Draws its pictures anew: gnuplot %s.gp (5.4 or later);\n"
    "# for a paper: gnuplot -e \"form='pdf'\" %s.gp, or 'png'\n"
    "set encoding utf8\n"
    "array colour[9] = [0x0072b2, 0xcc4e00, 0x008f69, 0xbe5a92, 0x3a96cc, 0xba7e00, 0x000000, \\\n"
    "    0x767676, 0x7a44a0]\n"
    "array shade[9] = [0x003959, 0x662700, 0x004834, 0x5f2d49, 0x1d4b66, 0x5d3f00, 0x595959, \\\n"
    "    0x3b3b3b, 0x3d2250]\n"
    "array mark[13] = [7, 5, 9, 13, 6, 4, 8, 12, 11, 15, 10, 14, 2]\n"
    "array hollow[13] = [6, 4, 8, 12, 6, 4, 8, 12, 10, 14, 10, 14, 2]\n"
    "do for [m = 1 : 52] {\n"
    "    set linetype m linecolor rgb colour[(m - 1) %% 9 + 1] linewidth 1.5 \\\n"
    "        pointtype mark[(m - 1) %% 13 + 1] pointsize 0.6\n"
    "}\n"
    "if (!exists('form')) form = 'svg'\n"
    "begin(k, h) = (form eq 'pdf' ? sprintf(\"set terminal pdfcairo size %%.3fin, %%.3fin enhanced "
    "\" "
    ". \\\n"
    "    \"font 'sans,13' fontscale 0.75\", 420 / 72.0, h / 72.0) : form eq 'png' ? \\\n"
    "    sprintf(\"set terminal pngcairo size 1260, %%d enhanced font 'sans,13' fontscale 2.25 "
    "linewidth 3 \" . \\\n"
    "    \"pointscale 3\", 3 * h) : sprintf(\"set terminal svg size 420, %%d dynamic enhanced \" . "
    "\\\n"
    "    \"font 'sans,13' name '%s%%d'\", h, k)) . \\\n"
    "    sprintf(\"; set output '%s-%%d.%%s'\", k, form)\n"
    "set grid linecolor rgb 0xaaaaaa linewidth 0.4\nunset mxtics\nunset mytics\n"
    "set key below Left reverse samplen 2 spacing 1.1 noenhanced maxcols 2 font 'sans,12'\n";

void plot_begin(struct plot *p, const char *name, const char *columns)
{
    *p = (struct plot){.name = name};
    text_format(&p->script, preamble, name, name, name, name);
    text_format(&p->data, "# What %s.gp draws, written by `ulpscope report`.\n", name);
    text_format(&p->rows, "%s\n", columns);
}

static void next_cell(struct plot *p)
{
    text_add(&p->rows, p->begun ? "," : "");
    p->begun = true;
}

void plot_cell(struct plot *p, const char *text)
{
    next_cell(p);
    text_field(&p->rows, text);
}

void plot_number(struct plot *p, double value)
{
    next_cell(p);
    bool whole = value == floor(value) && fabs(value) < 1e15;
    if (!isnan(value))
        text_format(&p->rows, whole ? "%.0f" : "%.17g", value);
}

void plot_row_end(struct plot *p)
{
    text_add(&p->rows, "\n");
    p->begun = false;
}

void plot_panel(struct plot *p, double height, const char *title)
{
    text_add(&p->title[p->panels++], title);
    p->least = p->panels == 1 ? height : fmin(p->least, height);
    p->most = fmax(p->most, height);
    text_format(&p->script, "\neval begin(%zu, %.0f)\n", p->panels, height);
}

void plot_map(struct plot *p, const struct plot_map *map)
{
    text_format(
        &p->script,
        "set lmargin at screen %.3f\nset rmargin at screen 0.99\nset tmargin at screen %.4f\n"
        "set bmargin at screen %.4f\nset xrange [-0.5 : %zu.5]\nset yrange [%zu.5 : -0.5]\n"
        "set xlabel '%s' offset 0,%.1f\nunset ylabel\nset cbrange [0 : 1]\n"
        "unset colorbox\nset palette defined (0 '#440154', 0.25 '#3b528b', 0.5 '#21918c', "
        "\\\n    0.75 '#5ec962', 1 '#fde725')\n"
        "plot '%s.dat' index %zu using 1:2:(0.48):(0.46):3 with boxxyerror fillstyle solid "
        "\\\n    noborder linecolor palette, \\\n"
        "    '' index %zu using 1:2:(stringcolumn(4)):($3 > 0.5 ? 0x000001 : 0xffffff) "
        "with labels \\\n    textcolor rgb variable font 'sans,10'\n",
        map->beside, 1 - map->above, map->below, map->columns - 1, map->rows - 1, map->x_label,
        -map->drop, p->name, map->block, map->block);
}

size_t plot_data_end(struct plot *p)
{
    text_add(&p->data, "\n\n");
    return p->blocks++;
}

static enum status write_file(const struct page *r, const char *name, const char *ending,
                              const struct text *text, struct problem *p)
{
    char *path;
    if (text->failed || asprintf(&path, "%s/%s.%s", r->folder, name, ending) < 0)
        return problem(p, STATUS_MEMORY, "%s: out of memory", r->folder);
    enum status status = file_replace(path, text->data, text->length, p);
    free(path);
    return status;
}

/* Runs gnuplot on a script in the folder, which draws in a form: svg, pdf or png. */
static bool run_gnuplot(struct page *r, const char *name, const char *form)
{
    extern char **environ;
    char script[64], given[32];
    int exited = 0;
    pid_t pid;
    posix_spawn_file_actions_t actions;
    snprintf(script, sizeof script, "%s.gp", name);
    snprintf(given, sizeof given, "form='%s'", form);
    char *const argv[] = {"gnuplot", "-e", given, script, NULL};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, r->folder);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    int error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        problem(&r->undrawn, STATUS_DATA,
                "gnuplot: %s: the page has tables and no pictures; install gnuplot-nox",
                strerror(error));
        return false;
    }
    while (waitpid(pid, &exited, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(exited) && WEXITSTATUS(exited) == 0)
        return true;
    problem(&r->undrawn, STATUS_DATA, "%s/%s: gnuplot ended with %s %d, expected exit status 0",
            r->folder, script, WIFEXITED(exited) ? "exit status" : "signal",
            WIFEXITED(exited) ? WEXITSTATUS(exited) : WTERMSIG(exited));
    return false;
}

static char *read_file(const char *path)
{
    struct text text = {0};
    char block[1 << 16];
    size_t got;
    FILE *file = fopen(path, "re");
    while (file && (got = fread(block, 1, sizeof block, file)) > 0)
        text_append(&text, block, got);
    if (file)
        fclose(file);
    char *all = file && text_string(&text) ? strdup(text_string(&text)) : NULL;
    text_free(&text);
    return all;
}

/* The picture without what is said before it of XML, with a text for who cannot see it. */
static bool add_panel(struct text *to, struct plot *p, struct page *r, size_t panel)
{
    char *path;
    const char *title = text_string(&p->title[panel - 1]);
    if (asprintf(&path, "%s/%s-%zu.svg", r->folder, p->name, panel) < 0)
        return false;
    char *svg = read_file(path), *begin = svg ? strstr(svg, "<svg") : NULL;
    bool good = begin && strstr(begin, "</svg>");
    if (good) {
        text_add(to, "<figure><figcaption>");
        html_text(to, title);
        text_add(to, "</figcaption>\n<svg role=\"img\" aria-label=\"");
        html_text(to, title);
        text_add(to, "\"");
        plot_svg(to, begin + strlen("<svg"), p->name, panel);
        text_add(to, "</figure>\n");
    } else {
        problem(&r->undrawn, STATUS_DATA, "%s: found no whole picture, expected one by gnuplot",
                path);
    }
    free(svg);
    free(path);
    return good;
}

/* How the picture is to be read, and what it is made of. */
static void add_caption(struct text *to, const struct plot *p, const char *caption)
{
    text_format(to,
                "<p class=\"how\">%s</p>\n<p class=\"how\">Data: <a href=\"%s.csv\">%s.csv</a>; "
                "drawn by <code>gnuplot %s.gp</code>, beside this page.</p>\n",
                caption, p->name, p->name, p->name);
}

/* The first picture of a page stands beside its findings, as far as its first panel goes. */
static void add_picture(struct plot *p, struct page *r, const char *heading, const char *caption)
{
    bool first = r->drawn == 0;
    struct text *to = first ? &r->hero : &r->pictures;
    text_format(to, "<section id=\"%s\"><h2>", p->name);
    html_text(to, heading);
    text_add(to, "</h2>\n");
    if (first) {
        r->drawn += add_panel(to, p, r, 1);
        text_add(to, "<div class=\"said\">\n");
        add_caption(to, p, caption);
        text_add(to, "</div>\n</section>\n");
        to = &r->pictures;
    }
    if (first && p->panels > 1) {
        text_format(to, "<section id=\"%s-more\"><h2>", p->name);
        html_text(to, heading);
        text_add(to, ": more</h2>\n");
    }
    bool alone = !first && p->panels == 1; /* what is said of it stands beside it */
    if (alone)
        text_add(to, "<div class=\"alone\">\n");
    else if (!first || p->panels > 1)
        text_format(to, "<div class=\"panels%s\">\n",
                    p->most > 1.5 * p->least && p->most > p->least + 100 ? " uneven" : "");
    for (size_t i = first ? 2 : 1; i <= p->panels; i++)
        r->drawn += add_panel(to, p, r, i);
    text_add(to, alone ? "<div>\n" : !first || p->panels > 1 ? "</div>\n" : "");
    if (!first)
        add_caption(to, p, caption);
    text_add(to, alone ? "</div>\n</div>\n" : "");
    text_add(to, !first || p->panels > 1 ? "</section>\n" : "");
}

/* Has gnuplot draw the picture as svg, for the page, and as what else was asked for. */
static bool draw_forms(struct page *r, const char *name)
{
    static const char *const form[] = {"pdf", "png"};
    const char *asked = r->options ? r->options->figures : NULL;
    bool good = run_gnuplot(r, name, "svg");
    for (size_t i = 0; good && asked && i < sizeof form / sizeof *form; i++)
        good = !strstr(asked, form[i]) || run_gnuplot(r, name, form[i]);
    return good;
}

static void free_plot(struct plot *p)
{
    text_free(&p->script);
    text_free(&p->data);
    text_free(&p->rows);
    for (size_t i = 0; i < p->panels; i++)
        text_free(&p->title[i]);
}

enum status plot_end(struct plot *p, struct page *r, const char *heading, const char *caption,
                     struct problem *problem)
{
    enum status status = STATUS_OK;
    if (p->panels > 0)
        status = write_file(r, p->name, "dat", &p->data, problem);
    if (p->panels > 0 && status == STATUS_OK)
        status = write_file(r, p->name, "csv", &p->rows, problem);
    if (p->panels > 0 && status == STATUS_OK)
        status = write_file(r, p->name, "gp", &p->script, problem);
    if (p->panels > 0 && status == STATUS_OK && draw_forms(r, p->name))
        add_picture(p, r, heading, caption);
    free_plot(p);
    return status;
}
