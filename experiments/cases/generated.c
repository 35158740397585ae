#include "experiments/cases/generated.h"

#include <stdlib.h>

#include "experiments/system/memory.h"

static enum status read_options(struct generated *g, uint64_t *n, enum format *storage,
                                const struct arguments *a, struct problem *p)
{
    const char *format = argument_value(a, "storage"), *cond = argument_value(a, "cond");
    enum status status = STATUS_OK;
    *storage = FP64;
    g->cond = 0;
    if (!argument_value(a, "n"))
        return problem(p, STATUS_USAGE, "%s: no --n: expected how many elements to generate",
                       a->verb->name);
    if (format)
        status = format_parse(storage, "storage", format, p);
    if (status == STATUS_OK)
        status = argument_number(a, "n", 0, 0, UINT64_MAX, n, p);
    if (status == STATUS_OK)
        status = argument_number(a, "seed", 1, 0, UINT64_MAX, &g->seed, p);
    if (status == STATUS_OK && cond)
        status = real_parse(&g->cond, "cond", cond, p);
    return status;
}

enum status generated_make(struct generated *g, const char *specification, bool pairs,
                           const struct arguments *a, struct problem *p)
{
    struct input in;
    uint64_t n = 0;
    enum format storage = FP64;
    enum status status = read_options(g, &n, &storage, a, p);
    if (status == STATUS_OK)
        status = input_parse(&in, specification, p);
    if (status != STATUS_OK)
        return status;
    input_name(&in, g->name);
    if (g->cond > 0 && !in.family->uses_cond)
        return problem(p, STATUS_USAGE,
                       "option --cond: found it with %s, which has no target "
                       "condition number, expected the input cond",
                       g->name);
    bool both = pairs && in.family->pair;
    if (both && n > SIZE_MAX / 2)
        return problem(p, STATUS_MEMORY, "%s: out of memory for two arrays", g->name);
    status = memory_array(&g->array, storage, (size_t)(both ? 2 * n : n), g->name, p);
    if (status != STATUS_OK)
        return status;
    status = both ? input_generate_pair(&in, &g->array, g->seed, g->cond, p)
                  : input_generate(&in, &g->array, g->seed, g->cond, p);
    if (status != STATUS_OK)
        free(g->array.data);
    return status;
}
