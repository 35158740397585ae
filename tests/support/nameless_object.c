/* Shared objects whose ulpscope_subjects is not filled in: there is nothing in it, or (NAMELESS) an
 * entry without a name; and one that ends the process that loads it (LEAVES). */
#include <stdlib.h>

#include "ulpscope_subject.h"

#ifdef LEAVES
__attribute__((constructor)) static void leave(void)
{
    exit(0);
}
#endif

#ifdef NAMELESS
static int run(const struct ulpscope_task *t)
{
    *(double *)t->out = 7;
    return 0;
}

static const struct ulpscope_subject subject[] = {
    {"first", "has a name", ULPSCOPE_SUM, ULPSCOPE_HOST, ULPSCOPE_NO_PROMISE,
     ULPSCOPE_PAIR(ULPSCOPE_FP64, ULPSCOPE_FP64), 0, run},
    {.summary = "has none", .run = run}};

const struct ulpscope_subjects ulpscope_subjects = {ULPSCOPE_SUBJECT_VERSION, 2, subject};
#else
const struct ulpscope_subjects ulpscope_subjects = {ULPSCOPE_SUBJECT_VERSION, 3, NULL};
#endif
