#include "experiments/special_run.h"

#include <stdlib.h>

#include "experiments/clock.h"
#include "experiments/foreign.h"
#include "experiments/memory.h"
#include "experiments/special_shrink.h"
#include "experiments/special_stand.h"

/* Failed runs, of a pair of formats and of all, after which no more are tried. */
enum { GIVE_UP_PAIR = 2, GIVE_UP = 12, SHRINK_TRIES = 2000 };
static const uint64_t LONG_NS = 3000000000;

/* One subject in one format pair. */
struct walk {
    struct special_report *report;
    struct special_subject subject;
    size_t pair, failed;
};

static void finding_free(struct special_finding *f)
{
    if (f)
        free(f->in.data);
    free(f);
}

static enum status keep(struct special_tally *t, const struct walk *w, const struct array *in,
                        const struct judgement *j, struct problem *p)
{
    struct special_finding *f = calloc(1, sizeof *f);
    if (!f)
        return problem(p, STATUS_DEVICE, "no memory for a finding");
    *f = (struct special_finding){.subject = w->subject, .judgement = *j, .n = in->n};
    enum status status = memory_array(&f->in, in->format, in->n, "a finding", p);
    if (status != STATUS_OK) {
        free(f);
        return status;
    }
    memcpy(f->in.data, in->data, array_bytes(in->format, in->n));
    t->first = f;
    return STATUS_OK;
}

static enum status count(struct special_tally *t, const struct walk *w, const struct array *in,
                         const struct judgement *j, struct problem *p)
{
    t->cases++;
    t->noted += j->is == JUDGED_NOTED;
    t->impossible += j->is == JUDGED_IMPOSSIBLE;
    if (j->is == JUDGED_NOTED && !t->note)
        t->note = j->why;
    return j->is == JUDGED_IMPOSSIBLE && !t->first ? keep(t, w, in, j, p) : STATUS_OK;
}

/* A run that failed: the subject is made ready anew. */
static enum status count_failure(struct walk *w, struct special_stand *stand, size_t class,
                                 size_t n, const struct problem *failure, struct problem *p)
{
    struct special_report *r = w->report;
    struct special_tally *t[] = {&r->tally[w->pair][class], &r->all[class]};
    for (size_t i = 0; i < 2; i++) {
        t[i]->cases++;
        t[i]->failed++;
    }
    w->failed++;
    r->failed++;
    if (r->failure.status == STATUS_OK)
        r->failure = *failure;
    special_stand_close(stand);
    return special_stand_open(stand, &w->subject, n, p);
}

static bool gives_up(const struct walk *w)
{
    return w->failed >= GIVE_UP_PAIR || w->report->failed >= GIVE_UP;
}

static enum status run_case(struct walk *w, struct special_stand *stand, size_t class,
                            const struct special_setting *setting, size_t k, struct problem *p)
{
    struct array in = special_stand_input(stand);
    struct judgement j;
    struct problem failure = {0};
    memset(in.data, 0, array_bytes(in.format, in.n));
    special_class[class]->fill(setting, k, &in);
    if (special_stand_run(stand, &j, &failure) != STATUS_OK)
        return count_failure(w, stand, class, in.n, &failure, p);
    enum status status = count(&w->report->tally[w->pair][class], w, &in, &j, p);
    return status == STATUS_OK ? count(&w->report->all[class], w, &in, &j, p) : status;
}

static enum status run_length(struct walk *w, size_t length, struct problem *p)
{
    const struct special_request *q = &w->report->request;
    const struct special_setting setting = {w->subject.storage, w->subject.accumulator,
                                            special_length[length], q->seed};
    struct special_stand stand;
    if (q->show)
        q->show(&w->subject, setting.n);
    enum status status = special_stand_open(&stand, &w->subject, setting.n, p);
    for (size_t class = 0; class < SPECIAL_CLASSES && status == STATUS_OK; class ++) {
        size_t cases = special_class[class]->cases(&setting);
        for (size_t k = (length + w->pair) % q->every;
             k < cases && status == STATUS_OK && !gives_up(w); k += q->every)
            status = run_case(w, &stand, class, &setting, k, p);
    }
    special_stand_close(&stand);
    return status;
}

/* The one input that was asked for; it stands where the first class does. */
static enum status run_data(struct walk *w, const struct array *data, struct problem *p)
{
    struct special_stand stand;
    struct judgement j;
    if (data->format != w->subject.storage)
        return STATUS_OK;
    enum status status = special_stand_open(&stand, &w->subject, data->n, p);
    if (status == STATUS_OK) {
        memcpy(special_stand_input(&stand).data, data->data, array_bytes(data->format, data->n));
        status = special_stand_run(&stand, &j, p);
    }
    if (status == STATUS_OK)
        status = count(&w->report->tally[w->pair][0], w, data, &j, p);
    if (status == STATUS_OK)
        status = count(&w->report->all[0], w, data, &j, p);
    special_stand_close(&stand);
    return status;
}

static enum status run_subject(struct walk *w, struct problem *p)
{
    enum status status = STATUS_OK;
    if (w->report->request.data)
        return run_data(w, w->report->request.data, p);
    for (size_t i = 0; i < SPECIAL_LENGTHS && status == STATUS_OK; i++)
        status = run_length(w, i, p);
    return status;
}

/* Sums, and scans of each kind that is asked for. */
static enum status run_pair(struct walk *w, struct problem *p)
{
    enum { SEGMENT = 3 };
    const struct special_request *q = &w->report->request;
    const struct method *m = w->subject.method;
    enum status status = STATUS_OK;
    if (!m->operation->array)
        return run_subject(w, p);
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        w->subject.exclusive = exclusive;
        if (!q->scan[exclusive] && q->scan[!exclusive])
            continue;
        w->subject.segment = m->segmented ? q->segment : 0;
        status = status == STATUS_OK ? run_subject(w, p) : status;
        if (!m->segmented || q->segment > 0 || q->data)
            continue;
        w->subject.segment = SEGMENT;
        status = status == STATUS_OK ? run_subject(w, p) : status;
    }
    return status;
}

/* Does a program answer a request for this pair? Others say beforehand what they take. */
static bool answers(const struct walk *w, struct problem *why)
{
    const struct method *m = w->subject.method;
    const struct special_request *q = &w->report->request;
    struct special_subject subject = w->subject;
    struct special_stand stand;
    struct judgement j;
    if (!m->foreign || foreign_is_object(m->name))
        return true;
    subject.exclusive = q->scan[1] && !q->scan[0];
    enum status status = special_stand_open(&stand, &subject, 3, why);
    if (status == STATUS_OK) {
        struct array in = special_stand_input(&stand);
        memset(in.data, 0, array_bytes(in.format, in.n));
        status = special_stand_run(&stand, &j, why);
    }
    special_stand_close(&stand);
    return status == STATUS_OK;
}

static enum status shrink_all(struct special_report *r, struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < SPECIAL_CLASSES && status == STATUS_OK; k++) {
        struct special_finding *f = r->all[k].first;
        if (f)
            status = special_shrink_subject(&f->in, &f->subject, &f->judgement, SHRINK_TRIES, p);
    }
    return status;
}

enum status special_run(struct special_report *r, const struct special_request *request,
                        struct problem *p)
{
    enum status status = STATUS_OK;
    size_t answered = 0;
    bool waited = false; /* for long, and for nothing: a program that hangs is not asked again */
    struct problem unanswered = {0};
    *r = (struct special_report){.request = *request};
    for (size_t i = 0; i < request->pairs.count && status == STATUS_OK; i++) {
        const struct format_pair *pair = &request->pairs.item[i];
        struct walk w = {.report = r,
                         .subject = {.method = request->method,
                                     .device = request->device,
                                     .storage = pair->storage,
                                     .accumulator = pair->accumulator,
                                     .shape = request->shape},
                         .pair = i};
        struct problem why = {0};
        if (!method_supports(request->method, request->device.kind, pair->storage,
                             pair->accumulator) ||
            (request->data && request->data->format != pair->storage))
            continue;
        uint64_t begin = clock_ns();
        if (!waited && answers(&w, &why)) {
            answered++;
            status = run_pair(&w, p);
        } else {
            r->left_out.item[r->left_out.count++] = *pair;
            if (!waited)
                unanswered = why;
            waited |= clock_ns() - begin > LONG_NS;
        }
    }
    if (answered == 0)
        r->failure = unanswered;
    return status == STATUS_OK ? shrink_all(r, p) : status;
}

void special_report_free(struct special_report *r)
{
    for (size_t k = 0; k < SPECIAL_CLASSES; k++) {
        finding_free(r->all[k].first);
        for (size_t i = 0; i < FORMATS * FORMATS; i++)
            finding_free(r->tally[i][k].first);
    }
    *r = (struct special_report){0};
}
