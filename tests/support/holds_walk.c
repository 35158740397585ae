#include <inttypes.h>
#include <stdlib.h>

#include "kernels/blocks/tiled.h"
#include "tests/support/holds_scan.h"
#include "tests/support/samples.h"
#include "experiments/reveal/walk_node.h"

/* node[] becomes all leaves and additions; the result is returned. */
static double walk(const struct method *m, const struct order *o, const struct array *in,
                   enum format f, struct walk_node *node)
{
    for (size_t i = 0; i < o->leaves; i++)
        node[i] = walk_leaf(m, f, i, exact_term(m->operation->of, array_get(in, i)));
    for (size_t k = 0; k < o->additions; k++)
        node[o->leaves + k] = walk_add(m, f, &node[o->operand[k][0]], &node[o->operand[k][1]]);
    return walk_value(m, f, &node[o->output[0]]);
}

/* One input against a walk of the order. `data` holds n elements of any format, `node` the walk's
 * nodes. */
static bool check_one(const struct method *m, const struct order *o, const struct array *in,
                      enum format f, struct shape shape, const char *sample, uint64_t seed,
                      struct walk_node *node, char why[WHY])
{
    uint64_t got = 0;
    uint64_t want = format_encode(f, walk(m, o, in, f, node));
    if (run_method_once(m, in, f, shape, &got) != STATUS_OK)
        return not_held(why, m, in->format, f, in->n, shape, "it could not be run");
    if (got != want)
        return not_held(why, m, in->format, f, in->n, shape,
                        "sample %s, seed %" PRIu64 ": result %#" PRIx64 ", by the order %#" PRIx64,
                        sample, seed, got, want);
    return true;
}

/* One length and shape, in each of these format pairs: with one kind of sample, drawn at random, so
 * that all of them meet as n and the shape change, or `thorough`, with every kind. */
static bool holds_length(const struct method *m, size_t n, struct shape shape,
                         const struct format_pairs *pairs, bool thorough, char why[WHY])
{
    struct order o;
    order_init(&o, n, m->operation->outputs(n, 1));
    m->order(&o, shape);
    void *data = malloc(n * sizeof(double));
    struct walk_node *node = malloc((o.leaves + o.additions) * sizeof *node);
    bool fine = !o.failed && data && node;
    uint64_t state = n << 32 ^ (uint64_t)shape.threads << 16 ^ shape.blocks;
    for (enum format s = 0; fine && s < ACCUMULATORS; s++)
        for (enum format f = 0; fine && f < ACCUMULATORS; f++) {
            if (!format_pairs_have(pairs, s, f) || !method_supports(m, DEVICE_CPU, s, f))
                continue;
            for (size_t k = 0; fine && k < (thorough ? SAMPLES : 1); k++) {
                uint64_t seed = sample_next(&state);
                enum sample kind = thorough ? k : seed % SAMPLES;
                struct array in = {s, n, data};
                sample_fill(&in, kind, f, seed);
                fine = check_one(m, &o, &in, f, shape, sample_name[kind], seed, node, why);
            }
        }
    free(node);
    free(data);
    order_free(&o);
    return fine;
}

struct format_pairs four_pairs(size_t which)
{
    struct format_pairs pairs = {0};
    for (enum format s = 0; s < ACCUMULATORS; s++)
        format_pairs_add(&pairs, s, (s + which) % ACCUMULATORS);
    return pairs;
}

bool holds_walk(const struct method *m, char why[WHY])
{
    if (!only_adds(m) || m->bound == THEOREM_SPLIT) /* rounds between: tests/kernels/sum/split.c */
        return true;
    if (m->operation == &operation_scan)
        return holds_scan_walk(m, why);
    static const size_t edges[] =
        {511,  512,      513,        1024,           1025,           TILE - 1,
         TILE, TILE + 1, TILE + 256, 2 * TILE + 255, 3 * TILE + 257, 8 * 1024 + 1},
                        large[] = {TILE * 256 - 1, TILE * 256, TILE * 256 + 1};
    static const struct format_pairs all = FORMAT_PAIRS_ALL,
                                     few = FORMAT_PAIRS([FP32] = IN(FP32), [FP16] = IN(BF16));
    struct shape shape[SHAPES_TRIED];
    size_t lengths = 300 + sizeof edges / sizeof *edges;
    not_held(why, m, FORMATS, FORMATS, 0, (struct shape){0, 0}, "memory ran out");
    for (size_t i = 1; i <= lengths; i++) {
        size_t n = i <= 300 ? i : edges[i - 301], shapes = shapes_tried(m, n, shape);
        for (size_t s = 0; s < shapes; s++) {
            bool chosen = n <= 40 || n > 300 || (n + s) % 4 == 0; /* each shape every fourth n */
            struct format_pairs four = four_pairs(i + s);
            if (chosen && !holds_length(m, n, shape[s], n > 300 ? &four : &all, n <= 8, why))
                return false;
        }
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        struct shape usual = method_shape(m, DEVICE_CPU, large[i], (struct shape){0, 0});
        if (!holds_length(m, large[i], usual, &few, false, why))
            return false;
    }
    return true;
}
