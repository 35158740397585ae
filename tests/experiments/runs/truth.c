/* What results.csv shows of an exact value: true bits alone. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "experiments/runs/truth.h"

/* The first bits of values that no fraction is, cut towards 0, from Python's decimal with 300
 * digits; trailing zeros are left out. */
Test(truth, bits_of_values_without_an_end)
{
    static const struct {
        enum exact_value of;
        const char *said;
    } due[] = {
        {EXACT_SUMEXP, "0x1.5e2d58d8b3bcdf1abadec7829054f90dda9805aab56c7732p+0"},
        {EXACT_LOGSUMEXP, "0x1.5031eafefb0491d0189442c189eb890a4ffb3860a8e041fep+0"},
        {EXACT_SOFTMAX, "0x1.136561454ba864d76b88ef1cd27b962c19b350be9052cb7cp-2"},
    };
    const double x[] = {0, 1};
    const struct array a = {FP64, 2, (void *)(uintptr_t)x};
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        struct truth t;
        struct problem p = {0};
        cr_assert(truth_make_of(&t, "x", due[i].of, &a, NULL, REFERENCE_FAST, &p) == STATUS_OK,
                  "%s", p.text);
        const char *hex = strchr(text_string(&t.exact), ',');
        char field[128] = "";
        cr_expect(hex && sscanf(hex, ",%127[^,]", field) == 1 && strcmp(field, due[i].said) == 0,
                  "%s, expected %s", field, due[i].said);
        truth_free(&t);
    }
}
