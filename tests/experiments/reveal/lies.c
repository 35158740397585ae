/* Answers that are those of no tree, or not always of the same: none is taken for an order. */
#include <criterion/criterion.h>

#include <math.h>

#include "experiments/reveal/ask.h"
#include "tests/support/samples.h"
#include "tests/support/trees.h"

/* Other answers than a tree's, each by a rule of its own. */
struct liar {
    struct array in;
    uint64_t state;
    enum lie {
        LIE_RANDOM,
        LIE_NAN,
        LIE_INF,
        LIE_NEGATIVE,
        LIE_ZERO,
        LIE_MEAN,
        LIE_DROPS,     /* the fourth element is left out */
        LIE_TWICE,     /* and counted twice */
        LIE_BEYOND,    /* an element more than said is summed */
        LIE_COUNTS,    /* units that are right alone, any of them with masks */
        LIE_SHUFFLES,  /* another order in each call */
        LIE_SOMETIMES, /* another order in a few calls */
        LIE_HASHED,    /* the same each time, but of no tree */
        LIE_DIFFERS,   /* an order that depends on where the masks are */
        LIES
    } lie;
    const struct sum_tree *tree[2];
    double node[64];
};
static const char *const lie_name[LIES] = {"random",   "nan",       "inf",    "negative", "zero",
                                           "mean",     "drops",     "twice",  "beyond",   "counts",
                                           "shuffles", "sometimes", "hashed", "differs"};

static double plain(struct liar *l, const struct sum_tree *t)
{
    struct tree_sum s = {.tree = t, .accumulator = FP32, .in = l->in, .node = l->node};
    double result;
    tree_sum_evaluate(&s, &result, NULL);
    return result;
}

static double lie(struct liar *l)
{
    uint64_t word = sample_next(&l->state);
    double sum = plain(l, l->tree[0]), unit = INFINITY;
    bool masks = false;
    uint32_t odd = 0;
    uint64_t hash = 0;
    for (size_t i = 0; i < l->in.n; i++) {
        hash = hash * 3 + i * (array_get(&l->in, i) != 0);
        double x = fabs(array_get(&l->in, i));
        masks |= x > 0x1p100;
        odd += x > 0x1p100 ? (uint32_t)i : 0;
        unit = x > 0 && x < unit ? x : unit;
    }
    switch (l->lie) {
    case LIE_RANDOM:
        return format_round(FP32, double_from_bits(word));
    case LIE_NAN:
        return NAN;
    case LIE_INF:
        return INFINITY;
    case LIE_NEGATIVE:
        return -sum;
    case LIE_ZERO:
        return 0;
    case LIE_MEAN:
        return sum / (double)l->in.n;
    case LIE_DROPS:
        return sum - array_get(&l->in, 3);
    case LIE_TWICE:
        return sum + array_get(&l->in, 3);
    case LIE_BEYOND:
        return sum + array_get(&l->in, l->in.n - 1);
    case LIE_HASHED:
        return masks ? unit * (double)(sample_next(&hash) % 2) : sum;
    case LIE_COUNTS:
        return masks ? unit * (double)(word % 8) : sum;
    case LIE_SHUFFLES:
        return plain(l, l->tree[word % 2]);
    case LIE_SOMETIMES:
        return plain(l, l->tree[word % 10 == 0]);
    case LIE_DIFFERS:
    case LIES:
        break;
    }
    return plain(l, l->tree[odd % 2]);
}

static enum status evaluate_lie(void *context, double *result, struct problem *p)
{
    (void)p;
    *result = lie(context);
    return STATUS_OK;
}

/* None is taken for an order, none takes many calls. */
Test(reveal_lies, is_told_no_lies)
{
    enum { LEAVES = 20, N = LEAVES + 1 };
    static const enum reveal_verdict due[LIES] = {
        [LIE_RANDOM] = REVEAL_NO_SUM,        [LIE_NAN] = REVEAL_NO_SUM,
        [LIE_INF] = REVEAL_NO_SUM,           [LIE_NEGATIVE] = REVEAL_NO_SUM,
        [LIE_ZERO] = REVEAL_NO_SUM,          [LIE_MEAN] = REVEAL_NO_SUM,
        [LIE_DROPS] = REVEAL_NO_SUM,         [LIE_TWICE] = REVEAL_NO_SUM,
        [LIE_BEYOND] = REVEAL_NO_SUM,        [LIE_COUNTS] = REVEAL_CHANGES,
        [LIE_SHUFFLES] = REVEAL_CHANGES,     [LIE_SOMETIMES] = REVEAL_CHANGES,
        [LIE_HASHED] = REVEAL_CONTRADICTION, [LIE_DIFFERS] = REVEAL_CONTRADICTION};
    static struct liar l;
    double data[N];
    struct sum_tree tree[2];
    tree_make(&tree[0], TREE_SEQUENTIAL, LEAVES, 1);
    tree_make(&tree[1], TREE_ADJACENT, LEAVES, 1);
    for (uint64_t seed = 0; seed < 200; seed++)
        for (enum lie k = 0; k < LIES; k++) {
            struct reveal r;
            l = (struct liar){{FP32, N, data}, seed, k, {&tree[0], &tree[1]}, {0}};
            struct reveal_subject s = {.in = l.in,
                                       .leaves = LEAVES,
                                       .accumulator = FP32,
                                       .output = FP32,
                                       .evaluate = evaluate_lie,
                                       .context = &l};
            cr_assert_eq(reveal_order(&r, &s, seed, NULL), STATUS_OK);
            cr_expect(r.verdict == due[k], "seed %d, %s: verdict %d, %s", (int)seed, lie_name[k],
                      (int)r.verdict, r.verdict == REVEAL_TREE ? "a tree" : r.words);
            cr_expect(r.calls < 5000, "seed %d, %s: %llu calls", (int)seed, lie_name[k],
                      (unsigned long long)r.calls);
            cr_expect(*r.words, "seed %d, %s: no words", (int)seed, lie_name[k]);
            reveal_free(&r);
        }
    sum_tree_free(&tree[0]);
    sum_tree_free(&tree[1]);
}

/* Adds along one tree first, then along another, as what chooses its kernel late does. */
struct fickle {
    struct tree_sum by[2];
    uint64_t calls, after, differing[2]; /* answers that are not those of each tree */
};

static enum status evaluate_fickle(void *context, double *result, struct problem *p)
{
    struct fickle *s = context;
    double sum[2];
    for (int i = 0; i < 2; i++)
        tree_sum_evaluate(&s->by[i], &sum[i], p);
    *result = sum[s->calls++ >= s->after];
    for (int i = 0; i < 2; i++)
        s->differing[i] += *result != sum[i];
    return STATUS_OK;
}

/* An order that is found for all later answers does not hide that others contradicted each other.
 */
Test(reveal_lies, tells_of_answers_that_are_not_those_of_the_tree)
{
    enum { LEAVES = 100 };
    double data[LEAVES], node[2][2 * LEAVES];
    struct sum_tree tree[2];
    tree_make(&tree[0], TREE_SEQUENTIAL, LEAVES, 1);
    tree_make(&tree[1], TREE_ADJACENT, LEAVES, 1);
    size_t told = 0;
    for (uint64_t after = 0; after < 1000; after += 20) {
        struct reveal r;
        struct fickle s = {.after = after};
        for (int i = 0; i < 2; i++)
            s.by[i] = (struct tree_sum){
                .tree = &tree[i], .accumulator = FP32, .in = {FP32, LEAVES, data}, .node = node[i]};
        struct reveal_subject subject = {.in = s.by[0].in,
                                         .leaves = LEAVES,
                                         .accumulator = FP32,
                                         .output = FP32,
                                         .evaluate = evaluate_fickle,
                                         .context = &s};
        cr_assert_eq(reveal_order(&r, &subject, 1, NULL), STATUS_OK);
        for (int i = 0; i < 2; i++)
            if (r.verdict == REVEAL_TREE && sum_tree_equal(&r.tree, &tree[i])) {
                cr_expect(!*r.words || s.differing[i] > 0, "after %d: %d differ, '%s'", (int)after,
                          (int)s.differing[i], r.words);
                told += *r.words != 0;
            }
        reveal_free(&r);
    }
    cr_expect(told > 0);
    for (int i = 0; i < 2; i++)
        sum_tree_free(&tree[i]);
}

/* Adds along a tree but that every second, or third, call turns its first three elements: (0 + 1) +
 * 2 becomes (1 + 2) + 0. */
struct turning {
    struct tree_sum by;
    uint64_t calls, every;
};

static enum status evaluate_turning(void *context, double *result, struct problem *p)
{
    struct turning *s = context;
    const struct array *in = &s->by.in;
    const uint64_t bits[] = {array_bits(in, 0), array_bits(in, 1), array_bits(in, 2)};
    size_t turn = ++s->calls % s->every == 0;
    for (size_t i = 0; i < 3; i++)
        array_set_bits(in, i, bits[(i + turn) % 3]);
    enum status status = tree_sum_evaluate(&s->by, result, p);
    for (size_t i = 0; i < 3; i++)
        array_set_bits(in, i, bits[i]);
    return status;
}

/* A small part of an order that changes is found out as well, in as many sizes as are tried. */
Test(reveal_lies, a_part_that_changes_now_and_then_is_no_fixed_order)
{
    enum { MOST = 220 };
    double data[MOST], node[2 * MOST];
    for (size_t k = 2 * 4; k < 2 * MOST; k += k < 40 || k % 2 == 0 ? 1 : 39) {
        size_t leaves = k / 2;
        struct sum_tree tree;
        struct reveal r;
        tree_make(&tree, TREE_SEQUENTIAL, leaves, 1);
        struct turning s = {
            .by = {.tree = &tree, .accumulator = FP32, .in = {FP32, leaves, data}, .node = node},
            .every = 2 + k % 2};
        struct reveal_subject subject = {.in = s.by.in,
                                         .leaves = leaves,
                                         .accumulator = FP32,
                                         .output = FP32,
                                         .evaluate = evaluate_turning,
                                         .context = &s};
        cr_assert_eq(reveal_order(&r, &subject, 1, NULL), STATUS_OK);
        cr_expect(r.verdict == REVEAL_CHANGES || r.verdict == REVEAL_CONTRADICTION,
                  "%zu leaves, every %d: verdict %d, '%s'", leaves, (int)s.every, (int)r.verdict,
                  r.words);
        reveal_free(&r);
        sum_tree_free(&tree);
    }
}
