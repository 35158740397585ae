#include "experiments/system/memory.h"

#include <stdlib.h>

#include "experiments/system/machine.h"

enum { ALIGNMENT = 64, ALWAYS_HAD = 1 << 20 };

bool memory_has(size_t bytes)
{
    size_t available = bytes > ALWAYS_HAD ? machine_memory_available() : 0;
    return available == 0 || bytes <= available; /* 0: not known */
}

enum status memory_array(struct array *a, enum format f, size_t n, const char *what,
                         struct problem *p)
{
    size_t bytes = array_bytes(f, n);
    *a = (struct array){f, n, NULL};
    if (bytes <= SIZE_MAX - ALIGNMENT && memory_has(bytes))
        a->data = aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
    if (!a->data)
        return problem(p, STATUS_MEMORY,
                       "%s: out of memory: %zu elements of %s take %.3g bytes, %.3g are available",
                       what, n, format_facts[f].name, (double)n * (double)format_facts[f].bytes,
                       (double)machine_memory_available());
    return STATUS_OK;
}
