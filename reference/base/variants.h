/* Code that is compiled once for each instruction set: variants that give the same bits, in a table
 * whose first one that this machine has is the fastest, and whose last one any machine has. */
#pragma once

#include <stdbool.h>

/* A function that is compiled into each variant that calls it, with its instruction set, and with
 * what is constant there. With sanitizers it is compiled once: they look at its accesses and its
 * arithmetic, which are the same in every copy, and the copies would take gcc half a minute. */
#ifdef __SANITIZE_ADDRESS__
#define INLINE static inline
#else
#define INLINE static inline __attribute__((always_inline))
#endif

static inline bool always(void)
{
    return true;
}

#ifdef __x86_64__
#define AVX2   __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

static inline bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

static inline bool has_avx2_and_fma(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static inline bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif
