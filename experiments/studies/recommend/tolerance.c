/* Tolerances: what an error is measured in, and how much of it is allowed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/studies/recommend/candidates.h"
#include "experiments/studies/recommend/recommend.h"
#include "reference/format/number.h"
#include "reports/text/near.h"

/* How long the sum may grow: what the method's theorem guarantees, and where formats end. */

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

/* Two-level accumulation, on the CPU: a stand-in for hardware that adds narrow and promotes. */

/* `method` is a member of the entry that says how long chunks are. */
static const struct recommend_promoted *entry_of(const struct method *m)
{
    for (size_t i = 0; i < recommend_promoted_count; i++)
        if (&recommend_promoted[i].method == m)
            return &recommend_promoted[i];
    return NULL;
}

static enum format in_fp16(enum format accumulator)
{
    (void)accumulator;
    return FP16;
}

static enum format in_bf16(enum format accumulator)
{
    (void)accumulator;
    return BF16;
}

static enum status cpu(const struct task *t, struct problem *p)
{
    const struct recommend_promoted *c = entry_of(t->method);
    enum format f = t->accumulator;
    double block[ARRAY_BLOCK], sum = 0, partial = 0;
    if (!c)
        return problem(p, STATUS_USAGE, "two-level accumulation: not one of its methods");
    for (size_t i = 0; i < t->of->in.n; i++) {
        size_t left = t->of->in.n - i;
        if (i % ARRAY_BLOCK == 0)
            array_decode(&t->of->in, i, left < ARRAY_BLOCK ? left : ARRAY_BLOCK, block);
        double x = format_round(c->partial, block[i % ARRAY_BLOCK]);
        partial = i % c->chunk == 0 ? x : format_add(c->partial, partial, x);
        if (i % c->chunk == c->chunk - 1 || left == 1)
            sum = i < c->chunk ? partial : format_add(f, sum, partial);
    }
    array_encode(&t->out, 0, 1, &sum);
    return STATUS_OK;
}

#define PROMOTED(format, narrow, k, wide)                                                          \
    {                                                                                              \
        .partial = format, .chunk = k,                                                             \
        .method = {.name = "two-level/" #narrow ":" #k,                                            \
                   .summary = "partial sums of " #k " elements in " #narrow ", promoted",          \
                   .operation = &operation_sum,                                                    \
                   .promise = PROMISE_GPU_TO_GPU,                                                  \
                   .pairs = {FORMAT_PAIRS_FROM_ALL(IN(wide))},                                     \
                   .addition = ADDITION_TWO_LEVEL,                                                 \
                   .adds_in = in_##narrow,                                                         \
                   .bound = THEOREM_NONE,                                                          \
                   .cpu = cpu},                                                                    \
    }

/* From the longest chunk, the cheapest, to the shortest. */
const struct recommend_promoted recommend_promoted[] = {
    PROMOTED(FP16, fp16, 4096, FP32), PROMOTED(FP16, fp16, 1024, FP32),
    PROMOTED(FP16, fp16, 256, FP32),  PROMOTED(FP16, fp16, 64, FP32),
    PROMOTED(FP16, fp16, 16, FP32),   PROMOTED(FP16, fp16, 4, FP32),
    PROMOTED(BF16, bf16, 4096, FP32), PROMOTED(BF16, bf16, 1024, FP32),
    PROMOTED(BF16, bf16, 256, FP32),  PROMOTED(BF16, bf16, 64, FP32),
    PROMOTED(BF16, bf16, 16, FP32),   PROMOTED(BF16, bf16, 4, FP32),
};
const size_t recommend_promoted_count = sizeof recommend_promoted / sizeof *recommend_promoted;

bool recommend_promotes(const struct recommend_promoted *c, enum format storage,
                        enum format accumulator)
{
    return format_pairs_have(&c->method.pairs[DEVICE_CPU], storage, accumulator);
}

const char *const recommend_quantity_name[RECOMMEND_QUANTITIES] = {"rel", "backward", "ulp"};

static enum status find_quantity(enum recommend_quantity *found, const char *name,
                                 struct problem *p)
{
    for (*found = 0; *found < RECOMMEND_QUANTITIES; (*found)++)
        if (strcmp(name, recommend_quantity_name[*found]) == 0)
            return STATUS_OK;
    return near_unknown_option(p, "quantity", name, "rel, backward or ulp");
}

/* Does a text end so? Then its length is that of what stands before. */
static bool has_unit(const char *text, const char *unit, size_t *length)
{
    size_t own = strlen(unit);
    if (*length < own || strcmp(text + *length - own, unit) != 0)
        return false;
    *length -= own;
    return true;
}

enum status recommend_tolerance_parse(struct recommend_tolerance *t, const char *text,
                                      const char *quantity, struct problem *p)
{
    size_t length = strlen(text);
    bool ulp = has_unit(text, "ulp", &length), bits = !ulp && has_unit(text, "bits", &length);
    *t = (struct recommend_tolerance){.quantity = RECOMMEND_REL};
    snprintf(t->text, sizeof t->text, "%s", text);
    if (!real_read(&t->limit, text, length))
        return problem(p, STATUS_USAGE,
                       "option --tolerance: found '%s', expected a number from 0 on, as 1e-3, "
                       "4ulp or 0.5bits",
                       text);
    enum status status = quantity ? find_quantity(&t->quantity, quantity, p) : STATUS_OK;
    if (status == STATUS_OK && (ulp || bits) && quantity && t->quantity != RECOMMEND_ULP)
        status = problem(p, STATUS_USAGE,
                         "option --tolerance: found '%s' with --quantity %s, expected a plain "
                         "number, or --quantity ulp",
                         text, quantity);
    if (ulp || bits)
        t->quantity = RECOMMEND_ULP;
    /* Rounding once costs half an ulp at most; b bits less are 2^b times that. */
    if (bits)
        t->limit = 0.5 * exp2(t->limit);
    return status;
}

/* Sets `unit` to what an error of 1 is. */
static void unit_of(mpfr_t unit, const struct recommend_tolerance *t, const struct reference *r,
                    enum format storage)
{
    if (t->quantity == RECOMMEND_ULP)
        mpfr_set_d(unit, format_ulp(storage, mpfr_get_d(r->sum, MPFR_RNDZ)), MPFR_RNDN);
    else
        mpfr_abs(unit, t->quantity == RECOMMEND_REL ? r->sum : r->sum_abs, MPFR_RNDN);
}

double recommend_error(const struct recommend_tolerance *t, const struct measure *m,
                       const struct reference *r, enum format storage)
{
    if (!m->err_abs.known || isnan(m->err_abs.value))
        return NAN;
    if (m->err_abs.value == 0)
        return 0;
    if (t->quantity == RECOMMEND_ULP)
        return m->err_abs.value / format_ulp(storage, mpfr_get_d(r->sum, MPFR_RNDZ));
    const struct figure *f = t->quantity == RECOMMEND_REL ? &m->err_rel : &m->err_backward;
    return f->known ? f->value : INFINITY;
}

struct figure recommend_bound(const struct recommend_tolerance *t, const struct theorem *theorem,
                              const struct reference *r, enum format storage,
                              enum format accumulator)
{
    mpfr_t bound, unit;
    mpfr_init2(bound, 64);
    mpfr_init2(unit, 64);
    struct figure f = {theorem_bound(bound, theorem, r, storage, accumulator), 0};
    unit_of(unit, t, r, storage);
    if (f.known && mpfr_zero_p(bound)) {
        f.value = 0;
    } else if (f.known) {
        mpfr_div(bound, bound, unit, MPFR_RNDU);
        f.value = mpfr_get_d(bound, MPFR_RNDU);
    }
    mpfr_clears(bound, unit, (mpfr_ptr)0);
    return f;
}
