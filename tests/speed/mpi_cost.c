/* What an all-reduce costs whose bits depend on nothing (experiments/library/ulpscope_mpi.h):
 * beside MPI_Allreduce of as many bytes, on the ranks that it is started with.
 *
 *     mpirun -n RANKS build/mpi_cost FILE [LOG2_MOST]
 *
 * Appends a row a method, format, input and n to a CSV file: medians of 17 turns that the methods
 * take, of short messages 101, after two of warm-up; a turn is the longest of all ranks, short
 * messages in batches, one after another. On a machine with other work the least of the turns tells
 * more. Beside fp32 and fp64 stands MPI_SUM of them. Of fp16 and bf16 MPI has no type:
 * beside these stands MPI_SUM of as many integers of 16 bits, the least that a sum of as many bytes
 * takes. Each method's results are compared among the ranks, by hash, and ours on a sample to the
 * CPU's methods: exit status 1 where one differs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/library/ulpscope_mpi.h"
#include "kernels/blocks/ranks.h"
#include "reference/format/hash_array.h"
#include "tests/speed/addends.h"

enum { SAMPLE = 2048 };

enum way { PLAIN, EXACT, BINNED, WAYS };
static const struct {
    const char *name;
    enum status (*twin)(const struct task *t, struct problem *p); /* NULL: no bits are due */
} ways[WAYS] = {
    [PLAIN] = {"MPI_Allreduce", NULL},
    [EXACT] = {"mpi/exact", ranks_exact},
    [BINNED] = {"mpi/binned", ranks_binned},
};

static int rank, ranks, log2_most, wrong;
static FILE *csv; /* rank 0's */
static void *in, *out;

static _Noreturn void fail(int status, const char *what, const char *why)
{
    fprintf(stderr, "mpi_cost: %s: %s\n", what, why);
    MPI_Abort(MPI_COMM_WORLD, status);
    exit(status);
}

static void *room(size_t bytes)
{
    void *data = malloc(bytes + 1);
    if (!data)
        fail(4, "memory", "out of memory");
    return data;
}

static uint64_t encoding(enum format f, enum input input, size_t of_rank, size_t i)
{
    return format_encode(f, addend(f, input, of_rank, i));
}

static void call(enum way way, enum format f, size_t n)
{
    MPI_Datatype type = f == FP64 ? MPI_DOUBLE : f == FP32 ? MPI_FLOAT : MPI_INT16_T;
    struct ulpscope_error error;
    switch (way) {
    case PLAIN:
        if (MPI_Allreduce(in, out, (int)n, type, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS)
            fail(1, "MPI_Allreduce", "failed");
        return;
    case EXACT:
    case BINNED:
        if (ulpscope_mpi_allreduce(in, 1, out, n, (enum ulpscope_format)f,
                                   way == EXACT ? 0 : RANKS_FOLDS, MPI_COMM_WORLD, &error))
            fail(1, ways[way].name, error.text);
        return;
    case WAYS:
        break;
    }
}

/* In ns, as the slowest rank has it. */
static double turn(enum way way, enum format f, size_t n, unsigned batch)
{
    double longest;
    MPI_Barrier(MPI_COMM_WORLD);
    double begun = MPI_Wtime();
    for (unsigned b = 0; b < batch; b++)
        call(way, f, n);
    double mine = (MPI_Wtime() - begun) / batch * 1e9;
    MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

/* --- what rank 0 does with it --- */

/* How many sampled elements differ from the CPU's method. */
static size_t sample_wrong(enum way way, enum format f, enum input input, size_t n, size_t *sampled)
{
    size_t count = n < SAMPLE ? n : SAMPLE, differ = 0;
    struct array all = {f, count * (size_t)ranks, room(array_bytes(f, count * (size_t)ranks))};
    struct array due = {f, count, room(array_bytes(f, count))};
    size_t *at = room(count * sizeof *at);
    *sampled = count;
    for (size_t k = 0; k < count; k++) {
        at[k] = count == n ? k : k % 8 < 2 ? (k % 2 ? n - 1 - k : k) : hard_mixed(k) % n;
        for (size_t r = 0; r < (size_t)ranks; r++)
            array_set_bits(&all, r * count + k, encoding(f, input, r, at[k]));
    }
    struct problem p = {0};
    struct operands of = {.in = all, .bins = count, .stride = count};
    struct task t = {.of = &of, .out = due, .accumulator = f, .device = -1};
    if (ways[way].twin(&t, &p) != STATUS_OK)
        fail(1, ways[way].name, p.text);
    for (size_t k = 0; k < count; k++)
        differ += format_canonical(f, array_bits(&(struct array){f, n, out}, at[k])) !=
                  format_canonical(f, array_bits(&due, k));
    free(all.data);
    free(due.data);
    free(at);
    return differ;
}

static void row(enum way way, enum format f, enum input input, size_t n, int turns, unsigned batch,
                const double *ns, const double *plain_ns, int alike)
{
    size_t sampled = 0, bad = 0;
    char of_sample[64] = ",";
    if (ways[way].twin) {
        bad = sample_wrong(way, f, input, n, &sampled);
        snprintf(of_sample, sizeof of_sample, "%zu,%zu", sampled, bad);
        wrong |= bad > 0 || alike != ranks;
    }
    fprintf(csv, "%s,%s,%d,%s,%s,%zu,%d,%u,%.0f,%.0f,%.0f,%.3f,%.3f,%d,%s\n", ways[way].name,
            f == FP64   ? "MPI_DOUBLE"
            : f == FP32 ? "MPI_FLOAT"
                        : "MPI_INT16_T",
            ranks, format_facts[f].name, input_name[input], n, turns, batch, ns[turns / 2], ns[0],
            ns[turns - 1], ns[turns / 2] / plain_ns[turns / 2], ns[0] / plain_ns[0], alike,
            of_sample);
    fflush(csv);
}

static void measure(enum format f, enum input input, size_t n)
{
    static double ns[WAYS][TURNS_MOST + WARM_UP];
    int turns = turns_of(n);
    unsigned batch = batch_of(n);
    for (int t = 0; t < turns + WARM_UP; t++)
        for (int k = 0; k < WAYS; k++) { /* another one begins each time */
            enum way way = (enum way)((k + t) % WAYS);
            ns[way][t] = turn(way, f, n, batch);
        }
    for (int k = 0; k < WAYS; k++)
        qsort(ns[k] + WARM_UP, (size_t)turns, sizeof **ns, ascending);
    for (int k = 0; k < WAYS; k++) {
        enum way way = (enum way)k;
        memset(out, 0x55, array_bytes(f, n));
        call(way, f, n);
        struct hash128 mine = hash_array(&(struct array){f, n, out}), first = mine;
        int same, alike;
        MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
        same = memcmp(&mine, &first, sizeof mine) == 0;
        MPI_Reduce(&same, &alike, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0)
            row(way, f, input, n, turns, batch, ns[way] + WARM_UP, ns[PLAIN] + WARM_UP, alike);
    }
}

int main(int argc, char **argv)
{
    static const enum format format[] = {FP32, FP64, BF16, FP16};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    log2_most = argc > 2 ? atoi(argv[2]) : 24;
    if (argc < 2 || argc > 3 || log2_most < LOG2_LEAST || log2_most > 30)
        fail(2, "expected FILE [LOG2_MOST]", "LOG2_MOST from 10 to 30");
    csv = rank == 0 ? fopen(argv[1], "a") : NULL;
    if (rank == 0 && !csv)
        fail(3, argv[1], "cannot be written");
    if (csv && fseek(csv, 0, SEEK_END) == 0 && ftell(csv) == 0)
        fputs("method,beside,ranks,format,input,n,turns,batch,time_ns,time_least_ns,time_most_ns,"
              "over_allreduce,least_over_allreduce,ranks_alike,sampled,sample_wrong\n",
              csv);
    size_t most = (size_t)1 << log2_most;
    in = room(most * 8);
    out = room(most * 8);
    for (int power = LOG2_LEAST; power <= log2_most; power += 2)
        for (size_t k = 0; k < sizeof format / sizeof *format; k++)
            for (enum input input = UNIFORM; input < INPUTS; input++) {
                size_t n = (size_t)1 << power;
                for (size_t i = 0; i < n; i++)
                    array_set_bits(&(struct array){format[k], n, in}, i,
                                   encoding(format[k], input, (size_t)rank, i));
                measure(format[k], input, n);
            }
    if (csv && fclose(csv) != 0)
        fail(3, argv[1], "cannot be written");
    if (rank == 0)
        fprintf(stderr, "mpi_cost: %s\n", wrong ? "bits DIFFER" : "all bits as they are due");
    MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong;
}
