/* A load works, at the same time as others do, and ends. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/system/clock.h"
#include "kernels/gpu/gpu.h"
#include "kernels/gpu/load.h"

/* Processor time of the process, and thereby of all of its threads. */
static double busy_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double own_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void wait_for(const struct load *load, uint64_t rounds)
{
    uint64_t begin = clock_ns();
    while (load_rounds(load) < rounds && clock_ns() - begin < UINT64_C(20000000000))
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

Test(load, works_until_it_is_ended)
{
    struct problem p = {0};
    for (int i = 0; i < 2; i++) {
        struct load *load;
        double others = busy_ns() - own_ns(); /* before any round: all that are counted are in it */
        cr_assert(load_begin(&load, -1, &p) == STATUS_OK, "%s", p.text);
        wait_for(load, 1000);
        cr_expect(load_rounds(load) >= 1000, "%llu rounds in 20 s",
                  (unsigned long long)load_rounds(load));
        /* 65536 dependent additions take no processor less than 20 us. */
        double worked = busy_ns() - own_ns() - others;
        cr_expect(worked > 1000 * 2e4, "1000 rounds took %g s of processors", 1e-9 * worked);
        load_end(load);
        others = busy_ns() - own_ns();
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        cr_expect(busy_ns() - own_ns() - others < 5e7, "it works on when it has ended");
    }
    load_end(NULL);
}

Test(load, says_that_there_is_no_such_device)
{
    struct problem p = {0};
    struct load *load;
    cr_expect(load_begin(&load, gpu_count(false), &p) == STATUS_DEVICE);
    cr_expect(load == NULL && strstr(p.text, "device cuda"), "found '%s'", p.text);
}
