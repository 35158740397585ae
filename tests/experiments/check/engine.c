/* What `check` counts as evidence: over which launch shapes, seeds and data attempts are spread,
 * and that the same again is no other attempt. */
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "experiments/check/attempts.h"
#include "experiments/check/recorded.h"
#include "experiments/check/report.h"
#include "experiments/system/machine.h"
#include "tests/support/check_found.h"

static uint64_t thousand[] = {1000};

static enum status serial(const struct task *t, struct problem *p)
{
    return method_named("sum/serial")->cpu(t, p);
}

static struct shape as_asked(size_t n, enum device_kind device, struct shape asked)
{
    (void)n, (void)device;
    return asked;
}

/* One bit more where it is told of so many blocks, or threads. */
static enum status minds_blocks(const struct task *t, struct problem *p)
{
    enum status status = serial(t, p);
    double sum = array_get(&t->out, 0);
    if (status == STATUS_OK && (t->shape.blocks == 7 || t->shape.threads == 77))
        array_encode(&t->out, 0, 1, &(double){format_next_up(t->out.format, sum)});
    return status;
}

/* In every third run, of 3 threads or more. */
static enum status races(const struct task *t, struct problem *p)
{
    static unsigned runs;
    enum status status = serial(t, p);
    double sum = array_get(&t->out, 0);
    if (status == STATUS_OK && t->shape.threads >= 3 && ++runs % 3 == 0)
        array_encode(&t->out, 0, 1, &(double){format_next_up(t->out.format, sum)});
    return status;
}

static struct method shaped(enum status (*cpu)(const struct task *t, struct problem *p),
                            unsigned read)
{
    struct method m = *method_named("sum/serial");
    m.name = "sum/liar";
    m.shape_read[DEVICE_CPU] = read;
    m.resolve = as_asked;
    m.promise = PROMISE_GPU_TO_GPU;
    m.cpu = cpu;
    return m;
}

static struct check_request only(const struct method *m, enum check_kind kind)
{
    struct check_request r = request_for(m, 0.5);
    for (size_t i = 0; i < CHECK_KINDS; i++)
        r.tried[i] = i == kind;
    return r;
}

Test(check_engine, varies_threads_and_blocks)
{
    struct method blocks = shaped(minds_blocks, SHAPE_BLOCKS),
                  both = shaped(minds_blocks, SHAPE_THREADS | SHAPE_BLOCKS),
                  racy = shaped(races, SHAPE_THREADS);
    const struct method *m[] = {&blocks, &both};
    for (size_t i = 0; i < 2; i++) {
        struct check_request r = only(m[i], CHECK_SHAPE);
        struct check_report report = checked(&r);
        cr_expect(check_rung(&report, PROMISE_GPU_TO_GPU).state == CHECK_BROKEN, "%zu", i);
        char *command = check_command(&report, CHECK_SHAPE, "ulpscope");
        cr_expect(command && strstr(command, " --blocks ") && strstr(command, "7"), "%s", command);
        free(command);
    }
    struct check_request r = only(&racy, CHECK_REPEAT);
    struct check_report report = checked(&r);
    const struct check_break *b = &report.tried[CHECK_REPEAT].witness;
    cr_assert(check_rung(&report, PROMISE_RUN_TO_RUN).state == CHECK_BROKEN);
    cr_expect(b->at.shape.threads >= 3, "%u threads", b->at.shape.threads);
    char *command = check_command(&report, CHECK_REPEAT, "ulpscope"), words[32];
    snprintf(words, sizeof words, " --threads %u", b->at.shape.threads);
    cr_expect(command && strstr(command, words), "%s", command);
    free(command);
}

/* In which order shapes are asked for says nothing: all are tried. */
Test(check_engine, tries_all_shapes_that_are_asked_for)
{
    static uint64_t orders[2][3] = {{1, 4, 1}, {4, 1, 4}};
    struct method racy = shaped(races, SHAPE_THREADS);
    struct check_report report[2];
    for (size_t i = 0; i < 2; i++) {
        struct check_request r = only(&racy, CHECK_REPEAT);
        r.threads = (struct numbers){3, orders[i]};
        report[i] = checked(&r);
        cr_expect(check_rung(&report[i], PROMISE_RUN_TO_RUN).state == CHECK_BROKEN, "%zu", i);
        cr_expect(check_rung(&report[i], PROMISE_RUN_TO_RUN).shapes == 2);
    }
    cr_expect(report[0].tried[CHECK_REPEAT].cases == report[1].tried[CHECK_REPEAT].cases);
    cr_expect(report[0].tried[CHECK_REPEAT].broken == report[1].tried[CHECK_REPEAT].broken);
}

static struct check_report one_case(enum check_kind kind, const char *input, uint64_t runs)
{
    static struct input in;
    struct check_request r = only(method_named("sum/exact"), kind);
    input_parse(&in, input, NULL);
    r.input = &in;
    r.inputs = 1;
    r.n = (struct numbers){1, thousand};
    r.runs = runs;
    r.shrink = false;
    r.pairs.count = 0;
    pairs_parse(&r.pairs, "fp32/fp32", NULL);
    return checked(&r);
}

/* --runs tries the same places again, which is no evidence, and other shuffles, which are. */
Test(check_engine, counts_the_same_attempt_once)
{
    uint64_t offsets = one_case(CHECK_OFFSET, "symmetric", 20).tried[CHECK_OFFSET].attempts;
    cr_expect(offsets == 9, "%llu", (unsigned long long)offsets);
    cr_expect(one_case(CHECK_OFFSET, "symmetric", 60).tried[CHECK_OFFSET].attempts == offsets);
    cr_expect(one_case(CHECK_PERMUTATION, "ones", 20).tried[CHECK_PERMUTATION].attempts == 0);
    uint64_t orders =
                 one_case(CHECK_PERMUTATION, "symmetric", 20).tried[CHECK_PERMUTATION].attempts,
             more = one_case(CHECK_PERMUTATION, "symmetric", 40).tried[CHECK_PERMUTATION].attempts;
    cr_expect(orders == 9, "%llu", (unsigned long long)orders);
    cr_expect(more >= 13, "%llu", (unsigned long long)more);
    cr_expect(one_case(CHECK_REPEAT, "ones", 60).tried[CHECK_REPEAT].attempts == 59);
}

static struct check engine(const struct check_request *r)
{
    struct check c = {.request = r, .pairs = r->pairs};
    cr_assert(check_shapes_make(&c, NULL) == STATUS_OK);
    return c;
}

Test(check_engine, goes_through_seeds_and_scans)
{
    struct check_request r = request_for(method_named("scan/serial"), 1);
    struct check c = engine(&r);
    struct check_case k;
    uint64_t first = UINT64_MAX, last = 0;
    bool met[2] = {false, false};
    for (size_t u = 0; u < 200; u++) {
        cr_assert(check_case_at(&c, CHECK_EXACT, u, &k) == CHECK_FOUND);
        met[k.setting.exclusive] = true;
        first = k.seed < first ? k.seed : first;
        last = k.seed > last ? k.seed : last;
    }
    cr_expect(met[0] && met[1] && first == 1 && last > 5, "seeds %llu to %llu",
              (unsigned long long)first, (unsigned long long)last);
    for (int which = 0; which < 2; which++) {
        r.scan[which] = true;
        r.scan[!which] = false;
        for (size_t u = 0; u < 50; u++) {
            check_case_at(&c, CHECK_EXACT, u, &k);
            cr_expect(k.setting.exclusive == which);
        }
    }
    numbers_free(&c.threads);
    numbers_free(&c.blocks);
}

/* A scan whose first output that covers all permuted elements depends on their order, and no other.
 */
static enum status minds_one_output(const struct task *t, struct problem *p)
{
    size_t at = t->of->in.n - t->of->in.n / 3 - 1;
    enum status status = method_named("scan/exact")->cpu(t, p);
    if (status == STATUS_OK && !t->of->exclusive &&
        array_get(&t->of->in, 0) > array_get(&t->of->in, 1)) {
        double sum = format_next_up(t->out.format, array_get(&t->out, at));
        array_encode(&t->out, at, 1, &sum);
    }
    return status;
}

Test(check_engine, holds_the_first_output_that_covers_a_permutation)
{
    struct method m = claims("scan/exact", PROMISE_ORDER_INVARIANT);
    m.cpu = minds_one_output;
    m.name = "scan/liar";
    struct check_request r = only(&m, CHECK_PERMUTATION);
    struct check_report report = checked(&r);
    cr_expect(check_broken(&report));
}

Test(check_engine, asks_for_the_seed_that_was_recorded)
{
    struct problem p = {0};
    struct check_recorded *recorded;
    struct check_case k;
    cr_assert(check_recorded_read(&recorded, build_recorded, NULL, 0, &p) == STATUS_OK, "%s",
              p.text);
    struct check_request r = request_for(method_named("sum/tiled"), 1);
    r.recorded = recorded;
    r.n.count = 0;
    struct check c = engine(&r);
    cr_assert(check_recorded_at(&c, 0, &k));
    uint64_t n = k.n, seed = k.seed;
    struct input in = k.input;
    r.n = (struct numbers){1, &n};
    r.input = &in;
    r.inputs = 1;
    for (uint64_t other = 0; other < 2; other++) {
        r.seed = seed + 1000 * other;
        bool found = check_recorded_at(&c, 0, &k);
        cr_expect(found == !other && (!found || k.seed == seed));
    }
    numbers_free(&c.threads);
    numbers_free(&c.blocks);
    check_recorded_free(recorded);
}

/* --- rungs --- */

Test(check_engine, keeps_nothing_above_what_is_broken)
{
    struct check_report r = {
        .request = {.method = method_named("sum/tiled"), .promise = PROMISE_CORRECTLY_ROUNDED}};
    r.tried[CHECK_REPEAT].attempts = r.tried[CHECK_EXACT].attempts = 50;
    r.tried[CHECK_OFFSET].attempts = CHECK_LEAST - 1;
    cr_expect(check_rung(&r, PROMISE_RUN_TO_RUN).state == CHECK_KEPT);
    struct check_rung few = check_rung(&r, PROMISE_GPU_TO_GPU);
    cr_expect(few.state == CHECK_NOT_TRIED && strstr(few.reason, "9 attempts"), "%s", few.reason);
    cr_expect(check_rung(&r, PROMISE_CORRECTLY_ROUNDED).state == CHECK_KEPT && !check_broken(&r));
    r.tried[CHECK_PERMUTATION] = (struct check_tried){.attempts = 9, .differing = 8, .broken = 1};
    struct check_rung above = check_rung(&r, PROMISE_CORRECTLY_ROUNDED);
    cr_expect(above.state == CHECK_BROKEN && above.differing == 0);
    cr_expect_str_eq(above.reason, "order_invariant is broken");
    cr_expect(check_broken(&r) && check_kept(&r) == PROMISE_RUN_TO_RUN);
}

/* A rung includes those below it: where one of them was begun and too little tried, it is not kept.
 */
Test(check_engine, keeps_nothing_above_what_was_tried_too_little)
{
    struct check_report r = {.request = {.method = method_named("sum/tiled")}};
    r.tried[CHECK_SHAPE].attempts = r.tried[CHECK_PERMUTATION].attempts = 50;
    r.tried[CHECK_EXACT].attempts = 50;
    cr_expect(check_rung(&r, PROMISE_GPU_TO_GPU).state == CHECK_KEPT); /* of --only */
    r.tried[CHECK_REPEAT].attempts = CHECK_LEAST - 1;
    for (enum promise rung = PROMISE_GPU_TO_GPU; rung <= PROMISE_ORDER_INVARIANT; rung++) {
        struct check_rung is = check_rung(&r, rung);
        cr_expect(is.state == CHECK_NOT_TRIED && is.attempts == 50, "%s", promise_name[rung]);
        cr_expect_str_eq(is.reason,
                         "of run_to_run below it 9 attempts, 10 are needed: more --seconds");
    }
    cr_expect(check_rung(&r, PROMISE_CORRECTLY_ROUNDED).state == CHECK_KEPT);
    r.tried[CHECK_REPEAT].attempts = CHECK_LEAST;
    cr_expect(check_rung(&r, PROMISE_GPU_TO_GPU).state == CHECK_KEPT);
}

static struct check_report one_device(const struct method *m, enum device_kind device)
{
    struct check_report r = {.request = {.method = m, .device = {device, 0}}};
    r.tried[CHECK_REPEAT].attempts = r.tried[CHECK_EXACT].attempts = 50;
    r.tried[CHECK_SHAPE].attempts = 420;
    r.tried[CHECK_PERMUTATION].attempts = 300;
    return r;
}

/* What speaks of all devices is not kept because shapes agree on one of them. */
Test(check_engine, one_gpu_is_not_all)
{
    struct check_report r = one_device(method_named("cub/sum"), DEVICE_CUDA);
    struct check_rung all = check_rung(&r, PROMISE_GPU_TO_GPU);
    struct check_rung order = check_rung(&r, PROMISE_ORDER_INVARIANT);
    struct check_rung exact = check_rung(&r, PROMISE_CORRECTLY_ROUNDED);
    cr_expect(all.state == CHECK_NOT_TRIED && all.attempts == 420);
    cr_expect_str_eq(all.reason, "needs another GPU");
    cr_expect(order.state == CHECK_NOT_TRIED);
    cr_expect(exact.state == CHECK_KEPT && check_kept(&r) == PROMISE_CORRECTLY_ROUNDED);
    cr_expect_str_eq(exact.reason, "not tried below it: gpu_to_gpu, order_invariant");
    struct text text = {0};
    check_text(&text, &r, "ulpscope", true);
    const char *said = text_string(&text);
    cr_expect(strstr(said, "\ngpu_to_gpu         not tried       420       0 "), "%s", said);
    cr_expect(strstr(said, "\ngpu_to_gpu, order_invariant: needs another GPU\n"
                           "correctly_rounded: not tried below it: gpu_to_gpu, order_invariant\n"),
              "%s", said);
    text_free(&text);
    r.tried[CHECK_EXACT].attempts = 0;
    cr_expect(check_kept(&r) == PROMISE_RUN_TO_RUN);
    for (int recorded = 0; recorded < 2; recorded++) {
        struct check_report two = r;
        two.tried[recorded ? CHECK_RECORDED : CHECK_DEVICE].attempts = 1;
        cr_expect(check_kept(&two) == PROMISE_ORDER_INVARIANT);
        cr_expect_str_empty(check_rung(&two, PROMISE_GPU_TO_GPU).reason);
    }
    r.tried[CHECK_PERMUTATION].broken = r.tried[CHECK_PERMUTATION].differing = 1;
    cr_expect(check_rung(&r, PROMISE_ORDER_INVARIANT).state == CHECK_BROKEN);
}

Test(check_engine, one_cpu_is_all_there_is_of_what_no_gpu_runs)
{
    struct method foreign = claims("sum/serial", PROMISE_GPU_TO_GPU);
    foreign.foreign = true;
    struct check_report r = one_device(&foreign, DEVICE_CPU);
    struct check_rung two = check_rung(&r, PROMISE_GPU_TO_GPU);
    cr_expect(two.state == CHECK_NOT_TRIED);
    cr_expect_str_eq(two.reason, "needs another device");
    foreign.pairs[DEVICE_CUDA] = (struct format_pairs){0};
    struct check_rung one = check_rung(&r, PROMISE_GPU_TO_GPU);
    cr_expect(one.state == CHECK_KEPT &&
              check_rung(&r, PROMISE_ORDER_INVARIANT).state == CHECK_KEPT);
    cr_expect_str_eq(one.reason, "on this CPU: no other device runs it");
    r = one_device(method_named("sum/serial"), DEVICE_CPU); /* one order, that of its twin */
    struct check_rung ours = check_rung(&r, PROMISE_GPU_TO_GPU);
    cr_expect(ours.state == CHECK_KEPT);
    cr_expect_str_eq(ours.reason, "on this CPU: no other device was tried");
}

Test(check_engine, says_why_a_kind_is_not_tried)
{
    struct method m = *method_named("sum/serial");
    m.name = "sum/own";
    struct check_request r = request_for(&m, 0.5);
    r.tried[CHECK_EXACT] = false;
    struct check_report report = checked(&r);
    cr_expect_str_eq(report.tried[CHECK_EXACT].untried, "left out by --only");
    cr_expect_str_eq(report.tried[CHECK_SHAPE].untried, "the subject reads no launch shape");
    cr_expect(strstr(report.tried[CHECK_DEVICE].untried, "device") || gpu_count(false) > 0);
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        /* A sum lies in no batch, and ours read no environment: they say nothing. */
        if (kind != CHECK_ENVIRONMENT && (kind < CHECK_PLACE || kind > CHECK_LAYOUT))
            cr_expect((report.tried[kind].attempts == 0) == (*report.tried[kind].untried != 0),
                      "%s", check_kinds[kind].name);
    struct check_rung exact = check_rung(&report, PROMISE_CORRECTLY_ROUNDED);
    cr_expect(exact.state == CHECK_BROKEN || strstr(exact.reason, "--only"), "%s", exact.reason);
}

/* --- the user's own arrays --- */

Test(check_engine, tries_data)
{
    static float own[1500];
    for (size_t i = 0; i < 1500; i++)
        own[i] = i % 2 ? 1e-3f * (float)i : -0.37f * (float)i;
    struct check_data data = {.asked = "a\\,b.npy", .name = "a,b.npy", .array = {FP32, 1500, own}};
    struct method m = claims("sum/serial", PROMISE_ORDER_INVARIANT);
    struct check_request r = request_for(&m, 0.5);
    r.n.count = 0;
    r.data = &data;
    r.datas = 1;
    struct check_report report = checked(&r);
    struct check_rung order = check_rung(&report, PROMISE_ORDER_INVARIANT);
    cr_expect(order.state == CHECK_BROKEN && order.inputs == 1 && order.lengths > 1);
    cr_expect(check_rung(&report, PROMISE_GPU_TO_GPU).state == CHECK_KEPT);
    cr_expect(report.tried[CHECK_PERMUTATION].witness.at.data == &data);
    char *command = check_command(&report, CHECK_PERMUTATION, "ulpscope");
    cr_expect(strstr(command, " --data 'a\\,b.npy' --n "), "%s", command);
    cr_expect(!strstr(command, "--input"), "%s", command);
    free(command);
}
