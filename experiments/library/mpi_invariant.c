#include "experiments/subjects/mpi_invariant.h"

#include "experiments/library/ulpscope_mpi.h"

const char *mpi_invariant(const void *in, void *out, size_t n, enum format f, unsigned folds,
                          MPI_Comm comm)
{
    static struct ulpscope_error error;
    return ulpscope_mpi_allreduce(in, 1, out, n, (enum ulpscope_format)f, folds, comm, &error) ==
                   ULPSCOPE_OK
               ? NULL
               : error.text;
}
