/* The algorithms of MPI libraries and of NCCL that are subjects, and which method of ours has the
 * bits of each.
 */
#pragma once

#include "kernels/method/method.h"

struct mpi_algorithm {
    const char *name, *summary;
    const struct operation *operation;
    const char *call; /* what ranks call: MPI_ and this (mpi_worker.c) */
    /* Open MPI's, as the variables coll_tuned_CALL_algorithm and _segmentsize say them: a number,
     * and the bytes that it cuts messages into. 0: its own choice. */
    unsigned number, segment;
    /* MPICH's and NCCL's: the environment variables that ask for it, NAME=VALUE ...; NULL: its own
     * choice. */
    const char *variables;
    bool in_shared_memory; /* only a build of MPICH that adds there, too, has it */
    /* Takes a power of two of ranks and blocks of one length alone, and ends the program where it
     * is asked for others. */
    bool halves_alone;
    /* The method that has its bits with more than two ranks of so many elements; NULL: none is
     * known to. */
    const char *(*model)(const struct mpi_algorithm *a, size_t ranks, size_t elements,
                         enum format f);
    const char *unmodelled; /* why none is known */
    /* Why none is where ranks are on several hosts; NULL: there it is the same. */
    const char *by_host;
    const char
        *all_alike; /* the variable that, where it is "none", makes hosts the same; or NULL */
    /* Our method that this one is, sent by the library: its promises, and its bits on any number of
     * ranks; NULL: the library's own. */
    const char *ours;
};

/* The model of what is ours: itself. */
const char *mpi_ours(const struct mpi_algorithm *a, size_t ranks, size_t elements, enum format f);

/* allreduce/exact and allreduce/binned by what a library sends. */
#define MPI_OURS(prefix, its_name, its_summary)                                                    \
    {                                                                                              \
        .name = prefix its_name, .summary = its_summary, .operation = &operation_allreduce,        \
        .call = its_name, .model = mpi_ours, .ours = "allreduce/" its_name                         \
    }
#define MPI_OURS_BINNED "the same in bins, K = 3 folds: any order and number of ranks"

/* Behind the last: no name. */
extern const struct mpi_algorithm open_mpi_algorithms[], mpich_algorithms[], nccl_algorithms[];

/* Version and device of the MPICH of this build; "": there is none. */
extern const char mpich_version[];
extern const char nccl_version[]; /* likewise */
/* Does this MPICH add in shared memory, from the fifth call on a communicator? */
bool mpich_in_shared_memory(void);
