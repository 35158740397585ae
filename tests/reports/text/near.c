/* "did you mean": what is near enough to be meant, and what is not. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "experiments/options/options.h"
#include "experiments/subjects/subject.h"
#include "kernels/method/method.h"
#include "reports/text/near.h"

static const char *meant(const char *word)
{
    struct near near = {.word = word};
    for (size_t i = 0; i < method_count; i++)
        near_try(&near, method_registry[i]->name);
    return near.found ? near.found : "";
}

/* A letter left out, added, exchanged, swapped. */
Test(near, finds_what_was_mistyped)
{
    static const char *const typed[][2] = {
        {"sum/tild", "sum/tiled"},  {"sum/tiledd", "sum/tiled"},       {"sum/tileb", "sum/tiled"},
        {"sum/tlied", "sum/tiled"}, {"scan/blleoch", "scan/blelloch"}, {"smu/kahn", "sum/kahan"},
    };
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
        cr_expect_str_eq(meant(typed[i][0]), typed[i][1], "%s", typed[i][0]);
}

Test(near, leaves_what_is_far)
{
    static const char *const typed[] = {
        "",     "s",        "sum",  "tiled",     "bogus/tiled", "scatter/bogus",
        "sum/", "sum/none", "mine", "sum/abcdef"};
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
        cr_expect_str_empty(meant(typed[i]), "%s: %s", typed[i], meant(typed[i]));
    char length[200] = "sum/";
    memset(length + 4, 'x', 190);
    cr_expect_str_empty(meant(length));
}

/* One letter off each name finds that name, or one as near. */
Test(near, every_method_one_letter_off)
{
    for (size_t i = 0; i < method_count; i++) {
        char typed[100];
        const char *name = method_registry[i]->name;
        size_t last = strlen(name) - 1;
        snprintf(typed, sizeof typed, "%s", name);
        typed[last] = 0;
        struct near near = {.word = typed};
        near_try(&near, name);
        cr_expect(near.found == name && near.distance == 1, "%s", name);
    }
}

Test(near, first_of_equally_near)
{
    struct near near = {.word = "abcd"};
    near_try(&near, "abce");
    near_try(&near, "abcf");
    cr_expect_str_eq(near.found, "abce");
    near_try(&near, "abcd");
    cr_expect_str_eq(near.found, "abcd");
}

Test(near, a_family_is_no_mistake)
{
    const struct method *m;
    struct problem p = {0};
    cr_expect_eq(subject_named(&m, "check", "sum", NULL, &p), STATUS_USAGE);
    cr_expect(strstr(p.text, "found 'sum', expected one of sum/..."), "%s", p.text);
    p = (struct problem){0};
    cr_expect_eq(subject_named(&m, "check", "sums/tiled", NULL, &p), STATUS_USAGE);
    cr_expect(strstr(p.text, "did you mean sum/tiled?"), "%s", p.text);
}

/* What each verb says. */
Test(near, is_said)
{
    static const struct {
        const char *words[5], *said;
    } said[] = {
        {{"ulpscope", "chek"},
         "unknown verb 'chek': did you mean check? (ulpscope --help has all)"},
        {{"ulpscope", "check", "--devce", "cpu"},
         "unknown option '--devce': did you mean --device?"},
        {{"ulpscope", "check", "--sed=1"}, "unknown option '--sed=1': did you mean --seed?"},
        {{"ulpscope", "check", "--tolerance", "1"},
         "check: option --tolerance is one of recommend, not of check: see ulpscope check --help"},
        {{"ulpscope", "check", "--qqqqqqq"},
         "unknown option '--qqqqqqq': see ulpscope check --help"},
        {{"ulpscope", "check", "sum/tiled", "--json", "-qx"},
         "unknown option '-q': see ulpscope check --help"},
        {{"ulpscope", "--versoin"}, "unknown verb '--versoin': did you mean --version?"},
        {{"ulpscope", "qqqqqq"}, "unknown verb 'qqqqqq': expected one of list, run"},
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct arguments a;
        struct problem p = {0};
        int words = 0;
        while (words < 5 && said[i].words[words])
            words++;
        cr_expect_eq(arguments_parse(&a, words, (char **)said[i].words, &p), STATUS_USAGE);
        cr_expect(strstr(p.text, said[i].said), "'%s' is not in '%s'", said[i].said, p.text);
    }
}

/* Of a value that is none of a list the message names the nearest, and only one that is near. */
Test(near, of_values)
{
    static const char *const said[][3] = {
        {"cdua", "cpu, cuda, cuda:N or auto",
         "option --x: found 'cdua', expected cpu, cuda, cuda:N or auto: did you mean cuda?"},
        {"gpu", "cuda or auto", "option --x: found 'gpu', expected cuda or auto"},
        {"repaet", "one of run_to_run/repeat, gpu_to_gpu/shape",
         "option --x: found 'repaet', expected one of run_to_run/repeat, gpu_to_gpu/shape: did "
         "you mean repeat?"},
        {"run_to_rum", "run_to_run/repeat, gpu_to_gpu/shape",
         "option --x: found 'run_to_rum', expected run_to_run/repeat, gpu_to_gpu/shape: did you "
         "mean run_to_run?"},
        {"", "a or b", "option --x: found '', expected a or b"},
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct problem p = {0};
        cr_expect_eq(near_unknown_option(&p, "x", said[i][0], said[i][1]), STATUS_USAGE);
        cr_expect_str_eq(p.text, said[i][2]);
    }
}
