/* Two-level accumulation, on the CPU: a stand-in for hardware that adds narrow and promotes. */
#include "experiments/studies/recommend/recommend.h"

/* `method` is a member of the entry that says how long chunks are. */
static const struct recommend_promoted *entry_of(const struct method *m)
{
    for (size_t i = 0; i < recommend_promoted_count; i++)
        if (&recommend_promoted[i].method == m)
            return &recommend_promoted[i];
    return NULL;
}

static enum format in_fp16(enum format accumulator)
{
    (void)accumulator;
    return FP16;
}

static enum format in_bf16(enum format accumulator)
{
    (void)accumulator;
    return BF16;
}

static enum status cpu(const struct task *t, struct problem *p)
{
    const struct recommend_promoted *c = entry_of(t->method);
    enum format f = t->accumulator;
    double block[ARRAY_BLOCK], sum = 0, partial = 0;
    if (!c)
        return problem(p, STATUS_USAGE, "two-level accumulation: not one of its methods");
    for (size_t i = 0; i < t->of->in.n; i++) {
        size_t left = t->of->in.n - i;
        if (i % ARRAY_BLOCK == 0)
            array_decode(&t->of->in, i, left < ARRAY_BLOCK ? left : ARRAY_BLOCK, block);
        double x = format_round(c->partial, block[i % ARRAY_BLOCK]);
        partial = i % c->chunk == 0 ? x : format_add(c->partial, partial, x);
        if (i % c->chunk == c->chunk - 1 || left == 1)
            sum = i < c->chunk ? partial : format_add(f, sum, partial);
    }
    array_encode(&t->out, 0, 1, &sum);
    return STATUS_OK;
}

#define PROMOTED(format, narrow, k, wide)                                                          \
    {                                                                                              \
        .partial = format, .chunk = k,                                                             \
        .method = {.name = "two-level/" #narrow ":" #k,                                            \
                   .summary = "partial sums of " #k " elements in " #narrow ", promoted",          \
                   .operation = &operation_sum,                                                    \
                   .promise = PROMISE_GPU_TO_GPU,                                                  \
                   .pairs = {FORMAT_PAIRS_FROM_ALL(IN(wide))},                                     \
                   .addition = ADDITION_TWO_LEVEL,                                                 \
                   .adds_in = in_##narrow,                                                         \
                   .bound = THEOREM_NONE,                                                          \
                   .cpu = cpu},                                                                    \
    }

/* From the longest chunk, the cheapest, to the shortest. */
const struct recommend_promoted recommend_promoted[] = {
    PROMOTED(FP16, fp16, 4096, FP32), PROMOTED(FP16, fp16, 1024, FP32),
    PROMOTED(FP16, fp16, 256, FP32),  PROMOTED(FP16, fp16, 64, FP32),
    PROMOTED(FP16, fp16, 16, FP32),   PROMOTED(FP16, fp16, 4, FP32),
    PROMOTED(BF16, bf16, 4096, FP32), PROMOTED(BF16, bf16, 1024, FP32),
    PROMOTED(BF16, bf16, 256, FP32),  PROMOTED(BF16, bf16, 64, FP32),
    PROMOTED(BF16, bf16, 16, FP32),   PROMOTED(BF16, bf16, 4, FP32),
};
const size_t recommend_promoted_count = sizeof recommend_promoted / sizeof *recommend_promoted;

bool recommend_promotes(const struct recommend_promoted *c, enum format storage,
                        enum format accumulator)
{
    return format_pairs_have(&c->method.pairs[DEVICE_CPU], storage, accumulator);
}
