/* Sums over ranks by NCCL, a GPU each: bits that models predict, over cases drawn at random,
 * whatever the number of channels; the same bits by threads and by processes; models held to what
 * GPUs gave (reports/recorded/h100-nccl); ranks that disagree, die or hang, without a GPU.
 *
 * On two GPUs or more: ULPSCOPE_SEED draws others, ULPSCOPE_CASES so many (120), ULPSCOPE_RECORD
 * names a file for them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/check/attempts.h"
#include "experiments/inputs/cache.h"
#include "experiments/operations/operation.h"
#include "experiments/subjects/mpi_models.h"
#include "kernels/blocks/ranks.h"
#include "reference/format/hash_array.h"
#include "tests/support/hard_addends.h"
#include "tests/support/mpi_cases.h"

#define RECORDED ULPSCOPE_SOURCE "/reports/recorded/h100-nccl/cases.csv"

enum { GPUS = 8, MOST = 1 << 22 };

struct sum {
    uint64_t seed; /* of the elements */
    enum format f;
    size_t ranks, elements;
    unsigned channels;
    void *in;
};

static enum status run(const struct sum *s, const struct method *m, void *out, struct problem *p)
{
    struct operands of = {
        .in = {s->f, s->ranks * s->elements, s->in}, .bins = s->elements, .stride = s->elements};
    enum device_kind device = m->foreign ? DEVICE_CUDA : DEVICE_CPU;
    struct task t = {.of = &of,
                     .out = {s->f, s->elements, out},
                     .accumulator = s->f,
                     .method = m,
                     .shape = method_shape(m, device, of.in.n, (struct shape){0, s->channels}),
                     .device = m->foreign ? 0 : -1};
    memset(out, 0x55, array_bytes(s->f, s->elements));
    return m->cpu(&t, p);
}

static void *room(size_t bytes)
{
    void *data = malloc(bytes + 1);
    cr_assert(data);
    return data;
}

static void fill(struct sum *s)
{
    struct array x = {s->f, s->ranks * s->elements, s->in};
    mpi_draw_from(s->seed);
    for (size_t i = 0; i < x.n; i++) {
        uint64_t drawn = mpi_draw();
        double value = ldexp((double)(int32_t)drawn * 0x1p-31, (int)(drawn >> 32 & 7));
        array_encode(&x, i, 1, &(double){format_round(s->f, value)});
    }
}

static size_t differing(const struct sum *s, const void *a, const void *b, size_t *first)
{
    size_t differ = 0;
    for (size_t i = s->elements; i-- > 0;)
        if (array_bits(&(struct array){s->f, s->elements, (void *)a}, i) !=
            array_bits(&(struct array){s->f, s->elements, (void *)b}, i)) {
            differ++;
            *first = i;
        }
    return differ;
}

/* --- on GPUs --- */

static size_t gpus;

static void find_gpus(void)
{
    double in[GPUS] = {0}, out;
    mpi_cases_begin(NCCL, ULPSCOPE_PROGRAM);
    for (size_t ranks = 2; ranks <= GPUS; ranks++) {
        struct problem p = {0};
        struct sum s = {.f = FP64, .ranks = ranks, .elements = 1, .in = in};
        enum status status = run(&s, mpi_subject("nccl/ring_ll"), &out, &p);
        if (status == STATUS_DEVICE)
            break;
        cr_assert(status == STATUS_OK, "%s", p.text);
        gpus = ranks;
    }
    foreign_end(NULL);
    if (gpus < 2)
        cr_skip_test("fewer than two GPUs");
}

static struct sum draw_sum(uint64_t seed)
{
    static const unsigned channels[] = {0, 1, 2, 3, 4, 8, 16, 24, 32};
    enum { NUMBERS = sizeof channels / sizeof *channels };
    mpi_draw_from(seed);
    double unit = (double)(mpi_draw() >> 11) * 0x1p-53;
    struct sum s = {.seed = seed,
                    .f = (enum format)(mpi_draw() % 4),
                    .ranks = mpi_draw() % 4 ? gpus : 2 + mpi_draw() % (gpus - 1),
                    .elements = (size_t)exp2(unit * log2(MOST)),
                    .channels = channels[mpi_draw() % NUMBERS]};
    return s;
}

static void record(FILE *to, const struct method *m, const struct sum *s, const void *out)
{
    struct hash128 h = hash_array(&(struct array){s->f, s->elements, (void *)out});
    fprintf(to, "%s,%s,%zu,%zu,%u,%" PRIu64 ",%016" PRIx64 "%016" PRIx64 "\n", m->name,
            format_facts[s->f].name, s->ranks, s->elements, s->channels, s->seed, h.word[0],
            h.word[1]);
}

Test(nccl, models_predict_every_bit, .init = find_gpus, .timeout = 1200)
{
    const char *asked = getenv("ULPSCOPE_CASES"), *file = getenv("ULPSCOPE_RECORD");
    size_t due = asked ? strtoull(asked, NULL, 10) : 120, cases = 0, predicted = 0, wrong = 0;
    size_t small = 0, in_rank_order = 0, subjects = 0;
    FILE *to = file ? fopen(file, "w") : NULL;
    while (mpi_name(NCCL, subjects))
        subjects++;
    void *in = room((size_t)GPUS * MOST * 8), *out = room((size_t)MOST * 8);
    void *model_out = room((size_t)MOST * 8);
    cr_assert(!file || to);
    if (to)
        fputs("subject,format,ranks,elements,channels,seed,hash\n", to);
    /* Subject by subject: each has processes of its own. */
    for (size_t u = 0; u < subjects; u++) {
        const struct method *m = mpi_subject(mpi_name(NCCL, u));
        for (size_t k = 0; k < due / subjects + (u < due % subjects); k++) {
            struct problem p = {0};
            struct sum s = draw_sum(mpi_cases_seed() << 32 | u << 24 | k);
            s.in = in;
            fill(&s);
            cr_assert(run(&s, m, out, &p) == STATUS_OK, "%s", p.text);
            cases++;
            if (to)
                record(to, m, &s, out);
            const char *model = m->model(m->name, s.ranks, s.elements, s.f);
            if (!model)
                continue;
            size_t first = 0;
            cr_assert(run(&s, method_named(model), model_out, &p) == STATUS_OK, "%s", p.text);
            size_t differ = differing(&s, out, model_out, &first);
            predicted++;
            wrong += differ > 0;
            if (differ > 0)
                fprintf(stderr,
                        "%s, %zu ranks of %zu elements, %s, %u channels, seed %" PRIu64
                        ": %zu are not %s's, the first is %zu\n",
                        m->name, s.ranks, s.elements, format_facts[s.f].name, s.channels, s.seed,
                        differ, model, first);
            if (s.elements > 1 << 16)
                continue;
            small++;
            run(&s, method_named(m->operation->fixed), model_out, &p);
            in_rank_order += differing(&s, out, model_out, &first) == 0;
        }
        foreign_end(m);
    }
    fprintf(stderr,
            "seed %" PRIu64
            ": %zu cases, %zu predicted, %zu wrong; %zu of %zu have the bits of rank order\n",
            mpi_cases_seed(), cases, predicted, wrong, in_rank_order, small);
    cr_expect(wrong == 0, "%zu of %zu", wrong, predicted);
    cr_expect(2 * predicted > cases && (gpus == 2 || 2 * in_rank_order < small),
              "%zu of %zu: any order would do", in_rank_order, small);
    cr_expect(!to || fclose(to) == 0);
    free(in);
    free(out);
    free(model_out);
}

Test(nccl, a_thread_and_a_process_for_each_gpu_give_the_same_bits, .init = find_gpus,
     .timeout = 300)
{
    struct sum s = {.seed = 1, .f = BF16, .ranks = gpus, .elements = 100000};
    void *out[2] = {room(s.elements * 2), room(s.elements * 2)};
    struct problem p = {0};
    size_t first = 0;
    s.in = room(s.ranks * s.elements * 2);
    fill(&s);
    cr_assert(run(&s, mpi_subject("nccl/allreduce"), out[0], &p) == STATUS_OK, "%s", p.text);
    cr_assert(run(&s, mpi_subject("nccl/processes"), out[1], &p) == STATUS_OK, "%s", p.text);
    cr_expect(differing(&s, out[0], out[1], &first) == 0, "element %zu", first);
    foreign_end(NULL);
    free(s.in);
    free(out[0]);
    free(out[1]);
}

/* nccl/exact and nccl/binned have the bits of the CPU's methods on addends that are hard to add, of
 * so many ranks and elements. */
static void expect_ours(enum format f, size_t ranks, size_t elements, unsigned channels)
{
    static const char *const ours[] = {"nccl/exact", "nccl/binned"};
    struct sum s = {.f = f, .ranks = ranks, .elements = elements, .channels = channels};
    size_t bytes = array_bytes(f, elements);
    void *out = room(bytes), *due = room(bytes);
    s.in = room(ranks * bytes);
    struct array x = {f, ranks * elements, s.in};
    for (size_t i = 0; i < x.n; i++)
        array_encode(&x, i, 1, &(double){hard_addend(f, i / elements, i % elements)});
    for (size_t k = 0; k < 2; k++) {
        struct problem p = {0};
        size_t first = 0;
        const struct method *m = mpi_subject(ours[k]);
        cr_assert(run(&s, m, out, &p) == STATUS_OK, "%s", p.text);
        const char *model = m->model(m->name, ranks, elements, f);
        cr_assert(run(&s, method_named(model), due, &p) == STATUS_OK, "%s", p.text);
        size_t differ = differing(&s, out, due, &first);
        cr_expect(differ == 0,
                  "%s, %s, %zu ranks, %zu elements, %u channels: %zu are not the CPU's; %zu is "
                  "0x%" PRIx64 ", expected 0x%" PRIx64,
                  m->name, format_facts[f].name, ranks, elements, channels, differ, first,
                  array_bits(&(struct array){f, elements, out}, first),
                  array_bits(&(struct array){f, elements, due}, first));
    }
    free(s.in);
    free(out);
    free(due);
}

Test(nccl, ours_have_the_bits_of_the_cpu_on_any_number_of_gpus, .init = find_gpus, .timeout = 600)
{
    for (size_t ranks = 1; ranks <= gpus; ranks++)
        for (enum format f = FP16; f <= FP64; f++) {
            expect_ours(f, ranks, 1, 0);
            expect_ours(f, ranks, 12345, ranks % 2);
            expect_ours(f, ranks, 1 << 16, 0);
            expect_ours(f, ranks, (1 << 20) + 77, ranks % 2 ? 0 : 4);
            expect_ours(f, ranks, (1 << 20) + 1024, 0);
        }
    foreign_end(NULL);
}

/* --- what GPUs gave --- */

/* Of long messages every tenth is computed anew, all where ULPSCOPE_ALL is set. */
enum { SHORT = 1 << 17, OF_LONG = 10 };

static const struct mpi_algorithm *algorithm(const char *name)
{
    const struct mpi_algorithm *a = nccl_algorithms;
    while (a->name && strcmp(a->name, name) != 0)
        a++;
    cr_assert(a->name, "%s", name);
    return a;
}

Test(nccl, models_have_the_recorded_bits, .timeout = 300)
{
    char line[300], name[64], format[16], hash[40], is[40];
    size_t rows = 0, tried = 0, wrong = 0, of_tree = 0, of_three = 0;
    FILE *file = fopen(RECORDED, "r");
    cr_assert(file && fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file)) {
        struct sum s = {0};
        cr_assert(sscanf(line, "%63[^,],%15[^,],%zu,%zu,%u,%" SCNu64 ",%32s", name, format,
                         &s.ranks, &s.elements, &s.channels, &s.seed, hash) == 7,
                  "%s", line);
        const struct mpi_algorithm *a = algorithm(name);
        s.f = format_named(format);
        const char *model = a->model(a, s.ranks, s.elements, s.f);
        rows++;
        if (!model || (s.elements > SHORT && rows % (getenv("ULPSCOPE_ALL") ? 1 : OF_LONG)))
            continue;
        void *out = room(array_bytes(s.f, s.elements));
        struct problem p = {0};
        s.in = room(array_bytes(s.f, s.ranks * s.elements));
        fill(&s);
        cr_assert(run(&s, method_named(model), out, &p) == STATUS_OK, "%s", p.text);
        struct hash128 h = hash_array(&(struct array){s.f, s.elements, out});
        snprintf(is, sizeof is, "%016" PRIx64 "%016" PRIx64, h.word[0], h.word[1]);
        tried++;
        of_tree += strstr(name, "tree") != NULL;
        of_three += strstr(name, "tree") && s.ranks == 3;
        wrong += strcmp(is, hash) != 0;
        cr_expect(strcmp(is, hash) == 0, "row %zu, not %s's: %s", rows, model, line);
        free(s.in);
        free(out);
    }
    fclose(file);
    fprintf(stderr, "%zu of %zu recorded cases computed anew, %zu wrong\n", tried, rows, wrong);
    cr_expect(rows >= 1000 && 2 * tried > rows && of_tree > 100 && of_three > 10, "%zu of %zu",
              tried, rows);
}

/* --- where borders lie, by hand --- */

static float round_from(const struct sum *s, size_t element, size_t first)
{
    const float *in = s->in;
    float sum = 0;
    for (size_t k = 0; k < s->ranks; k++) {
        float x = in[(first + k) % s->ranks * s->elements + element];
        sum = k > 0 ? sum + x : x;
    }
    return sum;
}

/* Does the sum begin at this rank? The elements are such that each rank's would be another. */
static void expect_begin(const char *method, unsigned channels, size_t elements, size_t element,
                         size_t first)
{
    struct problem p = {0};
    struct sum s = {.f = FP32, .ranks = 4, .elements = elements, .channels = channels};
    float *out = room(elements * sizeof *out), sum[4];
    s.in = room(s.ranks * elements * sizeof(float));
    fill(&s);
    for (size_t alike = 1; alike > 0;) {
        alike = 0;
        for (size_t r = 0; r < s.ranks; r++)
            ((float *)s.in)[r * elements + element] =
                (float)((double)(int32_t)mpi_draw() * 0x1p-31);
        for (size_t r = 0; r < s.ranks; r++) {
            sum[r] = round_from(&s, element, r);
            for (size_t q = 0; q < r; q++)
                alike += sum[q] == sum[r];
        }
    }
    cr_assert(run(&s, method_named(method), out, &p) == STATUS_OK, "%s", p.text);
    for (size_t r = 0; r < s.ranks; r++)
        cr_expect((out[element] == sum[r]) == (r == first), "%s, element %zu: begins at rank %zu",
                  method, element, r);
    free(s.in);
    free(out);
}

Test(nccl, borders_lie_where_its_sources_put_them)
{
    /* LL: 32 KiB are enough for two channels, 16 KiB for the 512 threads of each. */
    expect_begin("allreduce/nccl_ring_ll", 24, 8192, 4095, 0);
    expect_begin("allreduce/nccl_ring_ll", 24, 8192, 4096, 1);
    /* One byte less, and one channel has all: chunks of 2048. */
    expect_begin("allreduce/nccl_ring_ll", 24, 8191, 4096, 3);
    /* Simple: 24 channels of four cells of 2048, and one element more. The 23rd ends behind cell
     * 92; the last has 8193 elements, in chunks of 2052. */
    expect_begin("allreduce/nccl_ring_simple", 24, 196609, 92 * 2048 - 1, 0);
    expect_begin("allreduce/nccl_ring_simple", 24, 196609, 92 * 2048, 1);
    expect_begin("allreduce/nccl_ring_simple", 24, 196609, 92 * 2048 + 2052, 2);
    expect_begin("allreduce/nccl_ring_simple", 24, 196609, 196608, 0);
    /* LL128: of one channel the last loop has chunks of four elements. */
    expect_begin("allreduce/nccl_ring_ll128", 1, 4 * 144000 + 13, 144000, 2);
    expect_begin("allreduce/nccl_ring_ll128", 1, 4 * 144000 + 13, 4 * 144000 + 3, 1);
    expect_begin("allreduce/nccl_ring_ll128", 1, 4 * 144000 + 13, 4 * 144000 + 4, 2);
    expect_begin("allreduce/nccl_ring_ll128", 1, 4 * 144000 + 13, 4 * 144000 + 12, 0);
}

/* --- without a GPU: NCCL among threads, and a worker that fails as ULPSCOPE_PLANT says --- */

static void begin_planted(void)
{
    mpi_cases_begin(NCCL, PLANTED_FOLDER "/ulpscope");
    mpi_entry();
}

Test(nccl, a_rank_that_lies_dies_or_hangs_costs_a_run, .init = begin_planted)
{
    mpi_expect_planted("nccl/ring_ll", "lie", 60, STATUS_FAILED, "ranks disagree: element 0 is 0x");
    mpi_expect_planted("nccl/ring_ll", "die", 60, STATUS_DATA, "ended with exit status 7");
    mpi_expect_planted("nccl/ring_ll", "hang", 4, STATUS_DATA, "no answer within 4 s");
    foreign_end(NULL);
}

/* The NCCL of these tests adds in other orders for a tree and for 8 channels. */
Test(nccl, algorithm_and_channels_are_asked_for, .init = begin_planted)
{
    static const struct {
        const char *subject;
        unsigned channels;
        double due;
    } turn[] = {{"nccl/ring_ll", 0, 0x1p-26}, {"nccl/tree_ll", 0, 0}, {"nccl/ring_ll", 8, 0}};
    /* (1 - 1) + 2^-26; (2^-26 - 1) + 1; (-1 + 2^-26) + 1. */
    float in[3] = {1, -1, 0x1p-26f}, out;
    for (size_t i = 0; i < sizeof turn / sizeof *turn; i++) {
        struct problem p = {0};
        struct sum s = {
            .f = FP32, .ranks = 3, .elements = 1, .channels = turn[i].channels, .in = in};
        cr_assert(run(&s, mpi_subject(turn[i].subject), &out, &p) == STATUS_OK, "%s", p.text);
        cr_expect((double)out == turn[i].due, "%s, %u channels: %g", turn[i].subject,
                  turn[i].channels, (double)out);
    }
    foreign_end(NULL);
}

/* Whichever algorithm that NCCL is asked for: none of its sums is used. */
Test(nccl, ours_have_the_bits_of_the_cpu, .init = begin_planted, .timeout = 60)
{
    const struct method *m = mpi_subject("nccl/exact");
    cr_expect(m->promise == PROMISE_CORRECTLY_ROUNDED);
    cr_expect(mpi_subject("nccl/binned")->promise == PROMISE_ORDER_INVARIANT);
    cr_expect((m->beside >> PROMISE_RANK_INVARIANT & 1) == 1);
    /* What does not travel as it is stored would be another sum. */
    cr_expect(method_supports(m, DEVICE_CUDA, FP32, FP32));
    cr_expect(!method_supports(m, DEVICE_CUDA, FP64, FP32) &&
              !method_supports(m, DEVICE_CPU, FP32, FP32));
    for (enum format f = FP16; f <= FP64; f++) {
        expect_ours(f, 1, 100, 0);
        expect_ours(f, 2, 1000, 8);
        expect_ours(f, 5, 333, 0);
        expect_ours(f, 3, 200000, 0);
    }
    foreign_end(NULL);
}

/* A rank that is late does not take the next case's length for its own. */
Test(nccl, lengths_may_change_from_case_to_case, .init = begin_planted, .timeout = 60)
{
    float in[3 * 9000] = {0}, out[9000];
    for (size_t k = 0; k < 4000; k++) {
        struct problem p = {0};
        struct sum s = {.f = FP32, .ranks = 3, .elements = k % 2 ? 9000 : 1 + k % 7, .in = in};
        in[0] = (float)k;
        cr_assert(run(&s, mpi_subject("nccl/ring_ll"), out, &p) == STATUS_OK, "%zu: %s", k, p.text);
        cr_assert(out[0] == (float)k && (s.elements < 9000 || out[8999] == 0));
    }
    foreign_end(NULL);
}

/* Blocks of five elements on three ranks: 2, 2, 1. */
Test(nccl, a_reduce_scatter_has_the_blocks_of_all_ranks, .init = begin_planted)
{
    double in[15], out[5];
    for (size_t i = 0; i < 15; i++)
        in[i] = ldexp(1, (int)i);
    struct problem p = {0};
    struct sum s = {.f = FP64, .ranks = 3, .elements = 5, .in = in};
    cr_assert(run(&s, mpi_subject("nccl/reduce_scatter"), out, &p) == STATUS_OK, "%s", p.text);
    for (size_t i = 0; i < 5; i++)
        cr_expect(out[i] == in[i] + in[5 + i] + in[10 + i], "element %zu: %g", i, out[i]);
    foreign_end(NULL);
}

Test(nccl, more_ranks_than_gpus_are_refused, .init = begin_planted)
{
    double in[9] = {0}, out;
    struct problem p = {0};
    struct sum s = {.f = FP64, .ranks = 9, .elements = 1, .in = in};
    cr_expect(run(&s, mpi_subject("nccl/ring_ll"), &out, &p) == STATUS_DEVICE);
    cr_expect(strstr(p.text, "found 9 ranks, expected at most 8"), "%s", p.text);
    foreign_end(NULL);
}

/* Whether it answers is asked with no more ranks than are asked for: two GPUs take two. */
Test(nccl, a_check_of_two_ranks_needs_two_gpus, .init = begin_planted, .timeout = 60)
{
    static uint64_t ranks[] = {2}, n[] = {8};
    struct problem p = {0};
    struct check_report report;
    setenv("PLAYED_GPUS", "2", 1);
    struct check_request r = {.method = mpi_subject("nccl/ring_ll"),
                              .device = {DEVICE_CUDA, 0},
                              .n = {1, n},
                              .setting.ranks = {1, ranks},
                              .cache = input_cache_new(CHECK_CACHE_BYTES),
                              .seed = 1,
                              .runs = 2,
                              .seconds = 2,
                              .tried[CHECK_REPEAT] = true};
    pairs_parse(&r.pairs, "fp32/fp32", NULL);
    cr_assert(check_subject(&report, &r, &p) == STATUS_OK, "%s", p.text);
    cr_expect(report.failure.status == STATUS_OK, "%s", report.failure.text);
    cr_expect(report.tried[CHECK_REPEAT].attempts > 0);
    foreign_end(NULL);
}
