/* cub/rows: cub::DeviceSegmentedReduce::Reduce with our addition and the identity -0 as its initial
 * value. Rows that are not consecutive are read through an iterator, as a caller of CUB would. */
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "kernels/cub/pairs.cuh"
#include "kernels/cub/storage.cuh"
#include "kernels/method/matrix.h"

namespace
{

/* Where a row begins among the elements of all rows, one row after the other. */
struct row_begin {
    size_t length;
    __host__ __device__ size_t operator()(size_t row) const { return row * length; }
};

/* The element at such a place. */
template <typename S> struct row_element {
    const S *in;
    size_t length, stride;
    __device__ S operator()(size_t i) const
    {
        return in[matrix_at(i / length, i % length, length, stride)];
    }
};

template <typename A, typename Elements>
int reduce_rows(void *storage, size_t *bytes, const struct cuda_task *t, Elements in)
{
    thrust::counting_iterator<size_t> row(0);
    auto begin =
        thrust::make_transform_iterator(row, row_begin{matrix_length(t->of->in.n, t->of->bins)});
    return cub::DeviceSegmentedReduce::Reduce(
        storage, *bytes, in, (A *)t->out, (int64_t)t->of->bins, begin, begin + 1,
        rounded_addition<A>(), A(-0.0f), (cudaStream_t)t->stream);
}

template <typename S, typename A>
int reduce(void *storage, size_t *bytes, const struct cuda_task *t)
{
    const S *in = (const S *)t->of->in.data;
    if (t->of->stride == 1)
        return reduce_rows<A>(storage, bytes, t, in);
    row_element<S> element = {in, matrix_length(t->of->in.n, t->of->bins), t->of->stride};
    return reduce_rows<A>(
        storage, bytes, t,
        thrust::make_transform_iterator(thrust::counting_iterator<size_t>(0), element));
}

int reduce_pair(void *storage, size_t *bytes, const struct cuda_task *t)
{
    return with_pair(
        t, [&](auto s, auto a) { return reduce<decltype(s), decltype(a)>(storage, bytes, t); });
}

int enqueue(const struct cuda_task *t)
{
    return t->of->in.n == 0 ? enqueue_zeros(t) : enqueue_scan<reduce_pair>(t);
}

} // namespace

extern "C" const struct cuda_method cub_rows_cuda = {storage_bytes<reduce_pair>, no_workspace,
                                                     enqueue};
