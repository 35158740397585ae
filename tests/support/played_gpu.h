/* A GPU that is played: the linker puts __wrap_gpu_job_open in the place of gpu_job_open, and so
 * on. */
#pragma once

#include <signal.h>

#include "kernels/method/method.h"

/* Memory in bytes; and whose turn it was, one letter for each turn. */
struct played_gpu {
    size_t n, memory, left, jobs, most_jobs;
    size_t output_bytes; /* that the first run of a job takes */
    unsigned char log[4000];
    size_t turns;
    unsigned char broken; /* this job fails after some time */
    size_t broken_calls;
    unsigned char fickle; /* this job gives another result each time */
    size_t stop_at;       /* the turn in which a stop is requested; 0: never */
    double sample_ns; /* a run on the sample, but for the second, which takes 1 ns; 0: as ever */
    size_t sample_runs;
};
extern struct played_gpu played_gpu;
extern volatile sig_atomic_t played_stop; /* set in the turn played_gpu.stop_at */

/* A run takes as many ns as the method's place in the registry, from 100 on. */
double run_ns_of(const struct method *m);
unsigned char letter_of(const struct method *m);
