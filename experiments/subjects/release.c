#include "experiments/subjects/release.h"
#include "experiments/subjects/release_cublas.h"
#include "experiments/subjects/subject.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cub/release.h"

enum { NAME = 128 };

struct named {
    struct method method;
    char name[NAME], summary[256], fingerprint[33];
    struct named *next;
};

static struct named *all;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* That before the '@'; NULL where there is none. */
static const struct method *routine(const char *name)
{
    char before[NAME];
    const char *at = strchr(name, '@');
    if (!at || at[1] == 0 || (size_t)(at - name) >= sizeof before)
        return NULL;
    snprintf(before, sizeof before, "%.*s", (int)(at - name), name);
    return method_named(before);
}

bool name_is_release(const char *name)
{
    return routine(name) != NULL;
}

/* 3001004 for "3.1.4", 0 for anything else. */
static uint32_t version_of(const char *text)
{
    unsigned part[3] = {0};
    char end;
    return strspn(text, "0123456789.") == strlen(text) &&
                   sscanf(text, "%4u.%3u.%3u%c", &part[0], &part[1], &part[2], &end) == 3
               ? 1000000 * part[0] + 1000 * part[1] + part[2]
               : 0;
}

/* Loaded once a path: dlopen hands out what it has. */
static enum status load(const struct release **release, const char *path, const char *version,
                        struct problem *p)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *release = handle ? dlsym(handle, "ulpscope_release") : NULL;
    if (!handle)
        return problem(p, STATUS_DATA, "%s: could not be loaded: %s", path, dlerror());
    if (!*release)
        return problem(p, STATUS_DATA,
                       "%s: found no symbol ulpscope_release, expected what "
                       "experiments/releases/releases makes",
                       path);
    if ((*release)->layout != RELEASE_LAYOUT)
        return problem(
            p, STATUS_DATA,
            "%s: found layout 0x%x of its structures, expected 0x%x: build it again with "
            "experiments/releases/releases",
            path, (unsigned)(*release)->layout, (unsigned)RELEASE_LAYOUT);
    uint32_t is = (*release)->version;
    return is == version_of(version)
               ? STATUS_OK
               : problem(p, STATUS_DATA, "%s: found CCCL %u.%u.%u in it, expected %s", path,
                         (unsigned)(is / 1000000), (unsigned)(is / 1000 % 1000),
                         (unsigned)(is % 1000), version);
}

static const struct release_method *find(const struct release *release, const char *name)
{
    for (uint32_t i = 0; i < release->count; i++)
        if (strcmp(release->method[i].name, name) == 0)
            return &release->method[i];
    return NULL;
}

/* Of CUB and Thrust: what the shared object of the release holds. */
static enum status make_cccl(struct named *made, const char *folder, const char *version,
                             const char *where, const struct method *of, struct problem *p)
{
    const struct release *release;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.so", folder, version);
    if (!subject_hash_file(made->fingerprint, path))
        return problem(p, STATUS_DATA,
                       "%s: could not be read: %s (experiments/releases/releases builds releases, "
                       "ULPSCOPE_RELEASES names their folder)",
                       path, strerror(errno));
    enum status status = load(&release, path, version, p);
    if (status != STATUS_OK)
        return status;
    const struct release_method *found = find(release, of->name);
    if (!found)
        return problem(p, STATUS_USAGE, "%s: %s is not in CCCL %s", where, of->name, version);
    snprintf(made->summary, sizeof made->summary, "%s, compiled with CCCL %s", of->summary,
             version);
    made->method.cuda = found->cuda;
    struct format_pairs *pairs = &made->method.pairs[DEVICE_CUDA];
    for (enum format f = 0; f < FORMATS; f++)
        pairs->accumulators[f] &= found->accumulators[f];
    return STATUS_OK;
}

/* Of cuBLAS: the program's own code, which calls the process's cuBLAS. */
static enum status make_cublas(struct named *made, const char *folder, const char *version,
                               const char *where, const struct method *of, struct problem *p)
{
    enum status status = release_cublas(made->fingerprint, folder, version, version_of(version),
                                        where, made->name, of, p);
    snprintf(made->summary, sizeof made->summary, "%s, cuBLAS %s", of->summary, version);
    made->method.cuda = method_cuda(of);
    return status;
}

static enum status make(struct named *made, const char *where, const char *name, struct problem *p)
{
    const char *folder = getenv("ULPSCOPE_RELEASES"), *version = strchr(name, '@') + 1;
    const struct method *of = routine(name);
    if (strlen(name) >= NAME || version_of(version) == 0)
        return problem(p, STATUS_USAGE, "%s: found '%.200s', expected a release as in %s@%s", where,
                       name, of->name, method_of_cublas(of) ? "13.1.0" : "3.1.4");
    snprintf(made->name, sizeof made->name, "%s", name);
    made->method = *of;
    made->method.name = made->name;
    made->method.former = NULL;
    made->method.summary = made->summary;
    made->method.vendor = false; /* those of the program's own release stand beside it */
    return (method_of_cublas(of) ? make_cublas : make_cccl)(
        made, folder && *folder ? folder : RELEASE_FOLDER, version, where, of, p);
}

enum status release_named(const struct method **m, const char *where, const char *name,
                          struct problem *p)
{
    enum status status = STATUS_OK;
    pthread_mutex_lock(&mutex);
    struct named *of = all;
    while (of && strcmp(of->name, name) != 0)
        of = of->next;
    if (!of) {
        of = calloc(1, sizeof *of);
        status =
            of ? make(of, where, name, p) : problem(p, STATUS_MEMORY, "%s: out of memory", where);
        if (status == STATUS_OK) {
            of->next = all;
            all = of;
        } else {
            free(of);
        }
    }
    pthread_mutex_unlock(&mutex);
    *m = status == STATUS_OK ? &of->method : NULL;
    return status;
}

const char *release_fingerprint(const struct method *m)
{
    const char *found = NULL;
    pthread_mutex_lock(&mutex);
    for (struct named *of = all; of && !found; of = of->next)
        found = m == &of->method ? of->fingerprint : NULL;
    pthread_mutex_unlock(&mutex);
    return found;
}
