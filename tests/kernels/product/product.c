/* Products: every method against MPFR, with their exponents kept apart; and that the checks can
 * fail. */
#include <criterion/criterion.h>

#include "tests/support/factors.h"
#include "tests/mutants/caught.h"

static size_t each_of_product(bool ordered, bool (*check)(const struct method *m, char why[WHY]))
{
    char why[WHY] = "";
    size_t checked = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (m->operation != &operation_product || (ordered && !m->order))
            continue;
        cr_expect(check(m, why), "%s", why);
        checked++;
    }
    return checked;
}

Test(product, fixed_orders_are_mpfrs)
{
    cr_expect(each_of_product(true, holds_product_walk) >= 2);
}

Test(product, zeros_infinities_nans_and_signs)
{
    cr_expect(each_of_product(false, holds_product_specials) >= 4);
}

Test(product, nothing_overflows_on_the_way)
{
    cr_expect(each_of_product(false, holds_product_range) >= 4);
}

Test(product, next_to_halfway)
{
    char why[WHY] = "";
    cr_expect(holds_product_halfway(method_named("product/exact"), why), "%s", why);
}

Test(product, ends_of_the_range)
{
    char why[WHY] = "";
    cr_expect(holds_product_ends(method_named("product/exact"), why), "%s", why);
}

Test(product, every_mutant_is_caught)
{
    mutants_expect_caught(product_mutants, product_mutant_count);
}
