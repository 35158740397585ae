/* The tree of scan/tiled, which scan/compensated and scan/segmented share. Its words stand in
 * tiled.c; here are its constants, for C and for CUDA, and what is known of it. */
#pragma once

/* They are the order: another value is another method. All but the first are powers of two. (A
 * test gives them other values, to have many super-groups in few elements.) */
#ifndef SCAN_CHUNK
enum {
    SCAN_CHUNK = 16,  /* consecutive elements */
    SCAN_CHUNKS = 32, /* chunks in a row */
    SCAN_ROWS = 8,    /* rows in a tile */
    SCAN_GROUP = 32   /* tiles in a group, groups in a super-group */
};
#endif
enum { SCAN_ROW = SCAN_CHUNK * SCAN_CHUNKS, SCAN_TILE = SCAN_ROW * SCAN_ROWS };

#ifndef __cplusplus
#include "kernels/method/method.h"

/* These fit `order`, `height`, `prefix_height`, `segment_heights` and `resolve` of a method with
 * this tree. Heads are heeded: what lies before one is cut out of the tree. */
void scan_tiled_order(struct order *o, struct shape shape);
size_t scan_tiled_height(size_t n, struct shape shape);
size_t scan_tiled_prefix_height(size_t i, size_t n, struct shape shape, bool exclusive);
enum status scan_tiled_segment_heights(uint16_t *height, size_t n, bool exclusive,
                                       const uint8_t *heads, struct problem *p);
struct shape scan_tiled_shape(size_t n, enum device_kind device, struct shape asked);

/* A contiguous share of `count` tiles: those of thread `thread` of `threads`. */
struct scan_share {
    size_t first, count;
};
struct scan_share scan_tiled_share(size_t count, unsigned thread, unsigned threads);
#endif
