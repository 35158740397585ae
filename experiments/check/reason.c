/* Why a kind of attempt was not made. */
#include <stdio.h>

#include "experiments/check/attempts.h"
#include "experiments/options/subject_name.h"
#include "experiments/subjects/foreign_state.h"
#include "kernels/gpu/gpu.h"

/* Why this subject cannot be tried at all; NULL: it can. We know neither the launch shape nor the
 * memory of a program. */
const char *check_senseless(const struct check *c, enum check_kind kind)
{
    const struct method *m = c->request->method;
    bool program = m->foreign && !name_is_described(m->name);
    bool named = m->foreign ? foreign_restarts(m) : method_named(m->name) == m;
    const struct operation *o = m->operation;
    switch (kind) {
    case CHECK_PROCESS:
        return !operation_served(o) && !m->foreign
                   ? "a process of its own cannot be told what it reads"
               : !named ? "a function of this process has no other process"
                        : NULL;
    case CHECK_BATCH:
        return !operation_batches(o) ? "the operation has no batch" : NULL;
    case CHECK_PLACE:
    case CHECK_OTHERS:
    case CHECK_LAYOUT:
        return operation_sides(o) == 0 ? "the operation has no batch" : NULL;
    case CHECK_PERMUTATION:
        return operation_moves(o) ? "the operation moves elements, it has no order of additions"
                                  : NULL;
    case CHECK_EXACT:
        return operation_moves(o) ? "the operation moves elements, it rounds nothing" : NULL;
    case CHECK_SHAPE:
        return !m->shape_read[c->request->device.kind] ? "the subject reads no launch shape" : NULL;
    case CHECK_LOAD:
        return c->request->device.kind == DEVICE_CUDA && !gpu_build()
                   ? "this program was built without CUDA, and has no other work for the GPU"
                   : NULL;
    case CHECK_ENVIRONMENT:
        return !check_environs(c->request) ? "its launch shape says how many threads it uses"
               : c->threads.count == 1 && c->threads.item[0] ? "one number of threads is asked for"
               : !named ? "a function of this process has no other process"
                        : NULL;
    case CHECK_DEVICE:
        return name_is_program(m->name) ? "a program decides itself what device it runs on"
               : name_is_mpi(m->name) && c->request->device.kind == DEVICE_CUDA
                   ? "ranks have the GPUs of this machine, from the first on"
                   : NULL;
    case CHECK_NEIGHBOUR:
        if (name_is_python(m->name))
            return "what lies around an array of Python's is not set";
        return program ? "where a program keeps its input is not known" : NULL;
    case CHECK_OFFSET:
        if (name_is_python(m->name) && !foreign_places(m))
            return "its library of arrays decides where they lie";
        return program ? "where a program keeps its input is not known" : NULL;
    case CHECK_RECORDED:
        return c->request->datas && !c->request->inputs ? "nothing is recorded of data of yours"
               : !operation_recorded(o)                 ? "nothing is recorded of this operation"
               : !c->request->recorded ? "no recorded results are at hand (--recorded DIR)"
                                       : NULL;
    case CHECK_REPEAT:
    case CHECK_AFTER:
    case CHECK_KINDS:
        break;
    }
    return NULL;
}

static const char time_ran_out[] = "time ran out",
                  no_time_to_start[] = "no time was left to start another process";

static const char *reason(const struct check *c, const struct check_report *r, enum check_kind kind)
{
    const char *why = check_senseless(c, kind);
    bool failed = r->failure.status != STATUS_OK;
    enum device_kind other = c->request->device.kind == DEVICE_CPU ? DEVICE_CUDA : DEVICE_CPU;
    return !c->request->tried[kind]                                  ? "left out by --only"
           : why                                                     ? why
           : failed && kind == r->failed                             ? "the subject failed"
           : failed && kind > r->failed                              ? "the subject failed before"
           : kind == CHECK_DEVICE && c->unusable.status != STATUS_OK ? c->unusable.text
           : kind == CHECK_LOAD && c->no_load.status != STATUS_OK    ? c->no_load.text
           : r->untried.status != STATUS_OK                          ? r->untried.text
           : kind == CHECK_DEVICE &&
                   (c->ran[kind] || !(c->request->method->of_chip ||
                                      format_pairs_any(method_pairs(c->request->method, other))))
               ? "no other device runs it"
           : kind == CHECK_RECORDED ? "nothing recorded is among the cases asked for"
           : c->ran[kind] && kind == CHECK_SHAPE && c->threads.count == 1 && c->blocks.count <= 1
               ? "one launch shape is asked for"
           : c->ran[kind] && kind == CHECK_SHAPE
               ? "all launch shapes come to the same for these lengths"
           : c->ran[kind] && (kind == CHECK_ENVIRONMENT ||
                              (kind == CHECK_AFTER && foreign_restarts(c->request->method)))
               ? no_time_to_start
           : c->ran[kind] ? "no run differed from others in what this varies"
                          : time_ran_out;
}

/* A single sum has no batch, so a report does not mention the kinds that are about one. */
static bool is_said(const struct check *c, enum check_kind kind)
{
    if (kind == CHECK_ENVIRONMENT)
        return check_environs(c->request);
    return kind < CHECK_PLACE || kind > CHECK_LAYOUT ||
           operation_sides(c->request->method->operation) > 0;
}

void check_note_family(struct check_report *r, const struct check_case *k)
{
    for (size_t i = 0; !k->data && i < input_family_count; i++)
        if (k->input.family == input_families[i])
            check_set_add(&r->families, i);
}

/* The first family from `from` on that no exact result was tried on; input_family_count: none. */
static size_t family_left(const struct check_report *r, size_t from)
{
    for (; from < input_family_count; from++) {
        size_t k = 0;
        while (k < r->families.count && r->families.item[k] != from)
            k++;
        if (k == r->families.count)
            break;
    }
    return from;
}

bool check_families_left(const struct check_report *r, enum check_kind kind)
{
    return kind == CHECK_EXACT && r->request.inputs + r->request.datas == 0 &&
           family_left(r, 0) < input_family_count;
}

static void say_families(struct check_report *r)
{
    enum { LISTED = 3 };
    struct check_tried *t = &r->tried[CHECK_EXACT];
    size_t left = 0, used = 0;
    if (t->attempts == 0 || !check_families_left(r, CHECK_EXACT))
        return;
    for (size_t i = 0; (i = family_left(r, i)) < input_family_count; i++)
        if (left++ < LISTED)
            used += (size_t)snprintf(t->untried + used, CHECK_REASON - used, "%s%s",
                                     used ? ", " : "time ran out before inputs ",
                                     input_families[i]->name);
    if (left > LISTED)
        snprintf(t->untried + used, CHECK_REASON - used, " and %zu more", left - LISTED);
    t->late = true;
}

void check_say_reasons(const struct check *c, struct check_report *r)
{
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        if (r->tried[kind].attempts == 0 && is_said(c, kind)) {
            const char *why = reason(c, r, kind);
            snprintf(r->tried[kind].untried, CHECK_REASON, "%.*s", CHECK_REASON - 1, why);
            r->tried[kind].late = why == time_ran_out || why == no_time_to_start;
        }
    say_families(r);
}
