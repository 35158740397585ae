/* Scatter-adds on a GPU, held to their CPU twins bit by bit, bin by bin; those without an order to
 * what any order gives, and to their bound. */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/gpu/gpu.h"
#include "kernels/scatter/ordered.h"
#include "reference/format/hash_array.h"
#include "reference/measure/scan.h"
#include "tests/support/samples.h"
#include "tests/support/scatters.h"

enum { RUNS = 3, TEXT = 256 };

/* Elements and keys, here and there. */
struct subject {
    struct array in;
    uint32_t *key;
    size_t bins;
    struct gpu_input *gpu;
    char what[TEXT / 2];
};

static const char *const key_name[SCATTER_KEYS] = {"uniform", "one", "sorted", "skewed"};

static struct subject subject_new(enum format s, size_t n, size_t bins, enum sample kind,
                                  enum scatter_keys keys, size_t offset)
{
    struct subject t = {
        {s, n, malloc(array_bytes(s, n) + 1)}, malloc((n + 1) * sizeof *t.key), bins, NULL, ""};
    struct problem p = {0};
    cr_assert(t.in.data && t.key);
    sample_fill(&t.in, kind, (enum format)((s + n) % ACCUMULATORS), n + bins + kind);
    scatter_keys_fill(t.key, n, bins, keys, n ^ bins);
    snprintf(t.what, sizeof t.what, "%s, keys %s", sample_name[kind], key_name[keys]);
    cr_assert(gpu_upload(&t.gpu, 0, &t.in, offset, &p) == STATUS_OK &&
                  gpu_give(t.gpu, &(struct operands){.keys = t.key}, OPERAND_KEYS, 0, &p) ==
                      STATUS_OK,
              "%s", p.text);
    return t;
}

static void subject_free(struct subject *t)
{
    gpu_release(t->gpu);
    free(t->in.data);
    free(t->key);
}

/* A method on a subject. */
struct ran {
    const struct subject *on;
    const struct method *method;
    enum format accumulator;
    struct shape shape; /* asked for */
    struct array there, here;
    char what[TEXT];
};

static struct ran ran_new(const struct subject *on, const struct method *m, enum format f,
                          struct shape shape)
{
    size_t bytes = array_bytes(f, on->bins);
    struct ran r = {.on = on,
                    .method = m,
                    .accumulator = f,
                    .shape = shape,
                    .there = {f, on->bins, malloc(bytes)},
                    .here = {f, on->bins, malloc(bytes)}};
    cr_assert(r.there.data && r.here.data);
    memset(r.here.data, 0x55, bytes);
    snprintf(r.what, sizeof r.what, "%s %s/%s n=%zu, %zu bins, T=%u B=%u, %s", m->name,
             format_facts[on->in.format].name, format_facts[f].name, on->in.n, on->bins,
             shape.threads, shape.blocks, on->what);
    return r;
}

static void ran_free(struct ran *r)
{
    free(r->there.data);
    free(r->here.data);
}

/* Runs it, in batches of one and of more. What was promised is kept, and the device's hash is that
 * of the output. */
static void run_there(struct ran *r)
{
    const struct method *m = r->method;
    struct hash128 digest[RUNS];
    double time_ns[RUNS];
    struct problem p = {0};
    struct gpu_job *job = NULL;
    struct task task = {.of = &(struct operands){.bins = r->on->bins},
                        .out.format = r->accumulator,
                        .accumulator = r->accumulator,
                        .shape = method_shape(m, DEVICE_CUDA, r->on->in.n, r->shape),
                        .method = m};
    bool fine = gpu_job_open(&job, r->on->gpu, m, &task, &p) == STATUS_OK &&
                gpu_job_start(job, 1, &p) == STATUS_OK &&
                gpu_job_start(job, RUNS - 1, &p) == STATUS_OK &&
                gpu_job_wait(job, digest, time_ns, &p) == STATUS_OK &&
                gpu_job_wait(job, digest + 1, time_ns + 1, &p) == STATUS_OK &&
                gpu_job_output(job, RUNS - 2, &r->there, &p) == STATUS_OK;
    gpu_job_close(job);
    cr_assert(fine, "%s: %s", r->what, p.text);
    struct hash128 last = hash_array(&r->there);
    cr_assert(memcmp(&last, &digest[RUNS - 1], sizeof last) == 0,
              "%s: the device's hash is not that of the output", r->what);
    /* Of a library's promise this is no test. */
    for (size_t i = 1; i < RUNS && m->cpu && m->promise > PROMISE_NONE; i++)
        cr_assert(memcmp(&digest[i], digest, sizeof *digest) == 0, "%s: run %zu differs", r->what,
                  i);
}

/* What `m` gives on the CPU. */
static void run_here(struct ran *r, const struct method *m, struct shape asked)
{
    struct problem p = {0};
    struct task task = {
        .of = &(struct operands){.in = r->on->in, .keys = r->on->key, .bins = r->on->bins},
        .out = r->here,
        .accumulator = r->accumulator,
        .shape = method_shape(m, DEVICE_CPU, r->on->in.n, asked),
        .method = m,
        .device = -1};
    cr_assert(m->cpu(&task, &p) == STATUS_OK, "%s: %s", r->what, p.text);
}

static void expect_same(const struct ran *r)
{
    size_t differing = 0, first = 0;
    for (size_t b = r->on->bins; b-- > 0;)
        if (format_canonical(r->accumulator, array_bits(&r->there, b)) !=
            format_canonical(r->accumulator, array_bits(&r->here, b))) {
            first = b;
            differing++;
        }
    cr_assert(differing == 0, "%s: %zu bins differ, first %zu: GPU %#" PRIx64 ", CPU %#" PRIx64,
              r->what, differing, first, array_bits(&r->there, first), array_bits(&r->here, first));
}

static void expect_bound(const struct ran *r)
{
    const struct subject *s = r->on;
    struct by_bin by;
    struct scan_measure m;
    cr_assert(by_bin_make(&by, s->key, s->in.n, s->bins, NULL) == STATUS_OK);
    struct scan scan = {.in = s->in, .by_bin = &by};
    struct scan_output out = {
        .out = r->there, .accumulator = r->accumulator, .bound = r->method->bound};
    out.flushes =
        method_theorem(r->method, DEVICE_CUDA, r->accumulator, s->in.n, (struct shape){0, 0})
            .flushing > 0;
    cr_assert(measure_scatter(&m, &out, 1, &scan, 4, NULL) == STATUS_OK);
    cr_assert(m.broken == 0, "%s: %zu bins, first %zu, break their bound", r->what, m.broken,
              m.first_broken);
    by_bin_free(&by);
}

static bool is_scatter(const struct method *m, enum format s, enum format f)
{
    return m->operation == &operation_scatter && method_supports(m, DEVICE_CUDA, s, f);
}

/* Methods with an order, or that round once: their twins' bits. */
static void hold_fixed(const struct subject *on, const struct method *m, enum format f)
{
    struct ran r = ran_new(on, m, f, (struct shape){0, 0});
    run_there(&r);
    run_here(&r, m, (struct shape){8, 0});
    expect_same(&r);
    ran_free(&r);
}

static void hold_fixed_all(const struct subject *on, enum format f)
{
    for (size_t i = 0; i < method_count; i++)
        if (is_scatter(method_registry[i], on->in.format, f) && method_registry[i]->cpu &&
            method_registry[i]->promise >= PROMISE_GPU_TO_GPU)
            hold_fixed(on, method_registry[i], f);
}

static const size_t bins_of_interest[] = {1, 2, 31, 1000, ORDERED_BINS, ORDERED_BINS + 1, 1 << 17};
enum { BINS = sizeof bins_of_interest / sizeof *bins_of_interest };

/* Two accumulators for each storage, sample and kind of keys, which take turns. */
static void hold_length(size_t n, size_t *turn)
{
    for (size_t k = 0; k < BINS; k++)
        for (enum format s = 0; s < ACCUMULATORS; s++, ++*turn) {
            struct subject on =
                subject_new(s, n, bins_of_interest[k], (enum sample)(*turn % SAMPLES),
                            (enum scatter_keys)(*turn / 2 % SCATTER_KEYS), *turn % 3);
            hold_fixed_all(&on, s);
            hold_fixed_all(&on, (enum format)((s + 1 + *turn / 4 % 3) % ACCUMULATORS));
            subject_free(&on);
        }
}

Test(gpu_scatter, short_lengths_agree, .timeout = 300)
{
    static const size_t lengths[] = {0, 1, 31, 32, 33, 257, 1000};
    size_t turn = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        hold_length(lengths[i], &turn);
}

/* A piece of scatter/ordered has 1024 elements, a tile of scatter/sort 2048; 64 pieces are folded
 * at once. */
Test(gpu_scatter, tile_edges_agree, .timeout = 300)
{
    static const size_t lengths[] = {1023, 1024, 1025, 2047, 2048, 2049, 4097, 65536, 65537};
    size_t turn = 3;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        hold_length(lengths[i], &turn);
}

/* Every kind of keys and of elements, with some bins full and some of a few elements. */
Test(gpu_scatter, keys_and_samples_agree, .timeout = 300)
{
    for (enum sample kind = 0; kind < SAMPLES; kind++)
        for (enum scatter_keys keys = 0; keys < SCATTER_KEYS; keys++) {
            enum format s = (enum format)((kind + keys) % ACCUMULATORS);
            struct subject on = subject_new(s, 20011, 777, kind, keys, 1);
            for (enum format f = 0; f < ACCUMULATORS; f++)
                hold_fixed_all(&on, f);
            subject_free(&on);
        }
}

/* Three levels of pieces' sums; pieces longer than 1024; two levels above the tiles of a bin. */
Test(gpu_scatter, great_lengths_agree, .timeout = 300)
{
    static const struct {
        size_t bins;
        enum scatter_keys keys;
    } cases[] = {{1, SCATTER_ONE},
                 {1000, SCATTER_UNIFORM},
                 {1000, SCATTER_SKEWED},
                 {ORDERED_BINS + 1, SCATTER_SKEWED}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct subject on = subject_new((enum format)(FP64 - k), ((size_t)1 << 22) + 1027,
                                        cases[k].bins, SAMPLE_NEAR, cases[k].keys, 0);
        hold_fixed_all(&on, on.in.format);
        subject_free(&on);
    }
}

/* More bins than scatter/ordered has in shared memory, which are put into buckets: one of 46080
 * elements of 4 bytes, or of fewer, is sorted and summed in shared memory. Others are cut into
 * chunks of 32768, and these into tiles of 8192. From 2^21 + 1 bins on there are none. */
Test(gpu_scatter, many_bins_agree, .timeout = 300)
{
    static const struct {
        size_t n, bins;
        enum scatter_keys keys;
    } cases[] = {{8191, 1000000, SCATTER_UNIFORM},
                 {8193, 1000003, SCATTER_SORTED},
                 {46080, 5000, SCATTER_ONE},
                 {46081, 5000, SCATTER_ONE},
                 {200003, 1000000, SCATTER_SKEWED},
                 {32769, 1 << 20, SCATTER_ONE},
                 {32767, (1 << 21) + 1, SCATTER_UNIFORM},
                 {(1 << 20) + 5, 600000, SCATTER_SORTED},
                 {(1 << 20) + 5, ORDERED_BINS + 1, SCATTER_UNIFORM},
                 {(1 << 20) + 5, 1 << 19, SCATTER_SKEWED}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (enum format s = 0; s < ACCUMULATORS; s++) {
            struct subject on =
                subject_new(s, cases[k].n, cases[k].bins, SAMPLE_NEAR, cases[k].keys, k % 3);
            hold_fixed_all(&on, k % 2 ? s : FP32);
            subject_free(&on);
        }
}

/* What no order changes: a bin of one element, and bins of zeros or of nothing. */
Test(gpu_scatter, without_order_one_result, .timeout = 300)
{
    static const struct shape shapes[] = {{0, 0}, {33, 7}, {1024, 300}};
    static const size_t lengths[] = {0, 1, 33, 1000, 20000};
    for (size_t k = 0; k < 5 * 2; k++)
        for (enum format s = 0; s < ACCUMULATORS; s++)
            for (size_t i = 0; i < method_count; i++) {
                size_t n = lengths[k / 2], zeros = k % 2;
                enum format f = (enum format)((s + k + i) % ACCUMULATORS);
                if (!is_scatter(method_registry[i], s, f))
                    continue;
                struct subject on =
                    subject_new(s, n, zeros ? 20000 : n + 1, zeros ? SAMPLE_ZERO : SAMPLE_NEAR,
                                zeros ? SCATTER_UNIFORM : SCATTER_SORTED, k % 3);
                /* Each once: 7919 is a prime that does not divide n + 1. */
                for (size_t e = 0; !zeros && e < n; e++)
                    on.key[e] = (uint32_t)((e * 7919 + 1) % (n + 1));
                struct problem p = {0};
                cr_assert(gpu_give(on.gpu, &(struct operands){.keys = on.key}, OPERAND_KEYS, 0,
                                   &p) == STATUS_OK,
                          "%s", p.text);
                struct ran r = ran_new(&on, method_registry[i], f, shapes[(k + i) % 3]);
                run_there(&r);
                run_here(&r, method_named("scatter/sort"), (struct shape){0, 0});
                expect_same(&r);
                ran_free(&r);
                subject_free(&on);
            }
}

/* Bins in shared memory and bins that do not fit there. */
Test(gpu_scatter, without_order_within_bound, .timeout = 300)
{
    static const struct shape shapes[] = {{0, 0}, {96, 5}, {1024, 64}};
    static const size_t bins[] = {1, 3, 1000, 1 << 17};
    for (size_t k = 0; k < 4; k++)
        for (enum scatter_keys keys = 0; keys < SCATTER_KEYS; keys++) {
            enum format s = (enum format)((k + keys) % ACCUMULATORS);
            struct subject on = subject_new(s, 30011, bins[k], SAMPLE_NEAR, keys, keys % 2);
            for (size_t i = 0; i < method_count; i++)
                for (enum format f = 0; f < ACCUMULATORS; f++) {
                    const struct method *m = method_registry[i];
                    if (!is_scatter(m, s, f) || (m->cpu && m->promise > PROMISE_NONE))
                        continue;
                    struct ran r = ran_new(&on, m, f, shapes[(k + keys + f) % 3]);
                    run_there(&r);
                    expect_bound(&r);
                    ran_free(&r);
                }
            subject_free(&on);
        }
}

/* A block of one thread adds in the order of the array; then blocks are folded as on the CPU. */
Test(gpu_scatter, blocks_of_one_thread_agree, .timeout = 300)
{
    static const unsigned blocks[] = {1, 2, 63, 64, 65, 300};
    const struct method *m = method_named("scatter/block_local");
    for (size_t k = 0; k < 6; k++)
        for (enum format s = 0; s < ACCUMULATORS; s++) {
            enum format f = (enum format)((s + k) % ACCUMULATORS);
            struct subject on = subject_new(s, 3001, k % 2 ? 57 : 1 << 17, SAMPLE_NEAR,
                                            (enum scatter_keys)((k + s) % SCATTER_KEYS), 0);
            struct ran r = ran_new(&on, m, f, (struct shape){1, blocks[k]});
            run_there(&r);
            run_here(&r, m, (struct shape){1, blocks[k]});
            expect_same(&r);
            ran_free(&r);
            subject_free(&on);
        }
}

/* Other keys on the same input, and none. */
Test(gpu_scatter, keys_are_the_inputs)
{
    enum { N = 1000 };
    float x[N];
    struct array in = {FP32, N, x};
    struct subject on = subject_new(FP32, N, 50, SAMPLE_NEAR, SCATTER_UNIFORM, 0);
    struct gpu_input *bare = NULL;
    struct gpu_job *job = NULL;
    struct problem p = {0};
    struct task task = {
        .of = &(struct operands){.bins = 50}, .out.format = FP32, .accumulator = FP32};
    hold_fixed_all(&on, FP32);
    scatter_keys_fill(on.key, N, 50, SCATTER_SKEWED, 99);
    cr_assert(gpu_give(on.gpu, &(struct operands){.keys = on.key}, OPERAND_KEYS, 0, &p) ==
                  STATUS_OK,
              "%s", p.text);
    hold_fixed_all(&on, FP32);
    subject_free(&on);

    sample_fill(&in, SAMPLE_NEAR, FP32, 1);
    cr_assert(gpu_upload(&bare, 0, &in, 0, &p) == STATUS_OK, "%s", p.text);
    cr_expect(gpu_job_open(&job, bare, method_named("scatter/sort"), &task, &p) == STATUS_DEVICE &&
                  strstr(p.text, "reads keys"),
              "%s", p.text);
    gpu_release(bare);
}
