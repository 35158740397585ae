/* What the ranks under mpirun tell behind the array of sums: of an all-reduce that of rank 0, of a
 * reduce-scatter the blocks of all ranks. */
#pragma once

#include <stdint.h>

#define MPI_TOLD_BEHIND UINT64_MAX
#define MPI_TOLD_SENT   (UINT64_MAX - 1)

struct mpi_told {
    uint64_t time_ns; /* of the call, on rank 0 */
    uint64_t rank;    /* the first that ended with other bits than rank 0; 0: none did */
    uint64_t element; /* the first such element of that rank, */
    uint64_t bits[2]; /* and its bits on rank 0 and there */
    uint64_t hosts;   /* that ranks are on */
    uint64_t unlike;  /* 1 + the first rank where else was written than its results; 0: none */
    uint64_t left;    /* the first result that is unwritten; MPI_TOLD_BEHIND: behind the last, too;
                         MPI_TOLD_SENT: what it sent, too */
};
