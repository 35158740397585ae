/* rowvariance/textbook, two_pass, welford, chan, exact: the variance of each row as a population,
 * as the method of the same name makes it of the row as an array (kernels/variance).
 *
 * Order: that of the method; of variance/exact none. It depends on the row's length alone: neither
 * the other rows, nor how many there are, nor how rows lie in memory shows in a row's result.
 * Threads are a schedule. An empty row's variance is NaN, that of a row of one number +0. */
#include "kernels/blocks/serial.h"
#include "kernels/blocks/tiled.h"
#include "kernels/rows/rows.h"
#include "kernels/scatter/bins.h"

extern const struct method variance_textbook, variance_two_pass, variance_welford, variance_chan,
    variance_exact;

#define ROWVARIANCE(its_name, ...)                                                                 \
    static enum status run_##its_name(const struct task *t, struct problem *p)                     \
    {                                                                                              \
        return rows_method(t, &variance_##its_name, p);                                            \
    }                                                                                              \
    const struct method rowvariance_##its_name = {.name = "rowvariance/" #its_name,                \
                                                  .operation = &operation_rowvariance,             \
                                                  .shape_read = {SHAPE_THREADS, 0},                \
                                                  .resolve = scatter_each_shape,                   \
                                                  .cpu = run_##its_name,                           \
                                                  __VA_ARGS__};

ROWVARIANCE(textbook, .summary = "of each row the mean of squares less the square of the mean",
            .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_FROM_16(IN_ALL)},
            .promise = PROMISE_GPU_TO_GPU, .beside = 1u << PROMISE_BATCH_INVARIANT,
            .bound = THEOREM_TEXTBOOK, .height = tiled_height, .bin_height = scatter_tiled_height,
            .order = tiled_order)
ROWVARIANCE(two_pass, .summary = "of each row the mean of squared distances from the mean",
            .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_FROM_16(IN_ALL)},
            .promise = PROMISE_GPU_TO_GPU, .beside = 1u << PROMISE_BATCH_INVARIANT,
            .bound = THEOREM_TWO_PASS, .height = tiled_height, .bin_height = scatter_tiled_height,
            .order = tiled_order)
ROWVARIANCE(welford, .summary = "of each row mean and scatter as they run: one pass",
            .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_FROM_16(IN_ALL)},
            .promise = PROMISE_GPU_TO_GPU, .beside = 1u << PROMISE_BATCH_INVARIANT,
            .bound = THEOREM_WELFORD, .height = serial_height, .bin_height = serial_bin_height,
            .order = serial_order)
ROWVARIANCE(chan, .summary = "of each row means and scatters of parts, merged in sum/tiled's tree",
            .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_FROM_16(IN_ALL)},
            .promise = PROMISE_GPU_TO_GPU, .beside = 1u << PROMISE_BATCH_INVARIANT,
            .bound = THEOREM_CHAN, .height = tiled_height, .bin_height = scatter_tiled_height,
            .order = tiled_order)
ROWVARIANCE(exact, .summary = "the exact variance of each row, rounded once",
            .pairs = {[DEVICE_CPU] = FORMAT_PAIRS_ALL}, .promise = PROMISE_CORRECTLY_ROUNDED,
            .beside = 1u << PROMISE_BATCH_INVARIANT, .addition = ADDITION_EXACT,
            .bound = THEOREM_CORRECTLY_ROUNDED)
