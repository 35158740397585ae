/* What sums of products may give: nothing that a tree gives is called impossible, and of few
 * products nothing is called possible that no tree gives. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "kernels/blocks/product.h"
#include "reference/possible/any_products.h"
#include "tests/support/samples.h"

enum { MOST = 7 };

struct terms {
    enum format f;
    enum product_kind how;
    size_t n;
    double x[MOST], y[MOST];
};

/* A random tree: two of those that are left are joined, a product as it is or rounded. Independent
 * of the subject: kernels' arithmetic, held to MPFR by tests/kernels/dot/dot.c. */
static double random_tree(const struct terms *t, uint64_t *seed)
{
    double value[MOST];
    bool whole[MOST]; /* a product that is not rounded yet */
    size_t term[MOST], left = t->n;
    for (size_t i = 0; i < left; i++) {
        term[i] = i;
        whole[i] = t->how != PRODUCT_ROUNDED && sample_next(seed) % 2;
        value[i] = product_rounded(t->f, t->x[i], t->y[i]);
    }
    for (; left > 1; left--) {
        size_t a = sample_next(seed) % left, b = sample_next(seed) % (left - 1);
        b += b >= a;
        size_t into = a < b ? a : b, from = a < b ? b : a;
        size_t fused = whole[a] ? a : whole[b] ? b : MOST, other = fused == a ? b : a;
        double sum = fused == MOST
                         ? format_add(t->f, value[a], value[b])
                         : product_fused(t->f, value[other], t->x[term[fused]], t->y[term[fused]]);
        value[into] = sum;
        whole[into] = false;
        value[from] = value[left - 1];
        whole[from] = whole[left - 1];
        term[from] = term[left - 1];
    }
    return value[0];
}

/* Factors at which something happens, of either sign. */
static double factor(enum format s, uint64_t *seed)
{
    const struct format_facts *k = &format_facts[s];
    const double size[] = {0,
                           1,
                           1 + 2 * k->unit_roundoff,
                           1 + 6 * k->unit_roundoff,
                           2 - 2 * k->unit_roundoff,
                           k->smallest,
                           3 * k->smallest,
                           k->smallest_normal,
                           k->largest,
                           ldexp(1, k->emax / 2 + 1),
                           ldexp(1.5, k->emin / 2),
                           ldexp(1, (k->emin - k->precision) / 2),
                           ldexp(1, 1 - k->precision),
                           1.5,
                           INFINITY,
                           NAN};
    uint64_t draw = sample_next(seed);
    double x = size[(draw >> 8) % (draw % 8 ? 14 : 16)];
    return format_round(s, draw >> 40 & 1 ? -x : x);
}

static void fill(struct any_products *a, const struct terms *t, size_t parts)
{
    any_products_init(a, t->f, t->how);
    a->rounded.parts_most = parts;
    for (size_t i = 0; i < t->n; i++)
        any_products_add(a, t->x[i], t->y[i]);
}

static const char *words(const struct terms *t)
{
    static char text[1024];
    size_t used = (size_t)snprintf(text, sizeof text, "%s, %s:", format_facts[t->f].name,
                                   product_name[t->how]);
    for (size_t i = 0; i < t->n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %a*%a", t->x[i], t->y[i]);
    return text;
}

static void draw(struct terms *t, enum format s, size_t n, uint64_t *seed)
{
    t->n = n;
    for (size_t i = 0; i < n; i++) {
        t->x[i] = factor(s, seed);
        t->y[i] = factor(s, seed);
        if (i > 0 && sample_next(seed) % 3 == 0) { /* what cancels, at least nearly */
            t->x[i] = -t->x[i - 1];
            t->y[i] = t->y[i - 1];
        }
    }
}

/* Whatever a tree gives is possible: listed, and by bounds alone. */
static void holds_trees(const struct terms *t, uint64_t *seed)
{
    static struct any_products all, bounds;
    struct possible p, q;
    fill(&all, t, ANY_ORDER_PARTS);
    fill(&bounds, t, 0);
    any_products_possible(&all, &p);
    any_products_possible(&bounds, &q);
    for (int i = 0; i < 12; i++) {
        double x = random_tree(t, seed);
        cr_assert(possible_holds(&p, x), "%s gives %a%s", words(t), x, p.listed ? ", listed" : "");
        cr_assert(possible_holds(&q, x), "%s gives %a, by bounds", words(t), x);
    }
}

Test(any_products, nothing_that_a_tree_gives_is_impossible)
{
    uint64_t seed = 20261121;
    static const enum product_kind ways[] = {PRODUCT_ROUNDED, PRODUCT_FUSED, PRODUCT_UNKNOWN};
    for (int round = 0; round < 600; round++)
        for (enum format s = 0; s < ACCUMULATORS; s++)
            for (enum format f = 0; f < ACCUMULATORS; f++) {
                struct terms t = {.f = f, .how = ways[round % 3]};
                draw(&t, s, 1 + sample_next(&seed) % MOST, &seed);
                holds_trees(&t, &seed);
            }
}

/* Each listed value is one of some tree: of three products they are soon all met. */
Test(any_products, nothing_is_listed_that_no_tree_gives)
{
    uint64_t seed = 5;
    size_t listed = 0;
    for (int round = 0; round < 300; round++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            static struct any_products all;
            struct terms t = {.f = f, .how = PRODUCT_FUSED};
            struct possible p;
            bool met[POSSIBLE_VALUES] = {0};
            draw(&t, f, 1 + sample_next(&seed) % 3, &seed);
            fill(&all, &t, ANY_ORDER_PARTS);
            any_products_possible(&all, &p);
            for (int i = 0; p.listed && i < 400; i++) {
                double x = random_tree(&t, &seed);
                for (size_t k = 0; k < p.count; k++)
                    met[k] |= p.value[k] == x;
            }
            for (size_t k = 0; p.listed && k < p.count; k++)
                cr_assert(met[k], "%s: no tree gives %a", words(&t), p.value[k]);
            listed += p.listed;
        }
    cr_expect(listed > 300, "only %zu are listed", listed);
}

/* --- by hand --- */

Test(any_products, by_hand)
{
    const double odd = 1 + 0x1p-23, tiny = 0x1p-100, top = 0x1p127;
    const struct {
        enum product_kind how;
        size_t n;
        double x[3], y[3], result;
        bool possible;
    } row[] = {
        /* odd odd = 1 + 2^-22 + 2^-46: rounded it cancels, fused it leaves 2^-46. */
        {PRODUCT_ROUNDED, 2, {odd, -odd}, {odd, odd}, 0, true},
        {PRODUCT_ROUNDED, 2, {odd, -odd}, {odd, odd}, 0x1p-46, false},
        {PRODUCT_FUSED, 2, {odd, -odd}, {odd, odd}, 0x1p-46, true},
        {PRODUCT_FUSED, 2, {odd, -odd}, {odd, odd}, -0x1p-46, true},
        {PRODUCT_FUSED, 2, {odd, -odd}, {odd, odd}, 0x1p-45, false},
        /* Underflow keeps a sign; +0 takes it. */
        {PRODUCT_ROUNDED, 1, {-tiny}, {tiny}, -0.0, true},
        {PRODUCT_ROUNDED, 1, {-tiny}, {tiny}, 0, false},
        {PRODUCT_FUSED, 1, {-tiny}, {tiny}, -0.0, true},
        {PRODUCT_FUSED, 1, {-tiny}, {tiny}, 0, false},
        {PRODUCT_ROUNDED, 2, {-tiny, 0}, {tiny, 1}, -0.0, false},
        {PRODUCT_FUSED, 2, {-tiny, 0}, {tiny, 1}, -0.0, true},
        {PRODUCT_FUSED, 2, {-tiny, 0}, {tiny, 1}, 0, true},
        {PRODUCT_FUSED, 2, {-tiny, 0}, {tiny, -1}, -0.0, true},
        {PRODUCT_FUSED, 2, {-tiny, 0}, {tiny, -1}, 0, false},
        /* A product beyond the range stays there, unless it is fused. */
        {PRODUCT_ROUNDED, 2, {top, -top}, {2, 1}, top, false},
        {PRODUCT_ROUNDED, 2, {top, -top}, {2, 1}, INFINITY, true},
        {PRODUCT_FUSED, 2, {top, -top}, {2, 1}, top, true},
        {PRODUCT_FUSED, 1, {top}, {4}, INFINITY, true},
        {PRODUCT_FUSED, 1, {top}, {4}, 0x1.fffffep127, false},
        {PRODUCT_FUSED, 2, {INFINITY, 1}, {0, 1}, 1, false},
        {PRODUCT_FUSED, 2, {INFINITY, 1}, {0, 1}, NAN, true},
        {PRODUCT_UNKNOWN, 2, {INFINITY, odd}, {-1, odd}, -INFINITY, true},
        {PRODUCT_UNKNOWN, 2, {INFINITY, odd}, {-1, odd}, NAN, false},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static struct any_products a;
        struct possible p;
        struct terms t = {.f = FP32, .how = row[i].how, .n = row[i].n};
        memcpy(t.x, row[i].x, sizeof row[i].x);
        memcpy(t.y, row[i].y, sizeof row[i].y);
        fill(&a, &t, ANY_ORDER_PARTS);
        any_products_possible(&a, &p);
        cr_expect(possible_holds(&p, row[i].result) == row[i].possible, "%s: %a is %spossible",
                  words(&t), row[i].result, row[i].possible ? "not " : "");
    }
}

/* Of long sums there are bounds, and they are no looser than they must be. */
Test(any_products, bounds_of_many)
{
    enum { N = 1000 };
    static struct any_products a;
    struct possible p;
    const double odd = 1 + 0x1p-23;
    any_products_init(&a, FP32, PRODUCT_FUSED);
    for (int i = 0; i < N; i++)
        any_products_add(&a, odd, odd);
    any_products_possible(&a, &p);
    double exact = N * (1 + 0x1p-22), room = N * 0x1p-24 * exact;
    cr_expect(!p.listed && p.least <= exact - 0.99 * room && p.least >= exact - 1.01 * room);
    cr_expect(p.most >= exact + 0.99 * room && p.most <= exact + 1.01 * room);
    cr_expect(!p.inf[0] && !p.inf[1] && !p.nan && !p.zero[0] && !p.zero[1]);
}

static struct possible of_two(enum format f, size_t parts, const double x[2], const double y[2])
{
    static struct any_products a;
    struct possible p;
    struct terms t = {.f = f, .how = PRODUCT_FUSED, .n = 2};
    memcpy(t.x, x, 2 * sizeof *x);
    memcpy(t.y, y, 2 * sizeof *y);
    fill(&a, &t, parts);
    any_products_possible(&a, &p);
    return p;
}

/* 2^-1000 (1 - 2^-80) is 2^-1000 when it is rounded, half an ulp of the other term, and what is
 * lost is below all doubles. Fused it is less than half. */
Test(any_products, what_doubles_do_not_hold_is_not_exact)
{
    double z = 0x1p-947 + 0x1p-999;
    struct possible p = of_two(FP64, ANY_ORDER_PARTS, (double[]){1 + 0x1p-40, z},
                               (double[]){(1 - 0x1p-40) * 0x1p-1000, 1});
    cr_expect(possible_holds(&p, z), "fused");
    cr_expect(possible_holds(&p, z + 0x1p-999), "rounded twice");
}

/* By bounds alone: products of one sign, one of them beyond the range, or all below it. */
Test(any_products, bounds_of_one_sign)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        struct possible p =
            of_two(FP16, 0, (double[]){sign * 240.0, sign * 0x1p-10}, (double[]){273, 0x1p-10});
        cr_expect(possible_holds(&p, sign * INFINITY), "65520 rounds to an infinity");
        cr_expect(!possible_holds(&p, sign * 65504.0), "the largest number");
        p = of_two(FP16, 0, (double[]){sign * 0x1p-24, sign * 0x1p-24},
                   (double[]){0x1p-10, 0x1p-10});
        cr_expect(possible_holds(&p, sign * 0.0), "underflow keeps the sign");
        cr_expect(sign < 0 || !possible_holds(&p, -0.0), "positive products, -0");
    }
}
