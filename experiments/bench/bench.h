/* Throughput: how fast methods move their data, beside the raw read, a copy and the vendor's
 * routine. */
#pragma once

#include <signal.h>

#include "experiments/system/device.h"
#include "experiments/inputs/input.h"
#include "experiments/inputs/keys.h"
#include "experiments/operations/operation.h"
#include "experiments/runs/timing.h"
#include "kernels/gpu/gpu.h"
#include "reference/measure/measure.h"

struct bench_row;

/* What the measurements on one input share. */
struct bench_input {
    struct device device;
    char name[INPUT_TEXT];              /* canonical specification */
    struct array array;                 /* host memory */
    bool borrowed;                      /* which is not its own */
    struct array sample;                /* its first elements, few enough to foretell a time by */
    struct gpu_input *gpu, *gpu_sample; /* both in the GPU's memory; NULL on the CPU */
    struct array second; /* of dot products: the array turned by one element; data NULL as yet */
    bool in_cache;       /* it fits in the device's last-level cache */
    /* Of scatter-adds: how keys are made for the rows being timed, for how many bins; or NULL. */
    const struct keys *keys;
    size_t bins;
    struct array output; /* on the CPU: where all write, one at a time; as large as any needs yet */
    struct bench_made {  /* what rows read beside elements, of each setting that came up */
        const struct operation *operation;
        struct setting setting;
        size_t n;
        struct setting_operands of;
    } * made;
    size_t made_count;
};

/* Bytes of the device's last-level cache; 0 where they are not known. */
size_t bench_cache(struct device d);

/* Generates it, and uploads it to a GPU. bench_input_close is due, also after failure. */
enum status bench_input_open(struct bench_input *b, struct device device, const struct input *in,
                             uint64_t seed, enum format storage, size_t n, struct problem *p);
/* The same of an array that is there, and stays until it is closed. */
enum status bench_input_borrow(struct bench_input *b, struct device device, const char *name,
                               const struct array *a, struct problem *p);
/* Sees to it that `output` holds n elements of f; what it held is lost. */
enum status bench_input_output(struct bench_input *b, enum format f, size_t n, struct problem *p);
/* Sees to it that there is a second array, on a GPU too. */
enum status bench_input_second(struct bench_input *b, struct problem *p);
/* What a row's method reads of it, or of its sample: of a GPU's input keys are uploaded. Kept until
 * it is closed. STATUS_USAGE or STATUS_DATA where the setting does not fit. */
enum status bench_input_operands(struct bench_input *b, const struct bench_row *row, bool sample,
                                 struct operands *of, struct problem *p);
/* Frees what rows read beside elements. */
void bench_input_forget(struct bench_input *b);
void bench_input_close(struct bench_input *b);

enum bench_kind {
    BENCH_METHOD,
    BENCH_READ,      /* the yardstick of sums: the raw read */
    BENCH_READ_BOTH, /* that of dot products: the raw read of both arrays */
    BENCH_COPY       /* that of what bench_writes: copying the input */
};

struct bench_row {
    enum bench_kind kind;
    const struct method *method; /* NULL for a yardstick */
    enum format accumulator;     /* FORMATS for a yardstick */
    struct shape shape;          /* resolved; 0 where it is not read */
    struct setting setting;      /* bins of compactions: elements kept, once they are measured */
    /* What was measured. */
    size_t round;                      /* rows of one round were timed in turn; from 1 on */
    struct timing time;                /* no repetitions: it was not measured, the note says why */
    double raw_ns, copy_ns, vendor_ns; /* medians of its yardsticks in this round; 0: none */
    struct figure memory;              /* bytes that a run takes beside the input and output */
    size_t looks, differing; /* results that were looked at, where it promises run_to_run or more;
                                those that are not the first's */
    enum status status;      /* STATUS_OK but where it failed */
    bool impossible;         /* faster than its elements can be read, so that it has no time */
    char note[256];
};
const char *
bench_name(const struct bench_row *row); /* the method's, `raw read`, `raw read of both`, `copy` */

/* Is it held against a copy? What has about as many results as elements is, and what takes keys. */
bool bench_writes(const struct bench_row *row);

/* Bytes that one execution has to read and to write, each once; keys and flags, too. */
double bench_bytes(const struct bench_input *in, const struct bench_row *row);

/* The rate at which it moves them over that of the copy; 0 where one is not known. */
double bench_of_copy(const struct bench_input *in, const struct bench_row *row);

/* CPU threads that the method runs on with this shape: what its yardstick is done with. 1 of
 * foreign subjects that read no number of threads: on how many they run is not known. */
unsigned bench_threads(const struct method *m, struct shape shape);

/* Who hears of what is measured. */
struct bench_listener {
    /* A row that is finished. */
    enum status (*take)(void *context, const struct bench_row *row, struct problem *p);
    /* A row that is about to be worked on, often many times; or NULL. */
    void (*show)(void *context, const struct bench_row *row);
    void *context;
    const volatile sig_atomic_t *stop; /* not 0: stop behind the run in progress; or NULL */
};

/* Times planned rows on one input, all in turn with the yardsticks of each. The vendor's routines
 * stand before the rows that are held against them. Where not all fit in a GPU's memory together
 * they are timed in several rounds, each with the yardsticks and the vendor's routines that it
 * needs. *round counts rounds. A method of which one run is foretold to take longer than
 * two seconds is not run; one that this device or build does not support is not either; their notes
 * say so, and so does that of one that fails. Fails where memory is short, or with `take`;
 * STATUS_INTERRUPTED where it was stopped: what was measured in that round is not told. */
enum status bench_measure(struct bench_input *in, const struct bench_row *planned, size_t rows,
                          size_t repeats, size_t *round, const struct bench_listener *listener,
                          struct problem *p);
