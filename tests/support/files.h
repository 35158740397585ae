/* Files for tests: a folder of its own for each test, and bytes to put into it. */
#pragma once

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "experiments/data/data.h"

/* Where a text has these words, whatever blanks and line breaks stand between them: lines are
 * broken where paths of this machine make them long. NULL: nowhere. */
static inline const char *find_words(const char *text, const char *words)
{
    for (; *text; text++) {
        const char *at = text, *w = words;
        while (*w && *at) {
            bool blank = isspace((unsigned char)*w);
            if (blank != !!isspace((unsigned char)*at) || (!blank && *w != *at))
                break;
            do
                w++;
            while (blank && isspace((unsigned char)*w));
            do
                at++;
            while (blank && isspace((unsigned char)*at));
        }
        if (!*w)
            return text;
    }
    return NULL;
}

static char folder[64];

/* .init and .fini of a test. */
static inline void make_folder(void)
{
    snprintf(folder, sizeof folder, "%s/ulpscope-test-XXXXXX",
             getenv("TMPDIR") && strlen(getenv("TMPDIR")) < 32 ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(folder))
        abort();
}

static inline void remove_folder(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        abort();
}

struct bytes {
    unsigned char *data;
    size_t size, capacity; /* one byte beyond size is always there */
};

static inline void add_bytes(struct bytes *b, const void *from, size_t size)
{
    if (b->size + size + 1 > b->capacity) {
        b->capacity = 2 * (b->size + size + 1);
        b->data = realloc(b->data, b->capacity);
        if (!b->data)
            abort();
    }
    if (size > 0)
        memcpy(b->data + b->size, from, size);
    b->size += size;
}

static inline void add_string(struct bytes *b, const char *text)
{
    add_bytes(b, text, strlen(text));
}

/* A whole number, least significant byte first. */
static inline void add_number(struct bytes *b, uint64_t value, size_t width)
{
    add_bytes(b, &value, width);
}

static inline void clear_bytes(struct bytes *b)
{
    free(b->data);
    *b = (struct bytes){0};
}

/* The path of a file of this name in the folder, valid until the eighth next call. */
static inline const char *in_folder(const char *name)
{
    static char path[8][320];
    static size_t next;
    char *to = path[next++ % 8];
    snprintf(to, sizeof *path, "%s/%s", folder, name);
    return to;
}

/* All bytes of a file; clear_bytes is due. */
static inline struct bytes get_file(const char *path)
{
    struct bytes b = {0};
    char block[4096];
    size_t got;
    FILE *file = fopen(path, "rb");
    cr_assert(file, "%s", path);
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        add_bytes(&b, block, got);
    fclose(file);
    return b;
}

/* Writes a file of this name into the folder and returns its path, valid until the next call. */
static inline const char *put_file(const char *name, const struct bytes *b)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(b->data ? b->data : (const void *)"", 1, b->size, file) != b->size ||
        fclose(file) != 0)
        abort();
    return path;
}

/* Reading `path` fails with this status, nothing is left to free, and the one line that says why
 * names the file and holds `said`. */
static inline void expect_problem(const char *path, enum format storage, enum status expected,
                                  const char *said, const char *what)
{
    struct data_set set;
    struct problem p = {0};
    struct data_options options = {.storage = storage};
    enum status status = data_read(&set, path, &options, &p);
    cr_expect(status == expected && p.status == expected, "%s: status %d, expected %d: %s", what,
              (int)status, (int)expected, p.text);
    cr_expect(set.count == 0 && !set.item, "%s: a set remains", what);
    const char *base = strrchr(path, '/');
    char name[256];
    snprintf(name, sizeof name, "%s", base ? base + 1 : path);
    if (strcmp(path, "-") == 0)
        snprintf(name, sizeof name, "standard input");
    name[strcspn(name, "#:")] = 0;
    cr_expect(strstr(p.text, name), "%s: does not name the file: %s", what, p.text);
    cr_expect(strstr(p.text, said), "%s: does not say '%s': %s", what, said, p.text);
    data_free(&set);
}

/* Reading it succeeds. data_free is due. */
static inline struct data_set expect_data(const char *path, enum format storage, bool convert,
                                          const char *what)
{
    struct data_set set;
    struct problem p = {0};
    struct data_options options = {.storage = storage, .convert = convert};
    enum status status = data_read(&set, path, &options, &p);
    cr_assert(status == STATUS_OK, "%s: status %d: %s", what, (int)status, p.text);
    return set;
}
