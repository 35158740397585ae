/* rowmean/serial, tiled, running, exact: the mean of each row, as the method of the same name makes
 * it of the row as an array (kernels/mean).
 *
 * Order: that of mean/serial, mean/tiled, mean/running; of mean/exact none. It depends on the row's
 * length alone: neither the other rows, nor how many there are, nor how rows lie in memory shows in
 * a row's result. Threads are a schedule. An empty row's mean is NaN. */
#include "kernels/blocks/serial.h"
#include "kernels/blocks/tiled.h"
#include "kernels/rows/rows.h"
#include "kernels/scatter/bins.h"

extern const struct method mean_serial, mean_tiled, mean_running, mean_exact;

#define ROWMEAN(its_name, ...)                                                                     \
    static enum status run_##its_name(const struct task *t, struct problem *p)                     \
    {                                                                                              \
        return rows_method(t, &mean_##its_name, p);                                                \
    }                                                                                              \
    const struct method rowmean_##its_name = {.name = "rowmean/" #its_name,                        \
                                              .operation = &operation_rowmean,                     \
                                              .shape_read = {SHAPE_THREADS, 0},                    \
                                              .resolve = scatter_each_shape,                       \
                                              .cpu = run_##its_name,                               \
                                              __VA_ARGS__};

ROWMEAN(serial, .summary = "each row one after the other, divided by its length",
        .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_FROM_16(IN_ALL)}, .promise = PROMISE_GPU_TO_GPU,
        .beside = 1u << PROMISE_BATCH_INVARIANT, .bound = THEOREM_MEAN, .height = serial_height,
        .bin_height = serial_bin_height, .order = serial_order)
ROWMEAN(tiled, .summary = "each row in sum/tiled's order, divided by its length",
        .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_FROM_16(IN_ALL)}, .promise = PROMISE_GPU_TO_GPU,
        .beside = 1u << PROMISE_BATCH_INVARIANT, .bound = THEOREM_MEAN, .height = tiled_height,
        .bin_height = scatter_tiled_height, .order = tiled_order)
ROWMEAN(running, .summary = "each row's mean as it runs: m + (x - m) / k",
        .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_FROM_16(IN_ALL)}, .promise = PROMISE_GPU_TO_GPU,
        .beside = 1u << PROMISE_BATCH_INVARIANT, .bound = THEOREM_RUNNING_MEAN,
        .height = serial_height, .bin_height = serial_bin_height, .order = serial_order)
ROWMEAN(exact, .summary = "the exact mean of each row, rounded once",
        .pairs = {[DEVICE_CPU] = FORMAT_PAIRS_ALL}, .promise = PROMISE_CORRECTLY_ROUNDED,
        .beside = 1u << PROMISE_BATCH_INVARIANT, .addition = ADDITION_EXACT,
        .bound = THEOREM_CORRECTLY_ROUNDED)
