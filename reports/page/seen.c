/* What a panel of samples shows, in words: its title. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/page/report.h"

/* From which x on no value is below 1; INFINITY: the last is. */
static double cliff_of(const double *x, const double *y, size_t count)
{
    double cliff = INFINITY;
    for (size_t i = count; i-- > 0 && !(y[i] < 1);)
        cliff = x[i];
    return cliff;
}

void seen_add(struct seen *s, const struct look *look, const char *method, const double *x,
              const double *y, size_t count)
{
    double at = NAN, value = NAN;
    for (size_t i = 0; look->shows == SHOWS_LAST && i < count; i++)
        if (isfinite(y[i]))
            at = x[i], value = y[i];
    if (look->shows == SHOWS_CLIFF && count > 0)
        at = x[count - 1], value = -cliff_of(x, y, count);
    for (size_t i = 0; look->shows == SHOWS_BEST && i < count; i++) {
        if (!s->most_name || x[i] > s->most)
            s->most = x[i], s->most_name = method;
        if (!s->least_name || y[i] < s->least)
            s->least = y[i], s->least_name = method;
    }
    if (isnan(value) || (s->least_name && at < s->x))
        return;
    if (!s->least_name || at > s->x)
        *s = (struct seen){.x = at, .least = INFINITY, .most = -INFINITY};
    if (!s->least_name || value < s->least)
        s->least = value, s->least_name = method;
    if (!s->most_name || value > s->most)
        s->most = value, s->most_name = method;
}

static void say_last(struct text *to, const struct look *look, const struct seen *s)
{
    struct short_number least = short_number(s->least), most = short_number(s->most);
    text_format(to, "at %s = %.0f ", look->x_name, s->x);
    if (s->least == s->most)
        text_format(to, "an error of %s %s", most.text, look->unit);
    else
        text_format(to, "errors from %s (%s) to %s %s (%s)", least.text, s->least_name, most.text,
                    look->unit, s->most_name);
}

/* Cliffs are kept negative, so that the first is the largest. */
static void say_cliff(struct text *to, const struct seen *s)
{
    if (isinf(s->most)) {
        text_format(to, "some digits are right up to 2^%.0f, the largest tried", s->x);
        return;
    }
    text_format(to, "%s has no digit right from 2^%.0f on", s->most_name, -s->most);
    if (isinf(s->least))
        text_format(to, ", %s some up to 2^%.0f", s->least_name, s->x);
    else if (s->least < s->most)
        text_format(to, ", %s from 2^%.0f", s->least_name, -s->least);
}

void seen_say(struct text *to, const struct look *look, const struct seen *s)
{
    if (!s->least_name)
        return;
    text_add(to, ": ");
    switch (look->shows) {
    case SHOWS_LAST:
        say_last(to, look, s);
        break;
    case SHOWS_CLIFF:
        say_cliff(to, s);
        break;
    case SHOWS_BEST:
        if (strcmp(s->most_name, s->least_name) == 0)
            text_format(to, "%s is fastest, and nothing errs less", s->most_name);
        else
            text_format(to, "%s is fastest, %s errs least", s->most_name, s->least_name);
        break;
    }
}

void page_input(struct text *to, const char *input)
{
    for (const char *at = input; *at;) {
        char *end = NULL;
        double value = at > input && at[-1] == '=' ? strtod(at, &end) : 0;
        int exponent = 0;
        if (value > 1e6 && frexp(value, &exponent) == 0.5) {
            text_format(to, "2^%d", exponent - 1);
            at = end;
        } else if (value >= 1 && value < 1e6 && value == floor(value)) {
            text_format(to, "%.0f", value);
            at = end;
        } else {
            text_append(to, at++, 1);
        }
    }
}
