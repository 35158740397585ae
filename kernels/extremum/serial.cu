/* minimum/serial and so on: one element after the other.
 *
 * One thread walks the array from left to right, as sum/serial does; an element takes the place of
 * the one found so far where its key is less. */
#include "kernels/extremum/key.cuh"

namespace
{

enum { AHEAD = 16 };

template <typename S> __global__ void walk(const S *x, extremum_task t)
{
    found<S> best = found<S>::nothing();
    size_t i = 0;
    for (; t.n - i >= AHEAD; i += AHEAD) {
        S next[AHEAD];
        for (int k = 0; k < AHEAD; k++)
            next[k] = x[i + k];
        for (int k = 0; k < AHEAD; k++)
            best.offer(key_of(next[k], t.seek), i + k);
    }
    for (; i < t.n; i++)
        best.offer(key_of(x[i], t.seek), i);
    write_extremum(t, best);
}

size_t workspace(const struct cuda_task *)
{
    return 0;
}

template <typename S> int run(const struct cuda_task *t, unsigned seek)
{
    walk<<<1, 1, 0, (cudaStream_t)t->stream>>>((const S *)t->of->in.data,
                                               extremum_task_of(t, seek));
    return cudaGetLastError();
}

} // namespace

#define METHOD(sought, seek) EXTREMUM_ON_GPU(sought, serial, seek)
EXTREMA_ON_GPU(METHOD)
