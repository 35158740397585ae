#include "experiments/sweep/parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/system/ranks.h"
#include "reference/base/grow.h"
#include "reports/results/study.h"

enum { WAITS = 250, WAIT_US = 20000 };

char *fold_folder(const char *out)
{
    char *path;
    return asprintf(&path, "%s/ranks", out) < 0 ? NULL : path;
}

char *fold_rank(const char *out, uint32_t index)
{
    char *path;
    return asprintf(&path, "%s/ranks/%u", out, index) < 0 ? NULL : path;
}

static enum status no_memory(const char *path, struct problem *p)
{
    return problem(p, STATUS_MEMORY, "%s: out of memory", path);
}

enum status fold_wait(const char *out, struct problem *p)
{
    char *folder = fold_folder(out);
    uint32_t index;
    if (!folder)
        return no_memory(out, p);
    bool held = meeting_held(folder, &index);
    for (int i = 0; held && i < WAITS; i++) {
        usleep(WAIT_US);
        held = meeting_held(folder, &index);
    }
    free(folder);
    return held ? problem(p, STATUS_DATA,
                          "%s: another ulpscope is writing to it, rank %u of an earlier job", out,
                          index)
                : STATUS_OK;
}

void fold_end(const char *out)
{
    char *folder = fold_folder(out);
    if (folder)
        meeting_clear(folder);
    free(folder);
}

/* --- The directories --- */

static int by_rank(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static enum status find(struct parts *f, const char *out, struct problem *p)
{
    struct dirent *entry;
    char *folder = fold_folder(out);
    DIR *d = folder ? opendir(folder) : NULL;
    enum status status = folder ? STATUS_OK : no_memory(out, p);
    while (d && status == STATUS_OK && (entry = readdir(d))) {
        struct part part = {0};
        int end = 0;
        if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name) ||
            sscanf(entry->d_name, "%6u%n", &part.rank, &end) != 1 || entry->d_name[end])
            continue;
        part.path = fold_rank(out, part.rank);
        if (part.path && grow(&f->part, f->count, sizeof *f->part))
            f->part[f->count++] = part;
        else
            status = no_memory(out, p);
    }
    if (d)
        closedir(d);
    free(folder);
    if (f->count > 0)
        qsort(f->part, f->count, sizeof *f->part, by_rank);
    return status;
}

void parts_free(struct parts *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->part[i].path);
        json_decref(f->part[i].study);
    }
    free(f->part);
}

static bool is_file(const char *name, const char *end)
{
    const char *dot = strrchr(name, '.');
    return dot && strcmp(dot, end) == 0;
}

/* study.json goes last: rows without it would be nobody's. */
static enum status remove_part(const char *path, struct problem *p)
{
    struct dirent *entry;
    DIR *d = opendir(path);
    if (!d && errno == ENOENT)
        return STATUS_OK;
    while (d && (entry = readdir(d)))
        if (is_file(entry->d_name, ".csv") || is_file(entry->d_name, ".part"))
            unlinkat(dirfd(d), entry->d_name, 0);
    if (d)
        unlinkat(dirfd(d), "study.json", 0);
    if (d)
        closedir(d);
    return rmdir(path) == 0
               ? STATUS_OK
               : problem(p, STATUS_DATA, "%s: could not be removed: %s", path, strerror(errno));
}

enum status fold_drop(const char *out, struct problem *p)
{
    struct parts f = {0};
    enum status status = find(&f, out, p);
    for (size_t i = 0; status == STATUS_OK && i < f.count; i++)
        status = remove_part(f.part[i].path, p);
    parts_free(&f);
    return status;
}

/* A rank that was killed before it had a study.json has no rows: it is left out. */
static enum status read_study(struct part *part, const json_t *study, struct problem *p)
{
    char *path;
    if (asprintf(&path, "%s/study.json", part->path) < 0)
        return no_memory(part->path, p);
    enum status status = access(path, F_OK) == 0 ? study_read(&part->study, path, p) : STATUS_OK;
    if (status == STATUS_OK && part->study)
        status = study_same(part->study, study, path, p);
    free(path);
    return status;
}

static enum status add_inputs(json_t *all, const struct part *part, struct problem *p)
{
    const char *key;
    json_t *hash;
    json_object_foreach (json_object_get(part->study, "inputs"), key, hash) {
        json_t *before = json_object_get(all, key);
        if (before && !json_equal(before, hash))
            return problem(p, STATUS_DATA,
                           "%s/study.json: %s: found other elements than another rank has recorded "
                           "(XXH3 %s, expected %s)",
                           part->path, key, json_string_value(hash), json_string_value(before));
        if (json_object_set(all, key, hash) != 0)
            return no_memory(part->path, p);
    }
    return STATUS_OK;
}

/* What study.json of the whole says of a rank: where and with what it ran. */
static enum status add_facts(json_t *study, const struct part *part, struct problem *p)
{
    static const char *const kept[] = {"started", "cases_began", "cases_ended",
                                       "hosts",   "program",     "machine"};
    json_t *ranks = json_object_get(study, "ranks"), *facts = json_object();
    if (!ranks) {
        ranks = json_array();
        json_object_set_new(study, "ranks", ranks);
    }
    json_object_set_new(facts, "rank", json_integer(part->rank));
    json_object_set_new(facts, "cases", json_integer((json_int_t)part->cases));
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        json_object_set(facts, kept[i], json_object_get(part->study, kept[i]));
    return json_array_append_new(ranks, facts) == 0 ? STATUS_OK : no_memory(part->path, p);
}

enum status parts_find(struct parts *f, const char *out, const json_t *study, struct problem *p)
{
    enum status status = find(f, out, p);
    for (size_t i = 0; status == STATUS_OK && i < f->count; i++)
        status = read_study(&f->part[i], study, p);
    return status;
}

enum status parts_join(const struct parts *f, json_t *study, const char *path, uint32_t from,
                       struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < f->count; i++) {
        const struct part *part = &f->part[i];
        if (part->rank < from || !part->study)
            continue;
        status = add_inputs(json_object_get(study, "inputs"), part, p);
        if (status == STATUS_OK)
            status = add_facts(study, part, p);
    }
    return status == STATUS_OK ? study_write(study, path, p) : status;
}

bool parts_any(const struct parts *f, uint32_t from)
{
    return f->count > 0 && f->part[f->count - 1].rank >= from;
}

enum status parts_remove(const struct parts *f, uint32_t from, struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; status == STATUS_OK && k < f->count; k++)
        if (f->part[k].rank >= from)
            status = remove_part(f->part[k].path, p);
    return status;
}
