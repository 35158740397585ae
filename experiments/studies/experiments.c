#include "experiments/cases/experiment.h"

const struct experiment *const experiments[] = {
    &experiment_accuracy,
    &experiment_variance,
    &experiment_cond,
    &experiment_ladder,
    &experiment_atomics,
    &experiment_dot,
    &experiment_norm,
    &experiment_extrema,
    &experiment_drift,
    &experiment_scan_variance,
    &experiment_scatter,
    &experiment_rows,
    &experiment_rowstats,
    &experiment_gemm,
    &experiment_trial,
    &experiment_allreduce,
    &experiment_reduce_scatter,
    &experiment_steps,
    NULL,
};
