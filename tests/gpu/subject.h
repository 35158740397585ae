/* What tests of sums of one array on a GPU share: launch shapes, and an array here and there. */
#pragma once

#include <stdlib.h>

#include "tests/gpu/run.h"

static const struct shape shapes[] = {{0, 0},   {256, 3},  {1, 1},       {2, 5},     {31, 7},
                                      {33, 64}, {96, 200}, {1024, 1024}, {64, 65535}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* An array, here and there. */
struct subject {
    struct array in;
    struct gpu_input *gpu;
    const char *what;
};

static inline struct subject subject_new(enum format s, size_t n)
{
    struct subject on = {{s, n, malloc(array_bytes(s, n) + 1)}, NULL, ""};
    cr_assert(on.in.data);
    return on;
}

static inline void upload(struct subject *on, size_t offset)
{
    struct problem p = {0};
    cr_assert_eq(gpu_upload(&on->gpu, 0, &on->in, offset, &p), STATUS_OK, "%s", p.text);
}

static inline void subject_free(struct subject *on)
{
    gpu_release(on->gpu);
    free(on->in.data);
}
