/* The all-reduce of experiments/library/ulpscope_mpi.h, for ranks that know nothing of the library
 * (mpi_worker.c); experiments/library/mpi_invariant.c has it, compiled against the same MPI. */
#pragma once

#include <mpi.h>
#include <stddef.h>

#include "reference/format/format.h"

/* out[i] on every rank is the sum of element i of the ranks' arrays of n elements; folds 0: exact.
 * NULL, or why there is none, on all ranks. */
const char *mpi_invariant(const void *in, void *out, size_t n, enum format f, unsigned folds,
                          MPI_Comm comm);
