/* A check whose case is made by hand, for tests that call its parts. Their executables are linked
 * with --wrap=clock_ns. */
#pragma once

#include <stdlib.h>

#include "experiments/system/memory.h"
#include "tests/support/check_found.h"

/* Element i of n: no two are equal, nor their magnitudes, and no order is theirs; 7 does not divide
 * n. */
static inline double made_element(size_t i, size_t n)
{
    return (double)(7 * i % n) - (double)(n / 2) + 0.25;
}

/* Of n elements in fp32; a second array holds their doubles. free_check is due. */
static inline void make_check(struct check *c, const struct check_request *r, size_t n)
{
    struct problem p = {0};
    *c = (struct check){.request = r, .pairs = r->pairs, .until = UINT64_MAX};
    c->at = (struct check_case){.pair = {FP32, FP32}, .setting.output = FP32, .n = n, .seed = 1};
    cr_assert(check_shapes_make(c, &p) == STATUS_OK, "%s", p.text);
    cr_assert(memory_array(&c->in, FP32, 2 * n, "a test", &p) == STATUS_OK, "%s", p.text);
    for (size_t i = 0; i < n; i++) {
        double x = made_element(i, n);
        array_encode(&c->in, i, 1, &x);
        array_encode(&c->in, n + i, 1, &(double){2 * x});
    }
}

static inline void free_check(struct check *c)
{
    numbers_free(&c->threads);
    numbers_free(&c->blocks);
    free(c->in.data);
    check_free_setting(c);
}

/* Element i goes to bin i % bins. */
static inline void give_keys(struct check *c, size_t n, uint32_t bins)
{
    c->place = malloc(n * sizeof *c->place);
    c->made.of.keys = c->made.keys = malloc(n * sizeof *c->made.keys);
    for (uint32_t i = 0; i < n; i++)
        c->place[i] = c->made.keys[i] = i % bins;
}
