/* What `check` counts: results by frequency, attempts asked for, what was refused or failed. */
#include <criterion/criterion.h>

#include "tests/support/check_found.h"

static unsigned runs, period; /* of the subject below */

/* The k-th result of a period comes k + 1 times in it, whatever the elements are. */
static enum status varies(const struct task *t, struct problem *p)
{
    unsigned at = runs++ % (period * (period + 1) / 2), k = 0;
    while (at > k)
        at -= ++k;
    (void)p;
    array_encode(&t->out, 0, 1, &(double){k});
    return STATUS_OK;
}

static enum status refuses(const struct task *t, struct problem *p)
{
    (void)t;
    return problem(p, STATUS_FAILED, "out of order");
}

static struct method subject_of(enum status (*cpu)(const struct task *t, struct problem *p))
{
    return (struct method){.name = "sum/counted",
                           .summary = "counted",
                           .operation = &operation_sum,
                           .promise = PROMISE_NONE,
                           .pairs = {[DEVICE_CPU] = FORMAT_PAIRS_ALL},
                           .bound = THEOREM_ANY_ORDER,
                           .cpu = cpu};
}

static struct check_request only(const struct method *m, enum check_kind kind, uint64_t times)
{
    struct check_request r = request_for(m, 0.5);
    for (size_t k = 0; k < CHECK_KINDS; k++)
        r.tried[k] = k == kind;
    r.runs = times;
    r.shrink = false;
    r.promise = PROMISE_NONE;
    return r;
}

/* The most frequent first; dots where not all fit. */
Test(check_counts, counts_descend)
{
    struct method m = subject_of(varies);
    tick_ns = 20000;
    for (period = 2; period <= 40; period += 19) {
        struct check_request r = only(&m, CHECK_REPEAT, 41 * 40);
        struct check_report report = checked(&r);
        const struct check_tried *t = &report.tried[CHECK_REPEAT];
        unsigned long before = ~0ul, count;
        size_t told = 0;
        char *end = NULL;
        cr_expect(t->distinct > period / 2 && t->distinct <= period, "%zu of %u", t->distinct,
                  period);
        for (const char *at = t->counts; *at && *at != '.'; at = end + (*end == ' '), told++) {
            count = strtoul(at, &end, 10);
            cr_assert(end > at, "%s", t->counts);
            cr_expect(count <= before, "%s", t->counts);
            before = count;
        }
        cr_expect_eq(strstr(t->counts, " ...") != NULL, told < t->distinct, "%s", t->counts);
        cr_expect_eq(period == 2, told == period, "%s", t->counts);
    }
}

/* Exact results are none of the subject's: what it gives beside them is not counted as distinct. */
Test(check_counts, exact_results_are_not_counted)
{
    struct method m = subject_of(varies);
    period = 3;
    struct check_request r = only(&m, CHECK_EXACT, CHECK_RUNS);
    struct check_report report = checked(&r);
    cr_expect(report.tried[CHECK_EXACT].attempts > 0);
    cr_expect(report.tried[CHECK_EXACT].broken > 0);
    cr_expect_eq(report.tried[CHECK_EXACT].distinct, 0);
    cr_expect_str_eq(report.tried[CHECK_EXACT].counts, "");
}

/* A subject that fails fails in the kind that was tried, and so does its rung. */
Test(check_counts, a_failure_has_its_kind)
{
    struct method m = subject_of(refuses);
    for (enum check_kind kind = CHECK_REPEAT; kind <= CHECK_EXACT; kind++) {
        if (kind != CHECK_REPEAT && kind != CHECK_PERMUTATION && kind != CHECK_EXACT)
            continue;
        struct check_request r = only(&m, kind, CHECK_RUNS);
        struct check_report report;
        struct problem p = {0};
        cr_assert(check_subject(&report, &r, &p) == STATUS_OK, "%s", p.text);
        cr_expect_eq(report.failure.status, STATUS_FAILED);
        cr_expect_eq(report.failed, kind, "%d", (int)report.failed);
        cr_expect_eq(check_rung(&report, check_kinds[kind].rung).state, CHECK_FAILED);
        cr_expect_eq(report.untried.status, STATUS_OK);
    }
}

/* Cases that are refused are no complaint where another was tried, be it one attempt. */
Test(check_counts, refused_cases_beside_others)
{
    static uint64_t one[] = {1000};
    struct method m = *method_named("sum/exact");
    struct check_request r = only(&m, CHECK_EXACT, 1);
    r.n = (struct numbers){1, one};
    struct check_report report = checked(&r);
    cr_expect(report.tried[CHECK_EXACT].attempts > 0);
    cr_expect_eq(report.untried.status, STATUS_OK, "%s", report.untried.text);
}

/* A single 1 gives one attempt: the same again does not count. */
Test(check_counts, one_attempt_is_an_attempt)
{
    static uint64_t one[] = {1};
    struct input ones;
    struct method m = *method_named("sum/serial");
    struct check_request r = only(&m, CHECK_EXACT, 1);
    cr_assert(input_parse(&ones, "ones", NULL) == STATUS_OK);
    r.pairs = (struct pairs){0};
    cr_assert(pairs_parse(&r.pairs, "fp32/fp32", NULL) == STATUS_OK);
    r.n = (struct numbers){1, one};
    r.input = &ones;
    r.inputs = 1;
    struct check_report report = checked(&r);
    cr_expect(report.tried[CHECK_EXACT].attempts > 0);
    cr_expect_eq(report.untried.status, STATUS_OK, "%s", report.untried.text);
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        /* A sum lies in no batch, and ours read no environment: they say nothing. */
        if (kind != CHECK_ENVIRONMENT && (kind < CHECK_PLACE || kind > CHECK_LAYOUT))
            cr_expect_eq(*report.tried[kind].untried == 0, report.tried[kind].attempts > 0,
                         "%s: %s", check_kinds[kind].name, report.tried[kind].untried);
}
