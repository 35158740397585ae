/* A number beside a limit, for people. */
#pragma once

#include "reports/text/table.h"

struct against {
    char value[32], limit[32];
};

/* Both with as many significant digits as it takes, at least `digits`, for the two that are printed
 * to compare as the two numbers do: 0.00203 beside 0.002 that it exceeds, 0.9996 beside 1. Of
 * seven digits, where these are not enough, the last is rounded away from the limit. */
struct against text_against(double value, double limit, int digits);

/* 100 * share with two significant digits, rounded up: a share that is bounded from above is not
 * printed as less than the bound. */
struct percent {
    char value[32];
};
struct percent text_percent_at_most(double share);

/* A cell with a share of a bound, which 1 is the most of; empty where it is not known. */
void table_share(struct table *t, struct figure f);
