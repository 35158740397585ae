/* Which runs `check` takes for the same again, and over what it says that attempts were made. */
#include <stdio.h>

#include <criterion/criterion.h>

#include "experiments/check/attempts.h"
#include "tests/support/check_made.h"

static struct check_over over;
static struct check_evidence evidence;

static void begin(struct check *c, const struct check_request *r, const char *input)
{
    make_check(c, r, 40);
    input_parse(&c->at.input, input, NULL);
    over = (struct check_over){0};
    check_evidence_begin(&evidence, &over, NULL, true);
    c->evidence = &evidence;
}

static void end(struct check *c)
{
    check_evidence_free(&evidence);
    free_check(c);
}

static bool is_new(const struct check *c, const struct check_setting *s)
{
    check_note(c, s);
    check_noted(c);
    return check_is_new(c);
}

/* A run that differs in one thing from all before is another attempt; once. */
Test(check_evidence, each_difference_is_another_attempt)
{
    struct check_request r = request_for(method_named("scan/serial"), 1);
    struct check c;
    uint8_t mask[40] = {0};
    begin(&c, &r, "ones");
    struct check_setting s = {.method = r.method};
    for (size_t i = 0; i < 12; i++) {
        struct array turned = check_array(&c.in, 40, 1);
        s = i == 1   ? (struct check_setting){.method = r.method, .offset = 1}
            : i == 2 ? (struct check_setting){.method = r.method, .offset = 2}
            : i == 3 ? (struct check_setting){.method = r.method, .around = 255}
            : i == 4 ? (struct check_setting){.method = r.method, .device = {DEVICE_CUDA, 0}}
            : i == 5 ? (struct check_setting){.method = r.method, .device = {DEVICE_CUDA, 1}}
            : i == 6 ? (struct check_setting){.method = r.method, .in = &turned}
                     : (struct check_setting){.method = r.method};
        c.at.setting.exclusive = i == 7;
        c.at.setting.bins = i == 8 ? 4 : 0;
        c.made.of.stride = i == 9 ? 2 : 0;
        c.made.of.mask = i >= 10 ? mask : NULL;
        mask[5] = i == 11;
        cr_expect(is_new(&c, &s), "%zu", i);
        cr_expect(!is_new(&c, &s), "%zu again", i);
    }
    c.made.of.mask = NULL;
    end(&c);
}

/* Launch shapes are those that the method makes of what is asked for. */
Test(check_evidence, shapes_are_the_methods)
{
    struct check_request r = request_for(method_named("sum/serial"), 1);
    struct check_setting s = {0};
    struct shape made = {0};
    struct check c;
    for (size_t i = 0; i < method_count && made.threads == 0; i++) {
        s.method = method_registry[i];
        if (s.method->cpu && operation_plain(s.method->operation))
            made = method_shape(s.method, DEVICE_CPU, 40, s.shape);
    }
    cr_assert(made.threads > 0);
    r.method = s.method;
    begin(&c, &r, "ones");
    cr_expect(is_new(&c, &s));
    s.shape = made;
    cr_expect(!is_new(&c, &s) && over.shapes.count == 1, "%zu shapes", over.shapes.count);
    s.shape.threads++;
    cr_expect(is_new(&c, &s) && over.shapes.count == 2, "%zu shapes", over.shapes.count);
    end(&c);
}

/* Each length and each input once; one that no seed is read for is one input with any. */
Test(check_evidence, lengths_and_inputs_are_counted_once)
{
    struct check_request r = request_for(method_named("sum/serial"), 1);
    const struct check_setting s = {.method = r.method};
    struct check c;
    begin(&c, &r, "ones");
    check_noted(&c);
    cr_expect_eq(over.lengths.count, 0, "no run at all counts");
    for (size_t seeded = 0; seeded < 2; seeded++) {
        input_parse(&c.at.input, seeded ? "uniform" : "ones", NULL);
        for (uint64_t i = 0; i < 6; i++) {
            c.at.seed = 1 + i % 3;
            c.at.n = 38 + i % 2;
            check_note(&c, &s);
            if (i == 0 && !seeded)
                cr_expect_eq(over.inputs.count, 0, "a run without a result counts");
            check_noted(&c);
        }
        cr_expect(over.inputs.count == (seeded ? 4 : 1), "%zu inputs", over.inputs.count);
        cr_expect(over.lengths.count == 2, "%zu lengths", over.lengths.count);
        cr_expect(over.least_n == 38 && over.most_n == 39, "%zu to %zu", over.least_n, over.most_n);
    }
    end(&c);
}

/* However many there are, none is forgotten. */
Test(check_evidence, many_attempts_are_remembered)
{
    enum { MANY = 5000 };
    struct check_request r = request_for(method_named("sum/serial"), 1);
    struct check c;
    begin(&c, &r, "ones");
    for (size_t again = 0; again < 2; again++)
        for (uint64_t i = 1; i <= MANY; i++) {
            evidence.key = 1021 * i;
            cr_assert(check_is_new(&c) == !again, "%llu", (unsigned long long)i);
        }
    end(&c);
}

/* A method of ours whose threads are what is asked for. */
static const struct method *reads_threads(void)
{
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        if (m->cpu && operation_plain(m->operation) &&
            (m->shape_read[DEVICE_CPU] & SHAPE_THREADS) &&
            method_shape(m, DEVICE_CPU, 40, (struct shape){32, 0}).threads !=
                method_shape(m, DEVICE_CPU, 40, (struct shape){64, 0}).threads)
            return m;
    }
    return NULL;
}

/* What was asked for and was in no attempt: by name, a few of each list, until all of it was. */
Test(check_evidence, what_was_asked_for_and_not_reached_is_missed)
{
    static uint64_t asked[] = {10, 20, 40, 50, 60, 70, 80}, threads[] = {32, 64};
    char words[CHECK_REASON] = "";
    struct check_request r = request_for(reads_threads(), 1);
    struct check c;
    cr_assert(r.method);
    r.n = (struct numbers){7, asked};
    r.threads = (struct numbers){2, threads};
    begin(&c, &r, "ones");
    struct check_setting s = {.method = r.method, .shape.threads = 32};
    struct check_report *report = calloc(1, sizeof *report);
    cr_assert(report);
    report->request = r;
    struct check_tried *offset = &report->tried[CHECK_OFFSET], *shape = &report->tried[CHECK_SHAPE];
    for (size_t i = 0; i < 7; i++) {
        check_set_add(&offset->due, asked[i]);
        check_set_add(&shape->due, asked[i]);
    }
    check_note(&c, &s); /* at n = 40 */
    check_noted(&c);
    report->over[PROMISE_GPU_TO_GPU] = over;
    check_set_add(&offset->reached, 40);
    cr_expect(check_missed(words, report, PROMISE_GPU_TO_GPU));
    cr_expect_str_eq(words, "n = 10, 20, 50, 60 and 2 more; 64 threads");
    for (size_t i = 0; i < 7; i++)
        check_set_add(&offset->reached, asked[i]);
    cr_expect(check_missed(NULL, report, PROMISE_GPU_TO_GPU));
    s.shape.threads = 64;
    check_note(&c, &s);
    check_noted(&c);
    report->over[PROMISE_GPU_TO_GPU] = over;
    words[0] = 0;
    cr_expect(!check_missed(words, report, PROMISE_GPU_TO_GPU) && !*words, "%s", words);
    /* One at which nothing could vary is not missed, unless time was short for another kind. */
    check_set_add(&offset->due, 1);
    check_set_add(&offset->idle, 1);
    cr_expect(!check_missed(NULL, report, PROMISE_GPU_TO_GPU));
    check_set_add(&shape->due, 1);
    cr_expect(check_missed(NULL, report, PROMISE_GPU_TO_GPU));
    check_set_add(&shape->idle, 1);
    cr_expect(!check_missed(NULL, report, PROMISE_GPU_TO_GPU));
    /* A user's subject must have run in other launch shapes: other places in memory are not enough.
     */
    struct method theirs = *r.method;
    theirs.foreign = true;
    report->request.method = &theirs;
    cr_expect(check_missed(NULL, report, PROMISE_GPU_TO_GPU));
    for (size_t i = 0; i < 7; i++)
        check_set_add(&shape->reached, asked[i]);
    cr_expect(!check_missed(NULL, report, PROMISE_GPU_TO_GPU));
    free(report);
    end(&c);
}

/* Enough attempts of one length and one number of threads are not enough where several were asked
 * for; of data, whose every other part is fixed, too. */
Test(check_evidence, enough_is_of_all_that_was_asked_for)
{
    static uint64_t asked[] = {100, 40, 70}, threads[] = {32, 64};
    float x[100];
    for (size_t i = 0; i < 100; i++)
        x[i] = (float)made_element(i, 100);
    struct check_data data = {.asked = "x.npy", .name = "x.npy", .array = {FP32, 100, x}};
    for (size_t of_data = 0; of_data < 2; of_data++) {
        struct check_request r = request_for(reads_threads(), 20);
        cr_assert(r.method);
        r.pairs = (struct pairs){{{FP32, FP32}}, 1};
        r.n = (struct numbers){3, asked};
        r.threads = (struct numbers){2, threads};
        r.data = &data;
        r.datas = of_data;
        r.enough = 300;
        r.runs = 301;
        for (size_t kind = 0; kind < CHECK_KINDS; kind++)
            r.tried[kind] = kind == CHECK_REPEAT;
        struct check_report report = checked(&r);
        struct check_rung is = check_rung(&report, PROMISE_RUN_TO_RUN);
        cr_expect(is.state == CHECK_KEPT && is.lengths == 3 && is.shapes == 2,
                  "%zu: %s, %zu lengths, %zu shapes: %s", of_data, check_state_name[is.state],
                  is.lengths, is.shapes, is.reason);
    }
}

/* A length that time ran out before is not told of as kept, nor is what includes it. */
Test(check_evidence, what_time_ran_out_before_is_not_kept)
{
    static uint64_t asked[] = {100, 1 << 22};
    struct check_request r = request_for(method_named("sum/serial"), 0.02);
    r.pairs = (struct pairs){{{FP32, FP32}}, 1};
    r.n = (struct numbers){2, asked};
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        r.tried[kind] = kind == CHECK_REPEAT || kind == CHECK_OFFSET;
    struct check_report report = checked(&r);
    struct check_rung is = check_rung(&report, PROMISE_RUN_TO_RUN),
                      above = check_rung(&report, PROMISE_GPU_TO_GPU);
    cr_expect(is.state == CHECK_NOT_TRIED && is.attempts >= CHECK_LEAST, "%s",
              check_state_name[is.state]);
    cr_expect(strstr(is.reason, "time ran out before: n = 4194304"), "%s", is.reason);
    cr_expect(above.state == CHECK_NOT_TRIED, "%s", check_state_name[above.state]);
    cr_expect(report.kept < PROMISE_RUN_TO_RUN);
}

/* A subject's OpenMP may have started fewer threads than were asked for: that is said, of those
 * that read a number of threads alone. */
Test(check_evidence, fewer_threads_are_warned_of)
{
    struct method m = *method_named("sum/serial");
    static const char *const name[] = {"OMP_DYNAMIC", "OMP_THREAD_LIMIT", "OMP_MAX_ACTIVE_LEVELS"},
                             *const value[] = {"true", "3", "0"};
    enum { NAMES = sizeof name / sizeof *name };
    struct check_report report = {.request = request_for(&m, 1)};
    m.foreign = true;
    m.pairs[DEVICE_CUDA] = (struct format_pairs){0};
    report.tried[CHECK_SHAPE].attempts = 20;
    for (size_t i = 0; i < NAMES; i++)
        for (int reads = 0; reads < 2; reads++)
            for (int set = 0; set < 2; set++) {
                m.shape_read[DEVICE_CPU] = reads ? SHAPE_THREADS : 0;
                for (size_t k = 0; k < NAMES; k++)
                    unsetenv(name[k]);
                if (set)
                    setenv(name[i], value[i], 1);
                struct check_rung is = check_rung(&report, PROMISE_GPU_TO_GPU);
                cr_expect(is.state == CHECK_KEPT, "%s", is.reason);
                cr_expect(!!strstr(is.reason, name[i]) == (reads && set), "%s", is.reason);
            }
    /* No more are asked for than the limit allows. */
    uint64_t threads[] = {1, 3};
    m.shape_read[DEVICE_CPU] = SHAPE_THREADS;
    unsetenv(name[2]);
    setenv(name[1], "3", 1);
    report.request.threads = (struct numbers){2, threads};
    report.over[PROMISE_GPU_TO_GPU].lengths = (struct check_set){1, {1000}};
    report.over[PROMISE_GPU_TO_GPU].shapes =
        (struct check_set){3, {UINT64_C(1) << 32, UINT64_C(3) << 32, UINT64_C(4) << 32}};
    for (threads[1] = 3; threads[1] <= 4; threads[1]++) {
        struct check_rung is = check_rung(&report, PROMISE_GPU_TO_GPU);
        cr_expect(is.state == CHECK_KEPT, "%s", is.reason);
        cr_expect(!!strstr(is.reason, name[1]) == (threads[1] > 3), "%s", is.reason);
    }
}

/* Other alignments alone are no evidence of launch shapes that there was no time for. */
Test(check_evidence, shapes_that_time_did_not_reach_are_missed)
{
    static const enum check_kind kinds[] = {CHECK_SHAPE, CHECK_ENVIRONMENT};
    struct method m = *method_named("sum/serial");
    struct check_report report = {.request = request_for(&m, 1)};
    report.tried[CHECK_OFFSET].attempts = 200;
    report.tried[CHECK_REPEAT].attempts = 200;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int late = 0; late < 2; late++) {
            report.tried[kinds[i]].late = late;
            struct check_rung is = check_rung(&report, PROMISE_GPU_TO_GPU);
            cr_expect(is.state == (late ? CHECK_NOT_TRIED : CHECK_KEPT), "%s", is.reason);
            cr_expect(!!strstr(is.reason, "before another launch shape") == late, "%s", is.reason);
            cr_expect(check_rung(&report, PROMISE_RUN_TO_RUN).state == CHECK_KEPT);
            report.tried[kinds[i]].late = false;
        }
}

/* Few attempts in other launch shapes are no more evidence of them, however many there are at other
 * alignments; but where there are no more cases, time would not help. */
Test(check_evidence, few_launch_shapes_are_few)
{
    struct method m = *method_named("sum/serial");
    m.foreign = true;
    m.pairs[DEVICE_CUDA] = (struct format_pairs){0};
    struct check_report report = {.request = request_for(&m, 1)};
    struct check_tried *environment = &report.tried[CHECK_ENVIRONMENT];
    report.request.tried[CHECK_ENVIRONMENT] = true;
    report.tried[CHECK_OFFSET].attempts = report.tried[CHECK_REPEAT].attempts = 200;
    report.over[PROMISE_GPU_TO_GPU].shapes = (struct check_set){2, {1, 2}};
    for (int all = 0; all < 2; all++)
        for (environment->attempts = 1; environment->attempts < 12; environment->attempts++) {
            environment->all = all;
            struct check_rung is = check_rung(&report, PROMISE_GPU_TO_GPU);
            bool few = environment->attempts < CHECK_LEAST && !all;
            cr_expect(is.state == (few ? CHECK_NOT_TRIED : CHECK_KEPT), "%s", is.reason);
            cr_expect(!!strstr(is.reason, "fewer than 10 attempts in another launch shape") == few,
                      "%s", is.reason);
        }
}

/* Other chips are the other devices of a model: where time reached none, gpu_to_gpu is not tried,
 * and time is what is named. */
Test(check_evidence, chips_that_time_did_not_reach_are_missed)
{
    struct check_report *report = calloc(1, sizeof *report);
    const struct method *m = method_named("gemm/mma");
    struct check_request r = request_for(m, 1);
    struct check c = {.request = &r};
    cr_assert(report && m);
    r.tried[CHECK_DEVICE] = true;
    report->request = r;
    report->tried[CHECK_REPEAT].attempts = report->tried[CHECK_SHAPE].attempts = 200;
    for (int ran = 0; ran < 2; ran++) {
        c.ran[CHECK_DEVICE] = ran;
        check_say_reasons(&c, report);
        cr_expect_eq(report->tried[CHECK_DEVICE].late, !ran);
        struct check_rung is = check_rung(report, PROMISE_GPU_TO_GPU);
        cr_expect(is.state == (ran ? CHECK_KEPT : CHECK_NOT_TRIED), "%s", is.reason);
        cr_expect(!!strstr(is.reason, "before another chip's model") == !ran, "%s", is.reason);
    }
    free(report);
}

/* Numbers of ranks too. */
Test(check_evidence, ranks_that_were_asked_for_are_missed)
{
    static uint64_t asked[] = {2, 3, 5};
    char words[CHECK_REASON] = "";
    struct check_report *report = calloc(1, sizeof *report);
    cr_assert(report);
    report->request.method = method_named("allreduce/ring");
    report->request.device.kind = DEVICE_CPU;
    report->request.setting.ranks = (struct numbers){3, asked};
    check_set_add(&report->over[PROMISE_RUN_TO_RUN].ranks, 3);
    cr_expect(check_missed(words, report, PROMISE_RUN_TO_RUN));
    cr_expect_str_eq(words, "2, 5 ranks");
    check_set_add(&report->over[PROMISE_RUN_TO_RUN].ranks, 2);
    check_set_add(&report->over[PROMISE_RUN_TO_RUN].ranks, 5);
    cr_expect(!check_missed(NULL, report, PROMISE_RUN_TO_RUN));
    free(report);
}

/* Lengths of messages, too: that others had attempts at that length says nothing of them. */
Test(check_evidence, messages_that_were_asked_for_are_missed)
{
    static uint64_t n[] = {6, 600};
    char words[CHECK_REASON] = "";
    struct check_report *report = calloc(1, sizeof *report);
    cr_assert(report);
    report->request.method = method_named("allreduce/exact");
    report->request.n = (struct numbers){2, n};
    report->tried[CHECK_SHAPE].attempts = report->tried[CHECK_BATCH].attempts = 50;
    for (size_t i = 0; i < 2; i++) {
        check_set_add(&report->tried[CHECK_BATCH].due, n[i]);
        check_set_add(&report->tried[CHECK_BATCH].reached, n[i]);
    }
    check_set_add(&report->over[PROMISE_GPU_TO_GPU].messages, 6);
    cr_expect(!check_missed(NULL, report, PROMISE_GPU_TO_GPU), "left out");
    report->request.tried[CHECK_BATCH] = true;
    cr_expect(check_missed(words, report, PROMISE_GPU_TO_GPU));
    cr_expect_str_eq(words, "messages of n = 600");
    cr_expect(check_kind_missed(report, CHECK_BATCH));
    cr_expect(!check_kind_missed(report, CHECK_SHAPE));
    cr_expect(check_rung(report, PROMISE_GPU_TO_GPU).state == CHECK_NOT_TRIED);
    check_set_add(&report->over[PROMISE_GPU_TO_GPU].messages, 600);
    cr_expect(!check_missed(NULL, report, PROMISE_GPU_TO_GPU));
    free(report);
}

/* Each kind varies something else that an output may depend on. */
Test(check_evidence, kinds_that_time_did_not_reach_leave_batches_untried)
{
    struct check_report *report = calloc(1, sizeof *report);
    const struct method *m = method_named("rows/tiled");
    struct check_request r = request_for(m, 1);
    cr_assert(report && m);
    report->request = r;
    report->tried[CHECK_BATCH].attempts = 200;
    report->tried[CHECK_OTHERS].late = report->tried[CHECK_LAYOUT].late = true;
    struct check_rung is = check_rung(report, PROMISE_BATCH_INVARIANT);
    cr_expect(is.state == CHECK_NOT_TRIED);
    cr_expect_str_eq(is.reason, "time ran out before others, layout: more --seconds reach them");
    report->tried[CHECK_LAYOUT].attempts = 1;
    report->request.tried[CHECK_OTHERS] = false;
    is = check_rung(report, PROMISE_BATCH_INVARIANT);
    cr_expect(is.state == CHECK_KEPT, "%s", is.reason);
    free(report);
}

/* Where that is what the verdict is about, none is left out, however late it is. */
Test(check_evidence, kinds_of_batches_are_tried_when_it_is_late)
{
    struct check_request r = request_for(method_named("rows/tiled"), 0.5);
    tick_ns = 100000000;
    r.beside = 1u << PROMISE_BATCH_INVARIANT;
    struct check_report report = checked(&r);
    for (size_t kind = CHECK_BATCH; kind <= CHECK_LAYOUT; kind++)
        cr_expect(report.tried[kind].attempts > 0, "%s", check_kinds[kind].name);
}

/* Exact results are promised on every family of inputs, so those that were left out are said. */
Test(check_evidence, families_that_time_did_not_reach_are_said)
{
    struct check_report *report = calloc(1, sizeof *report);
    const struct method *m = method_named("sum/exact");
    cr_assert(report && m);
    struct check_request r = request_for(m, 1);
    struct check c = {.request = &r};
    report->request = r;
    report->tried[CHECK_EXACT].attempts = 20;
    struct check_case k = {0};
    for (size_t i = 1; i < input_family_count; i++) {
        k.input.family = input_families[i];
        check_note_family(report, &k);
    }
    check_say_reasons(&c, report);
    char words[CHECK_REASON];
    snprintf(words, sizeof words, "time ran out before inputs %s", input_families[0]->name);
    cr_expect_str_eq(report->tried[CHECK_EXACT].untried, words);
    *report->tried[CHECK_EXACT].untried = 0;
    k.input.family = input_families[0];
    check_note_family(report, &k);
    check_say_reasons(&c, report);
    cr_expect_str_eq(report->tried[CHECK_EXACT].untried, "");
    free(report);
}
