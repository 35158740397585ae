/* The all-reduces of ulpscope_mpi.h, run under mpirun: in every format, on addends that all ranks
 * know, each result is held to the exact sum, bit for bit, or to that of the state of bins. In
 * place, in one piece and in many, gathered whole, of different numbers of arrays, of none; and
 * what is wrong on one rank alone is told by all. Prints what is wrong; exit status 1 then. */
#include <inttypes.h>
#include <stdlib.h>

/* The next allocations of the header fail, from one on. */
static int allocations = -1;
static void *limited(size_t bytes)
{
    if (allocations == 0)
        return NULL;
    allocations -= allocations > 0;
    return (malloc)(bytes);
}
#define malloc(bytes) limited(bytes)
#ifdef SMALL_PIECES /* many pieces of short messages */
#define ULPSCOPE_MPI_RECEIVED 5000
#define ULPSCOPE_MPI_GATHERED 40
#endif
#include <ulpscope_mpi.h>

enum { ARRAYS = 15, N = 2000 };
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
        return ldexp(x, f == ULPSCOPE_FP64              ? -1065
                        : ulpscope_format_bytes(f) == 1 ? -7
                        : f == ULPSCOPE_FP16            ? -18
                                                        : -130);
    case 4:
        return i % 16 == 4 ? -0.0 : r % 4 ? -0.0 : 0;
    case 5:
        return r % 31 == 0 ? INFINITY : r % 37 == 0 ? -INFINITY : r % 101 == 0 ? NAN : x;
    case 6:
        return ldexp(x, f == ULPSCOPE_FP64              ? 990
                        : ulpscope_format_bytes(f) == 1 ? 6
                        : f == ULPSCOPE_FP16            ? 8
                                                        : 110);
    default:
        if (i % 16 == 7 && k < 2 && f > ULPSCOPE_FP16) /* far above what bins keep of the others */
            return ldexp(k == 0 ? 1 : -1, ulpscope_format_bytes(f) == 1 ? 8 : 120);
        return i % 16 == 7 ? ldexp(x, ulpscope_format_bytes(f) == 1 ? 0 : -100) : r % 3 ? 0 : x;
    }
}

/* How the arrays are shared: those of each number of ranks from there on. */
enum shared { IN_TURN, BY_RANK_0, BY_ALL_BUT_RANK_0, SHARED };

static int is_mine(enum shared how, size_t k)
{
    switch (how) {
    case IN_TURN:
        return (int)(k % (size_t)ranks) == rank;
    case BY_RANK_0:
        return rank == 0;
    case BY_ALL_BUT_RANK_0:
        return ranks == 1 || (rank > 0 && (int)(k % (size_t)(ranks - 1)) + 1 == rank);
    case SHARED:
        break;
    }
    return 0;
}

/* The sum in bins, of doubles that carry the format; of 8 bits the exact one. */
static double binned(const double *x, size_t count, enum ulpscope_format f, unsigned folds)
{
    struct ulpscope_array a = {ULPSCOPE_FP64, count, x};
    struct ulpscope_state *s = NULL;
    double sum = NAN;
    if (folds == 0 || ulpscope_format_bytes(f) == 1) {
        ulpscope_sum(&sum, &a, f, NULL);
    } else if (ulpscope_state_new(&s, folds, ULPSCOPE_FP64, f, NULL) == ULPSCOPE_OK &&
               ulpscope_state_add(s, &a, NULL) == ULPSCOPE_OK) {
        sum = ulpscope_state_sum(s);
    }
    ulpscope_state_free(s);
    return sum;
}

/* Of the fixed words: within their bound of the exact sum. */
static int near(double is, double due, double most, enum ulpscope_format f)
{
    static const double u[] = {0x1p-11, 0x1p-8, 0x1p-24, 0x1p-53};
    return is != due && fabs(is - due) <= ARRAYS * most * 0x1p-24 * u[f] + 2 * u[f] * fabs(due);
}

static void hold(const char *what, enum ulpscope_format f, unsigned folds, int nearly,
                 const void *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double all[ARRAYS], due, most = 0;
        uint64_t is = 0;
        memcpy(&is, (const char *)out + i * ulpscope_format_bytes(f), ulpscope_format_bytes(f));
        for (size_t k = 0; k < ARRAYS; k++) {
            all[k] = ulpscope_decode(f, ulpscope_encode(f, addend(k, i, f)));
            most = fabs(all[k]) > most ? fabs(all[k]) : most;
        }
        due = binned(all, ARRAYS, f, folds);
        if (is == ulpscope_encode(f, due) || (nearly && near(ulpscope_decode(f, is), due, most, f)))
            continue;
        printf("%s, %s, %u folds, %d ranks, rank %d, element %zu of %zu: %a, expected %a\n", what,
               ulpscope_format_name(f), folds, ranks, rank, i, n, ulpscope_decode(f, is), due);
        wrong = 1;
        return;
    }
}

static uint64_t in[ARRAYS * N], out[ARRAYS * N];

static size_t fill(enum ulpscope_format f, size_t n, enum shared how)
{
    size_t bytes = ulpscope_format_bytes(f), mine = 0;
    for (size_t k = 0; k < ARRAYS; k++)
        if (is_mine(how, k)) {
            for (size_t i = 0; i < n; i++) {
                uint64_t bits = ulpscope_encode(f, addend(k, i, f));
                memcpy((char *)in + (mine * n + i) * bytes, &bits, bytes);
            }
            mine++;
        }
    return mine;
}

static void expect(enum ulpscope_status is, enum ulpscope_status due, const char *what,
                   const struct ulpscope_error *error)
{
    if (is == due && (is == ULPSCOPE_OK || error->status == (int)due))
        return;
    printf("%s, rank %d of %d: status %d (%s), expected %d\n", what, rank, ranks, (int)is,
           is == ULPSCOPE_OK ? "" : error->text, (int)due);
    wrong = 1;
}

static void try_format(enum ulpscope_format f)
{
    const size_t lengths[] = {0, 1, (size_t)ranks - 1, (size_t)ranks + 1, N - 1};
    struct ulpscope_error error = {0};
    for (enum shared how = IN_TURN; how < SHARED; how++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (unsigned folds = 0; folds <= 4; folds += folds ? 1 : 2) {
                size_t n = lengths[l], mine = fill(f, n, how), bytes = ulpscope_format_bytes(f);
                memset(out, 0x55, sizeof out);
                expect(ulpscope_mpi_allreduce(in, mine, out, n, f, folds, MPI_COMM_WORLD, &error),
                       ULPSCOPE_OK, "allreduce", &error);
                hold("allreduce", f, folds, 0, out, n);
                if (((unsigned char *)out)[n * bytes] != 0x55)
                    printf("written behind the end\n"), wrong = 1;
                expect(ulpscope_mpi_allreduce(in, mine, in, n, f, folds, MPI_COMM_WORLD, &error),
                       ULPSCOPE_OK, "in = out", &error);
                if (mine > 0 || n == 0)
                    hold("in = out", f, folds, 0, in, n);
                if (how != IN_TURN || ulpscope_format_bytes(f) == 1 || folds > 0)
                    continue;
                mine = fill(f, n, how);
                if (ulpscope_mpi_allreduce_fixed(in, mine, out, n, f, MPI_COMM_WORLD, &error))
                    printf("%s\n", error.text), wrong = 1;
                hold("fixed", f, 0, 1, out, n);
            }
}

/* MPI_IN_PLACE, of one array on each rank: rank r's is array r. */
static void try_in_place(enum ulpscope_format f, int fixed)
{
    size_t bytes = ulpscope_format_bytes(f);
    struct ulpscope_error error = {0};
    for (size_t i = 0; i < N; i++) {
        uint64_t bits = ulpscope_encode(f, i % 7 + (double)rank);
        memcpy((char *)out + i * bytes, &bits, bytes);
    }
    expect(fixed ? ulpscope_mpi_allreduce_fixed(MPI_IN_PLACE, 1, out, N, f, MPI_COMM_WORLD, &error)
                 : ulpscope_mpi_allreduce(MPI_IN_PLACE, 1, out, N, f, 0, MPI_COMM_WORLD, &error),
           ULPSCOPE_OK, "MPI_IN_PLACE", &error);
    for (size_t i = 0; i < N; i++) {
        uint64_t is = 0, due = ulpscope_encode(f, (double)((i % 7 + 0.5 * (ranks - 1)) * ranks));
        memcpy(&is, (char *)out + i * bytes, bytes);
        if (is != due)
            printf("MPI_IN_PLACE, %s: element %zu\n", ulpscope_format_name(f), i), wrong = 1;
    }
}

/* Addends whose leading words round up to a power of two beyond the range: all on rank 0. */
static void try_largest(void)
{
    static const double two[2][4] = {{DBL_MAX, -DBL_MAX, DBL_MAX, DBL_MAX / 2},
                                     {0, 0x1p970, -DBL_MAX / 2, DBL_MAX / 2}};
    struct ulpscope_error error = {0};
    double sum[4];
    expect(ulpscope_mpi_allreduce_fixed(two, rank == 0 ? 2 : 0, sum, 4, ULPSCOPE_FP64,
                                        MPI_COMM_WORLD, &error),
           ULPSCOPE_OK, "the largest", &error);
    for (size_t i = 0; i < 4; i++)
        if (sum[i] != two[0][i] + two[1][i])
            printf("the largest, %d ranks: %a, expected %a\n", ranks, sum[i],
                   two[0][i] + two[1][i]),
                wrong = 1;
}

/* The sum of no addends is +0, of -0s on one rank alone -0. */
static void try_no_addends(void)
{
    static const float zero = -0.0f;
    struct ulpscope_error error = {0};
    for (size_t arrays = 0; arrays < 2; arrays++) {
        float sum = 1;
        expect(ulpscope_mpi_allreduce_fixed(&zero, rank == 0 ? arrays : 0, &sum, 1, ULPSCOPE_FP32,
                                            MPI_COMM_WORLD, &error),
               ULPSCOPE_OK, "no addends", &error);
        if (sum != 0 || !signbit(sum) != (arrays == 0))
            printf("%zu addends of -0, %d ranks: %a\n", arrays, ranks, (double)sum), wrong = 1;
    }
}

/* The last rank alone is wrong, and no rank waits for it. */
static void try_fixed_failures(void)
{
    struct ulpscope_error error = {0};
    float x[8] = {0}, sum[8];
    const int last = rank == ranks - 1;
    expect(ulpscope_mpi_allreduce_fixed(last ? MPI_IN_PLACE : x, last ? 2 : 1, sum, 4,
                                        ULPSCOPE_FP32, MPI_COMM_WORLD, &error),
           ULPSCOPE_USAGE, "two arrays in place", &error);
    expect(ulpscope_mpi_allreduce_fixed(x, 1, last ? NULL : sum, 4, ULPSCOPE_FP32, MPI_COMM_WORLD,
                                        &error),
           ULPSCOPE_USAGE, "no array", &error);
    if (ranks == 1)
        return;
    expect(ulpscope_mpi_allreduce_fixed(x, 1, sum, last ? 5 : 4, ULPSCOPE_FP32, MPI_COMM_WORLD,
                                        &error),
           ULPSCOPE_USAGE, "another n", &error);
    expect(ulpscope_mpi_allreduce_fixed(x, 1, sum, 4, last ? ULPSCOPE_BF16 : ULPSCOPE_FP32,
                                        MPI_COMM_WORLD, &error),
           ULPSCOPE_USAGE, "another format", &error);
}

/* Each rank in turn fails alone, and all say so; the next call is as good as any. */
static void try_failures(void)
{
    struct ulpscope_error error = {0};
    MPI_Comm halves, between = MPI_COMM_NULL;
    const struct {
        const char *what;
        enum ulpscope_format f;
        unsigned folds;
        size_t n, arrays;
        const void *in;
    } bad[] = {{"99 folds", ULPSCOPE_FP32, 99, N, 1, in},
               {"1 fold", ULPSCOPE_FP32, 1, N, 1, in},
               {"no format", (enum ulpscope_format)9, 0, N, 1, in},
               {"another format", ULPSCOPE_FP16, 0, N, 1, in},
               {"another n", ULPSCOPE_FP32, 0, N - 1, 1, in},
               {"other folds", ULPSCOPE_FP32, 3, N, 1, in},
               {"no array", ULPSCOPE_FP32, 0, N, 1, NULL},
               {"two arrays in place", ULPSCOPE_FP32, 0, N, 2, MPI_IN_PLACE},
               {"too many", ULPSCOPE_FP32, 0, N, SIZE_MAX / 2, in}};
    memset(in, 0, sizeof in);
    for (int r = 0; r < ranks; r++) {
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            int me = r == rank, alone = strncmp(bad[k].what, "other", 5) == 0 ||
                                        strncmp(bad[k].what, "another", 7) == 0;
            expect(ulpscope_mpi_allreduce(me ? bad[k].in : in, me ? bad[k].arrays : 1, out,
                                          me ? bad[k].n : N, me ? bad[k].f : ULPSCOPE_FP32,
                                          me ? bad[k].folds : 0, MPI_COMM_WORLD, &error),
                   alone && ranks == 1 ? ULPSCOPE_OK : ULPSCOPE_USAGE, bad[k].what, &error);
        }
        for (int at = 0; at < 8; at++) { /* of arrays as many on all ranks, and not */
            size_t mine = 1 + (size_t)(rank > 0);
            allocations = r == rank ? at % 4 : -1;
            expect(ulpscope_mpi_allreduce(in, at < 4 ? 1 : mine, out, N, ULPSCOPE_FP32, 0,
                                          MPI_COMM_WORLD, &error),
                   ULPSCOPE_MEMORY, "out of memory", &error);
            if (at < 4 || ranks == 1)
                continue;
            allocations = r == rank ? 4 + at % 3 : -1; /* when the numbers have been told */
            expect(
                ulpscope_mpi_allreduce(in, mine, out, N, ULPSCOPE_FP32, 0, MPI_COMM_WORLD, &error),
                ULPSCOPE_MEMORY, "out of memory afterwards", &error);
        }
        allocations = -1;
    }
    expect(ulpscope_mpi_allreduce(in, 1, out, 1, ULPSCOPE_FP32, 0, MPI_COMM_NULL, &error),
           ULPSCOPE_USAGE, "no communicator", &error);
    if (ranks > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
        MPI_Intercomm_create(halves, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &between);
        expect(ulpscope_mpi_allreduce(in, 1, out, 1, ULPSCOPE_FP32, 0, between, &error),
               ULPSCOPE_USAGE, "an intercommunicator", &error);
        MPI_Comm_free(&between);
        MPI_Comm_free(&halves);
    }
}

int main(int argc, char **argv)
{
    int any = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (enum ulpscope_format f = ULPSCOPE_FP16; ulpscope_format_bytes(f) > 0; f++) {
        try_format(f);
        for (int fixed = 0; fixed <= (ulpscope_format_bytes(f) > 1); fixed++)
            try_in_place(f, fixed);
    }
    try_largest();
    try_no_addends();
    try_fixed_failures();
    try_failures();
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return any;
}
