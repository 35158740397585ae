#include "experiments/subjects/mpi_models.h"

#include <string.h>

const char mpich_version[] = ULPSCOPE_MPICH;

/* Built for UCX alone, as Debian's is, it leaves all ranks' messages to UCX, and has none of its
 * own collectives in shared memory. */
static bool all_by_ucx(void)
{
    return strstr(mpich_version, ", ch4:ucx") != NULL;
}

bool mpich_in_shared_memory(void)
{
    return strstr(mpich_version, ", ch4:") && !all_by_ucx();
}

/* Additions of MPI's own, rather than ours (mpi_worker.c). */
static bool built_in(enum format f)
{
    return f == FP32 || f == FP64;
}

static size_t power_of_two(size_t ranks)
{
    size_t power = 1;
    while (power <= ranks / 2)
        power *= 2;
    return power;
}

/* --- MPI_Allreduce --- */

/* Rabenseifner's needs an element for each of the power of two and an addition of MPI's own. What
 * is taken elsewhere, recursive doubling, adds in the same order. */
static const char *halved(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                          enum format f)
{
    (void)a;
    return built_in(f) && elements >= power_of_two(ranks) ? "allreduce/rabenseifner"
                                                          : "allreduce/recursive_doubling";
}

/* Recursive doubling or Rabenseifner's, by bytes; in shared memory, from the fifth call on, a tree:
 * no order is that of all calls. */
static const char *chosen(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                          enum format f)
{
    (void)a, (void)ranks, (void)elements, (void)f;
    return all_by_ucx() ? "allreduce/recursive_doubling" : NULL;
}

static const char *doubled(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                           enum format f)
{
    (void)a, (void)ranks, (void)elements, (void)f;
    return "allreduce/recursive_doubling";
}

/* MPI_Reduce and MPI_Ireduce: halves of messages longer than 2 KiB, where that can be done. */
static const char *reduced(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                           enum format f)
{
    bool is_short = elements * (size_t)format_facts[f].bytes <= 2048;
    (void)a;
    return is_short || !built_in(f) || elements < power_of_two(ranks) ? "allreduce/binomial"
                                                                      : "allreduce/rabenseifner";
}

static const char *round_the_ring(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                                  enum format f)
{
    (void)a, (void)ranks, (void)elements, (void)f;
    return "allreduce/ring_to_owner";
}

static const char *up_the_tree(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                               enum format f)
{
    (void)ranks, (void)elements, (void)f;
    return a->in_shared_memory ? "allreduce/quaternary_tree" : "allreduce/binary_tree";
}

/* --- MPI_Reduce_scatter and MPI_Reduce_scatter_block --- */

static bool is_block(const struct mpi_algorithm *a)
{
    return strcmp(a->call, "reduce_scatter_block") == 0;
}

/* By the bytes of the message, all blocks together: mpi_worker.c fills up short ones of those that
 * shall have one length. */
static const char *scattered(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                             enum format f)
{
    if (is_block(a))
        elements = (elements + ranks - 1) / ranks * ranks;
    return elements * (size_t)format_facts[f].bytes < 524288 ? "reduce_scatter/recursive_halving"
                                                             : "reduce_scatter/pairwise";
}

/* That for additions that do not commute takes a power of two of ranks. MPI_Reduce_scatter_block
 * gives way to its own choice on others. */
static const char *mirrored(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                            enum format f)
{
    return power_of_two(ranks) == ranks ? "reduce_scatter/butterfly"
                                        : scattered(a, ranks, elements, f);
}

static const char *scatter_halved(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                                  enum format f)
{
    (void)a, (void)ranks, (void)elements, (void)f;
    return "reduce_scatter/recursive_halving";
}

static const char *scatter_doubled(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                                   enum format f)
{
    (void)a, (void)ranks, (void)elements, (void)f;
    return "reduce_scatter/recursive_doubling";
}

static const char *pairwise(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                            enum format f)
{
    (void)a, (void)ranks, (void)elements, (void)f;
    return "reduce_scatter/pairwise";
}

/* --- all --- */

/* Without the device's collectives, which would not ask for an algorithm. One that does not take a
 * case gives way to another, as always. */
#define FORCED "MPIR_CVAR_DEVICE_COLLECTIVES=none MPIR_CVAR_COLLECTIVE_FALLBACK=silent "

#define ALLREDUCE(its_name, its_variables, its_model, its_summary)                                 \
    {                                                                                              \
        .name = "mpich/" its_name, .summary = "MPI_Allreduce, " its_summary,                       \
        .operation = &operation_allreduce, .call = "allreduce", .variables = its_variables,        \
        .model = its_model                                                                         \
    }
/* Sums of a host's ranks travel between hosts. */
#define OF_EACH_HOST "ranks are on several hosts, which change the order"
#define BLOCKING(its_name, its_value, its_model)                                                   \
    ALLREDUCE(its_name, FORCED "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=" its_value, its_model,        \
              "MPICH's " its_value)
#define NONBLOCKING(its_name, its_value, its_model)                                                \
    ALLREDUCE(its_name,                                                                            \
              FORCED "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=nb "                                     \
                     "MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM=" its_value,                            \
              its_model, "MPICH's nb: MPI_Iallreduce, " its_value)

#define SCATTER(its_call, its_rest, its_variables, its_model, its_summary)                         \
    {                                                                                              \
        .name = "mpich/" its_call its_rest, .summary = its_summary,                                \
        .operation = &operation_reduce_scatter, .call = its_call, .variables = its_variables,      \
        .model = its_model                                                                         \
    }
#define SCATTER_BLOCKING(its_call, is_called, its_variable, its_value, its_model)                  \
    SCATTER(its_call, "_" its_value,                                                               \
            FORCED "MPIR_CVAR_" its_variable "_INTRA_ALGORITHM=" its_value, its_model,             \
            is_called ", MPICH's " its_value)
#define SCATTERS(its_call, is_called, its_variable)                                                \
    SCATTER(its_call, "", NULL, scattered, is_called ", whichever algorithm the library chooses"), \
        SCATTER_BLOCKING(its_call, is_called, its_variable, "recursive_halving", scatter_halved),  \
        SCATTER_BLOCKING(its_call, is_called, its_variable, "pairwise", pairwise),                 \
        SCATTER_BLOCKING(its_call, is_called, its_variable, "recursive_doubling",                  \
                         scatter_doubled),                                                         \
        SCATTER(its_call, "_recexch",                                                              \
                FORCED "MPIR_CVAR_" its_variable "_INTRA_ALGORITHM=nb "                            \
                       "MPIR_CVAR_I" its_variable "_INTRA_ALGORITHM=tsp_recexch",                  \
                scatter_halved, is_called ", MPICH's nb: tsp_recexch")

const struct mpi_algorithm mpich_algorithms[] = {
    {
        .name = "mpich/allreduce",
        .summary = "MPI_Allreduce, whichever algorithm the library chooses",
        .operation = &operation_allreduce,
        .call = "allreduce",
        .model = chosen,
        .unmodelled = "this build adds in another order from the fifth call on a communicator",
        .by_host = OF_EACH_HOST " unless MPIR_CVAR_DEVICE_COLLECTIVES=none",
        .all_alike = "MPIR_CVAR_DEVICE_COLLECTIVES",
    },
    BLOCKING("recursive_doubling", "recursive_doubling", doubled),
    BLOCKING("rabenseifner", "reduce_scatter_allgather", halved),
    NONBLOCKING("nonblocking", "auto", halved),
    {
        .name = "mpich/naive",
        .summary = "MPI_Allreduce, MPICH's nb: MPI_Iallreduce, sched_naive",
        .operation = &operation_allreduce,
        .call = "allreduce",
        .variables = FORCED "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=nb "
                            "MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM=sched_naive",
        .model = reduced,
        .by_host = OF_EACH_HOST,
    },
    NONBLOCKING("ring", "tsp_ring", round_the_ring),
    NONBLOCKING("tree", "tsp_tree", up_the_tree),
    NONBLOCKING("recexch", "tsp_recexch_single_buffer", doubled),
    NONBLOCKING("recexch_multiple_buffer", "tsp_recexch_multiple_buffer", doubled),
    NONBLOCKING("recexch_reduce_scatter", "tsp_recexch_reduce_scatter_recexch_allgatherv", doubled),
    {
        .name = "mpich/smp",
        .summary = "MPI_Allreduce, MPICH's smp: reduced to rank 0 of each machine, then sent",
        .operation = &operation_allreduce,
        .call = "allreduce",
        .variables = FORCED "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=smp",
        .in_shared_memory = true,
        .model = reduced,
        .by_host = OF_EACH_HOST,
    },
    {
        .name = "mpich/release_gather",
        .summary = "MPI_Allreduce, MPICH's release_gather, in shared memory",
        .operation = &operation_allreduce,
        .call = "allreduce",
        .variables = "MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM=release_gather "
                     "MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD=0",
        .in_shared_memory = true,
        .model = up_the_tree,
        .by_host = OF_EACH_HOST,
    },
    SCATTERS("reduce_scatter", "MPI_Reduce_scatter", "REDUCE_SCATTER"),
    {
        .name = "mpich/reduce_scatter_noncommutative",
        .summary = "MPI_Reduce_scatter, MPICH's noncommutative",
        .operation = &operation_reduce_scatter,
        .call = "reduce_scatter",
        .variables = FORCED "MPIR_CVAR_REDUCE_SCATTER_INTRA_ALGORITHM=noncommutative",
        .halves_alone = true,
        .model = mirrored,
    },
    SCATTERS("reduce_scatter_block", "MPI_Reduce_scatter_block", "REDUCE_SCATTER_BLOCK"),
    SCATTER_BLOCKING("reduce_scatter_block", "MPI_Reduce_scatter_block", "REDUCE_SCATTER_BLOCK",
                     "noncommutative", mirrored),
    MPI_OURS("mpich/", "exact",
             "ulpscope_mpi_allreduce: exact sums of blocks that MPI sends, rounded once"),
    MPI_OURS("mpich/", "binned", MPI_OURS_BINNED),
    {0},
};
