/* MPI's sums over ranks as subjects: mpi/allreduce, mpi/reduce_scatter, mpi/reduce_scatter_block,
 * and one for each algorithm that Open MPI can be made to use; the same of MPICH, mpich/allreduce,
 * ... Ranks are processes under mpirun (experiments/subjects/mpi_worker.c), as many as the case
 * says, on the hosts that the launcher is told, more than their processors if need be. They stay up
 * between cases of as many ranks.
 *
 * And NCCL's, nccl/allreduce, nccl/ring_ll, ...: a rank is a GPU of this machine, and a thread of
 * one process or a process of its own (nccl_worker.c). The launch shape's blocks are its channels.
 *
 * The environment variables ULPSCOPE_MPIRUN (Open MPI) and ULPSCOPE_MPIEXEC (MPICH) say other
 * launchers, with options. */
#pragma once

/* Ranks that a subject of an MPI library or of NCCL is asked to start, at most. */
enum { MPI_RANKS_MOST = 64 };

#include <jansson.h>

#include "kernels/method/method.h"
#include "reports/text/text.h"

enum mpi_library { OPEN_MPI, MPICH, NCCL, MPI_LIBRARIES };

/* What is said of a library in `doctor`: its version; or, false, what is missing. */
enum { MPI_TEXT = 320 };
bool mpi_there(enum mpi_library l, char text[MPI_TEXT]);

/* The u-th name of a library's, NULL behind the last. */
const char *mpi_name(enum mpi_library l, size_t u);

/* Our method whose bits this algorithm gives, with so many ranks and elements of this format; NULL:
 * none is known to. */
const char *mpi_model(const char *name, size_t ranks, size_t elements, enum format f);

/* On how many hosts the ranks of a subject have run, by their number: {"3": 1, "4": 2}, a new
 * reference. NULL of all other methods, and of what has not run. */
json_t *mpi_hosts(const struct method *m);
/* The most of these; 0: there are none. */
unsigned mpi_hosts_most(const struct method *m);
/* " on 1 host", " on up to 2 hosts" where numbers of ranks were on fewer; nothing where none ran.
 */
void mpi_hosts_words(struct text *to, const struct method *m);
