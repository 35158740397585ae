#include "experiments/options/subject_name.h"

#include <string.h>

bool name_is_program(const char *name)
{
    return strncmp(name, "exec:", strlen("exec:")) == 0;
}

bool name_is_python(const char *name)
{
    return strncmp(name, "python:", strlen("python:")) == 0;
}

bool name_is_object(const char *name)
{
    size_t length = strlen(name);
    return !name_is_program(name) && !name_is_python(name) &&
           ((length > 3 && strcmp(name + length - 3, ".so") == 0) || strstr(name, ".so:"));
}

bool name_is_mpi(const char *name)
{
    return strncmp(name, "mpi/", strlen("mpi/")) == 0 ||
           strncmp(name, "mpich/", strlen("mpich/")) == 0 ||
           strncmp(name, "nccl/", strlen("nccl/")) == 0;
}

bool name_is_foreign(const char *name)
{
    return name_is_program(name) || name_is_python(name) || name_is_object(name) ||
           name_is_mpi(name);
}

bool name_is_described(const char *name)
{
    return name_is_python(name) || name_is_object(name);
}
