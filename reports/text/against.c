#include "reports/text/against.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIGITS_MOST = 7 }; /* more are no longer read */

static int order_of(double a, double b)
{
    return (a > b) - (a < b);
}

struct against text_against(double value, double limit, int digits)
{
    struct against a;
    int due = order_of(value, limit);
    for (;; digits++) {
        snprintf(a.value, sizeof a.value, "%.*g", digits, value);
        snprintf(a.limit, sizeof a.limit, "%.*g", digits, limit);
        if (order_of(strtod(a.value, NULL), strtod(a.limit, NULL)) == due)
            return a;
        if (digits >= DIGITS_MOST)
            break;
    }
    /* The two are nearly one: the last digit says on which side of the limit the value is. */
    double last = pow(10, floor(log10(fabs(limit))) - DIGITS_MOST + 1);
    snprintf(a.value, sizeof a.value, "%.*g", DIGITS_MOST, strtod(a.limit, NULL) + due * last);
    return a;
}

struct percent text_percent_at_most(double share)
{
    struct percent p;
    double value = 100 * share, last = pow(10, floor(log10(value)) - 1);
    snprintf(p.value, sizeof p.value, "%.2g", value);
    if (strtod(p.value, NULL) < value)
        snprintf(p.value, sizeof p.value, "%.2g", strtod(p.value, NULL) + last);
    return p;
}

void table_share(struct table *t, struct figure f)
{
    if (f.known && isfinite(f.value))
        table_cell(t, "%s", text_against(f.value, 1, 2).value);
    else
        table_figure(t, "%.2g", f);
}
