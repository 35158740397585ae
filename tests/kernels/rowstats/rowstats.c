/* Statistics of rows: what every method is held to, holds.h and statistics.h hold them to; here
 * that faults are found. */
#include <criterion/criterion.h>

#include <math.h>

#include "tests/support/statistics.h"

/* A method that forgets the last element of the last row, or changes the last bit of an output. */
static const struct method *victim;
static bool forgets;

static enum status faulty(const struct task *t, struct problem *p)
{
    struct operands of = *t->of;
    struct task other = *t;
    other.of = &of;
    double last, now;
    size_t n = of.in.n;
    bool forget = forgets && n > 1;
    if (forget) {
        array_decode(&of.in, n - 1, 1, &last);
        array_decode(&of.in, n - 2, 1, &now);
        array_encode(&of.in, n - 1, 1, &now);
    }
    enum status status = victim->cpu(&other, p);
    if (forget)
        array_encode(&of.in, n - 1, 1, &last);
    if (!forgets && t->out.n > 0)
        array_set_bits(&t->out, t->out.n - 1, array_bits(&t->out, t->out.n - 1) ^ 1);
    return status;
}

Test(rowstats, faults_are_found)
{
    char why[WHY] = "";
    size_t found = 0;
    for (size_t i = 0; i < method_count; i++) {
        struct method broken = *method_registry[i];
        if (!operation_of_rows(broken.operation) || !broken.cpu)
            continue;
        victim = method_registry[i];
        broken.cpu = faulty;
        forgets = true;
        cr_expect(!holds_bound(&broken, why), "%s that replaces an element", broken.name);
        forgets = false;
        if (broken.promise == PROMISE_CORRECTLY_ROUNDED)
            cr_expect(!holds_bound(&broken, why), "%s with a wrong bit", broken.name);
        found++;
    }
    cr_expect(found >= 9);
}
