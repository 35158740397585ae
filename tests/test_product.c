/* Products: every method against MPFR, with their exponents kept apart; and that the checks can
 * fail. */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/product/scaled.h"
#include "kernels/sum/tiled.h"
#include "tests/checks.h"
#include "tests/mutants_caught.h"
#include "tests/oracle.h"
#include "tests/samples.h"

enum { MOST = 3 * TILE + 1 };

/* ---- fixed orders ---- */

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
    struct shape shape[CHECK_SHAPES];
    size_t shapes = check_shapes(m, in->n, shape);
    struct order o;
    order_init(&o, in->n, 1);
    m->order(&o, shape[0]);
    double due = walk(&o, in, f);
    order_free(&o);
    for (size_t k = 0; k < shapes; k++) {
        uint64_t got = 0;
        if (check_run(m, in, f, shape[k], &got) != STATUS_OK)
            return check_failed(why, m, in->format, f, in->n, shape[k], "it could not be run");
        if (got != format_encode(f, due))
            return check_failed(why, m, in->format, f, in->n, shape[k],
                                "%s: %#" PRIx64 ", MPFR says %a", what, got, due);
    }
    return true;
}

static bool check_product_walk(const struct method *m, char why[WHY])
{
    static const size_t lengths[] = {1, 2, 3, 33, 256, 257, TILE - 1, TILE + 1, MOST};
    static double data[MOST];
    uint64_t seed = 31;
    for (enum format s = 0; s < FORMATS; s++)
        for (enum format f = 0; f < FORMATS; f++)
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

static size_t each_of_product(bool ordered, bool (*check)(const struct method *m, char why[WHY]))
{
    char why[WHY] = "";
    size_t checked = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (m->operation != &operation_product || (ordered && !m->order))
            continue;
        cr_expect(check(m, why), "%s", why);
        checked++;
    }
    return checked;
}

Test(product, fixed_orders_are_mpfrs)
{
    cr_expect(each_of_product(true, check_product_walk) >= 2);
}

/* ---- specials ---- */

static bool gives(const struct method *m, size_t n, const double *x, double due, const char *what,
                  char why[WHY])
{
    double data[MOST];
    for (enum format s = 0; s < FORMATS; s++)
        for (enum format f = 0; f < FORMATS; f++) {
            struct array in = {s, n, data};
            struct shape shape[CHECK_SHAPES];
            size_t shapes = check_shapes(m, n, shape);
            array_encode(&in, 0, n, x);
            for (size_t k = 0; k < shapes; k++) {
                uint64_t got = 0;
                if (check_run(m, &in, f, shape[k], &got) != STATUS_OK)
                    return check_failed(why, m, s, f, n, shape[k], "it could not be run");
                if (got != format_encode(f, due))
                    return check_failed(why, m, s, f, n, shape[k], "%s: %#" PRIx64 ", not %a", what,
                                        got, due);
            }
        }
    return true;
}

/* Odd ones among numbers of product 1: at their ends, and where blocks and tiles end. */
static bool check_specials(const struct method *m, char why[WHY])
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

Test(product, zeros_infinities_nans_and_signs)
{
    cr_expect(each_of_product(false, check_specials) >= 4);
}

/* Half of them grow it, half of them undo that, far beyond the range of every format on the way: in
 * whatever order. Then the smallest numbers. */
static bool check_range(const struct method *m, char why[WHY])
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

Test(product, nothing_overflows_on_the_way)
{
    cr_expect(each_of_product(false, check_range) >= 4);
}

/* ---- correctly rounded ---- */

/* The prime factors of 2^240 - 1, and of 2^210 + 1. */
static const double less[] = {3,  3,   5,   5,          7,         11,         13,         17,
                              31, 41,  61,  151,        241,       331,        1321,       61681,
                              97, 257, 673, 4562284561, 394783681, 4278255361, 46908728641};
static const double more[] = {5,     5,       13,       29,           41,
                              61,    113,     421,      1321,         1429,
                              14449, 7416361, 47392381, 146919792181, 1041815865690181};
enum { LESS = sizeof less / sizeof *less, MORE = sizeof more / sizeof *more };

/* T halfway between numbers of f, and T times what is next to 1: next to halfway. */
static const struct halfway {
    int above;             /* of T: 2^p + that, halfway between 2^p + above - 1 and the next */
    double prime[5];       /* of 2^53 + above, which is no double */
    bool by_less, by_more; /* times 1 - 2^-240, 1 + 2^-210 */
    int due;               /* 2^p + due */
} halfway[] = {
    {3, {5, 7, 11, 1187, 19709623201}, false, false, 4},
    {3, {5, 7, 11, 1187, 19709623201}, true, false, 2},
    {1, {3, 107, 28059810762433, 1, 1}, false, false, 0},
    {1, {3, 107, 28059810762433, 1, 1}, false, true, 2},
    {1, {3, 107, 28059810762433, 1, 1}, true, true, 2},
};

static size_t append(double *x, size_t n, const double *from, size_t count)
{
    memcpy(x + n, from, count * sizeof *x);
    return n + count;
}

static bool check_halfway(const struct method *m, char why[WHY])
{
    double x[LESS + MORE + 6];
    for (size_t i = 0; i < sizeof halfway / sizeof *halfway; i++)
        for (enum format f = 0; f < FORMATS; f++) {
            const struct halfway *h = &halfway[i];
            double top = ldexp(1, format_facts[f].precision),
                   narrow[] = {top + h->above, 1, 1, 1, 1};
            size_t n = append(x, 0, less, h->by_less ? LESS : 0);
            n = append(x, n, more, h->by_more ? MORE : 0);
            n = append(x, n, f == FP64 ? h->prime : narrow, 5);
            x[n++] = ldexp(1, -240 * h->by_less - 210 * h->by_more - 4);
            struct array in = {FP64, n, x};
            uint64_t got = 0, due = format_encode(f, (top + h->due) / 16);
            if (check_run(m, &in, f, (struct shape){0, 0}, &got) != STATUS_OK || got != due)
                return check_failed(why, m, FP64, f, n, (struct shape){0, 0},
                                    "next to halfway, %zu: %#" PRIx64 ", not %#" PRIx64, i, got,
                                    due);
        }
    return true;
}

Test(product, next_to_halfway)
{
    char why[WHY] = "";
    cr_expect(check_halfway(method_named("product/exact"), why), "%s", why);
}

/* Results next to the smallest number and the largest, of factors far from them. */
static bool check_ends(const struct method *m, char why[WHY])
{
    double x[40];
    uint64_t seed = 8;
    mpfr_t product;
    mpfr_init2(product, 4000);
    bool fine = true;
    for (enum format f = 0; fine && f < FORMATS; f++)
        for (int round = 0; fine && round < 4000; round++) {
            size_t n = 2 + sample_next(&seed) % 38;
            struct array in = {FP64, n, x};
            bool high = sample_next(&seed) & 1;
            int left = high ? format_facts[f].emax + 2 : format_facts[f].emin - 54;
            mpfr_set_ui(product, 1, MPFR_RNDN);
            sample_fill(&in, SAMPLE_NEAR, FP64, sample_next(&seed));
            for (size_t i = 0; i < n; i++)
                mpfr_mul_d(product, product, x[i], MPFR_RNDN);
            left += (int)(sample_next(&seed) % (high ? 4 : 60)) - (int)mpfr_get_exp(product);
            for (size_t i = 0; left != 0; i = (i + 1) % n) {
                int step = left > 300 ? 300 : left < -300 ? -300 : left;
                x[i] = ldexp(x[i], step);
                left -= step;
                mpfr_mul_2si(product, product, step, MPFR_RNDN);
            }
            double due = oracle_round(f, product);
            uint64_t got = 0;
            fine = check_run(m, &in, f, (struct shape){0, 0}, &got) == STATUS_OK &&
                   got == format_encode(f, due);
            if (!fine)
                check_failed(why, m, FP64, f, n, (struct shape){0, 0},
                             "round %d: %#" PRIx64 ", MPFR says %a", round, got, due);
        }
    mpfr_clear(product);
    return fine;
}

Test(product, ends_of_the_range)
{
    char why[WHY] = "";
    cr_expect(check_ends(method_named("product/exact"), why), "%s", why);
}

/* ---- mutants ---- */

static enum status run_as(const char *name, const struct task *t)
{
    struct task other = *t;
    return method_named(name)->cpu(&other, NULL);
}

static enum status other_order(const struct task *t, struct problem *p)
{
    (void)p;
    return run_as("product/serial", t);
}

/* In the accumulator as it is, exponents and all. */
static enum status plain_loop(const struct task *t, struct problem *p)
{
    (void)p;
    double product = 1;
    for (size_t i = 0; i < t->in.n; i++)
        product = format_round(t->accumulator,
                               product * format_round(t->accumulator, array_get(&t->in, i)));
    array_encode(&t->out, 0, 1, &product);
    return STATUS_OK;
}

/* Significands in double, rounded at the end: once for many times. */
static enum status wide(const struct task *t, struct problem *p)
{
    (void)p;
    struct partial product = scaled(1, 0);
    for (size_t i = 0; i < t->in.n; i++)
        product = scaled_join(FP64, product, scaled_element(FP64, array_get(&t->in, i)));
    array_encode(&t->out, 0, 1, &(double){scaled_value(t->accumulator, product)});
    return STATUS_OK;
}

static enum status unsigned_result(const struct task *t, struct problem *p)
{
    (void)p;
    enum status status = run_as("product/serial", t);
    array_encode(&t->out, 0, 1, &(double){fabs(array_get(&t->out, 0))});
    return status;
}

static enum status of_nothing_0(const struct task *t, struct problem *p)
{
    (void)p;
    enum status status = run_as("product/atomic", t);
    if (t->in.n == 0)
        array_encode(&t->out, 0, 1, &(double){0});
    return status;
}

static enum status rounds_twice(const struct task *t, struct problem *p)
{
    double result;
    struct task other = *t;
    other.out = (struct array){FP64, 1, &result};
    other.accumulator = FP64;
    enum status status = method_named("product/exact")->cpu(&other, p);
    array_encode(&t->out, 0, 1, &result);
    return status;
}

static enum status flushes(const struct task *t, struct problem *p)
{
    enum status status = method_named("product/exact")->cpu(t, p);
    if (fabs(array_get(&t->out, 0)) < format_facts[t->accumulator].smallest_normal)
        array_encode(&t->out, 0, 1, &(double){0});
    return status;
}

static enum status drops_last(const struct task *t, struct problem *p)
{
    struct task other = *t;
    other.in.n -= t->in.n > TILE;
    return method_named("product/tree")->cpu(&other, p);
}

static enum status rounds_to_serial(const struct task *t, struct problem *p)
{
    (void)p;
    return run_as("product/serial", t);
}

#define BREAK(function)                                                                            \
    static void break_##function(struct method *m)                                                 \
    {                                                                                              \
        m->cpu = function;                                                                         \
    }
BREAK(other_order)
BREAK(plain_loop)
BREAK(wide)
BREAK(unsigned_result)
BREAK(of_nothing_0)
BREAK(rounds_twice)
BREAK(flushes)
BREAK(drops_last)
BREAK(rounds_to_serial)

static void break_bound(struct method *m)
{
    m->bound = THEOREM_CORRECTLY_ROUNDED;
}

static const struct mutant mutant[] = {
    {"multiplies in another order", "product/tree", break_other_order, check_product_walk},
    {"does not keep exponents apart", "product/serial", break_plain_loop, check_product_walk},
    {"does not keep exponents apart", "product/serial", break_plain_loop, check_range},
    {"rounds at the end alone", "product/serial", break_wide, check_product_walk},
    {"drops the last factor", "product/tree", break_drops_last, check_product_walk},
    {"forgets the sign", "product/serial", break_unsigned_result, check_specials},
    {"is 0 of nothing", "product/atomic", break_of_nothing_0, check_specials},
    {"rounds twice", "product/exact", break_rounds_twice, check_halfway},
    {"flushes subnormal results", "product/exact", break_flushes, check_ends},
    {"rounds each product", "product/exact", break_rounds_to_serial, check_promise},
    {"depends on the order", "product/exact", break_rounds_to_serial, check_permuted},
    {"claims another theorem", "product/tree", break_bound, check_bound},
};

Test(product, every_mutant_is_caught)
{
    mutants_expect_caught(mutant, sizeof mutant / sizeof *mutant);
}
