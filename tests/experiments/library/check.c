/* ulpscope_check of subjects that harm the process that they are called in. */
#include <fenv.h>
#include <string.h>

#include <criterion/criterion.h>

#include "experiments/library/ulpscope.h"

static int serial(const struct ulpscope_task *t)
{
    const float *x = t->in;
    float sum = t->n ? x[0] : 0;
    for (size_t i = 1; i < t->n; i++)
        sum += x[i];
    memcpy(t->out, &sum, sizeof sum);
    return 0;
}

static int into_input(const struct ulpscope_task *t)
{
    int status = serial(t);
    if (t->n > 0)
        ((float *)t->in)[t->n - 1] = 1;
    return status;
}

static int beyond(const struct ulpscope_task *t)
{
    ((float *)t->out)[1] = 1;
    return serial(t);
}

static struct ulpscope_subject subject(int (*run)(const struct ulpscope_task *t))
{
    return (struct ulpscope_subject){.name = "mine",
                                     .summary = "a sum",
                                     .promise = ULPSCOPE_GPU_TO_GPU,
                                     .pairs = ULPSCOPE_PAIR(ULPSCOPE_FP32, ULPSCOPE_FP32),
                                     .run = run};
}

static void expect_failure(int (*run)(const struct ulpscope_task *t), const char *said)
{
    struct ulpscope_report report;
    struct ulpscope_error error = {0};
    struct ulpscope_subject s = subject(run);
    cr_expect(ulpscope_check(&report, &s, 0.2, 0, &error) == ULPSCOPE_DATA);
    cr_expect_str_eq(error.text, said);
}

Test(library_check, writes_its_results_alone)
{
    expect_failure(into_input, "mine: run changed its input, which it may only read");
    expect_failure(beyond, "mine: run wrote beyond the 4 bytes that are due at out");
}

/* Not reached by the exact results and bounds, which are computed in the same thread. */
static int downward(const struct ulpscope_task *t)
{
    fesetround(FE_DOWNWARD);
    return serial(t);
}

static int exact(const struct ulpscope_task *t)
{
    const struct ulpscope_array a = {t->storage, t->n, t->in};
    double sum;
    int status = ulpscope_sum(&sum, &a, t->accumulator, NULL);
    float is = (float)sum;
    memcpy(t->out, &is, sizeof is);
    fesetround(FE_DOWNWARD);
    return status;
}

Test(library_check, another_rounding_mode_ends_with_the_run)
{
    struct ulpscope_report report;
    struct ulpscope_error error = {0};
    struct ulpscope_subject s = subject(exact);
    cr_assert(ulpscope_check(&report, &s, 0.5, 0, &error) == ULPSCOPE_OK, "%s", error.text);
    cr_expect(report.kept == ULPSCOPE_CORRECTLY_ROUNDED && !report.refuted, "kept %d",
              (int)report.kept);
    s = subject(downward);
    cr_assert(ulpscope_check(&report, &s, 0.5, 0, &error) == ULPSCOPE_OK, "%s", error.text);
    cr_expect(report.kept == ULPSCOPE_GPU_TO_GPU, "kept %d", (int)report.kept);
    cr_expect_eq(fegetround(), FE_TONEAREST);
}
