#include "reports/columns/columns.h"

static const struct column own[SCALES_COLUMNS - SCALES_MATRIX] = {
    {"matrix", "", "A or B"},
    {"line", "", "the first row of A, or column of B, that it scales, from 0"},
    {"lines", "", "how many of them"},
    {"first_k", "", "the first element of these along k, from 0"},
    {"terms", "", "how many of them"},
    {"scale", "",
     "what these elements are multiplied by, a number of fp32: that of --scales or, without them, "
     "the largest of their magnitudes before they were quantised, rounded to fp32, over the "
     "format's largest number, rounded to fp32; 1 where that magnitude is 0 or infinite, 2^-149 "
     "where the scale would be 0"},
    {"scale_hex", "", "the same with all its bits"},
};

/* Up to the shape the names of results.csv, whose rows with the same values have these scales. */
const struct column *scales_column(size_t i)
{
    static const enum case_column same[] = {CASE_STORAGE, CASE_INPUT, CASE_N, CASE_SEED, CASE_KEYS};
    return i < SCALES_MATRIX ? &case_columns[same[i]] : &own[i - SCALES_MATRIX];
}
