/* What --help prints, from the tables of verbs and options. */
#include <stdio.h>

#include "experiments/program/verbs.h"

static void print_program(void)
{
    printf("ulpscope puts floating-point summation under a microscope.\n\n"
           "usage: ulpscope VERB [OPERAND]... [OPTION]...\n\nverbs:\n");
    for (size_t i = 0; verbs[i]; i++)
        printf("  %-8s %s\n", verbs[i]->name, verbs[i]->summary);
    printf("\nulpscope VERB --help says what a verb takes, with examples; ulpscope --version.\n"
           "exit status: 0 fine; 1 a check failed or a row broke its bound; 2 usage; 3 unreadable\n"
           "or malformed input, unwritable output; 4 device not available or out of memory; 130\n"
           "interrupted and resumable\n");
}

static void print_option(const struct option_spec *spec)
{
    char left[64];
    snprintf(left, sizeof left, "%c%c%s --%s%s%s", spec->letter ? '-' : ' ',
             spec->letter ? spec->letter : ' ', spec->letter ? "," : " ", spec->name,
             spec->argument ? " " : "", spec->argument ? spec->argument : "");
    printf("  %-24s %s\n", left, spec->help);
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
        printf("\n%s\n", verb->details);
    printf("\noptions:\n");
    for (const struct option_spec *spec = option_specs; spec->name; spec++)
        if (option_of(spec, verb))
            print_option(spec);
    if (verb->examples && *verb->examples)
        printf("\nexamples:\n%s\n", verb->examples);
}
