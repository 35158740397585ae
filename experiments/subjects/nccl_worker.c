/* Ranks of NCCL, a GPU each, for experiments/subjects/mpi.c:
 *
 *     ulpscope-nccl RANKS
 *
 * It is asked as a rank under mpirun is (mpi_worker.c), with one number more:
 *
 *     CALL ELEMENTS FORMAT CHANNELS
 *
 * CHANNELS is how many a communicator has, 0: as many as NCCL takes. Rank r has GPU r and a thread
 * of this process or, where ULPSCOPE_NCCL_PROCESSES is set, a process of its own. The elements of
 * all ranks lie in memory that all of them map. A rank that fails says why on standard error, and
 * ends all. */
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiments/subjects/mpi_told.h"
#include "experiments/subjects/nccl_invariant.h"
#include "experiments/subjects/rank_worker.h"
#include "kernels/blocks/ranks.h"
#include "reference/format/array.h"

enum { DEVICE_MISSING = 4, FAILED = 3, COMMUNICATORS = 10 };

/* NCCL's own, and the all-reduces of ours over it, with so many folds. */
enum call { ALLREDUCE, REDUCE_SCATTER, EXACT, BINNED, CALLS, NOTHING_MORE };
static const char *const call_name[CALLS] = {"allreduce", "reduce_scatter", "exact", "binned"};

/* What all ranks map. Behind `memory`: the elements of each rank, then what each ends with. */
static struct shared {
    pthread_barrier_t barrier;
    ncclUniqueId id;
    enum call call;
    enum format format;
    size_t elements, bytes; /* of a rank */
    int channels;
    uint64_t time_ns;
} * shared;
static int ranks, memory;
static FILE *answers;

/* A rank's own. */
struct part {
    int rank;
    cudaStream_t stream;
    struct communicator {
        ncclComm_t is; /* NULL: none yet */
        int channels;
    } communicator[COMMUNICATORS];
    size_t made; /* communicators, so far */
    char *all;   /* what is mapped for the case at hand */
    void *in, *out, *scratch;
};

__attribute__((format(printf, 2, 3))) static _Noreturn void fail(int status, const char *form, ...)
{
    va_list list;
    va_start(list, form);
    vfprintf(stderr, form, list);
    va_end(list);
    fputc('\n', stderr);
    fflush(stderr);
    _exit(status);
}

static void cuda(const struct part *p, const char *what, cudaError_t error)
{
    if (error != cudaSuccess)
        fail(FAILED, "rank %d: %s: %s", p->rank, what, cudaGetErrorString(error));
}

static void nccl(const struct part *p, const char *what, ncclResult_t result)
{
    if (result != ncclSuccess)
        fail(FAILED, "rank %d: %s: %s", p->rank, what, ncclGetErrorString(result));
}

static void together(void)
{
    pthread_barrier_wait(&shared->barrier);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static ncclDataType_t type_of(enum format f)
{
    switch (f) {
    case FP16:
        return ncclFloat16;
    case BF16:
        return ncclBfloat16;
    case FP32:
        return ncclFloat32;
    case FP64:
        return ncclFloat64;
    case E4M3:
    case E5M2:
        break;
    }
    fail(FAILED, "found a format that sums over ranks do not travel in");
}

/* The communicator with so many channels; the oldest gives way where there are too many. */
static ncclComm_t communicator(struct part *p)
{
    int channels = shared->channels;
    for (size_t i = 0; i < COMMUNICATORS; i++)
        if (p->communicator[i].is && p->communicator[i].channels == channels)
            return p->communicator[i].is;
    struct communicator *c = &p->communicator[p->made++ % COMMUNICATORS];
    if (c->is)
        nccl(p, "ncclCommDestroy", ncclCommDestroy(c->is));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    if (channels > 0)
        config.minCTAs = config.maxCTAs = channels;
    if (p->rank == 0)
        nccl(p, "ncclGetUniqueId", ncclGetUniqueId(&shared->id));
    together();
    nccl(p, "ncclCommInitRankConfig",
         ncclCommInitRankConfig(&c->is, ranks, shared->id, p->rank, &config));
    c->channels = channels;
    return c->is;
}

/* Blocks of one length are all that ncclReduceScatter takes: shorter ones are filled up with -0 at
 * their end. */
static size_t longest_block(void)
{
    return (shared->elements + (size_t)ranks - 1) / (size_t)ranks;
}

/* The elements of this rank as the call takes them; bytes of what goes in and what comes out. */
static void put_in(struct part *p, size_t *in, size_t *out)
{
    char *mine = p->all + (size_t)p->rank * shared->bytes;
    size_t width = (size_t)format_facts[shared->format].bytes, longest = longest_block();
    bool scatters = shared->call == REDUCE_SCATTER;
    *in = scatters ? longest * (size_t)ranks * width : shared->bytes;
    *out = scatters ? longest * width : shared->bytes;
    cuda(p, "cudaMalloc", cudaMalloc(&p->in, *in + 1));
    cuda(p, "cudaMalloc", cudaMalloc(&p->out, *out + 1));
    cuda(p, "cudaMalloc",
         cudaMalloc(&p->scratch,
                    nccl_invariant_scratch(shared->elements, type_of(shared->format), ranks)));
    if (!scatters) {
        cuda(p, "cudaMemcpy", cudaMemcpy(p->in, mine, *in, cudaMemcpyHostToDevice));
        return;
    }
    struct array filled = {shared->format, longest * (size_t)ranks, malloc(*in + 1)};
    if (!filled.data)
        fail(FAILED, "rank %d: out of memory for %zu elements", p->rank, filled.n);
    for (size_t i = 0; i < filled.n; i++)
        array_encode(&filled, i, 1, &(double){-0.0});
    for (size_t r = 0; r < (size_t)ranks; r++) {
        size_t begin = ranks_begin(shared->elements, (size_t)ranks, r);
        size_t end = ranks_begin(shared->elements, (size_t)ranks, r + 1);
        memcpy((char *)filled.data + r * longest * width, mine + begin * width,
               (end - begin) * width);
    }
    cuda(p, "cudaMemcpy", cudaMemcpy(p->in, filled.data, *in, cudaMemcpyHostToDevice));
    free(filled.data);
}

static void take_out(struct part *p)
{
    char *ends = p->all + (size_t)ranks * shared->bytes + (size_t)p->rank * shared->bytes;
    size_t width = (size_t)format_facts[shared->format].bytes, rank = (size_t)p->rank;
    size_t begin = ranks_begin(shared->elements, (size_t)ranks, rank);
    size_t end = ranks_begin(shared->elements, (size_t)ranks, rank + 1);
    size_t bytes = shared->call == REDUCE_SCATTER ? (end - begin) * width : shared->bytes;
    cuda(p, "cudaMemcpy", cudaMemcpy(ends, p->out, bytes, cudaMemcpyDeviceToHost));
    cuda(p, "cudaFree", cudaFree(p->in));
    cuda(p, "cudaFree", cudaFree(p->out));
    cuda(p, "cudaFree", cudaFree(p->scratch));
}

static size_t mapped_bytes(void)
{
    return 2 * (size_t)ranks * shared->bytes + 1;
}

static char *map_all(const struct part *p)
{
    char *all = mmap(NULL, mapped_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (all == MAP_FAILED)
        fail(FAILED, "rank %d: out of memory for the elements of all ranks", p->rank);
    return all;
}

static void start(const struct part *p, ncclComm_t c, ncclDataType_t type)
{
    switch (shared->call) {
    case ALLREDUCE:
        nccl(p, "ncclAllReduce",
             ncclAllReduce(p->in, p->out, shared->elements, type, ncclSum, c, p->stream));
        return;
    case REDUCE_SCATTER:
        nccl(p, "ncclReduceScatter",
             ncclReduceScatter(p->in, p->out, longest_block(), type, ncclSum, c, p->stream));
        return;
    case EXACT:
    case BINNED:
        nccl(p, "ulpscope_nccl_allreduce",
             nccl_invariant(p->in, p->out, shared->elements, type,
                            shared->call == EXACT ? 0 : RANKS_FOLDS, p->scratch, c, p->stream));
        return;
    case CALLS:
    case NOTHING_MORE:
        break;
    }
    fail(FAILED, "found a call of no name that is known");
}

/* All ranks at once: the case that rank 0 has read. */
static void run_case(struct part *p)
{
    size_t in, out;
    ncclComm_t c = communicator(p);
    ncclDataType_t type = type_of(shared->format);
    if (p->rank != 0)
        p->all = map_all(p);
    put_in(p, &in, &out);
    /* What was there before is no sum. */
    cuda(p, "cudaMemset", cudaMemset(p->out, 0x55, out));
    cuda(p, "cudaDeviceSynchronize", cudaDeviceSynchronize());
    together();
    if (PLANTED("die") && p->rank == ranks - 1)
        _exit(7);
    while (PLANTED("hang") && p->rank == ranks - 1)
        pause();
    uint64_t begun = now_ns();
    start(p, c, type);
    cuda(p, "cudaStreamSynchronize", cudaStreamSynchronize(p->stream));
    together();
    if (p->rank == 0)
        shared->time_ns = now_ns() - begun;
    take_out(p);
    if (PLANTED("lie") && p->rank == ranks - 1)
        *(p->all + (2 * (size_t)ranks - 1) * shared->bytes) ^= 1;
    size_t mapped = mapped_bytes(); /* behind the barrier rank 0 may have read the next case */
    together();
    if (p->rank != 0)
        munmap(p->all, mapped);
}

/* --- rank 0 --- */

/* Reads a case into what all map; NOTHING_MORE at the end of the input. */
static void read_case(struct part *p)
{
    char line[96], call[32], name[16];
    size_t c = 0;
    shared->call = NOTHING_MORE;
    if (!fgets(line, sizeof line, stdin))
        return;
    if (sscanf(line, "%31s %zu %15s %d", call, &shared->elements, name, &shared->channels) != 4)
        fail(FAILED, "found another request than CALL ELEMENTS FORMAT CHANNELS");
    while (c < CALLS && strcmp(call, call_name[c]) != 0)
        c++;
    shared->format = FORMATS;
    for (enum format f = 0; f < FORMATS; f++)
        if (strcmp(name, format_facts[f].name) == 0)
            shared->format = f;
    if (c == CALLS || shared->format == FORMATS)
        fail(FAILED, "found a call or a format of no name that is known");
    shared->call = (enum call)c;
    shared->bytes = array_bytes(shared->format, shared->elements);
    if (ftruncate(memory, (off_t)mapped_bytes()) != 0)
        fail(FAILED, "out of memory for the elements of all ranks");
    p->all = map_all(p);
    if (fread(p->all, shared->bytes, (size_t)ranks, stdin) != (size_t)ranks && shared->bytes > 0)
        fail(FAILED, "found the end of the input among elements");
}

static void write_all(const void *data, size_t bytes)
{
    if (fwrite(data, 1, bytes, answers) != bytes || fflush(answers) != 0)
        fail(FAILED, "the answer could not be written");
}

/* The first rank that has other bits than rank 0. */
static void compare(struct mpi_told *told, const char *ends)
{
    struct array first = {shared->format, shared->elements, (void *)ends};
    for (int r = 1; r < ranks && told->rank == 0; r++) {
        struct array is = first;
        is.data = (void *)(ends + (size_t)r * shared->bytes);
        for (size_t i = 0; i < is.n && told->rank == 0; i++) {
            uint64_t due = format_canonical(first.format, array_bits(&first, i));
            uint64_t found = format_canonical(is.format, array_bits(&is, i));
            if (found != due)
                *told = (struct mpi_told){.rank = (uint64_t)r, .element = i, .bits = {due, found}};
        }
    }
}

static void answer(struct part *p)
{
    struct mpi_told told = {0};
    const char *ends = p->all + (size_t)ranks * shared->bytes;
    if (shared->call != REDUCE_SCATTER) {
        compare(&told, ends);
        write_all(ends, shared->bytes);
    } else {
        size_t width = (size_t)format_facts[shared->format].bytes;
        for (size_t r = 0; r < (size_t)ranks; r++)
            write_all(ends + r * shared->bytes,
                      (ranks_begin(shared->elements, (size_t)ranks, r + 1) -
                       ranks_begin(shared->elements, (size_t)ranks, r)) *
                          width);
    }
    told.time_ns = shared->time_ns;
    write_all(&told, sizeof told);
    munmap(p->all, mapped_bytes());
}

/* --- all ranks --- */

static void *be_rank(void *context)
{
    struct part p = {.rank = (int)(intptr_t)context};
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess)
        devices = 0;
    if (devices < ranks)
        fail(DEVICE_MISSING, "found %d ranks, expected at most %d: NCCL takes a GPU for each",
             ranks, devices);
    cuda(&p, "cudaSetDevice", cudaSetDevice(p.rank));
    cuda(&p, "cudaStreamCreate", cudaStreamCreate(&p.stream));
    for (;;) {
        if (p.rank == 0)
            read_case(&p);
        together();
        if (shared->call == NOTHING_MORE)
            break;
        run_case(&p);
        if (p.rank == 0)
            answer(&p);
    }
    return NULL;
}

/* A rank's process that ends, however it does, ends all. */
static void end_with(int signal)
{
    int status;
    (void)signal;
    pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : FAILED);
}

static void begin_processes(void)
{
    struct sigaction ends = {.sa_handler = end_with, .sa_flags = SA_RESTART};
    pid_t parent = getpid();
    sigaction(SIGCHLD, &ends, NULL);
    for (int r = 1; r < ranks; r++) {
        pid_t child = fork();
        if (child < 0)
            fail(FAILED, "a rank's process could not be started");
        if (child > 0)
            continue;
        signal(SIGCHLD, SIG_DFL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent)
            be_rank((void *)(intptr_t)r);
        _exit(0);
    }
}

static void begin_threads(void)
{
    for (int r = 1; r < ranks; r++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, be_rank, (void *)(intptr_t)r) != 0)
            fail(FAILED, "a rank's thread could not be started");
    }
}

int main(int argc, char **argv)
{
    pthread_barrierattr_t across;
    ranks = argc == 2 ? atoi(argv[1]) : 0;
    if (ranks < 1)
        fail(2, "ulpscope-nccl: expected a number of ranks");
    /* NCCL prints to standard output what NCCL_DEBUG asks for. */
    int out = dup(STDOUT_FILENO);
    answers = out >= 0 ? fdopen(out, "w") : NULL;
    memory = memfd_create("ulpscope-nccl", 0);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!answers || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || memory < 0 || shared == MAP_FAILED)
        fail(FAILED, "found no way to be asked or to answer");
    pthread_barrierattr_init(&across);
    pthread_barrierattr_setpshared(&across, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &across, (unsigned)ranks);
    if (!rank_ends_with_parent())
        fail(FAILED, "a thread could not be started");
    if (getenv("ULPSCOPE_NCCL_PROCESSES"))
        begin_processes();
    else
        begin_threads();
    be_rank((void *)(intptr_t)0);
    return 0;
}
