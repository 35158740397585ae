/* Commands that show an answer, or what breaks a candidate, again. */
#include "experiments/recommend_files.h"

static void add_word(struct text *to, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-:=+,#";
    if (*word && strspn(word, plain) == strlen(word)) {
        text_add(to, word);
        return;
    }
    text_add(to, "'");
    for (; *word; word++)
        if (*word == '\'')
            text_add(to, "'\\''");
        else
            text_append(to, word, 1);
    text_add(to, "'");
}

char *recommend_again(const struct arguments *a, struct device d)
{
    struct text text = {0};
    char device[DEVICE_TEXT];
    for (int i = 0; i < a->argc; i++) {
        text_add(&text, i ? " " : "");
        add_word(&text, a->argv[i]);
    }
    device_name(d, device);
    if (!argument_value(a, "device"))
        text_format(&text, " --device %s", device);
    const char *string = text_string(&text);
    char *again = string ? strdup(string) : NULL;
    text_free(&text);
    return again;
}

void recommend_show(struct text *to, const struct recommend_report *r,
                    const struct recommend_candidate *c, const char *out)
{
    char device[DEVICE_TEXT];
    device_name(r->device, device);
    text_add(to, "  show it: ");
    add_word(to, r->request.program);
    text_add(to, " run accuracy --data ");
    add_word(to, out);
    text_format(to, "/breaks.npy --storage %s --accumulator %s --device %s --method ",
                format_facts[r->source->array.format].name, format_facts[c->accumulator].name,
                device);
    add_word(to, c->method->name);
    text_add(to, " --out ");
    add_word(to, out);
    text_add(to, "/breaks\n");
}
