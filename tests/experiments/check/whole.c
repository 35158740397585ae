/* Whole checks of quick subjects: which cases there is time for, what stays of them in the report,
 * and what is recorded, by hand, of a method. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "experiments/check/recorded.h"
#include "experiments/system/clock.h"
#include "tests/support/check_made.h"

static enum status gives_seven(const struct task *t, struct problem *p)
{
    (void)p;
    array_encode(&t->out, 0, 1, &(double){7});
    return STATUS_OK;
}

static double seconds_a_run;

/* Takes so many seconds by the test's clock. */
static enum status dawdles(const struct task *t, struct problem *p)
{
    uint64_t tick = tick_ns;
    tick_ns = (uint64_t)(seconds_a_run * 1e9);
    clock_ns();
    tick_ns = tick;
    return gives_seven(t, p);
}

static enum status refuses(const struct task *t, struct problem *p)
{
    (void)t;
    return problem(p, STATUS_FAILED, "out of order");
}

static struct method subject_of(enum status (*cpu)(const struct task *t, struct problem *p))
{
    return (struct method){.name = "sum/quick",
                           .summary = "quick",
                           .operation = &operation_sum,
                           .pairs = {[DEVICE_CPU] = FORMAT_PAIRS_ALL},
                           .bound = THEOREM_ANY_ORDER,
                           .cpu = cpu};
}

/* One kind of attempt alone, in fp32, for so long. */
static struct check_request only(const struct method *m, enum check_kind kind, double seconds)
{
    struct check_request r = request_for(m, seconds);
    for (size_t k = 0; k < CHECK_KINDS; k++)
        r.tried[k] = k == kind;
    r.shrink = false;
    r.promise = PROMISE_NONE;
    r.pairs = (struct pairs){{{FP32, FP32}}, 1};
    return r;
}

/* Every case is broken; the first one is shown. */
Test(check_whole, the_first_broken_case_is_shown)
{
    struct method m = subject_of(gives_seven);
    struct check_request r = only(&m, CHECK_EXACT, 0.1);
    struct check c = {.request = &r, .pairs = r.pairs};
    struct check_case first;
    cr_assert(check_shapes_make(&c, NULL) == STATUS_OK);
    cr_assert(check_case_at(&c, CHECK_EXACT, 0, &first) == CHECK_FOUND);
    struct check_report report = checked(&r);
    const struct check_tried *t = &report.tried[CHECK_EXACT];
    cr_expect(t->cases > 3 && t->broken == t->cases && t->attempts == t->cases);
    cr_expect(t->distinct == 0 && *t->counts == 0);
    cr_expect(strncmp(t->untried, "time ran out before inputs ", 27) == 0, "%s", t->untried);
    cr_expect(t->witness.at.n == first.n && t->witness.at.seed == first.seed, "n = %zu, seed %llu",
              t->witness.at.n, (unsigned long long)t->witness.at.seed);
    free_check(&c);
}

/* What a case takes is judged by those before, in other formats too: none is begun that will not
 * end in time. */
Test(check_whole, no_case_is_begun_that_will_not_end_in_time)
{
    static uint64_t long_ones[] = {20000};
    struct method m = subject_of(dawdles);
    seconds_a_run = 6;
    for (size_t pairs = 1; pairs <= 2; pairs++) {
        struct check_request r = only(&m, CHECK_EXACT, 10);
        r.n = (struct numbers){1, long_ones};
        r.pairs = (struct pairs){{{FP32, FP32}, {FP64, FP64}}, pairs};
        struct check_report report = checked(&r);
        cr_expect(report.tried[CHECK_EXACT].cases == 1, "%llu cases",
                  (unsigned long long)report.tried[CHECK_EXACT].cases);
    }
}

/* Without time a kind has as many small cases as make ten attempts. */
Test(check_whole, ten_attempts_are_made_without_time)
{
    struct method m = subject_of(gives_seven);
    struct check_request r = only(&m, CHECK_REPEAT, 0);
    r.runs = 3;
    tick_ns = 1000;
    struct check_report report = checked(&r);
    cr_expect(report.tried[CHECK_REPEAT].cases == 5 && report.tried[CHECK_REPEAT].attempts == 10,
              "%llu cases", (unsigned long long)report.tried[CHECK_REPEAT].cases);
    cr_expect_str_eq(report.tried[CHECK_REPEAT].counts, "3");
}

/* Cases that are refused end nothing, and are no complaint where others were tried. */
Test(check_whole, refused_cases_are_passed_by)
{
    static uint32_t given[40];
    struct keys file = {
        .kind = KEYS_FILE, .asked = "file:k", .name = "file:k", .given = given, .count = 40};
    struct check_request r = only(method_named("scatter/exact"), CHECK_EXACT, 0.1);
    r.setting.key = &file;
    r.setting.keys = 1;
    struct check_report report = checked(&r); /* of 1000, 2049 and 33 elements */
    cr_expect(report.tried[CHECK_EXACT].attempts > 0);
    cr_expect(report.untried.status == STATUS_OK, "%s", report.untried.text);
}

/* Where more runs are asked for there are more shuffles of each case. */
Test(check_whole, more_runs_are_more_rounds)
{
    static uint64_t small[] = {33};
    static struct input in;
    uint64_t attempts[2];
    input_parse(&in, "symmetric", NULL);
    for (size_t i = 0; i < 2; i++) {
        struct check_request r = only(method_named("sum/exact"), CHECK_PERMUTATION, 0.5);
        r.input = &in;
        r.inputs = 1;
        r.n = (struct numbers){1, small};
        r.runs = i ? 40 : 20;
        struct check_report report = checked(&r);
        attempts[i] = report.tried[CHECK_PERMUTATION].attempts;
    }
    cr_expect(attempts[0] == 9 && attempts[1] == 13, "%llu and %llu",
              (unsigned long long)attempts[0], (unsigned long long)attempts[1]);
}

/* The kind in which the subject failed is told from those behind it. */
Test(check_whole, a_failure_is_the_reason_of_what_follows)
{
    struct method m = subject_of(refuses);
    struct check_request r = only(&m, CHECK_OFFSET, 0.1);
    struct check_report report;
    struct problem p = {0};
    r.tried[CHECK_EXACT] = true;
    cr_assert(check_subject(&report, &r, &p) == STATUS_OK, "%s", p.text);
    cr_expect(report.failed == CHECK_OFFSET && report.failure.status == STATUS_FAILED);
    cr_expect_str_eq(report.tried[CHECK_OFFSET].untried, "the subject failed");
    cr_expect_str_eq(report.tried[CHECK_EXACT].untried, "the subject failed before");
    cr_expect_str_eq(report.tried[CHECK_REPEAT].untried, "left out by --only");
    r.tried[CHECK_OFFSET] = false;
    r.tried[CHECK_DEVICE] = r.tried[CHECK_SHAPE] = true;
    m.shape_read[DEVICE_CUDA] = SHAPE_THREADS;
    cr_assert(check_subject(&report, &r, &p) == STATUS_OK, "%s", p.text);
    cr_expect(report.failed == CHECK_EXACT && report.failure.status == STATUS_FAILED);
    cr_expect_str_eq(report.tried[CHECK_DEVICE].untried, "no other device runs it");
    cr_expect_str_eq(report.tried[CHECK_SHAPE].untried, "the subject reads no launch shape");
}

Test(check_whole, rows_alone_have_a_batch)
{
    static const char *const names[] = {"sum/serial", "scan/serial", "dot/serial", "rows/serial"};
    for (size_t i = 0; i < 4; i++) {
        struct check_request r = only(method_named(names[i]), CHECK_BATCH, 0.01);
        struct check_report report = checked(&r);
        cr_expect_str_eq(report.tried[CHECK_BATCH].untried,
                         i == 3 ? "" : "the operation has no batch");
    }
}

/* --- what is recorded --- */

static struct check_recorded_row one_row(const char *method)
{
    struct check_recorded_row row = {
        .method = (char *)method,
        .folder = "here",
        .at = {.pair = {FP32, FP32}, .setting.output = FP32, .n = 1000, .seed = 3}};
    input_parse(&row.at.input, "symmetric", NULL);
    return row;
}

/* Is the one row among what is asked for? */
static bool among_asked(const struct check_request *r)
{
    struct check c = {.request = r, .pairs = r->pairs};
    struct check_case k;
    cr_assert(check_shapes_make(&c, NULL) == STATUS_OK);
    bool found = check_recorded_at(&c, 0, &k);
    cr_expect(!found || (k.n == 1000 && k.seed == 3 && !check_recorded_at(&c, 1, &k)));
    free_check(&c);
    return found;
}

Test(check_whole, recorded_cases_are_those_asked_for)
{
    struct check_recorded_row row = one_row("sum/serial");
    struct check_recorded recorded = {.row = &row, .rows = 1};
    struct check_request r = only(method_named("sum/serial"), CHECK_RECORDED, 1);
    static uint64_t n[] = {33, 1000}, more[] = {33, 2000};
    struct input in = row.at.input, other;
    input_parse(&other, "ones", NULL);
    r.recorded = &recorded;
    r.n = (struct numbers){2, n};
    cr_expect(among_asked(&r));
    r.n.item = more;
    cr_expect(!among_asked(&r), "a shorter one is another");
    r.n.item = n;
    r.input = &other;
    r.inputs = 1;
    cr_expect(!among_asked(&r));
    r.input = &in;
    cr_expect(!among_asked(&r), "with a length and an input its seed counts");
    r.seed = 3;
    cr_expect(among_asked(&r));
    r.pairs.item[0].storage = FP16;
    cr_expect(!among_asked(&r));
    r.pairs.item[0].storage = FP32;
    r.method = method_named("sum/tiled");
    cr_expect(!among_asked(&r));
}

Test(check_whole, recorded_scatters_are_into_the_bins_asked_for)
{
    struct keys uniform = {.kind = KEYS_UNIFORM, .asked = "uniform", .name = "uniform"},
                sorted = {.kind = KEYS_SORTED, .asked = "sorted", .name = "sorted"};
    struct check_recorded_row row = one_row("scatter/sort");
    struct check_recorded recorded = {.row = &row, .rows = 1};
    struct check_request r = only(method_named("scatter/sort"), CHECK_RECORDED, 1);
    static uint64_t seven[] = {7}, eight[] = {8};
    row.at.setting.bins = 7;
    row.keys = &uniform;
    row.at.setting.keys = &uniform;
    r.recorded = &recorded;
    r.n.count = 0;
    cr_expect(among_asked(&r));
    r.setting.bins = (struct numbers){1, seven};
    cr_expect(among_asked(&r));
    r.setting.bins.item = eight;
    cr_expect(!among_asked(&r));
    r.setting.bins.count = 0;
    r.setting.key = &sorted;
    r.setting.keys = 1;
    cr_expect(!among_asked(&r));
    r.setting.key = &uniform;
    cr_expect(among_asked(&r));
}

/* One attempt, which differs where the bits do. What was recorded is not made small: there is
 * nothing recorded of other lengths. */
Test(check_whole, a_recorded_result_is_compared)
{
    struct method m = subject_of(gives_seven);
    struct check_recorded_row row = one_row(m.name);
    struct check_recorded recorded = {.row = &row, .rows = 1};
    struct check_request r = only(&m, CHECK_RECORDED, 1);
    r.recorded = &recorded;
    r.n.count = 0;
    r.shrink = true;
    for (uint64_t differs = 0; differs < 2; differs++) {
        row.digest.word[0] = 0x40e00000 + differs;
        struct check_report report = checked(&r);
        const struct check_tried *t = &report.tried[CHECK_RECORDED];
        cr_expect(t->attempts == 1 && t->differing == differs && t->broken == differs);
        cr_expect(report.untried.status == STATUS_OK, "%s", report.untried.text);
        cr_expect(!differs || (t->witness.at.n == 1000 && t->witness.bits[0] == 0x40e00001 &&
                               t->witness.bits[1] == 0x40e00000));
    }
}

static const char sums[] = "experiment,case_id,run,method,promise,device,storage,accumulator,input,"
                           "n,cond_log2,seed,threads,blocks,result,result_hex,result_bits,exact,"
                           "exact_hex,err_abs,err_rel,err_ulp,err_backward,bound,err_over_bound,"
                           "time_ns,status",
                  behind[] = ",scan,output,segment,err_ulp_rms,worst_index,differing,mean_rel_diff,"
                             "first_diff,decreases,run_differing,run_mean_rel_diff,run_first_diff";

/* A results.csv of our own, read. */
static struct check_recorded *written(const char *header, const char *const *rows, size_t count)
{
    char folder[] = "/tmp/ulpscope-recorded-XXXXXX", study[64], path[96];
    struct check_recorded *recorded;
    struct problem p = {0};
    cr_assert(mkdtemp(folder));
    snprintf(study, sizeof study, "%s/study", folder);
    snprintf(path, sizeof path, "%s/results.csv", study);
    cr_assert(mkdir(study, 0700) == 0);
    FILE *file = fopen(path, "w");
    cr_assert(file);
    fprintf(file, "%s%s\n", sums, header);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%s\n", rows[i]);
    fclose(file);
    cr_assert(check_recorded_read(&recorded, folder, NULL, 0, &p) == STATUS_OK, "%s", p.text);
    unlink(path);
    rmdir(study);
    rmdir(folder);
    return recorded;
}

/* The first run of each case that a GPU did of a generated input. */
Test(check_whole, first_runs_on_gpus_are_read)
{
    static const char *const rows[] = {
        "e,00000000000000aa,1,sum/serial,gpu_to_gpu,cuda:0,fp32,fp32,ones,2,0,1,,,2,0x1p+1,"
        "0x40000000,2,0x1p+1,0,0,0,0,0,,100,ok",
        "e,00000000000000aa,2,sum/serial,gpu_to_gpu,cuda:0,fp32,fp32,ones,2,0,1,,,3,0x1.8p+1,"
        "0x40400000,2,0x1p+1,0,0,0,0,0,,100,ok",
        "e,00000000000000bb,1,sum/serial,gpu_to_gpu,cpu,fp32,fp32,ones,3,0,1,,,3,0x1.8p+1,"
        "0x40400000,3,0x1.8p+1,0,0,0,0,0,,100,ok",
        "e,00000000000000cc,1,sum/serial,gpu_to_gpu,cuda:1,fp32,fp32,ones,4,0,5,,,4,0x1p+2,"
        "0x40800000,4,0x1p+2,0,0,0,0,0,,100,ok",
        "e,00000000000000dd,1,sum/serial,gpu_to_gpu,cuda:0,fp32,fp32,data.npy,4,0,,,,4,0x1p+2,"
        "0x40800000,4,0x1p+2,0,0,0,0,0,,100,ok"};
    /* With a quote, rows that are not wanted are parsed too before they are left out. */
    char quoted[5][256];
    const char *quotes[5];
    for (size_t i = 0; i < 5; i++) {
        snprintf(quoted[i], sizeof quoted[i], "\"e\"%s", strchr(rows[i], ','));
        quotes[i] = quoted[i];
    }
    for (size_t k = 0; k < 2; k++) {
        struct check_recorded *recorded = written("", k == 0 ? rows : quotes, 5);
        cr_assert(recorded->rows == 2, "%zu rows", recorded->rows);
        const struct check_recorded_row *row = recorded->row;
        cr_expect(row[0].at.n == 2 && row[0].at.seed == 1 && row[0].digest.word[0] == 0x40000000);
        cr_expect(row[1].at.n == 4 && row[1].at.seed == 5 && row[1].digest.word[0] == 0x40800000);
        cr_expect_str_eq(row[0].method, "sum/serial");
        cr_expect_str_eq(row[0].folder, "study");
        check_recorded_free(recorded);
    }
}

Test(check_whole, scans_are_read_as_they_are)
{
    static const char *const rows[] = {
        "e,00000000000000aa,1,scan/serial,gpu_to_gpu,cuda:0,fp32,fp32,ones,2,0,1,,,2,0x1p+1,"
        "0x4ba44ae8eb5387e3269bdcc03d37f1c5,2,0x1p+1,0,0,0,0,0,,100,ok,inclusive,fp16,,,,,,,,,,",
        "e,00000000000000bb,1,scan/serial,gpu_to_gpu,cuda:0,fp32,fp32,ones,2,0,1,,,1,0x1p+0,"
        "0x4ba44ae8eb5387e3269bdcc03d37f1c6,1,0x1p+0,0,0,0,0,0,,100,ok,exclusive,fp32,,,,,,,,,,",
        "e,00000000000000cc,1,scan/serial,gpu_to_gpu,cuda:0,fp32,fp32,ones,2,0,1,,,1,0x1p+0,"
        "0x4ba44ae8eb5387e3269bdcc03d37f1c6,1,0x1p+0,0,0,0,0,0,,100,ok,exclusive,fp32,4,,,,,,,,,"};
    struct check_recorded *recorded = written(behind, rows, 3);
    cr_assert(recorded->rows == 2, "%zu rows", recorded->rows);
    const struct check_recorded_row *row = recorded->row;
    cr_expect(!row[0].at.setting.exclusive && row[0].at.setting.output == FP16);
    cr_expect(row[1].at.setting.exclusive && row[1].at.setting.output == FP32);
    cr_expect(row[0].digest.word[0] != row[1].digest.word[0] ||
              row[0].digest.word[1] != row[1].digest.word[1]);
    check_recorded_free(recorded);
}

/* --- a GPU that is there and cannot be had --- */

static int gpus;

int __real_gpu_count(bool elsewhere);
int __wrap_gpu_count(bool elsewhere);
int __wrap_gpu_count(bool elsewhere)
{
    return gpus ? gpus : __real_gpu_count(elsewhere);
}

bool __real_method_supports(const struct method *m, enum device_kind device, enum format storage,
                            enum format accumulator);
bool __wrap_method_supports(const struct method *m, enum device_kind device, enum format storage,
                            enum format accumulator);
bool __wrap_method_supports(const struct method *m, enum device_kind device, enum format storage,
                            enum format accumulator)
{
    return __real_method_supports(m, gpus ? DEVICE_CPU : device, storage, accumulator);
}

static bool played; /* by the CPU */

enum status __real_probe_open(struct probe **probe, const struct probe_spec *spec,
                              struct problem *p);
enum status __wrap_probe_open(struct probe **probe, const struct probe_spec *spec,
                              struct problem *p);
enum status __wrap_probe_open(struct probe **probe, const struct probe_spec *spec,
                              struct problem *p)
{
    struct probe_spec here = *spec;
    if (played)
        here.device = (struct device){DEVICE_CPU, 0};
    return __real_probe_open(probe, &here, p);
}

/* What this device gives is no attempt, what each other one gives is. */
Test(check_whole, every_other_device_is_an_attempt)
{
    const struct method *m = method_named("sum/serial");
    for (gpus = 1; gpus <= 3; gpus++) {
        struct check_request r = only(m, CHECK_DEVICE, 0.1);
        played = true;
        struct check_report report = checked(&r);
        const struct check_tried *t = &report.tried[CHECK_DEVICE];
        cr_expect(report.failure.status == STATUS_OK, "%s", report.failure.text);
        cr_expect(t->attempts > 0 && t->attempts == t->cases * (uint64_t)gpus,
                  "%d others: %llu attempts in %llu cases", gpus, (unsigned long long)t->attempts,
                  (unsigned long long)t->cases);
    }
}

/* That is no failure of the subject, and no evidence for it. */
Test(check_whole, a_device_that_cannot_be_had_is_not_tried)
{
    struct method m = *method_named("sum/serial");
    struct check_request r = only(&m, CHECK_DEVICE, 0.1);
    gpus = 4000;
    r.device = (struct device){DEVICE_CPU, 0};
    struct check_report report = checked(&r);
    const struct check_tried *t = &report.tried[CHECK_DEVICE];
    cr_expect(report.failure.status == STATUS_OK, "%s", report.failure.text);
    cr_expect(t->attempts == 0 && t->broken == 0);
    cr_expect(strstr(t->untried, "cuda:") != NULL, "found '%s', expected what the device said",
              t->untried);
}
