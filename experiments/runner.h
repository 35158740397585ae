/* Running a case many times, on the CPU or on a GPU. */
#ifndef ULPSCOPE_RUNNER_H
#define ULPSCOPE_RUNNER_H

#include <signal.h>

#include "experiments/device.h"
#include "kernels/gpu.h"

struct runner {
    const struct method *method;
    struct device device;
    const struct array *in;      /* on the CPU */
    const struct gpu_input *gpu; /* on a GPU: the same, uploaded */
    enum format accumulator;
    struct shape shape;                /* resolved */
    const volatile sig_atomic_t *stop; /* not 0: stop behind the run or batch in progress */
};

/* Takes the results of consecutive runs, as canonical encodings, while the next ones run. */
typedef enum status (*runner_digest)(void *context, const uint64_t *bits, const uint64_t *time_ns,
                                     size_t runs, struct problem *p);

/* Runs it `runs` times; the method has one output. STATUS_INTERRUPTED where it was stopped; what
 * `digest` returns, where that is not STATUS_OK, ends it too. */
enum status runner_run(const struct runner *r, uint64_t runs, runner_digest digest, void *context,
                       struct problem *p);

/* One run on the CPU, for its result. */
enum status runner_once(const struct method *m, const struct array *in, enum format accumulator,
                        double *result, struct problem *p);

#endif
