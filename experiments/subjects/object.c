#include "experiments/subjects/object.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "experiments/system/clock.h"
#include "experiments/system/memory.h"
#include "experiments/subjects/foreign.h"
#include "kernels/gpu/gpu.h"
#include "reference/base/visible.h"
#include "reports/text/near.h"

_Static_assert((int)ULPSCOPE_FP16 == (int)FP16 && (int)ULPSCOPE_BF16 == (int)BF16 &&
                   (int)ULPSCOPE_FP32 == (int)FP32 && (int)ULPSCOPE_FP64 == (int)FP64 &&
                   (int)ULPSCOPE_E4M3 == (int)E4M3 && (int)ULPSCOPE_E5M2 == (int)E5M2 &&
                   FORMATS == 6 && ULPSCOPE_PAIR(FORMATS - 1, ACCUMULATORS - 1) != 0,
               "formats");
_Static_assert((int)ULPSCOPE_CORRECTLY_ROUNDED == (int)PROMISE_CORRECTLY_ROUNDED &&
                   (int)ULPSCOPE_READS_BLOCKS == (int)SHAPE_BLOCKS,
               "promises and flags");

/* A subject as version 1 of the header had it. */
struct subject_1 {
    const char *name, *summary;
    enum ulpscope_operation operation;
    enum ulpscope_memory memory;
    enum ulpscope_promise promise;
    uint32_t pairs; /* bit 4 s + a: stored in s, added in a */
    uint32_t reads;
    int (*run)(const struct ulpscope_task *t);
};

enum { ALIGNMENT = 64 }; /* of results, as the header says */

/* Bytes before and behind the results, whose change tells that a subject writes beyond them. */
enum { FENCE = MEMORY_AROUND, FENCE_BYTE = 0xa5 };
_Static_assert(FENCE % ALIGNMENT == 0, "results are aligned");

static struct {
    struct method method;
    struct ulpscope_subject subject;
    uint64_t time_ns;
    bool refused;
} object;

struct format_pairs object_pairs(uint64_t bits)
{
    struct format_pairs pairs = {0};
    for (enum format s = 0; s < FORMATS; s++)
        for (enum format a = 0; a < ACCUMULATORS; a++)
            if (bits & ULPSCOPE_PAIR(s, a))
                format_pairs_add(&pairs, s, a);
    return pairs;
}

uint64_t object_pair_bits(const struct format_pairs *pairs)
{
    uint64_t bits = 0;
    for (enum format s = 0; s < FORMATS; s++)
        for (enum format a = 0; a < ACCUMULATORS; a++)
            if (format_pairs_have(pairs, s, a))
                bits |= ULPSCOPE_PAIR(s, a);
    return bits;
}

uint64_t object_time_ns(void)
{
    return object.time_ns;
}

bool object_on_device(void)
{
    return object.subject.memory == ULPSCOPE_DEVICE;
}

bool object_refused(void)
{
    return object.refused;
}

enum status object_returned(const struct method *m, int number, struct problem *p)
{
    object.refused = number != 0;
    return number == 0
               ? STATUS_OK
               : problem(p, STATUS_DATA, "%s: run returned %d, expected 0", m->name, number);
}

static struct ulpscope_task task_of(const struct task *t)
{
    return (struct ulpscope_task){.n = t->of->in.n,
                                  .in = t->of->in.data,
                                  .in2 = t->of->in2.data,
                                  .out = t->out.data,
                                  .storage = (enum ulpscope_format)t->of->in.format,
                                  .accumulator = (enum ulpscope_format)t->accumulator,
                                  .output = (enum ulpscope_format)t->out.format,
                                  .exclusive = t->of->exclusive,
                                  .threads = t->shape.threads,
                                  .blocks = t->shape.blocks,
                                  .device = -1};
}

static struct ulpscope_matrices matrices_of(const struct operands *of)
{
    const struct gemm_shape *s = &of->gemm;
    const char *a = of->in.data;
    return (struct ulpscope_matrices){.m = s->m,
                                      .n = s->n,
                                      .k = s->k,
                                      .lda = gemm_lda(s),
                                      .ldb = gemm_ldb(s),
                                      .a_column = s->a_column,
                                      .b_column = s->b_column,
                                      .a = a,
                                      .b = a + array_bytes(of->in.format, gemm_b_begins(s)),
                                      .c = s->no_c ? NULL : of->c.data};
}

/* Both are NaN in every format: all bits set, and all but the sign. */
enum fill { FILL_FIRST, FILL_OTHER };

static uint64_t fill_bits(enum format f, enum fill fill)
{
    return UINT64_MAX >> (64 - 8 * format_facts[f].bytes + (int)fill);
}

/* Of everything that the subject may only read. */
static XXH128_hash_t hash_read(const struct operands *of)
{
    const struct array *const read[] = {&of->in, &of->in2, &of->c};
    XXH128_hash_t hash = {0};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (read[i]->data && read[i]->n > 0)
            hash = XXH3_128bits_withSeed(read[i]->data, array_bytes(read[i]->format, read[i]->n),
                                         hash.low64 ^ hash.high64);
    return hash;
}

static enum status call_host(const struct ulpscope_subject *s, const struct task *t,
                             const struct ulpscope_task *call, uint64_t *time_ns, struct problem *p)
{
    const XXH128_hash_t read = hash_read(t->of);
    uint64_t begin = clock_ns();
    int number = s->run(call);
    *time_ns = clock_ns() - begin;
    enum status status = object_returned(t->method, number, p);
    return status == STATUS_OK && !XXH128_isEqual(read, hash_read(t->of))
               ? problem(p, STATUS_DATA, "%s: run changed its input, which it may only read",
                         t->method->name)
               : status;
}

static enum status call_filled(const struct ulpscope_subject *s, const struct task *t,
                               enum fill fill, uint64_t *time_ns, struct problem *p)
{
    const struct array *out = &t->out;
    memset(out->data, 0xff, array_bytes(out->format, out->n));
    for (size_t i = 0; fill == FILL_OTHER && i < out->n; i++)
        array_set_bits(out, i, fill_bits(out->format, fill));
    struct ulpscope_task call = task_of(t);
    struct ulpscope_matrices matrices;
    if (operation_reads_c(t->method->operation)) {
        matrices = matrices_of(t->of);
        call.matrices = &matrices;
    }
    return s->memory == ULPSCOPE_DEVICE ? object_run_cuda(s, t, &call, time_ns, p)
                                        : call_host(s, t, &call, time_ns, p);
}

/* The first element from i on that the first fill is still in, and in `again` the other. */
static size_t unwritten(const struct array *first, const struct array *again, size_t i)
{
    uint64_t bits = fill_bits(first->format, FILL_FIRST),
             other = fill_bits(first->format, FILL_OTHER);
    while (i < first->n &&
           (array_bits(first, i) != bits || (again && array_bits(again, i) != other)))
        i++;
    return i;
}

/* What still holds its fill may be a result: a NaN can have these bits. A second call, on another
 * fill, tells. */
static enum status run_fenced(const struct ulpscope_subject *s, const struct task *t,
                              const struct task *fenced, uint64_t *time_ns, struct problem *p)
{
    uint64_t again_ns;
    size_t i;
    enum status status = call_filled(s, fenced, FILL_FIRST, time_ns, p);
    if (status != STATUS_OK)
        return status;
    if (t->out.n > 0)
        memcpy(t->out.data, fenced->out.data, array_bytes(t->out.format, t->out.n));
    if ((i = unwritten(&t->out, NULL, 0)) == t->out.n)
        return status;
    status = call_filled(s, fenced, FILL_OTHER, &again_ns, p);
    i = unwritten(&t->out, &fenced->out, i);
    return status == STATUS_OK && i < t->out.n
               ? problem(p, STATUS_DATA,
                         "%s: run returned 0 without writing out[%zu] (%zu results are due): in "
                         "two calls it kept what out held before",
                         t->method->name, i, t->out.n)
               : status;
}

/* Results lie in a block of their own, between two fences. */
enum status object_run(const struct ulpscope_subject *s, const struct task *t, uint64_t *time_ns,
                       struct problem *p)
{
    const size_t bytes = array_bytes(t->out.format, t->out.n);
    const size_t all = (2 * FENCE + bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct task fenced = *t;
    uint8_t *block = memory_has(all) ? aligned_alloc(ALIGNMENT, all) : NULL;
    if (!block)
        return problem(p, STATUS_MEMORY, "%s: out of memory for %zu bytes of results",
                       t->method->name, bytes);
    uint8_t *out = block + FENCE;
    memset(block, FENCE_BYTE, FENCE);
    memset(out + bytes, FENCE_BYTE, FENCE);
    fenced.out.data = out;
    enum status status = run_fenced(s, t, &fenced, time_ns, p);
    for (size_t i = 0; i < FENCE && status == STATUS_OK; i++)
        if (block[i] != FENCE_BYTE || out[bytes + i] != FENCE_BYTE)
            status = problem(p, STATUS_DATA, "%s: run wrote %s the %zu bytes that are due at out",
                             t->method->name, block[i] != FENCE_BYTE ? "before" : "beyond", bytes);
    free(block);
    return status;
}

static enum status run(const struct task *t, struct problem *p)
{
    return object_run(&object.subject, t, &object.time_ns, p);
}

/* PATH.so of PATH.so:NAME as dlopen takes it: a name without a slash is of this folder. The caller
 * frees it. */
static char *path_of(const char *name)
{
    char *path, *end;
    if (asprintf(&path, "%s%s", strchr(name, '/') ? "" : "./", name) < 0)
        return NULL;
    end = strstr(path, ".so:");
    if (end)
        end[3] = 0;
    return path;
}

static enum status load(const struct ulpscope_subjects **subjects, const char *name,
                        struct problem *p)
{
    char *path = path_of(name);
    if (!path)
        return problem(p, STATUS_MEMORY, "%s: out of memory", name);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *subjects = handle ? dlsym(handle, "ulpscope_subjects") : NULL;
    if (!handle)
        problem(p, STATUS_DATA, "%s: could not be loaded: %s", path, dlerror());
    else if (!*subjects)
        problem(p, STATUS_DATA,
                "%s: found no symbol ulpscope_subjects, expected that of ulpscope_subject.h "
                "(extern \"C\")",
                path);
    else if ((*subjects)->version < 1 || (*subjects)->version > ULPSCOPE_SUBJECT_VERSION)
        problem(p, STATUS_DATA, "%s: found version %u of ulpscope_subject.h, expected 1..%u", path,
                (unsigned)(*subjects)->version, ULPSCOPE_SUBJECT_VERSION);
    free(path);
    return p->status;
}

struct ulpscope_subject object_subject(uint32_t version, const void *subjects, uint32_t i)
{
    if (version > 1)
        return ((const struct ulpscope_subject *)subjects)[i];
    const struct subject_1 *old = (const struct subject_1 *)subjects + i;
    struct ulpscope_subject s = {.name = old->name,
                                 .summary = old->summary,
                                 .operation = old->operation,
                                 .memory = old->memory,
                                 .promise = old->promise,
                                 .reads = old->reads,
                                 .run = old->run};
    for (unsigned bit = 0; bit < 16; bit++)
        if (old->pairs >> bit & 1)
            s.pairs |= ULPSCOPE_PAIR(bit / 4, bit % 4);
    return s;
}

static enum status find(const struct ulpscope_subjects *subjects, const char *name,
                        struct problem *p)
{
    char known[512] = "";
    bool whole = true;
    const char *colon = strstr(name, ".so:");
    int path = colon ? (int)(colon + 3 - name) : (int)strlen(name);
    struct near near = {.word = colon ? colon + 4 : ""};
    if (!subjects->subject || subjects->count == 0)
        return problem(p, STATUS_DATA, "%.*s: found no array of %u subjects in ulpscope_subjects",
                       path, name, (unsigned)subjects->count);
    for (uint32_t i = 0; i < subjects->count; i++) {
        struct ulpscope_subject s = object_subject(subjects->version, subjects->subject, i);
        size_t used = strlen(known);
        if (!s.name)
            return problem(p, STATUS_DATA, "%.*s: entry %u of %u in ulpscope_subjects has no name",
                           path, name, (unsigned)i, (unsigned)subjects->count);
        const bool asked = colon && strcmp(colon + 4, s.name) == 0;
        if (asked && object.subject.name)
            return problem(p, STATUS_DATA,
                           "%.*s: entry %u of %u in ulpscope_subjects has the name of one before "
                           "it, %s",
                           path, name, (unsigned)i, (unsigned)subjects->count, s.name);
        if (asked)
            object.subject = s;
        near_try(&near, s.name);
        const int more = snprintf(known + used, sizeof known - used, "%s%.*s:%s", i ? ", " : "",
                                  path, name, s.name);
        whole = whole && (size_t)more < sizeof known - used;
        if (!whole)
            known[used] = 0;
    }
    if (object.subject.name)
        return STATUS_OK;
    return near.found ? problem(p, STATUS_USAGE, "found '%s', did you mean %.*s:%s?", name, path,
                                name, near.found)
                      : problem(p, STATUS_USAGE, "found '%s', expected one of %s%s", name, known,
                                whole ? "" : ", ...");
}

/* NULL where a subject cannot be one. */
static const struct operation *operation_of(const struct ulpscope_subject *s)
{
    return s->operation == ULPSCOPE_SUM    ? &operation_sum
           : s->operation == ULPSCOPE_SCAN ? &operation_scan
           : s->operation == ULPSCOPE_DOT  ? &operation_dot
           : s->operation == ULPSCOPE_GEMM ? &operation_gemm
                                           : NULL;
}

static enum status check(const struct ulpscope_subject *s, const char *name, struct problem *p)
{
    const struct format_pairs pairs = object_pairs(s->pairs);
    if (!operation_of(s) || (s->memory != ULPSCOPE_HOST && s->memory != ULPSCOPE_DEVICE) ||
        (unsigned)s->promise > ULPSCOPE_CORRECTLY_ROUNDED || !format_pairs_any(&pairs) ||
        !s->summary || !s->run)
        return problem(p, STATUS_DATA,
                       "%s: its entry in ulpscope_subjects is not filled in: found operation %d, "
                       "memory %d, promise %d, pairs 0x%jx, %s summary, %s run",
                       name, (int)s->operation, (int)s->memory, (int)s->promise,
                       (uintmax_t)s->pairs, s->summary ? "a" : "no", s->run ? "a" : "no");
    if (!visible_all(s->summary))
        return problem(p, STATUS_DATA,
                       "%s: found the summary '%s', expected one line of UTF-8 text", name,
                       s->summary);
    if (s->memory == ULPSCOPE_DEVICE && operation_reads_c(operation_of(s)))
        return problem(p, STATUS_DATA,
                       "%s: found a matrix product on device memory, expected ULPSCOPE_HOST", name);
    if (s->memory == ULPSCOPE_DEVICE && !gpu_build())
        return problem(p, STATUS_MEMORY,
                       "%s: takes device memory: this program was built without CUDA", name);
    return STATUS_OK;
}

enum status object_load(const struct method **m, const char *name, struct problem *p)
{
    const struct ulpscope_subjects *subjects = NULL;
    enum status status = load(&subjects, name, p);
    if (status == STATUS_OK)
        status = find(subjects, name, p);
    const struct ulpscope_subject *s = &object.subject;
    if (status == STATUS_OK)
        status = check(s, name, p);
    if (status != STATUS_OK)
        return status;
    enum device_kind device = s->memory == ULPSCOPE_DEVICE ? DEVICE_CUDA : DEVICE_CPU;
    object.method = (struct method){.name = name,
                                    .summary = s->summary,
                                    .operation = operation_of(s),
                                    .promise = (enum promise)s->promise,
                                    .no_c = s->reads & ULPSCOPE_TAKES_NO_C,
                                    .foreign = true,
                                    .bound = THEOREM_ANY_ORDER,
                                    .cpu = run};
    foreign_products(&object.method);
    object.method.pairs[device] = object_pairs(s->pairs);
    if (s->reads & ULPSCOPE_BATCH_INVARIANT &&
        operation_may_promise(object.method.operation, PROMISE_BATCH_INVARIANT))
        object.method.beside = 1u << PROMISE_BATCH_INVARIANT;
    object.method.shape_read[device] = s->reads & (SHAPE_THREADS | SHAPE_BLOCKS);
    *m = &object.method;
    return STATUS_OK;
}
