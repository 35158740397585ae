/* sum/sumk: the errors of additions are added up with their own errors, down to three levels.
 *
 * Order: the tree of sum/tiled over pieces of K words, K = 3 here, 4 in sum/sumk4, 5 in sum/sumk5
 * (2 is sum/sum2). A piece is its words' sum; an element x is the piece (x, 0, .. 0). To join two,
 * each word is added to its partner and then, one after the other, what the additions of the word
 * above lost, by Knuth's TwoSum; what these additions lose goes on to the word below, in the order
 * in which it was lost. To the last word the errors come added up, left to right:
 *     aK + (bK + (e1 + e2 + ..)),
 * and what that loses is lost. To add an element, x goes to the first word, its error to the second
 * and so on. The result: K - 1 times the words are summed from the last up to the first by TwoSum,
 * each error staying in the place below, then they are added up, last to first. It is the first
 * word itself where the others are all zero, which keeps its sign, or one is not finite, as where
 * it overflows or an inf is among the elements; and an infinity, where one of those sums is.
 *
 * Source: Ogita, Rump and Oishi, Accurate sum and dot product, 2005 (SumK), there in K passes over
 * all elements; here in one, since the errors of a level are added up as they arise. */
#include "kernels/blocks/pieces.h"

static enum status cpu(const struct task *t, struct problem *p)
{
    return pieces_sum(&sumk_rule, t, p);
}

const struct method sum_sumk = {
    .name = "sum/sumk",
    .summary = "errors of additions added up with their own errors: three times the digits",
    .operation = &operation_sum,
    .promise = PROMISE_GPU_TO_GPU,
    .pairs = {FORMAT_PAIRS_ALL, FORMAT_PAIRS_ALL},
    .shape_read = {SHAPE_THREADS, SHAPE_THREADS | SHAPE_BLOCKS},
    .resolve = tiled_shape,
    .addition = ADDITION_FOLDS,
    .bound = THEOREM_K_FOLD,
    .folds = 3,
    .height = tiled_height,
    .order = tiled_order,
    .cpu = cpu,
};
