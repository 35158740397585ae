/* A subject made ready to be given one array after another, of one length: what questions are
 * asked through. On the CPU, on a GPU, or in a process of its own. */
#pragma once

#include "experiments/system/memory.h"
#include "experiments/runs/runner.h"

struct probe_spec {
    const struct method *method;
    struct device device;
    enum format storage, accumulator;
    enum format output; /* of sums the accumulator's */
    size_t n;           /* elements */
    struct shape shape; /* as asked for: what is open is the method's choice */
    size_t offset; /* elements by which the input lies beyond an address that 256 bytes divide */
    /* The complement of every byte of what lies before and behind the input, MEMORY_AROUND of them
     * at least: 0 makes it NaN in every format, for whoever adds too much. */
    uint8_t around;
    bool exclusive;
    const uint8_t *heads, *mask; /* as in operands; kept, not copied */
    enum product_kind product;   /* of dot products: PRODUCT_NONE is the method's own way */
    size_t bins; /* of what takes keys: how many; of a matrix its rows, and so on, as in operands */
    size_t stride;          /* likewise */
    struct gemm_shape gemm; /* of a matrix product; and its C, kept, not copied */
    struct array c;
    const char *chip; /* of models of matrix instructions, and the next, as in operands */
    size_t promote;
};

struct probe;

/* STATUS_DEVICE where the device does not run it, STATUS_MEMORY when memory is short. */
enum status probe_open(struct probe **probe, const struct probe_spec *spec, struct problem *p);

/* Its input, n elements in host memory that are the probe's: to be filled before a run. */
struct array probe_input(const struct probe *probe);
/* The second array, as long, of a method that reads two; else data is NULL. It holds ones, until
 * they are overwritten: the dot product is the sum of the first array then, and what is asked of
 * sums can be asked of it. */
struct array probe_second(const struct probe *probe);

/* The keys, one for each element, of a method that takes them; else NULL. They are 0 until they are
 * overwritten, each with one below `bins`. They lie `offset` elements beyond an aligned address as
 * the input does, among keys of 0. */
uint32_t *probe_keys(const struct probe *probe);

/* Runs it once on what is in the input now. out: outputs(n, bins) elements in the format `output`.
 */
enum status probe_run(struct probe *probe, const struct array *out, struct problem *p);

/* Runs it `runs` times; results go to `take` as runner_run hands them out. */
enum status probe_repeat(struct probe *probe, uint64_t runs, runner_digest take, void *context,
                         struct problem *p);

void probe_close(struct probe *probe); /* NULL is fine */
