/* Man pages. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "experiments/program/verbs.h"
#include "experiments/program/documents.h"
#include "experiments/system/machine.h"
#include "kernels/mma/mma.h"
#include "reports/text/near.h"
#include "reports/text/table.h"

/* --- What --help prints, from the tables of verbs and options --- */

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

/* Completion for bash, zsh and fish: verbs, options, and names as `ulpscope list` gives them. */

static const char *chip_words(void)
{
    static char words[256] = "words";
    const char *chip;
    if (!strchr(words, ' '))
        for (size_t i = 0; (chip = mma_chip(i)); i++)
            snprintf(words + strlen(words), sizeof words - strlen(words), " %s", chip);
    return words;
}

/* What stands for an operand or a value: `list SECTION`, `names` of every section, `words WORD...`,
 * `files`, or nothing. */
static const char *value_of(const struct option_spec *spec)
{
    static const struct {
        const char *option, *value;
    } known[] = {
        {"method", "list methods"},
        {"against", "list methods"},
        {"input", "list inputs"},
        {"storage", "list formats"},
        {"device", "list devices"},
        {"accumulator", "list formats"},
        {"out", "files"},
        {"index", "files"},
        {"figures", "words pdf svg png"},
        {"scan", "words inclusive exclusive"},
        {"product", "words rounded fused exact"},
        {"output", "words accumulator storage"},
        {"load", "words idle busy"},
        {"reference", "words fast mpfr"},
        {"quantity", "words rel backward ulp"},
        {"promise", "words none run_to_run gpu_to_gpu order_invariant correctly_rounded"},
    };
    if (!spec->argument)
        return NULL;
    if (strcmp(spec->name, "chip") == 0)
        return chip_words();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(spec->name, known[i].option) == 0)
            return known[i].value;
    return strcmp(spec->argument, "FILE") == 0 || strcmp(spec->argument, "DIR") == 0 ? "files" : "";
}

static bool takes_list(const struct option_spec *spec)
{
    return spec->argument && strcmp(spec->argument, "LIST") == 0;
}

static void operand_of(char text[256], const struct verb *verb)
{
    static const char *const known[][2] = {{"METHOD", "list methods"},
                                           {"EXPERIMENT", "list experiments"},
                                           {"INPUT", "list inputs"},
                                           {"FILE", "files"},
                                           {"DIR", "files"}};
    *text = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!*text && strstr(verb->operands, known[i][0]))
            snprintf(text, 256, "%s", known[i][1]);
    if (verb == &verb_list)
        snprintf(text, 256, "names");
}

static void put_verbs(void)
{
    for (size_t i = 0; verbs[i]; i++)
        printf("%s%s", i ? " " : "", verbs[i]->name);
}

static void put_options(const struct verb *verb)
{
    for (const struct option_spec *spec = option_specs; spec->name; spec++)
        if (option_of(spec, verb))
            printf(" --%s", spec->name);
}

/* What bash and zsh share: kind and lists, from $verb and $prev. */
static void put_cases(void)
{
    printf("    case $verb in\n");
    for (size_t i = 0; verbs[i]; i++) {
        char operand[256];
        operand_of(operand, verbs[i]);
        printf("        %s) kind='%s' options='", verbs[i]->name, operand);
        put_options(verbs[i]);
        printf("' ;;\n");
    }
    printf("        help) kind='words ");
    put_verbs();
    printf("' ;;\n    esac\n    case $prev in\n");
    for (const struct option_spec *spec = option_specs; spec->name; spec++) {
        if (!spec->argument)
            continue;
        printf("        --%s", spec->name);
        if (spec->letter)
            printf("|-%c", spec->letter);
        printf(") kind='%s' options='' lists=%d ;;\n", value_of(spec), takes_list(spec));
    }
    printf("    esac\n");
}

/* Names begin lines behind two blanks. */
#define NAMES "list \"${kind#list }\" 2>/dev/null | sed -n 's/^  \\([^ ][^ ]*\\).*/\\1/p'"

static void put_bash(void)
{
    printf("# bash completion for ulpscope\n_ulpscope() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    local verb=${COMP_WORDS[1]} kind='' options='' lists=0 head='' words=''\n"
           "    COMPREPLY=()\n    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        verb='' prev='' "
           "kind='words ");
    put_verbs();
    printf(" help --help --version'\n    fi\n");
    put_cases();
    printf("    if [[ $cur == -* && -n $options ]]; then kind=\"words $options\"; fi\n"
           "    if [[ $lists == 1 && $cur == *,* ]]; then head=${cur%%,*}, cur=${cur##*,}; fi\n"
           "    case $kind in\n"
           "        list*) words=$(\"${COMP_WORDS[0]}\" " NAMES ") ;;\n"
           "        names) words=$(\"${COMP_WORDS[0]}\" --completion names 2>/dev/null) ;;\n"
           "        words*) words=${kind#words} ;;\n"
           "        files) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); compopt -o filenames\n"
           "            return ;;\n"
           "    esac\n"
           "    mapfile -t COMPREPLY < <(compgen -P \"$head\" -W \"$words\" -- \"$cur\")\n"
           "    if [[ $lists == 1 ]]; then compopt -o nospace 2>/dev/null; fi\n"
           "}\ncomplete -F _ulpscope ulpscope\n");
}

static void put_zsh(void)
{
    printf("#compdef ulpscope\n_ulpscope() {\n"
           "    local cur=$words[CURRENT] prev=$words[CURRENT-1] verb=$words[2]\n"
           "    local kind='' options='' lists=0\n    local -a found\n"
           "    if (( CURRENT == 2 )); then\n        verb='' prev='' kind='words ");
    put_verbs();
    printf(" help --help --version'\n    fi\n");
    put_cases();
    printf("    if [[ $cur == -* && -n $options ]]; then kind=\"words $options\"; fi\n"
           "    if [[ $lists == 1 ]]; then compset -P '*,'; fi\n"
           "    case $kind in\n"
           "        list*) found=(${(f)\"$($words[1] " NAMES ")\"}) ;;\n"
           "        names) found=(${(f)\"$($words[1] --completion names 2>/dev/null)\"}) ;;\n"
           "        words*) found=(${=kind#words}) ;;\n"
           "        files) _files; return ;;\n"
           "    esac\n"
           "    if [[ $lists == 1 ]]; then compadd -q -S , -a found; else compadd -a found; fi\n"
           "}\nif [ \"$funcstack[1]\" = _ulpscope ]; then _ulpscope \"$@\"; else compdef _ulpscope "
           "ulpscope; fi\n");
}

/* Within single quotes of fish. */
static void put_quoted(const char *text)
{
    for (putchar('\''); *text; text++)
        printf(*text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    putchar('\'');
}

static void put_fish_value(const char *value, bool list)
{
    if (!value)
        return;
    if (strcmp(value, "files") == 0)
        printf(" -r -F");
    else if (strcmp(value, "names") == 0)
        printf(" -x -a '(__ulpscope_all_names)'");
    else if (strncmp(value, "list ", 5) == 0)
        printf(list ? " -x -a '(__fish_complete_list , \"__ulpscope_names %s\")'"
                    : " -x -a '(__ulpscope_names %s)'",
               value + 5);
    else
        printf(" -x -a '%s'", *value ? value + 6 : "");
}

static void put_fish(void)
{
    printf("# fish completion for ulpscope\nfunction __ulpscope_names\n"
           "    set -l program (commandline -opc)[1]\n"
           "    $program list $argv[1] 2>/dev/null | string replace -rf '^  ([^ ]+).*' '$1'\nend\n"
           "function __ulpscope_all_names\n    set -l program (commandline -opc)[1]\n"
           "    $program --completion names 2>/dev/null\nend\n"
           "complete -c ulpscope -f\n"
           "complete -c ulpscope -n __fish_use_subcommand -l help -d 'what there is'\n"
           "complete -c ulpscope -n __fish_use_subcommand -l version\n");
    for (size_t i = 0; verbs[i]; i++) {
        char operand[256];
        operand_of(operand, verbs[i]);
        printf("complete -c ulpscope -n __fish_use_subcommand -a %s -d ", verbs[i]->name);
        put_quoted(verbs[i]->summary);
        if (*operand) {
            printf("\ncomplete -c ulpscope -n '__fish_seen_subcommand_from %s'", verbs[i]->name);
            put_fish_value(operand, false);
        }
        printf("\n");
        for (const struct option_spec *spec = option_specs; spec->name; spec++) {
            if (!option_of(spec, verbs[i]))
                continue;
            printf("complete -c ulpscope -n '__fish_seen_subcommand_from %s' -l %s", verbs[i]->name,
                   spec->name);
            if (spec->letter)
                printf(" -s %c", spec->letter);
            put_fish_value(value_of(spec), takes_list(spec));
            printf(" -d ");
            put_quoted(spec->help);
            printf("\n");
        }
    }
}

enum status completion_print(const char *shell, struct problem *p)
{
    if (strcmp(shell, "bash") == 0)
        put_bash();
    else if (strcmp(shell, "zsh") == 0)
        put_zsh();
    else if (strcmp(shell, "fish") == 0)
        put_fish();
    else if (strcmp(shell, "verbs") == 0)
        put_verbs(), putchar('\n');
    else if (strcmp(shell, "names") == 0)
        list_put_names();
    else
        return near_unknown(p, "--completion", shell, "bash, zsh or fish");
    return STATUS_OK;
}

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
    printf(
        ".SH EXIT STATUS\n"
        "0 fine; 1 a check failed or a row broke its bound; 2 usage; 3 unreadable or malformed\n"
        "input, unwritable output; 4 device not available or out of memory; 130 interrupted and\n"
        "resumable.\n.SH SEE ALSO\n");
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
