/* What is asked of NVIDIA's driver where a GPU is to be seen, but not used. When it is loaded, it
 * makes the file that PLAYED_DRIVER_LOADED names. */
#include <stdio.h>
#include <stdlib.h>

int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);

int cuInit(unsigned flags)
{
    (void)flags;
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = 1;
    return 0;
}

__attribute__((constructor)) static void say_loaded(void)
{
    const char *path = getenv("PLAYED_DRIVER_LOADED");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file)
        fclose(file);
}
