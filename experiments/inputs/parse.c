/* Specifications of inputs: NAME[:PARAMETER=VALUE]...[:order=ARRANGEMENT]. */
#include "experiments/inputs/input.h"
#include "reports/text/near.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A piece of a text. */
struct piece {
    const char *begin;
    size_t length;
};

/* Up to the next `separator`; `rest` is what follows it, or NULL. */
static struct piece piece_until(const char *text, char separator, const char **rest)
{
    const char *end = strchr(text, separator);
    *rest = end ? end + 1 : NULL;
    return (struct piece){text, end ? (size_t)(end - text) : strlen(text)};
}

static bool piece_is(struct piece s, const char *word)
{
    return strlen(word) == s.length && memcmp(s.begin, word, s.length) == 0;
}

static void append(char *text, size_t size, const char *separator, const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? separator : "", word);
}

/* `1000`, `1e6`, `-0.5`, `0x1p-24`, `2^20`, `-2^-24`; finite. */
static bool number(const char *text, double *value)
{
    char *end;
    bool minus = *text == '-';
    const char *size = text + minus;
    if (!(*size >= '0' && *size <= '9') && *size != '.')
        return false;
    if (size[0] == '2' && size[1] == '^') {
        if (size[2] != '-' && !(size[2] >= '0' && size[2] <= '9'))
            return false;
        long exponent = strtol(size + 2, &end, 10);
        if (exponent < -1074 || exponent > 1023)
            return false;
        *value = ldexp(1, (int)exponent);
    } else {
        *value = strtod(size, &end);
    }
    *value = minus ? -*value : *value;
    return end != size && *end == '\0' && isfinite(*value);
}

static enum status parse_family(struct input *in, struct piece name, struct problem *p)
{
    char known[1024] = "", word[64];
    struct near near = {.word = word};
    snprintf(word, sizeof word, "%.*s", (int)name.length, name.begin);
    for (size_t i = 0; i < input_family_count + pair_family_count; i++) {
        const struct input_family *f =
            i < input_family_count ? input_families[i] : pair_families[i - input_family_count];
        if (piece_is(name, f->name)) {
            in->family = f;
            return STATUS_OK;
        }
        append(known, sizeof known, ", ", f->name);
        near_try(&near, f->name);
    }
    if (near.found)
        return problem(p, STATUS_USAGE,
                       "input '%.*s' is not known; did you mean %s? (ulpscope list inputs has all)",
                       (int)name.length, name.begin, near.found);
    return problem(p, STATUS_USAGE, "input '%.*s' is not known; there is %s", (int)name.length,
                   name.begin, known);
}

static enum status parse_arrangement(struct input *in, const char *value, const char *specification,
                                     struct problem *p)
{
    char known[128] = "";
    for (enum arrangement a = 0; a < ARRANGEMENTS; a++) {
        if (strcmp(value, arrangement_name[a]) == 0) {
            in->arrangement = a;
            return STATUS_OK;
        }
        append(known, sizeof known, ", ", arrangement_name[a]);
    }
    return problem(p, STATUS_USAGE, "input %s: order '%s' is not known; there is %s", specification,
                   value, known);
}

static enum status parse_parameter(struct input *in, size_t i, const char *value,
                                   const char *specification, struct problem *p)
{
    const struct input_parameter *q = &in->family->parameter[i];
    double x;
    if (!number(value, &x))
        return problem(p, STATUS_USAGE,
                       "input %s: %s '%s' is no number; expected one like 0.5, 1e6 or 2^-10",
                       specification, q->name, value);
    if (!(x >= q->least && x <= q->most) || (q->whole && x != floor(x)))
        return problem(p, STATUS_USAGE, "input %s: %s=%s; expected a %snumber from %.17g to %.17g",
                       specification, q->name, value, q->whole ? "whole " : "", q->least, q->most);
    in->parameter[i] = x;
    return STATUS_OK;
}

/* One NAME=VALUE; `seen` has a bit for each name that came before. */
static enum status parse_setting(struct input *in, struct piece setting, unsigned *seen,
                                 const char *specification, struct problem *p)
{
    char text[64], known[128] = "";
    if (setting.length >= sizeof text)
        return problem(p, STATUS_USAGE, "input %s: '%.*s' is too long; expected PARAMETER=VALUE",
                       specification, (int)setting.length, setting.begin);
    memcpy(text, setting.begin, setting.length);
    text[setting.length] = '\0';
    const char *value;
    struct piece name = piece_until(text, '=', &value);
    if (!value)
        return problem(p, STATUS_USAGE, "input %s: '%s' has no value; expected PARAMETER=VALUE",
                       specification, text);
    size_t i = 0;
    for (; in->family->parameter[i].name && !piece_is(name, in->family->parameter[i].name); i++)
        append(known, sizeof known, ", ", in->family->parameter[i].name);
    bool order = !in->family->parameter[i].name && piece_is(name, "order");
    if (!in->family->parameter[i].name && !order) {
        append(known, sizeof known, ", ", "order");
        return problem(p, STATUS_USAGE, "input %s: '%.*s' is no parameter of %s; it has %s",
                       specification, (int)name.length, name.begin, in->family->name, known);
    }
    if (*seen & 1u << i)
        return problem(p, STATUS_USAGE, "input %s: %.*s is given twice", specification,
                       (int)name.length, name.begin);
    *seen |= 1u << i;
    return order ? parse_arrangement(in, value, specification, p)
                 : parse_parameter(in, i, value, specification, p);
}

enum status input_parse(struct input *in, const char *specification, struct problem *p)
{
    const char *rest;
    unsigned seen = 0;
    *in = (struct input){.arrangement = ARRANGED_AS_GENERATED};
    enum status status = parse_family(in, piece_until(specification, ':', &rest), p);
    for (size_t i = 0; status == STATUS_OK && in->family->parameter[i].name; i++)
        in->parameter[i] = in->family->parameter[i].value;
    while (status == STATUS_OK && rest)
        status = parse_setting(in, piece_until(rest, ':', &rest), &seen, specification, p);
    return status;
}

/* The shortest decimal of up to 17 digits that is read as x. */
static void shortest(char text[32], double x)
{
    int digits = 1;
    do
        snprintf(text, 32, "%.*g", digits, x);
    while (strtod(text, NULL) != x && ++digits <= 17);
}

void input_name(const struct input *in, char text[INPUT_TEXT])
{
    snprintf(text, INPUT_TEXT, "%s", in->family->name);
    for (size_t i = 0; in->family->parameter[i].name; i++) {
        const struct input_parameter *q = &in->family->parameter[i];
        if (double_bits(in->parameter[i]) == double_bits(q->value))
            continue;
        char value[32];
        shortest(value, in->parameter[i]);
        append(text, INPUT_TEXT, ":", q->name);
        append(text, INPUT_TEXT, "=", value);
    }
    if (in->arrangement != ARRANGED_AS_GENERATED) {
        append(text, INPUT_TEXT, ":order=", arrangement_name[in->arrangement]);
    }
}
