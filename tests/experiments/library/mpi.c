/* The all-reduces of ulpscope_mpi.h, run under mpirun: in every format, on addends that all ranks
 * know, each result is held to the exact sum, and to that of the ranks the other way round. Prints
 * what is wrong; exit status 1 then. */
#include <inttypes.h>
#include <ulpscope_mpi.h>

enum { ARRAYS = 15, N = 300 };
static int rank, ranks, wrong;

static uint64_t mixed(uint64_t z)
{
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* Near and far exponents, subnormals, cancellation, zeros of both signs, infinities and NaN. */
static double addend(size_t k, size_t i, enum ulpscope_format f)
{
    uint64_t r = mixed(k * N + i + ((uint64_t)f << 32));
    double x = (double)(int64_t)r * 0x1p-63;
    switch (i % 8) {
    case 0:
        return k % 2 ? -addend(k - 1, i + 1, f)
                     : addend(k, i + 1, f); /* cancels but for the last */
    case 1:
        return x;
    case 2:
        return ldexp(x, (int)(r % 30) - 15);
    case 3:
        return ldexp(x, f == ULPSCOPE_FP64 ? -1065 : f == ULPSCOPE_FP16 ? -18 : -130);
    case 4:
        return i % 16 == 4 ? -0.0 : r % 4 ? -0.0 : 0;
    case 5:
        return r % 31 == 0 ? INFINITY : r % 37 == 0 ? -INFINITY : r % 101 == 0 ? NAN : x;
    case 6:
        return ldexp(x, f == ULPSCOPE_FP64 ? 990 : f == ULPSCOPE_FP16 ? 8 : 110);
    default:
        return r % 3 ? 0 : x;
    }
}

static void hold(const char *what, enum ulpscope_format f, int nearly, const void *out)
{
    static const double u[] = {0x1p-11, 0x1p-8, 0x1p-24, 0x1p-53};
    for (size_t i = 0; i < N; i++) {
        double all[ARRAYS], due, most = 0, is = ulpscope_mpi_get(out, i, f);
        for (size_t k = 0; k < ARRAYS; k++) {
            all[k] = ulpscope_decode(f, ulpscope_encode(f, addend(k, i, f)));
            most = fabs(all[k]) > most ? fabs(all[k]) : most;
        }
        struct ulpscope_array a = {ULPSCOPE_FP64, ARRAYS, all};
        ulpscope_sum(&due, &a, f, NULL);
        int same = ulpscope_encode(f, due) == ulpscope_encode(f, is);
        if (same ||
            (nearly && is != due &&
             fabs(is - due) <= nearly * ARRAYS * most * 0x1p-24 * u[f] + 2 * u[f] * fabs(due)))
            continue;
        printf("%s, %s, %d ranks, rank %d, element %zu: %a, expected %a\n", what,
               ulpscope_format_name(f), ranks, rank, i, is, due);
        wrong = 1;
    }
}

static void try_format(enum ulpscope_format f)
{
    static uint64_t in[ARRAYS * N], out[N];
    struct ulpscope_error error = {0};
    size_t bytes = ulpscope_format_bytes(f), mine = 0;
    for (size_t k = 0; k < ARRAYS; k++)
        for (size_t i = 0; i < N && (int)(k % (size_t)ranks) == rank; i++) {
            uint64_t bits = ulpscope_encode(f, addend(k, i, f));
            memcpy((char *)in + (mine * N + i) * bytes, &bits, bytes);
            mine += i + 1 == N;
        }
    for (unsigned folds = 0; folds <= 4; folds += folds ? 1 : 2) {
        if (ulpscope_mpi_allreduce(in, mine, out, N, f, folds, MPI_COMM_WORLD, &error))
            printf("%s\n", error.text), wrong = 1;
        hold(folds ? "binned" : "exact", f, folds ? 1 << 24 : 0, out);
    }
    if (ulpscope_mpi_allreduce_fixed(in, mine, out, N, f, MPI_COMM_WORLD, &error))
        printf("%s\n", error.text), wrong = 1;
    hold("fixed", f, 1, out);
    if (ulpscope_mpi_allreduce(in, mine, out, N, f, 99, MPI_COMM_WORLD, &error) != ULPSCOPE_USAGE)
        printf("99 folds are not refused\n"), wrong = 1;
}

int main(int argc, char **argv)
{
    int any = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (enum ulpscope_format f = ULPSCOPE_FP16; f <= ULPSCOPE_FP64; f++)
        try_format(f);
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return any;
}
