/* Man pages. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "experiments/program/documents.h"
#include "experiments/program/verbs.h"
#include "experiments/system/machine.h"

/* A line's text: no character of it means anything to roff. */
static void put_text(const char *text, size_t length)
{
    if (length > 0 && (*text == '.' || *text == '\''))
        printf("\\&");
    for (size_t i = 0; i < length; i++)
        switch (text[i]) {
        case '\\':
            printf("\\e");
            break;
        case '-':
            printf("\\-");
            break;
        case '\'':
            printf("\\(aq");
            break;
        case '^':
            printf("\\(ha");
            break;
        case '~':
            printf("\\(ti");
            break;
        case '`':
            printf("\\(ga");
            break;
        default:
            putchar(text[i]);
        }
}

static void put(const char *text)
{
    put_text(text, strlen(text));
}

static void put_upper(const char *text)
{
    for (; *text; text++)
        *text == '-' ? (void)printf("\\-") : (void)putchar(toupper((unsigned char)*text));
}

/* Paragraphs are filled; lines that begin with a blank stay as they are: tables, commands. */
static void put_lines(const char *text)
{
    bool as_is = false;
    while (*text) {
        size_t length = strcspn(text, "\n");
        bool own = *text == ' ';
        if (length > 0 && own != as_is) {
            printf(own ? ".nf\n" : ".fi\n");
            as_is = own;
        }
        if (length == 0)
            printf(".sp");
        put_text(text, length);
        putchar('\n');
        text += length + (text[length] == '\n');
    }
    if (as_is)
        printf(".fi\n");
}

static void put_option(const struct option_spec *spec)
{
    printf(".TP\n\\fB");
    if (spec->letter)
        printf("\\-%c\\fR, \\fB", spec->letter);
    printf("\\-\\-");
    put(spec->name);
    printf("\\fR");
    if (spec->argument)
        printf(" \\fI%s\\fR", spec->argument);
    putchar('\n');
    put(spec->help);
    putchar('\n');
}

static void put_end(void)
{
    printf(".SH EXIT STATUS\n"
           "0 fine; 1 a check failed, a promise or a bound broke, or nothing was enough; 2 usage;\n"
           "3 unreadable or malformed input, unwritable output; 4 device not available or out of\n"
           "memory; 130 interrupted and resumable.\n.SH SEE ALSO\n");
}

static void put_head(const struct verb *verb)
{
    printf(".TH ULPSCOPE");
    if (verb) {
        printf("\\-");
        put_upper(verb->name);
    }
    printf(" 1 \"\" \"ulpscope ");
    put(build_version);
    printf("\" \"User Commands\"\n.SH NAME\nulpscope%s%s \\- ", verb ? "\\-" : "",
           verb ? verb->name : "");
    put(verb ? verb->summary : "errors and reproducibility of floating-point reductions");
    printf("\n.SH SYNOPSIS\n.B ulpscope");
    printf(verb ? " %s\n" : "%s\n", verb ? verb->name : "");
    if (!verb)
        printf(".I VERB\n[\\fIOPERAND\\fR]... ");
    else if (*verb->operands) {
        put(verb->operands);
        putchar(' ');
    }
    printf("[\\fIOPTION\\fR]...\n");
}

static void put_verb(const struct verb *verb)
{
    if (verb->details && *verb->details) {
        printf(".SH DESCRIPTION\n");
        put_lines(verb->details);
    }
    printf(".SH OPTIONS\n");
    for (const struct option_spec *spec = option_specs; spec->name; spec++)
        if (option_of(spec, verb))
            put_option(spec);
    if (verb->examples && *verb->examples) {
        printf(".SH EXAMPLES\n");
        put_lines(verb->examples);
    }
    put_end();
    printf(".BR ulpscope (1)\n");
}

void manual_print(const struct verb *verb)
{
    put_head(verb);
    if (verb) {
        put_verb(verb);
        return;
    }
    printf(".SH DESCRIPTION\nMeasures how wrong, and how reproducible, floating\\-point reductions "
           "are, on CPU "
           "and\nGPU: computes their exact results, holds every error to its theorem, tries to "
           "refute what is\npromised of the bits, and finds the order of additions.\n.SH VERBS\n");
    for (size_t i = 0; verbs[i]; i++) {
        printf(".TP\n\\fB%s\\fR\n", verbs[i]->name);
        put(verbs[i]->summary);
        putchar('\n');
    }
    put_end();
    for (size_t i = 0; verbs[i]; i++)
        printf(".BR ulpscope\\-%s (1)%s\n", verbs[i]->name, verbs[i + 1] ? "," : "");
}
