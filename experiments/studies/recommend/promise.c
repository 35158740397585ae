/* Trying the promise that is asked for: what a candidate declares is a claim. */
#include <stdio.h>
#include <stdlib.h>

#include "experiments/studies/recommend/candidates.h"

/* What both halves of the time tried. */
static size_t count_both(const struct check_set *a, const struct check_set *b)
{
    size_t count = a->count;
    for (size_t i = 0; i < b->count; i++) {
        size_t k = 0;
        while (k < a->count && a->item[k] != b->item[i])
            k++;
        count += k == a->count;
    }
    return count;
}

/* The break's command, from the first attempt that shows one. */
static char *command_of(const struct check_report *report, const char *program)
{
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        if (report->tried[kind].broken > 0 && report->request.tried[kind])
            return check_command(report, kind, program);
    return NULL;
}

/* Adds what a check found; a break or a failure outweighs what was kept, and that what was not
 * tried. */
static void take(const struct recommend_report *r, struct recommend_promised *t,
                 const struct check_report *report)
{
    static const int weight[CHECK_STATES] = {
        [CHECK_NOT_TRIED] = 0, [CHECK_KEPT] = 1, [CHECK_FAILED] = 2, [CHECK_BROKEN] = 3};
    struct check_rung rung = check_rung(report, r->request.promise);
    t->attempts += rung.attempts;
    t->differing += rung.differing;
    if (!t->tried || weight[rung.state] > weight[t->state]) {
        t->state = rung.state;
        snprintf(t->reason, sizeof t->reason, "%s", rung.reason);
    }
    t->tried = true;
    if (rung.state == CHECK_BROKEN && !t->show)
        t->show = command_of(report, r->request.program);
}

/* As the user asked for it; where nothing was asked, the engine varies it. */
static struct numbers named(const struct numbers *asked)
{
    return asked->count == 1 && asked->item[0] == 0 ? (struct numbers){0} : *asked;
}

static void show(void *context, const struct method *m, const char *attempt, double seconds)
{
    (void)seconds; /* of this check alone */
    recommend_tell(context, "promise of %s: %s", m->name, attempt);
}

/* What a candidate is asked for beside its operands. */
struct own {
    uint64_t promote;
    const char *chip;
    struct gemm_shape shape;
    uint64_t rows;
    struct layout layout;
};

/* The same, as the engine has it; it points into `own`. */
static void put_own(struct check_request *q, struct own *own, const struct recommend_candidate *c)
{
    *own = (struct own){.promote = c->setting.promote,
                        .chip = c->setting.chip,
                        .shape = c->setting.shape,
                        .rows = c->setting.bins};
    if (c->setting.layout)
        own->layout = *c->setting.layout;
    q->setting.chip = &own->chip;
    q->setting.chips = own->chip != NULL;
    q->setting.promote = (struct numbers){.item = &own->promote, .count = own->promote > 0};
}

static struct check_request request_of(const struct recommend_report *r,
                                       const struct recommend_candidate *c, double seconds)
{
    const struct axes *axes = r->request.plan->axes;
    const bool beside = r->request.promise > PROMISES;
    struct check_request q = {.method = c->method,
                              .device = r->device,
                              .threads = named(&axes->threads),
                              .blocks = named(&axes->blocks),
                              .seed = axes->seed.item[0],
                              .runs = CHECK_RUNS,
                              .seconds = seconds,
                              .promise = beside ? PROMISE_NONE : r->request.promise,
                              .beside = beside ? 1u << r->request.promise : 0,
                              .show = show,
                              .context = (void *)r,
                              .stop = r->request.stop};
    q.pairs.item[q.pairs.count++] = (struct format_pair){r->source->array.format, c->accumulator};
    for (size_t kind = 0; kind < CHECK_KINDS; kind++)
        q.tried[kind] =
            check_kind_of(kind, r->request.promise) ||
            check_kinds[kind].rung <= (beside ? PROMISE_RUN_TO_RUN : r->request.promise);
    return q;
}

/* On the data as it is, or on the input that it was generated from. */
static enum status check_own(const struct recommend_report *r, struct recommend_promised *t,
                             struct check_request q, struct own *own, struct check_report *report,
                             struct problem *p)
{
    if (operation_of_rows(r->candidate[0].method->operation)) {
        q.setting.rows = (struct numbers){.item = &own->rows, .count = 1};
        q.setting.layout = &own->layout;
        q.setting.layouts = 1;
    }
    q.setting.shape = &own->shape;
    q.setting.shapes = own->shape.k > 0;
    const struct source *s = r->source;
    uint64_t n = s->array.n;
    struct check_data data = {.asked = s->name, .name = s->name, .array = s->array};
    if (r->operands)
        data.asked = r->operands;
    else if (r->request.plan->axes->data.count > 0)
        data.asked = r->request.plan->axes->data.item[0];
    if (s->generated) {
        q.input = &s->input;
        q.inputs = 1;
        q.n = (struct numbers){1, &n};
    } else {
        q.data = &data;
        q.datas = 1;
    }
    enum status status = check_subject(report, &q, p);
    if (status == STATUS_OK)
        take(r, t, report);
    return status;
}

enum status recommend_try_promise(struct recommend_report *r, struct recommend_candidate *c,
                                  double seconds, struct problem *p)
{
    struct recommend_promised *t = &c->promised;
    struct check_report *report = calloc(2, sizeof *report);
    struct problem why = {0};
    if (!report)
        return problem(p, STATUS_MEMORY, "recommend: out of memory");
    free(t->show);
    *t = (struct recommend_promised){0};
    struct own own;
    struct check_request q = request_of(r, c, seconds / 2);
    put_own(&q, &own, c);
    enum status status = check_own(r, t, q, &own, &report[0], &why);
    if (status == STATUS_OK && t->state != CHECK_BROKEN && t->state != CHECK_FAILED) {
        status = check_subject(&report[1], &q, &why);
        if (status == STATUS_OK)
            take(r, t, &report[1]);
    }
    const struct check_over *a = &report[0].over[r->request.promise],
                            *b = &report[1].over[r->request.promise];
    t->shapes = count_both(&a->shapes, &b->shapes);
    t->lengths = count_both(&a->lengths, &b->lengths);
    t->inputs = count_both(&a->inputs, &b->inputs);
    free(report);
    if (status == STATUS_INTERRUPTED)
        return problem(p, status, "%s", why.text);
    if (status != STATUS_OK) { /* it cannot be tried on this device, or in these formats */
        t->tried = true;
        t->state = CHECK_FAILED;
        snprintf(t->reason, sizeof t->reason, "%.*s", (int)sizeof t->reason - 1, why.text);
    }
    return STATUS_OK;
}
