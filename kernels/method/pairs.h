/* Sets of pairs of formats: elements stored in one and added in another.
 *
 *     .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL}
 *     .pairs = {[DEVICE_CUDA] = FORMAT_PAIRS([FP16] = IN(FP16) | IN(FP32), [FP32] = IN(FP32))}
 */
#pragma once

#include "reference/format/format.h"

struct format_pairs {
    uint32_t accumulators[FORMATS]; /* by the storage format: a bit for each, IN(FP32) */
};
_Static_assert(FORMATS < 32, "a bit for each accumulator");

#define IN(accumulator) (UINT32_C(1) << (accumulator))
#define FORMAT_PAIRS(...)                                                                          \
    {                                                                                              \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define IN_ALL (IN(ACCUMULATORS) - 1)
/* Every storage format with these accumulators; with all; each that is an accumulator too, of 16
 * bits and more, with these; every one with itself alone, of methods that move elements and add
 * nothing; and those of 16 bits and more. */
#define FORMAT_PAIRS_FROM_ALL(accumulators) FORMAT_PAIRS([0 ... FORMATS - 1] = (accumulators))
#define FORMAT_PAIRS_ALL                    FORMAT_PAIRS_FROM_ALL(IN_ALL)
#define FORMAT_PAIRS_FROM_16(accumulators)  FORMAT_PAIRS([0 ... ACCUMULATORS - 1] = (accumulators))
#define FORMAT_PAIRS_SAME_FROM_16                                                                  \
    FORMAT_PAIRS([FP16] = IN(FP16), [BF16] = IN(BF16), [FP32] = IN(FP32), [FP64] = IN(FP64))
#define FORMAT_PAIRS_SAME                                                                          \
    FORMAT_PAIRS([FP16] = IN(FP16), [BF16] = IN(BF16), [FP32] = IN(FP32), [FP64] = IN(FP64),       \
                 [E4M3] = IN(E4M3), [E5M2] = IN(E5M2))

static inline bool format_pairs_have(const struct format_pairs *p, enum format storage,
                                     enum format accumulator)
{
    return p->accumulators[storage] & IN(accumulator);
}

static inline void format_pairs_add(struct format_pairs *p, enum format storage,
                                    enum format accumulator)
{
    p->accumulators[storage] |= IN(accumulator);
}

static inline bool format_pairs_any(const struct format_pairs *p)
{
    for (enum format s = 0; s < FORMATS; s++)
        if (p->accumulators[s])
            return true;
    return false;
}
