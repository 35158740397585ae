#include "kernels/cublaslt/routines.cuh"

#include <dlfcn.h>

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

namespace cublaslt
{

static const struct routines *load()
{
    static struct routines found;
    void *library = dlopen("libcublasLt.so." TEXT(CUBLAS_VER_MAJOR), RTLD_LAZY | RTLD_LOCAL);
    bool complete = library != nullptr;
#define FIND(name, routine)                                                                        \
    found.name = library ? (decltype(found.name))dlsym(library, #routine) : nullptr;               \
    complete = complete && found.name;
    CUBLASLT_ROUTINES(FIND)
    const bool first = complete;
    CUBLASLT_EMULATION(FIND)
#undef FIND
    found.emulates = CUBLASLT_EMULATES && complete;
    return first ? &found : nullptr;
}

const struct routines *loaded()
{
    static const struct routines *const once = load();
    return once;
}

} // namespace cublaslt
