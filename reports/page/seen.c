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

/* Keeps the name where no value is better, or one is printed alike. */
static void keep(struct seen_names *k, double value, bool better, const char *name)
{
    struct short_number one = short_number(value), best = short_number(k->value);
    bool alike = k->count > 0 && strcmp(one.text, best.text) == 0;
    if (k->count == 0 || (better && !alike))
        *k = (struct seen_names){value, {name}, 1};
    else if (alike && k->count++ < SEEN_NAMES)
        k->name[k->count - 1] = name;
}

void seen_add(struct seen *s, const struct look *look, const char *method, const double *x,
              const double *y, size_t count)
{
    double at = NAN, value = NAN, fastest = -INFINITY, best = INFINITY;
    const bool last = look->shows == SHOWS_LAST || look->shows == SHOWS_SHORT;
    for (size_t i = 0; last && i < count; i++)
        if (isfinite(y[i]))
            at = x[i], value = y[i];
    if (look->shows == SHOWS_CLIFF && count > 0)
        at = x[count - 1], value = -cliff_of(x, y, count);
    for (size_t i = 0; look->shows == SHOWS_BEST && i < count; i++)
        fastest = fmax(fastest, x[i]), best = fmin(best, y[i]);
    if (look->shows == SHOWS_BEST && count > 0) {
        keep(&s->most, fastest, fastest > s->most.value, method);
        keep(&s->least, best, best < s->least.value, method);
    }
    if (isnan(value) || (s->least.count && at < s->x))
        return;
    if (!s->least.count || at > s->x)
        *s = (struct seen){.x = at};
    keep(&s->least, value, value < s->least.value, method);
    keep(&s->most, value, value > s->most.value, method);
}

void names_say(struct text *to, const char *const name[], size_t shown, size_t count)
{
    size_t told = count < shown ? count : shown;
    for (size_t i = 0; i < told; i++)
        text_format(to, "%s%s", i == 0 ? "" : i + 1 == count ? " and " : ", ", name[i]);
    if (count > told)
        text_format(to, " and %zu more", count - told);
}

static void say_names(struct text *to, const struct seen_names *k)
{
    names_say(to, k->name, SEEN_NAMES, k->count);
}

static void say_last(struct text *to, const struct look *look, const struct seen *s)
{
    struct short_number least = short_number(s->least.value), most = short_number(s->most.value);
    if (look->x_before)
        text_format(to, "%s%.0f%s ", look->x_before, s->x, look->x_after);
    else
        text_format(to, "at %s = %.0f ", look->x_name, s->x);
    if (strcmp(least.text, most.text) == 0) {
        text_format(to, "an error of %s %s", most.text, look->unit);
        return;
    }
    text_format(to, "errors from %s (", least.text);
    say_names(to, &s->least);
    text_format(to, ") to %s %s (", most.text, look->unit);
    say_names(to, &s->most);
    text_add(to, ")");
}

static void say_short(struct text *to, const struct seen *s)
{
    text_format(to, "at %.0f elements ", s->x);
    say_names(to, &s->most);
    text_format(to, " reach%s 1/%s of the exact result, ", s->most.count > 1 ? "" : "es",
                short_number(s->most.value).text);
    say_names(to, &s->least);
    if (fabs(s->least.value - 1) < 0.005)
        text_add(to, " all of it");
    else
        text_format(to, " 1/%s", short_number(s->least.value).text);
}

/* Cliffs are kept negative, so that the first is the largest. */
static void say_cliff(struct text *to, const struct seen *s)
{
    if (isinf(s->most.value)) {
        text_format(to, "some digits are right up to 2^%.0f, the largest tried", s->x);
        return;
    }
    say_names(to, &s->most);
    text_format(to, " %s no digit right from 2^%.0f on", s->most.count > 1 ? "have" : "has",
                -s->most.value);
    if (s->least.value < s->most.value) {
        text_add(to, ", ");
        say_names(to, &s->least);
    }
    if (isinf(s->least.value))
        text_format(to, " some up to 2^%.0f", s->x);
    else if (s->least.value < s->most.value)
        text_format(to, " from 2^%.0f", -s->least.value);
}

static void say_best(struct text *to, const struct seen *s)
{
    bool alone = s->most.count == 1 && s->least.count == 1 && s->most.name[0] == s->least.name[0];
    say_names(to, &s->most);
    text_add(to, s->most.count > 1 ? " are fastest, " : " is fastest, ");
    if (alone) {
        text_add(to, "and nothing errs less");
        return;
    }
    say_names(to, &s->least);
    text_add(to, s->least.count > 1 ? " err least" : " errs least");
}

void seen_say(struct text *to, const struct look *look, const struct seen *s)
{
    if (!s->least.count)
        return;
    text_add(to, ": ");
    switch (look->shows) {
    case SHOWS_LAST:
        say_last(to, look, s);
        break;
    case SHOWS_SHORT:
        say_short(to, s);
        break;
    case SHOWS_CLIFF:
        say_cliff(to, s);
        break;
    case SHOWS_BEST:
        say_best(to, s);
        break;
    }
}

void page_input(struct text *to, const char *input)
{
    for (const char *at = input; *at;) {
        char *end = NULL;
        double value = at > input && at[-1] == '=' ? strtod(at, &end) : 0;
        int exponent = 0;
        if ((value > 1e6 || (value > 0 && value < 1e-3)) && frexp(value, &exponent) == 0.5) {
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

/* A function of Python has its operation behind its name, or is called as it. */
static const struct operation *in_name(const char *name)
{
    static const char ends[] = ".:@";
    const struct operation *found = NULL;
    for (const char *at = strpbrk(name, ends); at; at = strpbrk(at, ends)) {
        at++;
        for (size_t i = 0; operations[i]; i++) {
            size_t length = strlen(operations[i]->name);
            bool is = strncmp(at, operations[i]->name, length) == 0 && strcspn(at, ends) == length;
            found = is ? operations[i] : found;
        }
    }
    return found;
}

const struct operation *page_operation_of(const struct page *r, const struct gathered_case *c)
{
    const char *name = c->field[CASE_METHOD];
    const struct method *m = method_named(name);
    return m ? m->operation : r->only ? r->only : in_name(name);
}

const struct operation *page_operation_at(size_t i)
{
    for (int each = 1; each >= 0; each--)
        for (size_t k = 0; operations[k]; k++)
            if (operation_of_each(operations[k]) == each && i-- == 0)
                return operations[k];
    return NULL;
}
