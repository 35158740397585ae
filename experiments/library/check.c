/* libulpscope: methods, and a check of the user's own kernel. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments/check/check.h"
#include "experiments/library/handles.h"
#include "experiments/subjects/object.h"

_Static_assert((int)ULPSCOPE_RUNGS == (int)PROMISES &&
                   sizeof((struct ulpscope_rung *)0)->is[0] == CHECK_WORDS,
               "rungs");

/* Its constant of enum ulpscope_operation, or -1. */
static int number_of(const struct operation *operation)
{
    static const struct {
        const struct operation *operation;
        int number;
    } known[] = {
#define OPERATION(name, number, ...) {&operation_##name, number},
#include "kernels/method/operations.def"
    };
    size_t i = 0;
    while (known[i].operation != operation)
        i++;
    return known[i].number;
}

/* The i-th method of these operations, or NULL. */
static const struct method *listed(size_t i)
{
    for (size_t k = 0; k < method_count; k++)
        if (number_of(method_registry[k]->operation) >= 0 && i-- == 0)
            return method_registry[k];
    return NULL;
}

size_t ulpscope_method_count(void)
{
    size_t count = 0;
    while (listed(count))
        count++;
    return count;
}

enum { METHOD_0_2 = LIBRARY_0_2(struct ulpscope_method, pairs, uint64_t) };

enum ulpscope_status(ulpscope_method_get)(struct ulpscope_method *m, size_t i,
                                          struct ulpscope_error *error)
{
    return ulpscope_method_get_sized(METHOD_0_2, m, i, error);
}

enum ulpscope_status ulpscope_method_get_sized(size_t size, struct ulpscope_method *m, size_t i,
                                               struct ulpscope_error *error)
{
    struct problem p = {0};
    const struct method *from = listed(i);
    if (!from) {
        problem(&p, STATUS_USAGE, "method: found %zu, expected less than %zu", i,
                ulpscope_method_count());
        return library_failed(error, &p);
    }
    const struct ulpscope_method all = {
        .name = from->name,
        .summary = from->summary,
        .operation = (enum ulpscope_operation)number_of(from->operation),
        .promise = (enum ulpscope_promise)from->promise,
        .pairs = from->cpu ? object_pair_bits(method_pairs(from, DEVICE_CPU)) : 0};
    return library_give(m, size, &all, sizeof all, METHOD_0_2, "method", &p) == STATUS_OK
               ? ULPSCOPE_OK
               : library_failed(error, &p);
}

static enum status task_make(struct task *t, struct operands *of, const char *name,
                             const struct ulpscope_array *a, const struct ulpscope_array *a2,
                             struct problem *p)
{
    const struct method *m = t->method = method_named(name);
    if (!m || number_of(m->operation) < 0)
        return problem(p, STATUS_USAGE, "method: found '%s', expected a name that is listed", name);
    enum status status = library_array(&of->in, a, p);
    if (status == STATUS_OK && a2)
        status = library_array(&of->in2, a2, p);
    if (status != STATUS_OK)
        return status;
    if ((a2 != NULL) != (operation_has(m->operation, OPERAND_IN2)))
        return problem(p, STATUS_USAGE, "%s: found %d arrays, expected %u", name, a2 ? 2 : 1,
                       operation_arrays(m->operation));
    if (a2 && (a2->format != a->format || a2->n != a->n))
        return problem(p, STATUS_USAGE, "%s: the arrays differ in length or format", name);
    if (!m->cpu || !method_supports(m, DEVICE_CPU, of->in.format, t->accumulator))
        return problem(p, STATUS_DEVICE, "%s does not support %s in %s on cpu", name,
                       format_facts[of->in.format].name, format_facts[t->accumulator].name);
    return STATUS_OK;
}

enum ulpscope_status ulpscope_run(const char *method, const struct ulpscope_array *a,
                                  const struct ulpscope_array *a2, enum ulpscope_format accumulator,
                                  unsigned threads, unsigned blocks, void *out,
                                  struct ulpscope_error *error)
{
    struct problem p = {0};
    struct operands of = {.bins = 0};
    struct task t = {.of = &of, .accumulator = (enum format)accumulator, .device = -1};
    if (threads > THREADS_MAX || blocks > BLOCKS_MAX)
        problem(&p, STATUS_USAGE, "%s: found %u threads, %u blocks, expected at most %d, %d",
                method, threads, blocks, THREADS_MAX, BLOCKS_MAX);
    if (p.status == STATUS_OK && library_accumulator(accumulator, "accumulator", &p) == STATUS_OK &&
        task_make(&t, &of, method, a, a2, &p) == STATUS_OK) {
        t.shape = method_shape(t.method, DEVICE_CPU, of.in.n, (struct shape){threads, blocks});
        of.product = t.method->product;
        t.out = (struct array){t.accumulator, t.method->operation->outputs(of.in.n, 0), out};
        t.method->cpu(&t, &p);
    }
    return p.status == STATUS_OK ? ULPSCOPE_OK : library_failed(error, &p);
}

/* --- the check --- */

struct own {
    struct method method; /* the first: a task's method is this */
    struct ulpscope_subject subject;
};

static enum status run_own(const struct task *t, struct problem *p)
{
    const struct own *own = (const struct own *)t->method;
    uint64_t time_ns;
    fenv_t environment;
    fegetenv(&environment);
    enum status status = object_run(&own->subject, t, &time_ns, p);
    fesetenv(&environment); /* the exact results are computed in this thread, too */
    return status;
}

static struct shape as_asked(size_t n, enum device_kind device, struct shape asked)
{
    (void)n, (void)device;
    return asked;
}

static enum status own_make(struct own *own, const struct ulpscope_subject *s, struct problem *p)
{
    if (!s->name || !s->summary || !s->run ||
        !(s->pairs & (ULPSCOPE_ALL_PAIRS | ULPSCOPE_PAIRS_8)) ||
        (s->operation != ULPSCOPE_SUM && s->operation != ULPSCOPE_SCAN) ||
        s->memory != ULPSCOPE_HOST || (unsigned)s->promise > ULPSCOPE_CORRECTLY_ROUNDED)
        return problem(p, STATUS_USAGE,
                       "%s: found operation %d, memory %d, promise %d, pairs 0x%jx, %s summary, %s "
                       "run; expected a sum or scan of host memory, all filled in",
                       s->name ? s->name : "subject", (int)s->operation, (int)s->memory,
                       (int)s->promise, (uintmax_t)s->pairs, s->summary ? "a" : "no",
                       s->run ? "a" : "no");
    unsigned reads = s->reads & (SHAPE_THREADS | SHAPE_BLOCKS);
    *own =
        (struct own){{.name = s->name,
                      .summary = s->summary,
                      .operation = s->operation == ULPSCOPE_SCAN ? &operation_scan : &operation_sum,
                      .promise = (enum promise)s->promise,
                      .pairs = {[DEVICE_CPU] = object_pairs(s->pairs)},
                      .shape_read = {[DEVICE_CPU] = reads},
                      .shape_order = reads,
                      .resolve = reads ? as_asked : NULL,
                      .bound = THEOREM_ANY_ORDER,
                      .cpu = run_own},
                     *s};
    return STATUS_OK;
}

static void add_kind(struct ulpscope_rung *to, const struct check_tried *t)
{
    const struct check_break *b = &t->witness;
    if (t->broken > 0 && to->differing == 0) {
        to->n = b->at.n;
        to->storage = (enum ulpscope_format)b->at.pair.storage;
        to->accumulator = (enum ulpscope_format)b->at.pair.accumulator;
        to->expected = b->bits[0];
        to->found = b->bits[1];
        memcpy(to->is, b->is, sizeof to->is);
    }
    to->attempts += t->attempts;
    to->differing += t->differing;
}

static void report_make(struct ulpscope_report *to, const struct check_report *from)
{
    *to = (struct ulpscope_report){.kept = (enum ulpscope_promise)from->kept,
                                   .refuted = check_broken(from)};
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        add_kind(&to->rung[check_kinds[kind].rung], &from->tried[kind]);
}

enum { REPORT_0_2 = LIBRARY_0_2(struct ulpscope_report, rung, uint64_t) };

enum ulpscope_status(ulpscope_check)(struct ulpscope_report *report,
                                     const struct ulpscope_subject *subject, double seconds,
                                     uint64_t seed, struct ulpscope_error *error)
{
    return ulpscope_check_sized(REPORT_0_2, report, 2, subject, seconds, seed, error);
}

enum ulpscope_status ulpscope_check_sized(size_t size, struct ulpscope_report *report,
                                          uint32_t version, const struct ulpscope_subject *subject,
                                          double seconds, uint64_t seed,
                                          struct ulpscope_error *error)
{
    struct problem p = {0};
    struct ulpscope_report all;
    struct own own;
    if (version < 1 || version > ULPSCOPE_SUBJECT_VERSION)
        problem(&p, STATUS_USAGE, "check: found version %u of ulpscope_subject.h, expected 1..%u",
                (unsigned)version, ULPSCOPE_SUBJECT_VERSION);
    if (size < REPORT_0_2) /* found before the seconds are spent */
        library_give(NULL, size, NULL, 0, REPORT_0_2, "report", &p);
    if (!(seconds > 0) || !(seconds < 1e9))
        problem(&p, STATUS_USAGE, "check: found %g seconds, expected more than 0, below 1e9",
                seconds);
    if (p.status != STATUS_OK)
        return library_failed(error, &p);
    const struct ulpscope_subject made = object_subject(version, subject, 0);
    if (own_make(&own, &made, &p) != STATUS_OK)
        return library_failed(error, &p);
    struct check_report *found = calloc(1, sizeof *found);
    if (!found) {
        problem(&p, STATUS_MEMORY, "check: out of memory (%zu bytes)", sizeof *found);
        return library_failed(error, &p);
    }
    struct check_request r = {.method = &own.method,
                              .device = {DEVICE_CPU, 0},
                              .seed = seed,
                              .runs = CHECK_RUNS,
                              .seconds = seconds,
                              .promise = own.method.promise,
                              .shrink = true};
    for (enum format s = 0; s < FORMATS; s++)
        for (enum format a = 0; a < ACCUMULATORS; a++)
            r.pairs.item[r.pairs.count++] = (struct format_pair){s, a};
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        r.tried[kind] = kind != CHECK_PROCESS && kind != CHECK_DEVICE && kind != CHECK_RECORDED;
    if (check_subject(found, &r, &p) == STATUS_OK && found->failure.status != STATUS_OK)
        p = found->failure;
    if (p.status == STATUS_OK) {
        report_make(&all, found);
        library_give(report, size, &all, sizeof all, REPORT_0_2, "report", &p);
    }
    free(found);
    return p.status == STATUS_OK ? ULPSCOPE_OK : library_failed(error, &p);
}
