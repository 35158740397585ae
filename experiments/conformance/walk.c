/* Running and judging: all inputs of a pair of formats, one after the other. */
#include "experiments/conformance/walk.h"

#include <stdlib.h>

#include "experiments/system/clock.h"
#include "experiments/subjects/foreign.h"
#include "experiments/system/memory.h"
#include "experiments/conformance/product.h"
#include "experiments/conformance/stand.h"
#include "experiments/conformance/statistic.h"

/* Failed runs, of a pair of formats and of all, after which no more are tried. */
enum { GIVE_UP_PAIR = 2, GIVE_UP = 12 };

bool conformance_stopped(const struct conformance_request *q)
{
    return q->stop && *q->stop;
}

uint64_t special_share(const struct conformance_report *r, uint64_t until, size_t shares)
{
    uint64_t now = clock_ns();
    return r->request.seconds > 0 && until > now ? now + (until - now) / shares : until;
}

/* A copy of an array, where there is one. */
static enum status copy(struct array *to, const struct array *from, struct problem *p)
{
    *to = (struct array){from->format, from->n, NULL};
    if (!from->data)
        return STATUS_OK;
    enum status status = memory_array(to, from->format, from->n, "a finding", p);
    if (status == STATUS_OK)
        memcpy(to->data, from->data, array_bytes(from->format, from->n));
    return status;
}

static enum status keep(struct conformance_tally *t, const struct conformance_walk *w,
                        const struct special_input *in, const struct judgement *j,
                        struct problem *p)
{
    struct conformance_finding *f = calloc(1, sizeof *f);
    if (!f)
        return problem(p, STATUS_MEMORY, "no memory for a finding");
    *f = (struct conformance_finding){.subject = w->subject, .judgement = *j, .n = in->x.n};
    enum status status = copy(&f->in.x, &in->x, p);
    if (status == STATUS_OK)
        status = copy(&f->in.y, &in->y, p);
    t->first = f; /* which the report frees */
    return status;
}

static enum status count(struct conformance_tally *t, const struct conformance_walk *w,
                         const struct special_input *in, const struct judgement *j,
                         struct problem *p)
{
    t->cases++;
    t->noted += j->is == JUDGED_NOTED;
    t->impossible += j->is == JUDGED_IMPOSSIBLE;
    if (j->is == JUDGED_NOTED && !t->note)
        t->note = j->why;
    return j->is == JUDGED_IMPOSSIBLE && !t->first ? keep(t, w, in, j, p) : STATUS_OK;
}

/* A subject that takes no empty arrays may say so; to crash or to hang is not to say so. */
static enum status count_refusal(struct conformance_walk *w, struct conformance_stand *stand,
                                 size_t class, struct problem *p)
{
    struct conformance_report *r = w->report;
    const struct judgement refused = {.is = JUDGED_NOTED, .why = "no elements are refused"};
    const struct special_input in = conformance_stand_input(stand);
    enum status status = count(&r->tally[w->pair][class], w, &in, &refused, p);
    if (status == STATUS_OK)
        status = count(&r->all[class], w, &in, &refused, p);
    conformance_stand_close(stand);
    return status == STATUS_OK ? conformance_stand_open(stand, &w->subject, 0, p) : status;
}

/* A run that failed: the subject is made ready anew. */
static enum status count_failure(struct conformance_walk *w, struct conformance_stand *stand,
                                 size_t class, size_t n, const struct problem *failure,
                                 struct problem *p)
{
    struct conformance_report *r = w->report;
    struct conformance_tally *t[] = {&r->tally[w->pair][class], &r->all[class]};
    for (size_t i = 0; i < 2; i++) {
        t[i]->cases++;
        t[i]->failed++;
    }
    w->failed++;
    r->failed++;
    if (r->failure.status == STATUS_OK)
        r->failure = *failure;
    conformance_stand_close(stand);
    return conformance_stand_open(stand, &w->subject, n, p);
}

/* Every element 1: what nobody refuses for its values. */
static void fill_ones(const struct array *a)
{
    const double one = 1;
    for (size_t i = 0; a->data && i < a->n; i++)
        array_encode(a, i, 1, &one);
}

static void note_refused(struct conformance_refusals *r, size_t n, const struct problem *why)
{
    size_t i = 0;
    while (i < r->count && r->length[i] != n)
        i++;
    if (r->first.status == STATUS_OK)
        r->first = *why;
    if (i == r->count)
        r->length[r->count++] = n;
}

/* No input of this length was answered so far, and one was refused. If ones are refused too, it is
 * for their number: the length is left out. Makes the subject ready anew. */
static enum status ask_ones(struct conformance_walk *w, struct conformance_stand *stand, size_t n,
                            const struct problem *why, struct problem *p)
{
    struct judgement j;
    struct problem again = {0};
    conformance_stand_close(stand);
    enum status status = conformance_stand_open(stand, &w->subject, n, p);
    if (status != STATUS_OK)
        return status;
    const struct special_input in = conformance_stand_input(stand);
    fill_ones(&in.x);
    fill_ones(&in.y);
    w->refused = conformance_stand_run(stand, &j, &again) != STATUS_OK && foreign_declined();
    if (!w->refused)
        return STATUS_OK;
    note_refused(&w->report->refused, n, why);
    if (w->first.status == STATUS_OK)
        w->first = *why;
    conformance_stand_close(stand);
    return conformance_stand_open(stand, &w->subject, n, p);
}

/* A subject may refuse to take no elements; what else fails is counted, but for lengths that it
 * takes no input of. */
static enum status refused_or_failed(struct conformance_walk *w, struct conformance_stand *stand,
                                     size_t class, size_t n, const struct problem *failure,
                                     struct problem *p)
{
    const bool foreign = w->subject.method->foreign;
    if (n == 0 && foreign && foreign_refused())
        return count_refusal(w, stand, class, p);
    if (n > 0 && foreign && !w->answered && foreign_declined()) {
        enum status status = ask_ones(w, stand, n, failure, p);
        if (status != STATUS_OK || w->refused)
            return status;
    }
    return count_failure(w, stand, class, n, failure, p);
}

static bool gives_up(const struct conformance_walk *w)
{
    return w->failed >= GIVE_UP_PAIR || w->report->failed >= GIVE_UP;
}

/* Is it time for what comes next? The last part of the whole time is kept for shrinking. */
static bool is_over(const struct conformance_walk *w, uint64_t until)
{
    const struct conformance_report *r = w->report;
    uint64_t kept = r->found && r->request.seconds > 0 ? (r->end_ns - r->begin_ns) / 4 : 0;
    uint64_t end = r->end_ns - kept;
    return conformance_stopped(&r->request) || clock_ns() >= (until < end ? until : end);
}

static void count_left(struct conformance_walk *w, size_t class)
{
    w->report->tally[w->pair][class].left++;
    w->report->all[class].left++;
}

static enum status run_case(struct conformance_walk *w, struct conformance_stand *stand,
                            size_t class, const struct conformance_setting *setting, size_t k,
                            struct problem *p)
{
    struct special_input in = conformance_stand_input(stand);
    struct judgement j;
    struct problem failure = {0};
    memset(in.x.data, 0, array_bytes(in.x.format, in.x.n));
    if (setting->pairs) {
        memset(in.y.data, 0, array_bytes(in.y.format, in.y.n));
        special_fill_pair(special_class[class], setting, k, &in.x, &in.y);
    } else {
        special_class[class]->fill(setting, k, &in.x);
    }
    if (conformance_stand_run(stand, &j, &failure) != STATUS_OK &&
        !conformance_stopped(&w->report->request))
        return refused_or_failed(w, stand, class, in.x.n, &failure, p);
    if (failure.status != STATUS_OK) {
        count_left(w, class);
        return STATUS_OK;
    }
    w->answered = true;
    w->some |= in.x.n > 0;
    w->report->found |= j.is == JUDGED_IMPOSSIBLE;
    enum status status = count(&w->report->tally[w->pair][class], w, &in, &j, p);
    return status == STATUS_OK ? count(&w->report->all[class], w, &in, &j, p) : status;
}

/* Case number `turn` of each class that has so many. */
static enum status run_turn(struct conformance_walk *w, struct conformance_stand *stand,
                            const struct conformance_setting *setting, size_t k, uint64_t until,
                            bool *any, struct problem *p)
{
    enum status status = STATUS_OK;
    for (size_t class = 0;
         class < SPECIAL_CLASSES && status == STATUS_OK && !w->refused && !gives_up(w); class ++) {
        if (k >= special_class[class]->cases(setting))
            continue;
        *any = true;
        /* One input is tried in any case. */
        if (is_over(w, until) && (w->report->tried || conformance_stopped(&w->report->request))) {
            count_left(w, class);
            continue;
        }
        w->report->tried = true;
        status = run_case(w, stand, class, setting, k, p);
    }
    return status;
}

static enum status run_length(struct conformance_walk *w, size_t length, uint64_t until,
                              struct problem *p)
{
    const struct conformance_request *q = &w->report->request;
    const struct conformance_setting setting = {
        w->subject.storage,
        w->subject.accumulator,
        special_length[length],
        q->seed,
        special_reads_two(w->subject.method),
        exact_facts[w->subject.method->operation->of].form == FORM_PRODUCT,
        special_is_statistic(w->subject.method)};
    struct conformance_stand stand;
    if (q->show)
        q->show(&w->subject, setting.n);
    enum status status = conformance_stand_open(&stand, &w->subject, setting.n, p);
    bool any = true;
    w->answered = w->refused = false;
    /* There is one input without elements, and it is tried in any case. */
    size_t first = setting.n > 0 ? (length + w->pair) % q->every : 0;
    for (size_t k = first; any && status == STATUS_OK && !w->refused; k += q->every) {
        any = false;
        status = run_turn(w, &stand, &setting, k, until, &any, p);
    }
    conformance_stand_close(&stand);
    return status;
}

/* An input that was asked for; it stands where the first class does. */
static enum status run_input(struct conformance_walk *w, const struct special_input *data,
                             struct problem *p)
{
    struct conformance_stand stand;
    struct judgement j;
    enum status status = conformance_stand_open(&stand, &w->subject, data->x.n, p);
    if (status == STATUS_OK) {
        struct special_input in = conformance_stand_input(&stand);
        special_input_copy(&in, data);
        status = conformance_stand_run(&stand, &j, p);
    }
    if (status == STATUS_OK)
        status = count(&w->report->tally[w->pair][0], w, data, &j, p);
    if (status == STATUS_OK)
        status = count(&w->report->all[0], w, data, &j, p);
    conformance_stand_close(&stand);
    return status;
}

/* The user's own, row by row. */
static enum status run_data(struct conformance_walk *w, const struct special_input *data,
                            struct problem *p)
{
    size_t rows = w->report->request.rows > 1 ? w->report->request.rows : 1;
    size_t length = data->x.n / rows, bytes = array_bytes(data->x.format, length);
    enum status status = STATUS_OK;
    if (data->x.format != w->subject.storage)
        return STATUS_OK;
    for (size_t r = 0; r < rows && status == STATUS_OK; r++) {
        struct special_input row = *data;
        row.x.n = length;
        row.x.data = (char *)data->x.data + r * bytes;
        status = run_input(w, &row, p);
    }
    return status;
}

static enum status run_subject(struct conformance_walk *w, uint64_t until, struct problem *p)
{
    enum status status = STATUS_OK;
    if (w->report->request.data)
        return run_data(w, w->report->request.data, p);
    size_t lengths = SPECIAL_LENGTHS;
    while (special_is_statistic(w->subject.method) &&
           special_length[lengths - 1] > SPECIAL_ROW_LENGTH)
        lengths--;
    for (size_t i = 0; i < lengths && status == STATUS_OK; i++)
        status = run_length(w, i, special_share(w->report, until, lengths - i), p);
    return status;
}

/* What a subject is run as: a sum as it is, a scan in each way that is asked for, a dot product in
 * each way that it can form products. */
enum { VARIANTS = 4 + PRODUCTS, SEGMENT = 3 };

static size_t variants_of_dot(const struct conformance_walk *w,
                              struct conformance_subject to[VARIANTS])
{
    const struct conformance_request *q = &w->report->request;
    size_t count = 0;
    for (enum product_kind how = 0; how < PRODUCTS; how++)
        if (w->subject.method->products >> how & 1 && (!q->products || q->products >> how & 1)) {
            to[count] = w->subject;
            to[count++].product = how;
        }
    return count;
}

static size_t variants_of(const struct conformance_walk *w, struct conformance_subject to[VARIANTS])
{
    const struct conformance_request *q = &w->report->request;
    const struct method *m = w->subject.method;
    size_t count = 0;
    if (operation_has(m->operation, OPERAND_IN2))
        return variants_of_dot(w, to);
    if (!special_is_scan(m)) {
        to[0] = w->subject;
        if (special_multiplies(m))
            to[0].product = m->product ? m->product : PRODUCT_UNKNOWN;
        return 1;
    }
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        if (!q->scan[exclusive] && q->scan[!exclusive])
            continue;
        struct conformance_subject s = w->subject;
        s.exclusive = exclusive;
        s.segment = m->segmented ? q->segment : 0;
        to[count++] = s;
        s.segment = SEGMENT;
        if (m->segmented && q->segment == 0 && !q->data)
            to[count++] = s;
    }
    return count;
}

enum status conformance_walk_pair(struct conformance_walk *w, uint64_t until, struct problem *p)
{
    struct conformance_subject variant[VARIANTS];
    enum status status = STATUS_OK;
    size_t count = variants_of(w, variant);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        w->subject = variant[i];
        status = run_subject(w, special_share(w->report, until, count - i), p);
    }
    /* It takes no length in these formats. */
    if (!w->some && w->report->failure.status == STATUS_OK)
        w->report->failure = w->first;
    return status;
}
