/* `check` on a GPU: ours keep what they promise, against launch shapes, places and neighbours in
 * the device's memory, its load, and the CPU; and what lies around an input is what was asked for.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "experiments/check/check.h"
#include "kernels/gpu/device.h"

static struct check_request request_for(const struct method *m, double seconds)
{
    static uint64_t lengths[] = {1000, 2049, 65536};
    struct check_request r = {.method = m,
                              .device = {DEVICE_CUDA, 0},
                              .n = {3, lengths},
                              .seed = 1,
                              .runs = CHECK_RUNS,
                              .seconds = seconds,
                              .promise = m->promise};
    pairs_parse(&r.pairs, "fp32/fp32", NULL);
    pairs_parse(&r.pairs, "all", NULL);
    for (size_t kind = 0; kind < CHECK_KINDS; kind++) /* other processes cost a second each */
        r.tried[kind] = kind != CHECK_PROCESS && kind != CHECK_RECORDED;
    return r;
}

/* Rows are what batches are of; what moves elements has neither order nor sum; `serve` has no
 * words for either. */
static bool has_sense(const struct method *m, enum check_kind kind)
{
    bool told = m->operation->matrix || m->operation->mask;
    bool rows = m->operation == &operation_rows || m->operation->of_rows || m->operation->matrices;
    bool sums = kind == CHECK_PERMUTATION || kind == CHECK_EXACT;
    return kind == CHECK_ENVIRONMENT                     ? false /* asked of what is not ours */
           : kind >= CHECK_BATCH && kind <= CHECK_LAYOUT ? rows
           : told && (kind == CHECK_PROCESS || sums)     ? rows && sums
                                                         : true;
}

/* Is there more than one launch shape for arrays as short as these? The same again is no attempt.
 */
static bool has_shapes(const struct method *m)
{
    bool has = m->shape_read[DEVICE_CUDA] & SHAPE_BLOCKS;
    for (unsigned threads = 1; threads <= 1024; threads *= 2) {
        struct shape own = method_shape(m, DEVICE_CUDA, 65536, (struct shape){0, 0});
        struct shape other = method_shape(m, DEVICE_CUDA, 65536, (struct shape){threads, 0});
        has |= other.threads != own.threads;
    }
    return has;
}

/* A kind that was tried though it has no sense, or not tried though it has; CHECK_KINDS where none.
 */
static size_t wrongly_tried(const struct check_request *r, const struct check_report *report)
{
    size_t kind = 0;
    for (; kind < CHECK_KINDS; kind++) {
        enum check_kind k = (enum check_kind)kind;
        bool none = !r->tried[kind] || !has_sense(r->method, k) ||
                    (k == CHECK_SHAPE && !has_shapes(r->method));
        if ((report->tried[kind].attempts == 0) != none)
            break;
    }
    return kind;
}

Test(gpu_check, finds_promises_kept, .timeout = 300)
{
    for (size_t i = 0; i < method_count; i++) {
        const struct method *m = method_registry[i];
        struct check_report report = {0};
        size_t wrong = 0;
        if (!m->cpu || !format_pairs_any(method_pairs(m, DEVICE_CUDA)))
            continue;
        /* Matrix products take longer on the CPU, which they are held to; on a busy machine half a
         * second is too little for every kind. */
        for (double seconds = m->operation->matrices ? 4 : 0.5; seconds < 20; seconds *= 2) {
            struct problem p = {0};
            struct check_request r = request_for(m, seconds);
            cr_assert(check_subject(&report, &r, &p) == STATUS_OK, "%s: %s", m->name, p.text);
            wrong = wrongly_tried(&r, &report);
            if (wrong == CHECK_KINDS)
                break;
        }
        cr_expect(wrong == CHECK_KINDS, "%s: %s: %llu attempts", m->name,
                  wrong < CHECK_KINDS ? check_kinds[wrong].name : "",
                  wrong < CHECK_KINDS ? (unsigned long long)report.tried[wrong].attempts : 0);
        cr_expect(report.failure.status == STATUS_OK, "%s: %s", m->name, report.failure.text);
        cr_expect(!check_broken(&report), "%s keeps %s", m->name, promise_name[report.kept]);
        for (size_t kind = 0; kind < CHECK_KINDS; kind++)
            cr_expect(check_kinds[kind].rung > m->promise || !report.tried[kind].broken,
                      "%s: %s: %s %s", m->name, check_kinds[kind].name,
                      report.tried[kind].witness.is[0], report.tried[kind].witness.is[1]);
    }
}

/* Methods that claim a rung more than they have. */
Test(gpu_check, finds_promises_broken)
{
    static const struct {
        const char *name;
        enum check_kind kind;
    } liars[] = {{"sum/atomic", CHECK_REPEAT},       {"sum/two_kernel", CHECK_SHAPE},
                 {"scan/three_kernel", CHECK_SHAPE}, {"sum/tiled", CHECK_PERMUTATION},
                 {"scan/tiled", CHECK_PERMUTATION},  {"sum/sumk5", CHECK_EXACT},
                 {"scan/compensated", CHECK_EXACT},  {"scatter/atomic", CHECK_REPEAT},
                 {"scatter/sort", CHECK_PERMUTATION}};
    for (size_t i = 0; i < sizeof liars / sizeof *liars; i++) {
        struct check_report report;
        struct problem p = {0};
        bool found = false;
        /* On a busy machine half a second is a few attempts. */
        for (double seconds = 0.5; !found && seconds < 20; seconds *= 2) {
            struct check_request r = request_for(method_named(liars[i].name), seconds);
            r.promise = check_kinds[liars[i].kind].rung;
            cr_assert(check_subject(&report, &r, &p) == STATUS_OK, "%s", p.text);
            found = check_broken(&report) && report.tried[liars[i].kind].broken;
        }
        cr_expect(found, "%s: %s", liars[i].name, check_kinds[liars[i].kind].name);
    }
}

Test(gpu_check, fills_what_lies_around_an_input)
{
    enum { N = 1001, AROUND = 512, OFFSET = 3 };
    static uint32_t data[N], back[N];
    unsigned char around[AROUND];
    struct gpu_input *input;
    struct problem p = {0};
    struct array a = {FP32, N, data};
    for (size_t i = 0; i < N; i++)
        data[i] = 0x3f800000 + (uint32_t)i;
    cr_assert(gpu_upload(&input, 0, &a, OFFSET, &p) == STATUS_OK, "%s", p.text);
    for (int byte = 0; byte < 256; byte += 123) {
        cr_assert(gpu_surround(input, (uint8_t)byte, &p) == STATUS_OK, "%s", p.text);
        char *begin = input->of.in.data;
        cr_expect((uintptr_t)begin % 256 == OFFSET * sizeof *data);
        for (int behind = 0; behind < 2; behind++) {
            const char *from = behind ? begin + sizeof data : begin - AROUND;
            cr_assert(cudaMemcpy(around, from, AROUND, cudaMemcpyDeviceToHost) == cudaSuccess);
            for (size_t i = 0; i < AROUND; i++)
                cr_assert(around[i] == byte, "byte %zu %s it is %d, not %d", i,
                          behind ? "behind" : "before", around[i], byte);
        }
        cr_assert(cudaMemcpy(back, begin, sizeof back, cudaMemcpyDeviceToHost) == cudaSuccess);
        cr_expect(memcmp(back, data, sizeof back) == 0, "the elements are others");
    }
    gpu_release(input);
}
