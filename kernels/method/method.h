/* The descriptor of a method, and the task that it is given.
 *
 * A method is an implementation of an operation with a name. Its descriptor
 * stands in its .c file; what listing, sweeping, bounding, checking and timing
 * need to know of it stands in the descriptor, so that adding a method touches
 * its own files and one line in CMakeLists.txt. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/method/operands.h"
#include "kernels/method/order.h"
#include "kernels/method/pairs.h"
#include "reference/format/array.h"
#include "reference/base/problem.h"
#include "reference/exact/value.h"
#include "reference/theorem/name.h"

/* The reproducibility that a method claims. Up to PROMISES they are a ladder: each promise includes
 * those before it. Behind it stand those beside the ladder, which can be made of some operations:
 * each includes run_to_run alone, and no rung includes it. */
enum promise {
    PROMISE_NONE,
    PROMISE_RUN_TO_RUN,      /* same device, same launch shape */
    PROMISE_GPU_TO_GPU,      /* any launch shape, any device: the order depends on n alone */
    PROMISE_ORDER_INVARIANT, /* any permutation or partition of the input */
    PROMISE_CORRECTLY_ROUNDED,
    PROMISES,
    /* of rows and matrix products: an output depends on its own row and column alone, not on how
     * many others there are or where it lies */
    PROMISE_BATCH_INVARIANT,
    PROMISE_RANK_INVARIANT, /* of all-reduces: any number and placement of ranks */
    PROMISES_ALL
};
extern const char *const promise_name[PROMISES_ALL]; /* [PROMISES]: NULL */
enum promise promise_named(const char *name);        /* PROMISES: none */

enum device_kind { DEVICE_CPU, DEVICE_CUDA, DEVICE_KINDS };

/* An operation: a row of operations.def. */
struct operation {
    const char *name;
    const char *summary; /* what its results are, in one line */
    size_t (*outputs)(size_t n, size_t bins);
    /* The result is an array, and a run keeps its hash; otherwise it is one output of at most 8
     * bytes. */
    bool array;
    bool keys;           /* beside its array it reads a key of each element, which names its bin */
    bool matrix;         /* beside its array it is told how the rows of a matrix lie in it */
    bool mask;           /* beside its array it reads a flag of each element */
    bool matrices;       /* its array holds the matrices of a product, and it reads another one */
    bool ranks;          /* its array holds as many elements of each of several ranks */
    bool rounds_outputs; /* outputs are rounded once more, to the format of task.out */
    bool moves;          /* results are elements, bit for bit: nothing is added up */
    bool of_rows;        /* outputs are exact values `of` a row, each by itself, that are no sums */
    unsigned beside;     /* flags, 1 << PROMISE_...: what can be promised of it beside the ladder */
    unsigned inputs;     /* arrays that it reads, of one length and format: 1 or 2 */
    enum exact_value of; /* what the exact result is, and sum|x| in errors and bounds */
    const char *fixed;   /* the method whose result is s_fixed, or whose outputs others are compared
                            with; NULL: see experiments/sweep/shared.h */
};
#define OPERATION(name, ...) extern const struct operation operation_##name;
#include "kernels/method/operations.def"
extern const struct operation *const operations[]; /* all; ends with NULL */

/* Is it told of nothing but its arrays? */
static inline bool operation_plain(const struct operation *o)
{
    return !o->keys && !o->matrix && !o->mask && !o->matrices && !o->ranks;
}

/* How many arrays does it read, of one length and format? */
static inline unsigned operation_arrays(const struct operation *o)
{
    return o->inputs;
}

/* Does it multiply matrices, so that it reads C beside its array? */
static inline bool operation_reads_c(const struct operation *o)
{
    return o->matrices;
}

/* Are its terms elements of its array, or products of those of two arrays, each in one term? */
static inline bool operation_adds_elements(const struct operation *o)
{
    return !o->moves && !o->matrices && !o->of_rows;
}

static inline bool operation_moves(const struct operation *o)
{
    return o->moves;
}

/* Are its outputs other values of rows than sums? And is there one for each element, where that
 * lies, rather than one for each row? */
static inline bool operation_of_rows(const struct operation *o)
{
    return o->of_rows;
}

static inline bool operation_of_each(const struct operation *o)
{
    return o->of_rows && o->outputs(2, 1) == 2;
}

/* Is its result an array, so that a run keeps its hash? */
static inline bool operation_makes_array(const struct operation *o)
{
    return o->array;
}

/* Is this among its operands? What it reads it cannot do without, but for heads. */
bool operation_has(const struct operation *o, enum operand which);

/* May a GPU's side run: is there all that it reads, do rows divide n, are matrices of one format?
 * Else what was found is said in `why`. */
enum { OPERANDS_TEXT = 128 };
bool operation_fits(const struct operation *o, const struct operands *of, char why[OPERANDS_TEXT]);

/* Are its outputs rounded once more, to the storage's format where that is asked for? */
static inline bool operation_rounds_outputs(const struct operation *o)
{
    return o->rounds_outputs;
}

/* What else it takes, such as "a key of each element"; NULL: nothing. */
const char *operation_takes(const struct operation *o);

/* A launch shape. On a GPU, threads to a block and blocks in the grid. On the
 * CPU, the CPU twin of a method whose order depends on the shape reads it as the
 * GPU does; a method that runs on CPU threads runs on `threads` of them.
 * 0 in a request leaves the choice to the method. */
struct shape {
    unsigned threads, blocks;
};
enum { SHAPE_THREADS = 1, SHAPE_BLOCKS = 2 }; /* flags: which of them */
enum { HEURISTIC_WORKSPACE = 1, HEURISTIC_ALGORITHM = 2 };
enum { THREADS_MAX = 1024, BLOCKS_MAX = 65535 };

/* How a method adds, where that is not one rounded addition after the other in one format. */
enum addition {
    ADDITION_PLAIN,     /* rounded to one format; products of elements: multiplied so */
    ADDITION_PAIRS,     /* what additions lose is carried in a second word of the format, */
    ADDITION_FOLDS,     /* or in `folds` words */
    ADDITION_BINS,      /* elements are cut into `folds` bins at fixed places, added exactly */
    ADDITION_BLOCKS,    /* plainly in blocks, in pairs across them */
    ADDITION_TWO_LEVEL, /* plainly in chunks in a narrow format, across them in the accumulator */
    ADDITION_FUSED,     /* several products at a time, as a chip's matrix instruction does */
    ADDITION_EXACT,     /* rounded once, at the end */
    ADDITION_NONE,      /* nothing is added: elements are compared or moved */
    ADDITION_UNDOCUMENTED, /* the vendor does not say */
    ADDITION_UNKNOWN       /* a user's subject */
};

struct method;
struct cuda_method;
struct matrices_packed;

/* One execution. Addresses are the host's on the CPU, a device's on a GPU. */
struct task {
    const struct operands *of;
    /* outputs(n, bins) elements, apart from the input's. Those of scans and matrix products are of
     * any format: each is rounded once more to it; all others of the accumulator's. */
    struct array out;
    enum format accumulator;     /* asked for: additions are done in it, or as the method says */
    struct shape shape;          /* resolved: no zero in what the method reads on this device */
    const struct method *method; /* that is run: on the CPU (-1) or on a GPU, by its number */
    int device;
};

struct method {
    const char *name;    /* "sum/tiled" */
    const char *former;  /* its name in older results, which names no other; NULL: the same */
    const char *summary; /* one line */
    const struct operation *operation;
    enum promise promise;
    unsigned beside;                         /* flags: what it promises beside the ladder */
    struct format_pairs pairs[DEVICE_KINDS]; /* none at all: the usual; see method_pairs */
    unsigned shape_read[DEVICE_KINDS];       /* flags: what it reads of the launch shape */
    unsigned shape_order; /* flags: what its order depends on; 0 from gpu_to_gpu up */

    /* The launch shape used for n when `asked` leaves something open. It depends on
     * n and `asked` alone, never on the machine. NULL where nothing is read. */
    struct shape (*resolve)(size_t n, enum device_kind device, struct shape asked);

    /* A scan that heeds heads. */
    bool segmented;

    /* Dot products only: the ways in which it can form products, flags 1 << PRODUCT_...; and the
     * one that it uses unless asked otherwise, as its source says. */
    unsigned products;
    enum product_kind product;

    /* Models of matrix instructions only: has the chip, one of kernels/mma/'s, one for these
     * formats? NULL: no chip is asked for. And do they promote sums every so many products? */
    bool (*of_chip)(const char *chip, enum format storage, enum format accumulator);
    bool promotes;
    unsigned unit; /* which of kernels/mma/'s units it models, where it does not promote */

    /* Matrix products of a library only: what its heuristic can be asked for (struct heuristic);
     * flags. What a method's name says is not asked for. */
    unsigned heuristic;

    /* Matrix products only: are products summed in parts that end where scales of blocks do? Only
     * then can it take scales that change along k. */
    bool parts;
    /* A library's matrix product, of a GPU: it takes one scale of A and one of B, and no others. */
    bool whole_scales;

    /* A user's matrix product that takes no C: it is asked for A B. */
    bool no_c;

    /* A user's subject, in a process of its own: its `cpu` takes arrays in host memory for every
     * device; that process handles the device. */
    bool foreign;

    /* All-reduces of a library only: the method of the registry that has its bits, with so many
     * ranks of so many elements that travel in this format; NULL where none is known to. `name` is
     * its own. */
    const char *(*model)(const char *name, size_t ranks, size_t elements, enum format f);
    const char *unmodelled; /* why there is none, where there is none */

    /* How additions are done, and in which format, where that is not the accumulator that it is
     * asked for, which is then the result's alone: fp64 for fp32, in sum/widened. NULL: in it. */
    enum addition addition;
    enum format (*adds_in)(enum format accumulator);

    /* The vendor's routine for its operation, which others stand beside when they are timed. */
    bool vendor;

    /* Adds with atomic instructions. Where the device's flush subnormals, the bound says so. */
    bool atomic;

    /* The theorem that bounds its error, and what that asks of it beside the height. */
    enum theorem_kind bound;
    size_t plain_height;
    /* With THEOREM_SPLIT only, in place of plain_height: that of a chunk's tree, n >= 1. */
    size_t (*chunk_height)(size_t n, struct shape shape);
    unsigned folds;
    /* The tree's height, n >= 1; equals order_height of `order`. That of a scan is the greatest of
     * all its trees when it is inclusive, that of scatter-adds and sums of rows the height where
     * all elements are in one bin, or row, of matrix products that of one element of D, whose n
     * terms are C's and n - 1 products. NULL with THEOREM_ANY_ORDER. */
    size_t (*height)(size_t n, struct shape shape);
    /* The height of the tree of output i < n, without heads. NULL for sums and with
     * THEOREM_ANY_ORDER. */
    size_t (*prefix_height)(size_t i, size_t n, struct shape shape, bool exclusive);
    /* Segmented scans only: the heights of all n trees, cut at heads; 0 for the empty sum.
     * NULL with THEOREM_ANY_ORDER. */
    enum status (*segment_heights)(uint16_t *height, size_t n, bool exclusive, const uint8_t *heads,
                                   struct problem *p);
    /* Scatter-adds, sums of rows and matrix products only: the height of the tree of one of `bins`
     * bins, rows or elements, which has `terms` >= 1 of n elements. element: their indices,
     * ascending; only scatter-adds read them. NULL with THEOREM_ANY_ORDER. */
    size_t (*bin_height)(const size_t *element, size_t terms, size_t n, size_t bins);
    /* With THEOREM_BLOCKS, and of scaled matrices: the bound on an element of D, but for a last
     * rounding to the results' format. Infinite where there is no such instruction. NULL: other
     * theorems bound all of them. */
    double (*given)(const struct operands *of, enum format accumulator, struct shape shape,
                    const struct matrices_packed *p, size_t output);
    /* Appends the additions and sets the outputs of an initialised order of n >= 1
     * leaves, all of one bin or row. NULL where the order is not fixed. */
    void (*order)(struct order *o, struct shape shape);

    /* The CPU implementation; NULL where there is none. n may be 0. Fails only for memory,
     * with STATUS_MEMORY, or threads, with STATUS_DEVICE. */
    enum status (*cpu)(const struct task *t, struct problem *p);

    /* The CUDA side, where it is not the registry's: that of a method of kernels/cub, compiled with
     * another release (kernels/cub/release.h). */
    const struct cuda_method *cuda;
};

/* Can this be promised of it? And is it promised, this or more? */
bool operation_may_promise(const struct operation *o, enum promise promise);
bool method_promises(const struct method *m, enum promise promise);

/* The registry, generated by CMake from the list of methods. */
extern const struct method *const method_registry[];
extern const size_t method_count;
/* Parallel to it (kernels/device/cuda.h): NULL where a method has no CUDA side in this build. */
extern const struct cuda_method *const cuda_registry[];
/* The CUDA side of a method of the registry, or its own; NULL where this build has none. */
const struct cuda_method *method_cuda(const struct method *m);
const struct method *method_named(const char *name); /* or formerly named; or NULL */
/* The first name that a renamed method had, from which case ids are made; other names unchanged. */
const char *method_first_name(const char *name);

/* The pairs that it supports on the device, none where it is not for it. Ours that state none for
 * any device support the usual: all on a CPU, on a GPU those whose storage has 16 bits or more. */
const struct format_pairs *method_pairs(const struct method *m, enum device_kind device);
/* Can it take such scales of matrices of 8 bits, where it promotes sums every so many products, if
 * it does? And those of these operands? If not, `why`. */
bool method_scales(const struct method *m, enum gemm_scaling scaling, uint64_t promote);
bool method_scales_fit(const struct method *m, const struct operands *of, char why[OPERANDS_TEXT]);
/* The theorem that bounds its error with these operands: of scaled matrices, whose last steps are
 * no additions, its own `given`, unless that is rounded once. */
enum theorem_kind method_bound(const struct method *m, const struct operands *of);
/* Does the method exist for this device and format pair? (For CUDA: in this build.) */
bool method_supports(const struct method *m, enum device_kind device, enum format storage,
                     enum format accumulator);

/* The launch shape that a case of this method runs with: what is not read is 0. */
struct shape method_shape(const struct method *m, enum device_kind device, size_t n,
                          struct shape asked);

/* The declared order of all outputs for n elements, in the shape that a case runs with. heads: of a
 * segmented scan, else NULL; they must outlive the order, which order_free frees. o->failed: memory
 * is short. The method declares one. */
void method_order(struct order *o, const struct method *m, enum device_kind device, size_t n,
                  struct shape asked, bool exclusive, const uint8_t *heads);

/* Does it run on CPU threads, as many as its launch shape says? Other CPU twins read in a shape
 * what a GPU would do. */
static inline bool method_threaded(const struct method *m)
{
    return (m->shape_read[DEVICE_CPU] & SHAPE_THREADS) && !(m->shape_order & SHAPE_THREADS) &&
           !m->foreign;
}

/* The format that additions are done in where this accumulator is asked for; where they are done in
 * several words or bins, that of each. */
enum format method_adds_in(const struct method *m, enum format accumulator);

/* The same in words, "fp32", "fp32 pairs", "exact"; and how many bytes a running sum takes, to rank
 * methods by: of exact sums more than of any other. */
enum { ADDED_IN_TEXT = 32 };
void method_added_in(char text[ADDED_IN_TEXT], const struct method *m, enum format accumulator);
unsigned method_sum_bytes(const struct method *m, enum format accumulator);

/* The theorem for a case. Its `product` is the method's own way. */
struct theorem method_theorem(const struct method *m, enum device_kind device,
                              enum format accumulator, size_t n, struct shape shape);
