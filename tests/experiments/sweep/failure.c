/* Methods, memory and users that fail a study: what was measured is kept, and it goes on. */
#include "tests/support/study.h"

/* Methods that misbehave on demand, in place of the study's first one. */
static struct study *stopped_study;
static int runs_until_stop, runs_until_failure;

static enum status sum_nothing(const struct task *t)
{
    const double one = 1;
    array_encode(&t->out, 0, 1, &one);
    return STATUS_OK;
}

static double no_number;

static enum status sum_no_number(const struct task *t, struct problem *p)
{
    (void)p;
    array_encode(&t->out, 0, 1, &no_number);
    return STATUS_OK;
}

static enum status stopping(const struct task *t, struct problem *p)
{
    (void)p;
    stopped_study->stop = --runs_until_stop == 0;
    return sum_nothing(t);
}

static enum status failing(const struct task *t, struct problem *p)
{
    if (runs_until_failure-- == 0)
        return problem(p, STATUS_DEVICE, "out of imagination");
    return sum_nothing(t);
}

static enum status refusing(const struct task *t, struct problem *p)
{
    (void)t;
    p->unsupported = true;
    return problem(p, STATUS_DEVICE, "operation not supported");
}

static const struct method fake = {
    .name = "sum/fake",
    .operation = &operation_sum,
    .promise = PROMISE_RUN_TO_RUN,
    .pairs = {FORMAT_PAIRS([FP32] = IN(FP32))},
    .bound = THEOREM_ANY_ORDER,
};

/* ones, n = 1: the fake's result is right; with n = 2 it is wrong beyond every bound. */
static void study_of_fake(struct study *s, const struct method *m, const char *n)
{
    study_words words = {{"method", "sum/serial,sum/tiled"},
                         {"device", "cpu"},
                         {"storage", "fp32"},
                         {"accumulator", "fp32"},
                         {"input", "ones"},
                         {"n", n},
                         {"runs", "6"},
                         {NULL}};
    *s = (struct study){0};
    ask(&s->request, words);
    cr_assert_eq(axes_resolve(&s->axes, experiment_of("variance"), &s->request, &s->problem),
                 STATUS_OK);
    s->axes.method[0] = m;
    cr_assert_eq(plan_make(&s->plan, &s->axes, &s->problem), STATUS_OK);
}

Test(failure, stopped_after_any_run, .init = make_folder, .fini = remove_folder)
{
    struct method m = fake;
    m.cpu = stopping;
    for (int stop = 1; stop < 6; stop++) {
        struct study s;
        char name[16];
        snprintf(name, sizeof name, "out%d", stop);
        study_of_fake(&s, &m, "1");
        stopped_study = &s;
        runs_until_stop = stop;
        cr_expect_eq(study_sweep(&s, in_folder(name), false), STATUS_INTERRUPTED);
        cr_expect(s.outcome.runs == (uint64_t)stop && s.outcome.finished == 0, "stop %d: %ju runs",
                  stop, (uintmax_t)s.outcome.runs);
        study_free(&s);
        struct rows r = rows_read(in_folder(name), false);
        cr_expect_eq(r.count, (size_t)stop, "what was measured is kept");
        rows_free(&r);
        study_of_fake(&s, &m, "1");
        stopped_study = &s;
        runs_until_stop = 1000;
        cr_expect_eq(study_sweep(&s, in_folder(name), false), STATUS_OK, "%s", s.problem.text);
        cr_expect(s.outcome.runs == 12 - (uint64_t)stop && s.outcome.finished == 2);
        study_free(&s);
        r = rows_read(in_folder(name), true);
        cr_expect(r.count == 2 && strcmp(field_of(&r, 0, SUMMARY_RUNS), "6") == 0);
        rows_free(&r);
    }
}

/* A library that does not do this has not failed: the case is done, and the study succeeds. */
Test(failure, a_refusal_is_unsupported, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    struct method m = fake;
    m.cpu = refusing;
    study_of_fake(&s, &m, "1");
    cr_expect_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
    cr_expect(s.outcome.failed == 0 && s.outcome.finished == 2);
    cr_expect(strstr(s.notes, "operation not supported"), "%s", s.notes);
    cr_expect_eq(sweep_verdict(&s.outcome, &s.plan, "out", &s.problem), STATUS_OK);
    study_free(&s);
    struct rows r = rows_read(in_folder("out"), false);
    cr_assert_eq(r.count, 1 + 6);
    cr_expect_str_eq(field_of(&r, 0, RESULTS_STATUS), "unsupported");
    cr_expect_str_eq(field_of(&r, 0, RESULTS_RESULT), "");
    rows_free(&r);
}

Test(failure, a_failure_is_a_row_and_tried_again, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    struct method m = fake;
    m.cpu = failing;
    runs_until_failure = 2;
    study_of_fake(&s, &m, "1");
    cr_expect_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
    cr_expect(s.outcome.failed == 1 && s.outcome.finished == 1, "the study goes on");
    cr_expect(strstr(s.notes, "sum/fake") && strstr(s.notes, "run 3: out of imagination"), "%s",
              s.notes);
    cr_expect_eq(sweep_verdict(&s.outcome, &s.plan, "out", &s.problem), STATUS_DEVICE);
    cr_expect(strstr(s.problem.text, "1 of 2 cases failed"), "%s", s.problem.text);
    study_free(&s);
    struct rows r = rows_read(in_folder("out"), false);
    cr_assert_eq(r.count, 2 + 1 + 6);
    cr_expect_str_eq(field_of(&r, 2, RESULTS_STATUS), "error");
    cr_expect_str_eq(field_of(&r, 2, RESULTS_RUN), "3");
    cr_expect_str_eq(field_of(&r, 2, RESULTS_RESULT), "");
    cr_expect_str_eq(field_of(&r, 2, RESULTS_EXACT), "1");
    rows_free(&r);
    r = rows_read(in_folder("out"), true);
    cr_expect_eq(r.count, 1, "a case that failed has no summary");
    rows_free(&r);
    runs_until_failure = 1000;
    study_of_fake(&s, &m, "1");
    cr_expect_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
    cr_expect(s.outcome.failed == 0 && s.outcome.runs == 4 && s.outcome.finished == 2);
    cr_expect_eq(sweep_verdict(&s.outcome, &s.plan, "out", &s.problem), STATUS_OK);
    study_free(&s);
    r = rows_read(in_folder("out"), false);
    cr_expect_eq(r.count, 12);
    for (size_t i = 0; i < r.count; i++)
        cr_expect_str_eq(field_of(&r, i, RESULTS_STATUS), "ok");
    rows_free(&r);
    r = rows_read(in_folder("out"), true);
    cr_expect_eq(r.count, 2);
    rows_free(&r);
}

/* A broken bound is told, again when the finished study is asked for again. */
Test(failure, a_broken_bound_fails_the_study, .init = make_folder, .fini = remove_folder)
{
    struct method m = fake;
    m.cpu = failing;
    for (int again = 0; again < 2; again++) {
        struct study s;
        runs_until_failure = 1000;
        study_of_fake(&s, &m, "2");
        cr_expect_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
        cr_expect_eq(s.outcome.broken, 6, "%zu", s.outcome.broken);
        cr_expect_eq(sweep_verdict(&s.outcome, &s.plan, "out", &s.problem), STATUS_FAILED);
        cr_expect(strstr(s.problem.text, "6 rows broke") && strstr(s.problem.text, "sum/fake") &&
                      strstr(s.problem.text, "run 1"),
                  "%s", s.problem.text);
        study_free(&s);
    }
    struct rows r = rows_read(in_folder("out"), false);
    cr_expect_str_eq(field_of(&r, 0, RESULTS_STATUS), "ok");
    cr_expect_gt(strtod(field_of(&r, 0, RESULTS_ERR_OVER_BOUND), NULL), 1);
    rows_free(&r);
}

/* So is one that a result breaks which is no number, though no order of additions overflows. */
Test(failure, no_number_breaks_a_bound, .init = make_folder, .fini = remove_folder)
{
    static const double given[] = {INFINITY, NAN};
    struct method m = fake;
    m.cpu = sum_no_number;
    for (int k = 0; k < 4; k++) {
        struct study s;
        const char *out = in_folder(k < 2 ? "inf" : "nan");
        no_number = given[k / 2];
        study_of_fake(&s, &m, "2");
        cr_expect_eq(study_sweep(&s, out, false), STATUS_OK, "%s", s.problem.text);
        cr_expect_eq(s.outcome.broken, 6, "%zu", s.outcome.broken);
        cr_expect_eq(sweep_verdict(&s.outcome, &s.plan, "out", &s.problem), STATUS_FAILED);
        study_free(&s);
        struct rows r = rows_read(out, false);
        cr_expect_str_eq(field_of(&r, 0, RESULTS_STATUS), "overflow");
        cr_expect_str_eq(field_of(&r, 0, RESULTS_ERR_OVER_BOUND), "inf");
        cr_expect_eq(strtod(field_of(&r, 0, RESULTS_BOUND), NULL), 0x1p-23);
        rows_free(&r);
        r = rows_read(out, true);
        cr_expect_str_eq(field_of(&r, 0, SUMMARY_ERR_OVER_BOUND_MAX), "inf");
        rows_free(&r);
    }
}

Test(failure, what_a_method_does_not_support, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    struct method m = fake;
    m.cpu = failing;
    m.pairs[DEVICE_CPU] = (struct format_pairs)FORMAT_PAIRS([FP16] = IN(FP16));
    for (int again = 0; again < 2; again++) {
        study_of_fake(&s, &m, "1");
        cr_expect_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
        cr_expect(s.outcome.finished == 2 && s.outcome.failed == 0);
        study_free(&s);
    }
    struct bytes was = get_file(in_folder("out/results.csv")), claimed = {0};
    char *status = memmem(was.data, was.size, "unsupported", strlen("unsupported"));
    cr_assert(status);
    *status = 0;
    add_string(&claimed, (char *)was.data);
    add_string(&claimed, "ok");
    *status = 'u';
    size_t behind = (size_t)(status - (char *)was.data) + strlen("unsupported");
    add_bytes(&claimed, was.data + behind, was.size - behind);
    put_file("out/results.csv", &claimed);
    study_of_fake(&s, &m, "1");
    cr_expect_eq(study_sweep(&s, in_folder("out"), false), STATUS_DATA);
    cr_expect(strstr(s.problem.text, "expected unsupported: this build has not the method"),
              "a result of a method that this build has not: %s", s.problem.text);
    study_free(&s);
    put_file("out/results.csv", &was);
    clear_bytes(&was);
    clear_bytes(&claimed);
    m.pairs[DEVICE_CPU] = (struct format_pairs)FORMAT_PAIRS([FP32] = IN(FP32));
    study_of_fake(&s, &m, "1");
    cr_expect_eq(study_sweep(&s, in_folder("out"), false), STATUS_DATA,
                 "a build that has the method cannot go on: %s", s.problem.text);
    study_free(&s);
    struct rows r = rows_read(in_folder("out"), false);
    cr_assert_eq(r.count, 7);
    cr_expect_str_eq(field_of(&r, 0, RESULTS_STATUS), "unsupported");
    cr_expect_str_eq(field_of(&r, 0, RESULTS_RESULT_BITS), "");
    rows_free(&r);
    r = rows_read(in_folder("out"), true);
    cr_expect(r.count == 2 && strcmp(field_of(&r, 0, SUMMARY_RUNS), "0") == 0);
    rows_free(&r);
    study_make(&s, "accuracy", (study_words){{"device", "cpu"}, {"input", "ones"}, {NULL}});
    for (size_t i = 0; i < s.plan.case_count; i++)
        cr_expect(s.plan.cases[i].supported, "not asked for by name: left out");
    study_free(&s);
}

/* More than any machine has: a row, a message with the bytes, and the rest goes on. */
Test(failure, more_than_memory_holds, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    study_make(&s, "accuracy",
               (study_words){{"method", "sum/tiled"},
                             {"device", "cpu"},
                             {"storage", "fp64"},
                             {"input", "uniform"},
                             {"n", "2^50,10"},
                             {NULL}});
    cr_expect_eq(study_sweep(&s, in_folder("out"), false), STATUS_OK, "%s", s.problem.text);
    cr_expect(s.outcome.failed == 1 && s.outcome.finished == 1);
    cr_expect(strstr(s.notes, "9.01e+15 bytes"), "%s", s.notes);
    cr_expect_eq(sweep_verdict(&s.outcome, &s.plan, "out", &s.problem), STATUS_MEMORY);
    study_free(&s);
    struct rows r = rows_read(in_folder("out"), false);
    cr_expect(r.count == 2 && strcmp(field_of(&r, 0, RESULTS_STATUS), "error") == 0);
    rows_free(&r);
}
