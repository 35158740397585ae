/* The algorithms of Open MPI that are subjects, and which method of ours has the bits of each. */
#pragma once

#include "kernels/method/method.h"

struct mpi_algorithm {
    const char *name, *summary;
    const struct operation *operation;
    /* What ranks call, MPI_ and this (mpi_worker.c), and whose algorithm the variable
     * coll_tuned_CALL_algorithm says. */
    const char *call;
    unsigned number;  /* of the algorithm there; 0: Open MPI decides */
    unsigned segment; /* bytes that it cuts messages into; 0: its own choice */
    /* What Open MPI decides for more than two ranks of so many elements, each of so many bytes. */
    unsigned (*decided)(size_t ranks, size_t elements, size_t element_bytes);
    /* The method that has the bits of that number, which is not 0; NULL: none is known to. */
    const char *(*model)(unsigned number, size_t ranks, size_t elements);
};

/* Of that name; NULL: none. */
const struct mpi_algorithm *mpi_algorithm_named(const char *name);
