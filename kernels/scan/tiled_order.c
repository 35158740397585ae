/* The tree of scan/tiled: order, heights, schedules. */
#include "kernels/scan/heights.h"
#include "kernels/scan/tiled.h"
#include "kernels/scan/tree.h"

static struct piece add_nodes(void *context, struct piece a, struct piece b)
{
    return (struct piece){.node = order_add(context, a.node, b.node)};
}

static void read_leaves(void *context, size_t begin, size_t count, struct piece *leaf)
{
    const struct order *o = context;
    for (size_t i = 0; i < count; i++)
        leaf[i] = (struct piece){.present = true,
                                 .head = begin + i == 0 || (o->heads && o->heads[begin + i]),
                                 .node = (uint32_t)(begin + i)};
}

static void write_outputs(void *context, size_t begin, size_t count, const struct piece *prefix)
{
    struct order *o = context;
    for (size_t i = 0; i < count; i++)
        o->output[begin + i] = prefix[i].present ? prefix[i].node : ORDER_NOTHING;
}

void scan_tiled_order(struct order *o, struct shape shape)
{
    (void)shape;
    struct tree tree = {o->leaves, o->exclusive, add_nodes, read_leaves, write_outputs, o};
    if (scan_tree_walk(&tree, 1, NULL) != STATUS_OK)
        o->failed = true;
}

/* The height of `count` trees of height `own`, added by the adjacent rule or as in
 * scan/hillis_steele. */
static long height_of(size_t count, long own)
{
    return count == 0 ? HEIGHT_OF_NOTHING : own + (long)order_balanced_height(count);
}

static long height_at(size_t i, bool exclusive)
{
    size_t chunk = i / SCAN_CHUNK, row = i / SCAN_ROW, tile = i / SCAN_TILE;
    size_t group = tile / SCAN_GROUP, super = group / SCAN_GROUP;
    long chunk_sum = SCAN_CHUNK - 1, row_sum = height_of(SCAN_CHUNKS, chunk_sum);
    long tile_sum = height_of(SCAN_ROWS, row_sum), group_sum = height_of(SCAN_GROUP, tile_sum);
    long supers =
        super == 0 ? HEIGHT_OF_NOTHING : height_of(SCAN_GROUP, group_sum) + (long)super - 1;

    long chunks = height_of(chunk % SCAN_CHUNKS, chunk_sum);
    long rows = height_of(row % SCAN_ROWS, row_sum);
    long tiles = height_of(tile % SCAN_GROUP, tile_sum);
    long groups = height_of(group % SCAN_GROUP, group_sum);
    long inside = (long)(i % SCAN_CHUNK) - exclusive;
    return height_join(
        height_join(height_join(height_join(supers, groups), tiles), height_join(rows, chunks)),
        inside);
}

size_t scan_tiled_prefix_height(size_t i, size_t n, struct shape shape, bool exclusive)
{
    (void)n, (void)shape;
    return height_known(height_at(i, exclusive));
}

struct height_walk {
    uint16_t *height;
    const uint8_t *heads;
};

static struct piece add_heights(void *context, struct piece a, struct piece b)
{
    (void)context;
    return (struct piece){.node = 1 + (a.node > b.node ? a.node : b.node)};
}

static void read_heads(void *context, size_t begin, size_t count, struct piece *leaf)
{
    const struct height_walk *w = context;
    for (size_t i = 0; i < count; i++)
        leaf[i] = (struct piece){.present = true,
                                 .head = begin + i == 0 || (w->heads && w->heads[begin + i])};
}

static void write_heights(void *context, size_t begin, size_t count, const struct piece *prefix)
{
    const struct height_walk *w = context;
    for (size_t i = 0; i < count; i++)
        w->height[begin + i] = prefix[i].present ? (uint16_t)prefix[i].node : 0;
}

enum status scan_tiled_segment_heights(uint16_t *height, size_t n, bool exclusive,
                                       const uint8_t *heads, struct problem *p)
{
    struct height_walk w = {height, heads};
    struct tree tree = {n, exclusive, add_heights, read_heads, write_heights, &w};
    return scan_tree_walk(&tree, 1, p);
}

/* Within a unit heights never fall from one part to the next: the highest tree is the last one, or
 * that of the end of a unit before. */
size_t scan_tiled_height(size_t n, struct shape shape)
{
    static const size_t unit[] = {SCAN_CHUNK, SCAN_ROW, SCAN_TILE, (size_t)SCAN_TILE * SCAN_GROUP,
                                  (size_t)SCAN_TILE * SCAN_GROUP * SCAN_GROUP};
    (void)shape;
    long highest = height_at(n - 1, false);
    for (size_t k = 0; k < sizeof unit / sizeof *unit; k++) {
        size_t end = n / unit[k] * unit[k];
        long other = end > 0 ? height_at(end - 1, false) : 0;
        highest = other > highest ? other : highest;
    }
    return height_known(highest);
}

struct scan_share scan_tiled_share(size_t count, unsigned thread, unsigned threads)
{
    size_t share = count / threads, longer = count % threads;
    return (struct scan_share){share * thread + (thread < longer ? thread : longer),
                               share + (thread < longer)};
}

/* The shape is a schedule. On the CPU, threads: 1 unless asked for, at most one a tile. */
struct shape scan_tiled_shape(size_t n, enum device_kind device, struct shape asked)
{
    (void)device;
    size_t tiles = n / SCAN_TILE + (n % SCAN_TILE != 0);
    unsigned threads = asked.threads > THREADS_MAX ? THREADS_MAX : asked.threads;
    threads = threads > tiles ? (unsigned)tiles : threads;
    return (struct shape){.threads = threads ? threads : 1};
}
