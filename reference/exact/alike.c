#include "reference/exact/alike.h"

#include <stdlib.h>

bool alike_begin(struct alike *k, const struct array *of)
{
    *k = (struct alike){.of = of, .slots = 4};
    while (k->slots < 2 * of->n)
        k->slots *= 2;
    k->place = calloc(k->slots, sizeof *k->place);
    return k->place != NULL;
}

void alike_end(struct alike *k)
{
    free(k->place);
    k->place = NULL;
}

size_t alike_first(struct alike *k, size_t i)
{
    uint64_t bits = array_bits(k->of, i);
    size_t slot = (size_t)(bits * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (k->slots - 1);
    while (k->place[slot] && array_bits(k->of, k->place[slot] - 1) != bits)
        slot = (slot + 1) & (k->slots - 1);
    if (!k->place[slot])
        k->place[slot] = i + 1;
    return k->place[slot] - 1;
}
