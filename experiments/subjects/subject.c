#include "experiments/subjects/subject.h"

#include "experiments/operations/operation.h"
#include "experiments/subjects/foreign.h"
#include "experiments/subjects/release.h"
#include "experiments/subjects/release_cublas.h"
#include "reports/text/near.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

/* Up to the '/', and with it. */
static size_t family_length(const char *name)
{
    const char *slash = strchr(name, '/');
    return slash ? (size_t)(slash - name) + 1 : 0;
}

static void append(char *text, size_t size, const char *word, size_t length, const char *end)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%.*s%s", used ? ", " : "", (int)length, word, end);
}

/* Is there a word in the list that begins so? */
static bool is_listed(const char *text, const char *word, size_t length)
{
    for (const char *at = text; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, word, length) == 0)
            return true;
    }
    return false;
}

void subject_families(char *text, size_t size, const struct operation *operation)
{
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        size_t length = family_length(m->name);
        if ((!operation || m->operation == operation) && !is_listed(text, m->name, length))
            append(text, size, m->name, length, "...");
    }
}

/* Those of the family that the name is of, where there are any; else the families. */
static void expected(char *text, size_t size, const char *name, const struct operation *operation)
{
    size_t length = family_length(name);
    for (size_t i = 0; length > 0 && i < method_count; i++) {
        const struct method *m = method_registry[i];
        if ((!operation || m->operation == operation) && strncmp(m->name, name, length) == 0)
            append(text, size, m->name, strlen(m->name), "");
    }
    if (!*text)
        subject_families(text, size, operation);
}

enum status subject_named(const struct method **m, const char *where, const char *name,
                          const struct operation *operation, struct problem *p)
{
    char known[SUBJECT_NAMES] = "";
    if (name_is_foreign(name))
        return foreign_named(m, where, name, operation, p);
    if (name_is_release(name))
        return release_named(m, where, name, p);
    *m = method_named(name);
    if (*m) {
        enum status status = release_cublas_beside(*m, where, p);
        *m = status == STATUS_OK ? *m : NULL;
        return status;
    }
    struct near near = {.word = name};
    bool family = false;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *known_method = method_registry[i];
        size_t length = family_length(known_method->name) - 1;
        family = family || (strncmp(known_method->name, name, length) == 0 && !name[length]);
        if (!operation || known_method->operation == operation)
            near_try(&near, known_method->name);
    }
    if (near.found && !family)
        return problem(p, STATUS_USAGE,
                       "%s: found '%.200s', expected a method: did you mean %s? (ulpscope list "
                       "methods has all)",
                       where, name, near.found);
    expected(known, sizeof known, name, operation);
    return problem(p, STATUS_USAGE,
                   "%s: found '%.200s', expected one of %s; or exec:COMMAND, python:FUNCTION, or "
                   "PATH.so:NAME",
                   where, name, known);
}

const char *subject_fingerprint(const struct method *m)
{
    const char *object = foreign_fingerprint(m);
    return object ? object : release_fingerprint(m);
}

enum status subject_askable(const struct method **m, const char *where, const char *name,
                            const struct operation *operation, struct problem *p)
{
    enum status status = subject_named(m, where, name, operation, p);
    if (status != STATUS_OK || operation_served((*m)->operation))
        return status;
    return problem(p, STATUS_USAGE,
                   "%s: found %s, which takes %s, expected a method that reads elements, and maybe "
                   "their keys or how rows lie",
                   where, name, operation_takes((*m)->operation));
}

bool subject_hash_file(char text[33], const char *path)
{
    char block[1 << 14];
    size_t got;
    FILE *file = fopen(path, "re");
    XXH3_state_t *state = file ? XXH3_createState() : NULL;
    bool good = state && XXH3_128bits_reset(state) == XXH_OK;
    while (good && (got = fread(block, 1, sizeof block, file)) > 0)
        XXH3_128bits_update(state, block, got);
    good = good && !ferror(file);
    XXH128_hash_t hash = good ? XXH3_128bits_digest(state) : (XXH128_hash_t){0};
    snprintf(text, 33, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
    int error = errno;
    if (file)
        fclose(file);
    XXH3_freeState(state);
    errno = error;
    return good;
}
