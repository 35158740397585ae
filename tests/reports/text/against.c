/* Numbers beside a limit: what is printed compares as the numbers do. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "reports/text/against.h"

static void expect(double value, double limit, int digits, const char *value_due,
                   const char *limit_due)
{
    struct against a = text_against(value, limit, digits);
    cr_expect_str_eq(a.value, value_due);
    cr_expect_str_eq(a.limit, limit_due);
}

Test(against, bounds_round_up)
{
    cr_expect_str_eq(text_percent_at_most(0.02331).value, "2.4");
    cr_expect_str_eq(text_percent_at_most(0.15166).value, "16");
    cr_expect_str_eq(text_percent_at_most(0.05).value, "5");
    cr_expect_str_eq(text_percent_at_most(0.0991).value, "10");
    cr_expect_str_eq(text_percent_at_most(0.0039032).value, "0.4");
    cr_expect_str_eq(text_percent_at_most(0.95).value, "95");
}

Test(against, as_few_digits_as_tell)
{
    expect(0.5, 1, 2, "0.5", "1");
    expect(0.9996, 1, 2, "0.9996", "1");
    expect(1.0004, 1, 3, "1.0004", "1");
    expect(0.00203251, 0.002, 2, "0.00203", "0.002");
    expect(0.002, 0.002, 2, "0.002", "0.002");
    expect(7.39e-4, 0.002, 2, "0.00074", "0.002");
    expect(0.99951171875, 1, 2, "0.9995", "1");
    expect(INFINITY, 0.002, 2, "inf", "0.002");
    expect(1 - 1e-13, 1, 3, "0.999999", "1");
    expect(1 + 1e-13, 1, 3, "1.000001", "1");
}

/* Neighbours of the limit, and of limits that have no short decimal. */
Test(against, compares_as_the_numbers_do)
{
    static const double limit[] = {1, 0.1, 0.002, 1e-3, 1.0 / 3, 4, 5e-324, 1e300};
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++)
        for (int side = -1; side <= 1; side++) {
            double value = side ? nextafter(limit[i], side * INFINITY) : limit[i];
            struct against a = text_against(value, limit[i], 2);
            double printed = strtod(a.value, NULL), beside = strtod(a.limit, NULL);
            cr_expect((printed > beside) - (printed < beside) == side, "%s beside %s", a.value,
                      a.limit);
        }
}

Test(against, cells)
{
    struct table table = {.align = "r"};
    struct text drawn = {0};
    table_cell(&table, "of bound");
    table_share(&table, (struct figure){true, 0.99962});
    table_share(&table, (struct figure){true, 0.25});
    table_share(&table, (struct figure){true, INFINITY});
    table_share(&table, (struct figure){0});
    table_draw(&drawn, &table);
    const char *text = text_string(&drawn);
    cr_expect(text && strstr(text, "0.9996\n") && strstr(text, " 0.25\n") && strstr(text, " inf\n"),
              "%s", text);
    table_free(&table);
    text_free(&drawn);
}
