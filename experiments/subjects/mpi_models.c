#include "experiments/subjects/mpi_models.h"

#include <string.h>

#include "experiments/subjects/mpi.h"

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

static const char *model_of_allreduce(unsigned number, size_t ranks, size_t elements)
{
    size_t power = 1;
    while (power <= ranks / 2)
        power *= 2;
    switch (number) {
    case BASIC_LINEAR:
        return "allreduce/linear";
    case RECURSIVE_DOUBLING:
        return "allreduce/recursive_doubling";
    case RING:
    case SEGMENTED_RING: /* a block's segments go the block's way */
        return elements < ranks ? "allreduce/recursive_doubling" : "allreduce/ring";
    case RABENSEIFNER:
        return elements < power ? "allreduce/linear" : "allreduce/rabenseifner";
    default: /* MPI_Reduce chooses among trees, chains and pipelines of its own */
        return NULL;
    }
}

/* --- all --- */

#define ALLREDUCE(its_name, its_number, its_segment, its_summary)                                  \
    {                                                                                              \
        .name = "mpi/" its_name, .summary = "MPI_Allreduce, " its_summary,                         \
        .operation = &operation_allreduce, .call = "allreduce", .number = its_number,              \
        .segment = its_segment, .model = model_of_allreduce, .decided = decided_allreduce          \
    }

static const struct mpi_algorithm algorithms[] = {
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
};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

const char *mpi_name(size_t u)
{
    return u < ALGORITHMS ? algorithms[u].name : NULL;
}

const struct mpi_algorithm *mpi_algorithm_named(const char *name)
{
    size_t u = 0;
    while (u < ALGORITHMS && strcmp(algorithms[u].name, name) != 0)
        u++;
    return u < ALGORITHMS ? &algorithms[u] : NULL;
}

const char *mpi_model(const char *name, size_t ranks, size_t elements, enum format f)
{
    const struct mpi_algorithm *a = mpi_algorithm_named(name);
    if (ranks <= 2) /* there is one addition at most */
        return a->operation->fixed;
    unsigned number =
        a->number ? a->number : a->decided(ranks, elements, (size_t)format_facts[f].bytes);
    return a->model(number, ranks, elements);
}
