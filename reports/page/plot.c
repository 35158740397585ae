/* Pictures: a script and its data, which stay, and what gnuplot makes of them. */
#include <errno.h>
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

/* Appends the picture of a panel, from what follows "<svg" on: ids that gnuplot gives in every file
 * get names of their own, and what says nothing is left out. */
static void plot_svg(struct text *to, const char *svg, const char *name, size_t panel)
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

/* Colours of Okabe and Ito, which the colour-blind tell apart too, but for the yellow, which a
 * light page would swallow; then grey. The page shows black in the colour of its text. Marks differ
 * as well. */
static const char preamble[] =
    "# Written by `ulpscope report`. Draws its pictures anew: gnuplot %s.gp (5.4 or later)\n"
    "set encoding utf8\n"
    "array colour[8] = [0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xe69f00, 0x000000, \\\n"
    "    0x888888]\n"
    "array mark[13] = [7, 5, 9, 13, 6, 4, 8, 12, 11, 15, 10, 14, 2]\n"
    "do for [m = 1 : 52] {\n"
    "    set linetype m linecolor rgb colour[(m - 1) %% 8 + 1] linewidth 1.5 \\\n"
    "        pointtype mark[(m - 1) %% 13 + 1] pointsize 0.6\n"
    "}\n"
    "set grid linecolor rgb 0xaaaaaa linewidth 0.4\nunset mxtics\nunset mytics\n"
    "set key below Left reverse samplen 2 spacing 1.1 noenhanced maxcols 2 font 'sans,11'\n";

void plot_begin(struct plot *p, const char *name)
{
    *p = (struct plot){.name = name};
    text_format(&p->script, preamble, name);
    text_format(&p->data, "# What %s.gp draws, written by `ulpscope report`.\n", name);
}

void plot_quote(struct text *to, const char *text)
{
    text_add(to, "'");
    for (; *text; text++)
        if ((unsigned char)*text >= ' ')
            text_append(to, *text == '\'' ? "''" : text, *text == '\'' ? 2 : 1);
    text_add(to, "'");
}

void plot_label(struct text *to, const char *text, size_t longest)
{
    struct text label = {0};
    size_t length = strlen(text), half = longest / 2;
    if (length <= longest) {
        text_add(&label, text);
    } else {
        text_append(&label, text, half);
        text_add(&label, "…");
        text_add(&label, text + length - (longest - half - 1));
    }
    plot_quote(to, text_string(&label) ? text_string(&label) : "");
    text_free(&label);
}

void plot_panel(struct plot *p, double height, const char *title)
{
    text_add(&p->title[p->panels++], title);
    text_format(&p->script,
                "\nset terminal svg size 420,%.0f dynamic enhanced font 'sans,13' name '%s%zu'\n"
                "set output '%s-%zu.svg'\n",
                height, p->name, p->panels, p->name, p->panels);
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
        return problem(p, STATUS_DEVICE, "%s: out of memory", r->folder);
    enum status status = file_replace(path, text->data, text->length, p);
    free(path);
    return status;
}

/* Runs gnuplot on a script in the folder. */
static bool run_gnuplot(struct page *r, const char *name)
{
    extern char **environ;
    char script[64];
    int exited = 0;
    pid_t pid;
    posix_spawn_file_actions_t actions;
    snprintf(script, sizeof script, "%s.gp", name);
    char *const argv[] = {"gnuplot", script, NULL};
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
static bool add_panel(struct plot *p, struct page *r, size_t panel)
{
    char *path;
    const char *title = text_string(&p->title[panel - 1]);
    if (asprintf(&path, "%s/%s-%zu.svg", r->folder, p->name, panel) < 0)
        return false;
    char *svg = read_file(path), *begin = svg ? strstr(svg, "<svg") : NULL;
    bool good = begin && strstr(begin, "</svg>");
    if (good) {
        text_add(&r->pictures, "<figure><figcaption>");
        html_text(&r->pictures, title);
        text_add(&r->pictures, "</figcaption>\n<svg role=\"img\" aria-label=\"");
        html_text(&r->pictures, title);
        text_add(&r->pictures, "\"");
        plot_svg(&r->pictures, begin + strlen("<svg"), p->name, panel);
        text_add(&r->pictures, "</figure>\n");
    } else {
        problem(&r->undrawn, STATUS_DATA, "%s: found no whole picture, expected one by gnuplot",
                path);
    }
    free(svg);
    free(path);
    return good;
}

static void free_plot(struct plot *p)
{
    text_free(&p->script);
    text_free(&p->data);
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
        status = write_file(r, p->name, "gp", &p->script, problem);
    if (p->panels > 0 && status == STATUS_OK && run_gnuplot(r, p->name)) {
        text_format(&r->pictures, "<section id=\"%s\"><h2>", p->name);
        html_text(&r->pictures, heading);
        text_format(&r->pictures, "</h2>\n<p>%s</p>\n<div class=\"panels\">\n", caption);
        for (size_t i = 1; i <= p->panels; i++)
            r->drawn += add_panel(p, r, i);
        text_format(&r->pictures,
                    "</div>\n<p class=\"how\">Drawn by <code>gnuplot %s.gp</code> from "
                    "<code>%s.dat</code>, both beside this page.</p></section>\n",
                    p->name, p->name);
    }
    free_plot(p);
    return status;
}
