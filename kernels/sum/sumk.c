/* sum/sumk, sum/sumk4, sum/sumk5: the errors of additions are added up with their own errors, down
 * to three, four and five levels.
 *
 * Order: the tree of sum/tiled over pieces of K words, K = 3 in sum/sumk, 4 in sum/sumk4, 5 in
 * sum/sumk5 (2 is sum/sum2). A piece is its words' sum; an element x is the piece (x, 0, .. 0). To
 * join two, each word is added to its partner and then, one after the other, what the additions of
 * the word above lost, by Knuth's TwoSum; what these additions lose goes on to the word below, in
 * the order in which it was lost. To the last word the errors come added up, left to right:
 *     aK + (bK + (e1 + e2 + ..)),
 * and what that loses is lost. To add an element, x goes to the first word, its error to the second
 * and so on. The result: K - 1 times the words are summed from the last up to the first by TwoSum,
 * each error staying in the place below, then they are added up, last to first. It is the first
 * word itself where the others are all zero, which keeps its sign, or one is not finite, as where
 * it overflows or an inf is among the elements; and an infinity, where one of those sums is.
 *
 * Source: Ogita, Rump and Oishi, Accurate sum and dot product, 2005 (SumK), there in K passes over
 * all elements; here in one, since the errors of a level are added up as they arise. */
#include <math.h>

#include "kernels/blocks/pieces.h"
#include "kernels/method/two_sum.h"

/* error[]: what the additions of the word above lost, in the order in which they lost it. */
static struct piece join(const struct piece_rule *rule, enum format f, struct piece a,
                         struct piece b)
{
    double error[PIECE_WORDS] = {0};
    unsigned last = rule->words - 1;
    for (unsigned k = 0; k < last; k++) {
        struct two_sum s = two_sum(f, a.word[k], b.word[k]);
        for (unsigned i = 0; i < k; i++) {
            double from_above = error[i];
            error[i] = s.error;
            s = two_sum(f, s.sum, from_above);
        }
        error[k] = s.error;
        a.word[k] = s.sum;
    }
    double errors = error[0];
    for (unsigned i = 1; i < last; i++)
        errors = format_add(f, errors, error[i]);
    a.word[last] = format_add(f, a.word[last], format_add(f, b.word[last], errors));
    return a;
}

/* An element brings one error to each level. */
static struct piece add(const struct piece_rule *rule, enum format f, struct piece a, double x)
{
    unsigned last = rule->words - 1;
    for (unsigned k = 0; k < last; k++) {
        struct two_sum s = two_sum(f, a.word[k], x);
        a.word[k] = s.sum;
        x = s.error;
    }
    a.word[last] = format_add(f, a.word[last], x);
    return a;
}

static double value(const struct piece_rule *rule, enum format f, struct piece sum)
{
    double *w = sum.word;
    unsigned last = rule->words - 1, zeros = 0;
    for (unsigned k = 1; k <= last; k++) {
        if (!isfinite(w[k]))
            return w[0];
        zeros += w[k] == 0;
    }
    if (zeros == last)
        return w[0];
    for (unsigned sweep = 0; sweep < last; sweep++)
        for (unsigned k = last; k > 0; k--) {
            struct two_sum s = two_sum(f, w[k - 1], w[k]);
            if (!isfinite(s.sum))
                return s.sum;
            w[k - 1] = s.sum;
            w[k] = s.error;
        }
    double v = w[last];
    for (unsigned k = last; k > 0; k--)
        v = format_add(f, w[k - 1], v);
    return v;
}

/* The method of K words: its rule, its CPU side and its descriptor. */
#define METHOD(form, K, told)                                                                      \
    const struct piece_rule form##_rule = {                                                        \
        .kind = PIECE_SUMK,                                                                        \
        .words = K,                                                                                \
        .add = add,                                                                                \
        .join = join,                                                                              \
        .value = value,                                                                            \
    };                                                                                             \
    static enum status form##_cpu(const struct task *t, struct problem *p)                         \
    {                                                                                              \
        return pieces_sum(&form##_rule, t, p);                                                     \
    }                                                                                              \
    const struct method sum_##form = {                                                             \
        .name = "sum/" #form,                                                                      \
        .summary = told,                                                                           \
        .operation = &operation_sum,                                                               \
        .promise = PROMISE_GPU_TO_GPU,                                                             \
        .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},                                             \
        .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},                               \
        .resolve = tiled_shape,                                                                    \
        .addition = ADDITION_FOLDS,                                                                \
        .bound = THEOREM_K_FOLD,                                                                   \
        .folds = K,                                                                                \
        .height = tiled_height,                                                                    \
        .order = tiled_order,                                                                      \
        .cpu = form##_cpu,                                                                         \
    };

METHOD(sumk, 3, "errors of additions added up with their own errors: three times the digits")
METHOD(sumk4, 4, "sum/sumk with K = 4: four times the digits")
METHOD(sumk5, 5, "sum/sumk with K = 5: five times the digits")
