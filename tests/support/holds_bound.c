#include <inttypes.h>
#include <stdlib.h>

#include "experiments/inputs/input.h"
#include "reference/measure/measure.h"
#include "tests/support/holds_scan.h"
#include "tests/support/matrices.h"
#include "tests/support/statistics.h"
#include "tests/support/scatters.h"

static double largest_of(enum format f)
{
    return format_facts[f].largest;
}

/* Must every order's result be finite? So it is where sum|x| and the bound together stay within
 * range: no partial sum can exceed them. */
static bool must_be_finite(const struct reference *r, const struct theorem *t, enum format s,
                           enum format f)
{
    mpfr_t reach;
    mpfr_init2(reach, 2600);
    struct theorem any = {.kind = THEOREM_ANY_ORDER, .flushing = t->flushing};
    bool bounded = theorem_bound(reach, &any, r, s, f);
    if (bounded)
        mpfr_add(reach, reach, r->sum_abs, MPFR_RNDU);
    bool finite = bounded && mpfr_cmp_d(reach, largest_of(f)) <= 0;
    if (t->kind == THEOREM_SPLIT) /* stores sums in the other format */
        finite = finite && mpfr_cmp_d(reach, largest_of(s)) <= 0;
    mpfr_clear(reach);
    return finite;
}

/* One result against the theorem. */
static bool holds_result(const struct method *m, const struct array *in, const struct reference *r,
                         enum format f, struct shape shape, const char *input, char why[WHY])
{
    uint64_t bits = 0;
    struct measure measured;
    struct theorem t = method_theorem(m, DEVICE_CPU, f, in->n, shape);
    if (run_method_once(m, in, f, shape, &bits) != STATUS_OK)
        return not_held(why, m, in->format, f, in->n, shape, "it could not be run");
    double result = format_decode(f, bits);
    measure(&measured, r, in->format, f, result, &t);
    if (measured.broken)
        return not_held(why, m, in->format, f, in->n, shape,
                        "%s: result %a is %g off, the bound is %g", input, result,
                        measured.err_abs.value, measured.bound.value);
    if (!(result - result == 0) && only_adds(m) && must_be_finite(r, &t, in->format, f))
        return not_held(why, m, in->format, f, in->n, shape,
                        "%s: result %a, but no order overflows", input, result);
    if (mpfr_nan_p(r->sum) && result == result)
        return not_held(why, m, in->format, f, in->n, shape, "%s: result %a, expected NaN", input,
                        result);
    return true;
}

/* Methods of one value, on one input: the reference is computed once. */
static bool check_array(const struct method *const *m, size_t count, const struct array *in,
                        const char *input, char why[WHY])
{
    struct reference r;
    if (reference_compute_of(&r, value_due(*m), in, NULL, REFERENCE_FAST, NULL) != STATUS_OK)
        return not_held(why, *m, in->format, FORMATS, in->n, (struct shape){0, 0}, "no reference");
    bool fine = true;
    for (size_t i = 0; fine && i < count; i++) {
        struct shape shape[SHAPES_TRIED];
        size_t shapes = shapes_tried(m[i], in->n, shape);
        for (enum format f = 0; fine && f < ACCUMULATORS; f++)
            if (method_supports(m[i], DEVICE_CPU, in->format, f))
                for (size_t k = 0; fine && k < shapes; k += 5)
                    fine = holds_result(m[i], in, &r, f, shape[k], input, why);
    }
    reference_free(&r);
    return fine;
}

/* Next to each other, or a row of a tile apart. */
void make_largest(struct array *a, unsigned i)
{
    const struct format_facts *facts = &format_facts[a->format];
    const double largest = facts->largest, ulp = format_ulp(a->format, largest);
    const double value[] = {largest, -largest, -1.5 * ulp};
    const size_t apart = i % 2 ? 256 : 1;
    a->n = 2 * apart + 1;
    memset((void *)(uintptr_t)a->data, 0, a->n * facts->bytes);
    i /= 2;
    for (size_t k = 0; k < 3; k++, i /= 3)
        array_encode(a, k * apart, 1, &value[i % 3]);
}

static bool holds_all_largest(const struct method *const *m, size_t count, double *data,
                              char why[WHY])
{
    for (enum format s = 0; s < ACCUMULATORS; s++)
        for (unsigned i = 0; i < LARGEST_ARRAYS; i++) {
            struct array in = {s, 0, data};
            make_largest(&in, i);
            if (!check_array(m, count, &in, "largest numbers", why))
                return false;
        }
    return true;
}

static bool has_own_inputs(const struct method *m)
{
    return m->operation == &operation_scan || m->operation == &operation_scatter ||
           matrix_takes(m) || m->operation->matrices || m->operation->ranks ||
           m->operation->of_rows;
}

bool bound_alike(const struct method *a, const struct method *b)
{
    if (a->operation->of_rows)
        return a->operation == b->operation;
    return !has_own_inputs(a) && !has_own_inputs(b) && value_due(a) == value_due(b);
}

bool holds_bound(const struct method *m, char why[WHY])
{
    return holds_bounds(&m, 1, why);
}

bool holds_bounds(const struct method *const *m, size_t count, char why[WHY])
{
    if ((*m)->operation->matrices || /* tests/reference/measure/matrices.c */
        (*m)->operation->ranks)      /* tests/kernels/allreduce/ */
        return true;
    if ((*m)->operation == &operation_scan)
        return holds_scan_bound(*m, why);
    if ((*m)->operation == &operation_scatter)
        return holds_scatter_bound(*m, why);
    if ((*m)->operation->of_rows)
        return holds_statistic_bounds(m, count, why);
    if (matrix_takes(*m))
        return holds_matrix_bound(*m, why);
    static const size_t lengths[] = {1, 2, 100, 1000, 5000};
    static double data[5000];
    for (size_t i = 0; i < input_family_count; i++)
        for (enum arrangement how = 0; how < ARRANGEMENTS; how++)
            for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
                for (enum format s = 0; s < ACCUMULATORS; s++) {
                    struct array in = {s, lengths[k], data};
                    struct input input;
                    char name[INPUT_TEXT];
                    if (input_parse(&input, input_families[i]->name, NULL) != STATUS_OK)
                        return not_held(why, *m, s, FORMATS, lengths[k], (struct shape){0, 0},
                                        "no input %s", input_families[i]->name);
                    input.arrangement = how;
                    input_name(&input, name);
                    if (how != ARRANGED_AS_GENERATED &&
                        (lengths[k] != 1000 || (i + s) % ARRANGEMENTS != how))
                        continue;
                    /* A family may not have a member of this size in this format. */
                    if (input_generate(&input, &in, k + 1, 0, NULL) == STATUS_OK &&
                        !check_array(m, count, &in, name, why))
                        return false;
                }
    return holds_all_largest(m, count, data, why);
}
