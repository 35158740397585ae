/* What bench times: a method or a yardstick on one input, on either kind of device. */
#pragma once

#include "experiments/bench/bench.h"

struct bench_subject {
    struct bench_input *in;
    enum bench_kind kind;
    const struct method *method;
    struct operands of;
    struct task task;
    struct gpu_job *job;
    struct gpu_input *gpu;
    struct figure memory; /* as a row's */
};

/* On the input's sample, or on all of it. One run has been done then, so that memory which comes
 * with the first is taken. bench_subject_close is due after success. */
enum status bench_subject_open(struct bench_subject *s, struct bench_input *in,
                               const struct bench_row *row, bool sample, struct problem *p);
void bench_subject_close(struct bench_subject *s);

/* A `timed` (experiments/runs/timing.h) whose context is a subject. */
enum status bench_subject_run(struct bench_subject *s, size_t runs, double *time_ns,
                              struct problem *p);

/* Takes the results that bits are compared of, behind `runs` runs and outside their time: the last
 * one's and, of more than one, that of one more, so that what alternates shows. On a GPU that of
 * one more run alone, and none of arrays, for which there may be no memory. */
typedef void bench_look(void *context, struct hash128 digest);
enum status bench_subject_look(struct bench_subject *s, size_t runs, bench_look *take,
                               void *context, struct problem *p);
