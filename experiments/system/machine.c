#include "experiments/system/machine.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The text behind `key`, a separator and blanks in a file of KEY: VALUE or KEY=VALUE lines. */
static int value_of(const char *path, const char *key, char text[MACHINE_TEXT])
{
    char line[1024];
    int found = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    while (!found && fgets(line, sizeof line, file)) {
        size_t length = strlen(key);
        if (strncmp(line, key, length) != 0)
            continue;
        char *value = line + length + strspn(line + length, " \t:=\"");
        value[strcspn(value, "\"\n")] = 0;
        snprintf(text, MACHINE_TEXT, "%.*s", MACHINE_TEXT - 1, value);
        found = 1;
    }
    fclose(file);
    return found;
}

void machine_cpu(char text[MACHINE_TEXT])
{
    if (!value_of("/proc/cpuinfo", "model name", text))
        snprintf(text, MACHINE_TEXT, "unknown");
}

void machine_system(char text[MACHINE_TEXT])
{
    struct utsname system;
    char distribution[MACHINE_TEXT] = "";
    if (uname(&system) != 0) {
        snprintf(text, MACHINE_TEXT, "unknown");
        return;
    }
    value_of("/etc/os-release", "PRETTY_NAME", distribution);
    snprintf(text, MACHINE_TEXT, "%.60s %.60s %.20s%s%.60s%s", system.sysname, system.release,
             system.machine, *distribution ? " (" : "", distribution, *distribution ? ")" : "");
}

unsigned machine_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

static size_t kibibytes(const char *key)
{
    char text[MACHINE_TEXT];
    unsigned long long value = 0;
    if (value_of("/proc/meminfo", key, text))
        sscanf(text, "%llu", &value);
    return (size_t)value * 1024;
}

size_t machine_memory(void)
{
    return kibibytes("MemTotal");
}

size_t machine_memory_available(void)
{
    return kibibytes("MemAvailable");
}
