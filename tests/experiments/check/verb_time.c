/* `ulpscope check` as a program, by the clock: it ends in time and draws progress. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include <criterion/criterion.h>

#include "experiments/system/clock.h"
#include "tests/support/terminal.h"

static double seconds_since(uint64_t begin_ns)
{
    return (double)(clock_ns() - begin_ns) / 1e9;
}

#define LATE "sleep 0.7; exec " FLAWED_PROGRAM

/* What starts take at worst, until nobody asks: of ulpscope, with nothing to try; and how much
 * longer than its 0.7 s of the program. */
struct starts {
    atomic_bool asked;
    double own, late;
};

static double time_of(const char *command)
{
    uint64_t begin = clock_ns();
    cr_assert(system(command) != -1);
    return seconds_since(begin);
}

static void *time_starts(void *context)
{
    struct starts *s = context;
    while (s->asked) {
        s->late = fmax(s->late, time_of("(" LATE ") </dev/null >/dev/null 2>&1") - 0.7);
        s->own =
            fmax(s->own, time_of(ULPSCOPE_PROGRAM " check sum/serial --device cpu --n 10 --only "
                                                  "recorded --seconds 0.01 >/dev/null 2>&1"));
    }
    return NULL;
}

/* Starts of processes are part of the time: a program that takes long to begin, and to be asked.
 * The check ends within 1.5 times what was asked, beside the start of ulpscope itself and what a
 * busy machine adds to the start in which time ends. */
Test(check_verb, stays_in_the_time, .init = make_folder, .fini = remove_folder)
{
    struct starts starts = {.asked = true};
    pthread_t thread;
    cr_assert(pthread_create(&thread, NULL, time_starts, &starts) == 0);
    uint64_t begin = clock_ns();
    int status = run_program("check", "'exec:" LATE "' --device cpu --seconds 6");
    double took = seconds_since(begin);
    starts.asked = false;
    pthread_join(thread, NULL);
    cr_expect(status == 0, "exit status %d", status);
    cr_expect(took <= 1.5 * 6 + starts.own + starts.late,
              "%.3g s; a start of ulpscope takes %.3g s, one of the program %.3g s more than alone",
              took, starts.own, starts.late);
}

/* On a terminal, also while one start takes long: from the second second on, counted down. */
Test(check_verb, draws_progress_inside_a_case, .init = make_folder, .fini = remove_folder)
{
    char drawn[4096], line[64];
    int status = run_on_terminal("check",
                                 "'exec:sleep 3; exec " FLAWED_PROGRAM "' --device cpu --n 10 "
                                 "--seconds 8 --only repeat --storage fp64 --accumulator fp64",
                                 drawn, sizeof drawn);
    cr_expect(status == 0, "exit status %d", status);
    cr_expect(!strstr(drawn, "start, about 8 s left"), "drawn in the first second: %s", drawn);
    size_t counted = 0;
    for (int left = 7; left >= 5; left--) {
        snprintf(line, sizeof line, ": start, about %d s left", left);
        counted += strstr(drawn, line) != NULL;
    }
    cr_expect(counted >= 2, "%s", drawn);
}
