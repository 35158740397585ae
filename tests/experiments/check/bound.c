/* `check` holds what it compares with exact results to the bound of its theorem, whatever is
 * promised. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>

#include "experiments/check/report.h"
#include "tests/support/check_found.h"

static enum status result_is(const struct task *t, double value)
{
    for (size_t i = 0; i < t->out.n; i++)
        array_encode(&t->out, i, 1, &value);
    return STATUS_OK;
}

static enum status gives_nan(const struct task *t, struct problem *p)
{
    (void)p;
    return result_is(t, NAN);
}

static enum status gives_infinity(const struct task *t, struct problem *p)
{
    (void)p;
    return result_is(t, INFINITY);
}

static enum status doubles(const struct task *t, struct problem *p)
{
    enum status status = method_named("sum/serial")->cpu(t, p);
    return status == STATUS_OK ? result_is(t, 2 * array_get(&t->out, 0)) : status;
}

static enum status loses_the_last(const struct task *t, struct problem *p)
{
    enum status status = method_named("scan/serial")->cpu(t, p);
    array_encode(&t->out, t->out.n - 1, 1, &(double){NAN});
    return status;
}

static bool foreign;

static struct check_report checked_as(const char *like, enum theorem_kind bound,
                                      enum status (*cpu)(const struct task *t, struct problem *p))
{
    static struct method m;
    m = claims(like, PROMISE_NONE);
    m.beside = 0;
    m.bound = bound;
    m.foreign = foreign;
    if (cpu)
        m.cpu = cpu;
    struct check_request r = request_for(&m, 0.5);
    for (size_t kind = 0; kind < CHECK_EXACT; kind++)
        r.tried[kind] = false;
    return checked(&r);
}

static void expect_exceeded(const char *like,
                            enum status (*cpu)(const struct task *t, struct problem *p))
{
    struct check_report report = checked_as(like, THEOREM_ANY_ORDER, cpu);
    struct text text = {0};
    cr_expect(check_exceeded(&report) && check_broken(&report), "%s", like);
    cr_expect(check_first_broken(&report) == PROMISE_NONE);
    cr_expect(report.tried[CHECK_EXACT].witness.exceeds);
    check_text(&text, &report, "ulpscope", false);
    cr_expect(strstr(text_string(&text), ": BREAKS its error bound; "), "%s", text_string(&text));
    cr_expect(strstr(text_string(&text), "\ncounterexample to its error bound: "));
    text_free(&text);
}

Test(check_bound, is_exceeded_whatever_is_promised)
{
    expect_exceeded("sum/serial", gives_nan);
    expect_exceeded("sum/serial", gives_infinity);
    expect_exceeded("sum/serial", doubles);
    expect_exceeded("dot/serial", gives_nan);
    expect_exceeded("scan/serial", loses_the_last);
    expect_exceeded("rows/serial", gives_nan);
    expect_exceeded("scatter/sort", gives_nan);
    expect_exceeded("gemm/serial", gives_nan);
}

/* What an honest subject rounds, and what overflows on the way, is within it. */
Test(check_bound, is_kept_by_honest_subjects)
{
    static const char *const honest[] = {"sum/serial",  "sum/tiled",   "dot/serial",
                                         "dot/tiled",   "scan/serial", "scatter/sort",
                                         "rows/serial", "gemm/serial"};
    for (size_t i = 0; i < sizeof honest / sizeof *honest; i++) {
        struct check_report report = checked_as(honest[i], THEOREM_ANY_ORDER, NULL);
        cr_expect(!check_exceeded(&report) && !check_broken(&report), "%s", honest[i]);
        cr_expect(report.tried[CHECK_EXACT].attempts > 0, "%s", honest[i]);
    }
}

/* How they add is not known: what is finite may be right in some other accumulator. */
Test(check_bound, is_not_laid_on_strangers_but_where_nothing_is_a_number)
{
    foreign = true;
    struct check_report scaled = checked_as("sum/serial", THEOREM_ANY_ORDER, doubles);
    cr_expect(!check_exceeded(&scaled) && scaled.tried[CHECK_EXACT].differing > 0);
    expect_exceeded("sum/serial", gives_nan);
    foreign = false;
}
