#include "reports/columns/columns.h"

static const struct column columns[RECOMMEND_COLUMNS] = {
    [RECOMMEND_METHOD] = {"method", "",
                          "the candidate's method; two-level/FORMAT:K: serial partial "
                          "sums of K elements in FORMAT, each promoted"},
    [RECOMMEND_PROMISE] =
        {"promise", "",
         "the guarantee that it claims; promise_kept has the verdict on what was tried"},
    [RECOMMEND_DEVICE] = {"device", "", "the device it ran on"},
    [RECOMMEND_STORAGE] = {"storage", "", "format that the input is kept in"},
    [RECOMMEND_ACCUMULATOR] =
        {"accumulator", "",
         "the accumulator asked for; added_in has the arithmetic of the additions"},
    [RECOMMEND_INPUT] = {"input", "", "the generated input's specification, or the data's name"},
    [RECOMMEND_N] = {"n", "elements", "length of the input"},
    [RECOMMEND_VERDICT] =
        {"verdict", "",
         "holds: its error was within the limit on every array tried; breaks: it was not; "
         "failed: it did not answer, the note says why, and its errors are empty"},
    [RECOMMEND_IS] =
        {"is", "",
         "recommended: the cheapest that holds and keeps the promise asked for; "
         "next_cheaper: the one before it in the order of cost, which is measured, or "
         "stated if nothing is timed (among equals the order given); next_narrower: if "
         "there is none, the best with a narrower accumulator; next_dearer: if there is "
         "none of these, the best that breaks; nearest: if nothing holds, the best; else "
         "empty"},
    [RECOMMEND_PARETO] = {"pareto", "", "yes on the frontier of error against throughput"},
    [RECOMMEND_QUANTITY] =
        {"quantity", "",
         "the measure of errors: rel |error| / |exact sum|, backward |error| / sum|x|, ulp "
         "|error| / ulp(exact sum) in the storage format"},
    [RECOMMEND_LIMIT] = {"limit", "", "the error allowed, in the quantity"},
    [RECOMMEND_ERROR] = {"error", "",
                         "the largest on the arrays that all candidates were tried on"},
    [RECOMMEND_WORST] = {"worst_input", "", "the array of the largest error"},
    [RECOMMEND_DATA_ERROR] = {"data_error", "", "the error on the data as it is"},
    [RECOMMEND_MOST] = {"largest_error", "", "the largest on any array tried"},
    [RECOMMEND_BOUND] = {"bound", "", "bound on the error on the data, by the method's theorem"},
    [RECOMMEND_ARRAYS] = {"arrays", "", "number of arrays tried in total"},
    [RECOMMEND_DRAWN] = {"drawn", "", "number of them drawn at random: resamples and shuffles"},
    [RECOMMEND_UNSEEN] =
        {"unseen", "",
         "for the recommended: with the confidence asked for, at most this share of such "
         "drawn arrays breaks it, 1 - (1-c)^(1/drawn)"},
    [RECOMMEND_BROKEN_BY] = {"broken_by", "",
                             "the first array that broke it, the user's own if one did"},
    [RECOMMEND_BROKEN_ERROR] = {"broken_error", "", "its error there"},
    [RECOMMEND_BROKEN_CASE] = {"broken_case_id", "", "the rows of results.csv that show it"},
    [RECOMMEND_RATE] = {"gb_per_s", "10^9 bytes/s",
                        "input over the median time, as in times.csv; empty if it is not timed"},
    [RECOMMEND_OF_RAW] = {"of_raw", "", "rate over that of the raw read, in one run"},
    [RECOMMEND_HOLDS_TO] =
        {"holds_to", "elements",
         "for the recommended: it held at every length tried up to here, on the data "
         "followed by elements drawn from it; lengths between those tried may break"},
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
                              "number of drawn arrays on which its error was within the limit"},
    [RECOMMEND_LENGTHS] =
        {"lengths", "",
         "for the recommended: number of longer lengths tried: the next 64, powers of two "
         "and multiples of 256 and of 2048 with both neighbours, halvings below a break, "
         "others spread evenly on a logarithmic scale"},
    [RECOMMEND_BROKEN_ON] =
        {"broken_on", "",
         "what broken_by is: data, the data as it is; order, its elements in another "
         "order; resample, elements drawn from it; adversarial, a hard array with its "
         "magnitudes"},
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
    [RECOMMEND_TIMED_N] =
        {"timed_n", "elements",
         "the length it was timed on: the data, or the data repeated if it fits in a "
         "cache; fewer elements if a long array would have taken too long, and then it "
         "ranks behind those timed on more"},
    [RECOMMEND_ADDED_IN] = {"added_in", "", "what additions are done in, as in results.csv"},
    [RECOMMEND_RESULT_FORMAT] = {"result_format", "", "format that the result is rounded to"},
    [RECOMMEND_SHAPE] = {"shape", "", "for matrix products: MxNxK, as in --shape"},
    [RECOMMEND_CHIP] = {"chip", "", "the chip whose matrix instruction is modelled"},
    [RECOMMEND_PROMOTE] =
        {"promote", "products",
         "number of products after which a chain's sum is added in the accumulator"},
    [RECOMMEND_BLOCKS] =
        {"blocks", "",
         "for matrix products whose order follows the grid, such as split-K: slices of k"},
    [RECOMMEND_BROKEN_AT] =
        {"broken_at", "",
         "for matrix products the element, row,column, for statistics of rows the row, or "
         "row,element, at which its error on broken_by is largest"},
    [RECOMMEND_BROKEN_RESULT] = {"broken_result", "", "its result there"},
    [RECOMMEND_BROKEN_EXACT] = {"broken_exact", "", "the exact result there, rounded to a double"},
};

const struct column *recommend_column(size_t i)
{
    return &columns[i];
}
