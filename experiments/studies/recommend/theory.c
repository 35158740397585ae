/* How long the sum may grow: what the method's theorem guarantees, and where formats end. */
#include <math.h>

#include "experiments/studies/recommend/candidates.h"

/* Of errors that are independent and 0 in the mean, a path of h of them adds up to lambda sqrt(h)
 * of one instead of h, but for a probability of 2 exp(-lambda^2 / 2): Higham and Mary 2019, Hallman
 * and Ipsen 2021. */
static bool make_likely(struct theorem *t, size_t n, double confidence)
{
    double h = t->kind == THEOREM_ANY_ORDER ? (double)n - 1 : (double)t->height;
    double lambda = sqrt(2 * log(2 / (1 - confidence)));
    if (t->kind == THEOREM_ANY_ORDER)
        t->kind = THEOREM_TREE;
    if (t->kind != THEOREM_TREE && t->kind != THEOREM_WIDENED)
        return false;
    double likely = ceil(lambda * sqrt(h));
    t->height = likely < h ? (size_t)likely : (size_t)h;
    return true;
}

/* Does the theorem keep n such elements within the limit? Sums are taken to grow as n does. */
static bool theorem_keeps(const struct recommend_report *r, const struct reference *data,
                          uint64_t n, bool likely)
{
    const struct recommend_candidate *c = &r->candidate[r->chosen];
    struct reference at = *data;
    struct shape shape = method_shape(c->method, r->device.kind, (size_t)n, c->asked);
    struct theorem theorem =
        method_theorem(c->method, r->device.kind, c->accumulator, (size_t)n, shape);
    if (likely && !make_likely(&theorem, (size_t)n, r->request.confidence))
        return false;
    at.n = (size_t)n;
    mpfr_init2(at.sum, 128);
    mpfr_init2(at.sum_abs, 128);
    mpfr_mul_ui(at.sum, data->sum, n, MPFR_RNDN);
    mpfr_div_ui(at.sum, at.sum, data->n, MPFR_RNDN);
    mpfr_mul_ui(at.sum_abs, data->sum_abs, n, MPFR_RNDU);
    mpfr_div_ui(at.sum_abs, at.sum_abs, data->n, MPFR_RNDU);
    struct figure f = recommend_bound(&r->request.tolerance, &theorem, &at, r->source->array.format,
                                      c->accumulator);
    mpfr_clears(at.sum, at.sum_abs, (mpfr_ptr)0);
    return f.known && recommend_holds(&r->request.tolerance, f.value);
}

/* Up to which n, within a part in 4096. */
static uint64_t keeps_to(const struct recommend_report *r, const struct reference *data,
                         bool likely)
{
    uint64_t keeps = 0, fails = RECOMMEND_ANY_LENGTH;
    for (uint64_t n = 1; n < fails; n *= 2)
        *(theorem_keeps(r, data, n, likely) ? &keeps : &fails) = n;
    if (fails == RECOMMEND_ANY_LENGTH)
        return fails;
    while (keeps > 0 && fails - keeps > 1 + keeps / 4096) {
        uint64_t n = keeps + (fails - keeps) / 2;
        *(theorem_keeps(r, data, n, likely) ? &keeps : &fails) = n;
    }
    return keeps;
}

static void find_theorem(struct recommend_report *r, const struct reference *data)
{
    struct recommend_growth *g = &r->growth;
    struct theorem theorem = {.kind = r->candidate[r->chosen].method->bound};
    g->theorem_known = theorem.kind != THEOREM_NONE;
    g->likely_known = make_likely(&theorem, 1, r->request.confidence);
    g->theorem_to = keeps_to(r, data, false);
    g->likely_to = g->likely_known ? keeps_to(r, data, true) : 0;
}

/* A running sum of elements like the mean m stands still where they are half a unit in its last
 * place, 2^p m; every order leaves the range where n m does. */
static void find_walls(struct recommend_report *r, const struct reference *data)
{
    struct recommend_growth *g = &r->growth;
    const struct format_facts *f = &format_facts[r->candidate[r->chosen].accumulator];
    double mean = fabs(mpfr_get_d(data->sum, MPFR_RNDN)) / (double)data->n;
    double of_abs = mpfr_get_d(data->sum_abs, MPFR_RNDN) / (double)data->n;
    if (!(mean > 0) || !isfinite(of_abs))
        return;
    g->stagnates = (struct figure){true, ldexp(of_abs / mean, f->precision)};
    g->overflows = (struct figure){true, f->largest / mean};
    /* No partial sum of any order is larger than sum|x|. */
    uint64_t *const to[] = {&g->theorem_to, &g->likely_to};
    for (size_t i = 0; i < 2; i++)
        if (f->largest / of_abs < (double)*to[i])
            *to[i] = (uint64_t)(f->largest / of_abs);
}

void recommend_theory(struct recommend_report *r, const struct reference *data)
{
    find_theorem(r, data);
    find_walls(r, data);
}
