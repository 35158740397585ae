/* Matrix products: candidates on other orders of k, on drawn ones, and on adversarial operands;
 * each element of D is held to its exact value. */
#include <math.h>
#include <stdlib.h>

#include "experiments/cases/case_text.h"
#include "experiments/inputs/philox.h"
#include "experiments/studies/recommend/candidates.h"
#include "experiments/studies/recommend/outputs.h"
#include "experiments/system/memory.h"
#include "reference/exact/mpfr.h"

/* Column k of A and row k of B are what changes places, is drawn, and is ordered: by the sum of the
 * products that they give, over all elements of D, or of their magnitudes. */

/* What is ordered: one k, and the sum that it is ordered by. */
struct part {
    double weight;
    uint32_t k;
};

static int ascending(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return x->weight != y->weight ? (x->weight > y->weight ? 1 : -1)
                                  : (x->k > y->k) - (x->k < y->k);
}

static void weigh(struct part *part, const struct matrices *m, bool magnitudes)
{
    for (size_t k = 0; k < m->k; k++) {
        double sum[2] = {0, 0};
        for (int side = 0; side < 2; side++)
            for (size_t i = 0; i < (side == 0 ? m->m : m->n); i++) {
                const double x = matrices_element(m, side, i, k);
                sum[side] += magnitudes ? fabs(x) : x;
            }
        part[k] = (struct part){sum[0] * sum[1], (uint32_t)k};
    }
}

static void reverse(struct part *part, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        struct part first = part[i];
        part[i] = part[--count];
        part[count] = first;
    }
}

static void shuffle(struct part *part, size_t count, uint64_t seed)
{
    for (size_t i = count; i > 1; i--) {
        struct draw d = random_draw(seed, RANDOM_PLACING, i / 2);
        size_t k = random_below(d.word[i % 2], i);
        struct part other = part[k];
        part[k] = part[i - 1];
        part[i - 1] = other;
    }
}

static void choose_order(struct part *part, const struct matrices *m, enum recommend_kind kind,
                         uint64_t seed)
{
    weigh(part, m, kind != RECOMMEND_ASCENDING && kind != RECOMMEND_DESCENDING);
    if (kind == RECOMMEND_RESAMPLE) {
        for (size_t i = 0; i < m->k; i++) {
            struct draw d = random_draw(seed, RANDOM_PLACING, i / 2);
            part[i].k = (uint32_t)random_below(d.word[i % 2], m->k);
        }
    } else if (kind == RECOMMEND_SHUFFLE) {
        shuffle(part, m->k, seed);
    } else if (kind != RECOMMEND_ONE_SIGN) {
        qsort(part, m->k, sizeof *part, ascending);
    }
    if (kind == RECOMMEND_DESCENDING || kind == RECOMMEND_LARGE || kind == RECOMMEND_CLIMB)
        reverse(part, m->k);
}

/* All products negative from where half of what they add up to is reached. */
static void turn_back(const struct matrices *m, struct part *part)
{
    double all = 0, sum = 0;
    weigh(part, m, true);
    for (size_t k = 0; k < m->k; k++)
        all += part[k].weight;
    for (size_t k = 0; k < m->k; k++) {
        for (size_t i = 0; i < m->m && !(sum < all / 2); i++) {
            size_t at = i * m->a_row + k * m->a_next;
            array_set_bits(&m->a, at, format_encode(m->a.format, -array_get(&m->a, at)));
        }
        sum += part[k].weight;
    }
}

static enum status arrange(const struct recommend_report *r, const struct array *to,
                           const struct array *from, enum recommend_kind kind, uint64_t seed,
                           struct problem *p)
{
    const struct operation *o = experiment_only(recommend_use_of(r)->experiment);
    struct setting_operands made = {.of.in = *from};
    struct matrices m;
    enum status status = setting_make(&made, o, &r->setting, 1, p);
    if (status != STATUS_OK)
        return status;
    size_t terms = setting_terms(o, &made.of);
    struct part *part = calloc(terms + 1, sizeof *part);
    uint32_t *order = calloc(terms + 1, sizeof *order);
    if (part && order && setting_matrices(&m, o, &made.of)) {
        choose_order(part, &m, kind, seed);
        for (size_t k = 0; k < terms; k++)
            order[k] = part[k].k;
        setting_reorder(o, to, from, &made.of, order);
        made.of.in = *to;
        if (kind == RECOMMEND_RETURN && setting_matrices(&m, o, &made.of))
            turn_back(&m, part);
    } else {
        status = problem(p, STATUS_MEMORY, "recommend: out of memory for %zu products", terms);
    }
    free(part);
    free(order);
    setting_free(&made);
    return status;
}

static enum status fill(void *context, const struct array *to, const struct array *from,
                        enum recommend_kind kind, uint64_t seed, struct problem *p)
{
    size_t bytes = array_bytes(from->format, from->n);
    struct array copy = {from->format, from->n, malloc(bytes + 1)};
    if (!copy.data)
        return problem(p, STATUS_MEMORY, "recommend: out of memory for %zu elements", from->n);
    memcpy(copy.data, from->data, bytes);
    for (size_t i = 0; i < copy.n && recommend_adversarial(kind); i++)
        array_set_bits(&copy, i, format_encode(copy.format, fabs(array_get(&copy, i))));
    memcpy(to->data, copy.data, bytes);
    enum status status = arrange(context, to, &copy, kind, seed, p);
    free(copy.data);
    return status;
}

/* --- the exact elements, and what an error of 1 is for each --- */

void recommend_product_free(struct recommend_product *product)
{
    for (size_t i = 0; i < product->outputs; i++)
        mpfr_clears(product->exact[i], product->unit[i], (mpfr_ptr)0);
    free(product->exact);
    free(product->unit);
    free(product->largest);
    shared_end(&product->shared);
    free(product);
}

/* Rounded down where it is rounded, so that errors are never told too small. */
static void set_unit(mpfr_t unit, const struct recommend_report *r, const mpfr_t exact,
                     const mpfr_t magnitudes)
{
    switch (r->request.tolerance.quantity) {
    case RECOMMEND_ULP:
        mpfr_set_d(unit, format_ulp(r->source->array.format, mpfr_get_d(exact, MPFR_RNDZ)),
                   MPFR_RNDD);
        break;
    case RECOMMEND_BACKWARD:
        mpfr_set(unit, magnitudes, MPFR_RNDD);
        break;
    case RECOMMEND_REL:
    case RECOMMEND_QUANTITIES:
        mpfr_abs(unit, exact, MPFR_RNDD);
    }
}

static void set_exact(struct recommend_product *product, const struct recommend_report *r, size_t i,
                      mpfr_t magnitudes)
{
    if (product->shared.values.value) {
        recommend_row_value(product, i, product->exact[i], magnitudes);
        set_unit(product->unit[i], r, product->exact[i], magnitudes);
        return;
    }
    const struct matrices_packed *packed = &product->shared.packed;
    bool backward = r->request.tolerance.quantity == RECOMMEND_BACKWARD;
    struct exact sum;
    if (!matrices_sum(packed, i, &sum)) {
        matrices_mpfr(packed, i, product->exact[i], magnitudes);
    } else {
        exact_get(product->exact[i], &sum);
        if (backward) { /* the sum of what is positive and of what is negative: of every term */
            exact_get_abs(magnitudes, &sum);
        }
    }
    mpfr_prec_t least = mpfr_min_prec(product->exact[i]);
    mpfr_prec_round(product->exact[i], least > 1 ? least : 1, MPFR_RNDN); /* exact */
    set_unit(product->unit[i], r, product->exact[i], magnitudes);
}

static struct study_case case_of(const struct recommend_report *r,
                                 const struct recommend_candidate *c, size_t n)
{
    return (struct study_case){.method = c->method,
                               .device = r->device,
                               .accumulator = c->accumulator,
                               .setting = c->setting,
                               .shape = method_shape(c->method, r->device.kind, n, c->asked)};
}

/* What cases like the candidate's share. */
static enum status share(const struct recommend_report *r, const struct recommend_candidate *c,
                         struct recommend_sample *s, struct problem *p)
{
    struct recommend_product *product = s->product;
    struct study_case t = case_of(r, c, s->array.n);
    bool kept = shared_keep(&product->shared, &t);
    product->like = t;
    if (kept) {
        product->shared.like = &product->like;
        return STATUS_OK;
    }
    shared_end(&product->shared);
    return shared_begin(&product->shared, &product->like, &s->source, REFERENCE_FAST, p);
}

static enum status make_exact(struct recommend_product *product, const struct recommend_report *r,
                              struct problem *p)
{
    mpfr_t magnitudes;
    size_t outputs = shared_outputs(&product->shared);
    product->exact = calloc(outputs + 1, sizeof *product->exact);
    product->unit = calloc(outputs + 1, sizeof *product->unit);
    if (!product->exact || !product->unit)
        return problem(p, STATUS_MEMORY, "recommend: out of memory for %zu elements", outputs);
    enum status status = recommend_row_largest(product, p);
    if (status != STATUS_OK)
        return status;
    mpfr_init2(magnitudes, MPFR_PREC_MIN);
    for (; product->outputs < outputs; product->outputs++) {
        mpfr_init2(product->exact[product->outputs], MPFR_PREC_MIN);
        mpfr_init2(product->unit[product->outputs], 64);
        set_exact(product, r, product->outputs, magnitudes);
    }
    mpfr_clear(magnitudes);
    return STATUS_OK;
}

enum status recommend_sample_outputs(const struct recommend_report *r, struct recommend_sample *s,
                                     enum recommend_kind kind, uint64_t draw, size_t n,
                                     struct device device, recommend_fill *fill, struct problem *p)
{
    enum status status = recommend_sample_begin(
        s, r->source, kind, draw, n, r->request.plan->axes->seed.item[0], fill, (void *)r, p);
    if (status != STATUS_OK)
        return status;
    s->product = calloc(1, sizeof *s->product);
    if (s->product) {
        status = share(r, &r->candidate[0], s, p);
        if (status == STATUS_OK)
            status = make_exact(s->product, r, p);
        if (status == STATUS_OK && device.kind == DEVICE_CUDA)
            status = gpu_upload(&s->gpu, device.index, &s->array, 0, p);
        if (status != STATUS_OK)
            recommend_sample_free(s);
        return status;
    }
    if (s->owned) {
        source_free(&s->source);
        free(s->array.data);
    }
    return problem(p, STATUS_MEMORY, "recommend: out of memory");
}

static enum status sample(const struct recommend_report *r, struct recommend_sample *s,
                          enum recommend_kind kind, uint64_t draw, size_t n, struct device device,
                          struct problem *p)
{
    return recommend_sample_outputs(r, s, kind, draw, n, device, fill, p);
}

/* --- one candidate on them --- */

/* The error of an element in the quantity, rounded up; NaN where the result is no number. */
static double error_at(const struct recommend_product *product, size_t i, double result)
{
    mpfr_t error;
    if (!mpfr_number_p(product->exact[i])) /* of drawn rows alone */
        return mpfr_nan_p(product->exact[i]) && isnan(result) ? 0 : NAN;
    if (!isfinite(result))
        return isnan(result) ? NAN : INFINITY;
    mpfr_init2(error, 64);
    mpfr_sub_d(error, product->exact[i], result, MPFR_RNDA);
    if (!mpfr_zero_p(error))
        mpfr_div(error, error, product->unit[i], MPFR_RNDA);
    double value = fabs(mpfr_get_d(error, MPFR_RNDA));
    mpfr_clear(error);
    return value;
}

struct running {
    const struct recommend_report *r;
    struct recommend_sample *s;
    struct study_case t;
    struct tally tally;
    struct array out;
    struct recommend_outcome worst;
};

/* Where in D, or in the matrix whose rows they are of, the output lies. */
static void set_place(struct recommend_outcome *o, const struct recommend_report *r,
                      const struct recommend_product *product)
{
    size_t columns = r->setting.shape.n;
    if (product->shared.values.value)
        recommend_row_place(r, o, product);
    else if (columns > 0)
        o->place = (struct recommend_place){2, recommend_row_of(r, o->output),
                                            recommend_column_of(r, o->output)};
}

static void find_worst(struct running *w)
{
    for (size_t i = 0; i < w->out.n; i++) {
        double result = array_get(&w->out, i);
        double error = error_at(w->s->product, i, result);
        if ((i == 0 && w->tally.count == 1) || figure_worse(error, w->worst.error)) {
            w->worst.error = error;
            w->worst.result = result;
            w->worst.exact = mpfr_get_d(w->s->product->exact[i], MPFR_RNDN);
            w->worst.output = i;
            set_place(&w->worst, w->r, w->s->product);
        }
    }
}

/* Counts a run; measures a product that was not seen before. */
static enum status meet(struct running *w, struct distinct **d,
                        const struct runner_results *results, size_t i, struct problem *p)
{
    struct scan_measure m = {0};
    struct shared *shared = &w->s->product->shared;
    *d = tally_add(&w->tally, results->digest[i]);
    if (!*d)
        return problem(p, STATUS_MEMORY, "recommend: out of memory for results");
    if ((*d)->count > 1)
        return STATUS_OK;
    enum status status = results->output(results->source, i, &w->out, p);
    if (status == STATUS_OK)
        status = shared_measure(&m, shared, &w->t, &w->out, NULL, p);
    if (status != STATUS_OK)
        return status;
    sweep_entry(*d, shared, &w->t, &m, &w->out);
    find_worst(w);
    return STATUS_OK;
}

static enum status take(void *context, const struct runner_results *results, struct problem *p)
{
    struct running *w = context;
    struct distinct *d;
    for (size_t i = 0; i < results->runs; i++) {
        uint64_t time_ns = results->time_ns ? results->time_ns[i] : 0;
        enum status status = meet(w, &d, results, i, p);
        if (status == STATUS_OK && results->time_ns && !tally_time(&w->tally, time_ns))
            status = problem(p, STATUS_MEMORY, "recommend: out of memory for results");
        if (status != STATUS_OK)
            return status;
        results_append(w->r->request.results,
                       &(struct results_row){.run = w->tally.runs,
                                             .value = &d->value_text,
                                             .exact = &w->s->product->shared.last.exact,
                                             .errors = &d->errors_text,
                                             .scan = &d->scan_text,
                                             .timed = results->time_ns != NULL,
                                             .time_ns = time_ns,
                                             .outcome = d->outcome});
    }
    return csv_file_flush(&w->r->request.results->file, p);
}

static enum status summarise(struct running *w, const struct case_text *text, struct problem *p)
{
    struct summary summary;
    struct csv_file *file = w->r->request.summary;
    const struct shared *shared = &w->s->product->shared;
    tally_summary(&summary, &w->tally, tally_ulp(shared->last.reference.sum, w->t.setting.output),
                  (struct figure){true, array_get(&shared->twin, shared->shown)});
    summary_row(&file->pending, text->column, &summary, operation_columns(w->t.method->operation));
    return csv_file_flush(file, p);
}

static enum status run_all(struct running *w, const struct case_text *text, struct problem *p)
{
    struct operands of = w->s->product->shared.made.of;
    setting_put(&of, &w->t.setting);
    struct runner runner = {.method = w->t.method,
                            .device = w->r->device,
                            .of = &of,
                            .gpu = w->s->gpu,
                            .accumulator = w->t.accumulator,
                            .output = w->t.setting.output,
                            .shape = w->t.shape,
                            .stop = w->r->request.stop};
    enum status status =
        memory_array(&w->out, w->t.setting.output, w->s->product->outputs, w->t.method->name, p);
    if (status == STATUS_OK)
        status = runner_run(&runner, recommend_runs(w->t.method), take, w, p);
    if (status == STATUS_OK)
        status = summarise(w, text, p);
    else if (status != STATUS_INTERRUPTED)
        recommend_fail(w->r, &w->s->product->shared.last.exact, w->tally.runs + 1, p);
    free(w->out.data);
    return status;
}

enum status recommend_run_outputs(const struct recommend_report *r,
                                  const struct recommend_candidate *c, struct recommend_sample *s,
                                  struct recommend_outcome *o, struct problem *p)
{
    struct running w = {.r = r, .s = s, .t = case_of(r, c, s->array.n), .worst.error = NAN};
    struct case_text text;
    enum status status = share(r, c, s, p);
    *o = (struct recommend_outcome){.error = NAN};
    if (status != STATUS_OK)
        return status;
    w.t.id = case_id(&w.t, &s->source);
    case_text(&text, &w.t, &s->source, "recommend", s->product->shared.last.cond_log2);
    results_case(r->request.results, text.column);
    status = run_all(&w, &text, p);
    if (status == STATUS_OK)
        *o = w.worst;
    memcpy(o->id, text.id, sizeof o->id);
    tally_free(&w.tally);
    return status;
}

/* --- what is known of the data --- */

/* Of models: the bound on the element where it is largest, in the quantity, rounded up. */
static struct figure bound_of(const struct recommend_report *r, const struct recommend_candidate *c,
                              const struct recommend_sample *s)
{
    const struct recommend_product *product = s->product;
    struct operands of = product->shared.made.of;
    struct figure most = {c->method->given, 0};
    const struct shape shape = method_shape(c->method, r->device.kind, s->array.n, c->asked);
    mpfr_t bound;
    setting_put(&of, &c->setting);
    mpfr_init2(bound, 64);
    for (size_t i = 0; i < product->outputs && most.known; i++) {
        mpfr_set_d(bound, c->method->given(&of, c->accumulator, shape, &product->shared.packed, i),
                   MPFR_RNDU);
        if (!mpfr_zero_p(bound))
            mpfr_div(bound, bound, product->unit[i], MPFR_RNDU);
        most.value = fmax(most.value, mpfr_get_d(bound, MPFR_RNDU));
    }
    mpfr_clear(bound);
    return most;
}

static enum status begin(struct recommend_report *r, const struct recommend_sample *s,
                         struct problem *p)
{
    size_t odd = 0;
    if (s->product->outputs == 0)
        return problem(p, STATUS_USAGE, "%s: found no elements of D, expected some",
                       r->source->name);
    for (size_t i = 0; i < s->array.n; i++)
        odd += !isfinite(array_get(&s->array, i));
    if (odd > 0)
        return problem(
            p, STATUS_DATA,
            "%s: found infinities or NaNs in %zu places, expected finite elements: the error of "
            "such a product is not a number",
            r->source->name, odd);
    for (size_t i = 0; i < r->count; i++)
        r->candidate[i].bound = bound_of(r, &r->candidate[i], s);
    return STATUS_OK;
}

/* Widely spaced: what lies between two is told by asking with --promote. */
static const struct experiment products = {
    .name = "recommend",
    .operation = {&operation_gemm},
    .promote = "32,64,128,256,512,1024,2048,4096",
    .takes_scales = true,
    .axes = {[DEVICE_CPU] = {.formats = "all", .n = "1", .runs = 1},
             [DEVICE_CUDA] = {.formats = "all", .n = "1", .runs = 1}},
};

const struct recommend_use recommend_products = {
    .experiment = &products,
    .sweep = "gemm",
    .unit = {"|exact element|", "sum|a b|", "ulp"},
    .exact = "the exact element",
    .stands_in = true,
    .sample = sample,
    .run = recommend_run_outputs,
    .begin = begin,
    .part = recommend_part,
};
