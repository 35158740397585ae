/* Completion for bash, zsh and fish: verbs, options, and names as `ulpscope list` gives them. */
#include <stdio.h>
#include <string.h>

#include "experiments/check/check.h"
#include "experiments/program/documents.h"
#include "experiments/program/verbs.h"
#include "kernels/mma/mma.h"
#include "reports/text/near.h"

static const char *chip_words(void)
{
    static char words[256] = "words";
    const char *chip;
    if (!strchr(words, ' '))
        for (size_t i = 0; (chip = mma_chip(i)); i++)
            snprintf(words + strlen(words), sizeof words - strlen(words), " %s", chip);
    return words;
}

static void add_word(char words[1024], const char *word)
{
    size_t used = strlen(words);
    snprintf(words + used, 1024 - used, " %s", word);
}

static const char *only_words(void)
{
    static char words[1024] = "words";
    if (strchr(words, ' '))
        return words;
    for (enum promise rung = PROMISE_RUN_TO_RUN; rung < PROMISES; rung++)
        add_word(words, promise_name[rung]);
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        add_word(words, check_kinds[kind].name);
    return words;
}

static const char *operation_words(void)
{
    static char words[1024] = "words";
    for (size_t i = 0; operations[i] && (i > 0 || !strchr(words, ' ')); i++)
        add_word(words, operations[i]->name);
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
        {"array", "words numpy torch cupy jax array"},
        {"python", "words torch numpy jax cupy triton all"},
        {"keys", "words uniform zipf one sorted file:"},
        {"layout", "words row column batch:"},
        {"reference", "words fast mpfr"},
        {"quantity", "words rel backward ulp"},
        {"promise", "words none run_to_run gpu_to_gpu order_invariant correctly_rounded"},
    };
    if (!spec->argument)
        return NULL;
    if (strcmp(spec->name, "chip") == 0)
        return chip_words();
    if (strcmp(spec->name, "only") == 0)
        return only_words();
    if (strcmp(spec->name, "operation") == 0)
        return operation_words();
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
