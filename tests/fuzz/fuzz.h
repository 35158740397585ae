/* What the harnesses share. Each is one function of bytes that libFuzzer calls (tests/fuzz/run), or
 * replay.c with the files of a corpus. What must hold is held by fuzz_hold; the rest is the
 * sanitizers'. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reference/base/problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define fuzz_hold(claim, ...)                                                                      \
    do {                                                                                           \
        if (!(claim)) {                                                                            \
            fprintf(stderr, "%s:%d: not so: %s: ", __FILE__, __LINE__, #claim);                    \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* A failure has a message of one line; there is none without one. */
static inline void fuzz_problem(enum status status, const struct problem *p)
{
    fuzz_hold(status == p->status, "status %d, but %d in '%s'", (int)status, (int)p->status,
              p->text);
    fuzz_hold((status == STATUS_OK) == !*p->text, "status %d, '%s'", (int)status, p->text);
    fuzz_hold(!strchr(p->text, '\n') && !strchr(p->text, 033), "'%s'", p->text);
}

/* A folder of this process, gone when it ends by itself. */
static char fuzz_folder[64];

static inline void fuzz_remove(void)
{
    char command[96];
    snprintf(command, sizeof command, "/bin/rm -rf '%s'", fuzz_folder);
    if (system(command) != 0)
        abort();
}

static inline const char *fuzz_in_folder(void)
{
    if (!*fuzz_folder) {
        snprintf(fuzz_folder, sizeof fuzz_folder, "%s/ulpscope-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        if (!mkdtemp(fuzz_folder))
            abort();
        atexit(fuzz_remove);
    }
    return fuzz_folder;
}

/* Writes a file into the folder; its path is good until the next. */
static inline const char *fuzz_file(const char *name, const void *data, size_t size)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", fuzz_in_folder(), name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
    return path;
}

/* An input of several files: each begins behind a line "=== NAME". Writes those that are among the
 * names, which end with NULL, into the folder; the others are removed from it. */
static inline void fuzz_files(const char *const names[], const uint8_t *data, size_t size)
{
    for (size_t i = 0; names[i]; i++) {
        char head[80], path[300];
        size_t length = (size_t)snprintf(head, sizeof head, "=== %s\n", names[i]);
        const uint8_t *at = size > 0 ? memmem(data, size, head, length) : NULL;
        if (!at) {
            snprintf(path, sizeof path, "%s/%s", fuzz_in_folder(), names[i]);
            unlink(path);
            continue;
        }
        at += length;
        size_t left = size - (size_t)(at - data);
        const uint8_t *next = memmem(at, left, "\n=== ", 5);
        fuzz_file(names[i], at, next ? (size_t)(next + 1 - at) : left);
    }
}
