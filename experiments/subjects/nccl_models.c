#include "experiments/subjects/mpi_models.h"

/* The version of NCCL that this build has; "": none. */
const char nccl_version[] = ULPSCOPE_NCCL;

/* Of more ranks than four no machine has shown its rings and trees. */
enum { HELD = 4 };

#define OF_PROTOCOL(form, protocol)                                                                \
    static const char *form##_##protocol(const struct mpi_algorithm *a, size_t ranks,              \
                                         size_t elements, enum format f)                           \
    {                                                                                              \
        (void)a, (void)elements, (void)f;                                                          \
        return ranks <= HELD ? "allreduce/nccl_" #form "_" #protocol : NULL;                       \
    }
OF_PROTOCOL(ring, simple)
OF_PROTOCOL(ring, ll)
OF_PROTOCOL(ring, ll128)
OF_PROTOCOL(tree, simple)
OF_PROTOCOL(tree, ll)
OF_PROTOCOL(tree, ll128)

/* Of three ranks some channels have another root, and how a message is dealt to channels depends on
 * the protocol. */
static const char *tree(const struct mpi_algorithm *a, size_t ranks, size_t elements, enum format f)
{
    (void)a, (void)elements, (void)f;
    return ranks == 4 ? "allreduce/linear" : NULL;
}

static const char *unknown(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                           enum format f)
{
    (void)a, (void)ranks, (void)elements, (void)f;
    return NULL;
}

/* A block goes round the ring to its owner, however it is cut. */
static const char *to_owner(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                            enum format f)
{
    (void)a, (void)elements, (void)f;
    return ranks <= HELD ? "reduce_scatter/ring" : NULL;
}

#define UNSEEN "more than four GPUs have not shown their rings and trees"

#define SUM(its_name, its_variables, its_model, is_unmodelled, its_summary)                        \
    {                                                                                              \
        .name = "nccl/" its_name, .summary = "ncclAllReduce, " its_summary,                        \
        .operation = &operation_allreduce, .call = "allreduce", .variables = its_variables,        \
        .model = its_model, .unmodelled = is_unmodelled                                            \
    }
#define CHOSEN(its_name, its_variables, its_summary)                                               \
    SUM(its_name, its_variables, unknown,                                                          \
        "NCCL chooses by the time that it expects each algorithm and protocol to take, which is "  \
        "not modelled: nccl/ring_ll and others name them",                                         \
        its_summary)
#define ALLREDUCE(its_name, its_variables, its_model, its_summary)                                 \
    SUM(its_name, its_variables, its_model, UNSEEN, its_summary)
#define SCATTER(its_name, its_variables, its_summary)                                              \
    {                                                                                              \
        .name = "nccl/" its_name, .summary = "ncclReduceScatter, " its_summary,                    \
        .operation = &operation_reduce_scatter, .call = "reduce_scatter",                          \
        .variables = its_variables, .model = to_owner, .unmodelled = UNSEEN                        \
    }

const struct mpi_algorithm nccl_algorithms[] = {
    CHOSEN("allreduce", NULL, "whichever algorithm and protocol the library chooses"),
    CHOSEN("processes", "ULPSCOPE_NCCL_PROCESSES=1", "the same, each rank a process of its own"),
    CHOSEN("ring", "NCCL_ALGO=Ring", "NCCL's ring by a protocol of its choice"),
    ALLREDUCE("ring_simple", "NCCL_ALGO=Ring NCCL_PROTO=Simple", ring_simple,
              "NCCL's ring by protocol Simple"),
    ALLREDUCE("ring_ll", "NCCL_ALGO=Ring NCCL_PROTO=LL", ring_ll, "NCCL's ring by protocol LL"),
    ALLREDUCE("ring_ll128", "NCCL_ALGO=Ring NCCL_PROTO=LL128", ring_ll128,
              "NCCL's ring by protocol LL128"),
    SUM("tree", "NCCL_ALGO=Tree", tree,
        "other numbers of ranks than four depend on the protocol, which NCCL chooses by time: "
        "nccl/tree_ll and others name it",
        "NCCL's tree by a protocol of its choice"),
    ALLREDUCE("tree_simple", "NCCL_ALGO=Tree NCCL_PROTO=Simple", tree_simple,
              "NCCL's tree by protocol Simple"),
    ALLREDUCE("tree_ll", "NCCL_ALGO=Tree NCCL_PROTO=LL", tree_ll, "NCCL's tree by protocol LL"),
    ALLREDUCE("tree_ll128", "NCCL_ALGO=Tree NCCL_PROTO=LL128", tree_ll128,
              "NCCL's tree by protocol LL128"),
    SCATTER("reduce_scatter", NULL, "whichever protocol the library chooses"),
    SCATTER("reduce_scatter_simple", "NCCL_PROTO=Simple", "by protocol Simple"),
    SCATTER("reduce_scatter_ll", "NCCL_PROTO=LL", "by protocol LL"),
    SCATTER("reduce_scatter_ll128", "NCCL_PROTO=LL128", "by protocol LL128"),
    MPI_OURS("nccl/", "exact",
             "ulpscope_nccl_allreduce: exact sums of blocks that NCCL sends, rounded once"),
    MPI_OURS("nccl/", "binned", "the same in bins, K = 3 folds: any order and number of GPUs"),
    {0},
};
