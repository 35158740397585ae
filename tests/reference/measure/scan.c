/* Measures of scans against measures of every single output, and those against rationals. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/exact/mpfr.h"
#include "tests/support/flawed_scans.h"
#include "tests/support/generated.h"

/* Heights that a tree may have, or that are too low for the method, so that bounds are broken. */
struct heights {
    bool exclusive, low;
    const size_t *first; /* where the segment of an index begins */
};

static size_t height(const void *context, size_t i)
{
    const struct heights *h = context;
    size_t terms = i + !h->exclusive - h->first[i];
    return h->low ? (terms > 6) : terms > 0 ? terms - 1 : 0;
}

static void find_firsts(size_t *first, size_t n, const uint8_t *heads)
{
    for (size_t i = 0; i < n; i++)
        first[i] = i == 0 || (heads && heads[i]) ? i : first[i - 1];
}

/* ---- what is due ---- */

static bool larger(double a, double b)
{
    return isnan(a) ? !isnan(b) : a > b;
}

static void take(struct figure *most, struct figure f)
{
    if (f.known && (!most->known || larger(f.value, most->value)))
        *most = f;
}

struct due {
    struct scan_measure m;
    mpfr_t squares;
    size_t squared, negative;
};

static void take_item(struct due *d, const struct measure *m, size_t i)
{
    struct scan_measure *all = &d->m;
    if (m->err_ulp.known && (!all->err_ulp.known || larger(m->err_ulp.value, all->err_ulp.value)))
        all->worst_index = i;
    take(&all->err_abs, m->err_abs);
    take(&all->err_rel, m->err_rel);
    take(&all->err_ulp, m->err_ulp);
    take(&all->err_backward, m->err_backward);
    take(&all->err_over_bound, m->err_over_bound);
    if (m->broken && all->broken++ == 0)
        all->first_broken = i;
    if (m->outcome == OUTCOME_OVERFLOW || all->outcome == OUTCOME_OK)
        all->outcome = m->outcome;
    if (m->err_ulp.known) {
        mpfr_t x;
        mpfr_init2(x, 200);
        mpfr_set_d(x, m->err_ulp.value, MPFR_RNDN);
        mpfr_sqr(x, x, MPFR_RNDN);
        mpfr_add(d->squares, d->squares, x, MPFR_RNDN);
        mpfr_clear(x);
        d->squared++;
    }
}

/* The root of the mean of the squares, within what measure/scan.h says. */
static void expect_rms(const struct scan_measure *got, struct due *d, const char *what)
{
    cr_assert(got->err_ulp_rms.known == (d->squared > 0), "%s: rms", what);
    if (d->squared == 0)
        return;
    mpfr_div_ui(d->squares, d->squares, d->squared, MPFR_RNDN);
    mpfr_sqrt(d->squares, d->squares, MPFR_RNDN);
    double due = mpfr_get_d(d->squares, MPFR_RNDN), x = got->err_ulp_rms.value;
    double off = fabs(x - due);
    cr_assert(same_double(x, due) || off <= due * 0x1p-48 || off <= 0x1p-1073, "%s: rms %a, not %a",
              what, x, due);
}

static void expect_point(const struct scan_point *got, size_t i, double result,
                         const struct measure *m, const char *what)
{
    cr_assert(got->index == i && same_double(got->result, result), "%s: point %zu", what, i);
    same_figure(got->err_abs, m->err_abs, what, "a point's err_abs");
    same_figure(got->err_ulp, m->err_ulp, what, "a point's err_ulp");
    same_figure(got->bound, m->bound, what, "a point's bound");
    same_figure(got->err_over_bound, m->err_over_bound, what, "a point's err_over_bound");
}

/* Every output by measure_output, from exact sums of their own. */
static void expect_measures(const struct scan_measure *got, const struct scan *s,
                            const struct scan_output *o, const size_t *first, const char *what)
{
    size_t n = s->in.n, point = 0;
    struct due d = {.m = {.worst_index = n, .first_broken = n}};
    struct exact exact;
    exact_init(&exact);
    mpfr_init2(d.squares, 6000);
    mpfr_set_zero(d.squares, 1);
    for (size_t i = 0; i < n; i++) {
        struct reference r = {.n = i + !s->exclusive - first[i]};
        struct theorem t = {.kind = o->bound, .height = height(o->context, i)};
        struct measure m;
        double x = array_get(&s->in, i), result = array_get(&o->out, i);
        if (first[i] == i)
            exact_init(&exact);
        if (!s->exclusive)
            exact_add(&exact, x);
        mpfr_inits2(53, r.sum, r.sum_abs, (mpfr_ptr)0);
        exact_get(r.sum, &exact);
        exact_get_abs(r.sum_abs, &exact);
        measure_output(&m, &r, s->in.format, o->accumulator, o->out.format, result, &t);
        take_item(&d, &m, i);
        if (point < got->points && got->point[point].index == i)
            expect_point(&got->point[point++], i, result, &m, what);
        if (s->exclusive)
            exact_add(&exact, x);
        d.negative += !(x >= 0);
        d.m.decreases.value += first[i] < i && !(result >= array_get(&o->out, i - 1));
        mpfr_clears(r.sum, r.sum_abs, (mpfr_ptr)0);
    }
    cr_assert(point == got->points, "%s: %zu points of %zu", what, point, got->points);
    same_figure(got->err_abs, d.m.err_abs, what, "err_abs");
    same_figure(got->err_rel, d.m.err_rel, what, "err_rel");
    same_figure(got->err_ulp, d.m.err_ulp, what, "err_ulp");
    same_figure(got->err_backward, d.m.err_backward, what, "err_backward");
    same_figure(got->err_over_bound, d.m.err_over_bound, what, "err_over_bound");
    cr_assert(got->outcome == d.m.outcome, "%s: outcome %d", what, got->outcome);
    cr_assert(got->worst_index == d.m.worst_index, "%s: worst_index %zu, not %zu", what,
              got->worst_index, d.m.worst_index);
    cr_assert(got->broken == d.m.broken && got->first_broken == d.m.first_broken,
              "%s: %zu broken, first %zu; not %zu, %zu", what, got->broken, got->first_broken,
              d.m.broken, d.m.first_broken);
    d.m.decreases.known = d.negative == 0;
    same_figure(got->decreases, d.negative ? (struct figure){false, 0} : d.m.decreases, what,
                "decreases");
    expect_rms(got, &d, what);
    mpfr_clear(d.squares);
}

/* ---- cases ---- */

struct scan_case {
    struct scan scan;
    struct scan_output out;
    enum flaw flaw;
    bool low;
    const char *name;
};

/* Measures c->out.out, an output of the scan. */
static void expect_output(const struct scan_case *c, unsigned threads)
{
    size_t n = c->scan.in.n;
    struct scan_output out = c->out;
    size_t *first = malloc((n + 1) * sizeof *first);
    find_firsts(first, n, c->scan.heads);
    struct heights heights = {c->scan.exclusive, c->low, first};
    out.height = height;
    out.context = &heights;
    struct scan_measure *m = malloc(sizeof *m);
    struct problem p = {0};
    char what[256];
    snprintf(what, sizeof what, "%s, n = %zu, %s in %s to %s%s%s, flaw %d, bound %d, %u threads",
             c->name, n, format_facts[c->scan.in.format].name, format_facts[out.accumulator].name,
             format_facts[out.out.format].name, c->scan.exclusive ? ", exclusive" : "",
             c->scan.heads ? ", heads" : "", c->flaw, out.bound, threads);
    cr_assert(measure_scan(m, &out, 1, &c->scan, threads, &p) == STATUS_OK, "%s: %s", what, p.text);
    expect_measures(m, &c->scan, &out, first, what);
    free(m);
    free(first);
}

static void expect_case(const struct scan_case *c, unsigned threads, uint64_t *seed)
{
    struct scan_case with = *c;
    struct array *out = &with.out.out;
    *out = (struct array){out->format, c->scan.in.n, NULL};
    out->data = malloc(array_bytes(out->format, out->n) + 1);
    scan_serially(&c->scan, c->out.accumulator, c->flaw, seed, out);
    expect_output(&with, threads);
    free(out->data);
}

static uint8_t *random_heads(size_t n, uint64_t apart, uint64_t *seed)
{
    uint8_t *heads = malloc(n + 1);
    for (size_t i = 0; i < n; i++)
        heads[i] = sample_next(seed) % apart == 0;
    return heads;
}

static void expect_samples(size_t n, int rounds, unsigned threads, uint64_t seed)
{
    for (int round = 0; round < rounds; round++) {
        uint64_t draw = sample_next(&seed);
        struct scan_case c = {
            .scan = {.in = {draw % ACCUMULATORS, n, NULL}, .exclusive = draw >> 8 & 1},
            .out = {.out = {(draw >> 16) % ACCUMULATORS, n, NULL},
                    .accumulator = (draw >> 24) % ACCUMULATORS,
                    .bound = scan_bound[(draw >> 32) % SCAN_BOUNDS]},
            .flaw = (enum flaw)((draw >> 40) % FLAWS),
            .low = draw >> 48 & 1};
        int kind = round % SAMPLES;
        c.name = sample_name[kind];
        c.scan.in.data = malloc(array_bytes(c.scan.in.format, n) + 1);
        sample_fill(&c.scan.in, kind, c.out.accumulator, sample_next(&seed));
        if (draw >> 49 & 1) /* no negative element */
            for (size_t i = 0; i < n; i++)
                array_encode(&c.scan.in, i, 1, &(double){fabs(array_get(&c.scan.in, i))});
        uint8_t *heads = draw >> 50 & 1 ? random_heads(n, 2 + (draw >> 51) % 100, &seed) : NULL;
        c.scan.heads = heads;
        expect_case(&c, threads, &seed);
        free(heads);
        free(c.scan.in.data);
    }
}

Test(measure_scan, samples_of_small_sizes)
{
    for (size_t n = 0; n < 12; n++)
        expect_samples(n, 400, 1, 501 + n);
}

Test(measure_scan, samples_of_some_blocks)
{
    expect_samples(1023, 12, 1, 521);
    expect_samples(1024, 12, 2, 522);
    expect_samples(1025, 12, 1, 523);
    expect_samples(2900, 70, 1, 524);
}

Test(measure_scan, samples_of_many_shares)
{
    expect_samples(LINE_MOST, 4, 2, 531);
    expect_samples(LINE_MOST + 1, 4, 2, 532);
    expect_samples(3 * LINE_MOST + 500, 4, 3, 533);
}

Test(measure_scan, every_input_family)
{
    uint64_t seed = 541;
    for (size_t k = 0; k < input_family_count; k++)
        for (enum format f = 0; f < ACCUMULATORS; f++) {
            uint64_t draw = sample_next(&seed);
            struct problem p = {0};
            struct input in = {0};
            struct array a = {f, 1500, malloc(array_bytes(f, 1500))};
            cr_assert(input_parse(&in, input_families[k]->name, &p) == STATUS_OK &&
                          input_generate(&in, &a, 1, 0, &p) == STATUS_OK,
                      "%s", p.text);
            struct scan_case c = {
                .scan = {.in = a, .exclusive = draw & 1},
                .out = {.out = {draw & 2 ? f : (draw >> 2) % ACCUMULATORS, 0, NULL},
                        .accumulator = draw & 16 ? f : FP32,
                        .bound = THEOREM_TREE},
                .flaw = draw & 32 ? FLAWLESS : ROUNDED_ONCE,
                .name = in.family->name};
            expect_case(&c, 1, &seed);
            free(a.data);
        }
}

/* Magnitudes whose sum is beyond the doubles, and prefixes that are. */
Test(measure_scan, sums_near_the_largest_double)
{
    uint64_t seed = 551;
    for (int round = 0; round < 80; round++) {
        size_t n = 2 + sample_next(&seed) % 300;
        struct scan_case c = {
            .scan = {.in = {FP64, n, malloc(n * sizeof(double))}, .exclusive = round & 1},
            .out = {.out = {round % 7 ? FP64 : FP32, n, NULL},
                    .accumulator = round % 11 ? FP64 : BF16,
                    .bound = scan_bound[round % SCAN_BOUNDS]},
            .flaw = (enum flaw)(round % FLAWS),
            .name = "near the largest"};
        for (size_t i = 0; i < n; i++) {
            double x = format_facts[FP64].largest / (double)(1 + sample_next(&seed) % 3);
            x *= (i + (size_t)round / 40 * (i / 9)) % 2 ? -1 : 1;
            array_encode(&c.scan.in, i, 1, &x);
        }
        expect_case(&c, 1, &seed);
        free(c.scan.in.data);
    }
}

static void expect_given(size_t n, const double *in, const double *out, const uint8_t *heads)
{
    struct scan_case c = {.scan = {.in = {FP64, n, (double *)in}, .heads = heads},
                          .out = {.out = {FP64, n, (double *)out}, .accumulator = FP64},
                          .name = "given"};
    for (int k = 0; k < 2 * SCAN_BOUNDS; k++) {
        c.out.bound = scan_bound[k / 2];
        c.low = k % 2;
        expect_output(&c, 1);
    }
}

/* Up to three outputs at indices 28 .. 30, of which no point is kept, in a segment of their own. */
static void expect_few(size_t n, const double *in, const double *out)
{
    double padded[2][32] = {{0}};
    uint8_t heads[32] = {[28] = 1, [31] = 1};
    memcpy(padded[0] + 28, in, n * sizeof *in);
    memcpy(padded[1] + 28, out, n * sizeof *out);
    for (size_t i = 28 + n; i < 31; i++)
        heads[i] = 1;
    expect_given(32, padded[0], padded[1], heads);
}

Test(measure_scan, given_outputs)
{
    const double most = format_facts[FP64].largest;
    /* err_ulp is subnormal: 2.5 quanta and a bit that rounding the error first would lose */
    expect_few(3, (double[]){0x1p1000, 0x1.4p-125, 0x1p-190},
               (double[]){0x1p1000, 0x1p1000, 0x1p1000});
    /* no error, and a bound of 0 or beyond the doubles */
    expect_few(2, (double[]){most, -most}, (double[]){most, 0});
    /* an infinity or a NaN is due */
    expect_few(2, (double[]){1, INFINITY}, (double[]){1, NAN});
    expect_few(2, (double[]){1, -INFINITY}, (double[]){1, INFINITY});
    expect_few(2, (double[]){1, -INFINITY}, (double[]){1, -INFINITY});
    expect_few(2, (double[]){1, NAN}, (double[]){1, INFINITY});
    expect_few(2, (double[]){1, NAN}, (double[]){1, NAN});
    /* a prefix beyond the doubles, and what may stand there */
    expect_few(2, (double[]){most, most}, (double[]){most, INFINITY});
    expect_few(2, (double[]){most, most}, (double[]){most, most});
    expect_few(2, (double[]){most, most}, (double[]){most, NAN});
    expect_few(2, (double[]){most, 0}, (double[]){most, -most});
    /* the ulp is that of the numbers below 1 */
    expect_few(2, (double[]){1, -0x1p-60}, (double[]){1, 2});
}

/* Of a twin's zeros there is no relative difference, and one of numbers may overflow on the way. */
Test(measure_scan, differences_from_a_twin_by_hand)
{
    const double most = format_facts[FP64].largest;
    double in[5] = {0}, out[5] = {3, 5, most, 7, 0.5}, twin[5] = {2, 0, -most, 7, INFINITY};
    struct scan s = {.in = {FP64, 5, in}};
    struct array beside = {FP64, 5, twin}, narrow = {FP32, 5, twin};
    struct scan_output o = {
        .out = {FP64, 5, out}, .accumulator = FP64, .bound = THEOREM_ANY_ORDER, .twin = {&beside}};
    static struct scan_measure m;
    struct problem p = {0};
    cr_assert(measure_scan(&m, &o, 1, &s, 1, &p) == STATUS_OK, "%s", p.text);
    cr_expect(m.difference[0].mean_rel_diff.known &&
                  m.difference[0].mean_rel_diff.value == (0.5 + 2 + 0) / 3,
              "%a", m.difference[0].mean_rel_diff.value);
    cr_expect(m.difference[0].differing.value == 0.8 && m.difference[0].first_diff == 0);
    o.twin[0] = &narrow;
    cr_expect(measure_scan(&m, &o, 1, &s, 1, &p) == STATUS_USAGE, "a twin of another format");
}

Test(measure_scan, given_outputs_of_a_block)
{
    /* one prefix is not 0, and no point is there */
    double in[200] = {0}, out[200] = {0};
    in[33] = out[33] = 1;
    in[34] = -1;
    expect_given(100, in, out, NULL);
    /* the larger error is the smaller one beside sum|x|, which no double tells */
    const double most = format_facts[FP64].largest, ulp = format_ulp(FP64, most / 4);
    for (size_t i = 0; i < 200; i++) {
        in[i] = i == 0 ? most / 4 : i % 2 ? -most / 2 : most / 2;
        out[i] = i % 2 ? -most / 4 : most / 4;
    }
    out[60] -= 2 * ulp;
    out[150] -= 3 * ulp;
    expect_given(200, in, out, NULL);
}

/* A piece or a share ends with the one prefix that no two doubles hold, 1 + 2^-54 + 2^-200. Its
 * error is the largest, halfway between two doubles but for 2^-200. The exclusive scan has it
 * before the next piece, whose own pairs are all exact. */
Test(measure_scan, the_last_pair_of_the_piece_before)
{
    enum { N = LINE_MOST + 500 };
    static double in[N], out[N];
    struct scan_case c = {.scan = {.in = {FP64, N, in}, .exclusive = true},
                          .out = {.out = {FP64, N, out}, .accumulator = FP64},
                          .name = "the pair before"};
    in[LINE_MOST - 3] = 1;
    in[LINE_MOST - 2] = 0x1p-54;
    in[LINE_MOST - 1] = 0x1p-200;
    in[LINE_MOST] = -1;
    out[LINE_MOST - 2] = out[LINE_MOST - 1] = 1;
    out[LINE_MOST] = 2;
    for (size_t i = LINE_MOST + 1; i < N; i++)
        out[i] = 0x1p-54;
    expect_output(&c, 1);
    expect_output(&c, 2);
}

/* Prefixes of three words, in results an ulp away, whose third word is often what decides how a
 * relative error is rounded. */
Test(measure_scan, three_words_decide)
{
    uint64_t seed = 553;
    for (int round = 0; round < 100; round++) {
        double in[3], out[3];
        for (int i = 0; i < 3; i++)
            in[i] = ldexp(1 + (double)(sample_next(&seed) >> 12) * 0x1p-52, -54 * i);
        out[0] = out[1] = in[0];
        out[2] = in[0] + (round % 2 ? 0x1p-52 : -0x1p-52);
        expect_few(3, in, out);
    }
}

/* Relative errors that are all next to 1/768, of errors that no double holds; far below bounds. */
Test(measure_scan, near_ties)
{
    enum { N = 200 };
    static double in[N], out[N];
    static uint8_t heads[N];
    uint64_t seed = 552;
    struct scan_case c = {.scan = {.in = {FP64, N, in}, .heads = heads},
                          .out = {.out = {FP64, N, out}, .accumulator = BF16},
                          .name = "near ties"};
    for (int round = 0; round < 1000; round++) {
        for (size_t i = 0; i < N; i += 2) {
            double error = (double)(0x55555555556 + sample_next(&seed) % 0x54000000000) * 0x1p-52;
            double off = (double)(sample_next(&seed) >> 11) * 0x1p-99;
            in[i] = out[i] = 768 * error * (1 + off); /* 1 .. 2 */
            in[i + 1] = ldexp((double)(sample_next(&seed) >> 11), -53 - 53 - round % 4);
            out[i + 1] = in[i] + error;
            heads[i] = 1;
        }
        expect_output(&c, 1);
    }
}

/* Sums of 95 elements of fp16, two of them not 0, that are infinite or NaN, at an index without a
 * point. 94 u A is about A / 22: with it, A = 61984 is in range and A = 62720 is not. An exact sum
 * is held to no A. */
Test(measure_scan, no_number_in_and_out_of_range)
{
    enum { COUNT = 100, AT = 94 };
    static struct scan_measure m;
    static const struct {
        double last;
        enum theorem_kind bound;
        size_t broken;
    } rows[] = {
        {21984, THEOREM_ANY_ORDER, 1},   {-21984, THEOREM_TREE, 1},
        {22720, THEOREM_ANY_ORDER, 0},   {-22720, THEOREM_TREE, 0},
        {22720, THEOREM_COMPENSATED, 0}, {-40000, THEOREM_ANY_ORDER, 0},
        {960, THEOREM_COMPENSATED, 1},   {-39968, THEOREM_CORRECTLY_ROUNDED, 1},
        {21984, THEOREM_NONE, 0},
    };
    static const size_t first[COUNT];
    const struct heights serial = {.first = first};
    for (size_t k = 0; k < 2 * sizeof rows / sizeof *rows; k++) {
        double x[COUNT] = {40000, [AT] = rows[k / 2].last}, out[COUNT];
        uint16_t data[COUNT], results[COUNT];
        struct scan s = {.in = {FP16, COUNT, data}};
        struct scan_output o = {.out = {FP16, COUNT, results},
                                .accumulator = FP16,
                                .bound = rows[k / 2].bound,
                                .height = height,
                                .context = &serial};
        for (size_t i = 0; i < COUNT; i++)
            out[i] = i < AT ? x[0] : x[0] + x[AT];
        out[AT] = k % 2 ? NAN : -INFINITY;
        array_encode(&s.in, 0, COUNT, x);
        array_encode(&o.out, 0, COUNT, out);
        cr_assert(measure_scan(&m, &o, 1, &s, 1, NULL) == STATUS_OK);
        for (size_t i = 0; i < m.points; i++)
            cr_assert_neq(m.point[i].index, AT);
        cr_expect(m.outcome == OUTCOME_OVERFLOW && m.broken == rows[k / 2].broken,
                  "%zu: %zu broken", k, m.broken);
        cr_expect_eq(m.err_over_bound.value == INFINITY, rows[k / 2].broken > 0, "%zu", k);
    }
}
