/* Names in pictures: whatever a file or a command is called, gnuplot reads its name as text. */
#include <criterion/criterion.h>

#include "reports/page/report.h"

static void expect(struct text *found, const char *due)
{
    const char *string = text_string(found);
    cr_expect_str_eq(string ? string : "", due);
    text_free(found);
}

Test(label, is_quoted)
{
    struct text t = {0};
    plot_quote(&t, "it's\n50%");
    expect(&t, "'it''s50%'");
}

/* To gnuplot a percent sign in the name of a place on an axis begins a format, elsewhere not. */
Test(label, on_an_axis_a_percent_sign_is_no_format)
{
    struct text t = {0};
    plot_axis_name(&t, "%s%n.npy", 24);
    expect(&t, "'%%s%%n.npy'");
    plot_label(&t, "%s%n.npy", 24);
    expect(&t, "'%s%n.npy'");
}

Test(label, is_shortened_between_characters)
{
    struct text t = {0};
    plot_label(&t, "abcdefghij", 8);
    expect(&t, "'abcd…hij'");
    plot_label(&t, "aäaäaäaäaäaä", 9);
    expect(&t, "'aäa…aä'");
    plot_label(&t, "äöüäöüäöüäöü", 9);
    expect(&t, "'äö…öü'");
    plot_axis_name(&t, "☃☃☃☃☃☃☃☃", 10);
    expect(&t, "'☃…☃'");
    const char *rest = plot_line(&t, "☃☃☃", 4);
    expect(&t, "'☃'");
    cr_expect_str_eq(rest, "☃☃");
}
