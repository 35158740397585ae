/* cub/select: cub::DeviceSelect::Flagged.
 *
 * It also writes how many elements were selected: to the first bytes of the workspace. */
#include <cub/device/device_select.cuh>

#include "kernels/cub/storage.cuh"
#include "kernels/transpose/move.cuh"

namespace
{

enum { COUNT_BYTES = 256 }; /* what follows is aligned as the workspace is */

int select(void *storage, size_t *bytes, const struct cuda_task *t)
{
    return with_word(t, [=](auto word) {
        typedef decltype(word) W;
        return (int)cub::DeviceSelect::Flagged(
            storage, *bytes, (const W *)t->of->in.data, t->of->mask, (W *)t->out,
            (unsigned long long *)t->workspace, t->of->in.n, (cudaStream_t)t->stream);
    });
}

size_t workspace(const struct cuda_task *t)
{
    return COUNT_BYTES + storage_bytes<select>(t);
}

int enqueue(const struct cuda_task *t)
{
    size_t bytes = SIZE_MAX; /* enough, as in enqueue_scan */
    return t->of->in.n == 0 ? (int)cudaSuccess
                            : select((char *)t->workspace + COUNT_BYTES, &bytes, t);
}

} // namespace

extern "C" const struct cuda_method cub_select_cuda = {workspace, no_workspace, enqueue};
