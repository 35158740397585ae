/* Every method keeps the promise that it makes of its bits, on the CPU. */
#include <criterion/criterion.h>

#include "tests/checks.h"

Test(promise, every_method_keeps_its_promise)
{
    char why[WHY] = "";
    for (size_t i = 0; i < method_count; i++)
        if (method_registry[i]->cpu)
            cr_expect(check_promise(method_registry[i], why), "%s", why);
}

Test(promise, nothing_one_element_and_negative_zeros)
{
    char why[WHY] = "";
    for (size_t i = 0; i < method_count; i++)
        if (method_registry[i]->cpu)
            cr_expect(check_edges(method_registry[i], why), "%s", why);
}
