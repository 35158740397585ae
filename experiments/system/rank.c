#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/system/ranks.h"

enum { COME_SECONDS = 30, COME_SECONDS_MAX = 86400 };

static bool number_in(const char *variable, uint64_t *number)
{
    const char *text = getenv(variable);
    int end = 0;
    return text && strspn(text, "0123456789") == strlen(text) &&
           sscanf(text, "%18" SCNu64 "%n", number, &end) == 1 && !text[end];
}

/* Numbers of steps from here on are a job's script, an interactive shell and the like. */
static bool step_of_srun(void)
{
    uint64_t step;
    return number_in("SLURM_STEP_ID", &step) && step < 0xfffffff0;
}

enum status rank_find(struct rank *r, struct problem *p)
{
    static const struct {
        const char *index, *count;
        bool (*holds)(void);
    } launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL},
                     {"PMI_RANK", "PMI_SIZE", NULL},
                     {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", step_of_srun}};
    const char *asked = getenv("ULPSCOPE_RANK");
    uint64_t index, count;
    int end = 0;
    *r = (struct rank){0, 1};
    if (asked && *asked) {
        if (strcmp(asked, "off") == 0)
            return STATUS_OK;
        if (strspn(asked, "0123456789/") != strlen(asked) ||
            sscanf(asked, "%6" SCNu64 "/%6" SCNu64 "%n", &index, &count, &end) != 2 || asked[end] ||
            index < 1 || index > count || count > RANKS_MAX)
            return problem(p, STATUS_USAGE,
                           "ULPSCOPE_RANK: found '%s', expected a rank and how many there are, 1/4 "
                           "to 4/4 for four (at most %d), or off",
                           asked, RANKS_MAX);
        *r = (struct rank){(uint32_t)index - 1, (uint32_t)count};
        return STATUS_OK;
    }
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if ((!launchers[i].holds || launchers[i].holds()) &&
            number_in(launchers[i].index, &index) && number_in(launchers[i].count, &count)) {
            if (index < count && count <= RANKS_MAX)
                *r = (struct rank){(uint32_t)index, (uint32_t)count};
            return STATUS_OK;
        }
    return STATUS_OK;
}

uint64_t rank_seconds(void)
{
    uint64_t seconds;
    bool asked = number_in("ULPSCOPE_RANK_SECONDS", &seconds) && seconds <= COME_SECONDS_MAX;
    return asked ? seconds : COME_SECONDS;
}
