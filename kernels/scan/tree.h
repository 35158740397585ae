/* The tree of scan/tiled (its words stand in tiled.c), walked for anything that can be added. */
#pragma once

#include "kernels/method/order.h"
#include "reference/base/problem.h"

/* The sum of consecutive elements since the last head among them. */
struct piece {
    bool present; /* false: they are none, and adding them is skipped */
    bool head;    /* there is one among them: nothing that lies before is added */
    union {
        uint32_t node; /* of an order */
        struct {
            double sum, error; /* a value, perhaps with what its additions lost */
        };
    };
};

/* A scan of n elements. `read` and `write` are given at most a row at a time, `add` two pieces that
 * are present. `write` gets what is not present where the scan is exclusive and nothing lies before
 * the element in its segment. With more than one thread they are called by several at once. */
struct tree {
    size_t n;
    bool exclusive;
    struct piece (*add)(void *context, struct piece a, struct piece b);
    void (*read)(void *context, size_t begin, size_t count, struct piece *leaf);
    void (*write)(void *context, size_t begin, size_t count, const struct piece *prefix);
    void *context;
};

/* The additions are the same for any number of threads. STATUS_MEMORY or STATUS_DEVICE if memory or
 * threads are not available. */
enum status scan_tree_walk(const struct tree *tree, unsigned threads, struct problem *p);
