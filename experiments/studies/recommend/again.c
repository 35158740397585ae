/* Commands that reproduce an answer, or what breaks a candidate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cases/again.h"
#include "experiments/studies/recommend/files.h"
#include "experiments/options/subject_name.h"
#include "experiments/system/shell.h"
#include "experiments/studies/recommend/candidates.h"

char *recommend_again(const struct arguments *a, struct device d)
{
    struct text text = {0};
    again_text(&text, a, &d, 1);
    const char *string = text_string(&text);
    char *again = string ? strdup(string) : NULL;
    text_free(&text);
    return again;
}

enum { WORDS_MAX = 2 * OPTIONS_MAX + 8 };

/* Options that say where an answer goes, not what is asked. */
static bool of_answer(const char *name)
{
    return strcmp(name, "out") == 0 || strcmp(name, "force") == 0 || strcmp(name, "json") == 0;
}

/* The words of a study.json's command. STATUS_DATA where it is no command of recommend. */
static enum status read_words(char *word[WORDS_MAX], int *count, const json_t *study,
                              const char *path, struct problem *p)
{
    size_t i;
    json_t *item;
    const json_t *words = json_object_get(study, "arguments");
    json_array_foreach (words, i, item) {
        const char *text = json_string_value(item);
        if (!text || strcmp(text, "(not UTF-8)") == 0 || i >= WORDS_MAX)
            return problem(p, STATUS_DATA, "%s: arguments: word %zu: found no text", path, i + 1);
        word[(*count)++] = (char *)text;
    }
    return *count >= 2 && strcmp(word[1], "recommend") == 0
               ? STATUS_OK
               : problem(p, STATUS_DATA, "%s: arguments: found no command of recommend", path);
}

static enum status only_where(const struct arguments *a, const char *path, struct problem *p)
{
    for (size_t i = 0; i < a->options; i++) {
        const char *name = a->option[i].spec->name;
        if (!of_answer(name) && strcmp(name, "from") != 0)
            return problem(p, STATUS_USAGE,
                           "run: %s is a study of recommend, found --%s with it, expected no "
                           "options but --out, --force and --json: to ask another question, type "
                           "`ulpscope recommend`",
                           path, name);
    }
    return STATUS_OK;
}

static void add_option(char *word[2 * WORDS_MAX], int *count, char **own, const char *name,
                       const char *value)
{
    if (asprintf(own, "--%s", name) < 0)
        *own = NULL;
    word[(*count)++] = *own;
    if (value)
        word[(*count)++] = (char *)value;
}

/* Its options, but for where its answer went, and then where this one goes. */
static enum status ask_again(const struct arguments *theirs, const json_t *study, const char *path,
                             const struct arguments *a, struct problem *p)
{
    char *word[2 * WORDS_MAX] = {a->argv[0], (char *)"recommend"}, *own[WORDS_MAX] = {NULL};
    int count = 2, owned = 0;
    struct arguments again;
    const char *device = json_string_value(
        json_array_get(json_object_get(json_object_get(study, "axes"), "device"), 0));
    const char *out = argument_value(a, "out");
    for (size_t i = 0; i < theirs->options; i++)
        if (!of_answer(theirs->option[i].spec->name))
            add_option(word, &count, &own[owned++], theirs->option[i].spec->name,
                       theirs->option[i].spec->argument ? theirs->option[i].value : NULL);
    if (device && !argument_value(theirs, "device"))
        add_option(word, &count, &own[owned++], "device", device);
    add_option(word, &count, &own[owned++], "out", out ? out : "results-recommend");
    if (argument_flag(a, "force"))
        add_option(word, &count, &own[owned++], "force", NULL);
    if (argument_flag(a, "json"))
        add_option(word, &count, &own[owned++], "json", NULL);
    enum status status = STATUS_OK;
    for (int i = 0; i < owned && status == STATUS_OK; i++)
        status = own[i] ? STATUS_OK : problem(p, STATUS_MEMORY, "recommend: out of memory");
    if (status == STATUS_OK)
        status = arguments_parse(&again, count, word, p);
    if (status == STATUS_OK)
        status = recommend_answer(&again, study, path, p);
    for (int i = 0; i < owned; i++)
        free(own[i]);
    return status;
}

enum status recommend_repeat(const json_t *study, const char *path, const struct arguments *a,
                             struct problem *p)
{
    char *word[WORDS_MAX];
    int count = 0;
    struct arguments theirs;
    enum status status = only_where(a, path, p);
    if (status == STATUS_OK)
        status = read_words(word, &count, study, path, p);
    if (status == STATUS_OK)
        status = arguments_parse(&theirs, count, word, p);
    return status == STATUS_OK ? ask_again(&theirs, study, path, a, p) : status;
}

/* --method takes a list: a comma of a command is written `\,`. */
static void add_method(struct text *to, const char *name)
{
    struct text item = {0};
    bool command = name_is_program(name) || name_is_python(name);
    for (const char *at = name; *at; at++) {
        text_add(&item, command && *at == ',' ? "\\" : "");
        text_append(&item, at, 1);
    }
    const char *string = text_string(&item);
    to->failed |= !string;
    shell_word(to, string ? string : "");
    text_free(&item);
}

/* The options of its setting and, where its order follows one, of its launch shape. */
static void add_setting(struct text *to, const struct recommend_report *r,
                        const struct recommend_candidate *c)
{
    struct setting_word word[SETTING_OPTIONS];
    size_t count = setting_words(word, c->method->operation, &c->setting);
    for (size_t i = 0; i < count; i++) {
        if (word[i].asked)
            text_format(to, " --%s %s", setting_options[word[i].option].name, word[i].asked);
        else
            text_format(to, " --%s %zu", setting_options[word[i].option].name, word[i].number);
    }
    if (c->method->shape_order & SHAPE_BLOCKS)
        text_format(to, " --blocks %zu", recommend_slices(r, c));
}

void recommend_show(struct text *to, const struct recommend_report *r,
                    const struct recommend_candidate *c, const char *out)
{
    char device[DEVICE_TEXT];
    device_name(r->device, device);
    text_add(to, "  reproduce: ");
    shell_word(to, r->request.program);
    text_format(to, " run %s --data ", recommend_use_of(r)->sweep);
    shell_word(to, out);
    text_format(to, "/breaks.npy --storage %s --accumulator %s --device %s --method ",
                format_facts[r->source->array.format].name, format_facts[c->accumulator].name,
                device);
    add_method(to, c->method->name);
    add_setting(to, r, c);
    for (int side = 0; side < 2 && c->setting.shape.given; side++) {
        text_add(to, " --scales ");
        shell_word(to, out);
        text_format(to, "/%s", recommend_scales_name[side]);
    }
    text_add(to, " --out ");
    shell_word(to, out);
    text_add(to, "/breaks\n");
}
