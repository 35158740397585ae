/* The checks of the tests that walk the registry can fail: they catch methods that are broken on
 * purpose. */
#include <criterion/criterion.h>

#include "tests/mutants.h"

static void expect_caught(const struct mutant *mutant, size_t count)
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

Test(mutants, every_sum_is_caught)
{
    expect_caught(mutants, mutant_count);
}

Test(mutants, every_sum_of_pieces_is_caught)
{
    expect_caught(piece_mutants, piece_mutant_count);
}

Test(mutants, every_sum_of_any_order_is_caught)
{
    expect_caught(binned_mutants, binned_mutant_count);
}

Test(mutants, every_scan_is_caught)
{
    expect_caught(scan_mutants, scan_mutant_count);
}

Test(mutants, everything_rounded_is_caught)
{
    expect_caught(rounded_mutants, rounded_mutant_count);
}
