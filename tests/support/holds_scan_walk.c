#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/scan/tiled.h"
#include "tests/support/holds_scan.h"
#include "tests/support/samples.h"

/* A value, and what its additions lost: for methods that add such pairs. */
struct node {
    double sum, lost;
};

static struct node plain_add(enum format f, struct node a, struct node b)
{
    return (struct node){format_add(f, a.sum, b.sum), 0};
}

/* What an addition loses, by Dekker's way: the larger operand first. */
static struct node pair_add(enum format f, struct node a, struct node b)
{
    bool ordered = fabs(a.sum) >= fabs(b.sum);
    double large = ordered ? a.sum : b.sum, small = ordered ? b.sum : a.sum;
    double sum = format_add(f, a.sum, b.sum);
    double lost = format_add(f, small, -format_add(f, sum, -large));
    return (struct node){sum, format_add(f, a.lost, format_add(f, b.lost, lost))};
}

static double value(enum format f, struct node v)
{
    return v.lost != 0 && isfinite(v.lost) ? format_add(f, v.sum, v.lost) : v.sum;
}

static void walk(const struct order *o, const struct scan_case *c, bool pairs, struct node *node)
{
    enum format f = c->accumulator;
    for (size_t i = 0; i < o->leaves; i++)
        node[i] = (struct node){format_round(f, array_get(&c->in, i)), 0};
    for (size_t k = 0; k < o->additions; k++) {
        struct node a = node[o->operand[k][0]], b = node[o->operand[k][1]];
        node[o->leaves + k] = pairs ? pair_add(f, a, b) : plain_add(f, a, b);
    }
}

/* Buffers for n elements and the nodes of an order. */
struct room {
    void *data, *out;
    uint8_t *heads;
    struct node *node;
};

static bool check_one(const struct method *m, const struct order *o, const struct scan_case *c,
                      const struct room *room, const char *sample, uint64_t seed, char why[WHY])
{
    walk(o, c, m->bound == THEOREM_COMPENSATED, room->node);
    struct array out = {c->output, c->in.n, room->out};
    memset(room->out, 0xa5, array_bytes(out.format, out.n));
    if (scan_run(m, c, room->out) != STATUS_OK)
        return scan_failed(why, m, c, "it could not be run");
    for (size_t i = 0; i < c->in.n; i++) {
        double prefix =
            o->output[i] == ORDER_NOTHING ? 0 : value(c->accumulator, room->node[o->output[i]]);
        uint64_t got = array_bits(&out, i), want = format_encode(c->output, prefix);
        if (got != want)
            return scan_failed(why, m, c,
                               "sample %s, seed %" PRIu64 ": output %zu is %#" PRIx64
                               ", by the order %#" PRIx64,
                               sample, seed, i, got, want);
    }
    return true;
}

/* Length and variant are given by c; each of these pairs, with one kind of sample drawn at random
 * or, `thorough`, with every kind. */
static bool holds_pairs(const struct method *m, struct scan_case *c, struct format_pairs pairs,
                        bool thorough, const struct room *room, char why[WHY])
{
    struct order o;
    order_init(&o, c->in.n, c->in.n);
    o.exclusive = c->exclusive;
    o.heads = c->heads;
    m->order(&o, c->shape);
    struct room with_nodes = *room;
    with_nodes.node = malloc((o.leaves + o.additions) * sizeof *with_nodes.node);
    bool fine = !o.failed && with_nodes.node;
    uint64_t state = c->in.n << 32 ^ (uint64_t)c->shape.threads << 16 ^ c->exclusive;
    for (unsigned pair = 0; fine && pair < ACCUMULATORS * ACCUMULATORS; pair++) {
        enum format s = pair / ACCUMULATORS, f = pair % ACCUMULATORS;
        if (!format_pairs_have(&pairs, s, f) || !method_supports(m, DEVICE_CPU, s, f))
            continue;
        for (size_t k = 0; fine && k < (thorough ? SAMPLES : 1); k++) {
            uint64_t seed = sample_next(&state);
            enum sample kind = thorough ? k : seed % SAMPLES;
            c->in.format = s;
            c->accumulator = f;
            c->output = seed >> 32 & 1 ? s : f;
            sample_fill(&c->in, kind, f, seed);
            fine = check_one(m, &o, c, &with_nodes, sample_name[kind], seed, why);
        }
    }
    free(with_nodes.node);
    order_free(&o);
    return fine;
}

/* Short lengths: everything; up to 300 each shape and variant every fourth length; beyond, all of
 * them with some pairs, or the longest with two shapes and two variants. */
static bool holds_length(const struct method *m, size_t n, const struct room *room, char why[WHY])
{
    enum { LONG = 300, LONGEST = 10000 };
    struct shape shape[SHAPES_TRIED];
    struct scan_variant variant[SCAN_VARIANTS];
    size_t shapes = shapes_tried(m, n, shape), variants = scan_variants(m, variant);
    shapes = n > LONGEST && shapes > 2 ? 2 : shapes;
    for (size_t k = 0; k < shapes * variants; k++) {
        const struct scan_variant *v = &variant[k % variants];
        if (n > 40 && n <= LONG && (n + k) % 4 != 0)
            continue;
        if (n > LONGEST && (n + k) % variants > 1)
            continue;
        struct scan_case c = {.in = {FP64, n, room->data},
                              .shape = shape[k / variants],
                              .exclusive = v->exclusive,
                              .heads = scan_heads(v, room->heads, n, n + k)};
        static const struct format_pairs all = FORMAT_PAIRS_ALL,
                                         few = FORMAT_PAIRS([FP32] = IN(FP32), [FP16] = IN(BF16));
        struct format_pairs pairs = n > LONGEST ? few : n > LONG ? four_pairs(n + k) : all;
        if (!holds_pairs(m, &c, pairs, n <= 4, room, why))
            return false;
    }
    return true;
}

bool holds_scan_walk(const struct method *m, char why[WHY])
{
    enum { ROW = SCAN_ROW, TILE = SCAN_TILE, GROUP = TILE * SCAN_GROUP, EACH = 300 };
    static const size_t edges[] = {ROW - 1,        ROW,
                                   ROW + 1,        ROW + 17,
                                   1023,           1024,
                                   1025,           4095,
                                   4096,           4097,
                                   TILE - 1,       TILE,
                                   TILE + 1,       TILE + 8,
                                   2 * TILE + 255, 3 * TILE + ROW + 33,
                                   GROUP,          GROUP + TILE + 3};
    const size_t longest = GROUP + TILE + 3;
    struct room room = {malloc(longest * sizeof(double)), malloc(longest * sizeof(double)),
                        malloc(longest), NULL};
    bool fine = room.data && room.out && room.heads;
    not_held(why, m, FORMATS, FORMATS, 0, (struct shape){0, 0}, "memory ran out");
    for (size_t i = 1; fine && i <= EACH + sizeof edges / sizeof *edges; i++)
        fine = holds_length(m, i <= EACH ? i : edges[i - EACH - 1], &room, why);
    free(room.data);
    free(room.out);
    free(room.heads);
    return fine;
}
