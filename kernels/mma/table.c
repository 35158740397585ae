/* The table of instructions, and how rows are named and found. */
#include "kernels/mma/mma.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct mma_element_facts mma_elements[MMA_ELEMENTS] = {
    [MMA_FP16] = {"fp16", FP16, 16, 10, 0, -14, 15},
    [MMA_BF16] = {"bf16", BF16, 16, 7, 0, -126, 127},
    [MMA_TF32] = {"tf32", FP32, 32, 10, 13, -126, 127},
    [MMA_FP64] = {"fp64", FP64, 64, 52, 0, -1022, 1023},
    [MMA_E4M3] = {"e4m3", E4M3, 8, 3, 0, -6, 8},
    [MMA_E5M2] = {"e5m2", E5M2, 8, 2, 0, -14, 15},
};

const char *const mma_units[MMA_UNITS] = {"mma", "wgmma", "tcgen05"};

const char *const mma_sources[MMA_SOURCES] = {
    [MMA_BY_KHATTAK] = "Khattak and Mikaitis, arXiv 2512.07004",
    [MMA_BY_XIE] = "Xie and others, MMA-Sim, arXiv 2511.10909",
    [MMA_BY_COMPILER] = "machine code of nvcc 13.0: fp16 instructions",
};

const struct mma_instruction mma_instructions[] = {
#define INSTRUCTION(chip, unit, m, n, k, element, result, block, fraction, kept, rounding, order,  \
                    c, least, source, ...)                                                         \
    {chip,                                                                                         \
     unit,                                                                                         \
     m,                                                                                            \
     n,                                                                                            \
     {element, result, k, block, fraction, kept, rounding, MMA_TRUNCATE, order, c, least, false},  \
     source,                                                                                       \
     __VA_ARGS__},
#include "kernels/mma/chips.def"
};
const size_t mma_instruction_count = sizeof mma_instructions / sizeof *mma_instructions;

const struct mma_instruction *mma_find(const char *chip, enum mma_unit unit,
                                       enum mma_element element, enum format result)
{
    const struct mma_instruction *found = NULL;
    for (const struct mma_instruction *i = mma_instructions;
         i < mma_instructions + mma_instruction_count; i++)
        if (strcmp(i->chip, chip) == 0 && i->rule.element == element && i->rule.result == result &&
            (unit >= MMA_UNITS || i->unit == unit) && (!found || i->unit < found->unit))
            found = i;
    return found;
}

const char *mma_chip(size_t i)
{
    for (size_t k = 0; k < mma_instruction_count; k++)
        if ((k == 0 || strcmp(mma_instructions[k - 1].chip, mma_instructions[k].chip) != 0) &&
            i-- == 0)
            return mma_instructions[k].chip;
    return NULL;
}

const char *mma_chip_named(const char *name)
{
    const char *chip;
    for (size_t i = 0; (chip = mma_chip(i)); i++)
        if (strcasecmp(chip, name) == 0)
            break;
    return chip;
}

int mma_capability(const char *chip)
{
    static const struct {
        const char *chip;
        int capability;
    } of[] = {{"v100", 70}, {"a100", 80}, {"ada", 89}, {"h100", 90}, {"h200", 90}, {"b200", 100}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strcmp(of[i].chip, chip) == 0)
            return of[i].capability;
    return 0;
}

enum mma_element mma_element_of(enum format storage)
{
    enum mma_element e = 0;
    while (e < MMA_ELEMENTS && mma_elements[e].stored != storage)
        e++;
    return e;
}

void mma_name(char name[MMA_NAME], const struct mma_instruction *i)
{
    snprintf(name, MMA_NAME, "%s %s %s %s", i->chip, mma_units[i->unit],
             mma_elements[i->rule.element].name, format_facts[i->rule.result].name);
}
