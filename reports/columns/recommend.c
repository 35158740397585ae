#include "reports/columns/columns.h"

static const struct column columns[RECOMMEND_COLUMNS] = {
    [RECOMMEND_METHOD] = {"method", "",
                          "the candidate's method; two-level/FORMAT:K: serial partial "
                          "sums of K elements in FORMAT, each promoted"},
    [RECOMMEND_PROMISE] = {"promise", "",
                           "what it declares of its bits; promise_kept says what was tried"},
    [RECOMMEND_DEVICE] = {"device", "", "what it ran on"},
    [RECOMMEND_STORAGE] = {"storage", "", "format that the input is kept in"},
    [RECOMMEND_ACCUMULATOR] = {"accumulator", "",
                               "the accumulator asked for; what additions are done in is added_in"},
    [RECOMMEND_INPUT] = {"input", "", "the generated input's specification, or the data's name"},
    [RECOMMEND_N] = {"n", "elements", "length of the input"},
    [RECOMMEND_VERDICT] =
        {"verdict", "",
         "holds: its error was within the limit on every array "
         "tried; breaks: it was not; failed: it did not answer, the note says why, and "
         "its errors are empty"},
    [RECOMMEND_IS] =
        {"is", "",
         "recommended: the cheapest that holds, and that keeps the promise asked for; "
         "next_cheaper: the one before it in "
         "the order of cost, which is measured, or stated where nothing is timed, and "
         "of equals the order given; next_narrower: where there is none, the best with a "
         "narrower accumulator; next_dearer: where there is none of these, the best that breaks; "
         "nearest: where nothing holds, the best; else empty"},
    [RECOMMEND_PARETO] = {"pareto", "", "yes on the frontier of error against throughput"},
    [RECOMMEND_QUANTITY] = {"quantity", "",
                            "what errors are measured in: rel |error| / |exact sum|, backward "
                            "|error| / sum|x|, ulp |error| / ulp(exact sum) in the storage format"},
    [RECOMMEND_LIMIT] = {"limit", "", "the error allowed, in the quantity"},
    [RECOMMEND_ERROR] = {"error", "",
                         "the largest on the arrays that all candidates were tried on"},
    [RECOMMEND_WORST] = {"worst_input", "", "the array of the largest error"},
    [RECOMMEND_DATA_ERROR] = {"data_error", "", "the error on the data as it is"},
    [RECOMMEND_MOST] = {"largest_error", "", "the largest on any array tried"},
    [RECOMMEND_BOUND] = {"bound", "", "of the error on the data, by the method's theorem"},
    [RECOMMEND_ARRAYS] = {"arrays", "", "number of arrays tried in total"},
    [RECOMMEND_DRAWN] = {"drawn", "", "number of them drawn at random: resamples and shuffles"},
    [RECOMMEND_UNSEEN] = {"unseen", "",
                          "of the recommended: with the confidence asked for, the share of such "
                          "drawn arrays that break it is at most this, 1 - (1-c)^(1/drawn)"},
    [RECOMMEND_BROKEN_BY] = {"broken_by", "",
                             "the first array that broke it, of the user's own where one did"},
    [RECOMMEND_BROKEN_ERROR] = {"broken_error", "", "its error there"},
    [RECOMMEND_BROKEN_CASE] = {"broken_case_id", "", "the rows of results.csv that show it"},
    [RECOMMEND_RATE] = {"gb_per_s", "10^9 bytes/s",
                        "input over the median time, as in times.csv; empty where it is not timed"},
    [RECOMMEND_OF_RAW] = {"of_raw", "", "rate over that of the raw read, in one run"},
    [RECOMMEND_HOLDS_TO] = {"holds_to", "elements",
                            "of the recommended: at every length tried up to here it held, on the "
                            "data followed by elements drawn from it; lengths between those tried "
                            "may break"},
    [RECOMMEND_BREAKS_AT] = {"breaks_at", "elements",
                             "the shortest length tried at which it broke; empty: none did"},
    [RECOMMEND_THEOREM_TO] = {"theorem_to", "elements",
                              "the length up to which its theorem guarantees the limit for such "
                              "elements; 0: none; 281474976710656: as far as was tried"},
    [RECOMMEND_LIKELY_TO] = {"likely_to", "elements",
                             "the same if rounding errors were independent, with the confidence "
                             "asked for; empty for compensated methods"},
    [RECOMMEND_STAGNATES] = {"stagnates_at", "elements",
                             "the length at which a running sum of elements like the mean "
                             "stagnates: 2^p mean|x| / |mean|"},
    [RECOMMEND_OVERFLOWS] =
        {"overflows_at", "elements",
         "the length at which a sum with this mean leaves the accumulator's range"},
    [RECOMMEND_NOTE] = {"note", "", "why there is no time, or what failed"},
    [RECOMMEND_DRAWN_HELD] = {"drawn_held", "",
                              "on how many of the drawn arrays its error was within the limit"},
    [RECOMMEND_LENGTHS] = {"lengths", "",
                           "of the recommended: how many longer lengths were tried: the next 64, "
                           "powers of two and multiples of 256 and of 2048 with both neighbours, "
                           "halvings below a break, others spread evenly on a logarithmic scale"},
    [RECOMMEND_BROKEN_ON] = {"broken_on", "",
                             "what broken_by is: data, the data as it is; order, its elements in "
                             "another order; resample, elements drawn from it; adversarial, its "
                             "magnitudes made to be hard"},
    [RECOMMEND_ASKED] = {"promise_asked", "", "the promise asked for; empty: none"},
    [RECOMMEND_KEPT] = {"promise_kept", "",
                        "the verdict on that promise, tried as by `check`: kept, broken, failed, "
                        "or not tried; only a candidate that keeps it is recommended"},
    [RECOMMEND_ATTEMPTS] = {"promise_attempts", "",
                            "number of comparisons of results that must be equal"},
    [RECOMMEND_DIFFERING] = {"promise_differing", "", "number of them that differed"},
    [RECOMMEND_SHAPES] = {"promise_shapes", "", "launch shapes that attempts were made over"},
    [RECOMMEND_TRIED_LENGTHS] = {"promise_lengths", "", "lengths, likewise"},
    [RECOMMEND_INPUTS] = {"promise_inputs", "",
                          "inputs, likewise: the data, and those that suit what is tried"},
    [RECOMMEND_REASON] = {"promise_reason", "",
                          "why it was not tried or not kept, or what remains untested"},
    [RECOMMEND_TIMED_N] = {"timed_n", "elements",
                           "what it was timed on: the data, or where that lies in a cache the data "
                           "repeated; on fewer where a long array would have taken too long, and "
                           "then it ranks behind those on more"},
    [RECOMMEND_ADDED_IN] = {"added_in", "", "what additions are done in, as in results.csv"},
    [RECOMMEND_RESULT_FORMAT] = {"result_format", "", "format that the result is rounded to"},
    [RECOMMEND_SHAPE] = {"shape", "", "of matrix products: MxNxK, as --shape asks for it"},
    [RECOMMEND_CHIP] = {"chip", "", "whose matrix instruction is modelled"},
    [RECOMMEND_PROMOTE] = {"promote", "products",
                           "after which a chain's sum is added in the accumulator"},
    [RECOMMEND_BLOCKS] =
        {"blocks", "", "of matrix products whose order follows the grid, as split-K: slices of k"},
    [RECOMMEND_BROKEN_AT] =
        {"broken_at", "",
         "of matrix products the element, row,column, of statistics of rows the "
         "row, or row,element, where its error on "
         "broken_by is largest"},
    [RECOMMEND_BROKEN_RESULT] = {"broken_result", "", "what it gave there"},
    [RECOMMEND_BROKEN_EXACT] = {"broken_exact", "", "what is exact, rounded to a double"},
};

const struct column *recommend_column(size_t i)
{
    return &columns[i];
}
