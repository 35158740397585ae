/* The runner on a GPU that is played by this file (the linker puts __wrap_gpu_job_open in the place
 * of gpu_job_open, and so on): every run is digested once and in order, two
 * batches are under way, and neither an interruption nor a failure loses what was measured. */
#include <criterion/criterion.h>

#include "experiments/runs/runner.h"
#include "reference/format/hash_array.h"

struct gpu_input {
    int unused;
};

struct gpu_job {
    uint64_t started, waited; /* runs */
    size_t batch[2], batches, first;
    size_t most_waiting, largest;
    double run_ns;
    uint64_t fail_at; /* this run cannot be enqueued */
    size_t room;      /* of a batch */
    size_t digested;  /* runs of the batch last waited for; none once another was started */
    bool open;
};
static struct gpu_job played;

enum status __wrap_gpu_job_open(struct gpu_job **job, const struct gpu_input *input,
                                const struct method *m, const struct task *t, struct problem *p);
size_t __wrap_gpu_job_batch(const struct gpu_job *job);
enum status __wrap_gpu_job_start(struct gpu_job *job, size_t runs, struct problem *p);
enum status __wrap_gpu_job_wait(struct gpu_job *job, struct hash128 *digest, double *time_ns,
                                struct problem *p);
enum status __wrap_gpu_job_output(struct gpu_job *job, size_t i, const struct array *to,
                                  struct problem *p);
void __wrap_gpu_job_close(struct gpu_job *job);

enum status __wrap_gpu_job_open(struct gpu_job **job, const struct gpu_input *input,
                                const struct method *m, const struct task *t, struct problem *p)
{
    (void)input, (void)m, (void)p;
    cr_assert(t->accumulator == FP32 && t->out.format == FP32);
    *job = &played;
    played.open = true;
    return STATUS_OK;
}

size_t __wrap_gpu_job_batch(const struct gpu_job *job)
{
    return job->room;
}

enum status __wrap_gpu_job_start(struct gpu_job *job, size_t runs, struct problem *p)
{
    cr_assert(runs >= 1 && runs <= job->room && job->batches < 2, "%zu runs", runs);
    job->batch[(job->first + job->batches++) % 2] = runs;
    job->started += runs;
    job->digested = 0;
    job->most_waiting = job->batches > job->most_waiting ? job->batches : job->most_waiting;
    job->largest = runs > job->largest ? runs : job->largest;
    return job->started > job->fail_at ? problem(p, STATUS_DEVICE, "played out") : STATUS_OK;
}

enum status __wrap_gpu_job_wait(struct gpu_job *job, struct hash128 *digest, double *time_ns,
                                struct problem *p)
{
    (void)p;
    cr_assert_gt(job->batches, 0);
    size_t runs = job->batch[job->first];
    for (size_t i = 0; i < runs; i++) {
        digest[i] = (struct hash128){{job->waited++, 0}};
        time_ns[i] = job->run_ns;
    }
    job->first = (job->first + 1) % 2;
    job->batches--;
    job->digested = runs;
    return STATUS_OK;
}

/* The output of each run is its number. */
enum status __wrap_gpu_job_output(struct gpu_job *job, size_t i, const struct array *to,
                                  struct problem *p)
{
    (void)p;
    cr_assert(i < job->digested, "output %zu of %zu", i, job->digested);
    array_set_bits(to, 0, job->waited - job->digested + i);
    return STATUS_OK;
}

void __wrap_gpu_job_close(struct gpu_job *job)
{
    cr_assert(job->open);
    job->open = false;
}

struct taken {
    uint64_t runs, fail_at;
    size_t calls;
    double run_ns;
    volatile sig_atomic_t stop;
    uint64_t stop_at;
};

static enum status take(void *context, const struct runner_results *r, struct problem *p)
{
    struct taken *t = context;
    for (size_t i = 0; i < r->runs; i++) {
        cr_assert_eq(r->digest[i].word[0], t->runs, "run %ju came as %ju", (uintmax_t)t->runs,
                     (uintmax_t)r->digest[i].word[0]);
        uint64_t bits = 0;
        cr_assert_eq(r->output(r->source, i, &(struct array){FP64, 1, &bits}, p), STATUS_OK);
        cr_assert_eq(bits, t->runs, "run %ju's output came as %ju", (uintmax_t)t->runs,
                     (uintmax_t)bits);
        cr_assert_eq((double)r->time_ns[i], t->run_ns, "run %ju", (uintmax_t)t->runs);
        t->runs++;
    }
    t->calls++;
    t->stop |= t->runs >= t->stop_at;
    return t->runs >= t->fail_at ? problem(p, STATUS_DATA, "full") : STATUS_OK;
}

static const struct method some_method = {.name = "sum/played"};

static enum status play_with(struct taken *t, uint64_t runs, double run_ns, uint64_t fail_at,
                             size_t room, struct problem *p)
{
    struct gpu_input input;
    struct runner r = {.method = &some_method,
                       .device = {DEVICE_CUDA, 0},
                       .gpu = &input,
                       .accumulator = FP32,
                       .output = FP32,
                       .stop = &t->stop};
    played = (struct gpu_job){.run_ns = run_ns, .fail_at = fail_at, .room = room};
    t->run_ns = run_ns;
    *p = (struct problem){0};
    enum status status = runner_run(&r, runs, take, t, p);
    cr_expect(!played.open, "the job is closed");
    return status;
}

static enum status play(struct taken *t, uint64_t runs, double run_ns, uint64_t fail_at,
                        struct problem *p)
{
    return play_with(t, runs, run_ns, fail_at, GPU_BATCH, p);
}

/* Outputs that are arrays leave room for few in a batch. */
Test(runner, batches_fit_their_room)
{
    for (size_t room = 1; room <= 64; room = 2 * room + 1) {
        struct taken t = {.fail_at = UINT64_MAX, .stop_at = UINT64_MAX};
        struct problem p;
        cr_assert_eq(play_with(&t, 1000, 100, UINT64_MAX, room, &p), STATUS_OK, "%s", p.text);
        cr_expect(t.runs == 1000 && played.largest == room,
                  "room for %zu: batches of %zu, %ju runs", room, played.largest,
                  (uintmax_t)t.runs);
    }
}

Test(runner, every_run_once_and_in_order)
{
    const uint64_t runs[] = {1, 2, 3, 17, 1000, 10000, 100000};
    const double run_ns[] = {0, 6000, 1000000, 60000000, 3000000000.0};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (size_t k = 0; k < sizeof run_ns / sizeof *run_ns; k++) {
            struct taken t = {.fail_at = UINT64_MAX, .stop_at = UINT64_MAX};
            struct problem p;
            cr_assert_eq(play(&t, runs[i], run_ns[k], UINT64_MAX, &p), STATUS_OK, "%s", p.text);
            cr_expect(t.runs == runs[i] && played.started == runs[i], "%ju runs of %g ns: %ju",
                      (uintmax_t)runs[i], run_ns[k], (uintmax_t)t.runs);
            cr_expect_eq(played.most_waiting, runs[i] > 1 ? 2 : 1, "%ju runs: batches under way",
                         (uintmax_t)runs[i]);
            cr_expect(run_ns[k] < 25e6 || played.largest == 1,
                      "runs of %g ns: %zu of them in a batch", run_ns[k], played.largest);
            cr_expect(run_ns[k] > 6000 || runs[i] < 50000 ||
                          (played.largest == GPU_BATCH && t.calls < 50),
                      "%ju runs of %g ns: batches of %zu at most, %zu of them", (uintmax_t)runs[i],
                      run_ns[k], played.largest, t.calls);
        }
}

Test(runner, stopped_or_failed)
{
    struct problem p;
    for (uint64_t at = 1; at < 3000; at = 2 * at + 1) {
        struct taken t = {.fail_at = UINT64_MAX, .stop_at = at};
        cr_expect_eq(play(&t, 1000000, 100, UINT64_MAX, &p), STATUS_INTERRUPTED);
        cr_expect(t.runs == played.started && t.runs >= at, "what was started is digested");
        t = (struct taken){.fail_at = UINT64_MAX, .stop_at = UINT64_MAX};
        cr_expect_eq(play(&t, 1000000, 100, at, &p), STATUS_DEVICE);
        cr_expect(t.runs <= at && strstr(p.text, "played out"), "%s", p.text);
        t = (struct taken){.fail_at = at, .stop_at = UINT64_MAX};
        cr_expect_eq(play(&t, 1000000, 100, UINT64_MAX, &p), STATUS_DATA);
        cr_expect(strstr(p.text, "full"), "%s", p.text);
    }
    struct taken last = {.fail_at = UINT64_MAX, .stop_at = 10};
    cr_expect_eq(play(&last, 10, 100, UINT64_MAX, &p), STATUS_OK,
                 "stopped behind the last run: all are there");
}

/* On the CPU: prefixes and, behind them, the number of the run. */
static int cpu_runs;

static enum status count_run(const struct task *t, struct problem *p)
{
    (void)p;
    cpu_runs++;
    cr_assert(t->of->exclusive && t->of->heads && t->out.n == t->of->in.n && t->out.format == FP16);
    for (size_t i = 0; i < t->out.n; i++)
        array_encode(&t->out, i, 1, &(double){i + 1 < t->out.n ? (double)i : cpu_runs});
    return STATUS_OK;
}

static enum status take_array(void *context, const struct runner_results *r, struct problem *p)
{
    int *taken = context;
    uint16_t bits[5] = {0};
    struct array out = {FP16, 5, bits};
    cr_assert_eq(r->runs, 1, "each before the next is made");
    cr_assert_eq(r->output(r->source, 0, &out, p), STATUS_OK);
    struct hash128 hash = hash_array(&out);
    cr_expect(memcmp(&hash, r->digest, sizeof hash) == 0, "run %d: its hash", *taken);
    ++*taken;
    cr_expect(array_get(&out, 4) == *taken && array_get(&out, 3) == 3, "run %d: its output",
              *taken);
    return STATUS_OK;
}

Test(runner, arrays_on_the_cpu)
{
    static const struct method counting = {
        .name = "scan/counting", .operation = &operation_scan, .cpu = count_run};
    float in[5] = {0};
    const uint8_t heads[5] = {1};
    struct array a = {FP32, 5, in};
    struct runner r = {.of = &(struct operands){.in = a, .exclusive = true, .heads = heads},
                       .method = &counting,
                       .accumulator = FP32,
                       .output = FP16};
    int taken = 0;
    struct problem p = {0};
    cr_assert_eq(runner_run(&r, 300, take_array, &taken, &p), STATUS_OK, "%s", p.text);
    cr_expect(taken == 300 && cpu_runs == 300);
}
