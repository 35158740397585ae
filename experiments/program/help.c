/* What --help prints, from the tables of verbs and options. */
#include <stdio.h>
#include <string.h>

#include "experiments/program/documents.h"
#include "experiments/program/verbs.h"
#include "reports/text/table.h"

/* The first line behind what is printed already, the others indented. */
static void print_line(struct text *line, size_t indent)
{
    struct text out = {0};
    text_wrapped(&out, line, TABLE_COLUMNS - indent, 0);
    for (const char *at = text_string(&out) ? text_string(&out) : ""; *at;) {
        int length = (int)strcspn(at, "\n");
        printf("%.*s\n", length, at);
        at += length + (at[length] == '\n');
        printf("%*s", *at ? (int)indent : 0, "");
    }
    text_free(&out);
}

/* A name in a column, and beside it what it is. */
static void print_beside(int before, int width, const char *name, const char *what)
{
    struct text line = {0};
    printf("%*s%-*s ", before, "", width, name);
    text_add(&line, what);
    print_line(&line, (size_t)(before + width + 1));
}

/* Paragraphs are filled; lines that begin with a blank stay as they are. */
static void print_details(const char *text)
{
    struct text line = {0};
    while (*text) {
        size_t length = strcspn(text, "\n");
        bool own = *text == ' ' || length == 0;
        if (own && line.length > 0)
            print_line(&line, 0);
        if (own)
            printf("%.*s\n", (int)length, text);
        else
            text_format(&line, "%s%.*s", line.length ? " " : "", (int)length, text);
        text += length + (text[length] == '\n');
    }
    if (line.length > 0)
        print_line(&line, 0);
    text_free(&line);
}

static void print_program(void)
{
    printf("ulpscope measures how wrong, and how reproducible, floating-point reductions are.\n\n"
           "usage: ulpscope VERB [OPERAND]... [OPTION]...\n\nverbs:\n");
    for (size_t i = 0; verbs[i]; i++)
        print_beside(2, 9, verbs[i]->name, verbs[i]->summary);
    printf("\nulpscope VERB --help says what a verb takes, with examples; ulpscope --version.\n"
           "ulpscope --man [VERB], --completion bash|zsh|fish print what packages install.\n"
           "exit status: 0 fine; 1 a check failed, a promise or a bound broke, or nothing was\n"
           "enough; 2 usage; 3 unreadable or malformed input, unwritable output; 4 device not\n"
           "available or out of memory; 130 interrupted and resumable\n");
}

static void print_option(const struct option_spec *spec)
{
    char left[64];
    snprintf(left, sizeof left, "%c%c%s --%s%s%s", spec->letter ? '-' : ' ',
             spec->letter ? spec->letter : ' ', spec->letter ? "," : " ", spec->name,
             spec->argument ? " " : "", spec->argument ? spec->argument : "");
    print_beside(2, 24, left, spec->help);
}

void help_print(const struct verb *verb)
{
    if (!verb) {
        print_program();
        return;
    }
    printf("usage: ulpscope %s%s%s [OPTION]...\n%s\n", verb->name, *verb->operands ? " " : "",
           verb->operands, verb->summary);
    if (verb->details && *verb->details)
        printf("\n"), print_details(verb->details);
    printf("\noptions:\n");
    for (const struct option_spec *spec = option_specs; spec->name; spec++)
        if (option_of(spec, verb))
            print_option(spec);
    if (verb->examples && *verb->examples)
        printf("\nexamples:\n%s\n", verb->examples);
}
