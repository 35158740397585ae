/* NCCL among threads: tests/support/played/nccl.h. */
#include "nccl.h"

#include <pthread.h>
#include <string.h>

#include "reference/format/array.h"

enum { RANKS = 8 };

struct played_communicator {
    int rank, ranks, channels;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static const void *ins[RANKS];
static int begun;

const char *ncclGetErrorString(ncclResult_t result)
{
    return result == ncclSuccess ? "no error" : "error";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    memset(id, 0, sizeof *id);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t *config)
{
    (void)id;
    pthread_mutex_lock(&mutex);
    if (!begun)
        pthread_barrier_init(&barrier, NULL, (unsigned)ranks);
    begun = 1;
    pthread_mutex_unlock(&mutex);
    *comm = malloc(sizeof **comm);
    **comm = (struct played_communicator){rank, ranks, config->maxCTAs};
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    free(comm);
    return ncclSuccess;
}

/* Outputs from..to of all ranks' elements. */
static void add(ncclComm_t c, const void *in, void *out, size_t count, size_t from, size_t to,
                ncclDataType_t type)
{
    static const enum format format[] = {FP16, BF16, FP32, FP64};
    const char *algorithm = getenv("NCCL_ALGO");
    int down = algorithm && strcmp(algorithm, "Tree") == 0, last = c->channels == 8;
    enum format f = format[type];
    ins[c->rank] = in;
    pthread_barrier_wait(&barrier);
    for (size_t i = from; i < to; i++) {
        double sum = 0;
        for (int k = 0; k < c->ranks; k++) {
            int r = (down ? c->ranks - 1 - k : k + last) % c->ranks;
            double x = array_get(&(struct array){f, count, (void *)ins[r]}, i);
            sum = k ? format_add(f, sum, x) : x;
        }
        array_encode(&(struct array){f, to - from, out}, i - from, 1, &sum);
    }
    pthread_barrier_wait(&barrier);
}

ncclResult_t ncclAllReduce(const void *in, void *out, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    (void)op, (void)stream;
    add(comm, in, out, count, 0, count, type);
    return ncclSuccess;
}

ncclResult_t ncclReduceScatter(const void *in, void *out, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    size_t rank = (size_t)comm->rank;
    (void)op, (void)stream;
    add(comm, in, out, count * (size_t)comm->ranks, rank * count, (rank + 1) * count, type);
    return ncclSuccess;
}
