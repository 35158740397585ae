/* What each kind of attempt of `check` hands to a subject, seen by one that notes it; and what is
 * made of what it hands back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "experiments/subjects/foreign.h"
#include "experiments/subjects/subject.h"
#include "kernels/gpu/load.h"
#include "kernels/method/matrix.h"
#include "tests/support/check_made.h"

/* --- a subject that notes what it was given; all its results are 0 --- */

enum { LONG = 1200, MOST = 64 };

static struct seen {
    float in[LONG], in2[LONG];
    uint32_t keys[LONG];
    size_t n, place;
    struct shape shape;
    bool exclusive;
    uint8_t before, behind;
} seen[MOST];
static size_t times;

static enum status notes(const struct task *t, struct problem *p)
{
    const uint8_t *bytes = t->of->in.data;
    cr_assert(times < MOST && t->of->in.format == FP32);
    struct seen *s = &seen[times++];
    size_t count = t->of->in.n < LONG ? t->of->in.n : LONG;
    *s = (struct seen){.n = t->of->in.n,
                       .shape = t->shape,
                       .exclusive = t->of->exclusive,
                       .place = (uintptr_t)bytes % 256 / sizeof(float),
                       .before = bytes[-1],
                       .behind = bytes[t->of->in.n * sizeof(float)]};
    memcpy(s->in, bytes, count * sizeof(float));
    if (t->of->in2.data)
        memcpy(s->in2, t->of->in2.data, count * sizeof(float));
    if (t->of->keys)
        memcpy(s->keys, t->of->keys, count * sizeof(uint32_t));
    memset(t->out.data, 0, array_bytes(t->out.format, t->out.n));
    (void)p;
    return STATUS_OK;
}

static struct shape as_asked(size_t n, enum device_kind device, struct shape asked)
{
    (void)n, (void)device;
    return asked;
}

static struct method noting(const struct operation *operation)
{
    times = 0;
    return (struct method){.name = "sum/noting",
                           .summary = "notes",
                           .operation = operation,
                           .pairs = {[DEVICE_CPU] = FORMAT_PAIRS_ALL},
                           .bound = THEOREM_ANY_ORDER,
                           .cpu = notes};
}

/* Tries one kind on n elements of the check's own. */
static struct check_outcome tried(check_try try_it, struct check *c)
{
    struct check_outcome o = {0};
    struct problem p = {0};
    cr_assert(try_it(c, &o, &p) == STATUS_OK, "%s", p.text);
    return o;
}

static void expect_attempts(check_try try_it, struct check *c, uint64_t attempts,
                            uint64_t differing)
{
    struct check_outcome o = tried(try_it, c);
    cr_expect(o.attempts == attempts && o.differing == differing, "%llu of %llu differ",
              (unsigned long long)o.differing, (unsigned long long)o.attempts);
    check_outcome_free(&o);
}

/* --- orders --- */

enum { N = 30 };

static bool is_permutation(const float *in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < n && in[k] != (float)made_element(i, n))
            k++;
        if (k == n)
            return false;
    }
    return true;
}

Test(check_tries, orders_are_what_they_are_called)
{
    struct method m = noting(&operation_sum);
    struct check_request r = request_for(&m, 1);
    struct check c;
    make_check(&c, &r, N);
    expect_attempts(check_permutation, &c, 9, 0);
    cr_assert(times == 10, "%zu runs", times);
    for (size_t i = 0; i < N; i++) {
        cr_expect(seen[0].in[i] == (float)made_element(i, N));
        cr_expect(seen[1].in[i] == seen[0].in[N - 1 - i], "reversed");
        cr_expect(seen[2].in[i] == seen[0].in[(i + N / 3) % N], "rotated");
        cr_expect(i == 0 || seen[3].in[i - 1] < seen[3].in[i], "ascending");
        cr_expect(i == 0 || seen[4].in[i - 1] > seen[4].in[i], "descending");
        cr_expect(i == 0 || fabsf(seen[5].in[i - 1]) < fabsf(seen[5].in[i]), "magnitudes");
    }
    for (size_t run = 0; run < times; run++)
        cr_expect(is_permutation(seen[run].in, N), "run %zu", run);
    free_check(&c);
}

/* In one go, in another round, with another seed: no shuffle comes twice. */
Test(check_tries, each_shuffle_is_another)
{
    struct method m = noting(&operation_sum);
    struct check_request r = request_for(&m, 1);
    struct check c;
    make_check(&c, &r, N);
    for (unsigned go = 0; go < 3; go++) {
        c.round = go == 1;
        c.at.seed = go == 2 ? 2 : 1;
        expect_attempts(check_permutation, &c, 9, 0);
    }
    cr_assert(times == 30, "%zu runs", times);
    for (size_t a = 0; a < 12; a++)
        for (size_t b = 0; b < a; b++) {
            const struct seen *one = &seen[a / 4 * 10 + 6 + a % 4],
                              *other = &seen[b / 4 * 10 + 6 + b % 4];
            cr_expect(memcmp(one->in, other->in, N * sizeof(float)) != 0, "%zu and %zu", a, b);
        }
    free_check(&c);
}

/* Two arrays are permuted alike, and so are elements and their keys. */
Test(check_tries, what_belongs_together_is_permuted_alike)
{
    static const struct operation *const operation[] = {&operation_dot, &operation_scatter};
    for (size_t which = 0; which < 2; which++) {
        struct method m = noting(operation[which]);
        struct check_request r = request_for(&m, 1);
        struct check c;
        make_check(&c, &r, N);
        c.at.setting.bins = N;
        if (which)
            give_keys(&c, N, N);
        expect_attempts(check_permutation, &c, 6, 0);
        cr_assert(times == 7, "%zu runs", times);
        for (size_t run = 0; run < times; run++)
            for (size_t i = 0; i < N; i++)
                cr_expect(seen[run].in[i] ==
                          (which ? seen[0].in[seen[run].keys[i]] : seen[run].in2[i] / 2));
        free_check(&c);
    }
}

/* The first third of a scan's elements stays, and its outputs from there on are compared. */
static size_t minded;

static enum status minds_one_output(const struct task *t, struct problem *p)
{
    double first = array_get(&t->of->in, 0);
    enum status status = notes(t, p);
    cr_expect(t->of->in.n < N ||
              memcmp((float *)t->of->in.data + 20, seen[0].in + 20, 10 * 4) == 0);
    array_encode(&t->out, minded, 1, &first);
    return status;
}

Test(check_tries, outputs_of_a_scan_that_cover_a_permutation_are_compared)
{
    struct method m = noting(&operation_scan);
    m.cpu = minds_one_output;
    struct check_request r = request_for(&m, 1);
    struct check c;
    make_check(&c, &r, N);
    for (size_t i = 0; i < 4; i++) {
        c.at.setting.exclusive = i >= 2;
        minded = 18 + i - i / 2; /* 18 and 19, inclusive; 19 and 20, exclusive */
        times = 0;
        struct check_outcome o = tried(check_permutation, &c);
        cr_expect((o.differing > 0) == (i % 2 == 1), "output %zu", minded);
        cr_expect(seen[0].exclusive == c.at.setting.exclusive);
        check_outcome_free(&o);
    }
    free_check(&c);
}

/* Of two elements no output of an exclusive scan covers both: nothing is there to be compared. */
Test(check_tries, an_exclusive_scan_of_two_elements_is_no_attempt)
{
    struct method m = noting(&operation_scan);
    struct check_request r = request_for(&m, 1);
    struct check c;
    make_check(&c, &r, 2);
    c.at.setting.exclusive = true;
    expect_attempts(check_permutation, &c, 0, 0);
    c.at.setting.exclusive = false;
    expect_attempts(check_permutation, &c, 9, 0);
    free_check(&c);
}

/* --- launch shapes, places, neighbours --- */

Test(check_tries, each_shape_once)
{
    static uint64_t threads[] = {4, 1, 4}, blocks[] = {9, 2};
    struct method m = noting(&operation_sum);
    m.shape_read[DEVICE_CPU] = SHAPE_THREADS | SHAPE_BLOCKS;
    m.resolve = as_asked;
    struct check_request r = request_for(&m, 1);
    r.threads = (struct numbers){3, threads};
    r.blocks = (struct numbers){2, blocks};
    struct check c;
    make_check(&c, &r, N);
    cr_assert(check_shape_count(&c) == 4);
    c.at.shape = check_shape_at(&c, 0);
    cr_expect(c.at.shape.threads == 1 && c.at.shape.blocks == 2, "the least first");
    expect_attempts(check_shape, &c, 3, 0);
    cr_assert(times == 4, "%zu runs", times);
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < a; b++) {
            bool same = seen[a].shape.threads == seen[b].shape.threads &&
                        seen[a].shape.blocks == seen[b].shape.blocks;
            cr_expect(!same, "runs %zu and %zu", a, b);
        }
    cr_expect(seen[0].shape.threads == 1 && seen[0].shape.blocks == 2);
    cr_expect(seen[3].shape.threads == 4 && seen[3].shape.blocks == 9, "what differs in both last");
    free_check(&c);
}

Test(check_tries, places_and_neighbours_are_what_they_are_called)
{
    static const size_t offsets[] = {0, 1, 2, 3, 4, 5, 7, 8, 15, 31};
    static const uint8_t bytes[] = {0xff, 0x00, 0x3c, 0x7b, 0xfb};
    static const size_t places[] = {1, 0, 6, 64};
    struct method m = noting(&operation_sum);
    struct check_request r = request_for(&m, 1);
    struct check c;
    make_check(&c, &r, N);
    expect_attempts(check_offset, &c, 9, 0);
    cr_assert(times == 10);
    for (size_t i = 0; i < times; i++)
        cr_expect(seen[i].place == offsets[i], "%zu", seen[i].place);
    times = 0;
    expect_attempts(check_neighbour, &c, 19, 0);
    cr_assert(times == 20);
    for (size_t i = 0; i < times; i++)
        cr_expect(seen[i].place == places[i / 5] % 64 && seen[i].before == bytes[i % 5] &&
                      seen[i].behind == bytes[i % 5],
                  "%zu", i);
    free_check(&c);
}

/* A shared object's process is told what to lay around it: NaN where that is what it is called. */
Test(check_tries, a_process_is_told_its_neighbours)
{
    static const char *const around[] = {"255", "0", "60", "123", "251"};
    const struct method *m;
    struct problem p = {0};
    foreign_server(ULPSCOPE_PROGRAM);
    cr_assert(subject_named(&m, "test", FLAWED_OBJECT ":sum", NULL, &p) == STATUS_OK, "%s", p.text);
    struct check_request r = request_for(m, 1);
    struct check c;
    make_check(&c, &r, N);
    c.at.pair = (struct format_pair){FP64, FP64};
    c.at.setting.output = FP64;
    c.in = (struct array){FP64, N, c.in.data};
    memset(c.in.data, 0, array_bytes(FP64, N));
    expect_attempts(check_neighbour, &c, 4, 0);
    cr_assert(c.serving == 5, "%zu processes", c.serving);
    for (size_t i = 0; i < 5; i++) {
        const char *told = strstr(c.served[i]->name, " --around ");
        cr_expect(told && strcmp(told + 10, around[i]) == 0, "%s", c.served[i]->name);
    }
    foreign_end(NULL);
    free_check(&c);
}

/* --- the same again --- */

static struct check_outcome asked_in_processes(const struct method *m, struct check *c, size_t due)
{
    static struct check_request r;
    r = request_for(m, 1);
    make_check(c, &r, N);
    if (m->foreign) {
        c->at.pair = (struct format_pair){FP64, FP64};
        c->at.setting.output = FP64;
        c->in = (struct array){FP64, N, c->in.data};
        memset(c->in.data, 0, array_bytes(FP64, N));
    }
    struct check_outcome o = tried(check_process, c);
    cr_expect(o.attempts == 9 && o.found.runs == 20, "%llu", (unsigned long long)o.attempts);
    cr_expect(c->serving == due, "%zu processes", c->serving);
    foreign_end(NULL);
    return o;
}

/* Three processes, each asked once more than a tenth of the runs; ours too, in other processes than
 * this. */
Test(check_tries, fresh_processes_are_asked)
{
    static const char *const flaws[] = {"", "process"};
    struct problem p = {0};
    struct check c;
    foreign_server(ULPSCOPE_PROGRAM);
    for (size_t i = 0; i < 2; i++) {
        char name[400];
        const struct method *m;
        snprintf(name, sizeof name, "exec:%s %s", FLAWED_PROGRAM, flaws[i]);
        cr_assert(subject_named(&m, "test", name, NULL, &p) == STATUS_OK, "%s", p.text);
        struct check_outcome o = asked_in_processes(m, &c, 0);
        cr_expect((o.differing > 0) == (i == 1), "%s", name);
        check_outcome_free(&o);
        free_check(&c);
    }
    struct check_outcome o = asked_in_processes(method_named("sum/serial"), &c, 3);
    cr_expect(o.differing == 0);
    check_outcome_free(&o);
    free_check(&c);
}

/* Where one begins so late that the time of the kind is over by then, it is not the only one: what
 * every second process adds otherwise was called kept. */
Test(check_tries, late_processes_are_asked_all_once)
{
    struct problem p = {0};
    struct check c;
    struct check_evidence evidence = {0};
    struct check_over over = {0};
    char name[400];
    const struct method *m;
    static struct check_request r;
    snprintf(name, sizeof name, "exec:%s process", FLAWED_PROGRAM);
    cr_assert(subject_named(&m, "test", name, NULL, &p) == STATUS_OK, "%s", p.text);
    for (int shrinking = 0; shrinking < 2; shrinking++) {
        r = request_for(m, 1);
        r.seconds = 60;
        make_check(&c, &r, N);
        c.at.pair = (struct format_pair){FP64, FP64};
        c.at.setting.output = FP64;
        c.in = (struct array){FP64, N, c.in.data};
        memset(c.in.data, 0, array_bytes(FP64, N));
        input_parse(&c.at.input, "symmetric", NULL);
        check_evidence_begin(&evidence, &over, NULL, false);
        c.evidence = shrinking ? NULL : &evidence;
        c.until = 1;
        c.end = UINT64_MAX;
        struct check_outcome o = tried(check_process, &c);
        cr_expect(o.attempts == (shrinking ? 1 : 3), "%llu", (unsigned long long)o.attempts);
        cr_expect(o.differing > 0);
        check_outcome_free(&o);
        check_evidence_free(&evidence);
        free_check(&c);
    }
    foreign_end(NULL);
}

static size_t loads;
static int loaded;
static bool load_fails;

enum status __real_load_begin(struct load **load, int device, struct problem *p);
enum status __wrap_load_begin(struct load **load, int device, struct problem *p);

enum status __wrap_load_begin(struct load **load, int device, struct problem *p)
{
    loads++;
    loaded = device;
    if (load_fails)
        return problem(p, STATUS_MEMORY, "no memory for other work");
    return __real_load_begin(load, device, p);
}

/* The device that is asked has the load; a repetition has none, whatever is asked for. */
Test(check_tries, the_load_is_the_devices)
{
    static uint64_t few[] = {33};
    struct method m = *method_named("sum/serial");
    struct check_request r = request_for(&m, 0.1);
    struct check c;
    make_check(&c, &r, N);
    expect_attempts(check_under_load, &c, 20, 0);
    cr_expect(loads == 1 && loaded == -1, "device %d", loaded);
    r.load[1] = true;
    r.n = (struct numbers){1, few};
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        r.tried[kind] = kind == CHECK_REPEAT;
    checked(&r);
    cr_expect(loads == 1, "%zu loads", loads);
    r.tried[CHECK_OFFSET] = true;
    checked(&r);
    cr_expect(loads > 1 && loaded == -1, "%zu loads", loads);
    free_check(&c);
}

/* Where the device cannot be loaded, nothing is said under load, and the subject has not failed. */
Test(check_tries, a_load_that_cannot_be_is_no_failure)
{
    static uint64_t few[] = {33};
    struct method m = *method_named("sum/serial");
    struct check_request r = request_for(&m, 0.1);
    r.n = (struct numbers){1, few};
    r.load[0] = r.load[1] = true;
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        r.tried[kind] = kind == CHECK_LOAD || kind == CHECK_OFFSET;
    load_fails = true;
    struct check_report report = checked(&r);
    load_fails = false;
    cr_expect(loads > 1 && report.failure.status == STATUS_OK, "%s", report.failure.text);
    cr_expect(report.tried[CHECK_LOAD].attempts == 0 && report.tried[CHECK_OFFSET].attempts > 0);
    cr_expect_str_eq(report.tried[CHECK_LOAD].untried, "no memory for other work");
}

/* --- exact results --- */

Test(check_tries, exact_results_are_those_of_exact_methods)
{
    static const char *const names[] = {"sum/exact", "scan/exact", "scan/exact", "scatter/exact"};
    for (size_t i = 0; i < 4; i++) {
        struct check_request r = request_for(method_named(names[i]), 1);
        struct check c;
        make_check(&c, &r, N);
        c.at.setting.exclusive = i == 2;
        c.at.setting.bins = 5;
        if (i == 3)
            give_keys(&c, N, 5);
        expect_attempts(check_exact, &c, 1, 0);
        free_check(&c);
    }
}

/* --- programs that do not answer --- */

/* How often was it begun? */
static size_t begun(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t lines = 0;
    for (int byte; file && (byte = fgetc(file)) != EOF;)
        lines += byte == '\n';
    if (file)
        fclose(file);
    unlink(path);
    return lines;
}

/* A program that hangs is asked in one pair of formats alone; all pairs are left out. */
Test(check_tries, a_program_that_hangs_is_not_asked_again)
{
    const struct method *m;
    struct problem p = {0};
    char name[128], path[64];
    snprintf(path, sizeof path, "/tmp/ulpscope-check-%d", (int)getpid());
    snprintf(name, sizeof name, "exec:echo >>%s; exit 1", path);
    cr_assert(subject_named(&m, "test", name, NULL, &p) == STATUS_OK, "%s", p.text);
    struct check_request r = request_for(m, 1);
    r.pairs = (struct pairs){{{FP32, FP32}, {FP64, FP64}, {FP16, FP16}}, 3};
    size_t often[2];
    for (size_t slow = 0; slow < 2; slow++) {
        struct check_report report = {0};
        struct check c = {.request = &r, .end = UINT64_MAX};
        tick_ns = slow ? 4000000000 : 1000;
        cr_assert(check_find_pairs(&c, &report, &p) == STATUS_OK, "%s", p.text);
        cr_expect(c.pairs.count == 0 && report.left_out.count == 3);
        for (size_t i = 0; i < 3; i++)
            cr_expect(report.left_out.item[i].storage == r.pairs.item[i].storage);
        foreign_end(m);
        often[slow] = begun(path);
        free_check(&c);
    }
    cr_expect(often[1] > 0 && often[0] == 3 * often[1], "%zu times, then %zu", often[0], often[1]);
}
