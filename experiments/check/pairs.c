#include <stdlib.h>

#include "experiments/check/attempts.h"
#include "experiments/system/clock.h"
#include "experiments/subjects/foreign.h"
#include "kernels/gpu/gpu.h"

/* Does a program answer a request for this pair, of n elements? */
static enum status answers(struct check *c, struct format_pair pair, size_t n, struct problem *p)
{
    struct array out;
    /* Of ranks, as many as are asked for, or one: there may be a GPU for no more. They divide the
     * elements of each. */
    const struct numbers *ranks = &c->request->setting.ranks;
    uint64_t r = ranks->count > 0 ? ranks->item[0] : 1;
    struct check_case k = {
        .pair = pair, .setting.output = pair.accumulator, .n = r > 1 ? (size_t)(r * r) : n};
    const struct setting_axes any = {.no_c = c->request->method->no_c, /* others may not fit n */
                                     .ranks = {1, &r}};
    setting_vary(&k.setting, c->request->method->operation, &any, k.n, 0);
    setting_drop(c->request->method, &k.setting);
    input_parse(&k.input, "ones", NULL);
    enum status status = check_load_case(c, &k, p);
    struct check_setting plain = check_plain(c, &k);
    if (status == STATUS_OK)
        status = check_once(c, &plain, &out, p);
    if (status == STATUS_OK)
        free(out.data);
    return status;
}

static const uint64_t LONG_NS = 3000000000;

/* A pair costs a program that does not answer it a start. With one that it answers, three tenths of
 * the time are enough. */
static bool late(const struct check *c)
{
    return c->pairs.count > 0 && clock_ns() - c->begin > (c->end - c->begin) / 10 * 3;
}

/* Has the user data of this format, or asks for generated inputs? */
static bool has_input(const struct check_request *r, enum format storage)
{
    bool has = r->datas == 0 || r->inputs > 0;
    for (size_t i = 0; i < r->datas; i++)
        has |= r->data[i].array.format == storage;
    return has;
}

/* Asks for each pair, with so many elements. */
static enum status ask_pairs(struct check *c, struct check_report *report, size_t n,
                             struct problem *why, struct problem *p)
{
    const struct check_request *r = c->request;
    bool program = r->method->foreign && !name_is_described(r->method->name);
    bool waited = false; /* for long, and for nothing: a program that hangs is not asked again */
    for (size_t i = 0; i < r->pairs.count; i++) {
        struct format_pair pair = r->pairs.item[i];
        uint64_t begin = clock_ns();
        if (!method_supports(r->method, r->device.kind, pair.storage, pair.accumulator) ||
            !setting_any(r->method, &r->setting, pair.storage, pair.accumulator) ||
            !has_input(r, pair.storage))
            continue;
        if (program && late(c)) {
            report->unasked.item[report->unasked.count++] = pair;
            continue;
        }
        if (!program || (!waited && answers(c, pair, n, why) == STATUS_OK)) {
            c->pairs.item[c->pairs.count++] = pair;
            continue;
        }
        report->left_out.item[report->left_out.count++] = pair;
        waited |= clock_ns() - begin > LONG_NS;
        if (check_stopped(c))
            return problem(p, STATUS_INTERRUPTED, "interrupted");
    }
    if (program && c->pairs.count > 0 && why->status != STATUS_OK) { /* it ended: begin it again */
        struct problem again = {0};
        answers(c, c->pairs.item[0], n, &again);
    }
    return STATUS_OK;
}

/* Few elements are asked for first, which a program may refuse: then as many as are asked for. */
static enum status find_pairs(struct check *c, struct check_report *report, struct problem *why,
                              struct problem *p)
{
    const struct check_request *r = c->request;
    const size_t lengths[] = {3,
                              r->n.count ? (size_t)r->n.item[0]
                              : r->datas ? r->data[0].array.n
                                         : 1000,
                              4096};
    enum status status = STATUS_OK;
    bool refused = true;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths && status == STATUS_OK && refused;
         i++) {
        struct problem last = {0};
        report->left_out.count = 0;
        status = ask_pairs(c, report, lengths[i], &last, p);
        struct foreign_wait wait;
        refused = c->pairs.count == 0 && report->left_out.count > 0 && last.status == STATUS_DATA &&
                  !foreign_late(&wait);
        if (i == 0)
            *why = last;
    }
    return status;
}

enum status check_find_pairs(struct check *c, struct check_report *report, struct problem *p)
{
    const struct check_request *r = c->request;
    struct problem why = {0};
    enum status status = find_pairs(c, report, &why, p);
    if (status != STATUS_OK)
        return status;
    if (c->pairs.count > 0)
        return STATUS_OK;
    char device[DEVICE_TEXT];
    device_name(r->device, device);
    char takes[PAIRS_TEXT] = "";
    if (r->method->foreign)
        method_pairs_text(takes, r->method, r->device.kind);
    bool other =
        r->datas > 0 &&
        method_pairs(r->method, r->device.kind)->accumulators[r->data[0].array.format] == 0;
    if (report->left_out.count == 0 && *takes && other)
        return problem(p, STATUS_DEVICE,
                       "check: %s takes %s, and %s was read as %s: --storage says in which format "
                       "to read text, and with --convert to which to round other files",
                       r->method->name, takes, r->data[0].name,
                       format_facts[r->data[0].array.format].name);
    if (report->left_out.count == 0)
        return problem(
            p, STATUS_DEVICE, "check: %s does not run on %s in the formats asked for%s%s",
            r->method->name, device, *takes ? ", but in " : "",
            *takes                 ? takes
            : r->setting.chips > 0 ? ": the chip has no such instruction (list chips)"
            : r->device.kind == DEVICE_CPU &&
                    (!r->method->cpu || !format_pairs_any(method_pairs(r->method, DEVICE_CPU)))
                ? ": it runs on GPUs alone (--device cuda)"
            : !gpu_build() && r->device.kind == DEVICE_CUDA && !r->method->foreign
                ? ": this program was built without CUDA"
                : "");
    report->failure = why;
    return STATUS_OK;
}
