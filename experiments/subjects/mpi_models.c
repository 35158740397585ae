#include "experiments/subjects/mpi_models.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- MPI_Reduce, which others begin with --- */

/* As coll_tuned_reduce_algorithm numbers them. */
enum {
    REDUCE_LINEAR = 1,
    REDUCE_CHAIN,
    REDUCE_PIPELINE,
    REDUCE_BINARY,
    REDUCE_BINOMIAL,
    REDUCE_RABENSEIFNER = 7,
    REDUCES
};

/* What Open MPI 4.1 and 5.0 choose by the bytes of a rank, of sums that commute, up to 255 ranks.
 */
static unsigned decided_reduce(size_t ranks, size_t bytes)
{
    if (ranks < 4)
        return bytes < 8         ? REDUCE_RABENSEIFNER
               : bytes < 16      ? REDUCE_BINARY
               : bytes < 32      ? REDUCE_PIPELINE
               : bytes < 262144  ? REDUCE_LINEAR
               : bytes < 524288  ? REDUCE_PIPELINE
               : bytes < 1048576 ? REDUCE_CHAIN
                                 : REDUCE_PIPELINE;
    if (ranks < 8)
        return bytes < 4096      ? REDUCE_BINARY
               : bytes < 65536   ? REDUCE_CHAIN
               : bytes < 262144  ? REDUCE_BINOMIAL
               : bytes < 524288  ? REDUCE_LINEAR
               : bytes < 1048576 ? REDUCE_BINOMIAL
                                 : REDUCE_LINEAR;
    if (ranks < 16)
        return bytes < 8192 ? REDUCE_BINARY : REDUCE_BINOMIAL;
    if (ranks < 32)
        return bytes < 4096 ? REDUCE_BINARY : REDUCE_BINOMIAL;
    return REDUCE_BINOMIAL;
}

/* Whoever asks for another algorithm gets it. */
#define ASKED_REDUCE "OMPI_MCA_coll_tuned_reduce_algorithm"

/* By the names of an operation's models. Open MPI asks for chains of fan-out 0, each of which is
 * one chain, as a pipeline is; and a rank of a chain adds its own last, as a root to which all send
 * does. */
static const char *reduced(size_t ranks, size_t elements, size_t bytes,
                           const char *const name[REDUCES])
{
    unsigned way = decided_reduce(ranks, bytes);
    size_t power = 1;
    while (power <= ranks / 2)
        power *= 2;
    if (way == REDUCE_CHAIN || way == REDUCE_PIPELINE ||
        (way == REDUCE_RABENSEIFNER && elements < power))
        way = REDUCE_LINEAR;
    return getenv(ASKED_REDUCE) ? NULL : name[way];
}

/* Does a setting of the user's decide what the library would choose? */
static bool choice_is_asked(const struct mpi_algorithm *a)
{
    static const char prefix[] = "OMPI_MCA_coll";
    bool asked = false;
    for (char **e = environ; a->number == 0 && *e && !asked; e++)
        asked = strncmp(*e, prefix, strlen(prefix)) == 0;
    return asked;
}

/* --- MPI_Allreduce --- */

/* As coll_tuned_allreduce_algorithm numbers them. */
enum {
    BASIC_LINEAR = 1,
    NONOVERLAPPING,
    RECURSIVE_DOUBLING,
    RING,
    SEGMENTED_RING,
    RABENSEIFNER,
};

/* What Open MPI 4.1 and 5.0 choose by the bytes of a rank, of sums that commute. */
static unsigned decided_allreduce(size_t ranks, size_t elements, size_t element_bytes)
{
    size_t bytes = elements * element_bytes;
    if (ranks < 4)
        return bytes < 8        ? RING
               : bytes < 4096   ? RECURSIVE_DOUBLING
               : bytes < 8192   ? RING
               : bytes < 16384  ? RECURSIVE_DOUBLING
               : bytes < 65536  ? RING
               : bytes < 262144 ? SEGMENTED_RING
                                : RABENSEIFNER;
    if (ranks < 8)
        return bytes < 16 ? RING : bytes < 8192 ? RECURSIVE_DOUBLING : RABENSEIFNER;
    if (ranks < 16)
        return bytes < 8192 ? RECURSIVE_DOUBLING : RABENSEIFNER;
    if (ranks < 32)
        return bytes < 64 ? SEGMENTED_RING : bytes < 4096 ? RECURSIVE_DOUBLING : RABENSEIFNER;
    if (ranks < 64)
        return bytes < 128 ? SEGMENTED_RING : RABENSEIFNER;
    return bytes < 262144 ? RECURSIVE_DOUBLING : RABENSEIFNER;
}

static size_t bytes_of(enum format f)
{
    return (size_t)format_facts[f].bytes;
}

static const char *model_of_allreduce(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                                      enum format f)
{
    static const char *const reduces[REDUCES] = {
        [REDUCE_LINEAR] = "allreduce/linear",
        [REDUCE_BINARY] = "allreduce/level_tree",
        [REDUCE_BINOMIAL] = "allreduce/binomial",
        [REDUCE_RABENSEIFNER] = "allreduce/rabenseifner",
    };
    size_t power = 1;
    while (power <= ranks / 2)
        power *= 2;
    if (choice_is_asked(a))
        return NULL;
    switch (a->number ? a->number : decided_allreduce(ranks, elements, bytes_of(f))) {
    case BASIC_LINEAR:
        return "allreduce/linear";
    case NONOVERLAPPING:
        return reduced(ranks, elements, elements * bytes_of(f), reduces);
    case RECURSIVE_DOUBLING:
        return "allreduce/recursive_doubling";
    case RING:
    case SEGMENTED_RING: /* a block's segments go the block's way */
        return elements < ranks ? "allreduce/recursive_doubling" : "allreduce/ring";
    case RABENSEIFNER:
        return elements < power ? "allreduce/linear" : "allreduce/rabenseifner";
    default:
        return NULL;
    }
}

/* --- MPI_Reduce_scatter and MPI_Reduce_scatter_block --- */

/* As coll_tuned_reduce_scatter_algorithm numbers them. */
enum {
    SCATTER_NONOVERLAPPING = 1,
    SCATTER_RECURSIVE_HALVING,
    SCATTER_RING,
    SCATTER_BUTTERFLY,
};

/* And coll_tuned_reduce_scatter_block_algorithm. */
enum {
    BLOCK_BASIC_LINEAR = 1,
    BLOCK_RECURSIVE_DOUBLING,
    BLOCK_RECURSIVE_HALVING,
    BLOCK_BUTTERFLY,
};

/* Open MPI 4.1 and 5.0 choose by the bytes of the message, all blocks together. */
static unsigned decided_scatter(size_t ranks, size_t elements, size_t element_bytes)
{
    size_t bytes = elements * element_bytes;
    if (ranks < 4)
        return bytes < 65536 || bytes >= 131072 ? SCATTER_RING : SCATTER_BUTTERFLY;
    if (ranks < 8)
        return bytes < 8        ? SCATTER_NONOVERLAPPING
               : bytes < 262144 ? SCATTER_RECURSIVE_HALVING
                                : SCATTER_RING;
    if (ranks < 32)
        return bytes < 262144 ? SCATTER_RECURSIVE_HALVING : SCATTER_RING;
    if (ranks < 64)
        return bytes < 64       ? SCATTER_NONOVERLAPPING
               : bytes < 2048   ? SCATTER_RECURSIVE_HALVING
               : bytes < 524288 ? SCATTER_BUTTERFLY
                                : SCATTER_RING;
    return bytes < 256    ? SCATTER_NONOVERLAPPING
           : bytes < 512  ? SCATTER_RECURSIVE_HALVING
           : bytes < 2048 ? SCATTER_BUTTERFLY
           : bytes < 4096 ? SCATTER_RECURSIVE_HALVING
                          : SCATTER_BUTTERFLY;
}

/* By the bytes of a block, of which shorter ones are filled up (mpi_worker.c). */
static unsigned decided_block(size_t ranks, size_t elements, size_t element_bytes)
{
    size_t bytes = (elements + ranks - 1) / ranks * element_bytes;
    if (ranks < 4)
        return bytes < 4        ? BLOCK_RECURSIVE_DOUBLING
               : bytes < 8      ? BLOCK_BUTTERFLY
               : bytes < 16     ? BLOCK_RECURSIVE_HALVING
               : bytes < 128    ? BLOCK_BUTTERFLY
               : bytes < 256    ? BLOCK_RECURSIVE_HALVING
               : bytes < 4096   ? BLOCK_BUTTERFLY
               : bytes < 8192   ? BLOCK_RECURSIVE_HALVING
               : bytes < 131072 ? BLOCK_BUTTERFLY
                                : BLOCK_BASIC_LINEAR;
    if (ranks < 8)
        return bytes < 8         ? BLOCK_RECURSIVE_HALVING
               : bytes < 32      ? BLOCK_RECURSIVE_DOUBLING
               : bytes < 256     ? BLOCK_BUTTERFLY
               : bytes < 8192    ? BLOCK_RECURSIVE_HALVING
               : bytes < 16384   ? BLOCK_BUTTERFLY
               : bytes < 1048576 ? BLOCK_RECURSIVE_HALVING
                                 : BLOCK_BASIC_LINEAR;
    if (ranks < 16)
        return bytes < 4         ? BLOCK_BASIC_LINEAR
               : bytes < 32      ? BLOCK_RECURSIVE_HALVING
               : bytes < 128     ? BLOCK_BUTTERFLY
               : bytes < 524288  ? BLOCK_RECURSIVE_HALVING
               : bytes < 4194304 ? BLOCK_BASIC_LINEAR
                                 : BLOCK_BUTTERFLY;
    if (ranks < 32)
        return bytes < 32        ? BLOCK_BASIC_LINEAR
               : bytes < 524288  ? BLOCK_RECURSIVE_HALVING
               : bytes < 2097152 ? BLOCK_BASIC_LINEAR
               : bytes < 4194304 ? BLOCK_RECURSIVE_HALVING
                                 : BLOCK_BUTTERFLY;
    return bytes < 4        ? BLOCK_RECURSIVE_HALVING
           : bytes < 16     ? BLOCK_BASIC_LINEAR
           : bytes < 65536  ? BLOCK_BUTTERFLY
           : bytes < 262144 ? BLOCK_BASIC_LINEAR
                            : BLOCK_BUTTERFLY;
}

/* Where MPI_Reduce comes first. */
static const char *const scattered[REDUCES] = {
    [REDUCE_LINEAR] = "reduce_scatter/linear",
    [REDUCE_BINARY] = "reduce_scatter/level_tree",
    [REDUCE_BINOMIAL] = "reduce_scatter/recursive_doubling",
    [REDUCE_RABENSEIFNER] = "reduce_scatter/butterfly",
};

static const char *model_of_scatter(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                                    enum format f)
{
    static const char *const model[] = {
        [SCATTER_RECURSIVE_HALVING] = "reduce_scatter/recursive_halving",
        [SCATTER_RING] = "reduce_scatter/ring",
        [SCATTER_BUTTERFLY] = "reduce_scatter/butterfly",
    };
    unsigned way = a->number ? a->number : decided_scatter(ranks, elements, bytes_of(f));
    if (choice_is_asked(a))
        return NULL;
    return way == SCATTER_NONOVERLAPPING
               ? reduced(ranks, elements, elements * bytes_of(f), scattered)
               : model[way];
}

static const char *model_of_block(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                                  enum format f)
{
    static const char *const model[] = {
        [BLOCK_RECURSIVE_DOUBLING] = "reduce_scatter/recursive_doubling",
        [BLOCK_RECURSIVE_HALVING] = "reduce_scatter/recursive_halving",
        [BLOCK_BUTTERFLY] = "reduce_scatter/butterfly",
    };
    unsigned way = a->number ? a->number : decided_block(ranks, elements, bytes_of(f));
    size_t filled = (elements + ranks - 1) / ranks * ranks;
    if (choice_is_asked(a))
        return NULL;
    return way == BLOCK_BASIC_LINEAR ? reduced(ranks, filled, filled * bytes_of(f), scattered)
                                     : model[way];
}

/* --- all --- */

const char *mpi_ours(const struct mpi_algorithm *a, size_t ranks, size_t elements, enum format f)
{
    (void)ranks, (void)elements, (void)f;
    return a->ours;
}

#define ASKED                                                                                      \
    ASKED_REDUCE " or another OMPI_MCA_coll... asks for other sums than the library chooses"

#define ALLREDUCE(its_name, its_number, its_segment, its_summary)                                  \
    {                                                                                              \
        .name = "mpi/" its_name, .summary = "MPI_Allreduce, " its_summary,                         \
        .operation = &operation_allreduce, .call = "allreduce", .number = its_number,              \
        .segment = its_segment, .model = model_of_allreduce, .unmodelled = ASKED                   \
    }

#define SCATTER(its_name, its_number, its_summary)                                                 \
    {                                                                                              \
        .name = "mpi/" its_name, .summary = "MPI_Reduce_scatter, " its_summary,                    \
        .operation = &operation_reduce_scatter, .call = "reduce_scatter", .number = its_number,    \
        .model = model_of_scatter, .unmodelled = ASKED                                             \
    }
#define BLOCK(its_name, its_number, its_summary)                                                   \
    {                                                                                              \
        .name = "mpi/" its_name, .summary = "MPI_Reduce_scatter_block, " its_summary,              \
        .operation = &operation_reduce_scatter, .call = "reduce_scatter_block",                    \
        .number = its_number, .model = model_of_block, .unmodelled = ASKED                         \
    }

const struct mpi_algorithm open_mpi_algorithms[] = {
    ALLREDUCE("allreduce", 0, 0, "whichever algorithm the library chooses"),
    ALLREDUCE("basic_linear", BASIC_LINEAR, 0,
              "Open MPI's algorithm 1: reduced to rank 0, then sent"),
    ALLREDUCE("nonoverlapping", NONOVERLAPPING, 0,
              "Open MPI's algorithm 2: MPI_Reduce, then MPI_Bcast"),
    ALLREDUCE("recursive_doubling", RECURSIVE_DOUBLING, 0, "Open MPI's algorithm 3"),
    ALLREDUCE("ring", RING, 0, "Open MPI's algorithm 4"),
    ALLREDUCE("segmented_ring", SEGMENTED_RING, 4096,
              "Open MPI's algorithm 5, in segments of 4 KiB"),
    ALLREDUCE("rabenseifner", RABENSEIFNER, 0, "Open MPI's algorithm 6"),
    SCATTER("reduce_scatter", 0, "whichever algorithm the library chooses"),
    SCATTER("reduce_scatter_nonoverlapping", SCATTER_NONOVERLAPPING,
            "Open MPI's algorithm 1: MPI_Reduce, then MPI_Scatterv"),
    SCATTER("reduce_scatter_recursive_halving", SCATTER_RECURSIVE_HALVING,
            "Open MPI's algorithm 2"),
    SCATTER("reduce_scatter_ring", SCATTER_RING, "Open MPI's algorithm 3"),
    SCATTER("reduce_scatter_butterfly", SCATTER_BUTTERFLY, "Open MPI's algorithm 4"),
    BLOCK("reduce_scatter_block", 0, "whichever algorithm the library chooses"),
    BLOCK("reduce_scatter_block_basic_linear", BLOCK_BASIC_LINEAR,
          "Open MPI's algorithm 1: MPI_Reduce, then MPI_Scatter"),
    BLOCK("reduce_scatter_block_recursive_doubling", BLOCK_RECURSIVE_DOUBLING,
          "Open MPI's algorithm 2"),
    BLOCK("reduce_scatter_block_recursive_halving", BLOCK_RECURSIVE_HALVING,
          "Open MPI's algorithm 3"),
    BLOCK("reduce_scatter_block_butterfly", BLOCK_BUTTERFLY, "Open MPI's algorithm 4"),
    MPI_OURS("mpi/", "exact",
             "ulpscope_mpi_allreduce: exact sums of blocks that MPI sends, rounded once"),
    MPI_OURS("mpi/", "binned", MPI_OURS_BINNED),
    {0},
};
