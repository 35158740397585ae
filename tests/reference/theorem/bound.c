/* No result over its method's theorem, on every input family. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "experiments/inputs/input.h"
#include "tests/support/holds.h"

/* Methods that read the same inputs and compute the same value are checked together, so that inputs
 * and references are made once for all of them. */
Test(bound, no_method_breaks_its_theorem)
{
    char why[WHY] = "";
    size_t checked = 0, due = 0;
    const struct method **alike = calloc(method_count, sizeof *alike);
    cr_assert(alike);
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        size_t count = 0;
        due += m->cpu != NULL;
        for (size_t k = 0; m->cpu && k < method_count; k++) {
            const struct method *other = method_registry[k];
            if (other->cpu && (k == i || bound_alike(m, other)))
                alike[count++] = other;
        }
        if (count == 0 || alike[0] != m) /* else checked with the first of them */
            continue;
        cr_expect(holds_bounds(alike, count, why), "%s", why);
        checked += count;
    }
    free(alike);
    cr_expect(checked == due && checked > 0 && input_family_count > 0);
}
