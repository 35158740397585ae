/* A sum over MPI ranks as a program under test, in fp64: two sums, of which one depends on the
 * number of ranks.
 *
 *     mpicc -O2 experiments/examples/mpi_sum.c -o build/mpi_sum
 *     build/ulpscope check --threads 2,3,4 --storage fp64 --accumulator fp64 --device cpu
 *         'exec:exec mpirun --oversubscribe -n ${OMP_NUM_THREADS:-2} build/mpi_sum shares'
 *
 * ulpscope asks rank 0 through its standard input: `sum N fp64 fp64`, a line break and N elements,
 * again and again, until the input ends. The answer is one element. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 256 };

static double added(const double *x, int begin, int end)
{
    double sum = begin < end ? x[begin] : 0;
    for (int i = begin + 1; i < end; i++)
        sum += x[i];
    return sum;
}

/* Where the share of a rank begins, of n things. */
static int share(int n, int rank, int ranks)
{
    return (int)((long long)n * rank / ranks);
}

/* Each rank adds its share, MPI adds the sums: another number of ranks is another order. */
static double shares(const double *x, int n, int rank, int ranks)
{
    double all = 0, own = added(x, share(n, rank, ranks), share(n, rank + 1, ranks));
    MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
}

/* Ranks share blocks of 256 elements; rank 0 adds the sums of the blocks from the first on. */
static double blocks(const double *x, int n, int rank, int ranks)
{
    int count = (n + BLOCK - 1) / BLOCK, first = share(count, rank, ranks);
    int mine = share(count, rank + 1, ranks) - first;
    int *counts = calloc((size_t)ranks, sizeof *counts), *at = calloc((size_t)ranks, sizeof *at);
    double *own = calloc((size_t)mine + 1, sizeof *own);
    double *all = calloc((size_t)count + 1, sizeof *all);
    if (!counts || !at || !own || !all)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int r = 0; r < ranks; r++) {
        at[r] = share(count, r, ranks);
        counts[r] = share(count, r + 1, ranks) - at[r];
    }
    for (int i = 0; i < mine; i++) {
        int begin = (first + i) * BLOCK, end = begin + BLOCK;
        own[i] = added(x, begin, end < n ? end : n);
    }
    MPI_Gatherv(own, mine, MPI_DOUBLE, all, counts, at, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double sum = added(all, 0, count);
    free(counts), free(at), free(own), free(all);
    return sum;
}

/* How many elements the next request has; -1: there is none. */
static int asked(void)
{
    char line[64], storage[16], accumulator[16];
    int n;
    if (!fgets(line, sizeof line, stdin))
        return -1;
    if (sscanf(line, "sum %d %15s %15s", &n, storage, accumulator) == 3 && n >= 0 &&
        strcmp(storage, "fp64") == 0 && strcmp(accumulator, "fp64") == 0)
        return n;
    fprintf(stderr, "only sums of fp64 in fp64\n");
    return -1;
}

/* Waiting ranks sleep: MPI would spin, and take the processors from other work. */
static int told(int n)
{
    MPI_Request request;
    MPI_Ibcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done;)
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    return n;
}

int main(int argc, char **argv)
{
    int rank, ranks, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double (*sum)(const double *, int, int, int) =
        argc > 1 && strcmp(argv[1], "blocks") == 0 ? blocks : shares;
    while ((n = told(rank == 0 ? asked() : 0)) >= 0) {
        double *x = malloc(sizeof *x * ((size_t)n + 1));
        if (!x || (rank == 0 && fread(x, sizeof *x, (size_t)n, stdin) != (size_t)n))
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Bcast(x, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        double result = sum(x, n, rank, ranks);
        if (rank == 0) {
            fwrite(&result, sizeof result, 1, stdout);
            fflush(stdout);
        }
        free(x);
    }
    MPI_Finalize();
    return 0;
}
