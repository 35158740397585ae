#include "kernels/gpu/load.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernels/gpu/device_load.h"

const char *const load_name[LOAD_KINDS] = {[LOAD_IDLE] = "idle", [LOAD_BUSY] = "busy"};
_Static_assert(LOAD_KINDS == 2, "names of an axis");

enum { NUMBERS = 1 << 16, THREADS_MOST = 1024, STEP_NS = 4000000, NAP_NS = 200000 };

struct worker {
    struct load *load;
    unsigned index; /* of all that were started */
    int processor;  /* that it stays on; -1: any */
};

struct load {
    struct gpu_load *gpu; /* NULL on the CPU */
    pthread_t *thread;
    struct worker *worker; /* one a thread */
    unsigned workers;
    uint64_t begin_ns;
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

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* In every second step all work, in those between all but one, another one each time: what runs
 * beside them moves to the processor that is free, so that what depends on its processor shows
 * itself. */
static bool rests(const struct worker *w)
{
    uint64_t step = (now_ns() - w->load->begin_ns) / STEP_NS;
    return w->load->workers > 1 && step % 2 == 1 && step / 2 % w->load->workers == w->index;
}

static void stay(const struct worker *w)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (w->processor < 0)
        return;
    CPU_SET((size_t)w->processor, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static void *add(void *argument)
{
    const struct worker *worker = argument;
    struct load *load = worker->load;
    double *number = calloc(NUMBERS, sizeof *number);
    for (size_t i = 0; number && i < NUMBERS; i++)
        number[i] = 1;
    stay(worker);
    atomic_fetch_add(&load->begun, 1);
    while (!atomic_load(&load->over)) {
        if (rests(worker)) {
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
            continue;
        }
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
    struct load *load = ((const struct worker *)argument)->load;
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

/* A thread for each processor that this process may use; one for a GPU. */
static unsigned place_workers(struct load *load)
{
    cpu_set_t set;
    unsigned count = 0;
    bool known = !load->gpu && sched_getaffinity(0, sizeof set, &set) == 0;
    for (int i = 0; known && i < CPU_SETSIZE && count < THREADS_MOST; i++)
        if (CPU_ISSET((size_t)i, &set))
            load->worker[count++].processor = i;
    long online = load->gpu ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
    for (; !known && count < THREADS_MOST && (count == 0 || count < online); count++)
        load->worker[count].processor = -1;
    for (unsigned i = 0; i < count; i++) {
        load->worker[i].load = load;
        load->worker[i].index = i;
    }
    return count;
}

static enum status start(struct load *load, struct problem *p)
{
    load->thread = calloc(THREADS_MOST, sizeof *load->thread);
    load->worker = calloc(THREADS_MOST, sizeof *load->worker);
    if (!load->thread || !load->worker)
        return problem(p, STATUS_MEMORY, "no memory for the threads of a load");
    load->workers = place_workers(load);
    load->begin_ns = now_ns();
    for (; load->threads < load->workers; load->threads++) {
        int error = pthread_create(&load->thread[load->threads], NULL, load->gpu ? launch : add,
                                   &load->worker[load->threads]);
        if (error)
            return problem(p, STATUS_DEVICE, "thread %u of %u of a load could not be started: %s",
                           load->threads + 1, load->workers, strerror(error));
    }
    while (atomic_load(&load->begun) < load->workers)
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
    free(load->worker);
    free(load);
}
