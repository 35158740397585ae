/* NCCL's ring and tree, as its sources 2.28.3 cut a message (src/enqueue.cc,
 * src/device/all_reduce.h, src/include/device.h), on one machine whose GPUs stand in every ring in
 * ascending order.
 *
 * allreduce/nccl_ring_simple, nccl_tree_simple     protocol Simple
 * allreduce/nccl_ring_ll, nccl_tree_ll             LL: words of 4 bytes, each with a flag
 * allreduce/nccl_ring_ll128, nccl_tree_ll128       LL128: lines of 128 bytes with a flag
 *
 * The message is dealt to channels. In a ring a channel's part goes in loops, a loop in as many
 * chunks as ranks: chunk c begins at rank c + 1, goes round, and is whole at rank c. A tree on one
 * machine is a chain to its root: from the last rank to the first but for three ranks, where some
 * channels have another root. Where borders lie follows count, format, ranks, channels and
 * protocol, and nothing else. A channel is a block of threads of NCCL's kernel: the launch shape's
 * blocks are the channels that a communicator has, of which a short message takes fewer. */
#include "kernels/blocks/ranks.h"
#include "kernels/method/matrix.h"

/* Bytes of a grain, which borders of chunks are multiples of, and of a chunk. Threads of a block at
 * most; bytes below which a thread is not worth its while, of LL's rings for each rank. */
struct protocol {
    size_t grain, chunk, threads, least;
    bool least_by_rank;
    size_t traffic; /* bytes that travel for a byte of the message, up and down */
};

static const struct protocol simple = {512, 2u << 20, 512, 64, false, 2},
                             ll = {16, 32768, 512, 8, true, 8},
                             ll128 = {1920, 576000, 640, 8, false, 2};

enum { LEAST_TRAFFIC = 16384, CHUNK_ALIGNED = 16 };

static size_t quotient_up(size_t a, size_t b)
{
    return a / b + (a % b > 0);
}

static size_t at_least(size_t a, size_t least)
{
    return a < least ? least : a;
}

static size_t at_most(size_t a, size_t most)
{
    return a > most ? most : a;
}

/* Elements of the first channel, of each one between, and of the last. */
struct parts {
    size_t first, between, betweens, last;
};

/* To `channels`, of which all are worth their while where each of their threads has `least` bytes.
 */
static struct parts deal(const struct protocol *is, size_t elements, size_t width, size_t least,
                         size_t channels)
{
    size_t bytes = elements * width, used = channels;
    while (used >= 2 && bytes < used * is->threads * least)
        used--;
    size_t traffic = at_least(at_least(bytes * is->traffic, LEAST_TRAFFIC) / used, LEAST_TRAFFIC);
    /* Channels get whole cells, a cell being what is worth a channel. */
    size_t cell = quotient_up(quotient_up(LEAST_TRAFFIC, is->traffic), 16) * 16;
    size_t cells = quotient_up(bytes, cell), of_cell = cell / width;
    size_t each = at_most(quotient_up(traffic, cell * is->traffic), cells);
    size_t first = channels == 1 ? cells : each, rest = cells - first;
    size_t betweens = rest / each, last = rest % each;
    if (1 + betweens + (last > 0) > channels) {
        betweens = channels - 2;
        each = rest / (betweens + 1);
        last = each + rest % (betweens + 1);
    }
    if (last == 0 && betweens > 0) {
        last = each;
        betweens--;
    }
    struct parts parts = {first * of_cell, each * of_cell, betweens, last * of_cell};
    *(last > 0 ? &parts.last : &parts.first) -= cells * of_cell - elements;
    return parts;
}

/* Adds the part of a channel. */
typedef void add_part(struct ranks_adding *to, const struct protocol *is, size_t channel,
                      size_t begin, size_t end);

static void add_ring(struct ranks_adding *to, const struct protocol *is, size_t channel,
                     size_t begin, size_t end)
{
    size_t width = (size_t)format_facts[to->task->out.format].bytes;
    size_t chunk = is->chunk / is->grain * (is->grain / width);
    (void)channel;
    while (begin < end) {
        size_t left = end - begin, aligned = CHUNK_ALIGNED / width;
        if (left < chunk * to->ranks)
            chunk = quotient_up(quotient_up(left, to->ranks), aligned) * aligned;
        for (size_t c = 0; c < to->ranks; c++)
            ranks_adding_piece(to, hops_to_owner, c, at_most(begin + c * chunk, end),
                               at_most(begin + (c + 1) * chunk, end));
        begin = at_most(begin + chunk * to->ranks, end);
    }
}

/* To this root, rank after rank round the ring. */
static void chain(struct hop *hop, size_t ranks, size_t root)
{
    uint32_t from = (uint32_t)((root + ranks - 1) % ranks);
    for (size_t k = ranks - 1; k > 0; k--) {
        uint32_t to = from > 0 ? from - 1 : (uint32_t)ranks - 1;
        *hop++ = (struct hop){to, from};
        from = to;
    }
}

/* The root of three ranks' trees, as NCCL finds them for GPUs that NVLink joins each to each. */
static size_t root_of_three(size_t channel)
{
    size_t k = channel % NCCL_CHANNELS % 12;
    return k < 6 ? 0 : k < 9 ? 1 : 2;
}

static void add_tree(struct ranks_adding *to, const struct protocol *is, size_t channel,
                     size_t begin, size_t end)
{
    (void)is;
    ranks_adding_piece(to, chain, to->ranks == 3 ? root_of_three(channel) : 0, begin, end);
}

static enum status add(const struct task *t, const struct protocol *is, add_part *part,
                       struct problem *p)
{
    struct ranks_adding to;
    size_t outputs = t->of->bins, width = (size_t)format_facts[t->out.format].bytes, begin = 0;
    enum status status = ranks_adding_begin(&to, t, p);
    if (status != STATUS_OK)
        return status;
    if (to.ranks < 2)
        ranks_adding_piece(&to, hops_to_owner, 0, 0, outputs);
    else if (outputs > 0) {
        size_t least = is->least * (is->least_by_rank && part == add_ring ? to.ranks : 1);
        struct parts parts = deal(is, outputs, width, least, t->shape.blocks);
        for (size_t c = 0; begin < outputs; c++) {
            size_t elements = c == 0                ? parts.first
                              : c <= parts.betweens ? parts.between
                                                    : parts.last;
            part(&to, is, c, begin, begin + elements);
            begin += elements;
        }
    }
    ranks_adding_end(&to);
    return STATUS_OK;
}

/* --- of element 0, and of as many ranks --- */

static const struct algorithm ring_first = {hops_a_block_a_rank, hops_to_owner, NULL},
                              tree_first = {NULL, chain, NULL};

static size_t height(size_t n, struct shape shape)
{
    (void)shape;
    return ranks_height(&ring_first, n);
}

static size_t bin_height(const size_t *element, size_t terms, size_t n, size_t bins)
{
    (void)element, (void)n, (void)bins;
    return ranks_height(&ring_first, terms);
}

static void ring_order(struct order *o, struct shape shape)
{
    (void)shape;
    ranks_order(o, &ring_first);
}

static void tree_order(struct order *o, struct shape shape)
{
    (void)shape;
    ranks_order(o, &tree_first);
}

static struct shape resolve(size_t n, enum device_kind device, struct shape asked)
{
    (void)n, (void)device;
    return (struct shape){0, asked.blocks == 0 ? NCCL_CHANNELS : asked.blocks};
}

#define NCCL_METHOD(form, protocol, says)                                                          \
    static enum status form##_##protocol##_cpu(const struct task *t, struct problem *p)            \
    {                                                                                              \
        return add(t, &protocol, add_##form, p);                                                   \
    }                                                                                              \
    const struct method allreduce_nccl_##form##_##protocol = {                                     \
        .name = "allreduce/nccl_" #form "_" #protocol,                                             \
        .summary = says,                                                                           \
        .operation = &operation_allreduce,                                                         \
        .promise = PROMISE_RUN_TO_RUN,                                                             \
        .pairs = {FORMAT_PAIRS_ALL},                                                               \
        .shape_read = {SHAPE_BLOCKS, SHAPE_BLOCKS},                                                \
        .shape_order = SHAPE_BLOCKS,                                                               \
        .resolve = resolve,                                                                        \
        .bound = THEOREM_TREE,                                                                     \
        .height = height,                                                                          \
        .bin_height = bin_height,                                                                  \
        .order = form##_order,                                                                     \
        .cpu = form##_##protocol##_cpu,                                                            \
    }

NCCL_METHOD(ring, simple,
            "NCCL's ring, protocol Simple: chunks of loops of channels, each to its rank");
NCCL_METHOD(ring, ll, "NCCL's ring, protocol LL: chunks of loops of channels, each to its rank");
NCCL_METHOD(ring, ll128,
            "NCCL's ring, protocol LL128: chunks of loops of channels, each to its rank");
NCCL_METHOD(tree, simple, "NCCL's tree on one machine, protocol Simple: a chain in each channel");
NCCL_METHOD(tree, ll, "NCCL's tree on one machine, protocol LL: a chain in each channel");
NCCL_METHOD(tree, ll128, "NCCL's tree on one machine, protocol LL128: a chain in each channel");
