#include "experiments/program/again.h"

#include <stdio.h>

#include "experiments/system/shell.h"

void again_print(const struct arguments *a, const struct device *device, size_t devices)
{
    struct text text = {0};
    char name[DEVICE_TEXT];
    text_add(&text, "reproduce: ");
    shell_words(&text, a->argc, a->argv);
    for (size_t i = 0; i < devices && !argument_value(a, "device"); i++) {
        device_name(device[i], name);
        text_format(&text, "%s%s", i ? "," : " --device ", name);
    }
    text_add(&text, "\n");
    fputs(text_string(&text) ? text.data : "", stdout);
    text_free(&text);
}
