/* The reproducer of an impossible result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/check/reproducer/reproducer.h"
#include "experiments/conformance/product.h"
#include "experiments/conformance/report.h"
#include "experiments/system/memory.h"

enum { RUNS = 100 }; /* of a subject whose results may depend on timing */

/* The first finding whose result is in no way among those that are possible: a bound that says more
 * is no set of numbers. */
static size_t find(const struct conformance_report *r)
{
    size_t class = 0;
    for (; class < SPECIAL_CLASSES; class ++) {
        const struct conformance_finding *f = r->all[class].first;
        if (f && f->judgement.is == JUDGED_IMPOSSIBLE && !f->subject.segment &&
            !special_multiplies(f->subject.method) &&
            !possible_holds(&f->judgement.due, f->judgement.result))
            break;
    }
    return class;
}

/* Of a dot product both arrays, one behind the other. */
static enum status join(struct array *all, const struct special_input *in, struct problem *p)
{
    size_t arrays = in->y.data ? 2 : 1, bytes = array_bytes(in->x.format, in->x.n);
    enum status status = memory_array(all, in->x.format, arrays * in->x.n, "an input", p);
    if (status != STATUS_OK)
        return status;
    memcpy(all->data, in->x.data, bytes);
    if (in->y.data)
        memcpy((char *)all->data + bytes, in->y.data, bytes);
    return STATUS_OK;
}

static enum status compose(struct text *to, const char *file, const struct conformance_report *r,
                           size_t class, struct reproducer_said *said, struct problem *p)
{
    const struct conformance_finding *f = r->all[class].first;
    const struct conformance_subject *s = &f->subject;
    char title[512], due[POSSIBLE_TEXT], device[DEVICE_TEXT];
    struct text command = {0};
    struct array in;
    size_t rows = special_reads_rows(s->method) ? 1 : 0;
    size_t outputs = s->method->operation->outputs(f->in.x.n, rows);
    enum status status = join(&in, &f->in, p);
    if (status != STATUS_OK)
        return status;
    device_name(s->device, device);
    special_due_words(due, &f->judgement);
    snprintf(title, sizeof title, "%s on %s: a %s of %s in %s, n = %zu, gives %s.", s->method->name,
             device, s->method->operation->name, format_facts[s->storage].name,
             format_facts[s->accumulator].name, f->in.x.n, f->judgement.why);
    conformance_command(&command, r, class, NULL);
    const struct reproducer_run run = {
        .in = &in, .shape = s->shape, .device = s->device, .byte = 0xff};
    const struct reproducer is = {.method = s->method,
                                  .device = s->device,
                                  .storage = s->storage,
                                  .accumulator = s->accumulator,
                                  .output = s->accumulator,
                                  .n = f->in.x.n,
                                  .outputs = outputs,
                                  .exclusive = s->exclusive,
                                  .bins = rows,
                                  .stride = rows,
                                  .run = {run, run},
                                  .from = f->judgement.output,
                                  .end = f->judgement.output + 1,
                                  .runs = RUNS,
                                  .possible = &f->judgement.due,
                                  .title = title,
                                  .words = {due, "the result is another"},
                                  .command = text_string(&command),
                                  .file = file,
                                  .stop = r->request.stop};
    status = reproducer_write(to, &is, p);
    if (status == STATUS_OK)
        status = reproducer_try(said, to, &is, p);
    text_free(&command);
    free(in.data);
    return status;
}

enum status conformance_reproduce(const char *file, const struct conformance_report *r,
                                  struct reproducer_said *said, struct problem *p)
{
    struct text text = {0};
    size_t class = find(r);
    said->found = class < SPECIAL_CLASSES;
    if (!said->found)
        return conformance_report_total(r).impossible == 0
                   ? STATUS_OK
                   : problem(
                         p, STATUS_USAGE,
                         "check --reproducer: what was found is beyond a bound, of segments, or of "
                         "matrices, of which none is written");
    enum status status = compose(&text, file, r, class, said, p);
    text_free(&text);
    return status;
}
