/* Scans that are wrong in one thing each are found out, and by the smallest input that shows it. */
#include <criterion/criterion.h>
#include <math.h>

#include "experiments/conformance/run.h"
#include "tests/support/special_classes.h"

/* Serial, from `first` on in each segment; what of it is broken, `fault` says. */
enum fault { NONE, SUBTRACTS, IGNORES_HEADS, FIRST_IS_NEGATIVE, WARMS_UP, NAN_STAYS };

static void scan(const struct task *t, enum fault fault)
{
    enum format f = t->accumulator;
    double sum = 0, stained = 0;
    bool any = false;
    for (size_t i = 0; i < t->of->in.n; i++) {
        double x = format_round(f, array_get(&t->of->in, i)), before = any ? sum : 0;
        bool head = i == 0 || (t->of->heads && t->of->heads[i] && fault != IGNORES_HEADS);
        before = head ? 0 : before;
        sum = head ? x : format_add(f, sum, x);
        any = true;
        double out = t->of->exclusive ? before : sum;
        if (t->of->exclusive && fault == SUBTRACTS && !head)
            out = format_add(f, sum, -x);
        if (t->of->exclusive && fault == FIRST_IS_NEGATIVE && head)
            out = -0.0;
        if (fault == WARMS_UP && i % 32 == 31)
            out = x;
        stained = isnan(x) ? x : stained;
        if (fault == NAN_STAYS && !t->of->exclusive && isnan(stained))
            out = stained;
        array_encode(&t->out, i, 1, &out);
    }
}

#define BROKEN(name, fault)                                                                        \
    static enum status name(const struct task *t, struct problem *p)                               \
    {                                                                                              \
        (void)p;                                                                                   \
        scan(t, fault);                                                                            \
        return STATUS_OK;                                                                          \
    }
BROKEN(honest, NONE)
BROKEN(subtracts, SUBTRACTS)
BROKEN(ignores_heads, IGNORES_HEADS)
BROKEN(first_is_negative, FIRST_IS_NEGATIVE)
BROKEN(warms_up, WARMS_UP)
BROKEN(nan_stays, NAN_STAYS)

static struct conformance_report *report_of(enum status (*cpu)(const struct task *t,
                                                               struct problem *p))
{
    static struct method m;
    struct conformance_report *r = malloc(sizeof *r);
    struct problem p = {0};
    m = *method_named("scan/segmented");
    m.cpu = cpu;
    m.height = method_named("scan/serial")->height;
    m.prefix_height = method_named("scan/serial")->prefix_height;
    struct conformance_request request = {
        .method = &m, .pairs = {{{FP32, FP32}}, 1}, .seed = 1, .every = 16};
    cr_assert(r && conformance_run(r, &request, &p) == STATUS_OK, "%s", p.text);
    return r;
}

struct expected {
    const char *fault;
    enum status (*cpu)(const struct task *t, struct problem *p);
    const char *why;
    bool exclusive;
    size_t segment, n, output;
};

static void hold(const struct expected *e)
{
    struct conformance_report *r = report_of(e->cpu);
    size_t found = 0;
    for (size_t k = 0; k < SPECIAL_CLASSES; k++) {
        const struct conformance_finding *f = r->all[k].first;
        if (!f || strcmp(f->judgement.why, e->why) != 0)
            continue;
        found++;
        cr_expect(f->subject.exclusive == e->exclusive && f->subject.segment == e->segment &&
                      f->in.x.n == e->n && f->judgement.output == e->output,
                  "%s, %s: exclusive %d, segment %zu, n = %zu, output %zu: %s", e->fault,
                  special_class[k]->name, f->subject.exclusive, f->subject.segment, f->in.x.n,
                  f->judgement.output, f->judgement.why);
    }
    cr_expect(found > 0, "%s: not found", e->fault);
    conformance_report_free(r);
    free(r);
}

Test(special_scans, wrong_ones_are_found_out)
{
    static const struct expected expected[] = {
        {"takes the element from its inclusive prefix", subtracts, "NaN, which no order gives",
         true, 0, 2, 1},
        {"gives -0 for nothing", first_is_negative, "-0, where not all elements are -0", true, 0, 1,
         0},
        {"crosses heads", ignores_heads, "a number that no order gives", false, 3, 4, 3},
        {"forgets what was before at an edge", warms_up, "a number that no order gives", false, 0,
         32, 31},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        hold(&expected[i]);
}

Test(special_scans, nan_crosses_no_head)
{
    struct conformance_report *r = report_of(nan_stays);
    bool found = false;
    for (size_t k = 0; k < SPECIAL_CLASSES; k++) {
        const struct conformance_finding *f = r->all[k].first;
        if (!f)
            continue;
        found = true;
        cr_expect(f->subject.segment == 3 && f->in.x.n == 4 && isnan(f->judgement.result),
                  "n = %zu", f->in.x.n);
    }
    cr_expect(found);
    conformance_report_free(r);
    free(r);
}

Test(special_scans, an_honest_one_is_none)
{
    struct conformance_report *r = report_of(honest);
    for (size_t k = 0; k < SPECIAL_CLASSES; k++)
        cr_expect(!r->all[k].first && (r->all[k].cases > 0) == (special_class[k]->fill &&
                                                                special_of_sums(special_class[k])),
                  "%s", special_class[k]->name);
    conformance_report_free(r);
    free(r);
}
