/* Processes that a test has started, told by an entry of their environment. */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

/* Processes, but for zombies that await their parent, whose environment has this entry. */
static inline size_t processes_with(const char *entry)
{
    size_t count = 0;
    struct dirent *d;
    DIR *proc = opendir("/proc");
    while (proc && (d = readdir(proc))) {
        char path[300], text[16384];
        snprintf(path, sizeof path, "/proc/%.20s/environ", d->d_name);
        FILE *file = *d->d_name >= '1' && *d->d_name <= '9' ? fopen(path, "r") : NULL;
        if (!file)
            continue;
        size_t size = fread(text, 1, sizeof text, file);
        count += memmem(text, size, entry, strlen(entry)) != NULL;
        fclose(file);
    }
    closedir(proc);
    return count;
}

/* Once is enough: while a shell becomes the program that it begins, it has no environment. */
static inline void expect_processes(const char *entry, size_t due)
{
    size_t found = processes_with(entry);
    for (int i = 0; i < 100 && found != due; i++) {
        usleep(50000);
        found = processes_with(entry);
    }
    cr_expect(found == due, "found %zu, expected %zu", found, due);
}
