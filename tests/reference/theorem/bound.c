/* No result over its method's theorem, on every input family. */
#include <criterion/criterion.h>

#include "experiments/inputs/input.h"
#include "tests/support/checks.h"

Test(bound, no_method_breaks_its_theorem)
{
    char why[WHY] = "";
    size_t checked = 0;
    for (size_t i = 0; i < method_count; i++)
        if (method_registry[i]->cpu) {
            cr_expect(check_bound(method_registry[i], why), "%s", why);
            checked++;
        }
    cr_expect(checked > 0 && input_family_count > 0);
}
