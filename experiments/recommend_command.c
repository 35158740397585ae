/* Commands that show an answer, or what breaks a candidate, again. */
#include "experiments/recommend_files.h"
#include "experiments/shell.h"

char *recommend_again(const struct arguments *a, struct device d)
{
    struct text text = {0};
    char device[DEVICE_TEXT];
    for (int i = 0; i < a->argc; i++) {
        text_add(&text, i ? " " : "");
        shell_word(&text, a->argv[i]);
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
    shell_word(to, r->request.program);
    text_add(to, " run accuracy --data ");
    shell_word(to, out);
    text_format(to, "/breaks.npy --storage %s --accumulator %s --device %s --method ",
                format_facts[r->source->array.format].name, format_facts[c->accumulator].name,
                device);
    shell_word(to, c->method->name);
    text_add(to, " --out ");
    shell_word(to, out);
    text_add(to, "/breaks\n");
}
