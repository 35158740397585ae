#include "reports/columns/columns.h"

static const struct column columns[CHECK_COLUMNS] = {
    [CHECK_METHOD] = {"method", "", "the subject's name"},
    [CHECK_ON] = {"device", "", "what it ran on"},
    [CHECK_PROMISE] = {"promise", "", "what it promises of its bits"},
    [CHECK_HELD_TO] = {"held_to", "", "the rung it was held to: its promise, or what was asked"},
    [CHECK_KEEPS] = {"kept", "",
                     "the highest rung that was kept, with none below it broken; empty where only "
                     "part was tried; its row's reason names rungs below it that were not"},
    [CHECK_RUNG] = {"rung", "", "of the ladder, that the rest of the row is about"},
    [CHECK_VERDICT] =
        {"verdict", "",
         "kept, broken (the rung, or one below it: see reason), failed (the subject: see note), or "
         "not tried (or in fewer than 10 attempts, or on one device alone: see reason)"},
    [CHECK_ATTEMPTS] = {"attempts", "",
                        "results that were compared with another that had to be the same"},
    [CHECK_DIFFERING] = {"differing", "", "how many of them were not"},
    [CHECK_DISTINCT] = {"distinct", "",
                        "different results, in the case with most of them; empty where they are "
                        "held to exact sums"},
    [CHECK_DISTINCT_COUNTS] = {"distinct_counts", "",
                               "how often each of these came, the most frequent first"},
    [CHECK_UNSEEN_P95] =
        {"unseen_p95", "",
         "1 - 0.05^(1/attempts): with 95% confidence a variant that did not show "
         "has at most this probability, where attempts are drawn alike: repeated runs are, "
         "launch shapes and permutations are not; empty where the rung is broken"},
    [CHECK_TRIED] = {"tried", "", "attempts of each kind"},
    [CHECK_BROKEN_BY] = {"broken_by", "",
                         "the first kind of attempt that broke it; what follows is its witness"},
    [CHECK_STORAGE] = {"storage", "", "format that the input is kept in"},
    [CHECK_ACCUMULATOR] = {"accumulator", "", "the accumulator asked for"},
    [CHECK_INPUT] = {"input", "", "the generated input's specification"},
    [CHECK_N] = {"n", "elements", "length of the input"},
    [CHECK_SEED] = {"seed", "", "of the input"},
    [CHECK_SCAN] = {"scan", "", "of scans: inclusive or exclusive"},
    [CHECK_KEYS] = {"keys", "", "of scatter-adds, matrices and compactions: as in results.csv"},
    [CHECK_BINS] = {"bins", "bins", "of scatter-adds and matrices: how many bins, or rows"},
    [CHECK_INDEX] = {"index", "",
                     "of scans, scatter-adds and matrices: the first output that differs"},
    [CHECK_BITS] = {"bits", "", "the result compared with"},
    [CHECK_IS] = {"is", "", "what it is the result of"},
    [CHECK_OTHER_BITS] = {"other_bits", "", "the first result that differs"},
    [CHECK_OTHER_IS] = {"other_is", "", "what that is the result of"},
    [CHECK_COMMAND] = {"command", "", "shows it again, with exit status 1"},
    [CHECK_NOTE] = {"note", "", "what the subject failed with; formats it does not answer"},
    [CHECK_REASON_IS] =
        {"reason", "",
         "why the rung is not tried or failed, or which rung below it is broken; of "
         "one that is kept, what that leaves open"},
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
    [CHECK_OVER_BATCHES] = {"batches", "",
                            "of sums of rows and matrix products: different numbers of rows and "
                            "columns that the attempts were made in"},
    [CHECK_ROWS_KINDS] =
        {"batch_bits", "",
         "of batch_invariant with --batch: the ranges of numbers of rows that "
         "gave the same bits, those with the same letter the same; `-` where none "
         "was tried; and how many of how many were: 1..15 A 15/15; 16..64 B 49/49"},
    [CHECK_DIFFERED] = {"differed", "",
                        "of how many attempts of each kind the bits were not the same; kinds of "
                        "which none differed are left out"},
};

const struct column *check_column(size_t i)
{
    return &columns[i];
}
