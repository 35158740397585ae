/* The checks of the tests that walk the registry can fail: they catch methods that are broken on
 * purpose. */
#include <criterion/criterion.h>

#include "tests/mutants.h"

Test(mutants, every_one_is_caught)
{
    for (size_t i = 0; i < mutant_count; i++) {
        char why[WHY] = "";
        struct method broken = *method_named(mutants[i].of);
        mutants[i].break_it(&broken);
        cr_expect(!mutants[i].check(&broken, why), "a %s that %s was not caught", mutants[i].of,
                  mutants[i].fault);
        cr_log_info("%s: %s", mutants[i].fault, why);
    }
}
