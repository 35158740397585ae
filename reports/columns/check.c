#include "reports/columns/columns.h"

static const struct column columns[CHECK_COLUMNS] = {
    [CHECK_METHOD] = {"method", "", "the subject's name"},
    [CHECK_ON] = {"device", "", "the device it ran on"},
    [CHECK_PROMISE] = {"promise", "", "the reproducibility guarantee that it claims"},
    [CHECK_HELD_TO] = {"held_to", "",
                       "the rung that it must keep: its promise, or the one asked for"},
    [CHECK_KEEPS] =
        {"kept", "",
         "the highest rung that was kept, with none below it broken; empty if only part "
         "was tried; the reason in that rung's row names lower rungs that were not kept"},
    [CHECK_RUNG] = {"rung", "", "the rung of the ladder that the rest of the row is about"},
    [CHECK_VERDICT] =
        {"verdict", "",
         "kept, broken (the rung, or one below it: see reason), failed (the subject: see "
         "note), or not tried (or in fewer than 10 attempts, or on only one device: see "
         "reason)"},
    [CHECK_ATTEMPTS] = {"attempts", "",
                        "results that were compared with another that had to be the same"},
    [CHECK_DIFFERING] = {"differing", "", "the number of them that differed"},
    [CHECK_DISTINCT] =
        {"distinct", "",
         "largest number of different results of one case; empty if results are compared "
         "with exact sums"},
    [CHECK_DISTINCT_COUNTS] = {"distinct_counts", "",
                               "how often each of these results came, the most frequent first"},
    [CHECK_UNSEEN_P95] =
        {"unseen_p95", "",
         "1 - 0.05^(1/attempts): with 95% confidence a variant that did not show has at "
         "most this probability, if repeated runs are i.i.d.; of run_to_run alone, as launch "
         "shapes and permutations are chosen, not drawn; empty if it is not kept"},
    [CHECK_TRIED] = {"tried", "", "attempts of each kind"},
    [CHECK_BROKEN_BY] =
        {"broken_by", "",
         "the first kind of attempt that broke it; the next columns are its counterexample"},
    [CHECK_STORAGE] = {"storage", "", "format that the input is kept in"},
    [CHECK_ACCUMULATOR] = {"accumulator", "", "the accumulator asked for"},
    [CHECK_INPUT] = {"input", "", "the generated input's specification"},
    [CHECK_N] = {"n", "elements", "length of the input"},
    [CHECK_SEED] = {"seed", "", "seed of the input"},
    [CHECK_SCAN] = {"scan", "", "for scans: inclusive or exclusive"},
    [CHECK_KEYS] = {"keys", "", "for scatter-adds, matrices and compactions: as in results.csv"},
    [CHECK_BINS] = {"bins", "bins", "for scatter-adds and matrices: number of bins, or rows"},
    [CHECK_INDEX] = {"index", "",
                     "for scans, scatter-adds and matrices: the first output that differs"},
    [CHECK_BITS] = {"bits", "", "the result that others were compared with"},
    [CHECK_IS] = {"is", "", "the run that gave it"},
    [CHECK_OTHER_BITS] = {"other_bits", "", "the first result that differs"},
    [CHECK_OTHER_IS] = {"other_is", "", "the run that gave that"},
    [CHECK_COMMAND] = {"command", "", "the command that reproduces it, with exit status 1"},
    [CHECK_NOTE] = {"note", "", "how the subject failed; formats that it does not support"},
    [CHECK_REASON_IS] =
        {"reason", "",
         "why the rung is not tried or failed, or which lower rung is broken; for a kept "
         "rung, what remains open"},
    [CHECK_NOT_TRIED_KINDS] = {"untried", "",
                               "kinds of attempts that were not made, each with the reason"},
    [CHECK_OVER_SHAPES] = {"shapes", "", "different launch shapes that the attempts were made in"},
    [CHECK_OVER_LENGTHS] = {"lengths", "", "different lengths of their inputs"},
    [CHECK_OVER_INPUTS] = {"inputs", "",
                           "different inputs: a specification with its seed, or data of yours"},
    [CHECK_ADDED_IN] = {"added_in", "", "what additions are done in, as in results.csv"},
    [CHECK_RESULT_FORMAT] = {"result_format", "", "format that the result is rounded to"},
    [CHECK_PROMISED] = {"promised", "",
                        "1: the subject promises this rung, or promise beside the ladder, itself; "
                        "else 0"},
    [CHECK_OVER_BATCHES] =
        {"batches", "",
         "for sums of rows and matrix products: different numbers of rows and columns that "
         "the attempts were made in"},
    [CHECK_ROWS_KINDS] =
        {"batch_bits", "",
         "for batch_invariant with --batch: the ranges of numbers of rows that gave the "
         "same bits, with the same letter for the same bits; `-` if none was tried; and "
         "how many of them were tried: 1..15 A 15/15; 16..64 B 49/49"},
    [CHECK_DIFFERED] =
        {"differed", "",
         "number of attempts of each kind whose bits differed; kinds without any are left "
         "out"},
    [CHECK_EXCEEDING] = {"over_bound", "",
                         "for correctly_rounded, if exact was tried: cases in which a result "
                         "exceeds the error bound, or is not finite where nothing can overflow; "
                         "of a subject of yours only the latter"},
};

const struct column *check_column(size_t i)
{
    return &columns[i];
}
