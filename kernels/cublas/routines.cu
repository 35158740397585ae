#include "kernels/cublas/routines.cuh"

#include <dlfcn.h>

#include "kernels/cublas/version.h"

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

namespace cublas
{

static const struct routines *load()
{
    static struct routines found;
    void *library = dlopen("libcublas.so." TEXT(CUBLAS_VER_MAJOR), RTLD_LAZY | RTLD_LOCAL);
    bool complete = library != nullptr;
#define FIND(name, routine)                                                                        \
    found.name = library ? (decltype(found.name))dlsym(library, #routine) : nullptr;               \
    complete = complete && found.name;
    CUBLAS_ROUTINES(FIND)
#undef FIND
    return complete ? &found : nullptr;
}

const struct routines *loaded()
{
    static const struct routines *const once = load();
    return once;
}

} // namespace cublas

int cublas_version(int version[3])
{
    static const libraryPropertyType part[3] = {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
    const struct cublas::routines *library = cublas::loaded();
    if (!library)
        return -1;
    for (int i = 0; i < 3; i++)
        if (library->get_property(part[i], &version[i]) != CUBLAS_STATUS_SUCCESS)
            return 1;
    return 0;
}
