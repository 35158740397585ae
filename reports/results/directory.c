#include "reports/results/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/columns/columns.h"
#include "reports/text/file.h"

/* The files; study.json goes last, and only by being replaced: without it nothing would be resumed.
 */
static const struct {
    size_t at; /* in struct directory */
    const char *name;
} files[] = {{offsetof(struct directory, summary), "summary.csv"},
             {offsetof(struct directory, results), "results.csv"},
             {offsetof(struct directory, profile), "profile.csv"},
             {offsetof(struct directory, times), "times.csv"},
             {offsetof(struct directory, atomics), "atomics.csv"},
             {offsetof(struct directory, growth), "growth.csv"},
             {offsetof(struct directory, scales), "scales.csv"},
             {offsetof(struct directory, steps), "steps.csv"},
             {offsetof(struct directory, trial), "trial.csv"},
             {offsetof(struct directory, study), "study.json"}};

enum { FILES = sizeof files / sizeof *files, WITHOUT_STUDY = FILES - 1 };

static char **file_at(const struct directory *d, size_t i)
{
    return (char **)((char *)d + files[i].at);
}

/* Like mkdir -p. */
static int make_folders(const char *path)
{
    char *copy = strdup(path);
    int result = copy ? 0 : -1;
    for (char *slash = copy ? copy + 1 : NULL; result == 0 && slash && *slash; slash++) {
        if (*slash != '/')
            continue;
        *slash = 0;
        result = mkdir(copy, 0777) != 0 && errno != EEXIST ? -1 : 0;
        *slash = '/';
    }
    if (result == 0)
        result = mkdir(copy, 0777) != 0 && errno != EEXIST ? -1 : 0;
    int error = errno;
    free(copy);
    errno = error;
    return result;
}

/* A process that was killed may take a moment to end, and holds the lock until then. */
static int lock(int folder)
{
    enum { WAITS = 50, WAIT_MS = 20 };
    int failed;
    for (int i = 0; (failed = flock(folder, LOCK_EX | LOCK_NB)) != 0 && i < WAITS; i++)
        if (errno != EINTR && (errno != EWOULDBLOCK || poll(NULL, 0, WAIT_MS) != 0))
            break;
    return failed;
}

/* What a process that was killed had begun to write beside a file. */
static enum status drop_parts(const struct directory *d, struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < FILES; i++) {
        char *part = file_part(*file_at(d, i));
        if (!part)
            return problem(p, STATUS_MEMORY, "%s: out of memory", d->path);
        struct stat facts;
        if (lstat(part, &facts) == 0 && unlink(part) != 0)
            status = problem(p, STATUS_DATA, "%s: could not be removed: %s", part, strerror(errno));
        free(part);
    }
    return status;
}

enum status directory_open(struct directory *d, const char *path, struct problem *p)
{
    *d = (struct directory){.lock = -1};
    if (!*path)
        return problem(p, STATUS_USAGE, "option --out: found '', expected a directory");
    if (make_folders(path) != 0)
        return problem(p, STATUS_DATA, "%s: could not be made a results directory: %s", path,
                       strerror(errno));
    d->lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (d->lock < 0)
        return problem(p, STATUS_DATA, "%s: %s; expected a results directory", path,
                       strerror(errno));
    if (lock(d->lock) != 0)
        return problem(p, STATUS_DATA,
                       errno == EWOULDBLOCK ? "%s: another ulpscope is writing to it"
                                            : "%s: could not be locked",
                       path);
    d->path = strdup(path);
    bool good = d->path != NULL;
    for (size_t i = 0; good && i < FILES; i++)
        good = asprintf(file_at(d, i), "%s/%s", path, files[i].name) >= 0;
    if (!good)
        return problem(p, STATUS_MEMORY, "%s: out of memory", path);
    return drop_parts(d, p);
}

static bool exists(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0;
}

static enum status start_over(const struct directory *d, struct problem *p)
{
    for (size_t i = 0; i < WITHOUT_STUDY; i++)
        if (unlink(*file_at(d, i)) != 0 && errno != ENOENT)
            return problem(p, STATUS_DATA, "%s: could not start over: %s", d->path,
                           strerror(errno));
    return STATUS_OK;
}

static enum status take_over(const struct directory *d, json_t *study, struct problem *p)
{
    json_t *found;
    enum status status = study_read(&found, d->study, p);
    if (status != STATUS_OK)
        return status;
    status = study_same(found, study, d->study, p);
    if (status == STATUS_OK &&
        (json_object_update(study, found) != 0 ||
         json_object_set_new(study, "schema_version", json_integer(SCHEMA_VERSION)) != 0))
        status = problem(p, STATUS_MEMORY, "%s: out of memory", d->study);
    json_decref(found);
    return status;
}

enum status directory_claim(struct directory *d, json_t *study, bool force, bool *resumed,
                            struct problem *p)
{
    enum status status = force ? start_over(d, p) : STATUS_OK;
    if (status == STATUS_OK)
        status = directory_look(d, study, force, resumed, p);
    return status == STATUS_OK && !*resumed ? study_write(study, d->study, p) : status;
}

enum status directory_look(const struct directory *d, json_t *study, bool force, bool *resumed,
                           struct problem *p)
{
    *resumed = !force && exists(d->study);
    if (*resumed)
        return take_over(d, study, p);
    if (force)
        return STATUS_OK;
    if (exists(d->results) || exists(d->summary) || exists(d->profile) || exists(d->times) ||
        exists(d->trial) || exists(d->steps))
        return problem(p, STATUS_DATA,
                       "%s: found results without a study.json that says whose they are: give "
                       "another --out, or --force to start over",
                       d->path);
    return STATUS_OK;
}

enum status directory_replace(const struct directory *d, const char *const *file, size_t count,
                              struct problem *p)
{
    for (size_t i = 0; i < count; i++) {
        char *part = file_part(file[i]);
        if (!part)
            return problem(p, STATUS_MEMORY, "%s: out of memory", d->path);
        int failed = rename(part, file[i]);
        free(part);
        if (failed)
            return problem(p, STATUS_DATA, "%s: could not be replaced: %s", file[i],
                           strerror(errno));
    }
    for (size_t i = 0; i < WITHOUT_STUDY; i++) {
        const char *path = *file_at(d, i);
        bool ours = false;
        for (size_t k = 0; k < count; k++)
            ours |= strcmp(path, file[k]) == 0;
        if (!ours && unlink(path) != 0 && errno != ENOENT)
            return problem(p, STATUS_DATA, "%s: could not be removed: %s", path, strerror(errno));
    }
    return STATUS_OK;
}

void directory_close(struct directory *d)
{
    if (d->lock >= 0)
        close(d->lock);
    free(d->path);
    for (size_t i = 0; i < FILES; i++)
        free(*file_at(d, i));
    *d = (struct directory){.lock = -1};
}
