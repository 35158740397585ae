/* Real numbers as values of options: what is read, what is refused. */
#include <criterion/criterion.h>
#include <math.h>

#include "experiments/options/options.h"
#include "reference/format/number.h"

Test(real, reads)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1000", 1000},     {"0.5", 0.5},          {".5", 0.5},
        {"1e6", 1e6},       {"1e+6", 1e6},         {"1e-1", 0.1},
        {"1E-1", 0.1},      {"2.5e-3", 2.5e-3},    {"2^20", 1e0 * (1 << 20)},
        {"2^-10", 0x1p-10}, {"2^600", 0x1p600},    {"10^-2", 0.01},
        {"1e308", 1e308},   {"5e-324", 0x1p-1074},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = NAN;
        struct problem p = {0};
        cr_expect(real_parse(&value, "seconds", cases[i].text, &p) == STATUS_OK &&
                      value == cases[i].value,
                  "'%s': %.17g, %s", cases[i].text, value, p.text);
    }
}

Test(real, refuses)
{
    static const char *const cases[] = {
        "",
        " ",
        "1e",
        "e1",
        "1e-",
        "1e+",
        "1e--1",
        "-1",
        "+1",
        "1e999",
        "1e99999",
        "nan",
        "NaN",
        "inf",
        "INF",
        "infinity",
        "0x10",
        "0x1p-3",
        "0X1",
        "1-1",
        "1 ",
        " 1",
        "1,5",
        "1_000",
        "^2",
        "2^",
        "2^-",
        "2^--1",
        "2^0.5",
        "2^1e99",
        "2^99999",
        "0^-1",
        "2^^2",
        "1e1e1",
        "1.2.3",
        ".",
        "e",
        "-",
        "1d3",
        "1f",
        "0.00000000000000000000000000000000000000000000000000000000000001", /* 64 characters */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = 7;
        struct problem p = {0};
        cr_expect(real_parse(&value, "seconds", cases[i], &p) == STATUS_USAGE && value == 7 &&
                      strstr(p.text, "option --seconds: found '") && strstr(p.text, cases[i]),
                  "'%s': %g, %s", cases[i], value, p.text);
        cr_expect(!real_read(&value, cases[i], strlen(cases[i])) && value == 7, "'%s'", cases[i]);
    }
    /* Numbers, but not above 0. */
    static const char *const zeros[] = {"0", "0.0", "0e5", "1e-999", "2^-16384"};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        double value = 7;
        cr_expect(real_parse(&value, "seconds", zeros[i], NULL) == STATUS_USAGE, "'%s'", zeros[i]);
        cr_expect(real_read(&value, zeros[i], strlen(zeros[i])) && value == 0, "'%s'", zeros[i]);
    }
}

/* Whole numbers may be written so too, where they are whole. */
Test(real, whole_numbers)
{
    struct numbers n = {0};
    struct problem p = {0};
    cr_assert_eq(numbers_parse(&n, "n", "1e3,20e-1,2^3", RANGE_EVERY, 1, 5000, &p), STATUS_OK, "%s",
                 p.text);
    cr_assert(n.count == 3 && n.item[0] == 1000 && n.item[1] == 2 && n.item[2] == 8);
    numbers_free(&n);
    static const char *const refused[] = {"1e-1", "2^-3", "-5", "1e", "0x10", "nan", "2^-1"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        n = (struct numbers){0};
        cr_expect_eq(numbers_parse(&n, "n", refused[i], RANGE_EVERY, 0, 5000, &p), STATUS_USAGE,
                     "'%s'", refused[i]);
        numbers_free(&n);
    }
}
