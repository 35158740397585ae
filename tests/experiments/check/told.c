/* What `check` prints of a report that is made by hand. */
#include <criterion/criterion.h>

#include "experiments/check/report.h"

static struct check_report made(const struct method *m)
{
    struct check_report r = {.request = {.method = m, .promise = m->promise},
                             .kept = PROMISE_GPU_TO_GPU};
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        r.request.tried[kind] = true;
    r.tried[CHECK_REPEAT] = (struct check_tried){.attempts = 59, .distinct = 1};
    r.tried[CHECK_OFFSET] = (struct check_tried){.attempts = CHECK_LEAST, .distinct = 1};
    return r;
}

static void expect_told(const struct check_report *r, const char *what, bool due)
{
    struct text text = {0};
    check_text(&text, r, "ulpscope");
    cr_expect((strstr(text_string(&text), what) != NULL) == due, "%s'%s' in: %s", due ? "no " : "",
              what, text_string(&text));
    text_free(&text);
}

Test(check_told, says_what_it_is_held_to)
{
    struct method m = *method_named("sum/tiled");
    struct check_report r = made(&m);
    m.promise = PROMISE_GPU_TO_GPU;
    r.request.promise = PROMISE_GPU_TO_GPU;
    expect_told(&r, "promises gpu_to_gpu, keeps gpu_to_gpu\n", true);
    r.request.promise = PROMISE_RUN_TO_RUN;
    expect_told(&r, "promises gpu_to_gpu, held to run_to_run, keeps gpu_to_gpu\n", true);
}

/* 0.05^(1/59) is 0.95. */
Test(check_told, says_in_hundredths_what_may_be_unseen)
{
    struct check_report r = made(method_named("sum/tiled"));
    expect_told(&r, "repeat 59; 95% confident that fewer than 5% of runs differ", true);
}

/* On one GPU, as many attempts as would be enough of several: the rung is open all the same. */
Test(check_told, says_that_attempts_on_one_device_agree)
{
    struct check_report r = made(method_named("sum/tiled"));
    r.request.device = (struct device){DEVICE_CUDA, 0};
    expect_told(&r, "; on this one 10 attempts agree over 0 shapes,", true);
    r.tried[CHECK_OFFSET].attempts--;
    expect_told(&r, "attempts agree", false);
}

/* What was not tried is told where all was to be. */
Test(check_told, leaves_out_what_was_not_asked_for)
{
    struct check_report r = made(method_named("sum/tiled"));
    strcpy(r.tried[CHECK_LOAD].untried, "time ran out");
    expect_told(&r, "; not tried: load (time", true);
    r.request.tried[CHECK_EXACT] = false;
    expect_told(&r, "; not tried: ", false);
    expect_told(&r, "keeps", false);
}

/* Both results, by which the break is known. */
Test(check_told, shows_both_results)
{
    struct check_report r = made(method_named("sum/tiled"));
    struct check_tried *t = &r.tried[CHECK_OFFSET];
    t->broken = t->differing = 1;
    t->distinct = 2;
    t->witness = (struct check_break){.at = {.pair = {FP32, FP32}, .setting.output = FP32, .n = 5},
                                      .bits = {0x3f800000, 0x40000000},
                                      .is = {"here", "there"}};
    input_parse(&t->witness.at.input, "ones", NULL);
    expect_told(&r, "\n  0x3f800000  1  here\n  0x40000000  2  there\n", true);
}

/* Of words of any length; what is below stands under the verdict. */
Test(check_told, no_line_is_longer_than_100)
{
    struct check_report r = made(method_named("sum/tiled"));
    char *untried = r.tried[CHECK_LOAD].untried;
    size_t wrapped = 0, longest = 0;
    for (int length = 1; length < 60; length++) {
        struct text text = {0};
        snprintf(untried, CHECK_REASON, "%.*s of words that are long enough to be wrapped, each",
                 length, "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww");
        check_text(&text, &r, "ulpscope");
        cr_assert(text_string(&text));
        for (const char *line = text.data; *line; line += strcspn(line, "\n") + 1) {
            size_t width = strcspn(line, "\n");
            longest = width > longest ? width : longest;
            wrapped += strspn(line, " ") == 19;
        }
        text_free(&text);
    }
    cr_expect(longest == 100 && wrapped > 0, "%zu characters", longest);
}
