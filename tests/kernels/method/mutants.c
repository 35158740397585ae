/* The checks of the tests that walk the registry can fail: they catch methods that are broken on
 * purpose. */
#include "tests/mutants/caught.h"

Test(mutants, every_sum_is_caught)
{
    mutants_expect_caught(mutants, mutant_count);
}

Test(mutants, every_sum_of_pieces_is_caught)
{
    mutants_expect_caught(piece_mutants, piece_mutant_count);
}

Test(mutants, every_sum_of_any_order_is_caught)
{
    mutants_expect_caught(binned_mutants, binned_mutant_count);
}

Test(mutants, every_scan_is_caught)
{
    mutants_expect_caught(scan_mutants, scan_mutant_count);
}

Test(mutants, everything_rounded_is_caught)
{
    mutants_expect_caught(rounded_mutants, rounded_mutant_count);
}
