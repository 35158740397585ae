/* What an all-reduce costs whose bits depend on nothing (kernels/allreduce/ulpscope_nccl.h): beside
 * ncclAllReduce of the same elements, and a copy of them on each GPU.
 *
 *     build/nccl_cost FILE [RANKS [LOG2_MOST]]
 *
 * Appends a row a method, format, input and n to a CSV file: medians of 17 turns that the methods
 * take, after two of warm-up; a turn is the longest of all ranks, by events, short messages in
 * batches, one after another. Each method's results are compared among the ranks, by hash, and ours
 * on a sample to the CPU's methods: exit status 1 where one differs, 4 where there are fewer GPUs
 * than ranks. */
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/subjects/nccl_invariant.h"
#include "kernels/blocks/ranks.h"
#include "reference/format/hash_array.h"
#include "tests/support/hard_addends.h"

enum { RANKS = 8, TURNS = 17, WARM_UP = 2, LOG2_LEAST = 10, SAMPLE = 4096 };

enum way { COPY, PLAIN, EXACT, BINNED, WAYS };
static const struct {
    const char *name;
    enum status (*twin)(const struct task *t, struct problem *p); /* NULL: no bits are due */
} ways[WAYS] = {[COPY] = {"copy", NULL},
                [PLAIN] = {"nccl/allreduce", NULL},
                [EXACT] = {"nccl/exact", ranks_exact},
                [BINNED] = {"nccl/binned", ranks_binned}};

/* What one expects of gradients; and exponents anywhere, which doubles seldom decide. */
enum input { NORMAL, WIDE, INPUTS };
static const char *const input_name[INPUTS] = {"normal", "wide"};

static int ranks, log2_most, wrong;
static pthread_barrier_t barrier;
static ncclUniqueId id;
static FILE *csv;
static void *in_of[RANKS];  /* host memory: the longest message of each rank */
static void *out_of[RANKS]; /* and what it ends with */
static float ms_of[RANKS];  /* of the turn at hand */
static struct hash128 hash_of[RANKS];

static _Noreturn void fail(int status, const char *what, const char *why)
{
    fprintf(stderr, "nccl_cost: %s: %s\n", what, why);
    exit(status);
}

static void cuda(const char *what, cudaError_t error)
{
    if (error != cudaSuccess)
        fail(4, what, cudaGetErrorString(error));
}

static void nccl(const char *what, ncclResult_t result)
{
    if (result != ncclSuccess)
        fail(1, what, ncclGetErrorString(result));
}

static void *room(size_t bytes)
{
    void *data = malloc(bytes + 1);
    if (!data)
        fail(4, "host memory", "out of memory");
    return data;
}

static ncclDataType_t type_of(enum format f)
{
    static const ncclDataType_t type[] = {
        [FP16] = ncclFloat16, [BF16] = ncclBfloat16, [FP32] = ncclFloat32, [FP64] = ncclFloat64};
    return type[f];
}

static double element(enum format f, enum input input, size_t rank, size_t i)
{
    const struct format_facts *is = &format_facts[f];
    uint64_t r = hard_mixed((uint64_t)rank << 40 ^ (uint64_t)i);
    if (input == WIDE)
        return ldexp((double)(int32_t)r * 0x1p-31,
                     is->emin + (int)(r >> 33) % (is->emax - is->emin - 2));
    double sum = 0; /* of 8 bytes: about normal, a deviation of 0.3 */
    for (int k = 0; k < 8; k++)
        sum += (double)(int8_t)(r >> 8 * k);
    return sum * 0x1p-8 * 0.37 + (double)(int32_t)hard_mixed(r) * 0x1p-40;
}

static void fill(enum format f, enum input input, size_t rank, size_t n)
{
    struct array a = {f, n, in_of[rank]};
    enum { PART = 1024 };
    double x[PART];
    for (size_t i = 0; i < n; i += PART) {
        size_t count = n - i < PART ? n - i : PART;
        for (size_t k = 0; k < count; k++)
            x[k] = format_round(f, element(f, input, rank, i + k));
        array_encode(&a, i, count, x);
    }
}

/* --- a rank --- */

struct part {
    int rank;
    cudaStream_t stream;
    cudaEvent_t begun, ended;
    ncclComm_t comm;
    void *in, *out, *scratch, *one;
};

static void enqueue(const struct part *p, enum way way, enum format f, size_t n)
{
    ncclDataType_t type = type_of(f);
    switch (way) {
    case COPY:
        cuda("cudaMemcpyAsync", cudaMemcpyAsync(p->out, p->in, array_bytes(f, n),
                                                cudaMemcpyDeviceToDevice, p->stream));
        return;
    case PLAIN:
        nccl("ncclAllReduce", ncclAllReduce(p->in, p->out, n, type, ncclSum, p->comm, p->stream));
        return;
    case EXACT:
    case BINNED:
        nccl(ways[way].name, nccl_invariant(p->in, p->out, n, type, way == EXACT ? 0 : RANKS_FOLDS,
                                            p->scratch, p->comm, p->stream));
        return;
    case WAYS:
        break;
    }
}

static float turn(struct part *p, enum way way, enum format f, size_t n, unsigned batch)
{
    float ms = 0;
    cuda("cudaStreamSynchronize", cudaStreamSynchronize(p->stream));
    pthread_barrier_wait(&barrier);
    /* The GPUs wait for each other here, before the clock runs: threads wake at other times. */
    nccl("ncclAllReduce",
         ncclAllReduce(p->one, p->one, 1, ncclFloat32, ncclSum, p->comm, p->stream));
    cuda("cudaEventRecord", cudaEventRecord(p->begun, p->stream));
    for (unsigned b = 0; b < batch; b++)
        enqueue(p, way, f, n);
    cuda("cudaEventRecord", cudaEventRecord(p->ended, p->stream));
    cuda("cudaEventSynchronize", cudaEventSynchronize(p->ended));
    cuda("cudaEventElapsedTime", cudaEventElapsedTime(&ms, p->begun, p->ended));
    ms_of[p->rank] = ms / (float)batch;
    pthread_barrier_wait(&barrier);
    ms = 0;
    for (int r = 0; r < ranks; r++)
        ms = ms_of[r] > ms ? ms_of[r] : ms;
    return ms;
}

/* --- what rank 0 does with it --- */

/* How many sampled elements differ from the CPU's method. */
static size_t sample_wrong(enum way way, enum format f, size_t n, size_t *sampled)
{
    size_t count = n < SAMPLE ? n : SAMPLE, differ = 0;
    struct array in = {f, count * (size_t)ranks, room(array_bytes(f, count * (size_t)ranks))};
    struct array due = {f, count, room(array_bytes(f, count))};
    size_t *at = room(count * sizeof *at);
    *sampled = count;
    for (size_t k = 0; k < count; k++) {
        at[k] = count == n ? k : k % 8 < 2 ? (k % 2 ? n - 1 - k : k) : hard_mixed(k) % n;
        for (size_t r = 0; r < (size_t)ranks; r++)
            array_set_bits(&in, r * count + k, array_bits(&(struct array){f, n, in_of[r]}, at[k]));
    }
    struct problem p = {0};
    struct operands of = {.in = in, .bins = count, .stride = count};
    struct task t = {.of = &of, .out = due, .accumulator = f, .device = -1};
    if (ways[way].twin(&t, &p) != STATUS_OK)
        fail(1, ways[way].name, p.text);
    for (size_t k = 0; k < count; k++)
        differ += format_canonical(f, array_bits(&(struct array){f, n, out_of[0]}, at[k])) !=
                  format_canonical(f, array_bits(&due, k));
    free(in.data);
    free(due.data);
    free(at);
    return differ;
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void row(enum way way, enum format f, enum input input, size_t n, unsigned batch, float *ms,
                double plain_ms)
{
    int differing = 0;
    size_t sampled = 0, bad = 0;
    char of_sample[64] = ",", agree[8] = "";
    qsort(ms, TURNS, sizeof *ms, ascending);
    if (way != COPY) {
        for (int r = 1; r < ranks; r++)
            differing += memcmp(&hash_of[r], &hash_of[0], sizeof *hash_of) != 0;
        snprintf(agree, sizeof agree, "%d", ranks - differing);
    }
    if (ways[way].twin) {
        bad = sample_wrong(way, f, n, &sampled);
        snprintf(of_sample, sizeof of_sample, "%zu,%zu", sampled, bad);
        wrong |= bad > 0 || differing > 0;
    }
    fprintf(csv, "%s,%d,%s,%s,%zu,%d,%u,%.0f,%.0f,%.0f,%.3f,%s,%s\n", ways[way].name, ranks,
            format_facts[f].name, input_name[input], n, TURNS, batch, (double)ms[TURNS / 2] * 1e6,
            (double)ms[0] * 1e6, (double)ms[TURNS - 1] * 1e6,
            plain_ms > 0 ? (double)ms[TURNS / 2] / plain_ms : 0, agree, of_sample);
    fflush(csv);
}

static void measure(struct part *p, enum format f, enum input input, size_t n)
{
    static float ms[WAYS][TURNS + WARM_UP];
    unsigned batch = n <= 1 << 16 ? 20 : n <= 1 << 20 ? 8 : n <= 1 << 24 ? 3 : 1;
    size_t bytes = array_bytes(f, n);
    for (int t = 0; t < TURNS + WARM_UP; t++)
        for (int k = 0; k < WAYS; k++) { /* another one begins each time */
            enum way way = (enum way)((k + t) % WAYS);
            float is = turn(p, way, f, n, batch);
            if (p->rank == 0)
                ms[way][t] = is;
        }
    if (p->rank == 0)
        qsort(ms[PLAIN] + WARM_UP, TURNS, sizeof **ms, ascending);
    double plain_ms = (double)ms[PLAIN][WARM_UP + TURNS / 2];
    for (int k = 0; k < WAYS; k++) {
        enum way way = (enum way)k;
        cuda("cudaMemset", cudaMemset(p->out, 0x55, bytes));
        cuda("cudaDeviceSynchronize", cudaDeviceSynchronize());
        if (way != COPY) {
            enqueue(p, way, f, n);
            cuda("cudaStreamSynchronize", cudaStreamSynchronize(p->stream));
            cuda("cudaMemcpy", cudaMemcpy(out_of[p->rank], p->out, bytes, cudaMemcpyDeviceToHost));
            hash_of[p->rank] = hash_array(&(struct array){f, n, out_of[p->rank]});
        }
        pthread_barrier_wait(&barrier);
        if (p->rank == 0)
            row(way, f, input, n, batch, ms[way] + WARM_UP, plain_ms);
        pthread_barrier_wait(&barrier);
    }
}

static void *be_rank(void *context)
{
    static const struct {
        enum format f;
        enum input input;
    } what[] = {{FP32, NORMAL}, {BF16, NORMAL}, {FP64, NORMAL}, {FP16, NORMAL}, {FP32, WIDE}};
    struct part p = {.rank = (int)(intptr_t)context};
    size_t most = (size_t)1 << log2_most;
    cuda("cudaSetDevice", cudaSetDevice(p.rank));
    cuda("cudaStreamCreate", cudaStreamCreate(&p.stream));
    cuda("cudaEventCreate", cudaEventCreate(&p.begun));
    cuda("cudaEventCreate", cudaEventCreate(&p.ended));
    nccl("ncclCommInitRank", ncclCommInitRank(&p.comm, ranks, id, p.rank));
    cuda("cudaMalloc", cudaMalloc(&p.one, sizeof(float)));
    cuda("cudaMemset", cudaMemset(p.one, 0, sizeof(float)));
    in_of[p.rank] = room(most * 8);
    out_of[p.rank] = room(most * 8);
    for (size_t k = 0; k < sizeof what / sizeof *what; k++) {
        size_t bytes = array_bytes(what[k].f, most);
        size_t scratch = 0;
        for (size_t n = most; n > 0; n /= 2) {
            size_t takes = nccl_invariant_scratch(n, type_of(what[k].f), ranks);
            scratch = takes > scratch ? takes : scratch;
        }
        fill(what[k].f, what[k].input, (size_t)p.rank, most);
        cuda("cudaMalloc", cudaMalloc(&p.in, bytes));
        cuda("cudaMalloc", cudaMalloc(&p.out, bytes));
        cuda("cudaMalloc", cudaMalloc(&p.scratch, scratch));
        cuda("cudaMemcpy", cudaMemcpy(p.in, in_of[p.rank], bytes, cudaMemcpyHostToDevice));
        pthread_barrier_wait(&barrier);
        for (int power = LOG2_LEAST; power <= log2_most; power += 2)
            measure(&p, what[k].f, what[k].input, (size_t)1 << power);
        cuda("cudaFree", cudaFree(p.in));
        cuda("cudaFree", cudaFree(p.out));
        cuda("cudaFree", cudaFree(p.scratch));
    }
    nccl("ncclCommDestroy", ncclCommDestroy(p.comm));
    return NULL;
}

int main(int argc, char **argv)
{
    int gpus = 0;
    pthread_t thread[RANKS];
    if (cudaGetDeviceCount(&gpus) != cudaSuccess)
        gpus = 0;
    ranks = argc > 2 ? atoi(argv[2]) : gpus;
    log2_most = argc > 3 ? atoi(argv[3]) : 28;
    if (argc < 2 || argc > 4 || log2_most < LOG2_LEAST || log2_most > 30)
        fail(2, "expected FILE [RANKS [LOG2_MOST]]", "LOG2_MOST from 10 to 30");
    if (ranks < 2 || ranks > gpus || ranks > RANKS)
        fail(4, "found too few GPUs or ranks",
             "expected 2 ranks or more, a GPU for each, 8 at most");
    csv = fopen(argv[1], "a");
    if (!csv)
        fail(3, argv[1], "cannot be written");
    if (fseek(csv, 0, SEEK_END) == 0 && ftell(csv) == 0)
        fputs("method,ranks,format,input,n,turns,batch,time_ns,time_least_ns,time_most_ns,"
              "over_allreduce,ranks_alike,sampled,sample_wrong\n",
              csv);
    nccl("ncclGetUniqueId", ncclGetUniqueId(&id));
    pthread_barrier_init(&barrier, NULL, (unsigned)ranks);
    for (int r = 1; r < ranks; r++)
        if (pthread_create(&thread[r], NULL, be_rank, (void *)(intptr_t)r) != 0)
            fail(4, "a thread", "could not be started");
    be_rank((void *)(intptr_t)0);
    for (int r = 1; r < ranks; r++)
        pthread_join(thread[r], NULL);
    if (fclose(csv) != 0)
        fail(3, argv[1], "cannot be written");
    fprintf(stderr, "nccl_cost: %s\n", wrong ? "bits DIFFER" : "all bits as they are due");
    return wrong;
}
