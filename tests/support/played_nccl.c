/* NCCL among threads: tests/support/played/nccl.h. */
#include "nccl.h"

#include <pthread.h>
#include <string.h>

#include "reference/format/array.h"

enum { RANKS = 8, MESSAGES = 128 };

struct played_communicator {
    int rank, ranks, channels;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static const void *ins[RANKS];
static int begun; /* ranks of the communicators so far */

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
    if (begun != ranks)
        pthread_barrier_init(&barrier, NULL, (unsigned)ranks);
    begun = ranks;
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

ncclResult_t ncclCommCount(ncclComm_t comm, int *count)
{
    *count = comm->ranks;
    return ncclSuccess;
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank)
{
    *rank = comm->rank;
    return ncclSuccess;
}

static size_t width(ncclDataType_t type)
{
    static const size_t bytes[] = {2, 2, 4, 8};
    return bytes[type];
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

ncclResult_t ncclAllGather(const void *in, void *out, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream)
{
    size_t bytes = count * width(type);
    (void)stream;
    ins[comm->rank] = in;
    pthread_barrier_wait(&barrier);
    for (int r = 0; r < comm->ranks; r++)
        if ((char *)out + (size_t)r * bytes != ins[r])
            memcpy((char *)out + (size_t)r * bytes, ins[r], bytes);
    pthread_barrier_wait(&barrier);
    return ncclSuccess;
}

/* What a rank's group sends and receives; the k-th message from one to another is the k-th that is
 * received there. */
struct message {
    const void *from;
    void *to;
    size_t bytes;
    int peer;
};
static struct group {
    struct message message[MESSAGES];
    int messages;
} groups[RANKS];
static _Thread_local struct group mine;
static _Thread_local ncclComm_t of_group;

ncclResult_t ncclGroupStart(void)
{
    mine.messages = 0;
    return ncclSuccess;
}

static ncclResult_t say(struct message m, ncclComm_t comm)
{
    if (mine.messages == MESSAGES)
        return ncclInvalidArgument;
    mine.message[mine.messages++] = m;
    of_group = comm;
    return ncclSuccess;
}

ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream)
{
    (void)stream;
    return say((struct message){from, NULL, count * width(type), peer}, comm);
}

ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream)
{
    (void)stream;
    return say((struct message){NULL, to, count * width(type), peer}, comm);
}

/* The message of this number from a rank to another; NULL: there is none. */
static const struct message *sent(int from, int to, int number)
{
    for (int i = 0; i < groups[from].messages; i++) {
        const struct message *m = &groups[from].message[i];
        if (m->from && m->peer == to && number-- == 0)
            return m;
    }
    return NULL;
}

ncclResult_t ncclGroupEnd(void)
{
    int rank = of_group->rank, received[RANKS] = {0};
    ncclResult_t result = ncclSuccess;
    groups[rank] = mine;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < mine.messages; i++) {
        const struct message *to = &mine.message[i], *from;
        if (!to->to)
            continue;
        from = sent(to->peer, rank, received[to->peer]++);
        if (from && from->bytes == to->bytes)
            memcpy(to->to, from->from, to->bytes);
        else
            result = ncclInvalidArgument;
    }
    pthread_barrier_wait(&barrier);
    return result;
}
