/* MPI's sums over ranks as subjects: mpi/allreduce, mpi/reduce_scatter, mpi/reduce_scatter_block,
 * and one for each algorithm that Open MPI can be made to use. Ranks are processes under mpirun
 * (experiments/subjects/mpi_worker.c), as many as the case says, on this machine, more than its
 * processors if need be. They stay up between cases of as many ranks.
 *
 * The environment variable ULPSCOPE_MPIRUN says another mpirun, with options. */
#pragma once

#include "kernels/method/method.h"

/* What is said of MPI in `doctor`: the library's version; or, false, what is missing. */
enum { MPI_TEXT = 320 };
bool mpi_there(char text[MPI_TEXT]);

/* The u-th name, NULL behind the last. */
const char *mpi_name(size_t u);

/* The method of the registry that has the bits of Open MPI's algorithm of that name, with so many
 * ranks of so many elements of this format; NULL: none is known to. */
const char *mpi_model(const char *name, size_t ranks, size_t elements, enum format f);
