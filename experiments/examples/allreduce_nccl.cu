/* The gradients of 24 micro-batches, dealt to the GPUs of this machine: ncclAllReduce gives other
 * bits on another number of GPUs, ulpscope_nccl_allreduce does not. A thread is a rank.
 *
 *     nvcc allreduce_nccl.cu $(pkg-config --cflags ulpscope) -lnccl -o allreduce_nccl
 *     for ranks in 2 3 4; do ./allreduce_nccl $ranks; done */
#include <stdio.h>
#include <stdlib.h>
#include <thread>
#include <ulpscope_nccl.h>
#include <vector>

enum { BATCHES = 24, N = 2000, RANKS = 8 };
static ncclUniqueId id;
static int failed;

/* The same numbers wherever the micro-batch is computed. */
static float gradient(uint32_t batch, uint32_t i)
{
    uint32_t z = (batch * N + i) * 2654435761u;
    z = (z ^ (z >> 15)) * 2246822519u;
    z ^= z >> 13;
    return ldexpf((float)(z >> 8) - 8388608.0f, (int)(z & 15) - 30);
}

static unsigned long long hash(const float *device)
{
    float sum[N];
    unsigned long long h = 14695981039346656037u;
    failed |= cudaMemcpy(sum, device, sizeof sum, cudaMemcpyDeviceToHost) != cudaSuccess;
    for (size_t i = 0; i < sizeof sum; i++)
        h = (h ^ ((const unsigned char *)sum)[i]) * 1099511628211u;
    return h;
}

static void be_rank(int rank, int ranks)
{
    size_t batches = BATCHES / (size_t)ranks;
    size_t bytes = ulpscope_nccl_scratch(N, batches, ncclFloat32, ranks);
    std::vector<float> mine(batches * N), local(N);
    float *in, *added, *out;
    void *scratch;
    ncclComm_t comm;
    for (size_t k = 0; k < batches; k++)
        for (size_t i = 0; i < N; i++) {
            mine[k * N + i] = gradient((uint32_t)(k * (size_t)ranks) + (uint32_t)rank, (uint32_t)i);
            local[i] += mine[k * N + i];
        }
    if (cudaSetDevice(rank) != cudaSuccess || cudaMalloc(&in, mine.size() * 4) != cudaSuccess ||
        cudaMalloc(&added, N * 4) != cudaSuccess || cudaMalloc(&out, N * 4) != cudaSuccess ||
        cudaMalloc(&scratch, bytes) != cudaSuccess ||
        ncclCommInitRank(&comm, ranks, id, rank) != ncclSuccess) {
        fprintf(stderr, "rank %d: no GPU, or out of its memory\n", rank);
        exit(4);
    }
    cudaMemcpy(in, mine.data(), mine.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(added, local.data(), N * 4, cudaMemcpyHostToDevice);
    unsigned long long sums[3] = {0};
    for (int way = 0; way < 3; way++) {
        ncclResult_t result = way == 0
                                  ? ncclAllReduce(added, out, N, ncclFloat32, ncclSum, comm, 0)
                                  : ulpscope_nccl_allreduce(in, batches, out, N, ncclFloat32,
                                                            way == 1 ? 0 : 3, scratch, comm, 0);
        if (result != ncclSuccess) {
            fprintf(stderr, "rank %d: %s\n", rank, ncclGetErrorString(result));
            exit(1);
        }
        sums[way] = hash(out);
    }
    if (rank == 0)
        printf("%d ranks: ncclSum %016llx, exact %016llx, binned %016llx\n", ranks, sums[0],
               sums[1], sums[2]);
    ncclCommDestroy(comm);
}

int main(int argc, char **argv)
{
    int gpus = 0, ranks = argc > 1 ? atoi(argv[1]) : 2;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || ranks > gpus) {
        fprintf(stderr, "found %d GPUs, expected one for each of %d ranks\n", gpus, ranks);
        return 4;
    }
    if (ranks < 1 || ranks > RANKS || BATCHES % ranks != 0) {
        fprintf(stderr, "expected 1 to %d ranks that divide %d\n", RANKS, BATCHES);
        return 2;
    }
    ncclGetUniqueId(&id);
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; r++)
        threads.emplace_back(be_rank, r, ranks);
    for (auto &t : threads)
        t.join();
    return failed;
}
