#include "experiments/subjects/release_cublas.h"
#include "experiments/subjects/subject.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "kernels/gpu/gpu.h"

/* libcublas needs libcublasLt, which is therefore the first to be loaded. */
enum library { CUBLAS_LT, CUBLAS, LIBRARIES };
static const char *const library_name[LIBRARIES] = {"libcublasLt", "libcublas"};
static const char *const property_name[LIBRARIES] = {"cublasLtGetProperty", "cublasGetProperty"};

enum { VERSION_TEXT = 48, SONAME_TEXT = 40 };

/* Of this process: the release that it has, and a method that was named without one. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char held[VERSION_TEXT], held_fingerprint[33];
static const char *without;

bool method_of_cublas(const struct method *m)
{
    return strncmp(m->name, "cublas/", strlen("cublas/")) == 0 ||
           strncmp(m->name, "cublaslt/", strlen("cublaslt/")) == 0;
}

static const char *const apart = "a process has one cuBLAS: name others in commands of their own";

enum status release_cublas_beside(const struct method *m, const char *where, struct problem *p)
{
    enum status status = STATUS_OK;
    if (!method_of_cublas(m))
        return STATUS_OK;
    pthread_mutex_lock(&mutex);
    if (*held)
        status = problem(p, STATUS_USAGE, "%s: found %s, beside methods of cuBLAS %s: %s", where,
                         m->name, held, apart);
    else
        without = m->name;
    pthread_mutex_unlock(&mutex);
    return status;
}

/* The version that a library tells by the function of this name, "13.1.0"; false: it tells none.
 * libraryPropertyType: 0, 1, 2 are major, minor, patch (library_types.h). */
static bool tells(char text[VERSION_TEXT], void *library, const char *function)
{
    int part[3] = {0};
    int (*property)(int, int *) = NULL;
    *(void **)&property = dlsym(library, function);
    for (int i = 0; i < 3; i++)
        if (!property || property(i, &part[i]) != 0)
            return false;
    snprintf(text, VERSION_TEXT, "%d.%d.%d", part[0], part[1], part[2]);
    return true;
}

struct files {
    char soname[LIBRARIES][SONAME_TEXT], path[LIBRARIES][PATH_MAX];
};

/* Both are hashed: kernels are in either. */
static enum status find(struct files *f, char fingerprint[33], const char *folder,
                        const char *version, unsigned major, struct problem *p)
{
    char text[LIBRARIES][33];
    for (enum library l = 0; l < LIBRARIES; l++) {
        snprintf(f->soname[l], SONAME_TEXT, "%s.so.%u", library_name[l], major);
        snprintf(f->path[l], PATH_MAX, "%s/cublas/%s/%s", folder, version, f->soname[l]);
        if (!subject_hash_file(text[l], f->path[l]))
            return problem(p, STATUS_DATA,
                           "%s: could not be read: %s (experiments/releases/releases build "
                           "--cublas has releases of cuBLAS, ULPSCOPE_RELEASES names their folder)",
                           f->path[l], strerror(errno));
    }
    /* of both, so that neither can change unseen */
    snprintf(fingerprint, 33, "%.16s%.16s", text[CUBLAS], text[CUBLAS_LT]);
    return STATUS_OK;
}

/* Is it this one that the process has by that name? NULL: is it none? */
static bool is_loaded(const char *soname, const void *library)
{
    void *found = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
    if (found)
        dlclose(found);
    return found == library;
}

static enum status load(void *library[LIBRARIES], const struct files *f, const char *version,
                        struct problem *p)
{
    char is[VERSION_TEXT] = "";
    for (enum library l = 0; l < LIBRARIES; l++) {
        library[l] = dlopen(f->path[l], RTLD_LAZY | RTLD_LOCAL);
        if (!library[l])
            return problem(p, STATUS_DATA, "%s: could not be loaded: %s", f->path[l], dlerror());
        if (!tells(is, library[l], property_name[l]))
            return problem(p, STATUS_DATA, "%s: %s tells no version", f->path[l], property_name[l]);
        if (strcmp(is, version) != 0)
            return problem(p, STATUS_DATA, "%s: found cuBLAS %s in it, expected %s", f->path[l], is,
                           version);
    }
    /* The one that libcublas calls, and what kernels/cublas finds by their names. */
    bool mixed = dlsym(library[CUBLAS], property_name[CUBLAS_LT]) !=
                 dlsym(library[CUBLAS_LT], property_name[CUBLAS_LT]);
    for (enum library l = 0; l < LIBRARIES; l++)
        mixed = mixed || !is_loaded(f->soname[l], library[l]);
    return mixed ? problem(p, STATUS_DATA,
                           "%s: loaded, but it is not what this process has for %s and %s",
                           f->path[CUBLAS], f->soname[CUBLAS], f->soname[CUBLAS_LT])
                 : STATUS_OK;
}

/* The lock is held. */
static enum status take(char fingerprint[33], const char *folder, const char *version, uint32_t is,
                        const char *where, const char *name, const struct method *of,
                        struct problem *p)
{
    struct files f;
    void *library[LIBRARIES] = {NULL};
    const char *beside = without ? without : *held && strcmp(held, version) != 0 ? held : NULL;
    if (beside)
        return problem(p, STATUS_USAGE, "%s: found %s, beside %s%s: %s", where, name,
                       without ? "" : "methods of cuBLAS ", beside, apart);
    if (*held) { /* hashing half a gigabyte takes time */
        memcpy(fingerprint, held_fingerprint, sizeof held_fingerprint);
        return STATUS_OK;
    }
    enum status status = find(&f, fingerprint, folder, version, (unsigned)(is / 1000000), p);
    if (status != STATUS_OK)
        return status;
    for (enum library l = 0; l < LIBRARIES; l++)
        if (!is_loaded(f.soname[l], NULL))
            return problem(p, STATUS_USAGE, "%s: found %s, but the process has loaded %s: %s",
                           where, name, f.soname[l], apart);
    status = load(library, &f, version, p);
    /* What kernels/cublas calls, in a build that has it. */
    const char *called = status != STATUS_OK || !method_cuda(of) ? version : gpu_cublas();
    if (!called || strcmp(called, version) != 0)
        status = problem(p, STATUS_DATA, "%s: loaded, but cuBLAS %s is what is called",
                         f.path[CUBLAS], called ? called : "(none)");
    if (status == STATUS_OK) {
        snprintf(held, sizeof held, "%s", version);
        memcpy(held_fingerprint, fingerprint, sizeof held_fingerprint);
    }
    for (enum library l = 0; l < LIBRARIES && status != STATUS_OK; l++)
        if (library[l])
            dlclose(library[l]);
    return status;
}

enum status release_cublas(char fingerprint[33], const char *folder, const char *version,
                           uint32_t is, const char *where, const char *name,
                           const struct method *of, struct problem *p)
{
    pthread_mutex_lock(&mutex);
    enum status status = take(fingerprint, folder, version, is, where, name, of, p);
    pthread_mutex_unlock(&mutex);
    return status;
}
