#include "tests/support/dots.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/inputs/input.h"
#include "kernels/blocks/tiled.h"
#include "reference/measure/measure.h"
#include "tests/support/oracle.h"

enum { MOST = 3 * TILE + 300 };

/* Two arrays of as many elements. */
struct two {
    double x[MOST], y[MOST];
    struct array a, b;
};

static void two_of(struct two *t, enum format f, size_t n)
{
    t->a = (struct array){f, n, t->x};
    t->b = (struct array){f, n, t->y};
}

enum status dot_run(const struct method *m, enum product_kind how, const struct array *a,
                    const struct array *b, enum format f, struct shape shape,
                    const struct array *out)
{
    struct task task = {.of = &(struct operands){.in = *a, .in2 = *b, .product = how},
                        .out = *out,
                        .accumulator = f,
                        .shape = method_shape(m, DEVICE_CPU, a->n, shape),
                        .method = m,
                        .device = -1};
    return m->cpu(&task, NULL);
}

/* ---- the order ---- */

/* A node: the sum, what it lacks (of pairs), and of a leaf its factors. */
struct node {
    double sum, rest;
    size_t leaf;
    bool single;
};

/* Does the method add leaf b to sum a by a fused multiply-add? It does where a thread walks on:
 * serially, or down a column. */
static bool walks_on(const struct method *m, struct shape shape, const struct node *b)
{
    size_t width = strcmp(m->name, "dot/serial") == 0  ? 1
                   : strcmp(m->name, "dot/tiled") == 0 ? TILE_COLUMNS
                                                       : (size_t)shape.threads * shape.blocks;
    size_t place = strcmp(m->name, "dot/tiled") == 0 ? b->leaf % TILE : b->leaf;
    return b->single && place >= width;
}

/* TwoSum by Dekker's way: from the larger operand. */
static double lost(enum format f, double a, double b, double sum)
{
    double large = fabs(a) < fabs(b) ? b : a, small = fabs(a) < fabs(b) ? a : b;
    return format_add(f, small, -format_add(f, sum, -large));
}

static double walk(const struct method *m, enum product_kind how, const struct two *t,
                   enum format f, struct shape shape, const struct order *o, struct node *node)
{
    bool pairs = how == PRODUCT_EXACT; /* of sums and what they lack */
    for (size_t i = 0; i < o->leaves; i++) {
        double x = array_get(&t->a, i), y = array_get(&t->b, i);
        double p = oracle_multiply(f, x, y);
        node[i] = (struct node){p, pairs ? oracle_multiply_add(f, x, y, -p) : 0, i, true};
    }
    for (size_t k = 0; k < o->additions; k++) {
        const struct node *a = &node[o->operand[k][0]], *b = &node[o->operand[k][1]];
        struct node *to = &node[o->leaves + k];
        *to = (struct node){.leaf = a->leaf};
        if (how == PRODUCT_FUSED && walks_on(m, shape, b))
            to->sum = oracle_multiply_add(f, array_get(&t->a, b->leaf), array_get(&t->b, b->leaf),
                                          a->sum);
        else
            to->sum = oracle_add(f, a->sum, b->sum);
        if (pairs)
            to->rest =
                format_add(f, a->rest, format_add(f, b->rest, lost(f, a->sum, b->sum, to->sum)));
    }
    const struct node *root = &node[o->output[0]];
    if (!pairs || root->rest == 0 || !isfinite(root->rest))
        return root->sum;
    return oracle_add(f, root->sum, root->rest);
}

static bool walk_one(const struct method *m, struct two *t, enum format s, size_t n, uint64_t seed,
                     struct shape asked, char why[WHY])
{
    struct order o;
    struct shape shape = method_shape(m, DEVICE_CPU, n, asked);
    struct node *node = malloc(2 * n * sizeof *node);
    two_of(t, s, n);
    order_init(&o, n, 1);
    m->order(&o, shape);
    bool fine = node && !o.failed;
    for (enum format f = 0; fine && f < ACCUMULATORS; f++)
        for (enum product_kind how = 1; fine && how < PRODUCTS; how++) {
            uint64_t got = 0, bits = seed;
            struct array out = {f, 1, &got};
            if (!(m->products & 1u << how) || !method_supports(m, DEVICE_CPU, s, f))
                continue;
            enum sample k = (enum sample)(sample_next(&bits) % SAMPLES);
            sample_fill(&t->a, k, f, seed);
            sample_fill(&t->b, (seed + f) % 3 ? SAMPLE_NEAR : (enum sample)(seed % SAMPLES), f,
                        ~seed);
            fine = dot_run(m, how, &t->a, &t->b, f, shape, &out) == STATUS_OK;
            uint64_t want = format_encode(f, walk(m, how, t, f, shape, &o, node));
            if (got != want)
                fine = not_held(why, m, s, f, n, shape,
                                "products %s, sample %s, seed %" PRIu64 ": %#" PRIx64
                                ", by the order %#" PRIx64,
                                product_name[how], sample_name[k], seed, got, want);
        }
    order_free(&o);
    free(node);
    return fine;
}

bool holds_dot_walk(const struct method *m, char why[WHY])
{
    static const size_t lengths[] = {
        1,           2,   3,    7,    31,       64,   100,      255,        256,
        257,         513, 1000, 1025, TILE - 1, TILE, TILE + 1, TILE + 257, 2 * TILE + 300,
        3 * TILE + 1};
    static const struct shape shapes[] = {{0, 0}, {33, 2}, {64, 7}, {2, 1}};
    static struct two t;
    for (size_t i = 0; m->order && i < 3 * sizeof lengths / sizeof *lengths; i++)
        for (enum format s = 0; s < ACCUMULATORS; s++) /* long ones: one shape, each another one */
            if ((lengths[i / 3] < 1000 || i % 3 == 0) &&
                !walk_one(m, &t, s, lengths[i / 3], 100 * i + s, shapes[(i + s) % 4], why))
                return false;
    return true;
}

/* ---- the promise ---- */

/* The same permutation of both arrays. */
static void permute(struct two *t, uint64_t *seed)
{
    for (size_t i = t->a.n; i > 1; i--) {
        size_t k = sample_next(seed) % i;
        struct array *of[2] = {&t->a, &t->b};
        for (int side = 0; side < 2; side++) {
            uint64_t bits = array_bits(of[side], i - 1);
            array_set_bits(of[side], i - 1, array_bits(of[side], k));
            array_set_bits(of[side], k, bits);
        }
    }
}

static bool promise_one(const struct method *m, struct two *t, enum product_kind how, enum format f,
                        uint64_t seed, char why[WHY])
{
    struct shape shape[SHAPES_TRIED];
    size_t shapes = shapes_tried(m, t->a.n, shape);
    uint64_t first = 0, got;
    for (size_t i = 0; i < shapes; i++)
        for (int run = 0; run < 2; run++) {
            got = 0;
            struct array out = {f, 1, &got};
            if (dot_run(m, how, &t->a, &t->b, f, shape[i], &out) != STATUS_OK)
                return not_held(why, m, t->a.format, f, t->a.n, shape[i], "it failed");
            if ((i == 0 || m->promise < PROMISE_GPU_TO_GPU) && run == 0)
                first = got;
            if (got != first)
                return not_held(why, m, t->a.format, f, t->a.n, shape[i],
                                "products %s, seed %" PRIu64 ": %#" PRIx64
                                ", before that %#" PRIx64,
                                product_name[how], seed, got, first);
            if (m->promise >= PROMISE_ORDER_INVARIANT)
                permute(t, &seed);
        }
    return true;
}

bool holds_dot_promise(const struct method *m, char why[WHY])
{
    static const size_t lengths[] = {0, 1, 2, 100, 1000, TILE + 1, 3 * TILE + 300};
    static struct two t;
    for (size_t i = 0; m->promise > PROMISE_NONE && i < sizeof lengths / sizeof *lengths; i++)
        for (enum format s = 0; s < ACCUMULATORS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++)
                for (enum product_kind how = 1; how < PRODUCTS; how++) {
                    uint64_t seed = 100 * i + 4 * s + f;
                    if (!(m->products & 1u << how) || !method_supports(m, DEVICE_CPU, s, f))
                        continue;
                    two_of(&t, s, lengths[i]);
                    sample_fill(&t.a, i % 2 ? SAMPLE_NEAR : SAMPLE_CANCEL, f, seed);
                    sample_fill(&t.b, SAMPLE_NEAR, f, ~seed);
                    if (!promise_one(m, &t, how, f, seed, why))
                        return false;
                }
    return true;
}

/* ---- the theorem ---- */

/* Must every order's result be finite? Where no partial sum of magnitudes, products rounded, can
 * leave the range, and neither can a product. */
static bool must_be_finite(const struct reference *r, enum format s, enum format f)
{
    mpfr_t reach;
    struct theorem any = {.kind = THEOREM_ANY_ORDER, .product = PRODUCT_ROUNDED};
    mpfr_init2(reach, 4800);
    bool finite = theorem_bound(reach, &any, r, s, f);
    if (finite)
        mpfr_add(reach, reach, r->sum_abs, MPFR_RNDU);
    finite = finite && mpfr_cmp_d(reach, format_facts[f].largest) <= 0;
    mpfr_clear(reach);
    return finite;
}

static bool bound_one(const struct method *m, struct two *t, const struct reference *r,
                      const char *input, char why[WHY])
{
    enum format s = t->a.format;
    size_t n = t->a.n;
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (enum product_kind how = 1; how < PRODUCTS; how++) {
            uint64_t bits = 0;
            struct measure measured;
            struct array out = {f, 1, &bits};
            struct shape shape = method_shape(m, DEVICE_CPU, n, (struct shape){0, 0});
            struct theorem theorem = method_theorem(m, DEVICE_CPU, f, n, shape);
            if (!(m->products & 1u << how) || !method_supports(m, DEVICE_CPU, s, f))
                continue;
            theorem.product = how;
            if (dot_run(m, how, &t->a, &t->b, f, shape, &out) != STATUS_OK)
                return not_held(why, m, s, f, n, shape, "it failed");
            double result = array_get(&out, 0);
            measure(&measured, r, s, f, result, &theorem);
            if (measured.broken || (!isfinite(result) && must_be_finite(r, s, f)))
                return not_held(why, m, s, f, n, shape,
                                "products %s, %s: %a is %g off, the bound is %g", product_name[how],
                                input, result, measured.err_abs.value, measured.bound.value);
        }
    return true;
}

/* Of both kinds of families; the condition number is for those that take one. */
static const struct input_family *family(size_t i)
{
    return i < input_family_count ? input_families[i] : pair_families[i - input_family_count];
}

/* Calls `use` with pairs of every family, length and format. */
static bool each_input(const struct method *m,
                       bool (*use)(const struct method *m, struct two *t, const struct reference *r,
                                   const char *input, char why[WHY]),
                       char why[WHY])
{
    static const size_t lengths[] = {0, 1, 2, 100, 1000, 5000};
    static double both[2 * MOST];
    static struct two t;
    for (size_t i = 0; i < input_family_count + pair_family_count; i++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            for (enum format s = 0; s < ACCUMULATORS; s++) {
                struct array whole = {s, 2 * lengths[k], both};
                struct input in;
                struct reference r;
                if (input_parse(&in, family(i)->name, NULL) != STATUS_OK)
                    return not_held(why, m, s, FORMATS, 0, (struct shape){0, 0}, "no input %s",
                                    family(i)->name);
                double cond = ldexp(1, (int)((i * 31 + k * 7 + s) % 60));
                if (input_generate_pair(&in, &whole, k + 1, cond, NULL) != STATUS_OK)
                    continue;
                two_of(&t, s, lengths[k]);
                t.a.data = both;
                t.b.data = (char *)both + array_bytes(s, lengths[k]);
                if (reference_compute_of(&r, EXACT_DOT, &t.a, &t.b, REFERENCE_MPFR, NULL) !=
                    STATUS_OK)
                    return not_held(why, m, s, FORMATS, 0, (struct shape){0, 0}, "no reference");
                bool fine = use(m, &t, &r, family(i)->name, why);
                reference_free(&r);
                if (!fine)
                    return false;
            }
    return true;
}

bool holds_dot_bound(const struct method *m, char why[WHY])
{
    return each_input(m, bound_one, why);
}

/* ---- correct rounding ---- */

static bool rounded_one(const struct method *m, struct two *t, const struct reference *r,
                        const char *input, char why[WHY])
{
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        uint64_t bits = 0, due = format_encode(f, oracle_round(f, r->sum));
        struct array out = {f, 1, &bits};
        if (!method_supports(m, DEVICE_CPU, t->a.format, f))
            continue;
        if (dot_run(m, m->product, &t->a, &t->b, f, (struct shape){3, 0}, &out) != STATUS_OK ||
            bits != due)
            return not_held(why, m, t->a.format, f, t->a.n, (struct shape){3, 0},
                            "%s: %#" PRIx64 ", MPFR says %#" PRIx64, input, bits, due);
    }
    return true;
}

/* Sums halfway between two numbers of the accumulator but for little, which one that is rounded to
 * fp64 first takes for halfway. */
static bool holds_halfway(const struct method *m, char why[WHY])
{
    static struct two t;
    for (uint64_t k = 0; k < ACCUMULATORS * ACCUMULATORS * 8; k++) {
        enum format s = k % ACCUMULATORS;
        const double x[3] = {ldexp(1, format_facts[k / ACCUMULATORS % ACCUMULATORS].precision), 1,
                             0x1p-30};
        struct reference r;
        two_of(&t, s, 3);
        for (size_t i = 0; i < 3; i++) {
            bool minus = k / ACCUMULATORS / ACCUMULATORS >> i & 1;
            array_encode(&t.a, i, 1, &(double){minus ? -x[i] : x[i]});
            array_encode(&t.b, i, 1, &(double){x[i] < 1 ? x[i] : 1});
        }
        if (reference_compute_of(&r, EXACT_DOT, &t.a, &t.b, REFERENCE_MPFR, NULL) != STATUS_OK)
            return not_held(why, m, s, FORMATS, 3, (struct shape){0, 0}, "no reference");
        bool fine = rounded_one(m, &t, &r, "halfway", why);
        reference_free(&r);
        if (!fine)
            return false;
    }
    return true;
}

bool holds_dot_rounded(const struct method *m, char why[WHY])
{
    return m->promise < PROMISE_CORRECTLY_ROUNDED ||
           (holds_halfway(m, why) && each_input(m, rounded_one, why));
}
