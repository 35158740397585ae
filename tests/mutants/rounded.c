/* Methods that promise correct rounding and miss it by little. */
#include <math.h>
#include <stdlib.h>

#include "reference/exact/prefix.h"
#include "tests/mutants/mutants.h"

static enum status rounds_elements(const struct task *t, struct problem *p)
{
    (void)p;
    struct exact e;
    exact_init(&e);
    for (size_t i = 0; i < t->of->in.n; i++)
        exact_add(&e, format_round(t->accumulator, array_get(&t->of->in, i)));
    array_encode(&t->out, 0, 1, &(double){exact_round(&e, t->accumulator)});
    return STATUS_OK;
}

/* Right wherever |sum| is not far below sum|x|. */
static enum status sums_twofold(const struct task *t, struct problem *p)
{
    uint64_t bits = 0;
    struct task other = *t;
    other.accumulator = FP64;
    other.shape.threads = 1;
    other.out = (struct array){FP64, 1, &bits};
    enum status status = method_named("sum/sum2")->cpu(&other, p);
    array_encode(&t->out, 0, 1, &(double){double_from_bits(bits)});
    return status;
}

static enum status ignores_rests(const struct task *t, struct problem *p)
{
    struct task other = *t;
    double *prefix = malloc((t->of->in.n + 1) * sizeof *prefix);
    other.accumulator = FP64;
    other.out = (struct array){FP64, t->of->in.n, prefix};
    enum status status = method_named("scan/exact")->cpu(&other, p);
    for (size_t i = 0; i < t->of->in.n; i++)
        array_encode(&t->out, i, 1, &(double){format_round(t->accumulator, prefix[i])});
    free(prefix);
    return status;
}

#define BREAK(name, function)                                                                      \
    static void name(struct method *m)                                                             \
    {                                                                                              \
        m->cpu = function;                                                                         \
    }
BREAK(break_elements, rounds_elements)
BREAK(break_twofold, sums_twofold)
BREAK(break_rests, ignores_rests)

static void break_exaggerate(struct method *m)
{
    m->promise = PROMISE_CORRECTLY_ROUNDED;
}

const struct mutant rounded_mutants[] = {
    {"rounds elements first", "sum/exact", break_elements, holds_rounded},
    {"is good to twice the digits", "sum/exact", break_twofold, holds_rounded},
    {"rounds prefixes by way of fp64", "scan/exact", break_rests, holds_rounded},
    {"promises more than it keeps", "sum/sum2", break_exaggerate, holds_rounded},
    {"promises more than it keeps", "scan/compensated", break_exaggerate, holds_rounded},
};
const size_t rounded_mutant_count = sizeof rounded_mutants / sizeof *rounded_mutants;
