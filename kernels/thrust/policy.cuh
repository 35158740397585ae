/* How Thrust is called here: on the task's stream, waiting for it only where it must, with the
 * workspace for its temporary storage. */
#pragma once

#include <new>

#include <thrust/system/cuda/execution_policy.h>
#include <thrust/system_error.h>

#include "kernels/cub/pairs.cuh"

namespace
{

/* Gives its memory to whoever asks; where there is none, only notes how much was asked for. */
struct one_block {
    typedef char value_type;
    void *memory;
    size_t asked;

    char *allocate(std::ptrdiff_t bytes)
    {
        asked = (size_t)bytes;
        return memory ? (char *)memory : throw std::bad_alloc();
    }
    void deallocate(char *, size_t) {}
};

/* Calls `use`; what it throws becomes a cudaError_t. */
template <typename Use> int caught(Use use)
{
    try {
        return use();
    } catch (const std::bad_alloc &) {
        return cudaErrorMemoryAllocation;
    } catch (const thrust::system_error &e) {
        return e.code().value();
    } catch (...) {
        return cudaErrorUnknown;
    }
}

} // namespace
