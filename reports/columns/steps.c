#include "reports/columns/columns.h"

static const struct column columns[STEPS_COLUMNS] = {
    [STEPS_METHOD] = {"method", "", "how the weight is kept: plain, kahan, two_words, stochastic"},
    [STEPS_STORAGE] = {"storage", "", "format that the updates are kept in"},
    [STEPS_ACCUMULATOR] = {"accumulator", "",
                           "format of the weight, of each of its words, that additions are done "
                           "in"},
    [STEPS_INPUT] = {"input", "", "the generated input's specification, or the data's name"},
    [STEPS_N] = {"n", "elements", "updates"},
    [STEPS_START] = {"start", "", "the weight before the first step, rounded to its format"},
    [STEPS_SEED] = {"seed", "", "of the updates, and of stochastic rounding"},
    [STEPS_STEP] = {"step", "", "how many updates were added"},
    [STEPS_WEIGHT] = {"weight", "", "the weight, of two words the upper one"},
    [STEPS_REST] = {"rest", "", "two_words: the lower word; kahan: what waits to be added"},
    [STEPS_EXACT] = {"exact", "", "start and all updates so far, exactly, then rounded to fp64"},
    [STEPS_EXACT_HEX] = {"exact_hex", "", "the same with all its bits"},
    [STEPS_ERR_ABS] = {"err_abs", "", "|weight - exact|; of two_words both words count"},
    [STEPS_ERR_REL] = {"err_rel", "", "err_abs / |exact|"},
    [STEPS_ERR_ULP] = {"err_ulp", "ulp", "err_abs over the spacing of the format at exact"},
    [STEPS_BOUND] = {"bound", "",
                     "on err_abs; of stochastic with a probability of 1 - 2^-60; empty: none"},
    [STEPS_OVER_BOUND] = {"err_over_bound", "", "err_abs / bound"},
    [STEPS_STILL_FROM] = {"still_from", "",
                          "last row of a weight: the first step from which on no step has an "
                          "effect; if the weight overflows, the step after the one that left the "
                          "format's range; empty while it may only be waiting"},
    [STEPS_PREDICTED] = {"still_predicted", "",
                         "last row of a plain weight whose updates are all equal: the same, from "
                         "the format's spacing; 0: every step has an effect, the last one may "
                         "overflow"},
    [STEPS_STATUS] = {"status", "",
                      "ok, overflow or nan (the weight is infinite, or is no number)"},
};

const struct column *steps_column(size_t i)
{
    return &columns[i];
}
