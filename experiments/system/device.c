#include "experiments/system/device.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/gpu/gpu.h"
#include "reports/text/near.h"

void device_name(struct device d, char text[DEVICE_TEXT])
{
    if (d.kind == DEVICE_CPU)
        snprintf(text, DEVICE_TEXT, "cpu");
    else
        snprintf(text, DEVICE_TEXT, "cuda:%d", d.index);
}

static enum status absent(const char *text, struct problem *p)
{
    int count = gpu_count(false);
    if (!gpu_build())
        return problem(p, STATUS_DEVICE,
                       "device %s: found no GPU, and this program was built without CUDA", text);
    if (count == 0)
        return problem(p, STATUS_DEVICE, "device %s: found no GPU (driver: %s)", text,
                       gpu_driver());
    return problem(p, STATUS_DEVICE, "device %s: found %d GPU%s, expected cuda:0 to cuda:%d", text,
                   count, count > 1 ? "s" : "", count - 1);
}

static bool names_only;

void device_names_only(void)
{
    names_only = true;
}

enum status device_parse(struct device *d, const char *text, struct problem *p)
{
    *d = (struct device){DEVICE_CPU, 0};
    if (strcmp(text, "cpu") == 0)
        return STATUS_OK;
    if (strcmp(text, "auto") == 0) {
        d->kind = gpu_count(false) > 0 ? DEVICE_CUDA : DEVICE_CPU;
        return STATUS_OK;
    }
    char *end = (char *)text + strlen(text);
    long index = 0;
    if (strncmp(text, "cuda:", 5) == 0 && text[5] >= '0' && text[5] <= '9')
        index = strtol(text + 5, &end, 10);
    else if (strcmp(text, "cuda") != 0)
        end = (char *)text;
    if (*end)
        return near_unknown_option(p, "device", text, "cpu, cuda, cuda:N or auto");
    *d = (struct device){DEVICE_CUDA, (int)index};
    return !names_only && index >= gpu_count(true) ? absent(text, p) : STATUS_OK;
}
