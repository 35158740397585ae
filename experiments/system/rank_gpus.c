#include "experiments/system/rank_gpus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/gpu/gpu.h"

enum { GPUS_MOST = 64, LIST_TEXT = 4096 };

uint32_t rank_place(struct rank rank)
{
    static const char *const variable[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                           "SLURM_LOCALID"};
    const char *asked = getenv("ULPSCOPE_RANK");
    for (size_t i = 0; (!asked || !*asked) && i < sizeof variable / sizeof *variable; i++) {
        const char *text = getenv(variable[i]);
        uint32_t place;
        int end = 0;
        if (text && strspn(text, "0123456789") == strlen(text) &&
            sscanf(text, "%6" SCNu32 "%n", &place, &end) == 1 && !text[end])
            return place;
    }
    return rank.index;
}

/* The k-th name of a list, or its number where there is no list. */
static int name_of(const char *list, unsigned k, char *out, size_t bytes)
{
    if (!list)
        return snprintf(out, bytes, "%u", k);
    for (; k > 0 && list; k--) {
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    return list ? snprintf(out, bytes, "%.*s", (int)strcspn(list, ","), list) : -1;
}

bool rank_turned(char *out, size_t bytes, const char *list, uint64_t alike, uint32_t place)
{
    unsigned order[GPUS_MOST], count = 0;
    size_t used = 0;
    for (unsigned k = 0; k < GPUS_MOST; k++)
        if (alike >> k & 1)
            order[count++] = k;
    if (count < 2 || place % count == 0)
        return false;
    for (unsigned i = 0; i < count; i++) {
        int length = 0;
        if (i > 0 && used + 1 < bytes)
            out[used++] = ',';
        length = name_of(list, order[(i + place) % count], out + used, bytes - used);
        if (length <= 0 || (size_t)length >= bytes - used)
            return false;
        used += (size_t)length;
    }
    return true;
}

/* Bit k: GPU k is there, and is of the kind of GPU 0, or cannot be described. */
static uint64_t find_alike(void)
{
    struct gpu_facts first = {0};
    uint64_t alike = 0;
    int count = gpu_count(true);
    for (int k = 0; k < count && k < GPUS_MOST; k++) {
        struct gpu_facts facts = {0};
        bool described = gpu_describe(k, &facts, NULL) == STATUS_OK;
        if (k == 0)
            first = facts;
        if (!described ||
            (strcmp(facts.name, first.name) == 0 && facts.memory_total == first.memory_total))
            alike |= UINT64_C(1) << k;
    }
    return alike;
}

void rank_take_gpu(struct rank rank)
{
    char list[LIST_TEXT];
    uint64_t alike = 0;
    uint32_t place = rank_place(rank);
    int ends[2];
    if (rank.count < 2 || place == 0 || pipe(ends) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        alike = find_alike();
        _exit(write(ends[1], &alike, sizeof alike) == sizeof alike ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &alike, sizeof alike) != sizeof alike)
        alike = 0;
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0)
        continue;
    if (rank_turned(list, sizeof list, getenv("CUDA_VISIBLE_DEVICES"), alike, place))
        setenv("CUDA_VISIBLE_DEVICES", list, 1);
}
