#include "kernels/gpu/load.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/gpu/device_load.h"

const char *const load_name[LOAD_KINDS] = {[LOAD_IDLE] = "idle", [LOAD_BUSY] = "busy"};
_Static_assert(LOAD_KINDS == 2, "names of an axis");

enum { NUMBERS = 1 << 16, THREADS_MOST = 1024 };

struct load {
    struct gpu_load *gpu; /* NULL on the CPU */
    pthread_t *thread;
    unsigned threads; /* that were started */
    atomic_uint begun;
    atomic_bool over;
    atomic_uint_fast64_t rounds;
};

/* Numbers that are read from memory and written back, so that no addition can be left out. */
static void add_up(volatile double *number)
{
    double sum = 0;
    for (size_t i = 0; i < NUMBERS; i++) {
        sum += number[i];
        number[i] = sum * 0x1p-16;
    }
}

static void *add(void *argument)
{
    struct load *load = argument;
    double *number = calloc(NUMBERS, sizeof *number);
    for (size_t i = 0; number && i < NUMBERS; i++)
        number[i] = 1;
    atomic_fetch_add(&load->begun, 1);
    while (!atomic_load(&load->over)) {
        if (number)
            add_up(number);
        atomic_fetch_add(&load->rounds, 1);
    }
    free(number);
    return NULL;
}

/* Ignores errors: a GPU that fails also fails the sums that are being measured. */
static void *launch(void *argument)
{
    struct load *load = argument;
    struct problem why = {0};
    bool first = true;
    while (!atomic_load(&load->over) && gpu_load_round(load->gpu, &why) == STATUS_OK) {
        atomic_fetch_add(&load->rounds, 1);
        if (first)
            atomic_fetch_add(&load->begun, 1);
        first = false;
    }
    if (first)
        atomic_fetch_add(&load->begun, 1);
    return NULL;
}

static unsigned processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count < THREADS_MOST ? (unsigned)count : THREADS_MOST;
}

static enum status start(struct load *load, struct problem *p)
{
    unsigned wanted = load->gpu ? 1 : processors();
    load->thread = calloc(wanted, sizeof *load->thread);
    if (!load->thread)
        return problem(p, STATUS_MEMORY, "no memory for a load of %u threads", wanted);
    for (; load->threads < wanted; load->threads++) {
        int error =
            pthread_create(&load->thread[load->threads], NULL, load->gpu ? launch : add, load);
        if (error)
            return problem(p, STATUS_DEVICE, "thread %u of %u of a load could not be started: %s",
                           load->threads + 1, wanted, strerror(error));
    }
    while (atomic_load(&load->begun) < wanted)
        sched_yield();
    return STATUS_OK;
}

enum status load_begin(struct load **begun, int device, struct problem *p)
{
    *begun = NULL;
    struct load *load = calloc(1, sizeof *load);
    if (!load)
        return problem(p, STATUS_MEMORY, "no memory for a load");
    atomic_init(&load->begun, 0);
    atomic_init(&load->over, false);
    atomic_init(&load->rounds, 0);
    enum status status = device < 0 ? STATUS_OK : gpu_load_open(&load->gpu, device, p);
    if (status == STATUS_OK)
        status = start(load, p);
    if (status == STATUS_OK)
        *begun = load;
    else
        load_end(load);
    return status;
}

uint64_t load_rounds(const struct load *load)
{
    return atomic_load(&((struct load *)load)->rounds);
}

void load_end(struct load *load)
{
    if (!load)
        return;
    atomic_store(&load->over, true);
    for (unsigned i = 0; i < load->threads; i++)
        pthread_join(load->thread[i], NULL);
    gpu_load_close(load->gpu);
    free(load->thread);
    free(load);
}
