/* Methods that are wrong in one thing each, declared like the method that they were made from: each
 * is found out, and by the smallest input that shows it. */
#include <criterion/criterion.h>
#include <math.h>

#include "experiments/conformance/run.h"

/* --- liars, all made from sum/serial --- */

typedef double liar(const struct task *t);

/* Adds elements first .. n - 1, in the accumulator. */
static double serial(const struct task *t, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double x = format_round(t->accumulator, array_get(&t->of->in, i));
        sum = i == 0 ? x : format_add(t->accumulator, sum, x);
    }
    return sum;
}

static double honest(const struct task *t)
{
    return serial(t, t->of->in.n);
}

static double flushes(const struct task *t)
{
    double sum = serial(t, t->of->in.n);
    return fabs(sum) < format_facts[t->accumulator].smallest_normal ? copysign(0, sum) : sum;
}

static double nothing_is_negative(const struct task *t)
{
    return t->of->in.n == 0 ? -0.0 : honest(t);
}

static double begins_at_zero(const struct task *t)
{
    return format_add(t->accumulator, 0, honest(t));
}

/* Twice the sum, halved: overflows too soon. */
static double doubles(const struct task *t)
{
    return format_add(t->accumulator, honest(t), honest(t)) / 2;
}

static double drops_last(const struct task *t)
{
    return serial(t, t->of->in.n > 32 ? t->of->in.n - 1 : t->of->in.n);
}

static double drops_any_last(const struct task *t)
{
    return serial(t, t->of->in.n - (t->of->in.n > 0));
}

static double adds_twice(const struct task *t)
{
    double sum = honest(t);
    return t->of->in.n > 256 ? format_add(t->accumulator, sum, array_get(&t->of->in, 256)) : sum;
}

static double swallows_nan(const struct task *t)
{
    double sum = 0;
    bool any = false;
    for (size_t i = 0; i < t->of->in.n; i++) {
        double x = format_round(t->accumulator, array_get(&t->of->in, i));
        if (x == x) {
            sum = any ? format_add(t->accumulator, sum, x) : x;
            any = true;
        }
    }
    return sum;
}

static double reads_past_the_end(const struct task *t)
{
    struct operands of = *t->of;
    struct task more = *t;
    more.of = &of;
    of.in.n += t->of->in.n % 32 == 31; /* in whole pairs */
    return honest(&more);
}

static double clamps(const struct task *t)
{
    double largest = format_facts[t->accumulator].largest;
    return fmax(fmin(honest(t), largest), -largest);
}

static double loses_digits(const struct task *t)
{
    double sum = honest(t);
    return t->of->in.n == 2 ? format_round(BF16, sum) : sum;
}

#define LIAR(name)                                                                                 \
    static enum status name##_cpu(const struct task *t, struct problem *p)                         \
    {                                                                                              \
        double sum = name(t);                                                                      \
        (void)p;                                                                                   \
        array_encode(&t->out, 0, 1, &sum);                                                         \
        return STATUS_OK;                                                                          \
    }
LIAR(honest)
LIAR(flushes)
LIAR(nothing_is_negative)
LIAR(begins_at_zero)
LIAR(doubles)
LIAR(drops_last)
LIAR(drops_any_last)
LIAR(adds_twice)
LIAR(swallows_nan)
LIAR(reads_past_the_end)
LIAR(clamps)
LIAR(loses_digits)

/* --- what finds them out --- */

struct expected {
    const char *fault;
    enum status (*cpu)(const struct task *t, struct problem *p);
    const char *class; /* one that finds it */
    const char *why;
    size_t n; /* what it is shrunk to */
    double x[3];
    size_t place; /* of x[0], where n is more than 3; the others are +0 */
};

static struct conformance_report *report_of(enum status (*cpu)(const struct task *t,
                                                               struct problem *p),
                                            enum format storage, enum format accumulator)
{
    static struct method m;
    struct conformance_report *r = malloc(sizeof *r);
    struct problem p = {0};
    m = *method_named("sum/serial");
    m.name = "sum/liar";
    m.cpu = cpu;
    struct conformance_request request = {
        .method = &m, .pairs = {{{storage, accumulator}}, 1}, .seed = 1, .every = 1};
    cr_assert(r && conformance_run(r, &request, &p) == STATUS_OK, "%s", p.text);
    return r;
}

static void end(struct conformance_report *r)
{
    conformance_report_free(r);
    free(r);
}

static const struct conformance_tally *tally_of(const struct conformance_report *r,
                                                const char *class)
{
    size_t k = 0;
    while (k < SPECIAL_CLASSES && strcmp(special_class[k]->name, class) != 0)
        k++;
    cr_assert(k < SPECIAL_CLASSES, "%s", class);
    return &r->all[k];
}

static void hold(const struct expected *e)
{
    struct conformance_report *r = report_of(e->cpu, FP32, FP32);
    const struct conformance_tally *t = tally_of(r, e->class);
    const struct conformance_finding *f = t->first;
    cr_assert(f && t->impossible > 0, "%s: not found by %s", e->fault, e->class);
    cr_expect_str_eq(f->judgement.why, e->why, "%s: %s", e->fault, f->judgement.why);
    cr_expect(f->in.x.n == e->n, "%s: shrunk to n = %zu, not %zu", e->fault, f->in.x.n, e->n);
    cr_expect(f->n >= f->in.x.n, "%s", e->fault);
    for (size_t i = 0; i < f->in.x.n; i++) {
        double x = array_get(&f->in.x, i), want = e->n <= 3 ? e->x[i] : i == e->place ? e->x[0] : 0;
        cr_expect(double_bits(x) == double_bits(want) || (isnan(x) && isnan(want)),
                  "%s: x[%zu] = %a, not %a", e->fault, i, x, want);
    }
    end(r);
}

Test(special_liars, are_found_out_by_the_smallest_input)
{
    static const struct expected expected[] = {
        {"flushes subnormals", flushes_cpu, "subnormal", "a number that no order gives", 1,
         .x = {0x1p-149}},
        {"gives -0 for nothing", nothing_is_negative_cpu, "short",
         "-0, where not all elements are -0", 0, .x = {0}},
        {"begins at +0", begins_at_zero_cpu, "zeros", "+0, where all elements are -0", 1,
         .x = {-0.0}},
        {"overflows too soon", doubles_cpu, "overflow", "infinite, where no order overflows", 1,
         .x = {0x1p+127}},
        {"drops the last of many", drops_last_cpu, "edges", "a number that no order gives", 33,
         .x = {1}, .place = 32},
        {"drops the last", drops_any_last_cpu, "edges", "a number that no order gives", 1,
         .x = {1}},
        {"adds one twice", adds_twice_cpu, "edges", "a number that no order gives", 257, .x = {1},
         .place = 256},
        {"filters NaN", swallows_nan_cpu, "nan", "a NaN, or infinities of both signs, are lost", 1,
         .x = {NAN}},
        {"reads past the end", reads_past_the_end_cpu, "zeros", "NaN, which no order gives", 31,
         .x = {0}},
        {"clamps to the range", clamps_cpu, "inf", "an infinity is lost", 1, .x = {INFINITY}},
        {"rounds two elements to fewer digits", loses_digits_cpu, "short",
         "a number that no order gives", 2, .x = {0x1p-149, 0}},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        hold(&expected[i]);
}

/* Sums of rows are held to the same: of one row each and, of a matrix, row by row. */
Test(special_liars, sums_of_rows_are_found_out)
{
    static struct conformance_report r;
    static const struct expected swallows = {"filters NaN", swallows_nan_cpu, "nan", "", 1,
                                             .x = {NAN}};
    float data[3][2] = {{1, 2}, {NAN, 4}, {5, 6}};
    const struct special_input in = {.x = {FP32, 6, data}};
    struct problem p = {0};
    struct method m = *method_named("rows/serial");
    m.cpu = swallows.cpu;
    struct conformance_request request = {
        .method = &m, .pairs = {{{FP32, FP32}}, 1}, .seed = 1, .every = 1};
    cr_assert(conformance_run(&r, &request, &p) == STATUS_OK, "%s", p.text);
    const struct conformance_finding *f = tally_of(&r, swallows.class)->first;
    cr_assert(f, "not found");
    cr_expect(f->in.x.n == swallows.n && isnan(array_get(&f->in.x, 0)));
    conformance_report_free(&r);
    request.data = &in;
    request.rows = 3;
    cr_assert(conformance_run(&r, &request, &p) == STATUS_OK, "%s", p.text);
    cr_expect(r.all[0].cases == 3 && r.all[0].impossible == 1, "%zu of %zu", r.all[0].impossible,
              r.all[0].cases);
    conformance_report_free(&r);
}

Test(special_liars, an_honest_method_is_none)
{
    for (enum format f = 0; f < ACCUMULATORS; f++) {
        struct conformance_report *r = report_of(honest_cpu, f, f);
        for (size_t k = 0; k < SPECIAL_CLASSES; k++) {
            bool due = false;
            for (size_t i = 0; i < SPECIAL_LENGTHS; i++)
                due |= special_class[k]->cases(&(struct conformance_setting){
                           .storage = f, .accumulator = f, .n = special_length[i]}) > 0;
            cr_expect((r->all[k].cases > 0) == due, "%s has no inputs, or has some",
                      special_class[k]->name);
            cr_expect(r->all[k].impossible == 0 && !r->all[k].first && r->all[k].failed == 0,
                      "%s: %s", special_class[k]->name, r->all[k].first->judgement.why);
        }
        end(r);
    }
}

/* --- runs that fail --- */

static enum status fails_on_fp16(const struct task *t, struct problem *p)
{
    if (t->of->in.format == FP16)
        return problem(p, STATUS_DATA, "no fp16 here");
    return honest_cpu(t, p);
}

Test(special_liars, runs_that_fail_are_counted)
{
    static struct conformance_report r;
    static struct method m;
    struct problem p = {0};
    m = *method_named("sum/serial");
    m.cpu = fails_on_fp16;
    struct conformance_request request = {.method = &m, .seed = 1, .every = 64};
    cr_assert(pairs_parse(&request.pairs, "all", &p) == STATUS_OK);
    cr_assert(conformance_run(&r, &request, &p) == STATUS_OK, "%s", p.text);
    cr_expect(r.failed == 8, "%zu", r.failed); /* two in each pair with it */
    cr_expect(r.failure.status == STATUS_DATA && strcmp(r.failure.text, "no fp16 here") == 0);
    for (size_t i = 0; i < request.pairs.count; i++) {
        size_t failed = 0, cases = 0;
        for (size_t k = 0; k < SPECIAL_CLASSES; k++) {
            failed += r.tally[i][k].failed;
            cases += r.tally[i][k].cases;
        }
        enum format storage = request.pairs.item[i].storage;
        /* In 8 bits there are fewer inputs: many would need numbers that there are not. */
        size_t least = format_facts[storage].bytes == 1 ? 30 : 60;
        cr_expect(failed == (storage == FP16 ? 2 : 0) && (storage == FP16 || cases > least),
                  "pair %zu: %zu of %zu", i, failed, cases);
    }
    conformance_report_free(&r);
}
