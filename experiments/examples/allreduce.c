/* The gradients of 24 micro-batches, dealt to however many ranks there are: MPI_SUM gives other
 * bits on another number of ranks, those of libulpscope do not.
 *
 *     mpicc allreduce.c $(pkg-config --cflags --libs ulpscope) -o allreduce
 *     for ranks in 1 2 3; do mpirun -n $ranks ./allreduce; done */
#include <math.h>
#include <ulpscope_mpi.h>

enum { BATCHES = 24, N = 2000 };
static float mine[BATCHES * N], local[N], sum[N];

/* The same numbers wherever the micro-batch is computed. */
static float gradient(uint32_t batch, uint32_t i)
{
    uint32_t z = (batch * N + i) * 2654435761u;
    z = (z ^ (z >> 15)) * 2246822519u;
    z ^= z >> 13;
    return ldexpf((float)(z >> 8) - 8388608.0f, (int)(z & 15) - 30);
}

static uint64_t hash(void)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < sizeof sum; i++)
        h = (h ^ ((const unsigned char *)sum)[i]) * 1099511628211u;
    return h;
}

int main(int argc, char **argv)
{
    int rank, ranks, failed = 0;
    uint64_t plain, exact = 0, binned = 0, fixed = 0;
    size_t batches = 0;
    struct ulpscope_error error;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (uint32_t batch = (uint32_t)rank; batch < BATCHES; batch += (uint32_t)ranks, batches++)
        for (uint32_t i = 0; i < N; i++) {
            mine[batches * N + i] = gradient(batch, i);
            local[i] += mine[batches * N + i];
        }
    MPI_Allreduce(local, sum, N, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    plain = hash();
    failed |= ulpscope_mpi_allreduce(mine, batches, sum, N, ULPSCOPE_FP32, 0, MPI_COMM_WORLD,
                                     &error) != ULPSCOPE_OK;
    exact = hash();
    failed = failed || ulpscope_mpi_allreduce(mine, batches, sum, N, ULPSCOPE_FP32, 3,
                                              MPI_COMM_WORLD, &error) != ULPSCOPE_OK;
    binned = hash();
    failed = failed || ulpscope_mpi_allreduce_fixed(mine, batches, sum, N, ULPSCOPE_FP32,
                                                    MPI_COMM_WORLD, &error) != ULPSCOPE_OK;
    fixed = hash();
    if (failed)
        fprintf(stderr, "rank %d: %s\n", rank, error.text);
    else if (rank == 0)
        printf("%d ranks: MPI_SUM %016llx, exact %016llx, binned %016llx, fixed %016llx\n", ranks,
               (unsigned long long)plain, (unsigned long long)exact, (unsigned long long)binned,
               (unsigned long long)fixed);
    MPI_Finalize();
    return failed;
}
