/* Every method keeps the promise that it makes of its bits, on the CPU. */
#include <criterion/criterion.h>

#include "tests/support/holds.h"

Test(promise, every_method_keeps_its_promise)
{
    char why[WHY] = "";
    for (size_t i = 0; i < method_count; i++)
        if (method_registry[i]->cpu)
            cr_expect(holds_promise(method_registry[i], why), "%s", why);
}

Test(promise, nothing_one_element_and_negative_zeros)
{
    char why[WHY] = "";
    for (size_t i = 0; i < method_count; i++)
        if (method_registry[i]->cpu)
            cr_expect(holds_edges(method_registry[i], why), "%s", why);
}

static void expect_rounded(const struct operation *operation)
{
    char why[WHY] = "";
    size_t checked = 0;
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (m->operation == operation && m->promise == PROMISE_CORRECTLY_ROUNDED && m->cpu) {
            cr_expect(holds_rounded(m, why), "%s", why);
            checked++;
        }
    }
    cr_expect(checked > 0, "no %s promises it", operation->name);
}

Test(promise, correctly_rounded_sums_are_those_of_mpfr)
{
    expect_rounded(&operation_sum);
}

Test(promise, correctly_rounded_dot_products_are_those_of_mpfr)
{
    expect_rounded(&operation_dot);
}

Test(promise, correctly_rounded_prefixes_are_those_of_mpfr)
{
    expect_rounded(&operation_scan);
}

Test(promise, correctly_rounded_products_are_those_of_mpfr)
{
    expect_rounded(&operation_product);
}

Test(promise, correctly_rounded_norms_are_those_of_mpfr)
{
    expect_rounded(&operation_norm);
}

Test(promise, correctly_rounded_means_are_those_of_mpfr)
{
    expect_rounded(&operation_mean);
}

Test(promise, correctly_rounded_variances_are_those_of_mpfr)
{
    expect_rounded(&operation_variance);
}
