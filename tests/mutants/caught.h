/* For tests: every one of these mutants is caught by its check. */
#pragma once

#include <criterion/criterion.h>

#include "tests/mutants/mutants.h"

static inline void mutants_expect_caught(const struct mutant *mutant, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char why[WHY] = "";
        struct method broken = *method_named(mutant[i].of);
        mutant[i].break_it(&broken);
        cr_expect(!mutant[i].check(&broken, why), "a %s that %s was not caught", mutant[i].of,
                  mutant[i].fault);
        cr_log_info("%s: %s", mutant[i].fault, why);
    }
}
