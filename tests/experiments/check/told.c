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
    check_text(&text, r, "ulpscope", true);
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
    expect_told(&r, " on cpu: keeps gpu_to_gpu, as promised\n\nrung ", true);
    r.request.promise = PROMISE_RUN_TO_RUN;
    expect_told(&r, ": keeps gpu_to_gpu, --promise asks for run_to_run\n", true);
    m.promise = PROMISE_RUN_TO_RUN;
    expect_told(&r, ": keeps gpu_to_gpu, promises run_to_run\n", true);
    m.promise = r.request.promise = PROMISE_NONE;
    expect_told(&r, ": keeps gpu_to_gpu, promises none\n", true);
    r.request.promise = PROMISE_GPU_TO_GPU;
    expect_told(&r, ": keeps gpu_to_gpu, as --promise asks\n", true);
    r.request.promise = PROMISE_ORDER_INVARIANT;
    expect_told(
        &r, ": order_invariant, which --promise asks for, was not tried; keeps gpu_to_gpu\n", true);
    r.tried[CHECK_OFFSET].broken = r.tried[CHECK_OFFSET].differing = 1;
    input_parse(&r.tried[CHECK_OFFSET].witness.at.input, "ones", NULL);
    r.kept = PROMISE_RUN_TO_RUN;
    expect_told(&r, ": BREAKS order_invariant, which --promise asks for; keeps run_to_run\n", true);
    expect_told(&r, "\norder_invariant, correctly_rounded: gpu_to_gpu is broken\n", true);
    m.promise = PROMISE_ORDER_INVARIANT;
    r.request.tried[CHECK_EXACT] = false;
    expect_told(&r, ": BREAKS order_invariant, which it promises\n", true);
    r.request.promise = m.promise = PROMISE_RUN_TO_RUN;
    expect_told(&r, ": no attempt breaks run_to_run, which it promises; breaks gpu_to_gpu\n", true);
    /* What was tried of it is kept, but the rung it is held to was not among that. */
    struct check_report other = made(&m);
    other.request.promise = PROMISE_RUN_TO_RUN;
    other.request.tried[CHECK_EXACT] = false;
    for (enum check_kind k = 0; k < CHECK_KINDS; k++)
        if (check_kinds[k].rung == PROMISE_RUN_TO_RUN)
            other.tried[k].attempts = 0;
    expect_told(&other, ": run_to_run, which it promises, was not tried\n", true);
    other.request.promise = m.promise = PROMISE_NONE;
    expect_told(&other, ": no attempt breaks gpu_to_gpu; promises none\n", true);
    r.failure.status = STATUS_DATA;
    r.failed = CHECK_EXACT;
    expect_told(&r, ": FAILED in exact; breaks gpu_to_gpu\n", true);
}

/* What is kept is named with what was not tried below it, and each reason is printed whole. */
Test(check_told, says_what_lies_open_below)
{
    static const char why[] =
        "a reason of so many words that six of its kind do not fit on two lines";
    struct method m = *method_named("sum/tiled");
    struct check_report r = made(&m);
    m.promise = PROMISE_NONE;
    r.request.promise = PROMISE_NONE;
    r.kept = PROMISE_CORRECTLY_ROUNDED;
    expect_told(&r, ": keeps correctly_rounded, promises none; not tried: order_invariant\n", true);
    r.tried[CHECK_OFFSET] = (struct check_tried){0};
    for (enum check_kind k = 0; k < CHECK_KINDS; k++)
        if (check_kinds[k].rung == PROMISE_GPU_TO_GPU)
            snprintf(r.tried[k].untried, CHECK_REASON, "%s %d", why, (int)k);
    expect_told(&r, "; not tried: gpu_to_gpu, order_invariant\n", true);
    struct check_rung is = check_rung(&r, PROMISE_GPU_TO_GPU);
    char last[200];
    for (enum check_kind k = 0; k < CHECK_KINDS; k++)
        if (check_kinds[k].rung == PROMISE_GPU_TO_GPU) {
            snprintf(last, sizeof last, "%s %d", why, (int)k);
            cr_expect(strstr(is.reason, last), "'%s' is not in '%s'", last, is.reason);
        }
    r.kept = PROMISE_RUN_TO_RUN;
    expect_told(&r, "; not tried:", false);
}

/* 0.05^(1/59) is 0.95. */
Test(check_told, says_in_hundredths_what_may_be_unseen)
{
    struct check_report r = made(method_named("sum/tiled"));
    expect_told(
        &r, "95% confident: under 5% of runs differ (run_to_run)\nno attempt differs: gpu_to_gpu\n",
        true);
    expect_told(&r, "tried: repeat 59, offset 10\n", true);
}

/* 3 of 3 is another finding than 3 of 13256. */
Test(check_told, says_of_which_kind_the_bits_differ)
{
    struct check_report r = made(method_named("sum/tiled"));
    expect_told(&r, "differed: ", false);
    r.tried[CHECK_REPEAT].attempts = 13253;
    r.tried[CHECK_PROCESS].attempts = r.tried[CHECK_PROCESS].differing = 3;
    r.tried[CHECK_OFFSET].differing = 1;
    expect_told(&r, "tried: repeat 13253, process 3, offset 10\ndiffered: process 3\n", true);
    struct text rows = {0};
    check_rows(&rows, &r, "ulpscope");
    cr_expect(strstr(text_string(&rows), ",process 3,\n") &&
                  strstr(text_string(&rows), ",offset 1,\n"),
              "%s", text_string(&rows));
    text_free(&rows);
    json_t *json = check_json(&r, "ulpscope"),
           *rung = json_array_get(json_object_get(json, "rungs"), 0),
           *kinds = json_object_get(rung, "differed");
    cr_expect(json_object_size(kinds) == 1 &&
              json_integer_value(json_object_get(kinds, "process")) == 3);
    json_decref(json);
}

/* Of each rung that is kept, and of no other. */
Test(check_told, says_which_lengths_were_tried)
{
    struct check_report r = made(method_named("sum/tiled"));
    r.over[PROMISE_RUN_TO_RUN] = (struct check_over){.least_n = 2, .most_n = 300};
    r.over[PROMISE_GPU_TO_GPU] = (struct check_over){.least_n = 7, .most_n = 7};
    expect_told(&r, "differ (run_to_run, n = 2 to 300)\nno attempt differs: gpu_to_gpu, n = 7\n",
                true);
    r.tried[CHECK_OFFSET].attempts = CHECK_LEAST - 1;
    expect_told(&r, "differ (run_to_run, n = 2 to 300)\n", true);
}

/* A sum of fixed order whose results are all exact: of inputs that were chosen, that is told. */
Test(check_told, says_that_inputs_may_need_no_rounding)
{
    struct check_report r = made(method_named("sum/tiled"));
    r.request.datas = 1;
    expect_told(&r, "note: ", false);
    r.tried[CHECK_EXACT] = (struct check_tried){.attempts = CHECK_LEAST, .distinct = 1};
    expect_told(&r, "note: every result is the exact one, rounded once; ", true);
    r.request.datas = 0;
    expect_told(&r, "note: ", false);
    r.request.datas = 1;
    r.request.method = method_named("sum/exact");
    expect_told(&r, "note: ", false);
}

/* On one GPU, as many attempts as would be enough of several: the rung is open all the same. */
Test(check_told, says_that_attempts_on_one_device_agree)
{
    struct check_report r = made(method_named("sum/tiled"));
    r.request.device = (struct device){DEVICE_CUDA, 0};
    expect_told(&r, "gpu_to_gpu         not tried        10       0 ", true);
    expect_told(&r, "\ngpu_to_gpu: needs another GPU\n", true);
    r.tried[CHECK_OFFSET].attempts--;
    expect_told(&r, "\ngpu_to_gpu: 9 attempts, 10 are needed: more --seconds\n", true);
}

/* What was not tried is told where all was to be. */
Test(check_told, leaves_out_what_was_not_asked_for)
{
    struct check_report r = made(method_named("sum/tiled"));
    strcpy(r.tried[CHECK_LOAD].untried, "time ran out");
    expect_told(&r, "\nnot tried: load (time", true);
    r.request.tried[CHECK_EXACT] = false;
    expect_told(&r, "\nnot tried: ", false);
    expect_told(&r, "keeps", false);
}

/* A reason stands once, behind all rungs that it holds for. */
Test(check_told, groups_rungs_by_reason)
{
    struct check_report r = made(method_named("sum/tiled"));
    r.request.device = (struct device){DEVICE_CUDA, 0};
    r.tried[CHECK_REPEAT].attempts = 0;
    strcpy(r.tried[CHECK_REPEAT].untried, "left out");
    strcpy(r.tried[CHECK_PERMUTATION].untried, "left out");
    strcpy(r.tried[CHECK_EXACT].untried, "left out");
    expect_told(&r,
                "\nrun_to_run, order_invariant, correctly_rounded: left out\n"
                "gpu_to_gpu: needs another GPU\n\n",
                true);
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

/* The shortest of the lowest rung that is broken; on request one of each kind. */
Test(check_told, shows_the_shortest_counterexample)
{
    struct check_report r = made(method_named("sum/tiled"));
    static const struct {
        enum check_kind kind;
        size_t n;
    } broken[] = {
        {CHECK_REPEAT, 70}, {CHECK_PROCESS, 50}, {CHECK_LOAD, 60}, {CHECK_PERMUTATION, 5}};
    for (size_t i = 0; i < 4; i++) {
        struct check_tried *t = &r.tried[broken[i].kind];
        *t = (struct check_tried){.attempts = 20, .broken = 1, .differing = 1, .distinct = 2};
        t->witness.at.n = broken[i].n;
        input_parse(&t->witness.at.input, "ones", NULL);
    }
    struct text few = {0}, all = {0};
    check_text(&few, &r, "ulpscope", false);
    check_text(&all, &r, "ulpscope", true);
    cr_expect(strstr(text_string(&few), ", n = 50\n"), "%s", text_string(&few));
    cr_expect(!strstr(text_string(&few), ", n = 5\n") && !strstr(text_string(&few), ", n = 60\n"));
    cr_expect(strstr(text_string(&few), "\n3 more counterexamples with --wide\n"), "%s",
              text_string(&few));
    for (size_t i = 0; i < 4; i++) {
        char length[32];
        snprintf(length, sizeof length, ", n = %zu\n", broken[i].n);
        cr_expect(strstr(text_string(&all), length), "%s in: %s", length, text_string(&all));
    }
    cr_expect(!strstr(text_string(&all), "--wide"));
    text_free(&few);
    text_free(&all);
}

/* Of words of any length; what is below stands under the verdict. */
Test(check_told, no_line_is_longer_than_80)
{
    struct check_report r = made(method_named("sum/tiled"));
    char *untried = r.tried[CHECK_LOAD].untried;
    size_t wrapped = 0, longest = 0;
    for (int length = 1; length < 60; length++) {
        struct text text = {0};
        snprintf(untried, CHECK_REASON, "%.*s of words that are long enough to be wrapped, each",
                 length, "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww");
        check_text(&text, &r, "ulpscope", false);
        cr_assert(text_string(&text));
        for (const char *line = text.data; *line; line += strcspn(line, "\n") + 1) {
            size_t width = strcspn(line, "\n");
            longest = width > longest ? width : longest;
            wrapped += strspn(line, " ") == 2;
        }
        text_free(&text);
    }
    cr_expect(longest == 80 && wrapped > 0, "%zu characters", longest);
}

/* A number of ranks that was not reached is not tried, and the first line names those that were. */
Test(check_told, names_ranks_and_what_was_missed)
{
    static uint64_t ranks[] = {3, 4};
    struct method m = *method_named("allreduce/ring");
    struct check_report r = made(&m);
    r.request.setting.ranks = (struct numbers){2, ranks};
    r.kept = PROMISE_RUN_TO_RUN;
    r.over[PROMISE_RUN_TO_RUN].ranks = (struct check_set){.count = 2, .item = {4, 3}};
    expect_told(&r, "allreduce/ring on cpu, 3, 4 ranks: keeps run_to_run", true);
    expect_told(&r, "run_to_run: asked for", false);
    r.over[PROMISE_RUN_TO_RUN].ranks.count = 1;
    expect_told(&r, "allreduce/ring on cpu, 4 ranks: run_to_run, which it promises, was not tried",
                true);
    expect_told(&r, "run_to_run: asked for, but time ran out before: 3 ranks; more", true);
    r.over[PROMISE_RUN_TO_RUN].ranks =
        (struct check_set){.count = 9, .item = {9, 3, 4, 5, 6, 7, 8, 11, 10}};
    expect_told(&r, " on cpu, 9 numbers of ranks from 3 to 11: ", true);
}

/* Ten sums on four ranks: 3, 3, 2 and 2. Of an all-reduce every rank has them all. */
Test(check_told, names_the_rank_that_owns_a_sum)
{
    struct method m = *method_named("reduce_scatter/ring");
    struct check_report r = made(&m);
    struct check_tried *tried = &r.tried[CHECK_PERMUTATION];
    *tried = (struct check_tried){.attempts = 59, .distinct = 2, .broken = 1, .differing = 1};
    input_parse(&tried->witness.at.input, "ones", NULL);
    tried->witness.at.setting = (struct setting){.output = FP32, .ranks = 4, .bins = 10};
    tried->witness.at.n = 40;
    tried->witness.index = 5;
    expect_told(&r, ", n = 40, 4 ranks, output 5 of rank 1\n", true);
    tried->witness.index = 6;
    expect_told(&r, ", n = 40, 4 ranks, output 6 of rank 2\n", true);
    m = *method_named("allreduce/ring");
    expect_told(&r, ", n = 40, 4 ranks, output 6\n", true);
}
