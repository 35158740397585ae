/* What additions in any order may give, against every tree, and against trees by chance. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "reference/possible/any_order.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"

/* --- every tree, by taking any two and going on with their sum --- */

struct seen {
    enum format f;
    size_t count;
    double value[4096];
};

static void see(struct seen *s, double x)
{
    for (size_t i = 0; i < s->count; i++)
        if (same_double(s->value[i], x))
            return;
    cr_assert(s->count < 4096);
    s->value[s->count++] = x;
}

static void every_tree(struct seen *s, const double *x, size_t n)
{
    double rest[8];
    if (n == 1) {
        see(s, x[0]);
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            size_t m = 0;
            for (size_t j = 0; j < n; j++)
                if (j != i && j != k)
                    rest[m++] = x[j];
            rest[m++] = oracle_add(s->f, x[k], x[i]);
            every_tree(s, rest, m);
        }
}

static struct seen seen_of(enum format f, const double *x, size_t n)
{
    struct seen s = {.f = f};
    double rounded[8];
    for (size_t i = 0; i < n; i++)
        rounded[i] = format_round(f, x[i]);
    if (n == 0)
        see(&s, 0);
    else
        every_tree(&s, rounded, n);
    return s;
}

static bool was_seen(const struct seen *s, double x)
{
    for (size_t i = 0; i < s->count; i++)
        if (same_double(s->value[i], x))
            return true;
    return false;
}

static struct possible possible_of(enum format f, const double *x, size_t n, bool bounds_only)
{
    struct any_order a;
    struct possible p;
    any_order_init(&a, f);
    if (bounds_only)
        a.parts_most = 0;
    for (size_t i = 0; i < n; i++)
        any_order_add(&a, x[i]);
    any_order_possible(&a, &p);
    return p;
}

/* Small arrays: values near each other, near the ends of the range, of the kinds of samples.h. */
static size_t draw(enum format f, double *x, uint64_t *seed)
{
    size_t n = sample_next(seed) % 6;
    uint64_t kind = sample_next(seed) % (SAMPLES + 3);
    const struct format_facts *facts = &format_facts[f];
    if (kind < SAMPLES) {
        uint64_t data[8];
        struct array a = {f, n, data};
        sample_fill(&a, (enum sample)kind, f, sample_next(seed));
        array_decode(&a, 0, n, x);
        return n;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t r = sample_next(seed);
        static const double part[] = {1, 0.5, 0.25, 0x1p-9, 0x1p-12};
        if (kind == SAMPLES) /* at overflow */
            x[i] = r % 7 == 0 ? ldexp(1, facts->emax - facts->precision)
                              : facts->largest * part[r % 5];
        else if (kind == SAMPLES + 1) /* few values, often */
            x[i] = r % 3 == 0 ? 1 : ldexp(1 + (double)(r % 2), -facts->precision);
        else /* small integers and what they lose */
            x[i] = (double)(r % 5) + (r % 2 ? ldexp(1, 1 - facts->precision) : 0);
        if (r >> 40 & 1)
            x[i] = -x[i];
        x[i] = format_round(f, x[i]);
    }
    return n;
}

static void words(char text[256], const double *x, size_t n)
{
    text[0] = 0;
    for (size_t i = 0; i < n; i++)
        snprintf(text + strlen(text), 256 - strlen(text), " %a", x[i]);
}

/* Values that are said to be possible, of those that are worth asking for. */
static void hold_claims(const struct seen *s, const struct possible *p, const char *what)
{
    cr_expect(p->nan == was_seen(s, NAN), "%s: NaN %d", what, p->nan);
    for (int sign = 0; sign < 2; sign++) {
        double one = sign ? -1.0 : 1.0;
        cr_expect(p->inf[sign] == was_seen(s, one * INFINITY), "%s: inf %d", what, sign);
        cr_expect(p->zero[sign] == was_seen(s, one * 0.0), "%s: zero %d", what, sign);
    }
    for (size_t i = 0; i < s->count; i++) {
        double near[] = {format_next_up(s->f, s->value[i]), format_next_down(s->f, s->value[i])};
        for (size_t k = 0; k < 2; k++)
            if (!isnan(near[k]))
                cr_expect(possible_holds(p, near[k]) == was_seen(s, near[k]), "%s: %a", what,
                          near[k]);
    }
}

Test(any_order, of_few_elements_is_what_some_tree_gives)
{
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (uint64_t seed = 1, round = 0; round < 1500; round++) {
            double x[8];
            char what[256];
            size_t n = draw(f, x, &seed);
            struct seen s = seen_of(f, x, n);
            struct possible p = possible_of(f, x, n, false);
            words(what, x, n);
            for (size_t i = 0; i < s.count; i++)
                cr_expect(possible_holds(&p, s.value[i]), "%s, seed 1, round %d:%s: %a",
                          format_facts[f].name, (int)round, what, s.value[i]);
            hold_claims(&s, &p, what);
        }
}

Test(any_order, bounds_hold_for_every_tree)
{
    size_t claims[3] = {0}, due[3] = {0};
    for (enum format f = 0; f < ACCUMULATORS; f++)
        for (uint64_t seed = 2, round = 0; round < 8000; round++) {
            double x[8];
            char what[256];
            size_t n = draw(f, x, &seed);
            struct seen s = seen_of(f, x, n);
            struct possible p = possible_of(f, x, n, true);
            words(what, x, n);
            for (size_t i = 0; i < s.count; i++)
                cr_expect(possible_holds(&p, s.value[i]), "%s, seed 2, round %d:%s: %a in %a .. %a",
                          format_facts[f].name, (int)round, what, s.value[i], p.least, p.most);
            claims[0] += p.nan;
            due[0] += was_seen(&s, NAN);
            claims[1] += p.inf[0] + (size_t)p.inf[1];
            due[1] += was_seen(&s, INFINITY) + (size_t)was_seen(&s, -INFINITY);
            claims[2] += p.zero[1];
            due[2] += was_seen(&s, -0.0);
        }
    /* Sharp, too: few are called possible that are not. */
    cr_expect(due[0] > 50 && due[1] > 500 && due[2] > 100, "%zu %zu %zu", due[0], due[1], due[2]);
    cr_expect(claims[0] <= due[0] * 1.2 && claims[1] <= due[1] * 1.2,
              "NaN %zu of %zu, inf %zu of %zu", claims[0], due[0], claims[1], due[1]);
    cr_expect(claims[2] == due[2], "-0: %zu, of %zu", claims[2], due[2]);
}

/* --- long arrays, trees by chance --- */

static double random_tree(enum format f, double *x, size_t n, uint64_t *seed, unsigned shape)
{
    while (n > 1) {
        size_t i = shape == 0 ? 0 : sample_next(seed) % n, k = sample_next(seed) % (n - 1);
        if (shape == 2) /* the two smallest of a few */
            for (int tries = 0; tries < 3; tries++) {
                size_t other = sample_next(seed) % n;
                i = fabs(x[other]) < fabs(x[i]) ? other : i;
            }
        double a = x[i];
        x[i] = x[--n];
        k %= n;
        x[k] = format_add(f, a, x[k]);
    }
    return x[0];
}

static void hold_random(enum format f, const struct array *in, bool bounds_only, uint64_t *seed,
                        enum format output, const char *what)
{
    double x[300], all[300];
    array_decode(in, 0, in->n, x);
    struct possible p = possible_of(f, x, in->n, bounds_only);
    if (output != f)
        possible_round(&p, output);
    for (int tree = 0; tree < 6; tree++) {
        for (size_t i = 0; i < in->n; i++)
            all[i] = format_round(f, x[i]);
        double sum = format_round(output, random_tree(f, all, in->n, seed, (unsigned)tree % 3));
        cr_expect(possible_holds(&p, sum), "%s, %s to %s, n = %zu: %a is not in %a .. %a", what,
                  format_facts[f].name, format_facts[output].name, in->n, sum, p.least, p.most);
    }
}

Test(any_order, holds_for_trees_by_chance)
{
    uint64_t data[300], seed = 3;
    for (enum format storage = 0; storage < ACCUMULATORS; storage++)
        for (enum format f = 0; f < ACCUMULATORS; f++)
            for (enum sample kind = 0; kind < SAMPLES; kind++)
                for (int round = 0; round < 24; round++) {
                    size_t n = 1 + sample_next(&seed) % (round % 2 ? 300 : 12);
                    struct array in = {storage, n, data};
                    sample_fill(&in, kind, f, sample_next(&seed));
                    for (size_t i = 0; round % 3 == 0 && i < n; i++) /* sparse */
                        if (sample_next(&seed) % 8)
                            array_encode(&in, i, 1, &(double){round % 4 ? 0.0 : -0.0});
                    hold_random(f, &in, round % 5 == 0, &seed, (enum format)(round % ACCUMULATORS),
                                sample_name[kind]);
                }
}

/* --- what must be known of long arrays --- */

static struct possible of_equal(enum format f, double x, size_t n, double last)
{
    struct any_order a;
    struct possible p;
    any_order_init(&a, f);
    for (size_t i = 0; i < n; i++)
        any_order_add(&a, i + 1 < n ? x : last);
    any_order_possible(&a, &p);
    return p;
}

static void just(const struct possible *p, double x, const char *what)
{
    double others[] = {NAN,
                       INFINITY,
                       -INFINITY,
                       0.0,
                       -0.0,
                       x == 0 ? 1 : -x,
                       format_next_up(FP16, x),
                       format_next_down(FP16, x)};
    cr_expect(possible_holds(p, x), "%s: %a is not possible", what, x);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_expect(same_double(others[i], x) || !possible_holds(p, others[i]), "%s: %a is possible",
                  what, others[i]);
}

Test(any_order, knows_what_is_certain)
{
    struct possible p;
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        double smallest = format_facts[f].smallest;
        just((p = of_equal(f, 0, 0, 0), &p), 0, "nothing");
        just((p = of_equal(f, -0.0, 1000, -0.0), &p), -0.0, "-0 alone");
        just((p = of_equal(f, -0.0, 1000, 0), &p), 0, "-0 and one +0");
        just((p = of_equal(f, 1, 100, NAN), &p), NAN, "a NaN");
        just((p = of_equal(f, 1, 100, -INFINITY), &p), -INFINITY, "-inf");
        just((p = of_equal(f, INFINITY, 100, -INFINITY), &p), NAN, "both infinities");
        just((p = of_equal(f, 1, 256, 1), &p), 256, "ones");
        just((p = of_equal(f, smallest, 256, smallest), &p), 256 * smallest, "subnormals");
        just((p = of_equal(f, -0.0, 1000, 1), &p), 1, "one, else -0");
        p = of_equal(f, format_facts[f].largest, 1000, -INFINITY);
        cr_expect(p.nan && p.inf[1] && !p.inf[0], "overflow against -inf");
        p = of_equal(f, format_facts[f].largest / 1024, 1000, format_facts[f].smallest);
        cr_expect(p.inf[0] == (f == FP16 || f == BF16) && !p.nan && !p.inf[1] && !p.zero[0],
                  "%s: near overflow", format_facts[f].name);
    }
}

static struct possible of_four(enum format f, double a, double b, double c, double d)
{
    return possible_of(f, (double[]){a, b, c, d}, 4, true);
}

/* Bounds of few elements, where they end. */
Test(any_order, bounds_end_where_they_say)
{
    struct possible p = of_four(FP16, 1024, 1023, 1, -1); /* the positive ones exactly 2^11 */
    cr_expect(possible_holds(&p, 2048) && !possible_holds(&p, 2050), "up to %a", p.most);
    p = of_four(FP16, -1024, -1023, -1, 1);
    cr_expect(possible_holds(&p, -2048) && !possible_holds(&p, -2050), "down to %a", p.least);
    p = of_four(FP16, 16000, 8008, -16000, -8000); /* multiples of 8, rounded */
    cr_expect(possible_holds(&p, 8) && possible_holds(&p, 16), "multiples of 8");
    cr_expect(!possible_holds(&p, 1) && !possible_holds(&p, 12), "others");
}

/* Before an infinity of the other sign: few values overflow where some tree of them does. */
Test(any_order, few_values_overflow_before_an_infinity)
{
    double largest = format_facts[FP16].largest;
    for (int sign = -1; sign <= 1; sign += 2) {
        struct possible p = possible_of(
            FP16, (double[]){sign * largest, sign * largest, -sign * INFINITY}, 3, false);
        cr_expect(p.nan && p.inf[sign > 0] && !p.inf[sign < 0], "twice the largest");
        p = possible_of(FP16, (double[]){sign * largest, sign * 8.0, -sign * INFINITY}, 3, false);
        cr_expect(!p.nan && p.inf[sign > 0], "a quarter of an ulp is lost");
    }
}

/* 2^8 parts: all trees are tried. 1, 2 and both find 4096 rounded to multiples of 4. */
Test(any_order, eight_values_are_listed)
{
    double x[] = {4096, 1, 2, 4, 8, 16, 32, 64};
    struct possible p = possible_of(FP16, x, 8, false);
    cr_expect(p.listed, "bounds alone");
    cr_expect(possible_holds(&p, 4220) && possible_holds(&p, 4224), "what trees give");
    cr_expect(!possible_holds(&p, 4212) && !possible_holds(&p, 4228), "what no tree gives");
}

/* All sums are beyond the format of the result: infinities of one sign and nothing else. */
Test(any_order, rounds_to_infinities_of_one_sign)
{
    for (int sign = -1; sign <= 1; sign += 2)
        for (int bounds_only = 0; bounds_only < 2; bounds_only++) {
            struct possible p =
                possible_of(FP32, (double[]){sign * 0x1.8p20, sign * 0x1.000002p0}, 2, bounds_only);
            possible_round(&p, FP16);
            just(&p, sign * INFINITY, "beyond fp16");
            cr_expect(p.least > p.most, "no number but them");
            cr_expect(!possible_holds(&p, sign * format_facts[FP16].largest), "the largest number");
        }
}
