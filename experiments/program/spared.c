/* Files that a verb reads, which it must not write over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/program/verbs.h"

static bool same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is `read` this file: its path, a part of it (FILE:NAME, FILE#NAME, python:FILE:NAME), or a
 * directory of results of which it is a part? */
static bool is_read(const char *read, const struct stat *written)
{
    static const char *const parts[] = {"study.json", "results.csv", "summary.csv", "trial.csv"};
    struct stat facts;
    char *path = strdup(strncmp(read, "python:", 7) == 0 ? read + 7 : read);
    bool found = false;
    for (size_t end = path ? strlen(path) : 0; end > 0 && !found;) {
        found = stat(path, &facts) == 0 && same(&facts, written);
        for (size_t i = 0; i < sizeof parts / sizeof *parts && !found; i++) {
            char part[4096];
            int length = snprintf(part, sizeof part, "%s/%s", path, parts[i]);
            found = length < (int)sizeof part && stat(part, &facts) == 0 && same(&facts, written);
        }
        while (end > 0 && path[end] != ':' && path[end] != '#')
            end--;
        path[end] = 0;
    }
    free(path);
    return found;
}

static const char *const outputs[] = {"out", "reproducer", "junit", "markdown"};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };

static enum status hold_apart(const struct arguments *a, size_t output, struct problem *p)
{
    static const char *const inputs[] = {"data", "method", "from", "keys"};
    const char *path = argument_value(a, outputs[output]), *other;
    struct stat facts, others;
    bool there = stat(path, &facts) == 0;
    if (there && !S_ISREG(facts.st_mode))
        return STATUS_OK;
    for (size_t i = 0; i < output; i++)
        if ((other = argument_value(a, outputs[i])) &&
            (strcmp(path, other) == 0 ||
             (there && stat(other, &others) == 0 && same(&facts, &others))))
            return problem(p, STATUS_USAGE, "--%s: found %s, which --%s writes, expected another",
                           outputs[output], path, outputs[i]);
    for (size_t i = 0; there && i < a->operands; i++)
        if (is_read(a->operand[i], &facts))
            return problem(p, STATUS_USAGE, "--%s: found %s, which %s reads, expected another file",
                           outputs[output], path, a->verb->name);
    for (size_t i = 0; there && i < sizeof inputs / sizeof *inputs; i++) {
        struct list list;
        enum status status = argument_list(a, inputs[i], &list, p);
        for (size_t k = 0; status == STATUS_OK && k < list.count; k++) {
            const char *item = list.item[k];
            bool file = strncmp(item, "file:", 5) == 0;
            if (is_read(file ? item + 5 : item, &facts))
                status = problem(p, STATUS_USAGE,
                                 "--%s: found %s, which --%s reads, expected another file",
                                 outputs[output], path, inputs[i]);
        }
        list_free(&list);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

enum status inputs_spared(const struct arguments *a, struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < OUTPUTS && status == STATUS_OK; i++)
        if (argument_value(a, outputs[i]))
            status = hold_apart(a, i, p);
    return status;
}
