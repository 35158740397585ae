/* run steps: a weight that many updates are added to. When does it stand still, and how wrong is
 * it along the way?
 *
 * It is no sweep over methods of the registry. A scan's output is one number of one order, with the
 * bounds of theorems that hold for every array; a weight here is one or two words and may draw
 * random numbers, whose bound is one of probability. But inputs, data, formats and options are
 * those of sweeps, and a plain weight has the bits of scan/serial. */
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/studies/steps_study.h"
#include "experiments/sweep/provenance.h"
#include "reference/base/grow.h"
#include "reference/exact/mpfr.h"
#include "reference/format/number.h"
#include "reports/csv/file.h"
#include "reports/results/directory.h"

bool steps_alike(const struct steps_case *a, const struct steps_case *b)
{
    return strcmp(a->source->name, b->source->name) == 0 &&
           a->source->array.n == b->source->array.n &&
           a->source->array.format == b->source->array.format && a->accumulator == b->accumulator &&
           a->method == b->method && a->start == b->start;
}

bool steps_first(const struct steps_study *s, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (steps_alike(&s->item[k], &s->item[i]))
            return false;
    return true;
}

struct steps_mean steps_mean_of(const struct steps_study *s, size_t i)
{
    const struct steps_case *c = &s->item[i];
    struct steps_mean mean = {0};
    double sum_abs = 0;
    for (size_t k = i; c->method == STEPS_STOCHASTIC && k < s->count; k++)
        if (steps_alike(c, &s->item[k])) {
            mean.weights++;
            mean.error += s->item[k].signed_error;
            sum_abs = fmax(sum_abs, s->item[k].sum_abs);
        }
    if (mean.weights > 0) {
        mean.error /= (double)mean.weights;
        mean.bound = steps_bound(STEPS_STOCHASTIC, c->source->array.format, c->accumulator,
                                 c->source->array.n, sum_abs, mean.weights);
    }
    return mean;
}

/* --- a weight --- */

/* The steps of which there is a row: ten in each power of ten, and the last. */
static bool recorded(uint64_t t, uint64_t n)
{
    double place = floor(10 * log10((double)t) + 1e-9);
    return t == n || (double)t == ceil(pow(10, place / 10) - 1e-9 * (double)t);
}

struct walk {
    struct steps_case *c;
    struct exact exact;
    struct steps_weight weight;
    struct csv_file *csv;
    uint64_t changed; /* the last step that moved the weight */
    double moved;     /* |updates since then, added up| */
};

static void add_hex(struct text *to, const struct exact *e)
{
    mpfr_t exact;
    mpfr_init2(exact, MPFR_PREC_MIN);
    exact_get(exact, e);
    char *hex = number_hex_mpfr(exact);
    to->failed |= !hex;
    text_add(to, hex ? hex : "");
    free(hex);
    mpfr_clear(exact);
}

static void add_figure(struct text *to, bool known, double value)
{
    text_figure(to, (struct figure){known, value});
    text_add(to, ",");
}

/* weight - exact, rounded once. */
static double error_of(const struct walk *w)
{
    struct exact off = w->exact;
    bool both = w->weight.method == STEPS_TWO_WORDS;
    exact_add(&off, -w->weight.word);
    if (both)
        exact_add(&off, -w->weight.rest);
    return -exact_round(&off, FP64);
}

static double magnitudes(const struct walk *w)
{
    struct exact sizes = w->exact;
    mpfr_t abs;
    mpfr_init2(abs, MPFR_PREC_MIN);
    exact_get_abs(abs, &sizes);
    double value = mpfr_get_d(abs, MPFR_RNDU);
    mpfr_clear(abs);
    return value;
}

/* The spacing of f at the exact weight, which is rounded towards zero to stay in its binade. */
static double spacing_at(enum format f, const struct exact *e)
{
    mpfr_t exact;
    mpfr_init2(exact, MPFR_PREC_MIN);
    exact_get(exact, e);
    double spacing = format_ulp(f, mpfr_get_d(exact, MPFR_RNDZ));
    mpfr_clear(exact);
    return spacing;
}

static void add_row(struct walk *w, uint64_t t, bool last)
{
    struct steps_case *c = w->c;
    const struct array *in = &c->source->array;
    struct text *to = &w->csv->pending;
    bool two = c->method == STEPS_TWO_WORDS || c->method == STEPS_KAHAN;
    double exact = exact_round(&w->exact, FP64), error = error_of(w), off = fabs(error);
    double sum_abs = magnitudes(w), ulp = spacing_at(c->accumulator, &w->exact);
    double bound = steps_bound(c->method, in->format, c->accumulator, t, sum_abs, 1);
    bool bounded = isfinite(bound) && isfinite(exact), nan = isnan(w->weight.word);
    bool apart = isfinite(exact) || !isnan(off); /* no distance: from an infinity, from a NaN */
    text_format(to, "%s,%s,%s,", steps_method_name[c->method], format_facts[in->format].name,
                format_facts[c->accumulator].name);
    text_field(to, c->source->name);
    text_format(to, ",%zu,", in->n);
    add_figure(to, true, c->start);
    text_format(to, "%llu,%llu,", (unsigned long long)c->seed, (unsigned long long)t);
    add_figure(to, true, w->weight.word);
    add_figure(to, two, w->weight.rest);
    add_figure(to, true, exact);
    add_hex(to, &w->exact);
    text_add(to, ",");
    add_figure(to, apart, off);
    add_figure(to, isfinite(exact) && exact != 0, off / fabs(exact));
    add_figure(to, isfinite(exact), off / ulp);
    add_figure(to, bounded, bound);
    add_figure(to, bounded && bound > 0, off / bound);
    if (last && c->still_from > 0)
        text_format(to, "%llu", (unsigned long long)c->still_from);
    text_add(to, ",");
    if (last && c->method == STEPS_PLAIN && c->constant)
        text_format(to, "%llu", (unsigned long long)c->predicted.still);
    text_format(to, ",%s\n", nan ? "nan" : isinf(w->weight.word) ? "overflow" : "ok");
    c->broken |= bounded && !(off <= bound);
    if (bounded && bound > 0 && !(off / bound <= c->over_bound.value && c->over_bound.known))
        c->over_bound = (struct figure){true, off / bound};
    c->weight =
        (struct figure){true, w->weight.word + (c->method == STEPS_TWO_WORDS ? w->weight.rest : 0)};
    c->exact = (struct figure){true, exact};
    c->err_abs = (struct figure){apart, off};
    c->err_ulp = (struct figure){isfinite(exact), off / ulp};
    c->signed_error = error;
    c->sum_abs = sum_abs;
}

/* Equal updates move a plain weight for ever or never again; updates of 0 move none, and no update
 * brings back a weight that left the range. Else it may be waiting, for what is carried or for a
 * larger update, until it should have moved by more than a spacing. Stochastic rounding always
 * leaves a chance. */
static void stand(struct walk *w, uint64_t n)
{
    struct steps_case *c = w->c;
    bool plain = c->method == STEPS_PLAIN && c->constant, left = !isfinite(w->weight.word);
    bool sure = plain || c->zero || left;
    if (!sure && c->method != STEPS_STOCHASTIC)
        sure = fabs(w->moved) > format_ulp(c->accumulator, w->weight.word);
    if (w->changed < n && sure)
        c->still_from = w->changed + 1;
    if (plain)
        c->mispredicted = c->predicted.still != c->still_from || c->predicted.overflow != left;
}

/* Has a step left a word as it was? */
static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static enum status run_case(struct steps_case *c, struct csv_file *csv, struct problem *p)
{
    const struct array *in = &c->source->array;
    struct walk w = {.c = c, .csv = csv};
    double block[ARRAY_BLOCK], first = 0;
    w.weight = (struct steps_weight){c->method, c->accumulator, c->seed, c->start, 0};
    if (c->method == STEPS_KAHAN)
        w.weight.rest = -0.0;
    exact_init(&w.exact);
    exact_add(&w.exact, c->start);
    c->constant = true;
    for (size_t i = 0; i < in->n; i++) {
        size_t left = in->n - i;
        if (i % ARRAY_BLOCK == 0)
            array_decode(in, i, left < ARRAY_BLOCK ? left : ARRAY_BLOCK, block);
        double x = block[i % ARRAY_BLOCK], u = format_round(c->accumulator, x);
        first = i == 0 ? u : first;
        c->constant &= u == first;
        struct steps_weight before = w.weight;
        steps_add(&w.weight, u, i + 1);
        exact_add(&w.exact, x);
        bool moved = !same(w.weight.word, before.word) ||
                     (c->method == STEPS_TWO_WORDS && !same(w.weight.rest, before.rest));
        w.changed = moved ? i + 1 : w.changed;
        w.moved = moved ? 0 : w.moved + u;
        if (left == 1) {
            c->zero = c->constant && first == 0;
            if (c->method == STEPS_PLAIN && c->constant)
                c->predicted = steps_end_of(c->accumulator, c->start, first, in->n);
            stand(&w, in->n);
        }
        if (recorded(i + 1, in->n))
            add_row(&w, i + 1, left == 1);
    }
    return csv_file_flush(csv, p);
}

/* --- the study --- */

/* Refuses options that this study would ignore. */
static enum status refuse(const struct experiment_run *run, struct problem *p)
{
    static const enum axis heeded[] = {AXIS_DEVICE, AXIS_STORAGE, AXIS_ACCUMULATOR, AXIS_INPUT,
                                       AXIS_DATA,   AXIS_N,       AXIS_COND,        AXIS_SEED,
                                       AXIS_WEIGHT, AXIS_CONVERT, AXIS_SATURATE,    AXIS_RAW};
    const struct list *device = &run->request->axis[AXIS_DEVICE];
    for (size_t axis = 0; axis < AXES_ASKED; axis++) {
        bool heeds = run->request->axis[axis].count == 0;
        for (size_t i = 0; i < sizeof heeded / sizeof *heeded; i++)
            heeds |= axis == heeded[i];
        /* A study repeated has these as it was resolved. */
        bool found = axis == AXIS_METHOD || axis == AXIS_THREADS || axis == AXIS_BLOCKS ||
                     axis == AXIS_SCAN || axis == AXIS_OUTPUT || axis == AXIS_SEGMENT ||
                     axis == AXIS_RUNS || axis == AXIS_REFERENCE;
        bool again = found && run->request->axis[AXIS_FORMATS].count > 0;
        if (!heeds && !again)
            return problem(p, STATUS_USAGE, "run steps: option --%s: found '%s', expected none",
                           axis_name[axis], run->request->axis[axis].item[0]);
    }
    for (size_t i = 0; i < device->count; i++)
        if (strcmp(device->item[i], "cpu") != 0)
            return problem(p, STATUS_USAGE,
                           "run steps: option --device: found '%s', expected cpu: weights are "
                           "updated on the CPU alone",
                           device->item[i]);
    if (run->shard.count > 0 || run->merged)
        return problem(p, STATUS_USAGE, "run steps: option --shard: expected none");
    return STATUS_OK;
}

static enum status add_case(struct steps_study *s, const struct steps_case *c, struct problem *p)
{
    if (!grow(&s->item, s->count, sizeof *s->item))
        return problem(p, STATUS_MEMORY, "run steps: out of memory");
    s->item[s->count++] = *c;
    return STATUS_OK;
}

/* The weights of a source: all kinds, the stochastic one with each seed. */
static enum status add_source(struct steps_study *s, const struct source *source,
                              enum format accumulator, double start, struct problem *p)
{
    const struct numbers *seeds = &s->axes->seed;
    bool own = source->generated && input_uses_seed(&source->input);
    enum status status = STATUS_OK;
    for (enum steps_method m = 0; status == STATUS_OK && m < STEPS_METHODS; m++)
        for (size_t k = 0; status == STATUS_OK && k < seeds->count; k++) {
            struct steps_case c = {.source = source,
                                   .accumulator = accumulator,
                                   .method = m,
                                   .start = format_round(accumulator, start),
                                   .seed = own ? source->seed : seeds->item[k]};
            bool there = false; /* an input without a seed is there for each seed */
            for (size_t i = 0; i < s->count; i++)
                there |= s->item[i].seed == c.seed && steps_alike(&s->item[i], &c);
            if (!there && (k == 0 || (m == STEPS_STOCHASTIC && !own)))
                status = add_case(s, &c, p);
        }
    return status;
}

static enum status weight_parse(double *value, const char *text, enum format f, struct problem *p)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !isfinite(*value))
        return problem(p, STATUS_USAGE, "option --weight: found '%s', expected a finite number",
                       text);
    if (!isfinite(format_round(f, *value)))
        return problem(p, STATUS_USAGE, "option --weight: found '%s', beyond the largest %s, %g",
                       text, format_facts[f].name, format_facts[f].largest);
    return STATUS_OK;
}

static enum status make(struct steps_study *s, const struct plan *plan, const struct list *weights,
                        struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < plan->case_count; i++) {
        const struct source *source = &plan->source[plan->cases[i].source];
        enum format f = plan->cases[i].accumulator;
        if (source->array.n == 0)
            return problem(p, source->generated ? STATUS_USAGE : STATUS_DATA,
                           "run steps: %s: found no elements, expected some to add up",
                           source->name);
        for (size_t k = 0; status == STATUS_OK && k < weights->count; k++) {
            double start;
            status = weight_parse(&start, weights->item[k], f, p);
            if (status == STATUS_OK)
                status = add_source(s, source, f, start, p);
        }
    }
    return status;
}

static enum status claim(struct directory *d, const struct steps_study *s,
                         const struct list *weights, const struct experiment_run *run,
                         bool *resumed, struct problem *p)
{
    json_t *words = axes_json(s->axes), *list = json_array();
    for (size_t i = 0; i < weights->count; i++)
        json_array_append_new(list, json_string(weights->item[i]));
    json_object_set_new(words, axis_name[AXIS_WEIGHT], list);
    json_t *study = provenance_words(s->axes, words, run->argc, run->argv);
    enum status status = study ? STATUS_OK : problem(p, STATUS_MEMORY, "run steps: out of memory");
    if (status == STATUS_OK)
        status = directory_claim(d, study, run->force, resumed, p);
    json_decref(study);
    return status;
}

/* The same study again resumes behind the weights that are finished: their rows are kept. */
static enum status run_all(struct steps_study *s, struct plan *plan, const struct directory *d,
                           const struct experiment_run *run, bool resumed, struct problem *p)
{
    struct csv_file csv;
    struct text path = {0};
    uint64_t bytes = 0;
    text_format(&path, "%s/steps.done", d->path);
    const char *done_path = text_string(&path);
    if (!done_path)
        return problem(p, STATUS_MEMORY, "run steps: out of memory");
    size_t done = resumed ? steps_done_read(s, done_path, d->steps, &bytes) : 0;
    enum status status = csv_file_open(&csv, d->steps, bytes, steps_column, STEPS_COLUMNS, p);
    if (status == STATUS_OK)
        status = steps_done_write(s, done_path, done, true, p);
    for (size_t i = done; status == STATUS_OK && i < s->count; i++) {
        struct source *source = &plan->source[s->item[i].source - plan->source];
        if (run->stop && *run->stop)
            status = problem(p, STATUS_INTERRUPTED,
                             "interrupted: %zu of %zu weights are finished in %s; the same command "
                             "resumes",
                             i, s->count, run->out);
        if (status == STATUS_OK)
            status = source_load(source, p);
        if (status == STATUS_OK)
            status = run_case(&s->item[i], &csv, p);
        if (status == STATUS_OK)
            s->item[i].rows_end = csv.whole;
        if (status == STATUS_OK)
            status = steps_done_write(s, done_path, i + 1, false, p);
        if (i + 1 == s->count || s->item[i + 1].source != source)
            source_unload(source);
    }
    enum status closed = csv_file_close(&csv, p);
    text_free(&path);
    return status == STATUS_OK ? closed : status;
}

static enum status verdict(const struct steps_study *s, const char *out, struct problem *p)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct steps_case *c = &s->item[i];
        struct steps_mean mean = {0};
        if (c->broken)
            return problem(p, STATUS_FAILED, "%s/steps.csv: %s in %s exceeds its bound", out,
                           steps_method_name[c->method], format_facts[c->accumulator].name);
        if (c->mispredicted)
            return problem(p, STATUS_FAILED,
                           "%s/steps.csv: a plain weight in %s %s from step %llu on, predicted "
                           "was that it %s from step %llu on (0: never)",
                           out, format_facts[c->accumulator].name,
                           isfinite(c->weight.value) ? "stands still" : "is not finite",
                           (unsigned long long)c->still_from,
                           c->predicted.overflow ? "is not finite" : "stands still",
                           (unsigned long long)c->predicted.still);
        if (c->method == STEPS_STOCHASTIC && steps_first(s, i))
            mean = steps_mean_of(s, i);
        if (mean.weights > 1 && isfinite(mean.bound) && !(fabs(mean.error) <= mean.bound))
            return problem(p, STATUS_FAILED,
                           "%s/steps.csv: stochastic rounding in %s is biased: a mean error of %g "
                           "where %g is allowed",
                           out, format_facts[c->accumulator].name, mean.error, mean.bound);
    }
    return STATUS_OK;
}

static enum status print(const struct steps_study *s, const char *out, struct problem *p)
{
    struct text text = {0};
    steps_says(&text, s, out);
    const char *string = text_string(&text);
    if (string)
        fputs(string, stdout);
    text_free(&text);
    return string ? STATUS_OK : problem(p, STATUS_MEMORY, "out of memory for the table");
}

static enum status go(struct steps_study *s, struct plan *plan, const struct list *weights,
                      const struct experiment_run *run, struct problem *p)
{
    struct directory d = {.lock = -1};
    bool resumed = false;
    enum status status = make(s, plan, weights, p);
    if (status == STATUS_OK && run->dry_run) {
        printf("%zu weights\n", s->count);
        return STATUS_OK;
    }
    if (status == STATUS_OK)
        status = directory_open(&d, run->out, p);
    if (status == STATUS_OK)
        status = claim(&d, s, weights, run, &resumed, p);
    if (status == STATUS_OK)
        status = run_all(s, plan, &d, run, resumed, p);
    directory_close(&d);
    if (status == STATUS_OK && !run->quiet)
        status = print(s, run->out, p);
    return status == STATUS_OK ? verdict(s, run->out, p) : status;
}

static enum status run_steps(const struct experiment_run *run, struct problem *p)
{
    char *cpu = "cpu";
    struct request request = *run->request;
    struct axes axes = {0};
    struct plan plan = {0};
    struct list weights = {0};
    enum status status = refuse(run, p);
    if (status != STATUS_OK)
        return status;
    request.axis[AXIS_DEVICE] = (struct list){1, &cpu};
    request.axis[AXIS_METHOD] = (struct list){0};
    status = axes_resolve(&axes, &experiment_steps, &request, p);
    if (status == STATUS_OK)
        status = axes_words(&weights, &request.axis[AXIS_WEIGHT], "0,1", p);
    if (status == STATUS_OK)
        status = plan_make(&plan, &axes, p);
    struct steps_study s = {.axes = &axes};
    if (status == STATUS_OK)
        status = go(&s, &plan, &weights, run, p);
    free(s.item);
    list_free(&weights);
    plan_free(&plan);
    axes_free(&axes);
    return status;
}

#define AXES_OF_STEPS                                                                              \
    {                                                                                              \
        .formats = "bf16/bf16,fp16/fp16,fp32/fp32",                                                \
        .input = "ones:value=0.001,uniform:scale=0.002", .n = "2^16", .runs = 1                    \
    }

const struct experiment experiment_steps = {
    .name = "steps",
    .summary = "when a weight that many small updates are added to stands still, and how wrong it "
               "is, in steps.csv",
    .operation = {&operation_scan},
    .method = "scan/serial",
    .axes = {[DEVICE_CPU] = AXES_OF_STEPS, [DEVICE_CUDA] = AXES_OF_STEPS},
    .run = run_steps,
};
