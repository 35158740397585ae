/* Throughput: how fast a method reads its input, beside the raw read and the vendor's routine. */
#ifndef ULPSCOPE_BENCH_H
#define ULPSCOPE_BENCH_H

#include "experiments/device.h"
#include "experiments/input.h"
#include "experiments/timing.h"
#include "kernels/gpu.h"

/* What the measurements on one input share. */
struct bench_input {
    struct device device;
    char name[INPUT_TEXT];              /* canonical specification */
    struct array array;                 /* host memory */
    struct array sample;                /* its first elements, few enough to foretell a time by */
    struct gpu_input *gpu, *gpu_sample; /* both in the GPU's memory; NULL on the CPU */
    bool in_cache;                      /* it fits in the device's last-level cache */
};

/* Generates it, and uploads it to a GPU. bench_input_close is due, also after failure. */
enum status bench_input_open(struct bench_input *b, struct device device, const struct input *in,
                             uint64_t seed, enum format storage, size_t n, struct problem *p);
void bench_input_close(struct bench_input *b);

struct bench_row {
    const struct method *method; /* NULL: the raw read */
    enum format accumulator;     /* FORMATS for the raw read */
    struct shape shape;          /* resolved; 0 where it is not read */
    struct timing time;          /* no repetitions: it was not measured, the note says why */
    double raw_ns, vendor_ns;    /* the yardsticks' medians on this input; 0: there is none */
    char note[256];
};

/* Fills in time and note. A method of which one run is foretold to take longer than two seconds is
 * not run; one that this device or build does not support is not either. */
enum status bench_measure(struct bench_row *row, const struct bench_input *in, size_t repeats,
                          struct problem *p);

/* CPU threads that the method runs on with this shape: what its raw read is done with. */
unsigned bench_threads(const struct method *m, struct shape shape);

#endif
