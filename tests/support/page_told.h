/* What tests of a page's sentences share. */
#pragma once

#include <criterion/criterion.h>

#include "reports/page/report.h"

static inline void expect_told(struct text *told, const char *what, bool due)
{
    const char *string = text_string(told);
    cr_expect((strstr(string, what) != NULL) == due, "%s'%s' in: %s", due ? "no " : "", what,
              string);
}

static inline struct figure known(double value)
{
    return (struct figure){true, value};
}
