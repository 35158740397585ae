#include "experiments/inputs/mask.h"

#include <stdlib.h>

#include "experiments/inputs/philox.h"

enum status mask_make(uint8_t **mask, size_t *kept, size_t n, size_t percent, uint64_t seed,
                      struct problem *p)
{
    *kept = 0;
    *mask = malloc(n + 1);
    if (!*mask)
        return problem(p, STATUS_DEVICE, "no memory for a mask of %zu elements", n);
    for (size_t i = 0; i < n; i++) {
        uint64_t word = random_draw(seed, RANDOM_MASK, i).word[0];
        (*mask)[i] = random_below(word, MASK_ALL) < percent;
        *kept += (*mask)[i];
    }
    return STATUS_OK;
}
