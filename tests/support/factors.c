#include "tests/support/factors.h"

#include <inttypes.h>
#include <math.h>

#include "kernels/blocks/tiled.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

enum { MOST = 3 * TILE + 1 };

/* Along the declared order, each element and each product rounded to p bits by MPFR, whose
 * exponents have no end; at last to the format. */
static double walk(const struct order *o, const struct array *in, enum format f)
{
    static mpfr_t node[2 * MOST];
    size_t nodes = o->leaves + o->additions;
    for (size_t i = 0; i < nodes; i++) {
        mpfr_init2(node[i], format_facts[f].precision);
        if (i < o->leaves)
            mpfr_set_d(node[i], array_get(in, i), MPFR_RNDN);
        else
            mpfr_mul(node[i], node[o->operand[i - o->leaves][0]],
                     node[o->operand[i - o->leaves][1]], MPFR_RNDN);
    }
    double due = oracle_round(f, node[o->output[0]]);
    for (size_t i = 0; i < nodes; i++)
        mpfr_clear(node[i]);
    return due;
}

static bool walk_array(const struct method *m, const struct array *in, enum format f,
                       const char *what, char why[WHY])
{
    struct shape shape[SHAPES_TRIED];
    size_t shapes = shapes_tried(m, in->n, shape);
    struct order o;
    order_init(&o, in->n, 1);
    m->order(&o, shape[0]);
    double due = walk(&o, in, f);
    order_free(&o);
    for (size_t k = 0; k < shapes; k++) {
        uint64_t got = 0;
        if (run_method_once(m, in, f, shape[k], &got) != STATUS_OK)
            return not_held(why, m, in->format, f, in->n, shape[k], "it could not be run");
        if (got != format_encode(f, due))
            return not_held(why, m, in->format, f, in->n, shape[k],
                            "%s: %#" PRIx64 ", MPFR says %a", what, got, due);
    }
    return true;
}

bool holds_product_walk(const struct method *m, char why[WHY])
{
    static const size_t lengths[] = {1, 2, 3, 33, 256, 257, TILE - 1, TILE + 1, MOST};
    static double data[MOST];
    uint64_t seed = 31;
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
                for (enum sample kind = 0; kind < SAMPLES; kind++) {
                    struct array in = {s, lengths[l], data};
                    sample_fill(&in, kind, f, sample_next(&seed));
                    if ((l < 6 || kind == (s + f + l) % SAMPLES) &&
                        !walk_array(m, &in, f, sample_name[kind], why))
                        return false;
                }
    return true;
}

static bool gives(const struct method *m, size_t n, const double *x, double due, const char *what,
                  char why[WHY])
{
    double data[MOST];
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            struct array in = {s, n, data};
            struct shape shape[SHAPES_TRIED];
            size_t shapes = shapes_tried(m, n, shape);
            array_encode(&in, 0, n, x);
            for (size_t k = 0; k < shapes; k++) {
                uint64_t got = 0;
                if (run_method_once(m, &in, f, shape[k], &got) != STATUS_OK)
                    return not_held(why, m, s, f, n, shape[k], "it could not be run");
                if (got != format_encode(f, due))
                    return not_held(why, m, s, f, n, shape[k], "%s: %#" PRIx64 ", not %a", what,
                                    got, due);
            }
        }
    return true;
}

/* Odd ones among numbers of product 1: at their ends, and where blocks and tiles end. */
bool holds_product_specials(const struct method *m, char why[WHY])
{
    static const double odd[][3] = {{0.0, 1, 0.0},
                                    {-0.0, 1, -0.0},
                                    {-0.0, -1, 0.0},
                                    {INFINITY, 1, INFINITY},
                                    {INFINITY, -1, -INFINITY},
                                    {-INFINITY, -INFINITY, INFINITY},
                                    {INFINITY, 0.0, NAN},
                                    {-0.0, -INFINITY, NAN},
                                    {NAN, 0.0, NAN},
                                    {NAN, INFINITY, NAN},
                                    {-1, -1, 1},
                                    {-1, 1, -1}};
    static const size_t place[][2] = {{0, 1},     {1, 0},       {0, 255},
                                      {256, 255}, {2047, 2048}, {2999, 0}};
    static double x[3000];
    if (!gives(m, 0, x, 1, "nothing", why))
        return false;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (size_t k = 0; k < sizeof place / sizeof *place; k++) {
            size_t n = k < 2 ? 2 : 3000;
            for (size_t j = 0; j < n; j++)
                x[j] = j % 2 ? 4 : 0.25;
            x[place[k][0]] = odd[i][0];
            x[place[k][1]] = odd[i][1];
            double rest = 1; /* powers of two: exact */
            for (size_t j = 0; j < n; j++)
                rest *= j == place[k][0] || j == place[k][1] ? 1 : x[j];
            if (!gives(m, n, x, odd[i][2] * rest, "odd ones", why))
                return false;
        }
    return true;
}

/* Half of them grow it, half of them undo that, far beyond the range of every format on the way: in
 * whatever order. Then the smallest numbers. */
bool holds_product_range(const struct method *m, char why[WHY])
{
    static double x[2 * TILE];
    for (size_t i = 0; i < 2 * TILE; i++)
        x[i] = i < TILE ? 1.5 * 0x1p9 : 0x1p-9;
    for (size_t i = 1; i < TILE; i++)
        x[i] = 0x1p9;
    if (!gives(m, 2 * TILE, x, 1.5, "up and down", why))
        return false;
    for (size_t i = 0; i < TILE; i++) {
        double up = x[i];
        x[i] = x[TILE + i];
        x[TILE + i] = up;
    }
    x[TILE + 1] = 0x1p8;
    if (!gives(m, 2 * TILE, x, 0.75, "down and up", why))
        return false;
    x[TILE + 2] = 0x1p14;
    x[TILE + 3] = x[TILE + 4] = x[TILE + 5] = 0x1p14;
    return gives(m, 2 * TILE, x, 0.75 * 0x1p20, "beyond fp16", why);
}
