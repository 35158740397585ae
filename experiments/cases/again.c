#include "experiments/cases/again.h"

#include <stdio.h>

#include "experiments/system/shell.h"

void again_text(struct text *to, const struct arguments *a, const struct device *device,
                size_t devices)
{
    char name[DEVICE_TEXT];
    for (int i = 0; i < a->argc; i++) {
        text_add(to, i ? " " : "");
        shell_word(to, a->argv[i]);
    }
    for (size_t i = 0; i < devices && !argument_value(a, "device"); i++) {
        device_name(device[i], name);
        text_format(to, "%s%s", i ? "," : " --device ", name);
    }
}

void again_print(const struct arguments *a, const struct device *device, size_t devices)
{
    struct text text = {0};
    again_text(&text, a, device, devices);
    printf("reproduce: %s\n", text_string(&text) ? text.data : "");
    text_free(&text);
}
