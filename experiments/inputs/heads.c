#include "experiments/inputs/heads.h"

#include <stdlib.h>

enum status heads_make(uint8_t **heads, size_t n, size_t segment, struct problem *p)
{
    *heads = NULL;
    if (n == 0 || segment == 0)
        return STATUS_OK;
    *heads = calloc(n, sizeof **heads);
    if (!*heads)
        return problem(p, STATUS_DEVICE, "no memory for the head flags of %zu elements", n);
    for (size_t k = 0; k <= (n - 1) / segment; k++)
        (*heads)[k * segment] = 1;
    return STATUS_OK;
}
