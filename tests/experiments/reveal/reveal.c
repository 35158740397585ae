/* Orders revealed from outputs alone: of trees of many shapes, summed along in each format. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/reveal/ask.h"
#include "reference/exact/value.h"
#include "tests/support/trees.h"

/* Reveals a tree, of elements `first` on of an array that has some more. Returns the calls. */
static uint64_t hold(const struct sum_tree *t, enum format storage, enum format accumulator,
                     uint64_t seed, const char *what)
{
    size_t first = seed % 3, n = first + t->leaves + seed % 2;
    double *room = calloc(n + t->leaves + t->additions, sizeof *room);
    struct tree_sum sum = {.tree = t,
                           .accumulator = accumulator,
                           .in = {storage, n, room + t->leaves + t->additions},
                           .first = first,
                           .node = room};
    struct reveal_subject s = {.in = sum.in,
                               .first = first,
                               .leaves = t->leaves,
                               .accumulator = accumulator,
                               .output = accumulator,
                               .evaluate = tree_sum_evaluate,
                               .context = &sum};
    struct reveal r;
    struct problem p = {0};
    cr_assert_eq(reveal_order(&r, &s, seed, &p), STATUS_OK, "%s: %s", what, p.text);
    cr_assert_eq(r.verdict, REVEAL_TREE, "%s: verdict %d, %s", what, (int)r.verdict, r.words);
    cr_assert(sum_tree_equal(&r.tree, t), "%s: another tree", what);
    cr_assert_eq(r.calls, sum.calls, "%s: %llu calls said, %llu made", what,
                 (unsigned long long)r.calls, (unsigned long long)sum.calls);
    uint64_t calls = r.calls;
    reveal_free(&r);
    free(room);
    return calls;
}

static bool can(enum format storage, enum format accumulator)
{
    return storage != FP16 || accumulator != FP64;
}

Test(reveal, reveals_every_tree_in_every_format)
{
    uint64_t seed = 1;
    for (size_t leaves = 1; leaves <= 70; leaves += leaves < 20 ? 1 : 7)
        for (enum tree_shape shape = 0; shape < TREE_SHAPES; shape++)
            for (int pair = 0; pair < ACCUMULATORS * ACCUMULATORS; pair++) {
                enum format s = pair / ACCUMULATORS, f = pair % ACCUMULATORS;
                char what[128];
                struct sum_tree t;
                if (!can(s, f))
                    continue;
                snprintf(what, sizeof what, "%s tree of %zu, %s/%s, seed %d",
                         tree_shape_name[shape], leaves, format_facts[s].name, format_facts[f].name,
                         (int)++seed);
                tree_make(&t, shape, leaves, seed);
                hold(&t, s, f, seed, what);
                sum_tree_free(&t);
            }
}

/* The calls that a sequential order and a balanced one may take, in fp32. */
Test(reveal, asks_little_of_long_sums)
{
    static const size_t lengths[] = {1000, 2048, 4097};
    for (enum tree_shape shape = 0; shape < TREE_SHAPES; shape++)
        for (size_t i = 0; i < 3; i++) {
            size_t leaves = lengths[i];
            char what[128];
            struct sum_tree t;
            snprintf(what, sizeof what, "%s tree of %zu", tree_shape_name[shape], leaves);
            tree_make(&t, shape, leaves, leaves);
            uint64_t calls = hold(&t, FP32, FP32, leaves, what);
            cr_expect(calls < 2 * leaves, "%s: %llu calls", what, (unsigned long long)calls);
            sum_tree_free(&t);
        }
}

/* One node for all is not taken for granted where a few of its children are nodes themselves. */
Test(reveal, finds_pairs_under_one_node)
{
    enum { LEAVES = 150 };
    static const uint32_t apart[] = {1, 1, 64};
    for (size_t i = 0; i < 3; i++) {
        uint32_t parent[LEAVES + 64];
        struct sum_tree t;
        size_t pairs = i == 0 ? 1 : 60, nodes = LEAVES + 1;
        for (size_t k = 0; k < LEAVES; k++)
            parent[k] = LEAVES;
        parent[LEAVES] = SUM_TREE_NO_PARENT;
        for (size_t k = 0; k < pairs; k++, nodes++) {
            uint32_t leaf = (uint32_t)(i == 1 ? 2 * k : i == 2 ? k : 77);
            parent[leaf] = parent[leaf + apart[i]] = (uint32_t)nodes;
            parent[nodes] = LEAVES;
        }
        cr_assert_eq(sum_tree_make(&t, LEAVES, nodes, parent, NULL), STATUS_OK);
        hold(&t, FP32, FP32, i, i == 0 ? "a pair" : i == 1 ? "neighbours" : "pairs 64 apart");
        sum_tree_free(&t);
    }
    struct sum_tree star;
    uint32_t parent[LEAVES + 1];
    for (size_t k = 0; k < LEAVES; k++)
        parent[k] = LEAVES;
    parent[LEAVES] = SUM_TREE_NO_PARENT;
    cr_assert_eq(sum_tree_make(&star, LEAVES, LEAVES + 1, parent, NULL), STATUS_OK);
    uint64_t calls = hold(&star, FP32, FP32, 0, "a star");
    cr_expect(calls < 2000, "a star: %llu calls", (unsigned long long)calls);
    sum_tree_free(&star);
}

/* --- what is asked with --- */

/* Masks swallow all units together, from above and below, and sums of units are exact in the
 * accumulator and in the output. L is finite there, L + L is not. */
static void hold_window(const struct reveal_window *w, enum format s, enum format f, enum format to)
{
    double units = ldexp(w->unit, (int)w->bits) - w->unit, mask = w->mask;
    const char *what = format_facts[s].name, *in = format_facts[f].name;
    cr_expect(format_round(s, mask) == mask && format_round(f, mask) == mask, "%s/%s", what, in);
    if (w->means == REVEAL_BY_OVERFLOW) {
        cr_expect(isfinite(format_round(to, mask)) && isinf(format_add(f, mask, mask)), "%s/%s",
                  what, in);
        return;
    }
    cr_expect(w->bits >= 1 && format_add(f, mask, units) == mask, "%s/%s: + units", what, in);
    cr_expect(format_add(f, -mask, units) == -mask, "%s/%s: - units", what, in);
    cr_expect(format_round(f, units) == units && format_round(to, units) == units, "%s/%s to %s",
              what, in, format_facts[to].name);
    for (unsigned k = 0; k < w->bits; k++)
        cr_expect(format_round(s, ldexp(w->unit, (int)k)) == ldexp(w->unit, (int)k), "%s", what);
}

/* Of the sum of any units, the quotient rounded to the output tells which they were: no two sums of
 * as many units have the same. */
Test(reveal, quotients_tell_units)
{
    size_t told = 0;
    for (int k = 0; k < ACCUMULATORS * ACCUMULATORS; k++) {
        enum format s = k % ACCUMULATORS, f = k / ACCUMULATORS % ACCUMULATORS;
        for (size_t n = 2; n < 100000; n = 3 * n - n / 2) {
            struct reveal_window window[3];
            size_t windows = reveal_windows(window, s, f, f, n);
            for (size_t i = 0; i < windows; i++) {
                hold_window(&window[i], s, f, f);
                if (window[i].means == REVEAL_BY_OVERFLOW)
                    continue;
                double most = ldexp(1, (int)window[i].bits) - 1;
                for (double units = most; units > 0 && units > most - 300; units--) {
                    double one = format_round(f, units * window[i].unit / (double)n);
                    double other = format_round(f, (units - 1) * window[i].unit / (double)n);
                    cr_assert(one > other && (other == 0) == (units == 1), "%s/%s, %zu: %g units",
                              format_facts[s].name, format_facts[f].name, n, units);
                }
                told++;
            }
        }
    }
    cr_expect(told > 100, "%zu", told);
}

/* What M adds swallows what a unit does, not two, and the output shows it: of magnitudes, of
 * squares, and of squares, of which it is the root. */
Test(reveal, large_terms_swallow_one_unit)
{
    enum { EACH = ACCUMULATORS * ACCUMULATORS };
    for (int k = 0; k < 3 * EACH; k++) {
        enum format s = k % ACCUMULATORS, f = k / ACCUMULATORS % ACCUMULATORS;
        bool squares = k >= EACH, root = k >= 2 * EACH;
        struct reveal_subject of = {
            .in.format = s, .accumulator = f, .output = f, .squares = squares, .root = root};
        struct reveal_window w;
        of.term = squares ? exact_facts[EXACT_NORM].term : fabs;
        bool found = reveal_tie_window(&w, &of);
        cr_expect(found == (squares || s != FP16 || f != FP64), "%s/%s", format_facts[s].name,
                  format_facts[f].name);
        if (!found)
            continue;
        double large = of.term(w.mask), unit = of.term(w.unit);
        cr_expect(format_round(s, w.mask) == w.mask && format_round(s, w.unit) == w.unit);
        cr_expect(format_round(f, large) == large && format_round(f, unit) == unit);
        cr_expect(format_add(f, large, unit) == large, "%s/%s", format_facts[s].name,
                  format_facts[f].name);
        double more = format_add(f, large, format_add(f, unit, unit));
        cr_expect(isfinite(more) &&
                      format_round(f, root ? sqrt(more) : more) > (root ? w.mask : large),
                  "%s/%s", format_facts[s].name, format_facts[f].name);
    }
}

Test(reveal, masks_swallow_units)
{
    for (int k = 0; k < ACCUMULATORS * ACCUMULATORS * ACCUMULATORS; k++) {
        enum format s = k % ACCUMULATORS, f = k / ACCUMULATORS % ACCUMULATORS,
                    to = k / ACCUMULATORS / ACCUMULATORS;
        struct reveal_window window[3];
        size_t windows = reveal_windows(window, s, f, to, 0), overflow = 0;
        for (size_t i = 0; i < windows; i++) {
            hold_window(&window[i], s, f, to);
            overflow += window[i].means == REVEAL_BY_OVERFLOW;
        }
        bool reaches = format_facts[s].emax >= format_facts[f].emax &&
                       format_facts[to].emax >= format_facts[f].emax;
        cr_expect_eq(overflow, reaches, "%d", k);
        cr_expect(windows > overflow || !can(s, f) || to == FP16, "%s/%s to %s: no masks",
                  format_facts[s].name, format_facts[f].name, format_facts[to].name);
    }
}

/* An accumulator narrower than it is said to be. */
Test(reveal, finds_out_how_many_digits_there_are)
{
    enum { LEAVES = 60 };
    double data[LEAVES], node[2 * LEAVES];
    struct sum_tree t;
    tree_make(&t, TREE_RANDOM, LEAVES, 5);
    struct tree_sum sum = {
        .tree = &t, .accumulator = BF16, .in = {FP32, LEAVES, data}, .node = node};
    struct reveal_subject s = {.in = sum.in,
                               .leaves = LEAVES,
                               .accumulator = FP32,
                               .output = FP32,
                               .evaluate = tree_sum_evaluate,
                               .context = &sum};
    struct reveal r;
    cr_assert_eq(reveal_order(&r, &s, 1, NULL), STATUS_OK);
    cr_expect(r.verdict == REVEAL_TREE && sum_tree_equal(&r.tree, &t), "verdict %d, %s",
              (int)r.verdict, r.words);
    cr_expect_eq(r.window.bits, 8, "%u bits", r.window.bits);
    reveal_free(&r);
    sum_tree_free(&t);
}

/* As the tree's sum, of what elements are taken for in its place. */
static enum status evaluate_as(struct tree_sum *s, double *result, struct problem *p,
                               double (*taken)(const struct tree_sum *, double))
{
    double element[64];
    struct array in = s->in;
    array_decode(&in, 0, in.n, element);
    for (size_t i = 0; i < in.n; i++)
        element[i] = taken(s, element[i]);
    s->in = (struct array){FP64, in.n, element};
    enum status status = tree_sum_evaluate(s, result, p);
    s->in = in;
    return status;
}

/* A random tree in every pair of formats, or in those that masks can ask in. `subject` has how it
 * is evaluated, and the rest is filled in. */
static void hold_pairs(struct reveal_subject subject, bool every)
{
    enum { LEAVES = 50 };
    double data[LEAVES], node[2 * LEAVES];
    for (int pair = 0; pair < ACCUMULATORS * ACCUMULATORS; pair++) {
        enum format s = pair / ACCUMULATORS, f = pair % ACCUMULATORS;
        struct sum_tree t;
        struct reveal r;
        if (!every && !can(s, f))
            continue;
        tree_make(&t, TREE_RANDOM, LEAVES, (uint64_t)pair);
        struct tree_sum sum = {.tree = &t, .accumulator = f, .in = {s, LEAVES, data}, .node = node};
        subject.in = sum.in;
        subject.leaves = LEAVES;
        subject.accumulator = subject.output = f;
        subject.context = &sum;
        cr_assert_eq(reveal_order(&r, &subject, 1, NULL), STATUS_OK);
        cr_expect(r.verdict == REVEAL_TREE && sum_tree_equal(&r.tree, &t), "%s/%s: verdict %d, %s",
                  format_facts[s].name, format_facts[f].name, (int)r.verdict, r.words);
        reveal_free(&r);
        sum_tree_free(&t);
    }
}

static double squared(const struct tree_sum *s, double x)
{
    return format_round(s->accumulator, x * x);
}

static enum status evaluate_squares(void *context, double *result, struct problem *p)
{
    return evaluate_as(context, result, p, squared);
}

/* Of which no root is taken. */
Test(reveal, sums_of_squares_show_their_order)
{
    hold_pairs((struct reveal_subject){.term = exact_facts[EXACT_NORM].term,
                                       .squares = true,
                                       .evaluate = evaluate_squares},
               true);
}

static double flushed(const struct tree_sum *s, double x)
{
    return fabs(x) < format_facts[s->in.format].smallest_normal ? 0 : x;
}

static enum status evaluate_flushed(void *context, double *result, struct problem *p)
{
    return evaluate_as(context, result, p, flushed);
}

/* Subnormal elements are taken for zeros: they are not asked with, or not to the end. */
Test(reveal, takes_no_subnormal_units_where_they_are_flushed)
{
    hold_pairs((struct reveal_subject){.evaluate = evaluate_flushed}, false);
}
