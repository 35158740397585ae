/* A shared object as version 1 of ulpscope_subject.h made it: the pairs are 16 bits. */
#include "ulpscope_subject.h"

struct subject_1 {
    const char *name, *summary;
    int operation, memory, promise;
    uint32_t pairs, reads;
    int (*run)(const struct ulpscope_task *t);
};

static int run(const struct ulpscope_task *t)
{
    for (size_t i = 0; i < t->n; i++)
        ((double *)t->out)[i] = 7;
    return 0;
}

static const struct subject_1 subject[] = {
    {"first", "another", ULPSCOPE_SUM, ULPSCOPE_HOST, ULPSCOPE_NO_PROMISE, 1, 0, run},
    {"second", "as it was", ULPSCOPE_SCAN, ULPSCOPE_HOST, ULPSCOPE_ORDER_INVARIANT,
     1u << (4 * 1 + 2) | 1u << (4 * 3 + 3), ULPSCOPE_READS_BLOCKS, run}};

const struct ulpscope_subjects ulpscope_subjects = {1, 2, (const void *)subject};
