/* A release of CUB as experiments/releases/releases makes one, of two methods that do nothing; and
 * with each fault that loading one has to find. */
#include "kernels/cub/release.h"

#ifndef VERSION
#define VERSION 3001004
#endif
#ifndef LAYOUT
#define LAYOUT RELEASE_LAYOUT
#endif
#ifndef NO_SYMBOL

static size_t nothing(const struct cuda_task *t)
{
    (void)t;
    return 0;
}

static int fails(const struct cuda_task *t)
{
    (void)t;
    return 1;
}

static const struct cuda_method cuda = {nothing, nothing, fails, 0, 0};

static const struct release_method methods[] = {
    {"cub/sum", &cuda, {[FP32] = 1u << FP32, [FP64] = 1u << FP64}},
    {"cub/scan", &cuda, {[FP32] = 1u << FP32}},
};

const struct release ulpscope_release = {LAYOUT, VERSION, "a compiler", "flags", 2, methods};
#endif
