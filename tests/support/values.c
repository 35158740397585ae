#include "tests/support/values.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/blocks/tiled.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

bool has_value(const struct method *m)
{
    const struct operation *o = m->operation;
    return o == &operation_norm || o == &operation_mean || o == &operation_variance;
}

/* ---- one step ---- */

static mpfr_t left, right;

static void load(double a, double b)
{
    static bool ready;
    if (!ready)
        mpfr_inits2(128, left, right, (mpfr_ptr)0);
    ready = true;
    mpfr_set_d(left, a, MPFR_RNDN);
    mpfr_set_d(right, b, MPFR_RNDN);
}

static double rounded(enum format f, double a)
{
    load(a, 0);
    return oracle_round(f, left);
}

static double times(enum format f, double a, double b)
{
    load(a, b);
    mpfr_mul(left, left, right, MPFR_RNDN);
    return oracle_round(f, left);
}

static double divided(enum format f, double a, size_t n)
{
    load(a, 0);
    mpfr_set_ui(right, n, MPFR_RNDN);
    return oracle_quotient(f, left, right);
}

static double root(enum format f, double a)
{
    load(a, 0);
    return oracle_root(f, left);
}

static double minus(enum format f, double a, double b)
{
    return oracle_add(f, a, -b);
}

/* x 2^k, not rounded, squared. */
static double scaled_square(enum format f, double x, int k)
{
    load(x, 0);
    mpfr_mul_2si(left, left, k, MPFR_RNDN);
    mpfr_sqr(left, left, MPFR_RNDN);
    return oracle_round(f, left);
}

/* ---- the steps of each method ---- */

/* What they are of: n elements >= 1, in a format, by an order whose nodes `node` has room for. */
struct steps {
    const struct array *in;
    enum format f;
    const struct order *order;
    double *node;
};

static double tree_sum(const struct steps *s)
{
    const struct order *o = s->order;
    for (size_t k = 0; k < o->additions; k++)
        s->node[o->leaves + k] =
            oracle_add(s->f, s->node[o->operand[k][0]], s->node[o->operand[k][1]]);
    return s->node[o->output[0]];
}

static double sum_of(const struct steps *s)
{
    for (size_t i = 0; i < s->in->n; i++)
        s->node[i] = rounded(s->f, array_get(s->in, i));
    return tree_sum(s);
}

static double squares_of(const struct steps *s, int k)
{
    for (size_t i = 0; i < s->in->n; i++)
        s->node[i] = scaled_square(s->f, array_get(s->in, i), k);
    return tree_sum(s);
}

static double plain_norm(const struct steps *s)
{
    return root(s->f, squares_of(s, 0));
}

/* The most that n squares below 4^e, n rounded up to a power of two, can add up to is 2^emax. */
static double scaled_norm(const struct steps *s)
{
    double largest = 0;
    int exponent = -1100, log = 0, e = 600;
    for (size_t i = 0; i < s->in->n; i++) {
        double size = fabs(array_get(s->in, i));
        if (isnan(size))
            return NAN;
        largest = size > largest ? size : largest;
    }
    if (largest == 0 || largest == INFINITY)
        return largest;
    while (!(largest < ldexp(1, exponent)) && exponent < 1024)
        exponent++;
    while ((size_t)1 << log < s->in->n)
        log++;
    while (2 * e + log > format_facts[s->f].emax)
        e--;
    double norm = root(s->f, squares_of(s, e - exponent));
    load(norm, 0);
    mpfr_mul_2si(left, left, exponent - e, MPFR_RNDN);
    return oracle_round(s->f, left);
}

static double divided_mean(const struct steps *s)
{
    return divided(s->f, sum_of(s), s->in->n);
}

static double running_mean(const struct steps *s)
{
    double mean = rounded(s->f, array_get(s->in, 0));
    for (size_t i = 1; i < s->in->n; i++) {
        double away = minus(s->f, rounded(s->f, array_get(s->in, i)), mean);
        mean = oracle_add(s->f, mean, divided(s->f, away, i + 1));
    }
    return mean;
}

static double textbook(const struct steps *s)
{
    double mean = divided_mean(s), of_squares = divided(s->f, squares_of(s, 0), s->in->n);
    return minus(s->f, of_squares, times(s->f, mean, mean));
}

static double two_pass(const struct steps *s)
{
    double mean = divided_mean(s);
    for (size_t i = 0; i < s->in->n; i++) {
        double away = minus(s->f, rounded(s->f, array_get(s->in, i)), mean);
        s->node[i] = times(s->f, away, away);
    }
    return divided(s->f, tree_sum(s), s->in->n);
}

static double welford(const struct steps *s)
{
    double mean = rounded(s->f, array_get(s->in, 0)), scatter = minus(s->f, mean, mean);
    for (size_t i = 1; i < s->in->n; i++) {
        double x = rounded(s->f, array_get(s->in, i)), away = minus(s->f, x, mean);
        mean = oracle_add(s->f, mean, divided(s->f, away, i + 1));
        scatter = oracle_add(s->f, scatter, times(s->f, away, minus(s->f, x, mean)));
    }
    return divided(s->f, scatter, s->in->n);
}

/* A part is count, mean, scatter: node[3 k], ... */
static double chan(const struct steps *s)
{
    const struct order *o = s->order;
    for (size_t i = 0; i < o->leaves; i++) {
        double x = rounded(s->f, array_get(s->in, i)), *leaf = s->node + 3 * i;
        leaf[0] = 1;
        leaf[1] = x;
        leaf[2] = minus(s->f, x, x);
    }
    for (size_t k = 0; k < o->additions; k++) {
        const double *a = s->node + 3 * (size_t)o->operand[k][0];
        const double *b = s->node + 3 * (size_t)o->operand[k][1];
        double *to = s->node + 3 * (o->leaves + k), d = minus(s->f, b[1], a[1]);
        to[0] = a[0] + b[0];
        double q = times(s->f, d, divided(s->f, b[0], (size_t)to[0]));
        to[1] = oracle_add(s->f, a[1], q);
        to[2] =
            oracle_add(s->f, oracle_add(s->f, a[2], b[2]), times(s->f, times(s->f, d, q), a[0]));
    }
    return divided(s->f, s->node[3 * (size_t)o->output[0] + 2], s->in->n);
}

static const struct {
    const char *method;
    double (*due)(const struct steps *s);
} written[] = {
    {"norm/serial", plain_norm},   {"norm/tiled", plain_norm},      {"norm/scaled", scaled_norm},
    {"mean/serial", divided_mean}, {"mean/tiled", divided_mean},    {"mean/running", running_mean},
    {"variance/welford", welford}, {"variance/textbook", textbook}, {"variance/two_pass", two_pass},
    {"variance/chan", chan},
};

/* ---- against the method ---- */

bool result_is(const struct method *m, const struct array *in, enum format f, double due,
               const char *what, uint64_t seed, char why[WHY])
{
    struct shape shape[SHAPES_TRIED];
    size_t shapes = shapes_tried(m, in->n, shape);
    for (size_t k = 0; k < shapes; k++) {
        uint64_t got = 0, want = format_encode(f, due);
        if (run_method_once(m, in, f, shape[k], &got) != STATUS_OK)
            return not_held(why, m, in->format, f, in->n, shape[k], "it could not be run");
        if (got != want)
            return not_held(why, m, in->format, f, in->n, shape[k],
                            "%s, seed %" PRIu64 ": result %#" PRIx64 ", by its steps %#" PRIx64,
                            what, seed, got, want);
    }
    return true;
}

/* Samples, some times a power of two near the edges of what squares can be; some far from 0; some
 * with an infinity, of which methods that merge make a NaN only where they look at it alone. */
static const char *fill(const struct array *in, enum format f, uint64_t seed)
{
    static const char *const name[] = {"as drawn",   "large",        "small",
                                       "far from 0", "all the same", "ending in infinity"};
    enum sample kind = (enum sample)(seed % SAMPLES);
    size_t how = seed / SAMPLES % 6;
    const struct format_facts *facts = &format_facts[f];
    int shift = how == 1   ? facts->emax / 2 - 2
                : how == 2 ? (facts->emin - facts->precision) / 2
                           : 0;
    sample_fill(in, how == 0 ? kind : SAMPLE_NEAR, f, seed);
    for (size_t i = 0; how > 0 && i < in->n; i++) {
        double x = ldexp(array_get(in, i), shift) + (how == 3 ? ldexp(1, facts->precision / 2) : 0);
        if (how == 4)
            x = array_get(in, 0);
        if (how == 5 && i + 1 == in->n)
            x = INFINITY;
        array_encode(in, i, 1, &x);
    }
    return name[how];
}

static bool holds_length(const struct method *m, double (*due)(const struct steps *s), size_t n,
                         size_t draws, char why[WHY])
{
    struct order o;
    void *data = malloc(n * sizeof(double));
    double *node = malloc(6 * n * sizeof *node);
    order_init(&o, n, 1);
    m->order(&o, method_shape(m, DEVICE_CPU, n, (struct shape){0, 0}));
    bool fine = data && node && !o.failed;
    not_held(why, m, FORMATS, FORMATS, n, (struct shape){0, 0}, "memory ran out");
    for (size_t k = 0; fine && k < draws * ACCUMULATORS * ACCUMULATORS; k++) {
        enum format s = k % ACCUMULATORS, f = k / ACCUMULATORS % ACCUMULATORS;
        uint64_t state = n << 20 ^ k, seed = sample_next(&state);
        struct array in = {s, n, data};
        if (!method_supports(m, DEVICE_CPU, s, f))
            continue;
        const char *what = fill(&in, f, seed);
        fine = result_is(m, &in, f, due(&(struct steps){&in, f, &o, node}), what, seed, why);
    }
    order_free(&o);
    free(node);
    free(data);
    return fine;
}

bool holds_steps(const struct method *m, char why[WHY])
{
    static const size_t lengths[] = {1, 2, 3, 5, 17, 100, 255, 300, TILE, TILE + 257};
    double (*due)(const struct steps *s) = NULL;
    if (m->promise == PROMISE_CORRECTLY_ROUNDED)
        return true;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        if (strcmp(written[i].method, m->name) == 0)
            due = written[i].due;
    if (!due || !m->order)
        return not_held(why, m, FORMATS, FORMATS, 0, (struct shape){0, 0},
                        "its steps are not in tests/support/values.c");
    for (enum format f = 0; f < ACCUMULATORS; f++)
        if (!result_is(m, &(struct array){f, 0, &(double){0}}, f,
                       m->operation == &operation_norm ? 0 : NAN, "nothing", 0, why))
            return false;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (!holds_length(m, due, lengths[i],
                          lengths[i] < 20      ? 40
                          : lengths[i] == TILE ? 6
                          : lengths[i] < 1000  ? 4
                                               : 1,
                          why))
            return false;
    return true;
}
