#include "kernels/gpu/raw_read.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/method/team.h"

#define INLINE static inline __attribute__((always_inline))

typedef uint64_t eight_words __attribute__((vector_size(64)));

/* 16 words at a time, in vector registers; `words` is a multiple of 16. (Of an array of 16, clang
 * 14 makes scalar code.) */
INLINE uint64_t mix_words(const uint64_t *word, size_t words)
{
    eight_words low = {0}, high = {0}, next;
    uint64_t mix[16], all = 0;
    for (size_t i = 0; i < words; i += 16) {
        memcpy(&next, word + i, sizeof next);
        low ^= next;
        memcpy(&next, word + i + 8, sizeof next);
        high ^= next;
    }
    memcpy(mix, &low, sizeof low);
    memcpy(mix + 8, &high, sizeof high);
    for (size_t k = 0; k < 16; k++)
        all = all * 31 + mix[k];
    return all;
}

static uint64_t baseline(const uint64_t *word, size_t words)
{
    return mix_words(word, words);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static uint64_t avx2(const uint64_t *word, size_t words)
{
    return mix_words(word, words);
}

__attribute__((target("avx512f"))) static uint64_t avx512(const uint64_t *word, size_t words)
{
    return mix_words(word, words);
}
#endif

static uint64_t fastest(const uint64_t *word, size_t words)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return avx512(word, words);
    if (__builtin_cpu_supports("avx2"))
        return avx2(word, words);
#endif
    return baseline(word, words);
}

struct work {
    const unsigned char *data;
    size_t bytes;
    unsigned threads;
    uint64_t *mix; /* one for each thread */
    unsigned char *to;
};

/* Contiguous shares of the bytes, as even as can be: where that of a thread begins. */
static size_t begin_of(const struct work *w, unsigned thread)
{
    size_t share = w->bytes / w->threads, longer = w->bytes % w->threads;
    return share * thread + (thread < longer ? thread : longer);
}

/* Bytes before an 8-byte boundary, and behind the last 16 words, one by one. */
static void read_share(void *context, unsigned thread)
{
    const struct work *w = context;
    const unsigned char *at = w->data + begin_of(w, thread);
    const unsigned char *end = w->data + begin_of(w, thread + 1);
    uint64_t mix = 0;
    for (; at < end && (uintptr_t)at % sizeof mix; at++)
        mix = mix * 31 + *at;
    size_t words = (size_t)(end - at) / (16 * sizeof mix) * 16;
    mix ^= fastest((const uint64_t *)at, words);
    for (at += words * sizeof mix; at < end; at++)
        mix = mix * 31 + *at;
    w->mix[thread] = mix;
}

enum status raw_read(const struct array *a, unsigned threads, uint64_t *mix, struct problem *p)
{
    struct work w = {.data = a->data, .bytes = array_bytes(a->format, a->n), .threads = threads};
    w.mix = calloc(threads, sizeof *w.mix);
    if (!w.mix)
        return problem(p, STATUS_MEMORY, "device cpu: no memory for %u threads", threads);
    enum status status = team_run(threads, read_share, &w, p);
    *mix = 0;
    for (unsigned i = 0; i < threads; i++)
        *mix = *mix * 31 + w.mix[i];
    free(w.mix);
    return status;
}

static void copy_share(void *context, unsigned thread)
{
    const struct work *w = context;
    size_t begin = begin_of(w, thread), end = begin_of(w, thread + 1);
    if (begin < end)
        memcpy(w->to + begin, w->data + begin, end - begin);
}

enum status raw_copy(const struct array *a, void *to, unsigned threads, struct problem *p)
{
    struct work w = {a->data, array_bytes(a->format, a->n), threads, NULL, to};
    return team_run(threads, copy_share, &w, p);
}
