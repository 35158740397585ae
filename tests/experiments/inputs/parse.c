/* Specifications of inputs: what is read, what is printed, what is refused. */
#include <criterion/criterion.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/inputs/input.h"

static bool same_input(const struct input *a, const struct input *b)
{
    return a->family == b->family && a->arrangement == b->arrangement &&
           memcmp(a->parameter, b->parameter, sizeof a->parameter) == 0;
}

static void round_trip(const struct input *in)
{
    char text[INPUT_TEXT], again[INPUT_TEXT];
    struct input read;
    struct problem p = {0};
    input_name(in, text);
    cr_assert_eq(input_parse(&read, text, &p), STATUS_OK, "%s: %s", text, p.text);
    cr_assert(same_input(in, &read), "%s reads as something else", text);
    input_name(&read, again);
    cr_assert_str_eq(text, again);
    cr_assert(!strchr(text, ',') && !strchr(text, ' '), "%s cannot stand in a list", text);
}

/* Every family with the extreme values of every parameter, in every arrangement. */
Test(input_parse, round_trip)
{
    for (size_t i = 0; i < input_family_count; i++) {
        const struct input_family *family = input_families[i];
        struct input in;
        cr_assert_eq(input_parse(&in, family->name, NULL), STATUS_OK);
        cr_assert_eq(in.family, family, "the name %s is not its own", family->name);
        for (enum arrangement a = 0; a < ARRANGEMENTS; a++) {
            in.arrangement = a;
            round_trip(&in);
            for (size_t j = 0; family->parameter[j].name; j++) {
                const struct input_parameter *q = &family->parameter[j];
                const double value[] = {q->least, q->most, q->least + (q->most - q->least) / 3};
                for (int k = 0; k < (q->whole ? 2 : 3); k++) {
                    struct input other = in;
                    other.parameter[j] = isfinite(value[k]) ? value[k] : 1.0 / 3;
                    round_trip(&other);
                }
            }
        }
    }
}

Test(input_parse, descriptors)
{
    for (size_t i = 0; i < input_family_count; i++) {
        const struct input_family *family = input_families[i];
        for (const char *c = family->name; *c; c++)
            cr_assert(islower(*c) || isdigit(*c) || *c == '_', "name '%s'", family->name);
        cr_assert(strlen(family->summary) > 10 && strlen(family->summary) <= 80, "%s: '%s'",
                  family->name, family->summary);
        cr_assert(!strchr(family->summary, '\n'), "%s: more than a line", family->name);
        cr_assert(!family->element != !family->generate, "%s: one way to fill", family->name);
        for (size_t j = 0; family->parameter[j].name; j++) {
            const struct input_parameter *q = &family->parameter[j];
            cr_assert(q->least <= q->value && q->value <= q->most && q->least < q->most,
                      "%s:%s has the default %g", family->name, q->name, q->value);
            cr_assert(!q->whole || q->value == floor(q->value), "%s:%s", family->name, q->name);
            cr_assert(*q->meaning && strcmp(q->name, "order") != 0, "%s:%s", family->name, q->name);
        }
        for (size_t j = 0; j < i; j++)
            cr_assert(strcmp(family->name, input_families[j]->name) != 0, "%s stands twice",
                      family->name);
    }
}

Test(input_parse, reads)
{
    static const struct {
        const char *text, *canonical;
    } cases[] = {
        {"uniform", "uniform"},
        {"uniform:scale=1", "uniform"},
        {"uniform:order=generated", "uniform"},
        {"lognormal:sigma=4:order=descending", "lognormal:sigma=4:order=descending"},
        {"lognormal:order=descending:sigma=4", "lognormal:sigma=4:order=descending"},
        {"normal:sigma=2:mean=-0.5", "normal:mean=-0.5:sigma=2"},
        {"ones:value=2^-24", "ones:value=5.9604644775390625e-08"},
        {"ones:value=-2^10", "ones:value=-1024"},
        {"ones:value=0x1.8p+1", "ones:value=3"},
        {"ones:value=.1", "ones:value=0.1"},
        {"ones:value=-0", "ones:value=-0"},
        {"ones:value=1e+06", "ones:value=1e+06"},
        {"zero_sum:order=shuffled", "zero_sum:order=shuffled"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct input in;
        struct problem p = {0};
        char name[INPUT_TEXT];
        cr_assert_eq(input_parse(&in, cases[i].text, &p), STATUS_OK, "%s: %s", cases[i].text,
                     p.text);
        input_name(&in, name);
        cr_assert_str_eq(name, cases[i].canonical, "%s gives %s", cases[i].text, name);
    }
}

Test(input_parse, seeds)
{
    struct input in;
    cr_assert_eq(input_parse(&in, "ones", NULL), STATUS_OK);
    cr_assert(!input_uses_seed(&in));
    cr_assert_eq(input_parse(&in, "ones:order=ascending", NULL), STATUS_OK);
    cr_assert(!input_uses_seed(&in));
    cr_assert_eq(input_parse(&in, "ones:order=shuffled", NULL), STATUS_OK);
    cr_assert(input_uses_seed(&in));
    cr_assert_eq(input_parse(&in, "uniform", NULL), STATUS_OK);
    cr_assert(input_uses_seed(&in));
}

/* What is wrong is named, and what is expected. */
Test(input_parse, refuses)
{
    static const struct {
        const char *text, *named, *expected;
    } cases[] = {
        {"", "''", "uniform, "},
        {"nonsense", "'nonsense'", "uniform, "},
        {"uniforms", "'uniforms'", "did you mean uniform?"},
        {"unifor", "'unifor'", "did you mean uniform?"},
        {"Uniform", "'Uniform'", "did you mean uniform?"},
        {"uniform:", "''", "PARAMETER=VALUE"},
        {"uniform:scale", "'scale'", "PARAMETER=VALUE"},
        {"uniform::scale=2", "''", "PARAMETER=VALUE"},
        {"uniform:sigma=2", "'sigma'", "scale, order"},
        {"uniform:=2", "''", "scale, order"},
        {"ones:order=sideways", "'sideways'", "generated, ascending, descending, magnitude"},
        {"ones:order=", "''", "shuffled"},
        {"uniform:scale=", "''", "number"},
        {"uniform:scale=big", "'big'", "number"},
        {"uniform:scale=1x", "'1x'", "number"},
        {"uniform:scale=1=1", "'1=1'", "number"},
        {"uniform:scale= 1", "' 1'", "number"},
        {"uniform:scale=nan", "'nan'", "number"},
        {"uniform:scale=inf", "'inf'", "number"},
        {"uniform:scale=1e999", "'1e999'", "number"},
        {"uniform:scale=2^", "'2^'", "number"},
        {"uniform:scale=2^ 3", "'2^ 3'", "number"},
        {"uniform:scale=2^1024", "'2^1024'", "number"},
        {"uniform:scale=2^99999999999999999999", "number", "number"},
        {"uniform:scale=0", "scale=0", "from 4.94"},
        {"uniform:scale=-1", "scale=-1", "from 4.94"},
        {"lognormal:sigma=81", "sigma=81", "from 0 to 80"},
        {"ladder:rungs=2.5", "rungs=2.5", "whole number from 2 to 40"},
        {"ladder:rungs=1", "rungs=1", "whole number from 2 to 40"},
        {"uniform:scale=2:scale=3", "scale", "twice"},
        {"ones:order=shuffled:order=shuffled", "order", "twice"},
        {"uniform:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=1",
         "aaaa", "PARAMETER=VALUE"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct input in;
        struct problem p = {0};
        cr_assert_eq(input_parse(&in, cases[i].text, &p), STATUS_USAGE, "'%s' is taken",
                     cases[i].text);
        cr_assert(p.status == STATUS_USAGE && strstr(p.text, cases[i].named),
                  "'%s': the message does not name %s: %s", cases[i].text, cases[i].named, p.text);
        cr_assert(strstr(p.text, cases[i].expected), "'%s': the message does not say %s: %s",
                  cases[i].text, cases[i].expected, p.text);
        cr_assert_eq(input_parse(&in, cases[i].text, NULL), STATUS_USAGE);
    }
}
