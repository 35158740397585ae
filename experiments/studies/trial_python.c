#include "experiments/studies/trial_python.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/options/pairs.h"
#include "experiments/subjects/foreign.h"
#include "experiments/subjects/subject.h"

struct listing {
    struct request *request;
    size_t added;
    struct problem first; /* why the first of those that cannot be tried cannot */
};

/* One function in one mode. One that cannot be described has a row that says why. */
static enum status add(struct listing *l, const char *function, const char *mode, struct problem *p)
{
    char name[256];
    const struct method *m;
    bool eager = strcmp(mode, "eager") == 0;
    snprintf(name, sizeof name, "python:%s%s%s", function, eager ? "" : "@", eager ? "" : mode);
    enum status status = subject_named(&m, "run trial", name, NULL, p);
    if (status != STATUS_OK)
        return status;
    const char *why = foreign_undescribed(m);
    if (why && l->first.status == STATUS_OK)
        problem(&l->first, STATUS_DATA, "%s", why);
    l->added += !why;
    return list_append(&l->request->axis[AXIS_METHOD], m->name, strlen(m->name), p);
}

static enum status add_library(struct listing *l, const json_t *library, const char *only,
                               struct problem *p)
{
    size_t i, k;
    json_t *function, *mode;
    enum status status = STATUS_OK;
    json_array_foreach (json_object_get(library, "modes"), k, mode) {
        if (*only && strcmp(only, json_string_value(mode)) != 0)
            continue;
        json_array_foreach (json_object_get(library, "functions"), i, function)
            if (status == STATUS_OK)
                status = add(l, json_string_value(function), json_string_value(mode), p);
    }
    return status;
}

static bool has_mode(const json_t *library, const char *mode)
{
    size_t i;
    json_t *word;
    json_array_foreach (json_object_get(library, "modes"), i, word)
        if (strcmp(json_string_value(word), mode) == 0)
            return true;
    return false;
}

/* LIBRARY, LIBRARY@MODE or all. */
static enum status add_named(struct listing *l, const json_t *listed, const char *asked,
                             struct problem *p)
{
    char *name = strdup(asked), *at = name ? strchr(name, '@') : NULL;
    const char *mode = at ? at + 1 : "", *each;
    json_t *library;
    enum status status = name ? STATUS_OK : problem(p, STATUS_MEMORY, "run trial: out of memory");
    if (at)
        *at = 0;
    library = status == STATUS_OK ? json_object_get(listed, name) : NULL;
    if (status == STATUS_OK && !library && strcmp(name, "all") != 0)
        status = problem(p, STATUS_USAGE,
                         "run trial: option --python: found '%s', expected torch, numpy, jax, "
                         "cupy, triton or all",
                         asked);
    else if (status == STATUS_OK && at && library && !has_mode(library, mode))
        status = problem(p, STATUS_USAGE,
                         "run trial: option --python: found '%s', expected a mode of %s: eager, "
                         "deterministic (torch), compiled (torch, jax), static (torch), "
                         "deterministic@compiled, deterministic@static (torch)",
                         asked, name);
    else if (status == STATUS_OK && library)
        status = add_library(l, library, mode, p);
    else if (status == STATUS_OK)
        json_object_foreach ((json_t *)listed, each, library)
            status = status == STATUS_OK ? add_library(l, library, mode, p) : status;
    free(name);
    return status;
}

/* No function is asked for more than the study tries: "cuda fp32/fp32", or "" where the devices are
 * not all of one kind. */
static enum status ask_only(const struct request *r, struct problem *p)
{
    static char words[1024];
    const struct list *device = &r->axis[AXIS_DEVICE];
    struct formats storage = {0}, accumulator = {0};
    size_t cpus = 0, gpus = 0;
    for (size_t i = 0; i < device->count; i++) {
        cpus += strcmp(device->item[i], "cpu") == 0;
        gpus += strncmp(device->item[i], "cuda", strlen("cuda")) == 0;
    }
    *words = 0;
    foreign_describe_only(words);
    enum status status = formats_parse(&storage, "storage", &r->axis[AXIS_STORAGE], p);
    if (status == STATUS_OK)
        status = formats_parse(&accumulator, "accumulator", &r->axis[AXIS_ACCUMULATOR], p);
    if (status != STATUS_OK || device->count == 0 ||
        (cpus != device->count && gpus != device->count))
        return status;
    size_t used = (size_t)snprintf(words, sizeof words, "%s", cpus ? "cpu" : "cuda");
    if (storage.count == 0 || accumulator.count == 0)
        return STATUS_OK;
    for (size_t i = 0; i < storage.count; i++)
        for (size_t k = 0; k < accumulator.count; k++)
            used += (size_t)snprintf(words + used, sizeof words - used, "%c%s/%s",
                                     i + k ? ',' : ' ', format_facts[storage.item[i]].name,
                                     format_facts[accumulator.item[k]].name);
    return STATUS_OK;
}

enum status trial_python(struct request *r, const struct list *libraries, struct problem *p)
{
    struct listing l = {.request = r};
    char path[PATH_MAX];
    json_error_t error;
    json_t *listed = NULL;
    enum status status = python_find(path, "trial.json", p);
    if (status == STATUS_OK)
        status = ask_only(r, p);
    if (status == STATUS_OK && !(listed = json_load_file(path, 0, &error)))
        status = problem(p, STATUS_DATA, "%s: line %d: %s", path, error.line, error.text);
    for (size_t i = 0; i < libraries->count && status == STATUS_OK; i++)
        status = add_named(&l, listed, libraries->item[i], p);
    if (status == STATUS_OK && l.added == 0)
        status = problem(p, STATUS_DATA,
                         "run trial: option --python: found none of the functions that are listed "
                         "there; the first: %s",
                         l.first.text);
    foreign_end(NULL); /* what described them */
    if (status == STATUS_OK)
        status = list_distinct(&r->axis[AXIS_METHOD], p);
    json_decref(listed);
    return status;
}
