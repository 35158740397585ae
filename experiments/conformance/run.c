#include "experiments/conformance/run.h"

#include <stdlib.h>

#include "experiments/operations/operation.h"
#include "experiments/system/clock.h"
#include "experiments/subjects/foreign.h"
#include "experiments/conformance/shrink.h"
#include "experiments/conformance/stand.h"
#include "experiments/conformance/walk.h"

enum { SHRINK_TRIES = 2000 };
static const uint64_t LONG_NS = 3000000000;

static void finding_free(struct conformance_finding *f)
{
    if (f) {
        free(f->in.x.data);
        free(f->in.y.data);
    }
    free(f);
}

static bool answers_zeros(const struct conformance_walk *w, size_t n, struct problem *why)
{
    const struct conformance_request *q = &w->report->request;
    struct conformance_subject subject = w->subject;
    struct conformance_stand stand;
    struct judgement j;
    subject.exclusive = q->scan[1] && !q->scan[0];
    subject.product = w->subject.method->product;
    enum status status = conformance_stand_open(&stand, &subject, n, why);
    if (status == STATUS_OK) {
        struct array in = conformance_stand_input(&stand).x;
        memset(in.data, 0, array_bytes(in.format, in.n));
        status = conformance_stand_run(&stand, &j, why);
    }
    conformance_stand_close(&stand);
    return status == STATUS_OK;
}

/* Does a program answer a request for this pair? Others say beforehand what they take. One that
 * refuses three elements may take more. */
static bool answers(const struct conformance_walk *w, struct problem *why)
{
    const struct method *m = w->subject.method;
    struct problem more = {0};
    return !m->foreign || name_is_described(m->name) || answers_zeros(w, 3, why) ||
           (foreign_declined() && answers_zeros(w, SPECIAL_ROW_LENGTH, &more));
}

static enum status shrink_all(struct conformance_report *r, struct problem *p)
{
    enum status status = STATUS_OK;
    size_t left = 0;
    for (size_t k = 0; k < SPECIAL_CLASSES; k++)
        left += r->all[k].first != NULL;
    for (size_t k = 0; k < SPECIAL_CLASSES && status == STATUS_OK; k++) {
        struct conformance_finding *f = r->all[k].first;
        if (f)
            status = conformance_shrink_subject(&f->in, &f->subject, &f->judgement, SHRINK_TRIES,
                                                special_share(r, r->end_ns, left--), p);
    }
    return status;
}

/* How programs that do not answer are dealt with. */
struct silence {
    size_t answered;
    bool waited; /* for long, and for nothing: a program that hangs is not asked again */
    struct problem first;
};

static enum status run_or_leave(struct conformance_walk *w, struct silence *s, uint64_t until,
                                struct problem *p)
{
    struct conformance_report *r = w->report;
    struct problem why = {0};
    uint64_t begin = clock_ns();
    if (conformance_stopped(&r->request))
        return STATUS_OK;
    if (!s->waited && answers(w, &why)) {
        s->answered++;
        return conformance_walk_pair(w, until, p);
    }
    r->left_out.item[r->left_out.count++] = r->request.pairs.item[w->pair];
    if (!s->waited)
        s->first = why;
    s->waited |= clock_ns() - begin > LONG_NS;
    return STATUS_OK;
}

bool conformance_runs(const struct conformance_request *q, const struct format_pair *pair)
{
    const struct setting setting = {.chip = q->chip};
    return method_supports(q->method, q->device.kind, pair->storage, pair->accumulator) &&
           setting_can(q->method, &setting, pair->storage, pair->accumulator);
}

enum status conformance_run(struct conformance_report *r, const struct conformance_request *request,
                            struct problem *p)
{
    enum status status = STATUS_OK;
    struct silence silence = {0};
    *r = (struct conformance_report){
        .request = *request, .begin_ns = clock_ns(), .end_ns = UINT64_MAX};
    if (request->seconds > 0)
        r->end_ns = r->begin_ns + clock_span(request->seconds);
    for (size_t i = 0;
         i < request->pairs.count && status == STATUS_OK && !conformance_stopped(request); i++) {
        const struct format_pair *pair = &request->pairs.item[i];
        struct conformance_walk w = {.report = r,
                                     .subject = {.method = request->method,
                                                 .device = request->device,
                                                 .storage = pair->storage,
                                                 .accumulator = pair->accumulator,
                                                 .shape = request->shape,
                                                 .chip = request->chip},
                                     .pair = i};
        if (conformance_runs(request, pair) &&
            !(request->data && request->data->x.format != pair->storage))
            status = run_or_leave(&w, &silence,
                                  special_share(r, r->end_ns, request->pairs.count - i), p);
    }
    if (status == STATUS_OK && conformance_stopped(request))
        return problem(p, STATUS_INTERRUPTED, "interrupted");
    if (silence.answered == 0)
        r->failure = silence.first;
    return status == STATUS_OK ? shrink_all(r, p) : status;
}

void conformance_report_free(struct conformance_report *r)
{
    for (size_t k = 0; k < SPECIAL_CLASSES; k++) {
        finding_free(r->all[k].first);
        for (size_t i = 0; i < FORMATS * FORMATS; i++)
            finding_free(r->tally[i][k].first);
    }
    *r = (struct conformance_report){0};
}
